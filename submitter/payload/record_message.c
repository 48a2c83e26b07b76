/* SPDX-License-Identifier: MIT */
/* The record of a run as a message; see record_message.h. */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/record/record_json.h"
#include "submitter/payload/record_message.h"

/* Of this spool only: the centre decides itself what is urgent. */
#define LOCAL_FLAGS (JOB_BACKFILL | JOB_DRY_RUN)

/* 1 when the record fits into max bytes. */
static int
record_try(const struct job *job, size_t max, struct writer *w)
{
	wr_reset(w);
	record_json_write(w, job, job->revision);
	return wr_end(w) == 0 && w->len <= max;
}

/* Adds the reason why a text is missing; without memory there is none. */
static void
message_add(struct job *job, const char *what, size_t max)
{
	char *text;

	if (asprintf(&text,
		"%s%sThe %s is left out: the record is longer than "
		"the %zu bytes that the NATS server accepts.",
		job->message != NULL ? job->message : "",
		job->message != NULL ? " " : "", what, max) == -1)
		return;
	if (strlen(text) > TEXT_MAX) {
		free(text);
		return;
	}
	free(job->message);
	job->message = text;
}

int
record_message_make(struct job *job, size_t max, struct writer *w,
    const char **why)
{
	struct {
		char **text;
		const char *what;
	} less[] = { { &job->script, "job script" },
		{ &job->slurm_info, "description of the job by Slurm" } };
	int fits, shorter = 0;
	size_t i;

	job->flags &= ~LOCAL_FLAGS;
	if (job->revision == 0)
		job->revision = 1;
	fits = record_try(job, max, w);
	for (i = 0;
	     !fits && !wr_no_memory(w) && i < sizeof(less) / sizeof(less[0]);
	     i++) {
		if (*less[i].text == NULL)
			continue;
		free(*less[i].text);
		*less[i].text = NULL;
		message_add(job, less[i].what, max);
		shorter = 1;
		fits = record_try(job, max, w);
	}
	if (fits)
		return shorter;
	if (wr_no_memory(w)) {
		*why = "out of memory";
		errno = ENOMEM;
		return -1;
	}
	*why = "the record is longer than the NATS server accepts, even "
	       "without its job script and slurmInfo";
	errno = EMSGSIZE;
	return -1;
}

void
record_message_id(const struct job *job, int64_t again, char *buf, size_t size)
{
	char *c;
	int n;

	n = snprintf(buf, size, "%s:%" PRIu64 ":%" PRId64 ":record:%" PRIu64,
	    job->key.cluster, job->key.job, job->key.start, job->revision);
	if (again != 0 && n > 0 && (size_t)n < size)
		snprintf(buf + n, size - (size_t)n, ":%" PRId64, again);
	for (c = buf; *c != '\0'; c++)
		if ((unsigned char)*c <= ' ' || *c == 0x7f)
			*c = '_'; /* the id is part of a header */
}
