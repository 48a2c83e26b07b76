/* SPDX-License-Identifier: MIT */
/*
 * What a compromised collector may not do: report other clusters, fill the
 * table of clusters, end the reading of accounting.
 */
#include "config.h"

#include <sys/socket.h>

#include <poll.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <event2/event.h>

#include "submitter/base/context.h"
#include "common/worker/inflight.h"
#include "submitter/history/history.h"
#include "submitter/intake/intake_private.h"
#include "submitter/spool/commit.h"
#include "submitter/spool/spool_private.h"
#include "tests/unit/check.h"
#include "tests/unit/loop.h"

#define START 1700000000

static char dir[] = "/tmp/test_intake.XXXXXX";
#define TESTS_MAX 32

/* The permanent objects of a test stay: a process has one set. */
static struct submitter s, kept[TESTS_MAX] __attribute__((used));
static unsigned n_kept;
static struct worker worker;
static struct channel *collector; /* its end in the submitter */
static int far, broken, n_unknown, n_ended, n_backfilled, n_dryrun;
static uint64_t seq;

static void
on_frame(struct channel *c, const struct msg_header *h, struct reader *r,
    int fd, void *arg)
{
	CHECK(0); /* the test calls the intake itself */
}

static void
on_broken(struct channel *c, const char *why, void *arg)
{
	broken++;
}

static const struct channel_ops channel_ops = { .on_frame = on_frame,
	.on_broken = on_broken };

static void
on_backfill_record(struct submitter *sub, enum spool_put put)
{
}

static void
on_dryrun_record(struct submitter *sub, const struct job *job)
{
	n_dryrun++;
}

static void
on_backfill_watermark(struct submitter *sub, const char *cluster, int64_t until)
{
	n_ended += until <= 0;
	n_backfilled += until > 0;
}

static void
on_not_found(struct submitter *sub, const struct run_key *key)
{
	n_unknown++;
}

static void
on_record(struct submitter *sub, const struct run_key *key, struct job *job,
    int64_t id)
{
}

static const struct intake_ops intake_ops = {
	.record = on_record,
	.backfill_record = on_backfill_record,
	.dryrun_record = on_dryrun_record,
	.backfill_watermark = on_backfill_watermark,
	.not_found = on_not_found,
};

static void
on_committed(struct submitter *sub)
{
	intake_committed(sub->intake);
}

static int
on_failed(struct submitter *sub)
{
	return intake_rolled_back(sub->intake);
}

static int
on_retry(struct submitter *sub)
{
	return intake_retry(sub->intake);
}

static void
on_stuck(struct submitter *sub)
{
}

static const struct commit_ops commit_ops = { .committed = on_committed,
	.failed = on_failed,
	.retry = on_retry,
	.stuck = on_stuck };

static void
lane_none(struct submitter *sub)
{
}

static const struct wake_lane lanes[] = { { WAKE_DELIVERY, lane_none },
	{ 0, NULL } };

static enum role feeder = ROLE_COLLECTOR; /* the peer of begin() */

static void
begin(const char *clusters)
{
	char path[64], reason[256];
	int fds[2];

	memset(&s, 0, sizeof(s));
	worker.base = event_base_new();
	if (worker.base == NULL || n_kept == TESTS_MAX)
		exit(1);
	broken = n_unknown = 0;
	seq = 0;
	CHECK_INT(conf_set(&worker.conf, CONF_CLUSTERS, clusters), 0);
	s.w = &worker;
	snprintf(path, sizeof(path), "%s/spool.db", dir);
	s.spool = spool_open(path, 64 << 20, 1000, reason, sizeof(reason));
	if (s.spool == NULL || socketpair(AF_UNIX, SOCK_STREAM, 0, fds) == -1)
		exit(1);
	wake_init(&s, lanes);
	spool_policy(s.spool)->to[DEST_REST] = 1;
	s.commit = commit_new(&s, &commit_ops);
	s.intake = intake_new(&s, &intake_ops);
	collector = channel_new(worker.base, fds[0], ROLE_SUBMITTER, feeder,
	    &channel_ops, NULL);
	far = fds[1];
	intake_peer(s.intake, collector);
	cluster_names_conf(&s);
}

static void
end(void)
{
	char cmd[64];

	intake_peer(s.intake, NULL);
	channel_free(collector);
	close(far);
	spool_close(s.spool);
	event_base_free(worker.base); /* no timer fires any more */
	kept[n_kept++] = s;
	snprintf(cmd, sizeof(cmd), "rm -f %s/spool.*", dir);
	CHECK_INT(system(cmd), 0);
}

