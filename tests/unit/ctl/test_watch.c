/* SPDX-License-Identifier: MIT */
/* The screen of watch for given replies, and quantiles of histograms. */
#include "config.h"

#include "ctl/watch.h"
#include "tests/unit/check.h"

static struct sample now, before;
static struct view v;

static void
add(struct ctl_reply *a, unsigned table, const char *f0, const char *f1,
    const char *f2, const char *f3, const char *f4)
{
	struct writer w;

	wr_init(&w, 65536);
	ctl_row(&w, table, f0, f1, f2, f3, f4, NULL);
	CHECK_INT(reply_add(a, w.buf, w.len), 0);
	wr_clear(&w);
}

static void
metric(struct sample *s, const char *name, const char *labels,
    const char *value)
{
	add(&s->metrics, CTL_T_METRIC, name, "x", "", labels, value);
}

static void
clear(struct sample *s)
{
	reply_clear(&s->status);
	reply_clear(&s->metrics);
	reply_clear(&s->queue);
	memset(s, 0, sizeof(*s));
}

static void
test_quantiles(void)
{
	CHECK(quantile_ms(&now.metrics, "h", "", 0.5) < 0);
	metric(&now, "h_bucket", "to=\"a\",le=\"1.0\"", "0");
	metric(&now, "h_bucket", "to=\"a\",le=\"+Inf\"", "0");
	CHECK(quantile_ms(&now.metrics, "h", "", 0.5) < 0);
	clear(&now);
	metric(&now, "h_bucket", "to=\"a\",le=\"+Inf\"", "10");
	metric(&now, "h_bucket", "to=\"a\",le=\"1.0\"", "4");
	metric(&now, "h_bucket", "to=\"a\",le=\"3.0\"", "8");
	metric(&now, "h_bucket", "to=\"b\",le=\"1.0\"", "90");
	metric(&now, "h_bucket", "to=\"b\",le=\"3.0\"", "90");
	metric(&now, "h_bucket", "to=\"b\",le=\"+Inf\"", "90");
	metric(&now, "h_count", "to=\"a\"", "10");
	CHECK_INT(quantile_ms(&now.metrics, "h", "to=\"a\"", 0.2), 500);
	CHECK_INT(quantile_ms(&now.metrics, "h", "to=\"a\"", 0.6), 2000);
	CHECK_INT(quantile_ms(&now.metrics, "h", "to=\"a\"", 0.99), 3000);
	CHECK_INT(quantile_ms(&now.metrics, "h", "", 0.47), 500);
	clear(&now);
}

static void
queue_add(const char *age)
{
	struct writer w;

	wr_init(&w, 65536);
	ctl_row(&w, CTL_T_QUEUE, "alpha", "1", "1", "start", "rest", "0", "0",
	    "start due", "", age, NULL);
	CHECK_INT(reply_add(&now.queue, w.buf, w.len), 0);
	wr_clear(&w);
}

static void
samples_make(void)
{
	before.ok = now.ok = 1;
	before.at_ms = 1000;
	now.at_ms = 3000;
	add(&now.status, CTL_T_SUMMARY, "degraded", "5", "0",
	    "DEGRADED since 14:02: cc-backend does not work: a long reason "
	    "that needs more than one line of the terminal; 2 runs wait",
	    NULL);
	add(&now.status, CTL_T_PROBLEM, "cc-backend", "5", "submitter",
	    "cc-backend does not\033[2J work", NULL);
	add(&now.status, CTL_T_STATUS, "submitter", "state", "serving", NULL,
	    NULL);
	add(&now.status, CTL_T_STATUS, "submitter", "uptime", "3600", NULL,
	    NULL);
	add(&now.status, CTL_T_STATUS, "submitter", "last_answer", "201", NULL,
	    NULL);
	metric(&before, "cc_slurm_adapter_starts_total", "", "10");
	metric(&now, "cc_slurm_adapter_starts_total", "", "13");
	metric(&before, "cc_slurm_adapter_stops_total", "", "9");
	metric(&now, "cc_slurm_adapter_stops_total", "", "8");
	queue_add("59");
	queue_add("7200");
	add(&now.queue, CTL_T_ROWS, "2", "1000", NULL, NULL, NULL);
	add(&before.queue, CTL_T_ROWS, "1000", "102", NULL, NULL, NULL);
}

static int
shows(const char *text)
{
	int i;

	for (i = 0; i < v.n; i++)
		if (strstr(v.lines[i], text) != NULL)
			return 1;
	return 0;
}

static int
has(const char *text)
{
	if (shows(text))
		return 1;
	fprintf(stderr, "not on the screen: %s\n", text);
	return 0;
}

