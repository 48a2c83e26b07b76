/* SPDX-License-Identifier: MIT */
/*
 * The delivery by REST with answers made by this file: which requests are
 * sent, in which order, how many at once, and what each answer does to a run.
 * Nothing leaves the process, and the clock is simulated.
 */
#include "config.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "submitter/backend/breaker.h"
#include "submitter/base/context.h"
#include "submitter/base/diff_row.h"
#include "submitter/ctl.h"
#include "submitter/delivery/delivery.h"
#include "submitter/intake/intake.h"
#include "submitter/net/http.h"
#include "submitter/payload/topology.h"
#include "submitter/reconcile/backfill.h"
#include "submitter/reconcile/reconcile.h"
#include "submitter/reconcile/sync_command.h"
#include "submitter/spool/commit.h"
#include "submitter/spool/spool_private.h"
#include "tests/unit/check.h"
#include "tests/unit/submitter/sim_boxes.h"
#include "tests/unit/submitter/sim_clock.h"

#define SENT_MAX 64
#define HOUR_MS	 3600000
#define CLUSTERS "{\"clusters\":[]}"
#define PROBED	 "{\"error\":\"no such cluster: \"}"
#define DOUBLE	 "{\"error\":\"already exists: dbid: 1, jobid: 2\"}"

/* Requests that were begun and have no answer yet. */
static struct sent {
	enum request_kind what;
	char path[256];
	char body[2048];
	http_data_fn *data;
	http_done_fn *done;
	void *arg;
} sent[SENT_MAX];
static int n_sent, most_sent;

static char dir[] = "/tmp/test_rest_delivery.XXXXXX";
static struct worker worker;
static struct submitter s;
static int usable = 1;

/* --- what stands in for the rest of the program --- */

int
http_send(struct http_client *r, struct http_request *req)
{
	struct sent *x = &sent[n_sent];
	size_t n = req->body != NULL ? req->body->len : 0;

	(void)r;
	if (n_sent == SENT_MAX || n >= sizeof(x->body))
		return -1;
	memset(x, 0, sizeof(*x));
	x->what = req->what;
	snprintf(x->path, sizeof(x->path), "%s", req->path);
	if (n > 0)
		memcpy(x->body, req->body->buf, n);
	x->data = req->data;
	x->done = req->done;
	x->arg = req->arg;
	if (++n_sent > most_sent)
		most_sent = n_sent;
	return 0;
}

void
http_fence(struct http_client *r, int64_t until)
{
	(void)r;
	CHECK(until == HTTP_NO_FENCE);
}

void
http_on_quiet(struct http_client *r, void (*quiet)(void *arg), void *arg)
{
	(void)r;
	(void)quiet;
	(void)arg;
}

int
http_all_answered(const struct http_client *r, int64_t ms)
{
	(void)r;
	(void)ms;
	return 0;
}

int
http_usable(const struct http_client *r)
{
	(void)r;
	return usable;
}

void
worker_ctl_row(struct worker *w, uint64_t request, const struct writer *row)
{
	(void)w;
	(void)request;
	(void)row;
}

void
worker_ctl_end(struct worker *w, uint64_t request, enum ctl_status status,
    const char *text)
{
	(void)w;
	(void)request;
	(void)status;
	(void)text;
}

/* --- tools --- */

static int wanted; /* requests */

static int
are_sent(void)
{
	return n_sent >= wanted;
}

/* Lets ms of the simulated clock pass, or less until n requests are out. */
static void
turn(int ms, int n)
{
	wanted = n;
	sim_clock_run(worker.base, ms, n > 0 ? are_sent : NULL);
}

/* Answers the i-th request; the others move up. */
static void
answer(int i, int code, const char *body)
{
	struct sent x = sent[i];
	struct http_answer a = { .what = x.what,
		.code = code,
		.body = body,
		.len = body != NULL ? strlen(body) : 0,
		.error = code == 0 ? "reset" : NULL,
		.sends = 1 };

	n_sent--;
	memmove(&sent[i], &sent[i + 1], (size_t)(n_sent - i) * sizeof(sent[0]));
	if (x.data != NULL && code == 200) {
		CHECK_INT(x.data(body, strlen(body), x.arg), 0);
		a.body = NULL;
		a.len = 0;
	}
	x.done(&a, x.arg);
}

static int
is_sent(int i, enum request_kind what, uint64_t job)
{
	char text[64];

	snprintf(text, sizeof(text), "\"jobId\":%llu,",
	    (unsigned long long)job);
	if (i < n_sent && sent[i].what == what &&
	    (job == 0 || strstr(sent[i].body, text) != NULL))
		return 1;
	fprintf(stderr, "    %d of %d is %s %s %s\n", i, n_sent,
	    i < n_sent ? request_kind_name(sent[i].what) : "none", sent[i].path,
	    sent[i].body);
	return 0;
}

static int64_t
put(uint64_t id, int64_t start, int64_t end)
{
	struct job job;
	int64_t row;

	job_init(&job);
	snprintf(job.key.cluster, sizeof(job.key.cluster), "alpha");
	job.key.job = id;
	job.key.start = start;
	job.flags = JOB_HAS_START;
	job.end = end;
	job.state = end != 0 ? END_COMPLETED : END_NOT;
	job.user = strdup("u1");
	job.name = strdup("train");
	job.nodes = 1;
	job_add_host(&job, "n1");
	spool_put(s.spool, &job, &row);
	job_clear(&job);
	wake(&s, WAKE_DELIVERY);
	return row;
}

static void
put_end_as(uint64_t id, int64_t start, int64_t end, enum job_end state,
    int code, const char *info)
{
	struct job job;
	int64_t row;

	job_init(&job);
	snprintf(job.key.cluster, sizeof(job.key.cluster), "alpha");
	job.key.job = id;
	job.key.start = start;
	job.flags = JOB_PARTIAL;
	job.end = end;
	job.state = state;
	job.exit_code = code;
	job.slurm_info = info != NULL ? strdup(info) : NULL;
	spool_put(s.spool, &job, &row);
	job_clear(&job);
	wake(&s, WAKE_DELIVERY);
}

static enum run_state
state_of(int64_t row)
{
	struct spool_run run;

	return spool_get(s.spool, row, &run) == 1 ? run.state[DEST_REST] :
						    RUN_STATE__COUNT;
}

static void
begin(void)
{
	memset(&s, 0, sizeof(s));
	n_sent = most_sent = 0;
	sim_clock_begin(HOUR_MS);
	worker.base = event_base_new();
	CHECK(worker.base != NULL);
	s.w = &worker;
	sim_boxes_begin(&s, dir);
	s.sync = sync_new(&s);
	s.backfill = backfill_new(&s);
	s.nodes = node_states_new(&s);
}

