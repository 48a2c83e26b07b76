/* SPDX-License-Identifier: MIT */
/*
 * Puts one message of the collector or the receiver into the open transaction: a
 * record, a watermark, a position in a stream or runs that Slurm does not know.
 * See intake_private.h.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/log.h"
#include "common/text/time_text.h"
#include "submitter/history/history.h"
#include "submitter/intake/intake_private.h"

#define WATERMARK_AHEAD_MAX 86400 /* s before this machine's clock */

static int
is_quarantined(const struct intake *b, const struct run_key *key)
{
	unsigned i;

	for (i = 0; i < b->n_quarantined; i++)
		if (run_key_equal(&b->quarantined[i], key))
			return 1;
	return 0;
}

/* Reads the key at the beginning of a record and nothing else. */
static void
key_peek(const uint8_t *p, size_t n, struct run_key *key)
{
	struct reader r;

	rd_init(&r, p, n);
	rd_u8(&r);
	rd_run_key(&r, key);
	if (r.err)
		memset(key, 0, sizeof(*key));
}

static void
report_refused(struct intake *b, const struct run_key *key)
{
	b->s->n.records_refused++;
	log_limited(&b->refused, log_info,
	    "%s: a record makes no run and is "
	    "ignored",
	    run_key_text(key));
}

/*
 * A record that needs a large part of spoolMaxBytes loses its script. If it is
 * still too long, it is dropped: it would block the spool for ever.
 */
static int
record_fits(struct intake *b, struct job *job, size_t len)
{
	size_t most = spool_bytes_max(b->s->spool) / RECORD_SHARE, script;

	if (len <= most)
		return 1;
	script = job->script != NULL ? strlen(job->script) : 0;
	free(job->script);
	job->script = NULL;
	log_warnx("%s: a record of %zu bytes is a large part of spoolMaxBytes: "
		  "%s",
	    run_key_text(&job->key), len,
	    len - script <= most ? "its script is left out" :
				   "the record is dropped");
	return len - script <= most;
}

/*
 * The table of clusters is never emptied.  A record of a new cluster without a
 * place would look like a full disk, for ever.
 */
static int
cluster_has_place(struct intake *b, const char *cluster, int *bad)
{
	if (spool_cluster_fits(b->s->spool, cluster))
		return 1;
	log_errorx("the spool has no place for cluster \"%s\"", cluster);
	*bad = 1;
	return 0;
}

/* Notes what the record told; ms: when it came. */
static void
record_note(struct intake *b, const struct job *job, enum spool_put rc,
    int64_t ms)
{
	struct history *h = b->s->history;
	int ended = job->state != END_NOT && job->end != 0;

	if (rc == PUT_NEW || rc == PUT_HELD)
		history_note_at(h, ms, &job->key,
		    job->flags & JOB_BACKFILL ? HISTORY_BACKFILL :
						HISTORY_STORED,
		    ended			     ? STORED_ENDED :
			job->flags & JOB_UNCONFIRMED ? STORED_UNCONFIRMED :
						       STORED_RUNNING,
		    job->nodes);
	else if (rc != PUT_MERGED)
		return;
	if (ended)
		history_note_at(h, ms, &job->key, HISTORY_ENDED, job->state,
		    job->end > job->key.start ?
			(uint64_t)(job->end - job->key.start) :
			0);
	if (job->flags & JOB_OPTED_OUT)
		history_note_at(h, ms, &job->key, HISTORY_OPTED_OUT, 0, 0);
	if (ended && job->state == END_REQUEUED && (job->flags & JOB_NEVER_RAN))
		history_note_at(h, ms, &job->key, HISTORY_NEVER_RAN, 0, 0);
}

/* 0, or -1 when the spool refuses the write; *bad: the message is invalid. */
static int
record_apply(struct intake *b, struct reader *r, int *bad)
{
	struct submitter *s = b->s;
	struct run_key key;
	struct job job;
	enum spool_put rc = PUT_REFUSED;
	size_t len = r->left;
	int64_t id = 0, ms = history_now();
	int past;

	key_peek(r->p, r->left, &key);
	if (key.job != 0 && !cluster_name_allowed(s, key.cluster))
		return 0;
	if (key.job != 0 && !cluster_has_place(b, key.cluster, bad))
		return 0;
	if (is_quarantined(b, &key))
		return spool_put_quarantined(s->spool, &key, r->p, r->left) ==
			PUT_ERROR ?
		    -1 :
		    0;
	job_init(&job);
	inflight_set(s->w->inflight, &key);
	job_read(r, &job);
	*bad = rd_end(r) == -1;
	past = !*bad && (job.flags & JOB_BACKFILL) != 0;
	if (!*bad && job.key.job != 0 && (job.flags & JOB_DRY_RUN)) {
		b->ops->dryrun_record(s, &job);
		rc = PUT_KNOWN;
	} else if (!*bad && record_fits(b, &job, len))
		rc = spool_put(s->spool, &job, &id);
	if (past)
		b->ops->backfill_record(s, rc);
	s->n.records++;
	if (!past && (rc == PUT_NEW || rc == PUT_MERGED))
		s->n.last_job = time(NULL);
	record_note(b, &job, rc, ms);
	if (!*bad && rc != PUT_REFUSED && rc != PUT_ERROR)
		b->ops->record(s, &key, &job, id);
	inflight_clear(s->w->inflight);
	if (rc == PUT_NEW)
		s->n.records_new++;
	else if (rc == PUT_REFUSED && !*bad)
		report_refused(b, &key);
	job_clear(&job);
	return rc == PUT_ERROR ? -1 : 0;
}

