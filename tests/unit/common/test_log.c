/* SPDX-License-Identifier: MIT */
/* Log lines, read back from standard error. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/log_line.h"
#include "tests/unit/check.h"

static char got[8192];
static int out, saved;

/* Standard error goes into a file until log_end(). */
static void
log_begin(void)
{
	char name[] = "/tmp/test_log.XXXXXX";

	out = mkstemp(name);
	unlink(name);
	saved = dup(STDERR_FILENO);
	dup2(out, STDERR_FILENO);
}

static const char *
log_end(void)
{
	ssize_t n = pread(out, got, sizeof(got) - 1, 0);

	got[n > 0 ? n : 0] = '\0';
	dup2(saved, STDERR_FILENO);
	close(saved);
	close(out);
	return got;
}

static void
test_limit(void)
{
	struct log_limit limit = { 0, 0 };

	log_begin();
	CHECK_INT(log_limited(&limit, log_warnx, "job %d", 1), 1);
	CHECK_INT(log_limited(&limit, log_warnx, "job %d", 2), 0);
	CHECK_INT(log_limited(&limit, log_warnx, "job %d", 3), 0);
	/* A minute passes. */
	limit.last -= 60;
	errno = ENOENT;
	CHECK_INT(log_limited(&limit, log_warn, "job %d", 4), 1);
	CHECK_INT(errno, ENOENT);
	limit.last -= 60;
	CHECK_INT(log_limited(&limit, log_notice, "100%% of %s", "%s"), 1);
	CHECK_STR(log_end(),
	    "WARN  [test] job 1\n"
	    "WARN  [test] job 4 (2 more suppressed): "
	    "No such file or directory\n"
	    "NOTE  [test] 100% of %s\n");
}

/* A line that is too long is cut, the number is kept. */
static void
test_long(void)
{
	struct log_limit limit = { 0, 0 };
	char text[4000];
	size_t n;

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	log_begin();
	log_limited(&limit, log_warnx, "%s", text);
	log_limited(&limit, log_warnx, "%s", text);
	limit.last -= 60;
	log_end();
	n = strlen(got);
	CHECK(n > 2000 && n < 2200);
	CHECK_STR(got + n - 4, "...\n");
	log_begin();
	log_limited(&limit, log_warnx, "%s", text);
	log_end();
	n = strlen(got);
	CHECK(n > 2000 && n < 2200);
	CHECK_STR(got + n - 24, "... (1 more suppressed)\n");
}

/* A worker's lines as records, read as the supervisor reads them. */
static void
test_records(void)
{
	char cluster[LOG_CLUSTER_MAX];
	struct log_line line = { .sender = "x" };

	log_begin();
	log_sink_set(log_record_send);
	log_about(LOG_ID_RUN_REJECTED, "alpha", 4711);
	log_warnx("refused:\n<0,0,0,>forged");
	log_about(LOG_ID_NONE, "a>b", 1);
	log_notice("bad name");
	log_info("not at this level");
	log_sink_set(log_line_send);
	log_end();
	CHECK(strstr(got, "\n<3,0,1,>bad name\n") != NULL);
	*strchr(got, '\n') = '\0';
	CHECK_INT(log_record_read(got, cluster, &line), 0);
	CHECK_INT(line.kind, LOG_WARN);
	CHECK_INT(line.id, LOG_ID_RUN_REJECTED);
	CHECK_INT(line.job, 4711);
	CHECK_STR(line.cluster, "alpha");
	CHECK_STR(line.text, "refused:\\n<0,0,0,>forged");
	CHECK_STR(line.sender, "x");
}

static void
test_bad_records(void)
{
	static const char *const bad[] = { "", "<", "<1", "<1,0,0", "<1,0,0,",
		"<7,0,0,>t", "<-1,0,0,>t", "<1, 0,0,>t", "<1,999,0,>t",
		"<1,0,0,a b>t", "<1,0,0,a\x1b>t", "text" };
	char cluster[LOG_CLUSTER_MAX];
	struct log_line line;
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CHECK_INT(log_record_read(bad[i], cluster, &line), -1);
}

/* The pipe is full: nothing waits, and the lost lines are counted. */
static void
test_record_lost(void)
{
	char page[4096] = "", text[128] = "";
	int fds[2], i;

	CHECK_INT(pipe2(fds, O_NONBLOCK), 0);
	saved = dup(STDERR_FILENO);
	dup2(fds[1], STDERR_FILENO);
	log_sink_set(log_record_send);
	while (write(fds[1], page, sizeof(page)) > 0)
		continue;
	for (i = 0; i < 3; i++)
		log_warnx("lost %d", i);
	while (read(fds[0], page, sizeof(page)) > 0)
		continue;
	log_warnx("kept");
	dup2(saved, STDERR_FILENO);
	log_sink_set(log_line_send);
	CHECK(read(fds[0], text, sizeof(text) - 1) > 0);
	CHECK_STR(text,
	    "<2,0,0,>3 log lines are lost: the pipe to the supervisor was "
	    "full\n<2,0,0,>kept\n");
	close(fds[0]);
	close(fds[1]);
	close(saved);
}

int
main(void)
{
	log_init("test", LOG_LEVEL_WARN);
	test_limit();
	test_long();
	test_records();
	test_bad_records();
	test_record_lost();
	return check_done();
}
