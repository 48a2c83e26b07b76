/* SPDX-License-Identifier: MIT */
/*
 * Questions of the centre, with a simulated clock, a collector of the test and a
 * simulated NATS: only what the collector has proved is reported as unknown.
 */
#include "config.h"

#include <sys/socket.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/record/ask_json.h"
#include "submitter/delivery/delivery.h"
#include "submitter/reconcile/backfill.h"
#include "submitter/reconcile/centre_asks.h"
#include "submitter/reconcile/reconcile.h"
#include "tests/unit/channel_pair.h"
#include "tests/unit/check.h"
#include "tests/unit/loop.h"
#include "tests/unit/submitter/simulation.h"

#define NONCE "0123456789abcdef"

static struct centre_asks *asks;

/* --- the simulated NATS --- */

static unsigned n_answers, n_records, n_subscribed;
static struct ask_answer answer;
static char answered_to[64];
static struct run_key published;
static unsigned published_flags;
static int64_t published_end;

struct nats *
nats_new(struct event_base *base, struct resolver *names, nats_done_fn *done,
    nats_up_fn *up, void *arg)
{
	static int nats;

	(void)base;
	(void)names;
	(void)done;
	(void)up;
	(void)arg;
	return (struct nats *)&nats;
}

void
nats_use(struct nats *n, struct nats_conf *nc)
{
	(void)n;
	(void)nc;
}

int
nats_is_up(const struct nats *n)
{
	(void)n;
	return 1;
}

int
nats_has_room(const struct nats *n)
{
	(void)n;
	return 1;
}

int
nats_send(struct nats *n, const struct payload *p,
    const struct payload_how *how, const struct job *job, enum message kind,
    int64_t again, uint64_t token, const char **why)
{
	(void)n;
	(void)p;
	(void)how;
	(void)job;
	(void)kind;
	(void)again;
	(void)token;
	(void)why;
	CHECK(0);
	return -1;
}

int
nats_send_record(struct nats *n, struct job *job, int64_t again, uint64_t token,
    const char **why)
{
	(void)n;
	(void)why;
	/* its message id differs from that of the first record */
	CHECK(again != 0);
	CHECK(token & STREAM_AGAIN_TOKEN);
	CHECK(job->revision != 0);
	n_records++;
	published = job->key;
	published_flags = job->flags;
	published_end = job->end;
	return 0;
}

int
nats_send_nodes(struct nats *n, const char *cluster, unsigned group,
    struct writer *body, uint64_t token)
{
	(void)n;
	(void)cluster;
	(void)group;
	(void)body;
	(void)token;
	CHECK(0);
	return -1;
}

size_t
nats_payload_max(const struct nats *n)
{
	(void)n;
	return 1024 * 1024;
}

int
nats_answer(struct nats *n, const char *reply, const void *data, size_t len)
{
	char why[ASK_TEXT_MAX];

	(void)n;
	n_answers++;
	snprintf(answered_to, sizeof(answered_to), "%s", reply);
	CHECK_INT(ask_answer_read(&answer, data, len, why, sizeof(why)), 0);
	return 0;
}

void
nats_asks_again(struct nats *n)
{
	(void)n;
	n_subscribed++;
}

void
nats_on_ask(struct nats *n, nats_ask_fn *fn, void *arg)
{
	(void)n;
	(void)fn;
	(void)arg;
}

/* --- the collector of the test --- */

static struct channel_pair pair;
static char looked_up[CLUSTER_MAX]; /* of the last lookup */
static unsigned n_lookups, n_keys, n_polls, n_ranges;
static int64_t range_from;

