/* SPDX-License-Identifier: MIT */
/* What holds for every snapshot that a reader makes. */
#ifndef TESTS_FUZZ_SNAPSHOT_H
#define TESTS_FUZZ_SNAPSHOT_H

#include "collector/parse/parse.h"
#include "common/text/text.h"
#include "tests/fuzz/fuzz.h"

#define YEAR_9999 INT64_C(253402300799)

static inline void
text_holds(const char *s)
{
	if (s == NULL)
		return;
	HOLDS(*s != '\0');
	HOLDS(strlen(s) <= TEXT_MAX);
	HOLDS(text_is_clean(s, strlen(s)));
}

static inline void
host_holds(const struct job_host *h)
{
	uint32_t i;

	HOLDS(h->name != NULL && strlen(h->name) < HOST_MAX);
	HOLDS(h->n_cpus <= RANGES_MAX && h->n_accels <= ACCELS_MAX);
	for (i = 0; i < h->n_cpus; i++) {
		HOLDS(h->cpus[i].first <= h->cpus[i].last);
		HOLDS(i == 0 || h->cpus[i].first > h->cpus[i - 1].last);
	}
	for (i = 0; i < h->n_accels; i++)
		HOLDS(strlen(h->accels[i]) < ACCEL_MAX);
}

/* For a snapshot of RECORD_GOOD. */
static inline void
snapshot_holds(const struct job_snapshot *s)
{
	const struct job *j = &s->job;
	uint32_t i;

	HOLDS(j->key.job != 0);
	HOLDS(j->key.cluster[0] == '\0');
	HOLDS(s->state != NULL && s->state->word != NULL);
	HOLDS((unsigned)j->state < END__COUNT);
	HOLDS((unsigned)j->shared < SHARED__COUNT);
	HOLDS(j->key.start >= 0 && j->end >= 0 && j->submit >= 0);
	HOLDS(j->walltime >= 0);
	HOLDS(j->exit_code >= -1);
	HOLDS(j->n_hosts <= HOSTS_MAX);
	for (i = 0; i < j->n_hosts; i++) {
		host_holds(&j->hosts[i]);
		HOLDS((j->flags & JOB_HAS_THREADS) == 0 ||
		    j->hosts[i].n_cpus > 0);
	}
	text_holds(j->user);
	text_holds(j->account);
	text_holds(j->partition);
	text_holds(j->qos);
	text_holds(j->reservation);
	text_holds(j->name);
	text_holds(j->slurm_info);
	text_holds(j->reason);
	text_holds(j->admin_comment);
	HOLDS(j->script == NULL && j->message == NULL);
}

/* A digest of all values of a snapshot. */
static inline uint64_t
snapshot_digest(uint64_t h, const struct job_snapshot *s)
{
	struct writer w;

	wr_init(&w, SIZE_MAX / 2);
	job_write(&w, &s->job);
	wr_str(&w, s->state->word);
	wr_u32(&w, s->groups);
	wr_u8(&w,
	    (uint8_t)(s->batch << 3 | s->whole_is_none << 2 | s->never << 1 |
		s->opt_out_seen));
	HOLDS(wr_end(&w) == 0);
	h = digest(h, w.buf, w.len);
	wr_clear(&w);
	return h;
}

/* Two GPUs have an address, a third has none. */
static inline int
device_of(const char *host, uint32_t index, char address[ACCEL_MAX], void *arg)
{
	HOLDS(host != NULL);
	if (index % 3 == 2)
		return -1;
	snprintf(address, ACCEL_MAX, "0000:%02x:00.0", index / 2 % 256);
	return 0;
}

static inline const struct read_options *
fuzz_reading(void)
{
	static struct gres_names gpus;
	static struct read_options how = { .gpus = &gpus,
		.opt_out_word = "keep_away",
		.device = device_of };

	if (gpus.n == 0)
		HOLDS(gres_names_set(&gpus, "[\"gpu\",\"mig\"]") == 0);
	return &how;
}

#endif
