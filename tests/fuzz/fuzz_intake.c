/* SPDX-License-Identifier: MIT */
/*
 * The messages of a compromised collector or receiver to the submitter, which has
 * the token: records, watermarks, positions, runs that Slurm does not know.  The
 * first byte selects the sender, the version of cc-backend, the side of a fan-in,
 * some keys of the configuration, the size of the spool, and whether the file is
 * opened again.  Between the messages, deliveries change the states of runs.  All
 * stored runs and watermarks are of the configured clusters and within their bounds.
 * The spool stays valid and has the same runs after a restart.  Each commit
 * acknowledges all messages that were applied.
 */
#include "config.h"

#include <sys/socket.h>

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "common/worker/worker.h"
#include "submitter/base/context.h"
#include "submitter/intake/intake_private.h"
#include "submitter/spool/commit.h"
#include "submitter/spool/transition.h"
#include "tests/fuzz/neighbour.h"

#define MAX_BYTES  (2u * 1024 * 1024)
#define FEW_BYTES  (160u * 1024)	/* some records fill the spool */
#define KEEP	   (50 * 365 * 86400LL) /* s: the records of the inputs are old */
#define AHEAD_MAX  86400		/* s before this machine's clock */
#define FRAMES_MAX 64			/* of one input */

#define BY_RECEIVER 1u
#define VERSION_1_5 2u
#define CENTRE	    4u
#define RESTART	    8u
#define TO_STREAM   16u
#define ACTIVE_ONLY 32u
#define SMALL	    64u
#define LAST_RUN    128u

static char dir[] = "/dev/shm/csa-fuzz-intake.XXXXXX";
static char path[sizeof(dir) + 16];
static struct submitter s;
static struct worker worker;
static struct intake fresh; /* the intake without a message */

static int
is_configured(const char *cluster)
{
	return strcmp(cluster, "alpha") == 0 || strcmp(cluster, "beta") == 0;
}

static void
on_backfill_record(struct submitter *sub, enum spool_put put)
{
}

static void
on_dryrun_record(struct submitter *sub, const struct job *job)
{
	HOLDS(is_configured(job->key.cluster));
}

static void
on_backfill_watermark(struct submitter *sub, const char *cluster, int64_t until)
{
	HOLDS(until == 0 || until == WATERMARK_NO_CLUSTER ||
	    is_configured(cluster));
}

static void
on_record(struct submitter *sub, const struct run_key *key, struct job *job,
    int64_t id)
{
	HOLDS(is_configured(job->key.cluster) && job->key.job != 0);
}

static void
on_not_found(struct submitter *sub, const struct run_key *key)
{
	HOLDS(is_configured(key->cluster));
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
	HOLDS(0); /* no message looks like a full disk */
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

static void
files_remove(void)
{
	static const char *const names[] = { "", "-wal", "-shm" };
	char name[sizeof(path) + 8];
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(name, sizeof(name), "%s%s", path, names[i]);
		unlink(name);
	}
}

static void
dir_remove(void)
{
	files_remove();
	rmdir(dir);
}

static void
prepare(void)
{
	spool_prepare();
	HOLDS(mkdtemp(dir) != NULL);
	atexit(dir_remove);
	snprintf(path, sizeof(path), "%s/spool.db", dir);
	worker.base = event_base_new();
	HOLDS(worker.base != NULL);
	HOLDS(
	    conf_set(&worker.conf, CONF_CLUSTERS, "[\"alpha\",\"beta\"]") == 0);
	s.w = &worker;
	wake_init(&s, lanes);
	s.commit = commit_new(&s, &commit_ops);
	s.intake = intake_new(&s, &intake_ops);
	fresh = *s.intake;
}

static void
file_open(unsigned choice)
{
	struct spool_policy *p;
	char reason[512];

	s.spool = spool_open(path, choice & SMALL ? FEW_BYTES : MAX_BYTES, KEEP,
	    reason, sizeof(reason));
	HOLDS(s.spool != NULL);
	p = spool_policy(s.spool);
	p->to[DEST_NATS] = (choice & CENTRE) == 0;
	p->wait_commit = (choice & VERSION_1_5) != 0;
	p->from_stream = (choice & CENTRE) != 0;
	p->whole = (choice & (CENTRE | TO_STREAM)) == TO_STREAM;
	p->to[DEST_REST] = !p->whole;
	p->active_only = (choice & ACTIVE_ONLY) != 0;
	p->last_requeued = (choice & LAST_RUN) != 0;
	p->nats_gap = p->wait_commit ? 1000 : 0;
	p->more_wait = p->active_only ? 5000 : 0;
	p->script_key = p->wait_commit ? "jobScript" : NULL;
	if (p->from_stream)
		HOLDS(spool_shares_begin(s.spool) == 0);
}

