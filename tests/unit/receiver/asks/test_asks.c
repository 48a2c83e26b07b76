/* SPDX-License-Identifier: MIT */
/*
 * Questions to clusters against a simulated broker: the functions of link.h are
 * here.  What is no valid answer to the question under way is no evidence.
 */
#include "config.h"

#include <event2/event.h>

#include "common/log.h"
#include "receiver/asks/asks.h"
#include "tests/unit/check.h"
#include "tests/unit/loop.h"

#define TIMERS_MAX 8

/* The last question. */
static unsigned n_sent;
static char subject[64], tail[32];
static struct ask sent;
static int publish_rc;

/* The last call to the owner of the box. */
static unsigned n_reports, n_unknown;
static struct ask_run unknown;
static int current;

static struct event_base *base;
static struct asks *a;

int
link_publish(struct link *l, const char *to, const char *reply,
    const void *data, size_t len)
{
	char why[ASK_TEXT_MAX];

	(void)l;
	n_sent++;
	snprintf(subject, sizeof(subject), "%s", to);
	snprintf(tail, sizeof(tail), "%s", reply);
	CHECK_INT(ask_read(&sent, data, len, why, sizeof(why)), 0);
	return publish_rc;
}

static int
on_current(const char *cluster, void *arg)
{
	(void)cluster;
	(void)arg;
	return current;
}

static void
on_not_found(const char *cluster, const struct ask_run *runs, unsigned n,
    void *arg)
{
	(void)arg;
	CHECK_STR(cluster, "alpha");
	n_reports++;
	n_unknown = n;
	unknown = runs[0];
}

/* The last answer to an order. */
static unsigned n_ordered;
static uint64_t ordered;
static int accepted;
static char told[1024];

static void
on_ordered(const struct asks_order *o, int ok, const char *text, void *arg)
{
	(void)arg;
	n_ordered++;
	ordered = o->request;
	CHECK_STR(o->cluster, "alpha");
	accepted = ok;
	snprintf(told, sizeof(told), "%s", text);
}

static const struct asks_ops ops = { on_current, on_not_found, on_ordered };

static void
begin(void)
{
	a = asks_new(base, NULL, &ops, NULL);
	asks_conf(a, "[\"alpha\",\"beta\"]");
	n_sent = n_reports = n_unknown = n_ordered = 0;
	current = 1;
	asks_link(a, 1);
}

static void
end(void)
{
	asks_conf(a, "[]");
}

/* A lookup of the jobs from first on, each with the start 1000. */
static void
lookup(const char *cluster, uint64_t first, unsigned n)
{
	struct run_key key = { .start = 1000 };
	struct writer w;
	struct reader r;
	unsigned i;

	snprintf(key.cluster, sizeof(key.cluster), "%s", cluster);
	wr_init(&w, 1 << 20);
	wr_str(&w, cluster);
	wr_u64(&w, 1);
	wr_u32(&w, n);
	for (i = 0; i < n; i++) {
		key.job = first + i;
		wr_run_key(&w, &key);
	}
	rd_init(&r, w.buf, w.len);
	CHECK_INT(asks_lookup(a, &r), 0);
	wr_clear(&w);
}

static void
receive(const char *to, const void *p, size_t n, unsigned status)
{
	struct link_message m = { .subject = "x",
		.reply = "",
		.tail = to,
		.status = status,
		.status_text = "",
		.id = "",
		.data = p,
		.len = n };

	CHECK_INT(asks_receive(a, &m), 1);
}

/* The answer that a cluster of this version sends. */
static struct ask_answer
valid(void)
{
	struct ask_answer answer = { .asked = sent.n, .n = 1 };

	memcpy(answer.nonce, sent.nonce, sizeof(answer.nonce));
	snprintf(answer.cluster, sizeof(answer.cluster), "alpha");
	answer.not_found[0] = sent.runs[0];
	return answer;
}

static void
send_answer(const struct ask_answer *answer)
{
	struct writer w;

	wr_init(&w, ASK_BYTES_MAX);
	ask_answer_write(&w, answer);
	CHECK_INT(wr_end(&w), 0);
	receive(tail, w.buf, w.len, 0);
	wr_clear(&w);
}

static struct event *timers[TIMERS_MAX];
static unsigned n_timers;