static void
on_frame(struct channel *c, const struct msg_header *h, struct reader *r,
    int fd, void *arg)
{
	char cluster[CLUSTER_MAX];

	(void)c;
	(void)fd;
	(void)arg;
	if (h->type == MSG_POLL_NOW)
		n_polls++;
	else if (h->type == MSG_LOOKUP) {
		n_lookups++;
		rd_name(r, looked_up, sizeof(looked_up));
		rd_u64(r);
		n_keys = rd_u32(r);
	} else if (h->type == MSG_BACKFILL_RANGE) {
		rd_name(r, cluster, sizeof(cluster));
		CHECK_STR(cluster, "alpha");
		range_from = rd_i64(r);
		n_ranges += range_from != 0;
	}
}

static const struct channel_ops channel_ops = { on_frame, channel_pair_broken,
	NULL };

static void
explain(struct submitter *s, const char *cluster, uint64_t job, char *text,
    size_t size)
{
	CHECK(s == &sim);
	snprintf(text, size, "job %d of %s", (int)job, cluster);
}

static void
begin(void)
{
	sim_begin();
	channel_pair_open(&pair, sim.w->base, ROLE_SUBMITTER, ROLE_COLLECTOR,
	    &channel_ops);
	sim.w->peers[ROLE_COLLECTOR] = pair.ours;
	conf_set(&sim.w->conf, CONF_NATS_SERVER, "[\"127.0.0.1\"]");
	conf_set(&sim.w->conf, CONF_DELIVER, "stream");
	spool_policy(sim.spool)->whole = 1;
	spool_policy(sim.spool)->wait_commit = 0;
	spool_policy(sim.spool)->to[DEST_REST] = 0;
	spool_policy(sim.spool)->to[DEST_NATS] = 1;
	sim.clusters.n = 1;
	snprintf(sim.clusters.names[0], CLUSTER_MAX, "alpha");
	nats_delivery_conf(sim.nats_delivery, NULL);
	sim.backfill = backfill_new(&sim);
	asks = centre_asks_new(&sim);
	centre_asks_explain(asks, explain);
	n_answers = n_records = n_lookups = n_keys = n_polls = n_ranges = 0;
	memset(&published, 0, sizeof(published));
}

static void
end(void)
{
	sim.w->peers[ROLE_COLLECTOR] = NULL;
	channel_pair_close(&pair);
	sim_end();
}

static void
pass(int64_t ms)
{
	sim_run(ms);
	loop_settle(sim.w->base);
}

static void
ask_on(const char *subject, const char *reply, const char *text)
{
	struct nats_ask ask = { subject, reply, text, strlen(text) };

	centre_asks_question(asks, &ask);
	pass(0);
}

/* A question for job 7 and n - 1 jobs behind it, each with the start 1000. */
static void
ask_of(const char *subject, const char *reply, unsigned n)
{
	struct ask q = { .nonce = NONCE, .n = n };
	struct writer w;
	unsigned i;

	for (i = 0; i < n; i++)
		q.runs[i] = (struct ask_run) { 7 + i, 1000 };
	wr_init(&w, ASK_BYTES_MAX);
	ask_write(&w, &q);
	wr_u8(&w, 0);
	ask_on(subject, reply, (const char *)w.buf);
	wr_clear(&w);
}

static void
ask(const char *reply, unsigned n)
{
	ask_of("cc.ask.alpha", reply, n);
}

/* An order of the centre: a range from s seconds ago until now. */
static void
order_of(const char *subject, const char *reply, enum ask_kind kind, int64_t s)
{
	int64_t now = time(NULL);
	struct ask q = { .nonce = NONCE, .kind = kind };
	struct writer w;

	if (kind == ASK_EXPLAIN)
		q.job = 4711;
	if (kind == ASK_BACKFILL) {
		q.from = now - s;
		q.to = s > 0 ? now : now + 60;
	}
	wr_init(&w, ASK_BYTES_MAX);
	ask_write(&w, &q);
	wr_u8(&w, 0);
	ask_on(subject, reply, (const char *)w.buf);
	wr_clear(&w);
}

static void
order(const char *reply, enum ask_kind kind, int64_t s)
{
	order_of("cc.ask.alpha", reply, kind, s);
	/* the pause between two questions */
	pass(2000);
}