static void
commit_holds(void)
{
	HOLDS(commit_now(s.commit) == 0);
	HOLDS(!commit_is_stuck(s.commit));
	HOLDS(s.intake->acked == s.intake->seq);
}

struct delivery {
	size_t row; /* rows before the run */
	enum dest dest;
	enum run_event event;
};

/* A result of a delivery, as cc-backend or a broker may give it. */
static int
on_delivery(struct spool *sp, struct spool_run *run, void *arg)
{
	struct delivery *d = arg;

	if (d->row-- > 0)
		return 0;
	if (run_may_move(run, d->dest, d->event)) {
		HOLDS(
		    run_move(sp, run, d->dest, d->event, DUE_NOW, "seen") == 0);
		HOLDS(spool_save(sp, run) == 0);
	}
	return -1;
}

static void
delivery_apply(const char *payload, size_t n)
{
	struct spool_after after;
	struct delivery d;

	if (n < 2)
		return;
	memset(&after, 0, sizeof(after));
	d.row = (unsigned char)payload[0] % 16;
	d.dest = (enum dest)((unsigned char)payload[0] / 16 % DEST__COUNT);
	d.event = (enum run_event)(
	    (unsigned char)payload[1] % RUN_EVENT__COUNT);
	HOLDS(spool_each(s.spool, DEST_REST, RUN_STATE__COUNT, &after, 16,
		  on_delivery, &d) >= 0);
}

static void
messages_hold(struct frames *f, enum role from)
{
	struct msg_header h;
	struct reader r;
	char *payload;
	int i;

	for (i = 0; i < FRAMES_MAX && !broken && frames_next(f, &h, &payload);
	     i++) {
		rd_init(&r, (const uint8_t *)payload, h.length);
		if (h.type == MSG_PING)
			commit_holds();
		else if (h.type == MSG_PONG)
			delivery_apply(payload, h.length);
		else if (msg_check(&h, from, ROLE_SUBMITTER) == NULL)
			intake_receive(s.intake, &h, &r);
		free(payload);
	}
	commit_holds();
}

static int
on_run(struct spool *sp, struct spool_run *run, void *arg)
{
	unsigned *seen = arg;
	struct job job;

	HOLDS(is_configured(run->key.cluster) && run->key.job != 0);
	HOLDS((unsigned)run->state[DEST_REST] < RUN_STATE__COUNT);
	job_init(&job);
	spool_record(sp, run->id, &job);
	job_clear(&job);
	return ++*seen > 10000 ? -1 : 0;
}

/* Returns the number of runs. */
static unsigned
spool_holds(void)
{
	struct spool_after after;
	struct run_key name;
	char text[256] = "";
	int64_t cursor;
	unsigned i, seen = 0;
	int n;

	memset(&after, 0, sizeof(after));
	while ((n = spool_each(s.spool, DEST_REST, RUN_STATE__COUNT, &after,
		    SPOOL_PAGE, on_run, &seen)) == SPOOL_PAGE)
		;
	HOLDS(n >= 0);
	for (i = 0; spool_cluster(s.spool, i, &name, &cursor) == 1; i++)
		HOLDS(is_configured(name.cluster) &&
		    cursor <= (int64_t)time(NULL) + AHEAD_MAX);
	HOLDS(spool_check(s.spool, text, sizeof(text)) == 0);
	return seen;
}

static void
intake_holds(unsigned choice, struct frames *f)
{
	enum role from = choice & BY_RECEIVER ? ROLE_RECEIVER : ROLE_COLLECTOR;
	struct channel *c, *next;
	unsigned runs;
	int far, far_next;

	*s.intake = fresh;
	s.intake->last = &s.intake->first;
	broken = 0;
	file_open(choice);
	cluster_names_conf(&s);
	c = neighbour_open(worker.base, ROLE_SUBMITTER, from, &far);
	intake_peer(s.intake, c);
	messages_hold(f, from);
	/* The next sender gets the open runs. */
	next = neighbour_open(worker.base, ROLE_SUBMITTER, from, &far_next);
	intake_peer(s.intake, next);
	runs = spool_holds();
	intake_peer(s.intake, NULL);
	channel_free(c);
	channel_free(next);
	close(far);
	close(far_next);
	spool_close(s.spool);
	if ((choice & RESTART) == 0)
		return;
	file_open(choice);
	HOLDS(spool_holds() == runs);
	spool_close(s.spool);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	/* MSG_PING: a commit; MSG_PONG: a delivery */
	static const enum msg_type types[] = { MSG_RECORD, MSG_WATERMARK,
		MSG_STREAM_POSITION, MSG_NOT_FOUND, MSG_PING, MSG_PONG };
	struct frames f = { bytes + 1, n - 1, types,
		sizeof(types) / sizeof(types[0]) };

	fuzz_quiet();
	if (s.w == NULL)
		prepare();
	if (n < 1)
		return 0;
	files_remove();
	intake_holds(bytes[0], &f);
	return 0;
}