/* Gives the message to the intake, commits, and runs the event loop. */
static void
receive(enum msg_type type, struct writer *w)
{
	struct msg_header h = { .type = (uint16_t)type,
		.length = (uint32_t)w->len };
	struct reader r;

	CHECK_INT(wr_end(w), 0);
	rd_init(&r, w->buf, w->len);
	intake_receive(s.intake, &h, &r);
	wr_clear(w);
	commit_now(s.commit);
	event_base_loop(worker.base, EVLOOP_NONBLOCK);
}

static void
record_with(const char *cluster, uint64_t id, unsigned flags)
{
	struct job job;
	struct writer w;

	job_init(&job);
	snprintf(job.key.cluster, sizeof(job.key.cluster), "%s", cluster);
	job.key.job = id;
	job.key.start = START;
	job.flags = JOB_HAS_START | flags;
	job.submit = START - 1;
	job_add_host(&job, "n1");
	job.user = strdup("alice");
	job.nodes = 1;
	wr_init(&w, 65536);
	wr_u64(&w, ++seq);
	job_write(&w, &job);
	job_clear(&job);
	receive(MSG_RECORD, &w);
}

static void
record(const char *cluster, uint64_t id)
{
	record_with(cluster, id, JOB_LIVE);
}

static void
watermark_of(unsigned source, const char *cluster, int64_t until)
{
	struct writer w;

	wr_init(&w, 256);
	wr_u64(&w, ++seq);
	wr_str(&w, cluster);
	wr_u8(&w, (uint8_t)source);
	wr_i64(&w, until);
	receive(MSG_WATERMARK, &w);
}

static void
watermark(const char *cluster, int64_t until)
{
	watermark_of(WATERMARK_ACCOUNTING, cluster, until);
}

static void
not_found(const char *cluster, const char *cluster_of_key)
{
	struct run_key key = { .job = 1, .start = START };
	struct writer w;

	snprintf(key.cluster, sizeof(key.cluster), "%s", cluster_of_key);
	wr_init(&w, 256);
	wr_u64(&w, ++seq);
	wr_str(&w, cluster);
	wr_u64(&w, 1);
	wr_u32(&w, 1);
	wr_run_key(&w, &key);
	receive(MSG_NOT_FOUND, &w);
}

/* A lookup has no more keys than this; a message with more is a violation. */
static void
test_not_found_many(void)
{
	struct run_key key = { "alpha", 1, START };
	struct writer w;
	unsigned n, i;

	for (n = LOOKUP_KEYS_MAX; n <= LOOKUP_KEYS_MAX + 1; n++) {
		begin("[\"alpha\"]");
		wr_init(&w, MSG_PAYLOAD_MAX);
		wr_u64(&w, ++seq);
		wr_str(&w, "alpha");
		wr_u64(&w, 1);
		wr_u32(&w, n);
		for (i = 0; i < n; i++)
			wr_run_key(&w, &key);
		receive(MSG_NOT_FOUND, &w);
		CHECK_INT(broken, n > LOOKUP_KEYS_MAX);
		end();
	}
}

static int
has_run(const char *cluster, uint64_t id)
{
	struct run_key key = { .job = id, .start = START };
	struct spool_run run;

	snprintf(key.cluster, sizeof(key.cluster), "%s", cluster);
	return spool_find(s.spool, &key, &run);
}

/* -1 when the spool does not know the cluster. */
static int64_t
resume_point(const char *cluster)
{
	struct run_key name;
	int64_t cursor;
	unsigned i;

	for (i = 0; spool_cluster(s.spool, i, &name, &cursor); i++)
		if (strcmp(name.cluster, cluster) == 0)
			return cursor;
	return -1;
}

static void
test_configured(void)
{
	begin("[\"alpha\",\"beta\"]");
	record("alpha", 1);
	record("beta", 2);
	record("gamma", 3);
	watermark("gamma", START);
	watermark("beta", START);
	not_found("gamma", "gamma");
	CHECK_INT(has_run("alpha", 1), 1);
	CHECK_INT(has_run("beta", 2), 1);
	CHECK_INT(has_run("gamma", 3), 0);
	CHECK_INT(resume_point("gamma"), -1);
	CHECK_INT(resume_point("beta"), START);
	CHECK_INT(n_unknown, 0);
	CHECK_INT(s.n.clusters_refused, 3);
	not_found("alpha", "alpha");
	CHECK_INT(n_unknown, 1);
	CHECK_INT(broken, 0); /* what it says of its own clusters counts */
	not_found("alpha", "beta");
	CHECK_INT(n_unknown, 1);
	CHECK_INT(broken, 1);
	end();
}

