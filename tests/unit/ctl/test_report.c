/* SPDX-License-Identifier: MIT */
/* The parts of the page of `report`: escaped texts, plots, configuration. */
#include "config.h"

#include <fcntl.h>
#include <unistd.h>

#include "ctl/report.h"
#include "tests/unit/check.h"

#define NOW INT64_C(1763733605)

static char page[256 * 1024];

static FILE *
page_begin(void)
{
	memset(page, 0, sizeof(page));
	return fmemopen(page, sizeof(page) - 1, "w");
}

static void
test_escape(void)
{
	FILE *f = page_begin();

	html_put(f, "<script>alert('1' & \"2\")</script>\033[2J\xff");
	fclose(f);
	CHECK_STR(page,
	    "&lt;script&gt;alert(&#39;1&#39; &amp; &quot;2&quot;)"
	    "&lt;/script&gt;\\x1b[2J\xef\xbf\xbd");
}

static void
row_add(struct ctl_reply *a, const char *span, int64_t t, const char *counter,
    const char *value)
{
	struct writer w;
	char when[24];

	snprintf(when, sizeof(when), "%lld", (long long)t);
	wr_init(&w, 4096);
	ctl_row(&w, CTL_T_HISTORY, span, when, counter, value, NULL);
	CHECK_INT(reply_add(a, w.buf, w.len), 0);
	wr_clear(&w);
}

static unsigned
count(const char *what)
{
	const char *at = page;
	unsigned n = 0;

	while ((at = strstr(at, what)) != NULL) {
		at += strlen(what);
		n++;
	}
	return n;
}

/* A value that is no number or a time outside the plot changes nothing. */
static void
test_plots(void)
{
	struct ctl_reply a = { .n = 0 };
	FILE *f = page_begin();

	row_add(&a, "minute", NOW - 60, "jobs_in", "42");
	row_add(&a, "minute", NOW - 120, "hook_ms", "300");
	row_add(&a, "minute", NOW - 120, "hook_n", "3");
	row_add(&a, "minute", NOW - 180, "backend_away_s", "60");
	row_add(&a, "minute", NOW - 240, "restarts", "1");
	row_add(&a, "minute", NOW - 240, "slurmctld_away_s", "30");
	row_add(&a, "hour", NOW - 7200, "slurmdbd_away_s", "30");
	row_add(&a, "minute", NOW - 300, "slurmctld_ms", "600");
	row_add(&a, "minute", NOW - 300, "slurmctld_n", "20");
	row_add(&a, "minute", NOW - 300, "slurmctld_ms_max", "77");
	row_add(&a, "minute", NOW + 86400, "jobs_in", "999");
	row_add(&a, "minute", NOW - 10 * 86400, "jobs_in", "998");
	row_add(&a, "minute", NOW - 60, "stops", "<script>");
	row_add(&a, "hour", NOW - 3600, "jobs_in", "4200");
	report_plots(f, &a, NOW);
	fclose(f);
	reply_clear(&a);
	CHECK_INT(count("<svg"), 14);
	CHECK_INT(count("</svg>"), 14);
	CHECK_INT(count(": 0 to 42 runs"), 1);
	CHECK_INT(count(": 0 to 4200 runs"), 1);
	CHECK_INT(count(": 0 to 100 ms"), 1);
	CHECK_INT(count("Response time of slurmctld: 0 to 77 ms"), 1);
	CHECK_INT(count("class=\"away\""), 7);
	CHECK_INT(count("class=\"ctld\""), 7);
	CHECK_INT(count("class=\"dbd\""), 7);
	CHECK_INT(count("class=\"restart\""), 7);
	CHECK_INT(count("script"), 0);
	CHECK_INT(count("nan"), 0);
}

static void
test_config(void)
{
	static const char text[] =
	    "{\"ccRestUrl\": \"https://me:pass1@host/<b>\", \"natsServer\": "
	    "\"me:pass1@h1,nats://me:pass1@h2:4222, tls://me:pass1@h3\", "
	    "\"ccRestJwt\": "
	    "\"secret2\", \"CCRESTJWT\": \"secret3\", \"natsPasword\": "
	    "\"secret4\", \"natsPassword\": \"secret5\", \"clusters\": "
	    "[\"alpha\", \"beta\"], \"slurmPollInterval\": 5}";
	char path[] = "/tmp/test_report.XXXXXX";
	int fd = mkstemp(path);
	FILE *f = page_begin();

	CHECK_INT(write(fd, text, sizeof(text) - 1), sizeof(text) - 1);
	close(fd);
	report_config(f, 0, path);
	fclose(f);
	unlink(path);
	CHECK(strstr(page, "secret") == NULL);
	CHECK(strstr(page, "pass1") == NULL);
	CHECK(strstr(page, "<th>ccRestUrl</th><td>https://host/&lt;b&gt;") !=
	    NULL);
	CHECK(strstr(page, "h2:4222, tls://h3</td>") != NULL);
	CHECK(strstr(page, "<th>error</th>") == NULL);
	CHECK(strstr(page, "<th>clusters</th><td>alpha, beta</td>") != NULL);
	CHECK(strstr(page, "<th>slurmPollInterval</th><td>5</td>") != NULL);
	f = page_begin();
	report_config(f, 0, "/dev/null");
	fclose(f);
	CHECK(strstr(page, "Invalid argument") != NULL);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
	CHECK_INT(write(fd, text, 20), 20);
	close(fd);
	f = page_begin();
	report_config(f, 0, path);
	fclose(f);
	unlink(path);
	CHECK(strstr(page, "<th>error</th><td>a string does not end") != NULL);
	f = page_begin();
	report_config(f, 0, "/nonexistent/config.json");
	fclose(f);
	CHECK(strstr(page, "No such file") != NULL);
}

