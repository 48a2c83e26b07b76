/* SPDX-License-Identifier: MIT */
/*
 * Whole records for a stream (deliver "stream"), with a simulated clock and
 * simulated answers of the stream: changes on the way, a stream that refuses
 * records, the order of the runs of a job, job scripts that come late.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/record/node_json.h"
#include "submitter/base/diff_row.h"
#include "submitter/delivery/delivery.h"
#include "submitter/nats/nats.h"
#include "submitter/spool/spool_private.h"
#include "tests/unit/check.h"
#include "tests/unit/submitter/sim_clock.h"
#include "tests/unit/submitter/simulation.h"

#define SENT_MAX 192
#define WIDTH	 128 /* messages under way, in nats_delivery.c */
#define SCRIPT	 "#!/bin/sh\n"

/* Messages without an answer, and the caller that waits for the answers. */
static struct {
	uint64_t token;
	int64_t start;
	int64_t end;
	int has_script;
} sent[SENT_MAX];
static int n_sent;
static int refuses; /* nats_send_record() fails with this errno */
static int calls;   /* of nats_send_record() */
static nats_done_fn *answer;
static nats_up_fn *connection;

struct nats *
nats_new(struct event_base *base, struct resolver *names, nats_done_fn *done,
    nats_up_fn *up, void *arg)
{
	static int nats;

	(void)base;
	(void)names;
	(void)arg;
	answer = done;
	connection = up;
	return (struct nats *)&nats;
}

void
nats_use(struct nats *n, struct nats_conf *nc)
{
	(void)n;
	(void)nc;
}

static unsigned looks; /* of the lane, since begin() */

int
nats_is_up(const struct nats *n)
{
	(void)n;
	/* A timer that is due again at once would never let the time pass. */
	if (++looks > 10000) {
		CHECK(0);
		exit(check_done());
	}
	return 1;
}

static int no_room;

int
nats_has_room(const struct nats *n)
{
	(void)n;
	return !no_room;
}

int
nats_send(struct nats *n, const struct payload *p,
    const struct payload_how *how, const struct job *job, enum message kind,
    int64_t again, uint64_t token, const char **why)
{
	(void)n;
	(void)p;
	(void)how;
	(void)kind;
	(void)again;
	CHECK(!spool_policy(sim.spool)->whole);
	CHECK(n_sent < SENT_MAX);
	*why = NULL;
	sent[n_sent].token = token;
	sent[n_sent++].start = job->key.start;
	return 0;
}

int
nats_send_record(struct nats *n, struct job *job, int64_t again, uint64_t token,
    const char **why)
{
	(void)n;
	(void)again;
	calls++;
	*why = NULL;
	if (refuses != 0 || n_sent == SENT_MAX) {
		errno = refuses;
		return -1;
	}
	sent[n_sent].token = token;
	sent[n_sent].start = job->key.start;
	sent[n_sent].end = job->end;
	sent[n_sent++].has_script = job->script != NULL;
	return 0;
}

/* The last states of nodes that were published. */
static unsigned n_published, group, group_most;
static char published_of[CLUSTER_MAX];
static char states[4096];
static size_t payload_max;		/* of the broker */
static unsigned char is_published[256]; /* node nN */

int
nats_send_nodes(struct nats *n, const char *cluster, unsigned in_group,
    struct writer *body, uint64_t token)
{
	const char *at;

	(void)n;
	CHECK(token == NODES_TOKEN);
	if (refuses != 0 || body->len > payload_max) {
		errno = refuses != 0 ? refuses : EMSGSIZE;
		return -1;
	}
	n_published++;
	snprintf(published_of, sizeof(published_of), "%s", cluster);
	group = in_group;
	if (group > group_most)
		group_most = group;
	snprintf(states, sizeof(states), "%.*s", (int)body->len,
	    (const char *)body->buf);
	for (at = states; (at = strstr(at, "\"name\":\"n")) != NULL; at++)
		is_published[atoi(at + 9) % 256] = 1;
	return 0;
}

size_t
nats_payload_max(const struct nats *n)
{
	(void)n;
	return payload_max;
}

/* The stream answers the oldest message. */
static void
answers(enum nats_result result, const char *why)
{
	uint64_t token = sent[0].token;

	CHECK(n_sent > 0);
	memmove(&sent[0], &sent[1], sizeof(sent) - sizeof(sent[0]));
	n_sent -= n_sent > 0;
	answer(token, result, why, &sim);
}