/* A dry run gets no run of another cluster, and none without a job id. */
static void
test_dry_run(void)
{
	begin("[\"alpha\"]");
	n_dryrun = 0;
	record_with("alpha", 7, JOB_BACKFILL | JOB_DRY_RUN);
	CHECK_INT(n_dryrun, 1);
	CHECK_INT(has_run("alpha", 7), 0);
	record_with("gamma", 7, JOB_BACKFILL | JOB_DRY_RUN);
	record_with("gamma", 0, JOB_BACKFILL | JOB_DRY_RUN);
	CHECK_INT(n_dryrun, 1);
	end();
}

/*
 * The end of a cancelled backfill arrives also from a collector that does not know
 * the cluster; without it, the watermarks of all later backfills would not count.
 */
static void
test_backfill_ended(void)
{
	begin("[\"alpha\"]");
	watermark_of(WATERMARK_BACKFILL, "", 0);
	watermark_of(WATERMARK_BACKFILL, "gamma", 0);
	watermark_of(WATERMARK_BACKFILL, "alpha", 0);
	watermark_of(WATERMARK_BACKFILL, "gamma", WATERMARK_NO_CLUSTER);
	CHECK_INT(n_ended, 4);
	CHECK_INT(s.n.clusters_refused, 0);
	watermark_of(WATERMARK_BACKFILL, "gamma", WATERMARK_NO_CLUSTER - 1);
	CHECK_INT(n_ended, 4);
	CHECK_INT(s.n.clusters_refused, 1);
	watermark_of(WATERMARK_BACKFILL, "gamma", START);
	CHECK_INT(n_backfilled, 0);
	CHECK_INT(s.n.clusters_refused, 2);
	watermark_of(WATERMARK_BACKFILL, "alpha", START);
	CHECK_INT(n_backfilled, 1);
	CHECK_INT(broken, 0);
	end();
}

/* Without the key, the names that came first; never 64. */
static void
test_learned(void)
{
	char name[16];
	unsigned i, stored = 0;

	begin("[]");
	for (i = 0; i < 100; i++) {
		snprintf(name, sizeof(name), "c%u", i);
		record(name, 1);
		stored += has_run(name, 1) == 1;
	}
	CHECK_INT(stored, CLUSTER_NAMES_LEARNED);
	CHECK_INT(has_run("c0", 1), 1);
	CHECK_INT(s.n.clusters_refused, 100 - CLUSTER_NAMES_LEARNED);
	record("c0", 2);
	CHECK_INT(has_run("c0", 2), 1);
	CHECK_INT(broken, 0);
	end();
}

/* A full table is no full disk: the channel breaks, and the spool goes on. */
static void
test_full_table(void)
{
	char name[16];
	unsigned i;

	begin("[]");
	for (i = 0; i < CLUSTERS_MAX; i++) {
		snprintf(name, sizeof(name), "old%u", i);
		CHECK_INT(spool_watermark(s.spool, name, START), 0);
	}
	CHECK_INT(commit_now(s.commit), 0);
	record("old0", 1);
	CHECK_INT(has_run("old0", 1), 1);
	CHECK_INT(broken, 0);
	record("new", 1);
	CHECK_INT(broken, 1);
	CHECK_INT(commit_is_stuck(s.commit), 0);
	CHECK_INT(has_run("old0", 1), 1);
	end();
}

static void
test_watermark(void)
{
	int64_t now = (int64_t)time(NULL);

	begin("[\"alpha\"]");
	watermark("alpha", START);
	watermark("alpha", INT64_MAX);
	CHECK_INT(resume_point("alpha"), START);
	watermark("alpha", now + 2 * 86400);
	CHECK_INT(resume_point("alpha"), START);
	CHECK_INT(s.n.watermarks_refused, 2);
	record("alpha", 1); /* stored all the same */
	CHECK_INT(has_run("alpha", 1), 1);
	/* Our clock may be some hours behind. */
	watermark("alpha", now + 3600);
	CHECK_INT(resume_point("alpha"), now + 3600);
	watermark("alpha", INT64_MIN);
	CHECK_INT(resume_point("alpha"), now + 3600);
	CHECK_INT(broken, 0);
	end();
}

static struct inflight *page; /* the supervisor's view */
static unsigned noted, noted_inflight;

/* In place of history_note_at(), which does nothing without a history. */
void __wrap_history_note_at(struct history *h, int64_t ms,
    const struct run_key *key, enum history_event event, uint64_t a,
    uint64_t b);