static void
end(void)
{
	while (n_sent > 0)
		answer(0, 0, NULL);
	event_base_free(worker.base);
	sim_boxes_end(&s, dir);
}

/* The probe is answered and the clusters are read: requests may go out. */
static void
backend_up(void)
{
	breaker_conf(s.breaker);
	turn(500, 1);
	CHECK(is_sent(0, REQUEST_PROBE, 0));
	answer(0, 400, PROBED);
	CHECK(is_sent(0, REQUEST_CLUSTERS, 0));
	answer(0, 200, CLUSTERS);
	CHECK(breaker_allows(s.breaker));
}

/* The place of the first request of that kind, within some seconds; -1. */
static int
find_sent(enum request_kind what)
{
	int i, ms;

	for (ms = 0; ms <= 4000; ms += 5) {
		for (i = 0; i < n_sent; i++)
			if (sent[i].what == what)
				return i;
		turn(5, 0);
	}
	return -1;
}

static void
answer_sent(enum request_kind what, int code, const char *body)
{
	int i = find_sent(what);

	CHECK(i != -1);
	if (i != -1)
		answer(i, code, body);
}

/* After a failure it may be another backend: the probe asks, nobody waits. */
static void
expect_probe(const char *body)
{
	CHECK(find_sent(REQUEST_PROBE) != -1);
	CHECK(breaker_allows(s.breaker));
	answer_sent(REQUEST_PROBE, 400, body);
}

/* --- tests --- */

static struct event *between;
static int64_t rejected_before, rejected_most;

/* Runs whenever the event loop has its turn. */
static void
on_turn(evutil_socket_t fd, short what, void *arg)
{
	int64_t n = spool_count(s.spool, DEST_REST, START_REJECTED);

	(void)fd;
	(void)what;
	(void)arg;
	if (n - rejected_before > rejected_most)
		rejected_most = n - rejected_before;
	rejected_before = n;
	if (n < 60)
		event_active(between, EV_TIMEOUT, 1);
}

/* Rows that are rejected are not under way: they do not fill the width. */
static void
test_turns(void)
{
	struct job job;
	int64_t row;
	int i;

	begin();
	backend_up();
	for (i = 1; i <= 60; i++) {
		job_init(&job);
		snprintf(job.key.cluster, sizeof(job.key.cluster), "alpha");
		job.key.job = (uint64_t)i;
		job.key.start = 1000;
		job.flags = JOB_HAS_START;
		job_add_host(&job, "n1");
		spool_put(s.spool, &job, &row);
		job_clear(&job);
	}
	rejected_before = rejected_most = 0;
	between = event_new(worker.base, -1, 0, on_turn, NULL);
	wake(&s, WAKE_DELIVERY);
	event_active(between, EV_TIMEOUT, 1);
	sim_clock_look(10);
	turn(0, 0);
	sim_clock_look(0);
	CHECK_INT(spool_count(s.spool, DEST_REST, START_REJECTED), 60);
	CHECK(rejected_most > 0);
	CHECK(rejected_most < 20);
	event_free(between);
	end();
}

static void
test_order(void)
{
	int i;

	begin();
	put(1, 1000, 1100);
	put(2, 2000, 0);
	put(3, 3000, 0);
	for (i = 10; i < 30; i++)
		put((uint64_t)i, 500 + i, 600 + i);
	backend_up();
	turn(500, HTTP_IN_FLIGHT);
	CHECK_INT(n_sent, HTTP_IN_FLIGHT);
	CHECK(is_sent(0, REQUEST_START, 3));
	CHECK(is_sent(1, REQUEST_START, 2));
	CHECK(is_sent(2, REQUEST_START, 10));
	CHECK(is_sent(3, REQUEST_START, 11));
	for (i = 0; i < 23; i++) {
		turn(200, 1);
		answer(0, 201, "{}");
	}
	turn(50, 0);
	CHECK_INT(most_sent, HTTP_IN_FLIGHT);
	CHECK_INT(spool_count(s.spool, DEST_REST, STARTED), 2);
	CHECK_INT(spool_count(s.spool, DEST_REST, STOP_BLOCKED), 21);
	end();
}

/* --- memory is short --- */

static int no_record, no_body; /* what there is no memory for */

void __real_job_read(struct reader *r, struct job *job);
void __wrap_job_read(struct reader *r, struct job *job);
int __real_payload_start(const struct payload *p, const struct payload_how *how,
    const struct job *job, struct writer *w, const char **why);
int __wrap_payload_start(const struct payload *p, const struct payload_how *how,
    const struct job *job, struct writer *w, const char **why);

void
__wrap_job_read(struct reader *r, struct job *job)
{
	__real_job_read(r, job);
	if (no_record) {
		errno = ENOMEM;
		rd_fail(r);
	}
}

int
__wrap_payload_start(const struct payload *p, const struct payload_how *how,
    const struct job *job, struct writer *w, const char **why)
{
	if (no_body)
		w->err = w->no_memory = 1;
	return __real_payload_start(p, how, job, w, why);
}

/* A start that memory prevents is retried later, not rejected. */
static void
test_no_memory(void)
{
	int *const lack[] = { &no_record, &no_body };
	int64_t row;
	size_t i;

	for (i = 0; i < sizeof(lack) / sizeof(lack[0]); i++) {
		begin();
		backend_up();
		turn(500, 0);
		*lack[i] = 1;
		row = put(1, 1000, 0);
		turn(100, 1);
		*lack[i] = 0;
		CHECK_INT(n_sent, 0);
		CHECK_INT(state_of(row), START_DUE);
		CHECK_INT(s.n.rejected, 0);
		turn(5000, 1);
		CHECK(is_sent(0, REQUEST_START, 1));
		end();
	}
}

static int reserves, n_stuck; /* calls of stuck() */

static int
on_failed(struct submitter *w)
{
	(void)w;
	return reserves-- > 0;
}

static int
on_retry(struct submitter *w)
{
	/* The disk still refuses writes while there is a reserve. */
	w->spool->broken = reserves > 0;
	return 0;
}

static void
on_nothing(struct submitter *w)
{
	(void)w;
}

static void
on_stuck(struct submitter *w)
{
	(void)w;
	n_stuck++;
}