static void
run(void)
{
	nats_delivery_run(sim.nats_delivery);
}

static void
put_cluster_job(const char *cluster, uint64_t id, int64_t start, unsigned flags,
    int64_t end, const char *script)
{
	struct job job;
	int64_t row;

	job_init(&job);
	snprintf(job.key.cluster, sizeof(job.key.cluster), "%s", cluster);
	job.key.job = id;
	job.key.start = start;
	job.flags = JOB_HAS_START | flags | (end == 0 ? JOB_LIVE : 0);
	job.end = end;
	job.state = end != 0 ? END_COMPLETED : END_NOT;
	job.script = script != NULL ? strdup(script) : NULL;
	job_add_host(&job, "n1");
	spool_put(sim.spool, &job, &row);
	job_clear(&job);
}

static void
put_job(uint64_t id, int64_t start, unsigned flags, int64_t end,
    const char *script)
{
	put_cluster_job("alpha", id, start, flags, end, script);
}

static void
put(int64_t start, unsigned flags, int64_t end, const char *script)
{
	put_job(7, start, flags, end, script);
}

/* The state by NATS; RUN_STATE__COUNT when there is no row. */
static enum run_state
state(int64_t start)
{
	struct run_key key = { .job = 7, .start = start };
	struct spool_run row;

	snprintf(key.cluster, sizeof(key.cluster), "alpha");
	return spool_find(sim.spool, &key, &row) == 1 ? row.state[DEST_NATS] :
							RUN_STATE__COUNT;
}

static void
begin(void)
{
	sim_begin();
	conf_set(&sim.w->conf, CONF_NATS_SERVER, "[\"127.0.0.1\"]");
	spool_policy(sim.spool)->whole = 1;
	spool_policy(sim.spool)->wait_commit = 0;
	spool_policy(sim.spool)->to[DEST_REST] = 0;
	spool_policy(sim.spool)->to[DEST_NATS] = 1;
	spool_policy(sim.spool)->script_key = "jobScript";
	nats_delivery_conf(sim.nats_delivery, NULL);
	n_sent = refuses = calls = no_room = 0;
	looks = 0;
	payload_max = 1024 * 1024;
	group_most = 0;
	memset(is_published, 0, sizeof(is_published));
}

static void
test_changes(void)
{
	begin();
	put(1000, JOB_MORE, 0, NULL);
	run();
	CHECK_INT(n_sent, 1);
	/* The script comes before the answer: the record is sent again. */
	put(1000, 0, 0, SCRIPT);
	run();
	CHECK_INT(n_sent, 1);
	answers(NATS_SENT, NULL);
	CHECK_INT(state(1000), START_DUE);
	run();
	CHECK_INT(n_sent, 1);
	CHECK_INT(sent[0].has_script, 1);
	/* The end comes before the answer. */
	put(1000, 0, 2000, NULL);
	answers(NATS_SENT, NULL);
	CHECK_INT(state(1000), STOP_DUE);
	run();
	CHECK_INT(n_sent, 1);
	CHECK_INT(sent[0].end, 2000);
	/* An answer that does not come is no end of the work. */
	answers(NATS_AWAY, "no connection");
	CHECK_INT(state(1000), STOP_DUE);
	sim_run(SIM_MINUTE);
	run();
	answers(NATS_SENT, NULL);
	CHECK_INT(state(1000), RUN_STATE__COUNT);
	sim_end();
}

/* deliver "direct": a message that is sent at last has no reason to wait. */
static void
test_direct_reason(void)
{
	struct spool_run row;
	int64_t id;

	begin();
	spool_policy(sim.spool)->whole = 0;
	put(1000, 0, 0, NULL);
	run();
	CHECK_INT(n_sent, 1);
	id = (int64_t)sent[0].token;
	answers(NATS_AWAY, "the connection was closed");
	CHECK_INT(spool_get(sim.spool, id, &row), 1);
	CHECK_STR(run_reason(&row, DEST_NATS),
	    "NATS: the connection was closed");
	sim_run(SIM_MINUTE);
	CHECK_INT(n_sent, 1);
	answers(NATS_SENT, NULL);
	CHECK_INT(spool_get(sim.spool, id, &row), 1);
	CHECK_INT(row.state[DEST_NATS], STARTED);
	CHECK_STR(run_reason(&row, DEST_NATS), "");
	sim_end();
}