static struct run_key
key_in(const char *cluster, uint64_t job)
{
	struct run_key key = { .job = job, .start = 1000 };

	snprintf(key.cluster, sizeof(key.cluster), "%s", cluster);
	return key;
}

static struct run_key
key_of(uint64_t job)
{
	return key_in("alpha", job);
}

static void
not_found_in(const char *cluster, uint64_t job)
{
	struct run_key key = key_in(cluster, job);

	centre_asks_not_found(asks, &key);
	pass(0);
}

static void
not_found(uint64_t job)
{
	not_found_in("alpha", job);
}

/* A record of the collector, as the intake stores it. */
static void
record(uint64_t job, uint32_t flags, int64_t ended)
{
	struct run_key key = key_of(job);
	struct job r;
	int64_t id;

	job_init(&r);
	r.key = key;
	r.flags = JOB_HAS_START | flags;
	r.end = ended;
	r.state = ended != 0 ? END_COMPLETED : END_NOT;
	job_add_host(&r, "n1");
	spool_put(sim.spool, &r, &id);
	centre_asks_record(asks, &key, &r, id);
	job_clear(&r);
	pass(0);
}

/* The run was delivered in full. */
static void
done(uint64_t job)
{
	struct run_key key = key_of(job);
	struct spool_run run;

	record(job, 0, 2000);
	CHECK_INT(spool_find(sim.spool, &key, &run), 1);
	CHECK_INT(spool_finish(sim.spool, &run), 0);
	CHECK_INT(spool_is_done(sim.spool, &key), 1);
}

static void
test_evidence(void)
{
	begin();
	ask("_R_.1", 2);
	CHECK_INT(n_lookups, 1);
	CHECK_STR(looked_up, "alpha");
	CHECK_INT(n_keys, 2);
	CHECK_INT(n_polls, 1);
	not_found(7);
	CHECK_INT(n_answers, 0);
	record(8, JOB_LIVE, 0);
	CHECK_INT(n_answers, 1);
	CHECK_STR(answered_to, "_R_.1");
	CHECK_STR(answer.nonce, NONCE);
	CHECK_STR(answer.cluster, "alpha");
	CHECK_STR(answer.error, "");
	CHECK_INT(answer.asked, 2);
	CHECK_INT(answer.n, 1);
	CHECK_INT(answer.not_found[0].job, 7);
	CHECK_INT(answer.not_found[0].start, 1000);
	end();
}

/* A run that is done here is published again when Slurm knows it. */
static void
test_published_again(void)
{
	begin();
	done(7);
	CHECK_INT(n_records, 0);
	ask("_R_.1", 2);
	record(7, 0, 2000);
	CHECK_INT(n_records, 1);
	CHECK_INT(published.job, 7);
	CHECK_INT(published_end, 2000);
	/* once */
	record(7, 0, 2000);
	CHECK_INT(n_records, 1);
	/* Slurm shows it running: the centre may start it again */
	record(8, JOB_LIVE, 0);
	CHECK_INT(n_records, 2);
	CHECK_INT(published.job, 8);
	CHECK(published_flags & JOB_LIVE);
	CHECK_INT(n_answers, 1);
	CHECK_INT(answer.n, 0);
	/* without a question nothing is published again */
	record(7, 0, 2000);
	CHECK_INT(n_records, 2);
	end();
}

/* The centre never gets a run whose user has opted out, nor an unconfirmed one. */
static void
test_not_published(void)
{
	begin();
	ask("_R_.1", 2);
	record(7, JOB_OPTED_OUT | JOB_LIVE, 0);
	record(8, JOB_UNCONFIRMED, 0);
	CHECK_INT(n_records, 0);
	CHECK_INT(n_answers, 1);
	CHECK_INT(answer.n, 0);
	end();
}

