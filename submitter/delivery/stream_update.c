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

/*
 * A script that has not come in time is none.  Before deliver was "stream", other
 * fields may have waited for cc-backend.
 */
static int
is_script(const struct submitter *s, const struct spool_meta *late)
{
	const char *script_key = spool_policy(s->spool)->script_key;

	return *late->value != '\0' && script_key != NULL &&
	    strcmp(late->field, script_key) == 0;
}

/* 1 when the update is under way; otherwise it is dropped or waits. */
static int
update_try(struct submitter *s, const struct stream_hold *holds,
    const struct spool_meta *late)
{
	struct spool *sp = s->spool;
	int64_t wait = UPDATE_WAIT;

	if (!is_script(s, late))
		spool_meta_drop(sp, late->id);
	else {
		if (stream_hold_until(s, holds, late->key.cluster) != 0)
			wait = HELD_WAIT;
		else if (update_send(s, late) == 0)
			return 1;
		/* Without this time, the update is due again at once. */
		spool_meta_wait(sp, late->id, spool_now(sp) + wait, 1);
	}
	commit_soon(s->commit);
	return 0;
}

int
stream_update_send(struct submitter *s, const struct stream_hold *holds)
{
	struct spool_meta late;
	int sent = 0;

	if (spool_meta_count(s->spool) == 0 ||
	    spool_meta_next(s->spool, &late) != 1)
		return 0;
	if (late.due <= spool_now(s->spool))
		sent = update_try(s, holds, &late);
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