/* Each time that the spool refuses writes is told, and each end of it. */
static void
test_stuck_again(void)
{
	static const struct commit_ops ops = {
		.committed = on_nothing,
		.failed = on_failed,
		.retry = on_retry,
		.stuck = on_stuck,
	};
	struct commit *c;

	begin();
	c = commit_new(&s, &ops);
	reserves = n_stuck = 0;
	s.spool->broken = 1;
	CHECK_INT(commit_now(c), -1);
	CHECK_INT(commit_is_stuck(c), 1);
	CHECK_INT(n_stuck, 1);
	/* The retry fails too, and succeeds with the reserve. */
	reserves = 1;
	turn(1500, 0);
	CHECK_INT(commit_is_stuck(c), 0);
	CHECK_INT(n_stuck, 2);
	reserves = 0;
	s.spool->broken = 1;
	CHECK_INT(commit_now(c), -1);
	CHECK_INT(n_stuck, 3);
	turn(1500, 0);
	CHECK_INT(commit_is_stuck(c), 0);
	end();
}

/* The record that makes a start due and the lease are one commit. */
static void
test_one_commit(void)
{
	uint64_t commits;

	begin();
	backend_up();
	turn(500, 0);
	commits = s.n.commits;
	put(1, 1000, 0);
	CHECK_INT(commit_now(s.commit), 0);
	turn(5, 1);
	CHECK(is_sent(0, REQUEST_START, 1));
	CHECK_INT(s.n.commits - commits, 1);
	end();
}

/* A stop waits for the listing, and goes to what the listing showed alone. */
static void
test_commit_check(void)
{
	int64_t a, b;

	begin();
	a = put(1, 1000, 1100);
	b = put(2, 1001, 1100);
	backend_up();
	turn(500, 2);
	answer(0, 201, "{}");
	answer(0, 500, "{\"error\":\"UNIQUE constraint failed: job_cache.x\"}");
	turn(300, 0);
	CHECK_INT(n_sent, 0);
	CHECK_INT(state_of(a), STOP_BLOCKED);
	CHECK_INT(state_of(b), STOP_BLOCKED);
	turn(3000, 1);
	CHECK(is_sent(0, REQUEST_LIST, 0));
	CHECK(strstr(sent[0].path,
		  "state=running&cluster=alpha&"
		  "start-time=1000-1001") != NULL);
	answer(0, 200,
	    "{\"jobs\":[{\"jobId\":1,\"cluster\":\"alpha\","
	    "\"startTime\":1000}]}");
	turn(300, 1);
	CHECK_INT(n_sent, 1);
	CHECK(is_sent(0, REQUEST_STOP, 1));
	/* its answer is lost, the repeat finds it stopped */
	answer(0, 0, NULL);
	turn(1500, 1);
	CHECK(is_sent(0, REQUEST_STOP, 1));
	answer(0, 422, "{\"error\":\"job has already been stopped\"}");
	CHECK_INT(state_of(a), RUN_STATE__COUNT);
	CHECK_INT(s.n.closed, 0);
	CHECK_INT(state_of(b), STOP_BLOCKED);
	end();
}

static void
test_duplicate(void)
{
	int64_t a, b, c;

	begin();
	a = put(1, 1000, 0);
	b = put(2, 1000, 1100);
	c = put(3, 1000, 1100);
	backend_up();
	turn(500, 3);
	answer(0, 422, DOUBLE);
	answer(0, 422, DOUBLE);
	answer(0, 422, DOUBLE);
	turn(500, 1);
	CHECK_INT(n_sent, 1);
	CHECK(strstr(sent[0].path, "state=running") != NULL);
	answer(0, 200,
	    "{\"jobs\":[{\"jobId\":1,\"cluster\":\"alpha\","
	    "\"startTime\":1000,\"jobState\":\"running\"}]}");
	CHECK_INT(state_of(a), START_COMMITTED);
	CHECK(is_sent(0, REQUEST_LIST, 0));
	CHECK(strstr(sent[0].path, "state=") == NULL);
	answer(0, 200,
	    "{\"jobs\":[{\"jobId\":2,\"cluster\":\"alpha\","
	    "\"startTime\":1000,\"jobState\":\"completed\",\"duration\":100}]}");
	CHECK_INT(state_of(b), RUN_STATE__COUNT);
	turn(500, 1);
	CHECK(is_sent(0, REQUEST_START, 3));
	answer(0, 422, DOUBLE);
	turn(500, 1);
	answer(0, 200, "{\"jobs\":[]}");
	answer(0, 200, "{\"jobs\":[]}");
	CHECK_INT(state_of(c), START_REJECTED);
	turn(300, 0);
	CHECK_INT(n_sent, 0);
	end();
}

/* All fails: one harmless probe at a time, then one start, then the rest. */
static void
test_unreachable(void)
{
	int i;

	begin();
	for (i = 1; i <= 20; i++)
		put((uint64_t)i, 1000 + i, 0);
	backend_up();
	turn(500, HTTP_IN_FLIGHT);
	while (n_sent > 0)
		answer(0, 0, NULL);
	CHECK(!breaker_allows(s.breaker));
	turn(2000, 1);
	CHECK_INT(n_sent, 1);
	CHECK(is_sent(0, REQUEST_PROBE, 0));
	answer(0, 502, "<html>");
	turn(2000, 1);
	CHECK(is_sent(0, REQUEST_PROBE, 0));
	answer(0, 400, PROBED);
	turn(300, 1);
	turn(50, 0);
	CHECK_INT(n_sent, 1);
	CHECK(is_sent(0, REQUEST_START, 12));
	answer(0, 201, "{}");
	turn(500, HTTP_IN_FLIGHT);
	CHECK_INT(n_sent, HTTP_IN_FLIGHT);
	end();
}

/* The probe is refused, too: nothing is sent, and no row is dropped. */
static void
test_token_refused(void)
{
	struct spool_run run;
	int64_t a, b;
	int ms;

	begin();
	a = put(1, 1000, 0);
	b = put(2, 1001, 1100);
	CHECK_INT(spool_get(s.spool, b, &run), 1);
	run.state[DEST_REST] = DELETE_DUE;
	CHECK_INT(spool_save(s.spool, &run), 0);
	backend_up();
	turn(500, 2);
	for (ms = 0; ms < 4000; ms += 10) {
		while (n_sent > 0)
			answer(0, 401, "{\"error\":\"token is expired\"}");
		turn(10, 0);
	}
	CHECK(!breaker_allows(s.breaker));
	CHECK(strstr(breaker_problem(s.breaker), "refuses the token for") !=
	    NULL);
	turn(1500, 0);
	CHECK_INT(n_sent, 0);
	CHECK_INT(state_of(a), START_DUE);
	CHECK_INT(state_of(b), DELETE_DUE);
	/* a reload brings another token */
	backend_up();
	turn(500, 1);
	CHECK_INT(n_sent, 1);
	CHECK(is_sent(0, REQUEST_START, 1));
	answer(0, 201, "{}");
	CHECK_STR(breaker_problem(s.breaker), "up");
	turn(500, 1);
	CHECK(is_sent(0, REQUEST_DELETE, 2));
	end();
}