void
__wrap_history_note_at(struct history *h, int64_t ms, const struct run_key *key,
    enum history_event event, uint64_t a, uint64_t b)
{
	struct run_key named;

	noted++;
	noted_inflight += page != NULL && inflight_read(page, &named) == 1 &&
	    run_key_equal(&named, key);
}

/* A crash in the history counts for the quarantine of the run, too. */
static void
test_inflight(void)
{
	struct run_key named;
	int fd;

	begin("[\"alpha\"]");
	page = inflight_new(&fd);
	worker.inflight = inflight_map(fd);
	CHECK(page != NULL && worker.inflight != NULL);
	noted = noted_inflight = 0;
	record("alpha", 1);
	CHECK(noted > 0);
	CHECK_INT(noted_inflight, noted);
	CHECK_INT(inflight_read(page, &named), 0);
	inflight_free(worker.inflight);
	inflight_free(page);
	worker.inflight = page = NULL;
	end();
}

static void
position(const char *cluster, uint64_t identity, uint64_t sequence)
{
	struct writer w;

	wr_init(&w, 256);
	wr_u64(&w, ++seq);
	wr_str(&w, cluster);
	wr_u64(&w, identity);
	wr_u64(&w, sequence);
	receive(MSG_STREAM_POSITION, &w);
}

/*
 * Reads what the intake has sent to its peer: the positions of a new receiver, in
 * front of the last batch of open runs.  Returns their number; *open is the first
 * open run.
 */
static unsigned
positions_read(char *cluster, size_t size, uint64_t *sequence,
    struct open_key *open)
{
	struct msg_header h = { .type = 0 };
	struct reader r;
	uint8_t *payload;
	unsigned n = 0;
	int fd;

	event_base_loop(worker.base, EVLOOP_NONBLOCK);
	while (h.type != MSG_OPEN_RUNS &&
	    frame_read(far, feeder, ROLE_SUBMITTER, &h, &payload, &fd, 10000) ==
		0) {
		rd_init(&r, payload, h.length);
		if (h.type == MSG_STREAM_POSITION) {
			CHECK_INT(rd_u64(&r), 0);
			rd_name(&r, cluster, size);
			CHECK_INT(rd_u64(&r), 7);
			*sequence = rd_u64(&r);
			CHECK_INT(rd_end(&r), 0);
			n++;
		} else if (h.type == MSG_OPEN_RUNS) {
			rd_u8(&r);
			if (rd_u32(&r) > 0)
				rd_open_key(&r, open);
			CHECK_INT(rd_end(&r), 0);
		}
		free(payload);
	}
	CHECK_INT(h.type, MSG_OPEN_RUNS);
	return n;
}

static void
script_record(uint64_t job, const char *script, uint32_t flags)
{
	struct job j;
	struct writer w;

	job_init(&j);
	snprintf(j.key.cluster, sizeof(j.key.cluster), "alpha");
	j.key.job = job;
	j.key.start = START;
	j.exit_code = -1;
	j.flags = flags;
	j.script = script != NULL ? strdup(script) : NULL;
	wr_init(&w, MSG_PAYLOAD_MAX);
	wr_u64(&w, ++seq);
	job_write(&w, &j);
	job_clear(&j);
	receive(MSG_RECORD, &w);
}

/* Reads the open runs that a new collector gets: their jobs by their bits. */
static void
open_read(uint64_t jobs[8])
{
	struct msg_header h;
	struct open_key open;
	struct reader r;
	uint8_t *payload;
	unsigned bits = 0;
	uint32_t n;
	int fd;

	event_base_loop(worker.base, EVLOOP_NONBLOCK);
	while (!(bits & OPEN_RUNS_LAST) &&
	    frame_read(far, feeder, ROLE_SUBMITTER, &h, &payload, &fd, 10000) ==
		0) {
		rd_init(&r, payload, h.length);
		if (h.type == MSG_OPEN_RUNS) {
			bits = rd_u8(&r);
			for (n = rd_u32(&r); n > 0; n--) {
				rd_open_key(&r, &open);
				jobs[bits & ~OPEN_RUNS_LAST & 7] += open.key
									.job;
			}
			CHECK_INT(rd_end(&r), 0);
		}
		free(payload);
	}
	CHECK(bits & OPEN_RUNS_LAST);
}