static void
test_config_anonymous(void)
{
	static const char text[] =
	    "{\"slurmUser\": \"labalice\", \"ctlUsers\": [\"labalice\", "
	    "\"labbob\"], \"PrepAllowedUids\": [\"labbob\"], \"tags\": "
	    "[{\"when\": {\"account\": \"labbob\"}}], "
	    "\"submitterUser\": \"labalice\", \"slurmPollInterval\": 5}";
	char path[] = "/tmp/test_report.XXXXXX";
	int fd = mkstemp(path);
	FILE *f = page_begin();

	CHECK_INT(write(fd, text, sizeof(text) - 1), sizeof(text) - 1);
	close(fd);
	report_config(f, 0, path);
	fclose(f);
	CHECK(strstr(page, "<th>slurmUser</th><td>labalice</td>") != NULL);
	CHECK_INT(count("lab"), 6);
	f = page_begin();
	report_config(f, 1, path);
	fclose(f);
	unlink(path);
	CHECK_INT(count("lab"), 0);
	CHECK_INT(count("(removed)"), 5);
	CHECK(strstr(page, "<th>ctlUsers</th><td>(removed)</td>") != NULL);
	CHECK(strstr(page, "<th>slurmPollInterval</th><td>5</td>") != NULL);
}

static void
status_add(struct ctl_reply *a, const char *process, const char *key,
    const char *value)
{
	struct writer w;

	wr_init(&w, 4096);
	ctl_row(&w, CTL_T_STATUS, process, key, value, NULL);
	CHECK_INT(reply_add(a, w.buf, w.len), 0);
	wr_clear(&w);
}

/* A server or a command of Slurm can name a user in its answer. */
static void
test_status(void)
{
	struct ctl_reply a = { .n = 0 };
	FILE *f = page_begin();

	status_add(&a, "supervisor", "state", "DEGRADED: /home/labalice");
	status_add(&a, "supervisor", "last_reload",
	    "2025-11-21T14:00:05+00:00: ctlUsers: no user labalice");
	status_add(&a, "submitter", "backend", "down for 3 min: 400 labalice");
	status_add(&a, "submitter", "last_answer", "400 labalice");
	status_add(&a, "submitter", "nats",
	    "no connection since 2025-11-21T14:00:05+00:00: labalice");
	status_add(&a, "submitter", "stream_refuses",
	    "cluster alpha since 2025-11-21T14:00:05+00:00: labalice");
	status_add(&a, "receiver", "questions", "1; last problem: labalice");
	status_add(&a, "receiver", "lease_problem", "labalice");
	status_add(&a, "runner", "user", "labalice");
	status_add(&a, "collector", "slurmctld",
	    "away since 2025-11-21T14:00:05+00:00: exit status 1: labalice");
	status_add(&a, "collector", "alpha.slurmdbd",
	    "away since 2025-11-21T14:00:05+00:00: labalice");
	status_add(&a, "collector", "beta.slurmdbd",
	    "last answer 2025-11-21T14:00:05+00:00");
	status_add(&a, "collector", "last_error", "squeue: labalice");
	report_table(f, 0, &a, CTL_T_STATUS);
	fclose(f);
	CHECK_INT(count("labalice"), 12);
	f = page_begin();
	report_table(f, 1, &a, CTL_T_STATUS);
	fclose(f);
	reply_clear(&a);
	CHECK_INT(count("labalice"), 0);
	CHECK_INT(count("(removed)"), 12);
	CHECK(strstr(page, "<td>down for 3 min: (removed)</td>") != NULL);
	CHECK(strstr(page,
		  "<td>away since 2025-11-21T14:00:05+00:00: (removed)</td>") !=
	    NULL);
	CHECK(strstr(page,
		  "<td>beta.slurmdbd</td>"
		  "<td>last answer 2025-11-21T14:00:05+00:00</td>") != NULL);
}

/* The text of a log line has names of users, and bytes from outside. */
static void
test_warnings(void)
{
	struct ctl_reply a = { .n = 0 };
	struct writer w;
	FILE *f = page_begin();

	wr_init(&w, 4096);
	ctl_row(&w, CTL_T_WARNING, "1763733605", "1763730000", "3", "submitter",
	    "warn", "<img src=x> of labalice", NULL);
	CHECK_INT(reply_add(&a, w.buf, w.len), 0);
	wr_clear(&w);
	report_table(f, 0, &a, CTL_T_WARNING);
	fclose(f);
	CHECK(strstr(page,
		  "<td>2025-11-21T14:00:05+00:00</td>"
		  "<td>2025-11-21T13:00:00+00:00</td><td>3</td>"
		  "<td>submitter</td><td>warn</td>"
		  "<td>&lt;img src=x&gt; of labalice</td>") != NULL);
	f = page_begin();
	report_table(f, 1, &a, CTL_T_WARNING);
	fclose(f);
	reply_clear(&a);
	CHECK(strstr(page, "labalice") == NULL);
	CHECK(strstr(page, "<td>warn</td><td>(removed)</td>") != NULL);
	CHECK(strstr(page, "The texts are removed") != NULL);
}

int
main(void)
{
	setenv("TZ", "UTC0", 1);
	test_escape();
	test_warnings();
	test_plots();
	test_config();
	test_config_anonymous();
	test_status();
	return check_done();
}