/*
 * A watermark is permanent: one far in the future would end the reading of
 * accounting.  Our own clock may be behind Slurm's, but not by a day.
 */
static int
watermark_is_late(struct intake *b, const char *cluster, int64_t until)
{
	if (until <= (int64_t)time(NULL) + WATERMARK_AHEAD_MAX)
		return 0;
	b->s->n.watermarks_refused++;
	log_limited(&b->late, log_errorx,
	    "the collector has read accounting of cluster %s up to %s, which "
	    "is more than a day ahead of this machine's clock: the time is "
	    "ignored, the records are stored",
	    cluster, time_text(until));
	return 1;
}

static int
watermark_apply(struct intake *b, struct reader *r, int *bad)
{
	char cluster[CLUSTER_MAX];
	unsigned source;
	int64_t until;

	rd_name(r, cluster, sizeof(cluster));
	source = rd_u8(r);
	until = rd_i64(r);
	*bad = rd_end(r) == -1;
	/*
	 * An answer without data: the collector may not know the cluster, because
	 * slurmctld is away or clusters does not name it any more.
	 */
	if (!*bad && source == WATERMARK_BACKFILL &&
	    (until == 0 || until == WATERMARK_NO_CLUSTER)) {
		b->ops->backfill_watermark(b->s, cluster, until);
		return 0;
	}
	if (*bad || cluster[0] == '\0' ||
	    !cluster_name_allowed(b->s, cluster) ||
	    !cluster_has_place(b, cluster, bad))
		return 0;
	if (source == WATERMARK_BACKFILL)
		b->ops->backfill_watermark(b->s, cluster, until);
	if (source != WATERMARK_ACCOUNTING ||
	    watermark_is_late(b, cluster, until))
		return 0;
	return spool_watermark(b->s->spool, cluster, until);
}

static int
not_found_apply(struct intake *b, struct reader *r, int *bad)
{
	char cluster[CLUSTER_MAX];
	struct run_key key;
	struct reader keys;
	uint32_t i, n;

	rd_name(r, cluster, sizeof(cluster));
	rd_u64(r); /* the number of the lookup */
	n = rd_u32(r);
	if (n > LOOKUP_KEYS_MAX)
		rd_fail(r);
	keys = *r;
	for (i = 0; i < n && !r->err; i++) {
		rd_run_key(r, &key);
		if (strcmp(key.cluster, cluster) != 0)
			rd_fail(r);
	}
	*bad = rd_end(r) == -1;
	if (!*bad && !cluster_name_allowed(b->s, cluster))
		return 0;
	for (i = 0; i < n && !*bad; i++) {
		rd_run_key(&keys, &key);
		b->ops->not_found(b->s, &key);
		spool_alive();
	}
	return 0;
}

static int
stream_position_apply(struct intake *b, struct reader *r, int *bad)
{
	char cluster[CLUSTER_MAX];
	struct spool_stream at;

	rd_name(r, cluster, sizeof(cluster));
	at.identity = rd_u64(r);
	at.sequence = rd_u64(r);
	*bad = rd_end(r) == -1 || channel_peer(b->collector) != ROLE_RECEIVER;
	if (*bad || cluster[0] == '\0' || !cluster_name_allowed(b->s, cluster))
		return 0;
	return spool_stream_set(b->s->spool, cluster, &at);
}

int
frame_apply(struct intake *b, uint16_t type, struct reader *r, int *bad)
{
	uint64_t seq = rd_u64(r);
	int rc;

	*bad = 0;
	if (type == MSG_RECORD)
		rc = record_apply(b, r, bad);
	else if (type == MSG_WATERMARK)
		rc = watermark_apply(b, r, bad);
	else if (type == MSG_STREAM_POSITION)
		rc = stream_position_apply(b, r, bad);
	else
		rc = not_found_apply(b, r, bad);
	if (rc == 0 && !*bad)
		b->seq = seq;
	return rc;
}

static int
say_no_share(struct intake *b, const struct run_key *key)
{
	b->s->n.resources_refused++;
	log_limited(&b->no_resources, log_warnx,
	    "%s: the full spool has no "
	    "space for its threads and GPUs",
	    run_key_text(key));
	return 0;
}

int
frame_resources(struct intake *b, const struct intake_frame *f)
{
	struct submitter *s = b->s;
	enum spool_put rc = PUT_REFUSED;
	struct run_key key;
	struct reader r;
	struct job job;

	if (f->type != MSG_RECORD || spool_policy(s->spool)->from_stream)
		return 0;
	rd_init(&r, f->bytes, f->len);
	rd_u64(&r);
	key_peek(r.p, r.left, &key);
	if (is_quarantined(b, &key) || !cluster_name_allowed(s, key.cluster) ||
	    !spool_cluster_fits(s->spool, key.cluster))
		return 0;
	job_init(&job);
	inflight_set(s->w->inflight, &key);
	job_read(&r, &job);
	if (rd_end(&r) == 0)
		rc = spool_resources_put(s->spool, &job);
	inflight_clear(s->w->inflight);
	job_clear(&job);
	if (rc == PUT_NO_SHARE)
		return say_no_share(b, &key);
	return rc == PUT_ERROR ? -1 : 0;
}
