/* SPDX-License-Identifier: MIT */
/* The daemon's rows as text, JSON and metrics. */
#include "config.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "ctl/ctl.h"
#include "tests/unit/check.h"

static struct style plain;
static int verbose = 1;

#define EXPLAIN_AS_TEXT (CTL__COUNT + 1)

/* What print writes to standard output, into buf. */
static void
printed(const struct ctl_reply *a, unsigned verb, char *buf, size_t size)
{
	char path[] = "/tmp/test_print.XXXXXX";
	int fd = mkstemp(path), old = dup(STDOUT_FILENO);
	ssize_t n;

	fflush(stdout);
	dup2(fd, STDOUT_FILENO);
	if (verb == CTL__COUNT)
		print_text(a, &plain, verbose);
	else if (verb == EXPLAIN_AS_TEXT)
		print_explain(a);
	else
		print_json(a, verb);
	fflush(stdout);
	dup2(old, STDOUT_FILENO);
	n = pread(fd, buf, size - 1, 0);
	buf[n > 0 ? n : 0] = '\0';
	close(fd);
	close(old);
	unlink(path);
}

static void
add(struct ctl_reply *a, const struct writer *w)
{
	CHECK_INT(reply_add(a, w->buf, w->len), 0);
}

static void
test_rows(void)
{
	struct ctl_reply a = { .n = 0 };
	struct writer w;
	char out[4096];
	size_t cut;

	wr_init(&w, 65536);
	ctl_row(&w, CTL_T_STATUS, "collector", "cursor", "17", NULL);
	for (cut = 0; cut < w.len; cut++)
		CHECK_INT(reply_add(&a, w.buf, cut), -1);
	add(&a, &w);
	wr_reset(&w);
	ctl_row(&w, CTL_T_STATUS, "submitter", "backend",
	    "down: \"\x1b[2J\xff\n", NULL);
	add(&a, &w);
	wr_reset(&w);
	ctl_row(&w, CTL_T_STATUS, "collector", "cursor", "018", NULL);
	add(&a, &w);
	wr_reset(&w);
	ctl_row(&w, CTL_T_QUEUE, "alpha", "5", "1", "start", "rest", "0", "",
	    "due", "x", NULL);
	add(&a, &w);
	wr_clear(&w);
	printed(&a, CTL_STATUS, out, sizeof(out));
	CHECK_STR(out,
	    "{\"version\":1,\"result\":\"ok\",\"text\":\"\",\"status\":"
	    "{\"collector\":{\"cursor\":[17,\"018\"]},\"submitter\":"
	    "{\"backend\":\"down: \\\"\\u001b[2J\\ufffd\\u000a\"}},\"queue\":"
	    "[{\"cluster\":\"alpha\",\"job\":5,\"start\":1,\"what\":\"start\","
	    "\"to\":\"rest\",\"tries\":0,\"due\":null,\"state\":\"due\","
	    "\"reason\":\"x\"}],\"problems\":[]}\n");
	printed(&a, CTL__COUNT, out, sizeof(out));
	CHECK(strstr(out, "collector\n  cursor   17\n") == out);
	CHECK(strchr(out, '\x1b') == NULL);
	CHECK(strstr(out, "\n5   ") != NULL);
	reply_clear(&a);
	printed(&a, CTL_QUEUE, out, sizeof(out));
	CHECK_STR(out,
	    "{\"version\":1,\"result\":\"ok\",\"text\":\"\",\"queue\":[]}\n");
}

static void
metric_add(struct ctl_reply *a, const char *name, const char *type,
    const char *help, const char *labels, const char *value)
{
	struct writer w;

	wr_init(&w, 65536);
	ctl_row(&w, CTL_T_METRIC, name, type, help, labels, value, NULL);
	add(a, &w);
	wr_clear(&w);
}