/* A new collector is told which scripts have not come. */
static void
test_script_due(void)
{
	uint64_t none[8] = { 0 }, all[8] = { 0 }, last[8] = { 0 };

	begin("[\"alpha\"]");
	open_read(none);
	record("alpha", 1);
	script_record(2, NULL, JOB_HAS_START | JOB_MORE);
	script_record(4, NULL, JOB_HAS_START | JOB_MORE | JOB_UNCONFIRMED);
	script_record(8, NULL, JOB_HAS_START | JOB_MORE);
	script_record(8, "#!/bin/sh\n", JOB_PARTIAL);
	intake_peer(s.intake, collector);
	open_read(all);
	CHECK_INT(all[0], 1 + 8);
	CHECK_INT(all[OPEN_RUNS_SCRIPT_DUE], 2);
	CHECK_INT(all[OPEN_RUNS_SCRIPT_DUE | OPEN_RUNS_UNCONFIRMED], 4);
	/* The job has no script. */
	seq = 0;
	script_record(2, NULL, JOB_PARTIAL);
	intake_peer(s.intake, collector);
	open_read(last);
	CHECK_INT(last[0], 1 + 2 + 8);
	CHECK_INT(last[OPEN_RUNS_SCRIPT_DUE], 0);
	end();
}

/* At the centre of a fan-in. */
static void
test_stream_position(void)
{
	struct spool_stream at;
	struct open_key open = { .submit = 0 };
	char cluster[CLUSTER_MAX] = "";
	uint64_t sequence = 0;

	feeder = ROLE_RECEIVER;
	begin("[\"alpha\", \"beta\"]");
	CHECK_INT(positions_read(cluster, sizeof(cluster), &sequence, &open),
	    0);
	CHECK_INT(open.submit, 0);
	record("alpha", 1);
	position("alpha", 7, 40);
	CHECK_INT(spool_stream(s.spool, "alpha", &at), 1);
	CHECK_INT(at.identity, 7);
	CHECK_INT(at.sequence, 40);
	position("alpha", 7, 39); /* the stream has lost its end */
	CHECK_INT(spool_stream(s.spool, "alpha", &at), 1);
	CHECK_INT(at.sequence, 39);
	position("alpha", 7, 40);
	CHECK_INT(spool_stream(s.spool, "beta", &at), 0);
	CHECK_INT(broken, 0);
	position("gamma", 7, 1); /* no name of the key clusters */
	CHECK_INT(spool_stream(s.spool, "gamma", &at), 0);
	CHECK_INT(s.n.clusters_refused, 1);
	/* A new receiver continues there. */
	intake_peer(s.intake, collector);
	CHECK_INT(positions_read(cluster, sizeof(cluster), &sequence, &open),
	    1);
	CHECK_INT(open.key.job, 1);
	CHECK_INT(open.key.start, START);
	CHECK_INT(open.submit, START - 1);
	CHECK_STR(cluster, "alpha");
	CHECK_INT(sequence, 40);
	end();
	/* The collector has no stream. */
	feeder = ROLE_COLLECTOR;
	begin("[\"alpha\"]");
	position("alpha", 7, 40);
	CHECK_INT(broken, 1);
	CHECK_INT(spool_stream(s.spool, "alpha", &at), 0);
	end();
}

#define SMALL_SPOOL (4 << 20)
#define SCRIPT	    8192 /* bytes */

static unsigned holds; /* times that a cluster was told to wait */

/* The last hold that the intake sent about a cluster; -1 = none. */
static int
hold_read(const char *of)
{
	struct pollfd p = { .fd = far, .events = POLLIN };
	char cluster[CLUSTER_MAX];
	struct msg_header h;
	struct reader r;
	uint8_t *payload;
	int fd, hold = -1;

	event_base_loop(worker.base, EVLOOP_NONBLOCK);
	while (poll(&p, 1, 0) == 1 &&
	    frame_read(far, feeder, ROLE_SUBMITTER, &h, &payload, &fd, 10000) ==
		0) {
		rd_init(&r, payload, h.length);
		if (h.type == MSG_STREAM_HOLD) {
			rd_name(&r, cluster, sizeof(cluster));
			if (strcmp(cluster, of) == 0)
				hold = (int)rd_u8(&r);
			holds += hold == 1;
		}
		CHECK(h.type != MSG_FLOW); /* the spool is not full */
		free(payload);
	}
	return hold;
}

static void
large_record(const char *cluster, uint64_t id)
{
	struct job job;
	struct writer w;

	job_init(&job);
	snprintf(job.key.cluster, sizeof(job.key.cluster), "%s", cluster);
	job.key.job = id;
	job.key.start = START;
	job.flags = JOB_HAS_START | JOB_HAS_THREADS | JOB_LIVE;
	job_add_host(&job, "n1");
	job.script = calloc(1, SCRIPT + 1);
	memset(job.script, 'x', SCRIPT);
	wr_init(&w, 65536);
	wr_u64(&w, ++seq);
	job_write(&w, &job);
	job_clear(&job);
	receive(MSG_RECORD, &w);
}