/*
 * The difference that `repair` shows stays when the message of the run has no
 * answer, is not permitted, or is too long.
 */
static void
test_repair_reason(enum nats_result result)
{
	struct ctl_request req = { .verb = CTL_REPAIR,
		.flags = CTL_FLAG_DRY_RUN };
	struct diff_rows rows = { .request = 1 };
	struct spool_run row;

	begin();
	spool_policy(sim.spool)->whole = 0;
	spool_policy(sim.spool)->to[DEST_REST] = 1;
	put(1000, 0, 0, NULL);
	run();
	CHECK_INT(spool_get(sim.spool, (int64_t)sent[0].token, &row), 1);
	row.state[DEST_REST] = STOPPED_BY_OTHERS;
	snprintf(row.reason, sizeof(row.reason), "failed, not completed");
	CHECK_INT(spool_save(sim.spool, &row), 0);
	answers(result, "the connection was closed");
	sim_told();
	CHECK_INT((int)foreign_stop_repair(&sim, &rows, &req), 1);
	CHECK(strstr(sim_told(), "|failed, not completed|") != NULL);
	sim_end();
}

/* A full stream gets nothing until its next try; then all rows are due. */
static void
test_full(void)
{
	begin();
	put(1000, 0, 2000, NULL);
	run();
	answers(NATS_REFUSED, "maximum bytes exceeded");
	CHECK_INT(state(1000), START_DUE_ENDED);
	CHECK_INT(nats_delivery_hold(sim.nats_delivery, 0)->until != 0, 1);
	put(3000, 0, 4000, NULL);
	run();
	CHECK_INT(n_sent, 0);
	sim_run(SIM_MINUTE);
	run();
	CHECK_INT(n_sent, 1);
	answers(NATS_SENT, NULL);
	CHECK_INT(state(1000), RUN_STATE__COUNT);
	CHECK_INT(nats_delivery_hold(sim.nats_delivery, 0)->until, 0);
	/* The later run of the job follows the earlier one. */
	run();
	CHECK_INT(n_sent, 1);
	CHECK_INT(sent[0].start, 3000);
	answers(NATS_SENT, NULL);
	CHECK_INT(state(3000), RUN_STATE__COUNT);
	sim_end();
}

/*
 * One record is tried; when the stream accepts it, all are due.  With several
 * clusters, the records behind a try that says nothing wait for half a minute.
 */
static void
test_full_and_many(int one_cluster)
{
	int wait = one_cluster ? 0 : 31000;
	int64_t i;

	begin();
	sim.clusters.n = one_cluster ? 1 : 2;
	snprintf(sim.clusters.names[0], CLUSTER_MAX, "alpha");
	snprintf(sim.clusters.names[1], CLUSTER_MAX, "beta");
	for (i = 1; i <= 100; i++)
		put_job((uint64_t)i, 1000, 0, 2000, NULL);
	run();
	CHECK_INT(n_sent, 100);
	while (n_sent > 0)
		answers(NATS_REFUSED, "maximum bytes exceeded");
	for (i = 0; i < 10; i++) {
		sim_run(5000);
		run();
		run();
		CHECK_INT(n_sent, 1);
		answers(NATS_REFUSED, "maximum bytes exceeded");
	}
	/* A record that the stream has noted says nothing about the next one. */
	sim_run(5000);
	run();
	CHECK_INT(n_sent, 1);
	answers(NATS_IN_PROCESS, "not yet");
	CHECK_INT(spool_runs(sim.spool), 100);
	sim_run(wait);
	run();
	CHECK_INT(n_sent, 1);
	answers(NATS_TOO_LONG, NULL);
	sim_run(wait);
	run();
	CHECK_INT(n_sent, 1);
	answers(NATS_UNSURE, NULL);
	sim_run(wait);
	run();
	CHECK_INT(n_sent, 1);
	/* A try without an answer is followed by another one. */
	sim_run(wait + 12000);
	run();
	CHECK(n_sent > 1);
	while (n_sent > 0)
		answers(NATS_SENT, NULL);
	sim_run(SIM_MINUTE);
	run();
	CHECK(n_sent > 90);
	while (n_sent > 0)
		answers(NATS_SENT, NULL);
	CHECK_INT(spool_runs(sim.spool), 1); /* rejected */
	sim_end();
}