/* A counter has one family, whether its sender names it with _total or not. */
static void
test_family(void)
{
	struct ctl_reply a = { .n = 0 };
	char out[1024];

	metric_add(&a, "x", "counter", "Help.", "", "1");
	metric_add(&a, "x_total", "counter", "Help.", "worker=\"b\"", "2");
	printed(&a, CTL__COUNT, out, sizeof(out));
	CHECK_STR(out,
	    "# TYPE x counter\n# HELP x Help.\n"
	    "x_total 1\nx_total{worker=\"b\"} 2\n# EOF\n");
	reply_clear(&a);
}

static void
test_metrics(void)
{
	struct ctl_reply a = { .n = 0 };
	char out[1024];

	metric_add(&a, "x", "counter", "Help\\.", "worker=\"a\"", "1");
	metric_add(&a, "y", "gauge", "Why.", "", "0.5");
	metric_add(&a, "x", "counter", "Help\\.", "worker=\"b\"", "2");
	/* One row of a compromised worker would make the whole text invalid. */
	metric_add(&a, "x y", "gauge", "Help.", "", "1");
	metric_add(&a, "z", "gauge", "a\n# EOF", "", "1");
	metric_add(&a, "z", "gauge", "Help.", "a=\"1", "1");
	printed(&a, CTL__COUNT, out, sizeof(out));
	CHECK_STR(out,
	    "# TYPE x counter\n# HELP x Help\\\\.\n"
	    "x_total{worker=\"a\"} 1\nx_total{worker=\"b\"} 2\n"
	    "# TYPE y gauge\n# HELP y Why.\ny 0.5\n# EOF\n");
	reply_clear(&a);
}

/* One head for each run, control characters escaped, no time = now. */
static void
test_explain(void)
{
	static const char *const rows[][6] = {
		{ "alpha", "7", "1763733605", "1763733605.120", "stored", "a" },
		{ "alpha", "7", "1763733605", "", "now", "evil\033[2J" },
		{ "alpha", "7", "1763733605", "1763733606.\033[c", "x", "" },
		{ "alpha", "7", "1763733700", "1763733701.5", "ended", "b" },
		{ "", "8", "", "", "reason", "c" },
	};
	struct ctl_reply a = { .n = 0 };
	struct writer w;
	char out[2048];
	size_t i;

	setenv("TZ", "UTC", 1);
	wr_init(&w, 65536);
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		wr_reset(&w);
		ctl_row(&w, CTL_T_EXPLAIN, rows[i][0], rows[i][1], rows[i][2],
		    rows[i][3], rows[i][4], rows[i][5], NULL);
		add(&a, &w);
	}
	wr_clear(&w);
	printed(&a, EXPLAIN_AS_TEXT, out, sizeof(out));
	CHECK_STR(out,
	    "job 7 (alpha), run started 2025-11-21T14:00:05+00:00\n"
	    "  2025-11-21T14:00:05.120+00:00  stored           a\n"
	    "  now                            now              "
	    "evil\\x1b[2J\n"
	    "  2025-11-21T14:00:06.000+00:00  x                \n"
	    "job 7 (alpha), run started 2025-11-21T14:01:40+00:00\n"
	    "  2025-11-21T14:01:41.000+00:00  ended            b\n"
	    "job 8\n"
	    "  now                            reason           c\n");
	printed(&a, CTL_EXPLAIN, out, sizeof(out));
	CHECK(strstr(out,
		  "\"explain\":[{\"cluster\":\"alpha\",\"job\":7,\"start\":"
		  "1763733605,\"time\":1763733605.120,\"event\":\"stored\","
		  "\"text\":\"a\"},") != NULL);
	CHECK(strstr(out, "\"start\":null,\"time\":null") != NULL);
	reply_clear(&a);
}

static void
row_add(struct ctl_reply *a, unsigned table, const char *f0, const char *f1,
    const char *f2, const char *f3)
{
	struct writer w;

	wr_init(&w, 65536);
	ctl_row(&w, table, f0, f1, f2, f3, NULL);
	add(a, &w);
	wr_clear(&w);
}