static void
run_forget(const char *cluster, uint64_t id)
{
	struct run_key key = { .job = id, .start = START };
	struct spool_run run;

	snprintf(key.cluster, sizeof(key.cluster), "%s", cluster);
	CHECK_INT(spool_find(s.spool, &key, &run), 1);
	CHECK_INT(spool_forget(s.spool, &run), 0);
}

/* Sends records of the cluster until it has to wait; returns their number. */
static uint64_t
fill(const char *cluster)
{
	uint64_t id = 1;

	for (; id < 2 * SMALL_SPOOL / SCRIPT; id++) {
		large_record(cluster, id);
		if (hold_read(cluster) == 1)
			return id;
	}
	return 0;
}

/* One cluster cannot fill the spool of a centre. */
static void
test_share(void)
{
	uint64_t alpha, beta, id;
	int64_t bytes;

	feeder = ROLE_RECEIVER;
	begin("[\"alpha\",\"beta\",\"gamma\"]");
	spool_policy(s.spool)->from_stream = 1;
	spool_set_limits(s.spool, SMALL_SPOOL, 1000);
	CHECK_INT(spool_shares_begin(s.spool), 0);
	(void)hold_read("alpha");
	alpha = fill("alpha");
	CHECK(alpha > SMALL_SPOOL / SCRIPT / 4);
	beta = fill("beta");
	CHECK(beta > SMALL_SPOOL / SCRIPT / 16);
	record("gamma", 1);
	CHECK_INT(has_run("gamma", 1), 1);
	CHECK_INT(hold_read("gamma"), -1);
	CHECK(intake_has_room(s.intake));
	/* A new receiver is told, and in front of its positions. */
	intake_peer(s.intake, collector);
	CHECK_INT(hold_read("beta"), 1);
	bytes = spool_shares_all(s.spool);
	CHECK(bytes > spool_share(s.spool, "alpha"));
	for (id = 1; id <= alpha; id++)
		run_forget("alpha", id);
	commit_now(s.commit);
	CHECK_INT(spool_share(s.spool, "alpha"), 0);
	CHECK_INT(hold_read("alpha"), 0);
	CHECK_INT(broken, 0);
	end();
}

#define TOMB_SPOOL (512 << 10)

/* Runs that never ran are done at once, and leave their tombstones. */
static void
test_share_tombs(void)
{
	uint64_t id, n = TOMB_SPOOL / 4 * 3 / 80 + 2;
	struct job job;
	int64_t row;

	feeder = ROLE_RECEIVER;
	begin("[\"alpha\",\"beta\"]");
	spool_policy(s.spool)->from_stream = 1;
	spool_set_limits(s.spool, TOMB_SPOOL, 1000);
	CHECK_INT(spool_shares_begin(s.spool), 0);
	job_init(&job);
	snprintf(job.key.cluster, sizeof(job.key.cluster), "alpha");
	job.key.start = job.end = START;
	job.submit = START - 10;
	job.state = END_REQUEUED;
	job.flags = JOB_HAS_START | JOB_NEVER_RAN;
	for (id = 1; id <= n; id++) {
		/* The longest ids, in the order that leaves pages half full. */
		job.key.job = ((uint64_t)1 << 62) - id;
		CHECK(spool_put(s.spool, &job, &row) != PUT_ERROR);
	}
	job_clear(&job);
	CHECK(spool_bytes(s.spool) < TOMB_SPOOL / 10 * 9);
	record("beta", 1);
	CHECK_INT(has_run("beta", 1), 1);
	CHECK_INT(hold_read("alpha"), 1);
	CHECK(intake_has_room(s.intake));
	while (spool_age(s.spool, START + 2000, 512) > 0)
		continue;
	record("beta", 2);
	CHECK_INT(hold_read("alpha"), 0);
	CHECK_INT(broken, 0);
	end();
}

static void
run_state_set(const char *cluster, uint64_t id, enum run_state state)
{
	struct run_key key = { .job = id, .start = START };
	struct spool_run run;

	snprintf(key.cluster, sizeof(key.cluster), "%s", cluster);
	CHECK_INT(spool_find(s.spool, &key, &run), 1);
	run.state[DEST_REST] = state;
	CHECK_INT(spool_save(s.spool, &run), 0);
}