/*
 * The broker does not permit the records of one cluster: those of the others are
 * published, and one is tried in a minute.
 */
static void
test_not_permitted(void)
{
	int i;

	begin();
	sim.clusters.n = 2;
	put_job(1, 1000, 0, 2000, NULL);
	put_job(2, 1000, 0, 2000, NULL);
	run();
	while (n_sent > 0)
		answers(NATS_DENIED, "Permissions Violation");
	sim_run(20000);
	CHECK_INT(n_sent, 0);
	put_cluster_job("beta", 3, 3000, 0, 4000, NULL);
	run();
	CHECK_INT(n_sent, 1);
	CHECK_INT(sent[0].start, 3000);
	answers(NATS_SENT, NULL);
	for (i = 0; i < 100 && n_sent == 0; i++)
		sim_run(1000);
	CHECK_INT(n_sent, 1);
	answers(NATS_SENT, NULL);
	sim_run(1000);
	CHECK_INT(n_sent, 1);
	answers(NATS_SENT, NULL);
	CHECK_INT(spool_runs(sim.spool), 0);
	sim_end();
}

/* The try makes no message: the next row is the try, without a wait. */
static void
test_full_and_too_long(void)
{
	begin();
	sim.clusters.n = 1;
	snprintf(sim.clusters.names[0], CLUSTER_MAX, "alpha");
	put_job(1, 1000, 0, 2000, NULL);
	put_job(2, 1000, 0, 2000, NULL);
	run();
	while (n_sent > 0)
		answers(NATS_REFUSED, "maximum bytes exceeded");
	refuses = EMSGSIZE;
	calls = 0;
	sim_run(5000);
	CHECK_INT(calls, 2);
	CHECK_INT(spool_count(sim.spool, DEST_NATS, START_REJECTED), 2);
	sim_end();
}

/*
 * The commit that leases the try fails.  The row is durable as it was before,
 * due for the try, and is the try again as soon as the disk accepts writes.
 */
static void
test_full_and_no_lease(void)
{
	begin();
	put(1000, 0, 2000, NULL);
	run();
	answers(NATS_REFUSED, "maximum bytes exceeded");
	sim_run(100);
	sim.spool->broken = 1;
	sim_run(4000);
	CHECK_INT(sim.n.commits_failed, 1);
	CHECK_INT(n_sent, 1);
	answers(NATS_SENT, NULL);
	CHECK_INT(state(1000), RUN_STATE__COUNT);
	sim_end();
}

/*
 * The cluster has a new name, and no stream has the old one: the rows of the old
 * name wait, and those of the new name are published.
 */
static void
test_renamed(void)
{
	uint64_t id;

	begin();
	sim.clusters.n = 1;
	snprintf(sim.clusters.names[0], CLUSTER_MAX, "beta");
	for (id = 1; id <= 100; id++)
		put_job(id, 1000, 0, 2000, NULL);
	run();
	while (n_sent > 0)
		answers(NATS_NO_STREAM, "no stream has the subject");
	sim_run(5000);
	run();
	CHECK_INT(n_sent, 1);
	answers(NATS_NO_STREAM, "no stream has the subject");
	put_cluster_job("beta", 7, 3000, 0, 4000, NULL);
	looks = 0;
	run();
	sim_run(0);
	CHECK(looks < 100);
	CHECK_INT(n_sent, 1);
	CHECK_INT(sent[0].start, 3000);
	answers(NATS_SENT, NULL);
	looks = 0;
	sim_run(1000);
	CHECK(looks < 100);
	sim_end();
}

/* A new connection ends the wait for a stream. */
static void
test_full_and_new_connection(void)
{
	begin();
	put(1000, 0, 2000, NULL);
	run();
	answers(NATS_NO_STREAM, "no stream has the subject");
	run();
	CHECK_INT(n_sent, 0);
	connection(0, &sim);
	connection(1, &sim);
	run();
	CHECK_INT(n_sent, 1);
	/* The stream is held until it has accepted a record. */
	CHECK_INT(nats_delivery_hold(sim.nats_delivery, 0)->until != 0, 1);
	answers(NATS_SENT, NULL);
	CHECK_INT(nats_delivery_hold(sim.nats_delivery, 0)->until, 0);
	CHECK_INT(state(1000), RUN_STATE__COUNT);
	sim_end();
}