static void
test_answers(void)
{
	int64_t a, b, c;

	begin();
	a = put(1, 1000, 0);
	b = put(2, 1001, 0);
	c = put(3, 1002, 0);
	backend_up();
	turn(500, 3);
	answer(2, 400, "{\"error\":\"no such cluster: x\"}");
	CHECK_INT(state_of(a), START_REJECTED);
	answer(1, 500, "{\"error\":\"database is locked\"}");
	CHECK_INT(state_of(b), START_DUE);
	answer(0, 201, "{}");
	CHECK_INT(state_of(c), STARTED);
	turn(1500, 1);
	CHECK(is_sent(0, REQUEST_START, 2));
	answer(0, 201, "{}");
	ctl_retry_all(&s);
	CHECK_INT(state_of(a), START_DUE);
	turn(500, 1);
	CHECK(is_sent(0, REQUEST_START, 1));
	/* its stop finds no such run: the start goes first, once */
	answer(0, 201, "{}");
	end();
}

/* Two runs of one job: both starts, oldest first, before any stop. */
static void
test_previous_run(void)
{
	int64_t a, b;

	begin();
	b = put(7, 2000, 2100);
	a = put(7, 1000, 1500);
	backend_up();
	turn(1000, 2);
	CHECK_INT(n_sent, 1);
	CHECK_INT(state_of(b), START_BLOCKED);
	answer(0, 201, "{}");
	turn(3000, 1);
	CHECK_INT(n_sent, 1);
	CHECK(strstr(sent[0].body, "2000") != NULL);
	CHECK_INT(state_of(a), STOP_BLOCKED);
	answer(0, 201, "{}");
	CHECK_INT(state_of(b), STOP_BLOCKED);
	end();
}

/* Deleted there, a run begins anew, or is done with; a repeat finds nothing. */
static void
test_delete(void)
{
	struct spool_run run;
	int64_t a, b;

	begin();
	a = put(1, 1000, 1100);
	b = put(2, 1001, 0);
	CHECK_INT(spool_get(s.spool, a, &run), 1);
	run.state[DEST_REST] = DELETE_DUE;
	run.flags |= RUN_KEY_FIXED | RUN_STOP_ATTEMPTED;
	CHECK_INT(spool_save(s.spool, &run), 0);
	CHECK_INT(spool_get(s.spool, b, &run), 1);
	run.state[DEST_REST] = DELETE_DUE;
	run.flags |= RUN_KEY_FIXED | RUN_FORGET_AFTER_DELETE;
	CHECK_INT(spool_save(s.spool, &run), 0);
	backend_up();
	turn(500, 2);
	CHECK(is_sent(0, REQUEST_DELETE, 1));
	CHECK_STR(sent[0].body,
	    "{\"jobId\":1,\"cluster\":\"alpha\",\"startTime\":1000}");
	CHECK(is_sent(1, REQUEST_DELETE, 2));
	answer(1, 200, "{\"msg\":\"Successfully deleted job 2\"}");
	CHECK_INT(state_of(b), RUN_STATE__COUNT);
	answer(0, 0, NULL);
	CHECK_INT(state_of(a), DELETE_DUE);
	turn(1500, 1);
	CHECK(is_sent(0, REQUEST_DELETE, 1));
	answer(0, 422, "{\"error\":\"finding job failed: sql: no rows\"}");
	CHECK_INT(state_of(a), START_DUE_ENDED);
	expect_probe(PROBED);
	turn(500, 1);
	CHECK(is_sent(0, REQUEST_START, 1));
	end();
}

static void
state_set(int64_t row, enum run_state state)
{
	struct spool_run run;

	CHECK_INT(spool_get(s.spool, row, &run), 1);
	run.state[DEST_REST] = state;
	run.due[DEST_REST] = DUE_NOW;
	CHECK_INT(spool_save(s.spool, &run), 0);
	wake(&s, WAKE_DELIVERY);
}

/* While many stops are due, no list releases more of them. */
static void
test_commit_check_later(void)
{
	int64_t rows[512], blocked;
	int i;

	begin();
	for (i = 0; i < 512; i++) {
		rows[i] = put((uint64_t)i + 10, 2000 + i, 2600);
		state_set(rows[i], STOP_DUE);
	}
	blocked = put(1, 1000, 1100);
	state_set(blocked, STOP_BLOCKED);
	backend_up();
	turn(2600, HTTP_IN_FLIGHT + 1);
	CHECK_INT(n_sent, HTTP_IN_FLIGHT);
	for (i = 0; i < n_sent; i++)
		CHECK(sent[i].what == REQUEST_STOP);
	/* One stop less. */
	state_set(rows[511], START_COMMITTED);
	turn(12000, HTTP_IN_FLIGHT + 1);
	CHECK_INT(n_sent, HTTP_IN_FLIGHT + 1);
	CHECK(find_sent(REQUEST_LIST) != -1);
	end();
}

#define SHOWN(job, start, state, duration) \
	"{\"jobId\":" #job ",\"cluster\":\"alpha\",\"startTime\":" #start \
	",\"jobState\":\"" state "\",\"duration\":" #duration "}"
#define CLOSED "{\"error\":\"job has already been stopped (state is: x)\"}"

/*
 * Another client has stopped a run of 0 s before cc-backend was upgraded, with
 * the state and the time that the older version accepts.
 */
static void
test_stop_of_older_backend(void)
{
	static const struct {
		const char *list;
		enum run_state state;
	} cases[] = {
		{ "{\"jobs\":[" SHOWN(1, 1000, "timeout", 0) "]}",
		    RUN_STATE__COUNT },
		{ "{\"jobs\":[" SHOWN(1, 1000, "timeout", 1) "]}",
		    RUN_STATE__COUNT },
		{ "{\"jobs\":[" SHOWN(1, 1000, "deadline", 0) "]}",
		    RUN_STATE__COUNT },
		{ "{\"jobs\":[" SHOWN(1, 1000, "timeout", 2) "]}",
		    STOPPED_BY_OTHERS },
	};
	int64_t row;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		begin();
		row = put(1, 1000, 0);
		put_end_as(1, 1000, 1000, END_DEADLINE, 0, NULL);
		state_set(row, STOP_DUE);
		backend_up();
		turn(500, 1);
		answer(0, 422, CLOSED);
		turn(500, 1);
		answer(0, 200, "{\"jobs\":[]}");
		answer(0, 200, cases[i].list);
		CHECK_INT(state_of(row), cases[i].state);
		end();
	}
}