static void
test_screen(void)
{
	int i;

	samples_make();
	v.rows = 24;
	v.columns = 80;
	view_make(&v, &now, &before, 0);
	CHECK(v.n > 10 && v.n <= 24);
	for (i = 0; i < v.n; i++) {
		CHECK(strlen(v.lines[i]) <= 80);
		CHECK(strchr(v.lines[i], '\033') == NULL);
	}
	CHECK(has("DEGRADED since 14:02: cc-backend does not work: a long"));
	CHECK(has("; 2 runs wait"));
	CHECK(has("starts sent 1.5/s   stops sent -"));
	CHECK(has("Waiting   1,002   <1 min: 1   <10 min: 0   <1 h: 0   "
		  "<1 d: 1   older: 0"));
	CHECK(has("oldest 2 h (ages of the first 1,000)"));
	CHECK(has("nothing waits in about 20 s, at the present rate"));
	CHECK(has("start to cc-backend: -"));
	CHECK(has("submitter   serving for 1 h,"));
	CHECK(has("answer of cc-backend: 201"));
	CHECK(!shows("exporter"));
	reply_clear(&now.queue); /* the submitter is not ready */
	view_make(&v, &now, &before, 0);
	CHECK(has("Waiting   -"));
	add(&now.status, CTL_T_STATUS, "exporter", "state", "down", NULL, NULL);
	v.rows = 30;
	view_make(&v, &now, &before, 0);
	CHECK(has("exporter    down"));
	v.rows = 24;
	view_make(&v, &now, &before, 7);
	CHECK(has("The daemon does not answer for 7 s"));
	v.rows = 5;
	v.columns = 10;
	view_make(&v, &now, &before, 0);
	CHECK_INT(v.n, 5);
	for (i = 0; i < v.n; i++)
		CHECK(strlen(v.lines[i]) <= 10);
	clear(&now);
	clear(&before);
	v.rows = 24;
	view_make(&v, &now, &before, 1); /* no answer yet */
	CHECK_INT(v.n, 3);
}

static void
status(const char *process, const char *key, const char *value)
{
	add(&now.status, CTL_T_STATUS, process, key, value, NULL, NULL);
}

static void
screen_begin(void)
{
	clear(&now);
	clear(&before);
	before.ok = now.ok = 1;
	before.at_ms = 1000;
	now.at_ms = 3000;
	v.rows = 40;
	v.columns = 100;
	add(&now.status, CTL_T_SUMMARY, "ok", "0", "0", "OK", NULL);
	status("submitter", "state", "serving");
	status("submitter", "restarts", "0");
}

/* The centre has a receiver, and neither hooks nor Slurm. */
static void
test_centre(void)
{
	screen_begin();
	status("receiver", "state", "serving");
	status("receiver", "restarts", "2");
	status("receiver", "nats", "connected to n1:4222");
	status("receiver", "lease", "active since 12:00");
	status("submitter", "rejected", "0");
	status("submitter", "open", "1234");
	status("submitter", "delivered_starts", "9");
	status("submitter", "delivered_stops", "8");
	metric(&before, "cc_slurm_adapter_stream_messages_total",
	    "cluster=\"alpha\"", "10");
	metric(&now, "cc_slurm_adapter_stream_messages_total",
	    "cluster=\"alpha\"", "15");
	view_make(&v, &now, &before, 0);
	CHECK(has("Jobs      messages 2.5/s   starts sent"));
	CHECK(has("running 1,234   rejected 0   delivered 8 of 9"));
	CHECK(has("NATS      connected to n1:4222"));
	CHECK(has("lease: active since 12:00"));
	CHECK(has("Processes receiver    serving, 2 restarts"));
	CHECK(has("          submitter   serving, 0 restarts"));
	CHECK(!shows("unknown"));
	CHECK(!shows("slurmctld"));
	CHECK(!shows("slurmdbd"));
	CHECK(!shows("hooks"));
	clear(&now);
	clear(&before);
}

/* When the runs go to NATS only, the counters are those of NATS. */
static void
test_stream(void)
{
	screen_begin();
	status("collector", "state", "serving");
	status("collector", "slurmctld", "answers");
	status("submitter", "nats", "connected to n1:4222");
	status("submitter", "deliver", "stream, accepted");
	status("submitter", "published_starts", "20");
	status("submitter", "published_ends", "19");
	metric(&now, "cc_slurm_adapter_open_runs", "", "7");
	metric(&now, "cc_slurm_adapter_rejected_runs", "", "3");
	metric(&before, "cc_slurm_adapter_starts_total", "", "0");
	metric(&now, "cc_slurm_adapter_starts_total", "", "0");
	metric(&before, "cc_slurm_adapter_nats_starts_total", "", "10");
	metric(&now, "cc_slurm_adapter_nats_starts_total", "", "13");
	metric(&before, "cc_slurm_adapter_nats_stops_total", "", "10");
	metric(&now, "cc_slurm_adapter_nats_stops_total", "", "11");
	metric(&now, "cc_slurm_adapter_start_delivered_seconds_bucket",
	    "to=\"nats\",le=\"1.0\"", "4");
	metric(&now, "cc_slurm_adapter_start_delivered_seconds_bucket",
	    "to=\"nats\",le=\"+Inf\"", "4");
	view_make(&v, &now, &before, 0);
	CHECK(has("Jobs      hooks -   starts sent 1.5/s   stops sent 0.5/s"));
	CHECK(has("running 7   rejected 3   delivered 19 of 20"));
	CHECK(has("Latency   start to NATS: p50 500 ms"));
	CHECK(has("Slurm     slurmctld: answers"));
	CHECK(!shows("slurmdbd"));
	CHECK(has("NATS      connected to n1:4222"));
	CHECK(has("deliver: stream, accepted"));
	clear(&now);
	clear(&before);
}

int
main(void)
{
	test_quantiles();
	test_screen();
	test_centre();
	test_stream();
	return check_done();
}