/* What an admin sees first: the sentence, the problems, then groups. */
static void
test_status(void)
{
	struct ctl_reply a = { .n = 0 };
	char out[4096];

	row_add(&a, CTL_T_SUMMARY, "degraded", "5", "0", "DEGRADED since");
	row_add(&a, CTL_T_PROBLEM, "NATS", "1", "submitter", "no\nbroker");
	row_add(&a, CTL_T_STATUS, "supervisor", "uptime", "93600", NULL);
	row_add(&a, CTL_T_STATUS, "listener", "state", "starting", NULL);
	row_add(&a, CTL_T_STATUS, "listener", "restarts", "2", NULL);
	row_add(&a, CTL_T_STATUS, "listener", "events_received", "1234567",
	    NULL);
	row_add(&a, CTL_T_STATUS, "listener", "events_dropped", "0", NULL);
	row_add(&a, CTL_T_STATUS, "collector", "beta.right", "operator", NULL);
	row_add(&a, CTL_T_STATUS, "collector", "xright", "hidden", NULL);
	row_add(&a, CTL_T_STATUS, "collector", "slurmctld",
	    "last answer 2100-01-01T00:00:00+00:00", NULL);
	row_add(&a, CTL_T_STATUS, "submitter", "spool_bytes", "1536", NULL);
	CHECK(reply_is_degraded(&a));
	verbose = 0;
	printed(&a, CTL__COUNT, out, sizeof(out));
	verbose = 1;
	CHECK(strstr(out, "DEGRADED since\n\nProblems\n  for ") == out);
	CHECK(strstr(out, "  no\\nbroker\n\nProcesses\n") != NULL);
	CHECK(strstr(out, "  supervisor             serving   for 1 d 2 h\n") !=
	    NULL);
	CHECK(strstr(out, "  starting  for 0 s, 2 restarts\n") != NULL);
	CHECK(strstr(out, "\nHooks\n  received               1,234,567\n") !=
	    NULL);
	CHECK(strstr(out, "dropped") == NULL);
	CHECK(strstr(out, "  right of beta          operator\n") != NULL);
	CHECK(strstr(out, "hidden") == NULL);
	CHECK(strstr(out, "  slurmctld              last answer in ") != NULL);
	CHECK(strstr(out, "  in use                 1.5 KiB\n") != NULL);
	printed(&a, CTL_STATUS, out, sizeof(out));
	CHECK(strstr(out,
		  "\"summary\":{\"state\":\"degraded\",\"since\":5,"
		  "\"not_listed\":0,\"sentence\":\"DEGRADED since\"}") != NULL);
	reply_clear(&a);
	row_add(&a, CTL_T_SUMMARY, "ok", "0", "0", "OK: ");
	CHECK(!reply_is_degraded(&a));
	printed(&a, CTL_STATUS, out, sizeof(out));
	CHECK(strstr(out, "\"problems\":[]") != NULL);
	reply_clear(&a);
	/* A number of bytes that is none comes from a compromised submitter. */
	row_add(&a, CTL_T_STATUS, "submitter", "spool_bytes", "\033]0;x\a",
	    NULL);
	verbose = 0;
	printed(&a, CTL__COUNT, out, sizeof(out));
	verbose = 1;
	CHECK(strstr(out, "x07") != NULL && strchr(out, '\033') == NULL);
	reply_clear(&a);
}

static void
queue_add(struct ctl_reply *a, const char *cluster, const char *to,
    const char *reason, const char *age)
{
	struct writer w;

	wr_init(&w, 65536);
	ctl_row(&w, CTL_T_QUEUE, cluster, "4711", "1763820000", "stop", to,
	    "12", "75", "ended, waits for commit", reason, age, NULL);
	add(a, &w);
	wr_clear(&w);
}