/* The first stop comes too late: what agrees is done, what does not is kept. */
static void
test_foreign_stop(void)
{
	struct diff_rows rows = { .request = 1 };
	struct ctl_request req = { .verb = CTL_REPAIR,
		.flags = CTL_FLAG_DRY_RUN };
	struct spool_run run;
	int64_t a, b, c;

	begin();
	a = put(1, 1000, 1100);
	b = put(2, 1500, 1600);
	c = put(3, 9000, 9100);
	state_set(a, STOP_DUE);
	state_set(b, STOP_DUE);
	state_set(c, STOP_DUE);
	backend_up();
	turn(500, 3);
	answer(0, 422, CLOSED);
	answer(0, 422, CLOSED);
	answer(0, 422, CLOSED);
	CHECK_INT(state_of(a), STOP_CONFLICT);
	turn(500, 1);
	CHECK(strstr(sent[0].path, "state=running") != NULL);
	CHECK(strstr(sent[0].path, "start-time=1000-1500&") != NULL);
	answer(0, 200, "{\"jobs\":[]}");
	answer(0, 200,
	    "{\"jobs\":[" SHOWN(1, 1000, "completed", 100) "," SHOWN(2, 1500,
		"failed", 7) "]}");
	CHECK_INT(state_of(a), RUN_STATE__COUNT);
	CHECK_INT(state_of(b), STOPPED_BY_OTHERS);
	CHECK_INT(spool_get(s.spool, b, &run), 1);
	CHECK_STR(run.reason,
	    "cc-backend has it as failed after 7 s, Slurm as "
	    "completed after 100 s");
	/* the other group: nothing is shown, nobody can compare */
	CHECK(strstr(sent[0].path, "start-time=9000-9000&") != NULL);
	answer(0, 200, "{\"jobs\":[]}");
	answer(0, 200, "{\"jobs\":[]}");
	CHECK_INT(state_of(c), RUN_STATE__COUNT);
	CHECK_INT(s.n.closed, 3);
	turn(200, 0);
	CHECK_INT(n_sent, 0);
	/* repaired on demand alone: deleted, begun anew */
	CHECK_INT(foreign_stop_repair(&s, &rows, &req), 1);
	CHECK_INT(state_of(b), STOPPED_BY_OTHERS);
	req.flags = 0;
	req.n_ids = 1;
	req.ids[0] = 77;
	CHECK_INT(foreign_stop_repair(&s, &rows, &req), 0);
	req.ids[0] = 2;
	CHECK_INT(foreign_stop_repair(&s, &rows, &req), 1);
	turn(500, 1);
	CHECK(is_sent(0, REQUEST_DELETE, 2));
	answer(0, 200, "{\"msg\":\"deleted\"}");
	turn(500, 1);
	CHECK(is_sent(0, REQUEST_START, 2));
	answer(0, 201, "{}");
	CHECK_INT(state_of(b), STOP_BLOCKED);
	end();
}

/* Closed while it runs; its end, when it comes, is compared. */
static void
test_foreign_stop_running(void)
{
	struct diff_rows rows = { .request = 1 };
	struct ctl_request req = { .verb = CTL_REPAIR };
	int64_t a, b;

	begin();
	a = put(1, 1000, 0);
	backend_up();
	turn(500, 1);
	answer(0, 422, DOUBLE);
	turn(500, 1);
	answer(0, 200, "{\"jobs\":[]}");
	answer(0, 200, "{\"jobs\":[" SHOWN(1, 1000, "completed", 100) "]}");
	CHECK_INT(state_of(a), STOPPED_BY_OTHERS);
	put(1, 1000, 1100);
	CHECK_INT(state_of(a), STOP_CONFLICT);
	turn(500, 1);
	answer(0, 200, "{\"jobs\":[]}");
	answer(0, 200, "{\"jobs\":[" SHOWN(1, 1000, "completed", 100) "]}");
	CHECK_INT(state_of(a), RUN_STATE__COUNT);
	/* a later run of its job would bar it, once it is deleted */
	a = put(2, 1000, 1100);
	b = put(2, 2000, 2100);
	state_set(a, STOPPED_BY_OTHERS);
	state_set(b, START_COMMITTED);
	CHECK_INT(foreign_stop_repair(&s, &rows, &req), 0);
	CHECK_INT(state_of(a), STOPPED_BY_OTHERS);
	end();
}

/* A damaged row: halves, down to its second, which is asked run by run. */
static void
test_halves(void)
{
	struct spool_run run;
	int64_t rows[8];
	int i;

	begin();
	for (i = 0; i < 8; i++) {
		rows[i] = put((uint64_t)(i + 1), 1000 + i, 2000 + i);
		CHECK_INT(spool_get(s.spool, rows[i], &run), 1);
		run.flags |= RUN_REFUSED_ONCE;
		CHECK_INT(spool_save(s.spool, &run), 0);
		state_set(rows[i], START_CONFLICT);
	}
	backend_up();
	turn(500, 1);
	answer(0, 200, "{\"jobs\":[]}");
	CHECK(strstr(sent[0].path, "start-time=1000-1007&") != NULL);
	answer(0, 500, "{\"error\":\"open meta.json\"}");
	CHECK(strstr(sent[0].path, "start-time=1000-1003&") != NULL);
	answer(0, 200,
	    "{\"jobs\":[" SHOWN(1, 1000, "completed", 1000) "," SHOWN(3, 1002,
		"completed", 1000) "]}");
	CHECK_INT(state_of(rows[0]), RUN_STATE__COUNT);
	CHECK_INT(state_of(rows[1]), START_REJECTED);
	CHECK_INT(state_of(rows[2]), RUN_STATE__COUNT);
	CHECK_INT(state_of(rows[4]), START_CONFLICT);
	CHECK(strstr(sent[0].path, "start-time=1004-1007&") != NULL);
	answer(0, 500, "{\"error\":\"open meta.json\"}");
	CHECK(strstr(sent[0].path, "start-time=1004-1005&") != NULL);
	answer(0, 200, "{\"jobs\":[]}");
	answer(0, 500, "{\"error\":\"open meta.json\"}");
	CHECK(strstr(sent[0].path, "start-time=1006-1006&") != NULL);
	answer(0, 200, "{\"jobs\":[]}");
	CHECK_INT(state_of(rows[6]), START_REJECTED);
	for (i = 0; i < 3; i++) {
		turn(2500, 1);
		CHECK(strstr(sent[0].path, "start-time=1007-1007&") != NULL);
		answer(0, 500, "{\"error\":\"open meta.json\"}");
	}
	CHECK(is_sent(0, REQUEST_META, 8));
	answer(0, 200, "{}");
	CHECK_INT(state_of(rows[7]), STOP_DUE);
	end();
}

