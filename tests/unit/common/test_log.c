/* SPDX-License-Identifier: MIT */
/* Log lines, read back from standard error. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"
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

int
main(void)
{
	unsetenv("JOURNAL_STREAM");
	log_init("test", LOG_LEVEL_WARN);
	test_limit();
	test_long();
	return check_done();
}