/* The host that has a row ends the run itself: with its own evidence. */
static void
test_own_row(void)
{
	begin();
	record(7, JOB_LIVE, 0);
	ask("_R_.1", 1);
	not_found(7);
	CHECK_INT(n_answers, 1);
	CHECK_INT(answer.asked, 1);
	CHECK_INT(answer.n, 0);
	end();
}

/* The collector tells nothing of one run: that is no evidence. */
static void
test_no_word(void)
{
	begin();
	ask("_R_.1", 2);
	not_found(8);
	pass(44000);
	CHECK_INT(n_answers, 0);
	pass(1000);
	CHECK_INT(n_answers, 1);
	CHECK_INT(answer.asked, 2);
	CHECK_INT(answer.n, 1);
	CHECK_INT(answer.not_found[0].job, 8);
	/* the word of the collector comes too late */
	not_found(7);
	pass(60000);
	CHECK_INT(n_answers, 1);
	end();
}

static void
test_errors(void)
{
	begin();
	sim.w->peers[ROLE_COLLECTOR] = NULL;
	ask("_R_.1", 1);
	CHECK_INT(n_answers, 1);
	CHECK(answer.error[0] != '\0');
	CHECK_INT(answer.n, 0);
	/* a kind of a later version */
	ask_on("cc.ask.alpha", "_R_.2",
	    "{\"schema\":1,\"nonce\":\"" NONCE "\",\"kind\":\"later\","
	    "\"runs\":[{\"jobId\":1,\"startTime\":1}]}");
	CHECK_INT(n_answers, 2);
	CHECK(strstr(answer.error, "upgrade") != NULL);
	/* without a nonce there is nothing to answer to */
	ask_on("cc.ask.alpha", "_R_.3", "{}");
	ask_on("cc.ask.beta", "_R_.4",
	    "{\"schema\":1,\"nonce\":\"" NONCE "\",\"kind\":\"lookup\","
	    "\"runs\":[{\"jobId\":1,\"startTime\":1}]}");
	CHECK_INT(n_answers, 2);
	end();
}

/* Whoever has the login of the centre cannot make Slurm work without end. */
static void
test_rate(void)
{
	unsigned i;

	begin();
	for (i = 0; i < 90; i++) {
		ask("_R_.1", 1);
		pass(100);
	}
	CHECK(n_lookups >= 4 && n_lookups <= 6);
	CHECK_INT(n_polls, 1);
	/* the last question is answered, the others were replaced */
	ask("_R_.last", 1);
	pass(2000);
	not_found(7);
	CHECK_INT(n_answers, 1);
	CHECK_STR(answered_to, "_R_.last");
	end();
}

/*
 * A second question soon after the first one gets its poll later, in time for its
 * answer; a question that ends before needs none.
 */
static void
test_second_poll(void)
{
	begin();
	ask("_R_.1", 1);
	CHECK_INT(n_polls, 1);
	not_found(7);
	CHECK_INT(n_answers, 1);
	pass(3000);
	ask("_R_.2", 1);
	CHECK_INT(n_lookups, 2);
	CHECK_INT(n_polls, 1);
	pass(6000);
	CHECK_INT(n_polls, 1);
	pass(1000);
	CHECK_INT(n_polls, 2);
	pass(20000);
	CHECK_INT(n_polls, 2);
	record(7, JOB_LIVE, 0);
	CHECK_INT(n_answers, 2);
	CHECK_INT(n_records, 1);
	/* a third one, and a fourth one that is answered without a poll */
	ask("_R_.3", 1);
	CHECK_INT(n_polls, 3);
	not_found(7);
	pass(2000);
	ask("_R_.4", 1);
	not_found(7);
	CHECK_INT(n_answers, 4);
	pass(60000);
	CHECK_INT(n_polls, 3);
	end();
}

/*
 * Without questions of the centre this host looks up its runs whose start is not
 * confirmed: when the collector is there, then at each ccPollInterval.
 */