/* The first start of a run fixes the tags of all its starts. */
static void
test_tags(void)
{
	char reason[256];

	begin();
	put(1, 1000, 0);
	backend_up();
	turn(500, 1);
	CHECK(strstr(sent[0].body, "tags") == NULL);
	payload_free(s.payload);
	conf_set(&worker.conf, CONF_TAGS, "[{\"type\":\"t\",\"name\":\"x\"}]");
	s.payload = payload_new(&worker.conf, reason, sizeof(reason));
	answer(0, 500, "{\"error\":\"database is locked\"}");
	turn(1500, 1);
	CHECK(is_sent(0, REQUEST_START, 1));
	CHECK(strstr(sent[0].body, "tags") == NULL);
	answer(0, 201, "{}");
	put(2, 1001, 0);
	turn(500, 1);
	CHECK(strstr(sent[0].body, "\"tags\":[{\"type\":\"t\"") != NULL);
	answer(0, 500, "{\"error\":\"database is locked\"}");
	turn(1500, 1);
	CHECK(strstr(sent[0].body, "\"tags\":[{\"type\":\"t\"") != NULL);
	answer(0, 500, "{\"error\":\"adding tag to new job 7 failed: no\"}");
	CHECK_INT(spool_count(s.spool, DEST_REST, STARTED), 2);
	conf_set(&worker.conf, CONF_TAGS, "[]");
	end();
}

static void
put_end(uint64_t id, int64_t start, int64_t end, int code, const char *info)
{
	put_end_as(id, start, end, END_FAILED, code, info);
}

/* Of a good end nothing is owed: its state says it. */
static void
test_meta_nothing(void)
{
	int64_t a;

	begin();
	a = put(1, 1000, 0);
	backend_up();
	turn(500, 1);
	answer(0, 201, "{}");
	state_set(a, START_COMMITTED);
	put_end_as(1, 1000, 1100, END_COMPLETED, 0, NULL);
	turn(500, 1);
	CHECK(is_sent(0, REQUEST_STOP, 1));
	answer(0, 200, "{\"jobId\":1,\"startTime\":1000}");
	CHECK_INT(state_of(a), RUN_STATE__COUNT);
	CHECK_INT(spool_meta_count(s.spool), 0);
	turn(100, 0);
	CHECK_INT(n_sent, 0);
	/* one that is good but for its code, or but for its state, is told */
	a = put(2, 1000, 0);
	turn(500, 1);
	answer(0, 201, "{}");
	state_set(a, START_COMMITTED);
	put_end_as(2, 1000, 1100, END_TIMEOUT, 0, NULL);
	turn(500, 1);
	answer(0, 200, "{\"jobId\":2,\"startTime\":1000}");
	CHECK_INT(spool_meta_count(s.spool), 1);
	end();
}

#define INFO "JobId=1 JobName=n UserId=u1(1) GroupId=g(1) JobState=CONFIGURING "

/* A run that cc-backend has committed and that then ends. */
static void
run_with_info(int64_t start)
{
	struct job job;
	int64_t row;

	job_init(&job);
	snprintf(job.key.cluster, sizeof(job.key.cluster), "alpha");
	job.key.job = 1;
	job.key.start = start;
	job.flags = JOB_HAS_START;
	job.user = strdup("u1");
	job.name = strdup("n");
	job.slurm_info = strdup(INFO);
	job.nodes = 1;
	job_add_host(&job, "n1");
	spool_put(s.spool, &job, &row);
	job_clear(&job);
	wake(&s, WAKE_DELIVERY);
	turn(500, 1);
	CHECK(strstr(sent[0].body, "JobState=CONFIGURING") != NULL);
	answer(0, 201, "{}");
	state_set(row, START_COMMITTED);
	put_end_as(1, start, start + 100, END_COMPLETED, 0, NULL);
	turn(500, 1);
	answer(0, 200, "{\"jobId\":1,\"startTime\":1000}");
}

/* With the end, slurmInfo is sent once more, if the key says so. */
static void
test_meta_info(void)
{
	char reason[256];
	struct spool_meta late;

	begin();
	backend_up();
	run_with_info(1000);
	CHECK_INT(spool_meta_count(s.spool), 1);
	CHECK_INT(spool_meta_next(s.spool, &late), 1);
	CHECK_STR(late.field, "slurmInfo");
	CHECK_STR(late.value,
	    "JobId=1 JobName=n\n   UserId=u1(1) GroupId=g(1)\n   "
	    "JobState=COMPLETED");
	spool_meta_drop(s.spool, late.id);
	spool_meta_clear(&late);
	conf_set(&worker.conf, CONF_CC_UPDATE_SLURM_INFO, "false");
	payload_free(s.payload);
	s.payload = payload_new(&worker.conf, reason, sizeof(reason));
	run_with_info(200000);
	CHECK_INT(spool_meta_count(s.spool), 0);
	conf_set(&worker.conf, CONF_CC_UPDATE_SLURM_INFO, "true");
	end();
}

/* A message of the collector about the run of job 1 that began at 1000. */
static int64_t
put_about(unsigned flags, int64_t end, const char *script)
{
	struct job job;
	int64_t row;

	job_init(&job);
	snprintf(job.key.cluster, sizeof(job.key.cluster), "alpha");
	job.key.job = 1;
	job.key.start = 1000;
	job.flags = flags;
	job.end = end;
	job.state = end != 0 ? END_COMPLETED : END_NOT;
	job.user = strdup("u1");
	job.script = script != NULL ? strdup(script) : NULL;
	job_add_host(&job, "n1");
	spool_put(s.spool, &job, &row);
	job_clear(&job);
	wake(&s, WAKE_DELIVERY);
	return row;
}

#define SCRIPT "#!/bin/sh"

/* The update that is stored; "" = none. */
static const char *
meta_stored(void)
{
	static char text[256];
	struct spool_meta late;

	text[0] = '\0';
	if (spool_meta_next(s.spool, &late) != 1)
		return text;
	snprintf(text, sizeof(text), "%llu/%lld %s=%s",
	    (unsigned long long)late.key.job, (long long)late.key.start,
	    late.field, late.value);
	spool_meta_clear(&late);
	return text;
}