/* The row of the try is discarded: the next row is the try, without a wait. */
static void
test_full_and_discarded(void)
{
	struct spool_run row;

	begin();
	put_job(1, 1000, 0, 2000, NULL);
	put_job(2, 1000, 0, 2000, NULL);
	run();
	CHECK_INT(n_sent, 2);
	while (n_sent > 0)
		answers(NATS_REFUSED, "maximum bytes exceeded");
	sim_run(5000);
	run();
	CHECK_INT(n_sent, 1);
	CHECK_INT(spool_get(sim.spool, (int64_t)sent[0].token, &row), 1);
	row.due[DEST_NATS] = DUE_NOW;
	CHECK_INT(spool_save(sim.spool, &row), 0);
	answers(NATS_REFUSED, "maximum bytes exceeded");
	run();
	CHECK_INT(n_sent, 1);
	answers(NATS_SENT, NULL);
	sim_end();
}

/*
 * A commit that failed may have had the end of a try: the stream gets the next
 * one at once, and no record is taken for stored.
 */
static void
test_full_and_rolled_back(void)
{
	begin();
	put(1000, 0, 2000, NULL);
	run();
	answers(NATS_REFUSED, "maximum bytes exceeded");
	run();
	CHECK_INT(n_sent, 0);
	CHECK(nats_delivery_hold(sim.nats_delivery, 0)->until >
	    spool_now(sim.spool));
	nats_delivery_rolled_back(sim.nats_delivery);
	CHECK(nats_delivery_hold(sim.nats_delivery, 0)->until != 0);
	CHECK(nats_delivery_hold(sim.nats_delivery, 0)->until <=
	    spool_now(sim.spool));
	CHECK_INT(state(1000), START_DUE_ENDED);
	sim_run(5000);
	run();
	CHECK_INT(n_sent, 1);
	answers(NATS_SENT, NULL);
	CHECK_INT(state(1000), RUN_STATE__COUNT);
	CHECK_INT(nats_delivery_hold(sim.nats_delivery, 0)->until, 0);
	sim_end();
}

/* The script comes when the run is done, and there is no memory to send it. */
static void
test_late_script(void)
{
	begin();
	put(1000, JOB_MORE, 2000, NULL);
	sim_run(SIM_MINUTE);
	run();
	answers(NATS_SENT, NULL);
	CHECK_INT(state(1000), RUN_STATE__COUNT);
	put(1000, JOB_PARTIAL, 0, SCRIPT);
	refuses = ENOMEM;
	calls = 0;
	run();
	CHECK_INT(calls, 1);
	/* The next try waits: the event loop does not spin. */
	run();
	CHECK_INT(calls, 1);
	refuses = 0;
	sim_run(SIM_MINUTE);
	run();
	CHECK_INT(n_sent, 1);
	CHECK_INT(sent[0].has_script, 1);
	answers(NATS_SENT, NULL);
	run();
	CHECK_INT(n_sent, 0);
	/* The answer to the first script lets the next one go out. */
	put_job(8, 1000, JOB_MORE, 2000, NULL);
	sim_run(SIM_MINUTE);
	run();
	answers(NATS_SENT, NULL);
	put_job(8, 1000, JOB_PARTIAL, 0, SCRIPT);
	run();
	CHECK_INT(n_sent, 1);
	CHECK_INT(sent[0].has_script, 1);
	answers(NATS_SENT, NULL);
	sim_end();
}

static int no_memory; /* for a record that is read */

void __real_job_read(struct reader *r, struct job *job);
void __wrap_job_read(struct reader *r, struct job *job);

void
__wrap_job_read(struct reader *r, struct job *job)
{
	__real_job_read(r, job);
	if (no_memory) {
		errno = ENOMEM;
		rd_fail(r);
	}
}