static int
timer_take(const struct event_base *of, const struct event *ev, void *arg)
{
	(void)of;
	(void)arg;
	if (n_timers < TIMERS_MAX && evtimer_pending(ev, NULL))
		timers[n_timers++] = (void *)(uintptr_t)ev;
	return 0;
}

/* The time of each timer that is set now has come. */
static void
pass(void)
{
	unsigned i;

	n_timers = 0;
	event_base_foreach_event(base, timer_take, NULL);
	for (i = 0; i < n_timers; i++)
		event_active(timers[i], EV_TIMEOUT, 1);
	loop_settle(base);
}

static void
test_evidence(void)
{
	struct asks_status st;
	struct ask_answer answer;

	begin();
	lookup("alpha", 7, 2);
	CHECK_INT(n_sent, 1);
	CHECK_STR(subject, "cc.ask.alpha");
	CHECK_INT(sent.n, 2);
	CHECK_INT(sent.runs[1].job, 8);
	answer = valid();
	send_answer(&answer);
	CHECK_INT(n_reports, 1);
	CHECK_INT(n_unknown, 1);
	CHECK_INT(unknown.job, 7);
	CHECK_INT(unknown.start, 1000);
	/* the same answer again: it is of no question */
	send_answer(&answer);
	CHECK_INT(n_reports, 1);
	asks_status(a, &st);
	CHECK_INT(st.asked, 1);
	CHECK_INT(st.answered, 1);
	CHECK_STR(st.trouble, "");
	/* nothing is left */
	pass();
	CHECK_INT(n_sent, 1);
	end();
}

/* A question for each way in which an answer may not fit. */
static void
test_misfits(void)
{
	struct ask_answer answer;
	struct asks_status st;
	unsigned way;

	begin();
	for (way = 0; way < 7; way++) {
		lookup("alpha", 7, 2);
		CHECK_INT(n_sent, way + 1);
		answer = valid();
		if (way == 0)
			answer.nonce[0] = answer.nonce[0] == '0' ? '1' : '0';
		else if (way == 1)
			snprintf(answer.cluster, sizeof(answer.cluster),
			    "beta");
		else if (way == 2)
			answer.asked = 1;
		else if (way == 3)
			answer.not_found[0].job = 9;
		else if (way == 4)
			answer.not_found[0].start = 1001;
		else if (way == 5)
			answer.not_found[answer.n++] = answer.not_found[0];
		else
			snprintf(answer.error, sizeof(answer.error), "busy");
		send_answer(&answer);
		CHECK_INT(n_reports, 0);
		asks_status(a, &st);
		CHECK_INT(st.refused, way < 6 ? way + 1 : 6);
		CHECK(strncmp(st.trouble, "cluster alpha: ", 15) == 0);
		pass();
	}
	lookup("alpha", 7, 2);
	receive(tail, "{}", 2, 0);
	pass();
	lookup("alpha", 7, 2);
	receive(tail, NULL, 0, 503);
	CHECK_INT(n_reports, 0);
	/* the cluster is asked again, and its answer counts */
	pass();
	lookup("alpha", 7, 2);
	answer = valid();
	send_answer(&answer);
	CHECK_INT(n_reports, 1);
	end();
}

/* An answer on the subject of another question, or too late. */
static void
test_others(void)
{
	struct ask_answer answer, late;
	char first[sizeof(tail)];
	struct writer w;

	begin();
	lookup("alpha", 7, 1);
	late = valid();
	memcpy(first, tail, sizeof(first));
	/* no answer within a minute */
	pass();
	send_answer(&late);
	CHECK_INT(n_reports, 0);
	pass();
	lookup("alpha", 7, 1);
	CHECK_INT(n_sent, 2);
	CHECK(strcmp(first, tail) != 0);
	CHECK(strcmp(late.nonce, sent.nonce) != 0);
	wr_init(&w, ASK_BYTES_MAX);
	answer = valid();
	ask_answer_write(&w, &answer);
	receive(first, w.buf, w.len, 0);
	receive("ask.77.1", w.buf, w.len, 0);
	receive("ask.x", w.buf, w.len, 0);
	CHECK_INT(n_reports, 0);
	wr_clear(&w);
	/* a new connection: the question is sent again */
	asks_link(a, 0);
	send_answer(&answer);
	CHECK_INT(n_reports, 0);
	asks_link(a, 1);
	CHECK_INT(n_sent, 3);
	/* a new submitter sends its lookups itself */
	asks_reset(a);
	answer = valid();
	send_answer(&answer);
	CHECK_INT(n_reports, 0);
	end();
}