/* A start waits for its script, also when the run has ended meanwhile. */
static void
test_script_before_start(void)
{
	begin();
	spool_policy(s.spool)->more_wait = 5000;
	backend_up();
	put_about(JOB_HAS_START | JOB_MORE, 0, NULL);
	put_about(JOB_HAS_START, 1001, NULL);
	turn(300, 0);
	CHECK_INT(n_sent, 0);
	put_about(JOB_PARTIAL, 0, SCRIPT);
	turn(500, 1);
	CHECK(is_sent(0, REQUEST_START, 1));
	CHECK(strstr(sent[0].body, "\"jobScript\":\"" SCRIPT "\"") != NULL);
	answer(0, 201, "{}");
	CHECK_STR(meta_stored(), "");
	end();
}

/* A script that comes after the start is an update. */
static void
test_script_after_start(void)
{
	int64_t row;

	begin();
	spool_policy(s.spool)->script_key = "jobScript";
	backend_up();
	row = put_about(JOB_HAS_START | JOB_MORE, 0, NULL);
	turn(500, 1);
	CHECK(strstr(sent[0].body, "jobScript") == NULL);
	put_about(JOB_PARTIAL, 0, SCRIPT);
	CHECK_STR(meta_stored(), "1/1000 jobScript=" SCRIPT);
	turn(300, 0);
	CHECK_INT(n_sent, 1);
	answer(0, 201, "{}");
	state_set(row, START_COMMITTED);
	turn(3000, 1);
	CHECK(is_sent(0, REQUEST_META, 1));
	CHECK(strstr(sent[0].body, "\"value\":\"" SCRIPT "\"") != NULL);
	answer(0, 200, "{}");
	CHECK_STR(meta_stored(), "");
	/* The same script again is no news. */
	put_about(JOB_PARTIAL, 0, SCRIPT);
	CHECK_STR(meta_stored(), "");
	/* Nobody wants it. */
	spool_policy(s.spool)->script_key = NULL;
	end();
}

/* The script comes when the run is done. */
static void
test_script_after_stop(void)
{
	int64_t row;

	begin();
	spool_policy(s.spool)->script_key = "jobScript";
	backend_up();
	row = put_about(JOB_HAS_START | JOB_MORE, 1001, NULL);
	turn(500, 1);
	answer(0, 201, "{}");
	state_set(row, STOP_DUE);
	turn(500, 1);
	CHECK(is_sent(0, REQUEST_STOP, 1));
	answer(0, 200, "{\"jobId\":1,\"startTime\":1000}");
	CHECK_INT(state_of(row), RUN_STATE__COUNT);
	/* The spool notes that a script may come, and sends nothing. */
	CHECK_STR(meta_stored(), "1/1000 jobScript=");
	turn(200, 0);
	CHECK_INT(n_sent, 0);
	put_about(JOB_PARTIAL, 0, SCRIPT);
	CHECK_STR(meta_stored(), "1/1000 jobScript=" SCRIPT);
	turn(3000, 1);
	CHECK(is_sent(0, REQUEST_META, 1));
	answer(0, 200, "{}");
	/* A collector that starts again sends the script once more. */
	put_about(JOB_PARTIAL, 0, SCRIPT);
	CHECK_STR(meta_stored(), "");
	end();
}

/* No script came: this is forgotten without a request. */
static void
test_script_never(void)
{
	struct spool_meta late;
	int64_t row;

	begin();
	spool_policy(s.spool)->script_key = "jobScript";
	backend_up();
	row = put_about(JOB_HAS_START | JOB_MORE, 1001, NULL);
	turn(500, 1);
	answer(0, 201, "{}");
	state_set(row, STOP_DUE);
	turn(500, 1);
	answer(0, 200, "{\"jobId\":1,\"startTime\":1000}");
	CHECK_INT(spool_meta_next(s.spool, &late), 1);
	CHECK(late.due > spool_now(s.spool) + 30000);
	CHECK_INT(spool_meta_wait(s.spool, late.id, 0, 0), 0);
	spool_meta_clear(&late);
	wake(&s, WAKE_DELIVERY);
	turn(300, 0);
	CHECK_INT(n_sent, 0);
	CHECK_INT(spool_meta_count(s.spool), 0);
	CHECK_INT(s.n.meta_dropped, 0);
	end();
}

/* A refused run is told on the one that is shown, and only once. */
static void
test_meta_previous_run(void)
{
	struct spool_meta late;
	struct spool_run run;
	int64_t a, b;

	begin();
	a = put(1, 1000, 0);
	backend_up();
	turn(500, 1);
	answer(0, 201, "{}");
	state_set(a, START_COMMITTED);
	b = put(1, 2000, 0);
	CHECK_INT(spool_get(s.spool, b, &run), 1);
	meta_note_sibling(s.meta, &run);
	CHECK_INT(spool_meta_count(s.spool), 0); /* it is not refused */
	state_set(b, START_REJECTED);
	CHECK_INT(spool_get(s.spool, b, &run), 1);
	meta_note_sibling(s.meta, &run);
	CHECK_INT(spool_meta_count(s.spool), 1);
	CHECK_INT(spool_meta_next(s.spool, &late), 1);
	CHECK_INT(late.key.start, 1000);
	CHECK_STR(late.field, "message");
	CHECK_INT(spool_meta_drop(s.spool, late.id), 0);
	spool_meta_clear(&late);
	CHECK_INT(spool_get(s.spool, b, &run), 1);
	meta_note_sibling(s.meta, &run);
	CHECK_INT(spool_meta_count(s.spool), 0);
	end();
}

