/* SPDX-License-Identifier: MIT */
/*
 * metaData: the texts about a run that cc-backend shows.  The start contains
 * the texts that are known then; edit_meta adds those known at the end.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/json_write.h"
#include "submitter/payload/payload.h"
#include "submitter/payload/payload_conf.h"
#include "submitter/payload/slurm_info.h"

/*
 * One key of metaData, if metaDataFields contains it.  *open: it is not the
 * first key.
 */
static void
meta_text(const struct payload *p, enum meta_field field, struct writer *w,
    int *open, const char *s, size_t max)
{
	if (s == NULL || *s == '\0' || max == 0 ||
	    (p->fields & 1u << field) == 0)
		return;
	wr_u8(w, *open ? ',' : '{');
	*open = 1;
	wr_json_string(w, meta_field_names[field]);
	wr_u8(w, ':');
	wr_json_string_max(w, s, max);
}

static void
meta_number(const struct payload *p, enum meta_field field, struct writer *w,
    int *open, uint64_t v)
{
	char buf[24];

	snprintf(buf, sizeof(buf), "%llu", (unsigned long long)v);
	meta_text(p, field, w, open, buf, sizeof(buf));
}

/* metaData.message of a run whose threads are unknown; NULL = none. */
static const char *
message_of(const struct job *job, int threads)
{
	if (job->message != NULL && *job->message != '\0')
		return job->message;
	if (threads || job->shared == SHARED_NONE)
		return NULL;
	return "The hardware threads of this job are not known: "
	       "its nodes are shown whole, with all jobs on them.";
}

/* status:signal, as Slurm prints it; NULL = none. */
static const char *
exit_code(const struct job *job, char *buf, size_t size)
{
	if (job->exit_code == -1 || job->state == END_NOT)
		return NULL;
	snprintf(buf, size, "%d:%d",
	    (int)((unsigned)job->exit_code >> 8 & 0xff),
	    (int)((unsigned)job->exit_code & 0x7f));
	return buf;
}

static const char *
reason_of(const struct job *job)
{
	return job->reason != NULL && strcmp(job->reason, "None") != 0 ?
	    job->reason :
	    NULL;
}

void
payload_meta_write(const struct payload *p, const struct payload_how *how,
    const struct job *job, int threads, struct writer *w)
{
	const size_t all = JSON_UNLIMITED;
	char code[32], *info = slurm_info_text(job);
	int open = 0;

	WR_TEXT(w, ",\"metaData\":");
	meta_text(p, META_JOB_NAME, w, &open, job->name, all);
	meta_text(p, META_JOB_SCRIPT, w, &open, job->script, how->script_max);
	meta_text(p, META_SLURM_INFO, w, &open, info, how->info_max);
	if (job->submit > 0)
		meta_number(p, META_SUBMIT_TIME, w, &open,
		    (uint64_t)job->submit);
	if (job->array_job != 0)
		meta_number(p, META_ARRAY_TASK, w, &open, job->array_task);
	if (job->het_job != 0)
		meta_number(p, META_HET_JOB, w, &open, job->het_job);
	meta_text(p, META_EXIT_CODE, w, &open,
	    exit_code(job, code, sizeof(code)), all);
	meta_text(p, META_REASON, w, &open, reason_of(job), all);
	meta_text(p, META_MESSAGE, w, &open, message_of(job, threads), all);
	if (open)
		wr_u8(w, '}');
	else
		WR_TEXT(w, "{}");
	free(info);
}

int
payload_edit_meta_same(const struct payload *p, const struct job *job,
    struct writer *w)
{
	char submit[24] = "";
	const struct {
		enum meta_field field;
		const char *value;
	} same[] = {
		{ META_JOB_NAME, job->name },
		{ META_SUBMIT_TIME, submit },
	};
	size_t i;

	if (job->submit > 0)
		snprintf(submit, sizeof(submit), "%llu",
		    (unsigned long long)job->submit);
	for (i = 0; i < sizeof(same) / sizeof(same[0]); i++) {
		if (same[i].value == NULL || *same[i].value == '\0' ||
		    (p->fields & 1u << same[i].field) == 0)
			continue;
		payload_edit_meta(p, &job->key, meta_field_names[same[i].field],
		    same[i].value, w);
		return 0;
	}
	return -1;
}

/* NULL for 0:0 of a completed run, which the state implies. */
static const char *
exit_code_late(const struct job *job, char *buf, size_t size)
{
	return job->state == END_COMPLETED && job->exit_code == 0 ?
	    NULL :
	    exit_code(job, buf, size);
}

int
payload_has_message(const struct payload *p)
{
	return (p->fields & 1u << META_MESSAGE) != 0;
}

const char *
payload_script_key(const struct payload *p)
{
	return p->fields & 1u << META_JOB_SCRIPT ?
	    meta_field_names[META_JOB_SCRIPT] :
	    NULL;
}

void
payload_meta_late(const struct payload *p, const struct job *job,
    payload_late_fn *fn, void *arg)
{
	char code[32], *info = NULL;
	struct {
		enum meta_field field;
		const char *value;
	} late[] = {
		{ META_EXIT_CODE, exit_code_late(job, code, sizeof(code)) },
		{ META_REASON, reason_of(job) },
		{ META_SLURM_INFO, NULL },
	};
	size_t i;

	if (p->update_info && job->state != END_NOT)
		late[2].value = info = slurm_info_text(job);
	for (i = 0; i < sizeof(late) / sizeof(late[0]); i++)
		if (late[i].value != NULL && *late[i].value != '\0' &&
		    (p->fields & 1u << late[i].field) != 0)
			fn(meta_field_names[late[i].field], late[i].value, arg);
	free(info);
}