/* While messages of the stream are not read, an answer is no evidence. */
static void
test_behind(void)
{
	struct ask_answer answer;

	begin();
	current = 0;
	lookup("alpha", 7, 1);
	answer = valid();
	send_answer(&answer);
	CHECK_INT(n_reports, 0);
	end();
}

#define LOOKUPS 260   /* of 256 runs: above ASKS_RUNS_MAX */
#define OPEN	50000 /* runs that a cluster does not know any more */

static void
test_pages(void)
{
	struct ask_answer answer;
	unsigned i;

	begin();
	lookup("alpha", 1, ASK_RUNS_MAX + 10);
	lookup("alpha", 1, ASK_RUNS_MAX + 10);
	CHECK_INT(sent.n, ASK_RUNS_MAX);
	lookup("beta", 1, 1);
	CHECK_INT(n_sent, 2);
	CHECK_STR(subject, "cc.ask.beta");
	receive(tail, NULL, 0, 503);
	lookup("gamma", 1, 1);
	CHECK_INT(n_sent, 2);
	end();
	begin();
	lookup("alpha", 1, ASK_RUNS_MAX + 10);
	answer = valid();
	send_answer(&answer);
	CHECK_INT(n_sent, 1);
	pass();
	CHECK_INT(n_sent, 2);
	CHECK_INT(sent.n, 10);
	CHECK_INT(sent.runs[0].job, ASK_RUNS_MAX + 1);
	/* further lookups are bounded */
	for (i = 0; i < LOOKUPS; i++)
		lookup("alpha", 1 + 256 * i, 256);
	for (i = 0; i < LOOKUPS; i++) {
		answer = valid();
		answer.n = 0;
		send_answer(&answer);
		pass();
	}
	CHECK_INT(n_sent,
	    2 + (ASKS_RUNS_MAX - 10 + ASK_RUNS_MAX - 1) / ASK_RUNS_MAX);
	end();
}

/* Runs that stay in doubt do not take the places of those behind them. */
static void
test_many(void)
{
	struct ask_answer answer;
	unsigned i;

	begin();
	for (i = 0; i < OPEN; i += 250)
		lookup("alpha", 1 + i, 250);
	lookup("alpha", OPEN + 1, 1);
	for (i = 0; i < OPEN / ASK_RUNS_MAX; i++) {
		answer = valid();
		answer.n = 0;
		send_answer(&answer);
		pass();
	}
	CHECK_INT(sent.runs[sent.n - 1].job, OPEN + 1);
	end();
}

static const char *
order(const char *cluster, enum ask_kind kind, uint64_t request)
{
	struct asks_order o = { .kind = kind, .request = request };

	snprintf(o.cluster, sizeof(o.cluster), "%s", cluster);
	if (kind == ASK_EXPLAIN)
		o.job = 4711;
	if (kind == ASK_BACKFILL) {
		o.from = 1000;
		o.to = 2000;
	}
	return asks_order(a, &o);
}

/* The answer of the cluster to the order under way. */
static void
send_order_answer(const char *error, const char *progress)
{
	struct ask_answer answer = { .asked = 0 };

	memcpy(answer.nonce, sent.nonce, sizeof(answer.nonce));
	snprintf(answer.cluster, sizeof(answer.cluster), "alpha");
	snprintf(answer.error, sizeof(answer.error), "%s", error);
	snprintf(answer.text, sizeof(answer.text), "%s", progress);
	send_answer(&answer);
}