/* A record that memory prevents from being read is no invalid record. */
static void
test_no_memory(void)
{
	begin();
	put(1000, 0, 2000, NULL);
	no_memory = 1;
	run();
	no_memory = 0;
	CHECK_INT(n_sent, 0);
	CHECK_INT(sim.n.rejected, 0);
	sim_run(5000);
	run();
	CHECK_INT(n_sent, 1);
	answers(NATS_SENT, NULL);
	sim_end();
}

/* The stream of a late script does not accept records, that of another does. */
static void
test_held_script(void)
{
	begin();
	sim.clusters.n = 2;
	put(1000, JOB_MORE, 2000, NULL);
	run();
	answers(NATS_SENT, NULL);
	put_job(8, 1000, 0, 2000, NULL);
	run();
	answers(NATS_NO_STREAM, "no stream has the subject");
	put(1000, JOB_PARTIAL, 0, SCRIPT);
	run();
	CHECK_INT(n_sent, 0);
	for (; n_sent == 0 && looks < 1000; looks++)
		sim_run(100);
	answers(NATS_SENT, NULL); /* job 8 */
	sim_run(SIM_MINUTE);
	run();
	CHECK_INT(n_sent, 1);
	CHECK_INT(sent[0].has_script, 1);
	answers(NATS_SENT, NULL);
	sim_end();
}

/* A field that waited for edit_meta is dropped, not published as a job script. */
static void
test_other_field(void)
{
	struct run_key key = { "alpha", 7, 1000 };

	begin();
	CHECK_INT(spool_meta_add(sim.spool, &key, "message", "text", 0), 1);
	run();
	CHECK_INT(n_sent, 0);
	CHECK_INT((int)spool_meta_count(sim.spool), 0);
	sim_end();
}

/* A poll of the collector: these nodes in this state. */
static void
cluster_polled(const char *cluster, unsigned first, unsigned last,
    const char *word)
{
	struct node_state node = { .cpus = 4 };
	struct reader r;
	struct writer w;

	snprintf(node.states, sizeof(node.states), "%s", word);
	wr_init(&w, 65536);
	wr_str(&w, cluster);
	wr_u32(&w, last - first + 1);
	for (; first <= last; first++) {
		snprintf(node.host, sizeof(node.host), "n%u", first);
		node_write(&w, &node);
	}
	rd_init(&r, w.buf, w.len);
	node_states_frame(sim.nodes, NULL, &r);
	wr_clear(&w);
}

static void
nodes_polled(unsigned first, unsigned last, const char *word)
{
	cluster_polled("alpha", first, last, word);
}

/* Accepts all messages; returns how often the text was in them. */
static unsigned
nodes_taken(const char *text)
{
	unsigned n = 0, before = 0;
	const char *at;

	while (n_published != before) {
		before = n_published;
		for (at = states; (at = strstr(at, text)) != NULL; at++)
			n++;
		answer(NODES_TOKEN, NATS_SENT, NULL, &sim);
	}
	return n;
}

#define NODES	  200
#define FEW_NODES 20 /* no two of them have one group of 4,096 */

/* Each node is in the message of its group; a change sends this group again. */
static void
test_nodes(void)
{
	unsigned before;

	begin();
	sim.nodes = node_states_new(&sim);
	nodes_polled(1, 100, "idle");
	CHECK_INT(n_published, 0);
	nodes_polled(101, NODES, "idle");
	sim_run(1500); /* the whole poll has come */
	CHECK_INT(n_published, 1);
	CHECK_STR(published_of, "alpha");
	CHECK_INT(nodes_taken("\"state\":\"idle\""), NODES);
	CHECK(n_published > 32 && n_published <= NODE_GROUPS);
	before = n_published;
	nodes_polled(7, 7, "allocated");
	sim_run(1500);
	CHECK_INT(n_published, before + 1);
	CHECK_INT(group, node_group("n7") % NODE_GROUPS);
	CHECK(
	    strstr(states, "\"name\":\"n7\",\"state\":\"allocated\"") != NULL);
	/* Without an answer of the broker the states are sent again. */
	answer(NODES_TOKEN, NATS_AWAY, "no connection", &sim);
	sim_run(SIM_MINUTE);
	CHECK_INT(n_published, before + 2);
	answer(NODES_TOKEN, NATS_SENT, NULL, &sim);
	/* Without a right, the next try is in an hour, and records are sent. */
	nodes_polled(8, 8, "down");
	sim_run(1500);
	answer(NODES_TOKEN, NATS_DENIED, "Permissions Violation", &sim);
	before = n_published;
	nodes_polled(9, 9, "down");
	sim_run(SIM_HOUR / 2);
	CHECK_INT(n_published, before);
	put(1000, 0, 2000, NULL);
	run();
	CHECK_INT(n_sent, 1);
	answers(NATS_SENT, NULL);
	sim_run(SIM_HOUR);
	CHECK(n_published > before);
	(void)nodes_taken("n9");
	/* A node that Slurm has not shown for three refreshes is left out. */
	nodes_polled(7, 7, "idle");
	sim_run(1500);
	CHECK(strstr(states, "\"n7\"") != NULL);
	CHECK_INT(nodes_taken("\"name\""), 1);
	sim_end();
}