static void
test_unconfirmed(void)
{
	begin();
	conf_set(&sim.w->conf, CONF_CC_POLL_INTERVAL, "60");
	record(7, JOB_UNCONFIRMED, 0);
	record(8, JOB_LIVE, 0);
	reconcile_peer(sim.reconcile);
	pass(0);
	CHECK_INT(n_lookups, 1);
	CHECK_INT(n_keys, 1);
	pass(59000);
	CHECK_INT(n_lookups, 1);
	pass(1000);
	CHECK_INT(n_lookups, 2);
	pass(60000);
	CHECK_INT(n_lookups, 3);
	end();
}

/* The centre's backfill is the command --nats; one at a time. */
static void
test_backfill(void)
{
	begin();
	CHECK_INT(spool_watermark(sim.spool, "alpha", time(NULL) + 600), 0);
	order("_R_.1", ASK_BACKFILL_STATUS, 0);
	CHECK_INT(n_answers, 1);
	CHECK_STR(answer.error, "");
	CHECK_STR(answer.text, "none");
	order("_R_.2", ASK_BACKFILL, 3600);
	CHECK_INT(n_answers, 2);
	CHECK_STR(answered_to, "_R_.2");
	CHECK_STR(answer.nonce, NONCE);
	CHECK_STR(answer.cluster, "alpha");
	CHECK_STR(answer.error, "");
	CHECK_INT(answer.asked, 0);
	CHECK(strstr(answer.text, "backfill by NATS of alpha") != NULL);
	pass(1000);
	CHECK_INT(n_ranges, 1);
	CHECK(range_from >= time(NULL) - 3660 && range_from <= time(NULL));
	/* a second one, also after the pause between two */
	order("_R_.3", ASK_BACKFILL, 3600);
	CHECK(strstr(answer.error, "less than a minute") != NULL);
	pass(60000);
	order("_R_.4", ASK_BACKFILL, 3600);
	CHECK_INT(n_answers, 4);
	CHECK_STR(answer.error, "a backfill is under way");
	CHECK(strstr(answer.text, "backfill by NATS") != NULL);
	CHECK_INT(n_ranges, 1);
	order("_R_.5", ASK_BACKFILL_STATUS, 0);
	CHECK_STR(answer.error, "");
	CHECK(strstr(answer.text, "reads accounting") != NULL);
	CHECK_INT(n_lookups, 0);
	end();
}

/* An order that is refused changes nothing, and another one may follow. */
static void
test_backfill_refused(void)
{
	begin();
	order("_R_.1", ASK_BACKFILL, -30);
	CHECK_STR(answer.error, "the range is in the future");
	CHECK_INT(spool_watermark(sim.spool, "alpha", time(NULL) + 600), 0);
	sim.w->peers[ROLE_COLLECTOR] = NULL;
	order("_R_.2", ASK_BACKFILL, 3600);
	CHECK_STR(answer.error, "its collector is not running");
	sim.w->peers[ROLE_COLLECTOR] = pair.ours;
	order("_R_.3", ASK_BACKFILL, 3600);
	CHECK_STR(answer.error, "");
	pass(1000);
	CHECK_INT(n_ranges, 1);
	end();
}

/* The progress and what is known of a job need no collector. */
static void
test_no_collector(void)
{
	begin();
	sim.w->peers[ROLE_COLLECTOR] = NULL;
	order("_R_.1", ASK_BACKFILL_STATUS, 0);
	CHECK_STR(answer.error, "");
	CHECK_STR(answer.text, "none");
	order("_R_.2", ASK_EXPLAIN, 0);
	CHECK_STR(answer.error, "");
	CHECK_STR(answer.text, "job 4711 of alpha");
	order("_R_.3", ASK_BACKFILL, 3600);
	CHECK_STR(answer.error, "its collector is not running");
	CHECK_INT(n_answers, 3);
	end();
}