static void
test_order(void)
{
	struct asks_status st;

	begin();
	CHECK_STR(order("alpha", ASK_BACKFILL, 77), NULL);
	CHECK_INT(n_sent, 1);
	CHECK_STR(subject, "cc.ask.alpha");
	CHECK_INT(sent.kind, ASK_BACKFILL);
	CHECK_INT(sent.n, 0);
	CHECK_INT(sent.from, 1000);
	CHECK_INT(sent.to, 2000);
	/* one at a time for each cluster */
	CHECK(order("alpha", ASK_BACKFILL_STATUS, 78) != NULL);
	CHECK_INT(n_sent, 1);
	send_order_answer("", "backfill: 0 %");
	CHECK_INT(n_ordered, 1);
	CHECK_INT(ordered, 77);
	CHECK_INT(accepted, 1);
	CHECK(strstr(told, "begun") != NULL);
	CHECK(strstr(told, "--status --cluster alpha") != NULL);
	/* the same answer again is of no question */
	send_order_answer("", "again");
	CHECK_INT(n_ordered, 1);
	/* the next one waits for the pause */
	CHECK_STR(order("alpha", ASK_BACKFILL_STATUS, 79), NULL);
	CHECK_INT(n_sent, 1);
	pass();
	CHECK_INT(n_sent, 2);
	CHECK_INT(sent.kind, ASK_BACKFILL_STATUS);
	send_order_answer("", "backfill: 50 %");
	CHECK_INT(n_ordered, 2);
	CHECK_STR(told, "cluster alpha: backfill: 50 %");
	/* about a job */
	pass();
	CHECK_STR(order("alpha", ASK_EXPLAIN, 80), NULL);
	CHECK_INT(sent.kind, ASK_EXPLAIN);
	CHECK_INT(sent.job, 4711);
	send_order_answer("", "1 run");
	CHECK_INT(accepted, 1);
	CHECK_STR(told, "cluster alpha: 1 run");
	CHECK_INT(n_reports, 0);
	asks_status(a, &st);
	CHECK_INT(st.answered, 3);
	CHECK_STR(st.trouble, "");
	end();
}

/* The end of a backfill; an older version of the cluster does not know it. */
static void
test_cancel(void)
{
	begin();
	CHECK_STR(order("alpha", ASK_BACKFILL_CANCEL, 77), NULL);
	CHECK_INT(sent.kind, ASK_BACKFILL_CANCEL);
	CHECK_INT(sent.n, 0);
	send_order_answer("", "cancelled; 2 held runs are removed");
	CHECK_INT(n_ordered, 1);
	CHECK_INT(accepted, 1);
	CHECK_STR(told, "cluster alpha: cancelled; 2 held runs are removed");
	pass();
	CHECK_STR(order("alpha", ASK_BACKFILL_CANCEL, 78), NULL);
	send_order_answer("kind: not known: upgrade the cluster", "");
	CHECK_INT(accepted, 0);
	CHECK_STR(told,
	    "cluster alpha refuses: kind: not known: upgrade the cluster");
	pass();
	/* no answer: it may be cancelled */
	CHECK_STR(order("alpha", ASK_BACKFILL_CANCEL, 79), NULL);
	pass();
	CHECK_INT(accepted, 0);
	CHECK(strstr(told, "no answer in time") != NULL);
	CHECK(strstr(told, "shows whether the backfill was cancelled") != NULL);
	end();
}

static void
test_order_refused(void)
{
	begin();
	CHECK_STR(order("gamma", ASK_BACKFILL, 1), "unknown cluster");
	CHECK(order("", ASK_BACKFILL, 1) != NULL);
	asks_link(a, 0);
	CHECK(order("alpha", ASK_BACKFILL, 1) != NULL);
	asks_link(a, 1);
	CHECK_INT(n_ordered, 0);
	CHECK_STR(order("alpha", ASK_BACKFILL, 2), NULL);
	send_order_answer("a backfill is under way", "backfill: 5 %");
	CHECK_INT(n_ordered, 1);
	CHECK_INT(accepted, 0);
	CHECK_STR(told, "cluster alpha refuses: a backfill is under way");
	end();
	/* the only cluster needs no name */
	begin();
	asks_conf(a, "[\"alpha\"]");
	CHECK_STR(order("", ASK_BACKFILL, 3), NULL);
	CHECK_STR(subject, "cc.ask.alpha");
	end();
	CHECK_INT(n_ordered, 1);
	CHECK_INT(ordered, 3);
	CHECK_INT(accepted, 0);
}