/* Metadata of the end is sent last, and is tried a few times. */
static void
test_meta(void)
{
	struct spool_meta late;
	int64_t a, b;

	begin();
	a = put(1, 1000, 0);
	backend_up();
	turn(500, 1);
	answer(0, 201, "{}");
	state_set(a, START_COMMITTED);
	put_end(1, 1000, 1100, 3 << 8, "JobState=FAILED");
	turn(500, 1);
	CHECK(is_sent(0, REQUEST_STOP, 1));
	b = put(2, 1001, 0);
	turn(500, 2);
	answer(0, 200, "{\"jobId\":1,\"startTime\":1000}");
	CHECK_INT(state_of(a), RUN_STATE__COUNT);
	turn(100, 0);
	CHECK_INT(n_sent, 1);
	CHECK(is_sent(0, REQUEST_START, 2));
	answer(0, 201, "{}");
	state_set(b, START_COMMITTED);
	turn(3000, 1);
	CHECK(is_sent(0, REQUEST_META, 1));
	CHECK_STR(sent[0].body,
	    "{\"jobId\":1,\"cluster\":\"alpha\","
	    "\"startTime\":1000,\"payload\":{\"key\":\"exitCode\","
	    "\"value\":\"3:0\"}}");
	/* no answer: cc-backend is probed, and the other update is sent */
	answer(0, 0, NULL);
	CHECK_INT(spool_meta_count(s.spool), 2);
	CHECK(is_sent(0, REQUEST_PROBE, 0));
	CHECK(!breaker_allows(s.breaker));
	answer(0, 400, PROBED);
	turn(3000, 1);
	CHECK(strstr(sent[0].body, "JobState=FAILED") != NULL);
	answer(0, 200, "{}");
	turn(6000, 1);
	CHECK(strstr(sent[0].body, "exitCode") != NULL);
	answer(0, 422, "{\"error\":\"finding job failed: sql: no rows\"}");
	CHECK_INT(spool_meta_next(s.spool, &late), 1);
	CHECK_INT(late.tries, 2);
	CHECK(late.due > spool_now(s.spool) + 1000);
	CHECK_INT(spool_meta_wait(s.spool, late.id, 0, 9), 0);
	spool_meta_clear(&late);
	wake(&s, WAKE_DELIVERY);
	turn(500, 1);
	answer(0, 422, "{\"error\":\"finding job failed: sql: no rows\"}");
	CHECK_INT(spool_meta_count(s.spool), 0);
	CHECK_INT(s.n.meta_dropped, 1);
	/* an older one has no such request */
	breaker_set_version(s.breaker, BACKEND_1_4_3);
	state_set(put(3, 1000, 1100), STOP_DUE);
	turn(500, 1);
	answer(0, 200, "{}");
	CHECK_INT(spool_meta_count(s.spool), 0);
	end();
}

/* The probe is answered, the clusters never are: it goes on without them. */
static void
test_no_clusters(void)
{
	int i;

	begin();
	put(1, 1000, 0);
	breaker_conf(s.breaker);
	for (i = 0; i < 3; i++) {
		turn(2500, 1);
		CHECK(is_sent(0, REQUEST_PROBE, 0));
		answer(0, 400, PROBED);
		CHECK(is_sent(0, REQUEST_CLUSTERS, 0));
		CHECK(!breaker_allows(s.breaker));
		answer(0, 0, NULL);
	}
	CHECK(breaker_allows(s.breaker));
	turn(500, 1);
	CHECK(is_sent(0, REQUEST_START, 1));
	end();
}

/* Exchanged under us, while nothing else showed it. */
static void
test_upgrade(void)
{
	begin();
	breaker_conf(s.breaker);
	turn(500, 1);
	answer(0, 400, "{\"error\":\"json: unknown field \\\"scope\\\"\"}");
	answer(0, 200, CLUSTERS);
	CHECK_INT(breaker_version(s.breaker), BACKEND_1_3);
	CHECK_INT(spool_policy(s.spool)->wait_commit, 0);
	put(1, 1000, 0);
	put(2, 1001, 0);
	turn(500, 2);
	CHECK(strstr(sent[0].body, "\"exclusive\"") != NULL);
	answer(0, 0, NULL);
	answer(0, 201, "{}");
	expect_probe("{\"error\":\"json: unknown field \\\"shared\\\"\"}");
	CHECK_INT(breaker_version(s.breaker), BACKEND_1_4_3);
	/* its topology is asked anew */
	answer_sent(REQUEST_CLUSTERS, 200, CLUSTERS);
	turn(1500, 1);
	CHECK(is_sent(0, REQUEST_START, 2));
	answer(0, 400, "{\"error\":\"json: unknown field \\\"exclusive\\\"\"}");
	CHECK(!breaker_allows(s.breaker));
	answer_sent(REQUEST_PROBE, 400, PROBED);
	answer_sent(REQUEST_CLUSTERS, 200, CLUSTERS);
	CHECK_INT(breaker_version(s.breaker), BACKEND_1_5);
	CHECK_INT(spool_policy(s.spool)->wait_commit, 1);
	turn(1500, 1);
	CHECK(is_sent(0, REQUEST_START, 2));
	CHECK(strstr(sent[0].body, "\"shared\"") != NULL);
	answer(0, 201, "{}");
	end();
}

static int
pin_is_reported(void)
{
	struct summary sum;

	memset(&sum, 0, sizeof(sum));
	breaker_summary(s.breaker, &sum);
	return sum.n == 1 &&
	    strstr(sum.problems[0].text,
		"ccBackendVersion is 1.4, and "
		"cc-backend is version 1.5 or newer") != NULL;
}

/* A configured version stays, and a new connection shows that it is wrong. */
static void
test_pinned(void)
{
	begin();
	breaker_pin_version(s.breaker, 1, BACKEND_1_4_3);
	breaker_conf(s.breaker);
	turn(500, 1);
	answer(0, 400, "{\"error\":\"json: unknown field \\\"shared\\\"\"}");
	answer(0, 200, CLUSTERS);
	CHECK(!pin_is_reported());
	put(1, 1000, 0);
	put(2, 1001, 0);
	turn(2500, 2);
	answer(0, 0, NULL);
	answer(0, 201, "{}");
	expect_probe(PROBED);
	CHECK_INT(breaker_version(s.breaker), BACKEND_1_4_3);
	CHECK(pin_is_reported());
	breaker_pin_version(s.breaker, 0, BACKEND_1_5);
	CHECK(!pin_is_reported());
	end();
}

int
main(void)
{
	if (mkdtemp(dir) == NULL)
		return 1;
	spool_prepare();
	conf_init(&worker.conf);
	conf_set(&worker.conf, CONF_CC_COMMIT_INTERVAL, "1");
	test_order();
	test_turns();
	test_one_commit();
	test_no_memory();
	test_stuck_again();
	test_commit_check();
	test_duplicate();
	test_unreachable();
	test_token_refused();
	test_answers();
	test_delete();
	test_commit_check_later();
	test_stop_of_older_backend();
	test_foreign_stop();
	test_foreign_stop_running();
	test_halves();
	test_tags();
	test_meta_nothing();
	test_meta_info();
	test_script_before_start();
	test_script_after_start();
	test_script_after_stop();
	test_script_never();
	test_meta_previous_run();
	test_meta();
	test_no_clusters();
	test_upgrade();
	test_pinned();
	test_previous_run();
	conf_clear(&worker.conf);
	rmdir(dir);
	return check_done();
}