/*
 * The ends of open runs are behind them in the stream: a cluster whose runs are
 * all delivered and open is read above its share, without their scripts if
 * need be.
 */
static void
test_share_open(void)
{
	/* bytes before the record with which it waits the first time */
	int64_t first = 0, bytes;
	uint64_t id = 0;
	int hold = 0;

	begin("[\"alpha\",\"beta\"]");
	spool_policy(s.spool)->from_stream = 1;
	spool_set_limits(s.spool, SMALL_SPOOL, 1000);
	CHECK_INT(spool_shares_begin(s.spool), 0);
	holds = 0;
	/* Each run is delivered while the next one waits. */
	while (++id < 2 * SMALL_SPOOL / SCRIPT) {
		bytes = spool_share(s.spool, "alpha");
		large_record("alpha", id);
		if (hold_read("alpha") == 1)
			hold = 1;
		run_state_set("alpha", id, START_COMMITTED);
		commit_now(s.commit);
		if (hold_read("alpha") == 0)
			hold = 0;
		if (holds != 0 && first == 0)
			first = bytes;
		/* The intake removes scripts while it waits. */
		while (
		    hold && spool_share(s.spool, "alpha") > SMALL_SPOOL / 2) {
			intake_upkeep(s.intake);
			commit_now(s.commit);
			if (hold_read("alpha") == 0)
				hold = 0;
		}
		CHECK_INT(hold, 0);
	}
	/* The first time was at the limit, not at the share. */
	CHECK(first > SMALL_SPOOL / 100 * 70);
	CHECK(intake_has_room(s.intake));
	CHECK_INT(broken, 0);
	end();
}

#define WIDE_HOSTS 100 /* of a run that keeps its bytes without its script */

/* A run whose start is accepted and that does not end. */
static void
wide_run(const char *cluster, uint64_t id)
{
	char host[64];
	struct job job;
	struct writer w;
	unsigned i;

	job_init(&job);
	snprintf(job.key.cluster, sizeof(job.key.cluster), "%s", cluster);
	job.key.job = id;
	job.key.start = START;
	job.flags = JOB_HAS_START | JOB_HAS_THREADS | JOB_LIVE;
	for (i = 0; i < WIDE_HOSTS; i++) {
		snprintf(host, sizeof(host), "node-with-a-%050u", i);
		job_add_host(&job, host);
	}
	wr_init(&w, 65536);
	wr_u64(&w, ++seq);
	job_write(&w, &job);
	job_clear(&job);
	receive(MSG_RECORD, &w);
	if (has_run(cluster, id))
		run_state_set(cluster, id, START_COMMITTED);
	commit_now(s.commit);
}

/*
 * Only later messages end open runs: those of one cluster leave space to read the
 * other ones, which use a part of the spool, too.
 */
static void
test_share_open_others(void)
{
	const int64_t shared = SMALL_SPOOL / 100 * 80;
	uint64_t id, beta = 0;

	begin("[\"alpha\",\"beta\",\"gamma\"]");
	spool_policy(s.spool)->from_stream = 1;
	spool_set_limits(s.spool, SMALL_SPOOL, 1000);
	CHECK_INT(spool_shares_begin(s.spool), 0);
	while (spool_share(s.spool, "beta") < SMALL_SPOOL / 100 * 20)
		wide_run("beta", ++beta);
	for (id = 1; id < SMALL_SPOOL / 4096; id++) {
		wide_run("alpha", id);
		if (hold_read("alpha") == 1)
			break;
	}
	CHECK(spool_share(s.spool, "alpha") > shared / 2);
	CHECK(spool_shares_all(s.spool) < shared);
	CHECK(intake_has_room(s.intake));
	wide_run("beta", ++beta);
	CHECK_INT(has_run("beta", beta), 1);
	CHECK_INT(hold_read("beta"), -1);
	/* The others use the whole: a small cluster is still read. */
	spool_set_limits(s.spool, SMALL_SPOOL / 10 * 9, 1000);
	wide_run("gamma", 1);
	CHECK_INT(has_run("gamma", 1), 1);
	CHECK_INT(hold_read("gamma"), -1);
	CHECK_INT(broken, 0);
	end();
}