/* Each order ends, and is sent once: a second one would be refused. */
static void
test_order_unanswered(void)
{
	struct ask_answer other;

	begin();
	/* no responder: it has not begun */
	CHECK_STR(order("alpha", ASK_BACKFILL, 1), NULL);
	receive(tail, NULL, 0, 503);
	CHECK_INT(n_ordered, 1);
	CHECK_INT(accepted, 0);
	CHECK(strstr(told, "does not answer: it is not connected") != NULL);
	pass();
	/* no answer within the limit: it may have begun */
	CHECK_STR(order("alpha", ASK_BACKFILL, 2), NULL);
	pass();
	CHECK_INT(n_ordered, 2);
	CHECK(strstr(told, "no answer in time") != NULL);
	CHECK(strstr(told, "--status --cluster alpha") != NULL);
	send_order_answer("", "late");
	CHECK_INT(n_ordered, 2);
	pass();
	/* the connection ends */
	CHECK_STR(order("alpha", ASK_BACKFILL, 3), NULL);
	CHECK_INT(n_sent, 3);
	asks_link(a, 0);
	CHECK_INT(n_ordered, 3);
	CHECK(strstr(told, "--status --cluster alpha") != NULL);
	asks_link(a, 1);
	CHECK_INT(n_sent, 3);
	/* not even sent */
	publish_rc = -1;
	CHECK_STR(order("alpha", ASK_BACKFILL, 3), NULL);
	publish_rc = 0;
	CHECK_INT(n_ordered, 4);
	CHECK_STR(told, "cluster alpha: the request cannot be sent");
	/* an answer that does not fit */
	CHECK_STR(order("alpha", ASK_BACKFILL, 4), NULL);
	other = (struct ask_answer) { .asked = 1, .cluster = "alpha" };
	memcpy(other.nonce, sent.nonce, sizeof(other.nonce));
	send_answer(&other);
	CHECK_INT(n_ordered, 5);
	CHECK_INT(accepted, 0);
	CHECK(strstr(told, "not valid") != NULL);
	pass();
	CHECK_INT(n_sent, 5);
	end();
}

/* Lookups and an order of one cluster never share a question or an answer. */
static void
test_order_and_lookups(void)
{
	struct ask_answer answer;

	begin();
	lookup("alpha", 7, 2);
	CHECK_STR(order("alpha", ASK_BACKFILL, 5), NULL);
	CHECK_INT(n_sent, 1);
	CHECK_INT(sent.kind, ASK_LOOKUP);
	answer = valid();
	send_answer(&answer);
	CHECK_INT(n_reports, 1);
	CHECK_INT(n_ordered, 0);
	lookup("alpha", 9, 1);
	pass();
	CHECK_INT(n_sent, 2);
	CHECK_INT(sent.kind, ASK_BACKFILL);
	/* the submitter is restarted; the order is no matter of its own */
	asks_reset(a);
	lookup("alpha", 10, 1);
	CHECK_INT(n_sent, 2);
	send_order_answer("", "");
	CHECK_INT(n_ordered, 1);
	CHECK_INT(accepted, 1);
	pass();
	CHECK_INT(n_sent, 3);
	CHECK_INT(sent.kind, ASK_LOOKUP);
	CHECK_INT(sent.n, 1);
	CHECK_INT(sent.runs[0].job, 10);
	answer = valid();
	send_answer(&answer);
	CHECK_INT(n_reports, 2);
	/* the submitter is restarted while an order waits for the pause */
	CHECK_STR(order("alpha", ASK_BACKFILL_STATUS, 6), NULL);
	CHECK_INT(n_sent, 3);
	asks_reset(a);
	CHECK_INT(n_sent, 4);
	send_order_answer("", "none");
	CHECK_STR(told, "cluster alpha: none");
	end();
	/* an order without an answer leaves the lookups in place */
	begin();
	CHECK_STR(order("alpha", ASK_BACKFILL, 7), NULL);
	lookup("alpha", 7, 1);
	receive(tail, NULL, 0, 503);
	CHECK_INT(n_ordered, 1);
	pass();
	CHECK_INT(n_sent, 2);
	CHECK_INT(sent.kind, ASK_LOOKUP);
	CHECK_INT(sent.n, 1);
	end();
}

int
main(void)
{
	base = event_base_new();
	test_evidence();
	test_misfits();
	test_others();
	test_behind();
	test_pages();
	test_many();
	test_order();
	test_cancel();
	test_order_refused();
	test_order_unanswered();
	test_order_and_lookups();
	event_base_free(base);
	return check_done();
}