/* Accepts all messages; returns the number of nodes that were in them. */
static unsigned
nodes_published(void)
{
	unsigned i, n = 0;

	(void)nodes_taken("\"name\"");
	for (i = 0; i < sizeof(is_published); i++)
		n += is_published[i];
	return n;
}

static unsigned
problems(void)
{
	static struct summary s;

	memset(&s, 0, sizeof(s));
	node_states_summary(sim.nodes, &s);
	return s.n;
}

/*
 * A broker that accepts only short messages: the nodes are divided into more
 * groups, and each state is published.
 */
static void
test_short_messages(void)
{
	begin();
	payload_max = 200; /* three nodes */
	sim.nodes = node_states_new(&sim);
	nodes_polled(1, NODES, "idle");
	sim_run(1500);
	CHECK_INT(nodes_published(), NODES);
	CHECK(group_most >= NODE_GROUPS && group_most < NODE_GROUPS_MAX);
	CHECK_INT(problems(), 0);
	sim_end();
}

/* One node alone is too long: the others are published, and an admin sees it. */
static void
test_too_long(void)
{
	unsigned before;

	begin();
	payload_max = 96; /* one node in a short state */
	sim.nodes = node_states_new(&sim);
	nodes_polled(1, FEW_NODES, "idle");
	nodes_polled(7, 7, "a-state-of-many-words");
	sim_run(1500);
	CHECK_INT(nodes_published(), FEW_NODES - 1);
	CHECK_INT(is_published[7], 0);
	CHECK_INT(problems(), 1);
	before = n_published;
	sim_run(SIM_MINUTE);
	CHECK_INT(n_published, before);
	/* The admin has raised the limit; the state comes again. */
	payload_max = 1024;
	nodes_polled(7, 7, "a-state-of-many-words");
	sim_run(1500);
	CHECK_INT(nodes_taken("a-state-of-many-words"), 1);
	CHECK_INT(problems(), 0);
	sim_end();
}

/* A host publishes for two clusters, and the stream of one refuses states. */
static void
test_refused(void)
{
	unsigned i;

	begin();
	payload_max = 65536;
	sim.nodes = node_states_new(&sim);
	memset(is_published, 0, sizeof(is_published));
	cluster_polled("beta", 1, 5, "idle");
	cluster_polled("alpha", 6, 10, "idle");
	sim_run(1500);
	for (i = 0; i < 20; i++) {
		answer(NODES_TOKEN,
		    strcmp(published_of, "alpha") == 0 ? NATS_NO_STREAM :
							 NATS_SENT,
		    "no stream", &sim);
		sim_run(15000);
	}
	for (i = 1; i <= 5; i++)
		CHECK_INT(is_published[i], 1);
	/* The stream is there now. */
	(void)nodes_taken("\"name\"");
	for (i = 6; i <= 10; i++)
		CHECK_INT(is_published[i], 1);
	sim_end();
}

/* With as many messages under way as may be, the lane waits for a result. */
static void
test_width(void)
{
	uint64_t id;

	begin();
	for (id = 1; id <= WIDTH + 20; id++)
		put_job(id, 1000, 0, 2000, NULL);
	run();
	CHECK_INT(n_sent, WIDTH);
	looks = 0;
	sim_run(SIM_MINUTE);
	CHECK(looks < 10);
	answers(NATS_SENT, NULL);
	sim_run(0);
	CHECK_INT(n_sent, WIDTH + 19);
	while (n_sent > 0)
		answers(NATS_SENT, NULL);
	sim_run(0);
	CHECK_INT(spool_count(sim.spool, DEST_NATS, START_DUE_ENDED), 0);
	sim_end();
}