/* The centre ends a backfill, whoever began it, and begins another one. */
static void
test_backfill_cancelled(void)
{
	begin();
	CHECK_INT(spool_watermark(sim.spool, "alpha", time(NULL) + 600), 0);
	order("_R_.1", ASK_BACKFILL_CANCEL, 0);
	CHECK_STR(answer.error, "");
	CHECK_STR(answer.text, "none is under way");
	CHECK(backfill_order(sim.backfill, "alpha", time(NULL) - 3600,
		  time(NULL)) == NULL);
	pass(1000);
	CHECK_INT(n_ranges, 1);
	order("_R_.2", ASK_BACKFILL_CANCEL, 0);
	CHECK_STR(answered_to, "_R_.2");
	CHECK_STR(answer.error, "");
	CHECK(strstr(answer.text, "cancelled; 0 held runs") != NULL);
	CHECK_INT(answer.asked, 0);
	/* the collector still answers the range: nothing follows */
	backfill_watermark(sim.backfill, "alpha", time(NULL));
	pass(60000);
	CHECK_INT(n_ranges, 1);
	CHECK_INT(range_from, 0);
	order("_R_.3", ASK_BACKFILL_CANCEL, 0);
	CHECK_STR(answer.text, "none is under way");
	order("_R_.4", ASK_BACKFILL, 3600);
	CHECK_STR(answer.error, "");
	pass(1000);
	CHECK_INT(n_ranges, 2);
	end();
}

/* About a job that the centre does not have. */
static void
test_explain(void)
{
	begin();
	order("_R_.1", ASK_EXPLAIN, 0);
	CHECK_INT(n_answers, 1);
	CHECK_STR(answer.error, "");
	CHECK_STR(answer.text, "job 4711 of alpha");
	CHECK_INT(answer.n, 0);
	CHECK_INT(n_lookups, 0);
	end();
}

/* Lookups are answered beside the backfill. */
static void
test_backfill_and_lookup(void)
{
	begin();
	CHECK_INT(spool_watermark(sim.spool, "alpha", time(NULL) + 600), 0);
	order("_R_.1", ASK_BACKFILL, 3600);
	CHECK_STR(answer.error, "");
	ask("_R_.2", 1);
	pass(2000);
	CHECK_INT(n_lookups, 1);
	not_found(7);
	CHECK_INT(n_answers, 2);
	CHECK_STR(answered_to, "_R_.2");
	CHECK_STR(answer.text, "");
	CHECK_INT(answer.n, 1);
	end();
}

/* A daemon of several clusters: c0, c1 ... */
static void
begin_clusters(unsigned n)
{
	unsigned i;

	begin();
	sim.clusters.n = n;
	for (i = 0; i < n; i++)
		snprintf(sim.clusters.names[i], CLUSTER_MAX, "c%u", i);
}

/* Each lookup is answered; the second one waits for the end of the first. */
static void
test_clusters_lookups(void)
{
	begin_clusters(2);
	ask_of("cc.ask.c0", "_R_.1", 1);
	ask_of("cc.ask.c1", "_R_.2", 1);
	pass(10000);
	CHECK_INT(n_lookups, 1);
	CHECK_STR(looked_up, "c0");
	not_found_in("c0", 7);
	CHECK_INT(n_answers, 1);
	CHECK_STR(answered_to, "_R_.1");
	CHECK_STR(answer.cluster, "c0");
	CHECK_INT(answer.n, 1);
	CHECK_INT(n_lookups, 2);
	CHECK_STR(looked_up, "c1");
	/* the evidence is of the cluster of the lookup */
	not_found_in("c0", 7);
	CHECK_INT(n_answers, 1);
	/* the second answer is in time, too */
	pass(44000);
	CHECK_INT(n_answers, 1);
	pass(1000);
	CHECK_INT(n_answers, 2);
	CHECK_STR(answered_to, "_R_.2");
	CHECK_STR(answer.cluster, "c1");
	CHECK_INT(answer.n, 0);
	end();
}