/* No try follows for a rejected run. */
static void
test_next(void)
{
	static const struct {
		const char *state, *next;
	} rows[] = { { "start due", "  now   start due" },
		{ "start rejected", "  -     start rejected" },
		{ "unknown to Slurm", "  -     unknown to Slurm" },
		{ "waits for an earlier run", "  -     waits for an" },
		{ "ended, waits for commit", "  -     ended, waits" } };
	struct ctl_reply a = { .n = 0 };
	struct writer w;
	char out[4096];
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		wr_init(&w, 65536);
		ctl_row(&w, CTL_T_QUEUE, "alpha", "4711", "1763820000", "start",
		    "rest", "1", "0", rows[i].state, "x", "60", NULL);
		add(&a, &w);
		wr_clear(&w);
		printed(&a, CTL__COUNT, out, sizeof(out));
		CHECK(strstr(out, rows[i].next) != NULL);
		reply_clear(&a);
	}
}

static void
test_queue(void)
{
	static const char why[] = "500: the database of cc-backend is locked";
	struct ctl_reply a = { .n = 0 };
	char out[4096];

	queue_add(&a, "alpha", "rest", why, "93600");
	printed(&a, CTL__COUNT, out, sizeof(out));
	CHECK_STR(out,
	    "JOB   START                      AGE  WHAT  TRIES  NEXT   STATE"
	    "                    REASON\n"
	    "4711  2025-11-22T14:00:00+00:00  1 d  stop  12     1 min  ended, "
	    "waits for commit  500: the database of cc-backend is locked\n");
	plain.width = 80;
	printed(&a, CTL__COUNT, out, sizeof(out));
	plain.width = 0;
	CHECK_STR(out,
	    "JOB   AGE  WHAT  TRIES  NEXT   STATE                    REASON\n"
	    "4711  1 d  stop  12     1 min  ended, waits for commit  500: the "
	    "database of cc~\n");
	queue_add(&a, "beta", "nats", "", "9223372036854775807");
	printed(&a, CTL__COUNT, out, sizeof(out));
	CHECK(strstr(out, "JOB   CLUSTER  START ") == out);
	CHECK(strstr(out, "WHAT  TO    TRIES") != NULL);
	CHECK(strstr(out, "beta ") != NULL);
	CHECK(strstr(out, " 2932896 d ") != NULL); /* to the year 9999 */
	reply_clear(&a);
}

/* The clusters at the centre of a fan-in. */
static void
test_streams(void)
{
	struct ctl_reply a = { .n = 0 };
	struct writer w;
	char out[4096];

	wr_init(&w, 65536);
	ctl_row(&w, CTL_T_STREAM, "alpha", "reads", "0", "0", "0", "0", "0",
	    NULL);
	add(&a, &w);
	wr_reset(&w);
	ctl_row(&w, CTL_T_STREAM, "be\nta", "reads", "1", "90", "1234", "2",
	    "3", NULL);
	add(&a, &w);
	wr_reset(&w);
	ctl_row(&w, CTL_T_STREAM, "short", "row", NULL);
	add(&a, &w);
	wr_clear(&w);
	row_add(&a, CTL_T_STATUS, "receiver", "state", "serving", NULL);
	verbose = 0;
	printed(&a, CTL__COUNT, out, sizeof(out));
	CHECK(strstr(out,
		  "\nClusters\n  alpha                  reads, no message "
		  "yet\n  be\\nta") != NULL);
	CHECK(strstr(out,
		  " ago, 1,234 wait, 1 min 30 s behind, 2 of a newer version, "
		  "3 expired\n") != NULL);
	CHECK(strstr(out, "short") == NULL);
	verbose = 1;
	printed(&a, CTL_STATUS, out, sizeof(out));
	CHECK(strstr(out,
		  "\"streams\":[{\"cluster\":\"alpha\",\"state\":\"reads\","
		  "\"last\":0,\"lag\":0,\"waiting\":0,\"held\":0,"
		  "\"expired\":0},") != NULL);
	reply_clear(&a);
}

int
main(void)
{
	setenv("TZ", "UTC", 1);
	test_rows();
	test_explain();
	test_status();
	test_streams();
	test_queue();
	test_next();
	test_metrics();
	test_family();
	return check_done();
}