/* Messages that take long to make: the event loop has its turn between them. */
static void
test_turns(void)
{
	uint64_t id;
	int turns, before;

	begin();
	for (id = 1; id <= 40; id++)
		put_job(id, 1000, 0, 2000, NULL);
	sim_clock_look(10);
	for (turns = 0; n_sent < 40 && turns < 100; turns++) {
		before = n_sent;
		run();
		CHECK(n_sent > before);
		CHECK(n_sent - before < 20);
	}
	sim_clock_look(0);
	CHECK_INT(n_sent, 40);
	while (n_sent > 0)
		answers(NATS_SENT, NULL);
	sim_run(0);
	CHECK_INT(spool_count(sim.spool, DEST_NATS, START_DUE_ENDED), 0);
	/* Without a result, the lane wakes itself. */
	for (id = 101; id <= 140; id++)
		put_job(id, 1000, 0, 2000, NULL);
	refuses = EINVAL;
	sim_clock_look(10);
	run();
	sim_run(0);
	sim_clock_look(0);
	CHECK_INT(spool_count(sim.spool, DEST_NATS, START_REJECTED), 40);
	refuses = 0;
	sim_end();
}

/* A message makes room, too, when its row is gone. */
static void
test_no_room(void)
{
	begin();
	no_room = 1;
	put(1000, 0, 2000, NULL);
	run();
	looks = 0;
	sim_run(SIM_MINUTE);
	CHECK(looks < 10);
	CHECK_INT(n_sent, 0);
	no_room = 0;
	answer(12345, NATS_SENT, NULL, &sim);
	sim_run(0);
	CHECK_INT(n_sent, 1);
	answers(NATS_SENT, NULL);
	sim_run(SIM_MINUTE);
	/* No result tells that the answers to the centre have gone out. */
	no_room = 1;
	put(3000, 0, 4000, NULL);
	run();
	sim_run(5000);
	CHECK_INT(n_sent, 0);
	no_room = 0;
	sim_run(10000);
	CHECK_INT(n_sent, 1);
	sim_end();
}

/* A record of the submission at 900; end 0 = runs. */
static void
put_submission(int64_t start, int64_t end)
{
	struct job job;
	int64_t row;

	job_init(&job);
	snprintf(job.key.cluster, sizeof(job.key.cluster), "alpha");
	job.key.job = 7;
	job.key.start = start;
	job.submit = 900;
	job.flags = JOB_HAS_START | (end == 0 ? JOB_LIVE : 0);
	job.end = end;
	job.state = end != 0 ? END_COMPLETED : END_NOT;
	job_add_host(&job, "n1");
	spool_put(sim.spool, &job, &row);
	job_clear(&job);
}

/* deliver "direct": a start that is published fixes the start of the run. */
static void
test_direct_moved(void)
{
	begin();
	spool_policy(sim.spool)->whole = 0;
	put_submission(1000, 0);
	run();
	CHECK_INT(n_sent, 1);
	CHECK_INT(sent[0].start, 1000);
	answers(NATS_SENT, NULL);
	CHECK_INT(state(1000), STARTED);
	put_submission(1070, 2000);
	CHECK_INT(state(1000), STOP_DUE);
	sim_run(SIM_MINUTE);
	run();
	CHECK_INT(n_sent, 1);
	CHECK_INT(sent[0].start, 1000);
	answers(NATS_SENT, NULL);
	sim_end();
}

int
main(void)
{
	test_changes();
	test_direct_reason();
	test_repair_reason(NATS_UNSURE);
	test_repair_reason(NATS_DENIED);
	test_repair_reason(NATS_TOO_LONG);
	test_width();
	test_turns();
	test_no_room();
	test_full();
	test_full_and_many(1);
	test_full_and_many(0);
	test_full_and_new_connection();
	test_full_and_discarded();
	test_full_and_rolled_back();
	test_not_permitted();
	test_full_and_too_long();
	test_full_and_no_lease();
	test_renamed();
	test_late_script();
	test_no_memory();
	test_held_script();
	test_other_field();
	test_nodes();
	test_short_messages();
	test_too_long();
	test_refused();
	test_direct_moved();
	return check_done();
}