/* Clusters whose Slurm does not answer share the time with the others. */
static void
test_clusters_share(void)
{
	begin_clusters(3);
	ask_of("cc.ask.c0", "_R_.1", 1);
	ask_of("cc.ask.c1", "_R_.2", 1);
	ask_of("cc.ask.c2", "_R_.3", 1);
	pass(14000);
	CHECK_STR(looked_up, "c0");
	pass(1000);
	CHECK_INT(n_answers, 1);
	CHECK_STR(answered_to, "_R_.1");
	CHECK_INT(answer.n, 0);
	CHECK_STR(looked_up, "c1");
	pass(21000);
	CHECK_STR(looked_up, "c1");
	pass(1500);
	CHECK_INT(n_answers, 2);
	CHECK_STR(looked_up, "c2");
	not_found_in("c2", 7);
	CHECK_INT(n_answers, 3);
	CHECK_STR(answered_to, "_R_.3");
	CHECK_INT(answer.n, 1);
	end();
}

/* A question of an admin is answered beside the lookup of another cluster. */
static void
test_clusters_admin(void)
{
	begin_clusters(3);
	ask_of("cc.ask.c0", "_R_.1", 1);
	order_of("cc.ask.c1", "_R_.2", ASK_EXPLAIN, 0);
	ask_of("cc.ask.c2", "_R_.3", 1);
	CHECK_INT(n_answers, 0);
	pass(2000);
	CHECK_INT(n_answers, 1);
	CHECK_STR(answered_to, "_R_.2");
	CHECK_STR(answer.text, "job 4711 of c1");
	not_found_in("c0", 7);
	CHECK_INT(n_answers, 2);
	CHECK_STR(answered_to, "_R_.1");
	CHECK_INT(answer.n, 1);
	pass(2000);
	CHECK_STR(looked_up, "c2");
	end();
}

/* A cluster has one place; when there is none, the answer says so at once. */
static void
test_clusters_many(void)
{
	char subject[32], reply[32];
	unsigned i;

	begin_clusters(20);
	for (i = 0; i < 18; i++) {
		snprintf(subject, sizeof(subject), "cc.ask.c%u", i);
		snprintf(reply, sizeof(reply), "_R_.%u", i);
		ask_of(subject, reply, 1);
	}
	/* one is in work, sixteen wait */
	CHECK_INT(n_lookups, 1);
	CHECK_INT(n_answers, 1);
	CHECK_STR(answered_to, "_R_.17");
	CHECK_STR(answer.error, "its daemon has too many questions");
	ask_of("cc.ask.c16", "_R_.again", 1);
	CHECK_INT(n_answers, 1);
	for (i = 0; i < 16; i++) {
		snprintf(subject, sizeof(subject), "c%u", i);
		CHECK_STR(looked_up, subject);
		not_found_in(subject, 7);
		pass(2000);
	}
	not_found_in("c16", 7);
	CHECK_INT(n_answers, 18);
	CHECK_STR(answered_to, "_R_.again");
	end();
}

/* A permission that the broker got later is used within the hour. */
static void
test_subscribed(void)
{
	begin();
	n_subscribed = 0;
	pass(3599000);
	CHECK_INT(n_subscribed, 0);
	pass(1000);
	CHECK_INT(n_subscribed, 1);
	pass(3600000);
	CHECK_INT(n_subscribed, 2);
	end();
}

int
main(void)
{
	test_evidence();
	test_published_again();
	test_not_published();
	test_own_row();
	test_no_word();
	test_errors();
	test_rate();
	test_second_poll();
	test_unconfirmed();
	test_backfill();
	test_backfill_refused();
	test_backfill_cancelled();
	test_backfill_and_lookup();
	test_explain();
	test_no_collector();
	test_clusters_lookups();
	test_clusters_share();
	test_clusters_admin();
	test_clusters_many();
	test_subscribed();
	return check_done();
}