/* A cluster whose runs are delivered is read while many runs of another one wait. */
static void
test_share_delivered(void)
{
	uint64_t id, alpha = 0;
	int64_t room;

	begin("[\"alpha\",\"beta\"]");
	spool_policy(s.spool)->from_stream = 1;
	spool_set_limits(s.spool, SMALL_SPOOL, 1000);
	CHECK_INT(spool_shares_begin(s.spool), 0);
	for (id = 1; id <= 100; id++)
		record("beta", id);
	CHECK_INT(spool_share_waits(s.spool, "beta"), 100);
	do {
		wide_run("alpha", ++alpha);
		room = SMALL_SPOOL / 100 * 80 - spool_shares_all(s.spool);
	} while (spool_share(s.spool, "alpha") < room + 100000);
	CHECK_INT(spool_share_waits(s.spool, "alpha"), 0);
	CHECK_INT(hold_read("alpha"), -1);
	/* Sixteen that wait are few. */
	for (id = 1; id <= 16; id++)
		run_state_set("alpha", id, START_DUE);
	commit_now(s.commit);
	CHECK_INT(hold_read("alpha"), -1);
	run_state_set("alpha", id, STOP_DUE);
	commit_now(s.commit);
	CHECK_INT(hold_read("alpha"), 1);
	/* One is delivered: it is read again, although the runs of beta wait. */
	run_state_set("alpha", id, START_COMMITTED);
	commit_now(s.commit);
	CHECK_INT(hold_read("alpha"), 0);
	CHECK_INT(broken, 0);
	end();
}

/* A centre with one cluster uses the whole spool. */
static void
test_share_alone(void)
{
	unsigned id;

	begin("[\"alpha\"]");
	spool_policy(s.spool)->from_stream = 1;
	spool_set_limits(s.spool, SMALL_SPOOL, 1000);
	CHECK_INT(spool_shares_begin(s.spool), 0);
	for (id = 1; id < SMALL_SPOOL / SCRIPT / 2; id++)
		large_record("alpha", id);
	CHECK_INT(hold_read("alpha"), -1);
	CHECK_INT(has_run("alpha", id - 1), 1);
	end();
	feeder = ROLE_COLLECTOR;
}

/*
 * A spool is full of open runs whose start is not delivered, and nothing can be
 * removed.  Then cc-backend gets the starts: their scripts are removed, because
 * the ends of these runs need the space.
 */
static void
test_full_open(void)
{
	uint64_t id = 0, n;

	begin("[\"alpha\"]");
	spool_set_limits(s.spool, SMALL_SPOOL, 1000);
	while (intake_has_room(s.intake) && ++id < 2 * SMALL_SPOOL / SCRIPT)
		large_record("alpha", id);
	CHECK(!intake_has_room(s.intake));
	LOOP_UNTIL(worker.base, !s.intake->evicting);
	for (n = 1; n < id; n++)
		run_state_set("alpha", n, START_COMMITTED);
	commit_now(s.commit);
	LOOP_UNTIL(worker.base, intake_has_room(s.intake));
	CHECK_INT(has_run("alpha", id), 1);
	CHECK_INT(broken, 0);
	end();
}

/* At the centre, the stream has what the full spool does not get. */
static void
test_full_centre(void)
{
	struct summary to = { .n = 0 };
	uint64_t id = 0;

	feeder = ROLE_RECEIVER;
	begin("[\"alpha\"]");
	spool_policy(s.spool)->from_stream = 1;
	spool_set_limits(s.spool, SMALL_SPOOL, 1000);
	while (intake_has_room(s.intake) && ++id < 2 * SMALL_SPOOL / SCRIPT)
		large_record("alpha", id);
	CHECK(!intake_has_room(s.intake));
	large_record("alpha", id + 1);
	CHECK_INT(spool_resources_count(s.spool), 0);
	intake_summary(s.intake, &to);
	CHECK_INT(to.n, 1);
	CHECK_STR(to.problems[0].text,
	    "the spool is full (spoolMaxBytes): new records wait in the "
	    "streams of their clusters");
	CHECK_INT(broken, 0);
	end();
	feeder = ROLE_COLLECTOR;
}

int
main(void)
{
	log_init("test_intake", LOG_LEVEL_FATAL);
	spool_prepare();
	conf_init(&worker.conf);
	/* The reserve is a file of the current directory. */
	if (mkdtemp(dir) == NULL || chdir(dir) == -1)
		return 1;
	test_configured();
	test_dry_run();
	test_backfill_ended();
	test_learned();
	test_full_table();
	test_watermark();
	test_inflight();
	test_script_due();
	test_stream_position();
	test_not_found_many();
	test_share();
	test_share_tombs();
	test_share_open();
	test_share_open_others();
	test_share_delivered();
	test_share_alone();
	test_full_open();
	test_full_centre();
	intake_remove_reserve();
	rmdir(dir);
	return check_done();
}
