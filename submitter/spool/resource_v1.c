/* SPDX-License-Identifier: MIT */
/*
 * Reads resource records of version 1, which earlier versions of the program
 * wrote: u8 version, u8 flags of struct job, u8 shared, then the hosts, each as
 * the difference to the previous one.  Numbers have 7 bits per byte.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "submitter/spool/spool_private.h"

/* Values of a host that are equal to those of the previous host. */
#define SAME_SHAPE  1u
#define SAME_CPUS   2u
#define SAME_ACCELS 4u

static uint64_t
rd_num(struct reader *r)
{
	uint64_t n = 0;
	unsigned shift;
	uint8_t b;

	for (shift = 0; shift < 63; shift += 7) {
		b = (uint8_t)rd_u8(r);
		n |= (uint64_t)(b & 0x7f) << shift;
		if (!(b & 0x80))
			return n;
	}
	rd_fail(r);
	return 0;
}

static void
rd_tail(struct reader *r, const char *before, char *text, size_t size)
{
	size_t same = (size_t)rd_num(r), n = (size_t)rd_num(r), i;

	if (r->err || same > strlen(before) || n >= size || same >= size - n) {
		rd_fail(r);
		return;
	}
	memmove(text, before, same);
	for (i = 0; i < n; i++)
		text[same + i] = (char)rd_u8(r);
	text[same + n] = '\0';
	/* A NUL within the text is invalid. */
	if (r->err || strlen(text) != same + n)
		rd_fail(r);
}

static void
cpus_copy(struct job_host *h, const struct job_host *before, struct reader *r)
{
	uint32_t i;

	for (i = 0; i < before->n_cpus && !r->err; i++)
		if (job_host_add_cpus(h, before->cpus[i].first,
			before->cpus[i].last) == -1)
			rd_fail(r);
}

static void
cpus_read(struct reader *r, struct job_host *h)
{
	uint64_t n = rd_num(r), first, last = 0;

	for (; n > 0 && !r->err; n--) {
		first = last + rd_num(r);
		last = first + rd_num(r);
		if (last > UINT32_MAX || first > last ||
		    job_host_add_cpus(h, (uint32_t)first, (uint32_t)last) == -1)
			rd_fail(r);
	}
}

static void
accels_read(struct reader *r, struct job_host *h)
{
	char text[ACCEL_MAX] = "";
	uint64_t n = rd_num(r);

	for (; n > 0 && !r->err; n--) {
		rd_tail(r, text, text, sizeof(text));
		if (!r->err && job_host_add_accel(h, text) == -1)
			rd_fail(r);
	}
}

static void
accels_copy(struct job_host *h, const struct job_host *before, struct reader *r)
{
	uint32_t i;

	for (i = 0; i < before->n_accels && !r->err; i++)
		if (job_host_add_accel(h, before->accels[i]) == -1)
			rd_fail(r);
}

static void
host_read(struct reader *r, struct job *job)
{
	static const struct job_host none;
	const struct job_host *before = &none;
	char name[HOST_MAX] = "";
	struct job_host *h;
	unsigned same;

	if (job->n_hosts > 0)
		snprintf(name, sizeof(name), "%s",
		    job->hosts[job->n_hosts - 1].name);
	rd_tail(r, name, name, sizeof(name));
	same = rd_u8(r);
	h = r->err ? NULL : job_add_host(job, name);
	if (h == NULL) {
		rd_fail(r);
		return;
	}
	if (job->n_hosts > 1)
		before = h - 1;
	h->sockets = same & SAME_SHAPE ? before->sockets : (uint16_t)rd_num(r);
	h->cores = same & SAME_SHAPE ? before->cores : (uint16_t)rd_num(r);
	h->threads = same & SAME_SHAPE ? before->threads : (uint16_t)rd_num(r);
	if (same & SAME_CPUS)
		cpus_copy(h, before, r);
	else
		cpus_read(r, h);
	if (same & SAME_ACCELS)
		accels_copy(h, before, r);
	else
		accels_read(r, h);
}

void
spool_resources_read_v1(struct reader *r, struct job *job)
{
	uint64_t hosts;
	unsigned shared;

	job->flags = rd_u8(r);
	shared = rd_u8(r);
	if (shared >= SHARED__COUNT)
		rd_fail(r);
	else
		job->shared = (enum job_shared)shared;
	hosts = rd_num(r);
	if (hosts > HOSTS_MAX)
		rd_fail(r);
	for (; hosts > 0 && !r->err; hosts--)
		host_read(r, job);
}
