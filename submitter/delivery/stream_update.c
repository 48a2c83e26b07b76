/* SPDX-License-Identifier: MIT */
/*
 * With deliver "stream", a job script that comes after the run is done is
 * published as a partial record: the key of the run and the script.  One update
 * is under way at a time.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "submitter/base/context.h"
#include "submitter/delivery/delivery.h"
#include "submitter/history/history.h"
#include "submitter/spool/commit.h"

/* ms in which the job script may come; as META_SCRIPT_WAIT */
#define SCRIPT_WAIT 600000
/* ms until the next try; an admin has to grant a permission */
#define UPDATE_WAIT	5000
#define PERMISSION_WAIT 60000

void
stream_update_expect(struct submitter *s, const struct spool_run *run)
{
	struct spool *sp = s->spool;
	const char *script_key = spool_policy(sp)->script_key;
	struct job job;

	if (script_key == NULL)
		return;
	job_init(&job);
	inflight_set(s->w->inflight, &run->key);
	if (spool_record(sp, run->id, &job) == 0 && (job.flags & JOB_MORE))
		spool_meta_expect(sp, &run->key, script_key,
		    spool_now(sp) + SCRIPT_WAIT);
	inflight_clear(s->w->inflight);
	job_clear(&job);
}

static int
update_send(struct submitter *s, const struct spool_meta *late)
{
	const char *why;
	struct job job;
	int rc = -1;

	job_init(&job);
	job.key = late->key;
	job.flags = JOB_PARTIAL;
	job.revision = (uint64_t)time(NULL) * 1000;
	job.script = strdup(late->value);
	if (job.script != NULL)
		rc = nats_send_record(s->nats, &job, 0,
		    STREAM_UPDATE_TOKEN | (uint64_t)late->id, &why);
	job_clear(&job);
	return rc;
}

int64_t
stream_update_due(struct submitter *s)
{
	struct spool_meta late;
	int64_t due;

	if (spool_meta_count(s->spool) == 0 ||
	    spool_meta_next(s->spool, &late) != 1)
		return -1;
	due = late.due;
	spool_meta_clear(&late);
	return due;
}

int
stream_update_send(struct submitter *s)
{
	struct spool *sp = s->spool;
	struct spool_meta late;
	int sent = 0;

	if (spool_meta_count(sp) == 0 || spool_meta_next(sp, &late) != 1)
		return 0;
	if (late.due <= spool_now(sp)) {
		if (*late.value == '\0') {
			/* The script has not come in time. */
			spool_meta_drop(sp, late.id);
			commit_soon(s->commit);
		} else if (update_send(s, &late) == 0)
			sent = 1;
		else {
			/* Without this time, the update is due again at once. */
			spool_meta_wait(sp, late.id,
			    spool_now(sp) + UPDATE_WAIT, 1);
			commit_soon(s->commit);
		}
	}
	spool_meta_clear(&late);
	return sent;
}

void
stream_update_result(struct submitter *s, uint64_t token,
    enum nats_result result)
{
	int64_t id = (int64_t)(token & ~STREAM_UPDATE_TOKEN);

	if (result == NATS_SENT) {
		s->n.meta++;
		spool_meta_drop(s->spool, id);
	} else if (result == NATS_TOO_LONG) {
		s->n.meta_dropped++;
		spool_meta_drop(s->spool, id);
	} else
		spool_meta_wait(s->spool, id,
		    spool_now(s->spool) +
			(result == NATS_DENIED ? PERMISSION_WAIT : UPDATE_WAIT),
		    1);
	commit_soon(s->commit);
}
