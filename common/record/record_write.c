/* SPDX-License-Identifier: MIT */
/*
 * Writes a record as JSON; see record_json.h.  A number of 0, an unknown exit
 * code, an empty text and an empty list are omitted.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "common/json_write.h"
#include "common/record/record_json.h"
#include "common/record/record_members.h"
#include "common/text/text.h"

/* The reader accepts clean texts of at most max bytes only. */
static void
text_write(struct writer *w, const char *s, size_t max)
{
	size_t n = strlen(s);
	char *clean;

	if (n <= max && text_is_clean(s, n)) {
		wr_json_string(w, s);
		return;
	}
	clean = text_clean(s, n, max);
	if (clean == NULL)
		w->err = 1;
	else
		wr_json_string(w, clean);
	free(clean);
}

static void
name_write(struct writer *w, const char *name)
{
	if (w->len != 0 && w->buf[w->len - 1] != '{')
		wr_u8(w, ',');
	wr_u8(w, '"');
	wr_mem(w, name, strlen(name));
	WR_TEXT(w, "\":");
}

static void
number_write(struct writer *w, const char *name, uint64_t v)
{
	if (v == 0)
		return;
	name_write(w, name);
	wr_json_unsigned(w, v);
}

static void
flags_write(struct writer *w, const char *name, uint32_t flags)
{
	char c = '[';
	int i;

	if ((flags & ((1u << RECORD_FLAGS) - 1)) == 0)
		return;
	name_write(w, name);
	for (i = 0; i < RECORD_FLAGS; i++) {
		if ((flags & (1u << i)) == 0)
			continue;
		wr_u8(w, (uint8_t)c);
		wr_json_string(w, record_flags[i]);
		c = ',';
	}
	wr_u8(w, ']');
}

static void
list_write(struct writer *w, const uint32_t *v, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		wr_u8(w, i == 0 ? '[' : ',');
		wr_json_unsigned(w, v[i]);
	}
	wr_u8(w, ']');
}

static void
host_write(struct writer *w, const struct job_host *h)
{
	uint32_t i, shape[3] = { h->sockets, h->cores, h->threads };

	WR_TEXT(w, "{\"name\":");
	text_write(w, h->name, HOST_MAX - 1);
	for (i = 0; i < h->n_cpus; i++) {
		uint32_t pair[2] = { h->cpus[i].first, h->cpus[i].last };

		if (i == 0)
			WR_TEXT(w, ",\"threads\":[");
		else
			wr_u8(w, ',');
		list_write(w, pair, 2);
	}
	if (h->n_cpus != 0)
		wr_u8(w, ']');
	if (h->sockets != 0 || h->cores != 0 || h->threads != 0) {
		WR_TEXT(w, ",\"shape\":");
		list_write(w, shape, 3);
	}
	for (i = 0; i < h->n_accels; i++) {
		if (i == 0)
			WR_TEXT(w, ",\"gpus\":[");
		else
			wr_u8(w, ',');
		text_write(w, h->accels[i], ACCEL_MAX - 1);
	}
	if (h->n_accels != 0)
		wr_u8(w, ']');
	wr_u8(w, '}');
}

static void
hosts_write(struct writer *w, const char *name, const struct job *job)
{
	uint32_t i;

	if (job->n_hosts == 0)
		return;
	name_write(w, name);
	for (i = 0; i < job->n_hosts; i++) {
		wr_u8(w, i == 0 ? '[' : ',');
		host_write(w, &job->hosts[i]);
	}
	wr_u8(w, ']');
}

static void
string_write(struct writer *w, const struct member *m, const char *s,
    size_t max)
{
	if (s == NULL || *s == '\0')
		return;
	name_write(w, m->name);
	text_write(w, s, max);
}

/* The exit code is the only number below 0. */
static void
exit_write(struct writer *w, const struct member *m, int32_t v)
{
	if (v == -1)
		return;
	name_write(w, m->name);
	wr_json_number(w, v);
}

static void
member_write(struct writer *w, const struct member *m, const struct job *job)
{
	const void *p = (const char *)job + m->at;
	char *const *text = p;

	switch (m->kind) {
	case MEMBER_SCHEMA:
		number_write(w, m->name, RECORD_SCHEMA);
		break;
	case MEMBER_REVISION:
		break; /* follows the schema */
	case MEMBER_CLUSTER:
		string_write(w, m, p, m->max);
		break;
	case MEMBER_TEXT:
		string_write(w, m, *text, m->max);
		break;
	case MEMBER_JOB:
	case MEMBER_START:
	case MEMBER_TIME:
	case MEMBER_U64:
		number_write(w, m->name, *(const uint64_t *)p);
		break;
	case MEMBER_U32:
		number_write(w, m->name, *(const uint32_t *)p);
		break;
	case MEMBER_EXIT:
		exit_write(w, m, job->exit_code);
		break;
	case MEMBER_STATE:
		string_write(w, m, job_end_name(job->state), TEXT_MAX);
		break;
	case MEMBER_SHARED:
		if (job->shared != SHARED_UNKNOWN)
			string_write(w, m, job_shared_name(job->shared),
			    TEXT_MAX);
		break;
	case MEMBER_FLAGS:
		flags_write(w, m->name, job->flags);
		break;
	case MEMBER_HOSTS:
		hosts_write(w, m->name, job);
		break;
	}
}

void
record_json_write(struct writer *w, const struct job *job, uint64_t revision)
{
	const struct member *m;

	wr_u8(w, '{');
	for (m = record_members; m->name != NULL; m++) {
		if (m->kind == MEMBER_REVISION) {
			name_write(w, m->name);
			wr_json_unsigned(w, revision);
		} else
			member_write(w, m, job);
	}
	wr_u8(w, '}');
}
