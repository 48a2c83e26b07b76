/* SPDX-License-Identifier: MIT */
/*
 * The supervisor's standard error: a reader that hangs does not delay the
 * supervisor, and journald gets fields by its native protocol.
 */
#include "config.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <fcntl.h>

#include "common/clock.h"
#include "supervisor/system/log_output.h"
#include "tests/unit/check.h"
#include "tests/unit/supervisor/system/log_capture.h"

#define LINES	3000  /* more than the pipe holds */
#define MOST_MS 30000 /* for all of them; less than 10 ms of waiting for each */

static char dir[] = "/tmp/test_log_output.XXXXXX";
static char path[64];

static void
test_full_pipe(void)
{
	static char got[1 << 20];
	long long begin = clock_ms();
	size_t len = 0;
	ssize_t n;
	int fds[2], i;

	CHECK_INT(pipe(fds), 0);
	capture_into(fds[1]);
	log_output_init();
	for (i = 0; i < LINES; i++)
		log_warnx("line %d of many that nobody reads", i);
	CHECK(clock_ms() - begin < MOST_MS);
	CHECK(!log_output_writable());
	CHECK_INT(fcntl(fds[1], F_GETFL) & O_NONBLOCK, 0); /* is shared */
	len = (size_t)read(fds[0], got, sizeof(got) - 1);
	CHECK(log_output_writable());
	log_warnx("the reader reads again");
	fcntl(fds[0], F_SETFL, O_NONBLOCK);
	while ((n = read(fds[0], got + len, sizeof(got) - 1 - len)) > 0)
		len += (size_t)n;
	got[len] = '\0';
	capture_end();
	close(fds[0]);
	for (i = 0, n = 0; (size_t)n < len; n++)
		i += got[n] == '\n';
	/* All lines that are in the pipe, the count, and the last line. */
	snprintf(path, sizeof(path), "] %d log lines are lost: the log could",
	    LINES - (i - 2));
	CHECK(strstr(got, path) != NULL);
	CHECK(strstr(got, "the reader reads again\n") != NULL);
}

/* Standard error and JOURNAL_STREAM as systemd sets them. */
static void
journal_stream(int fd)
{
	struct stat st;
	char value[64];

	CHECK_INT(fstat(fd, &st), 0);
	snprintf(value, sizeof(value), "%llu:%llu",
	    (unsigned long long)st.st_dev, (unsigned long long)st.st_ino);
	CHECK_INT(setenv("JOURNAL_STREAM", value, 1), 0);
}

static int
journal_socket(void)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);

	CHECK(mkdtemp(dir) != NULL);
	snprintf(path, sizeof(path), "%s/socket", dir);
	snprintf(to.sun_path, sizeof(to.sun_path), "%s", path);
	CHECK_INT(bind(fd, (struct sockaddr *)&to, sizeof(to)), 0);
	log_output_journal_path(path);
	return fd;
}

static const char *
received(int fd)
{
	static char buf[8192];
	ssize_t n = recv(fd, buf, sizeof(buf) - 1, MSG_DONTWAIT);

	buf[n > 0 ? n : 0] = '\0';
	return buf;
}

static void
test_fields(int journal, int stream)
{
	char want[512];
	struct log_line line = { .sender = "submitter",
		.kind = LOG_ERROR,
		.id = LOG_ID_RUN_REJECTED,
		.cluster = "alpha",
		.job = 4711,
		.text = "job 4711: refused" };

	/* Before the service is up: a line with a priority in the stream. */
	log_warnx("early");
	CHECK_STR(received(stream), "<4>supervisor: early\n");
	CHECK_STR(received(journal), "");
	log_output_fields();
	log_output_write(&line);
	snprintf(want, sizeof(want),
	    "PRIORITY=3\nSYSLOG_IDENTIFIER=cc-slurm-adapter\n"
	    "CC_WORKER=submitter\nMESSAGE_ID=%s\nCC_CLUSTER=alpha\n"
	    "CC_JOB=4711\nMESSAGE=submitter: job 4711: refused\n",
	    log_id_uuid(LOG_ID_RUN_REJECTED));
	CHECK_STR(received(journal), want);
	log_notice("of a\nnewline");
	CHECK_STR(received(journal),
	    "PRIORITY=5\nSYSLOG_IDENTIFIER=cc-slurm-adapter\n"
	    "CC_WORKER=supervisor\nMESSAGE=supervisor: of a\\nnewline\n");
	CHECK_STR(received(stream), "");
	/* The fields are of one line only. */
	log_about(LOG_ID_SERVING, NULL, 0);
	log_debug("not at this level");
	log_warnx("next");
	CHECK(strstr(received(journal), "MESSAGE_ID") == NULL);
	/* journald is away: the stream. */
	unlink(path);
	log_warnx("still there");
	CHECK_STR(received(stream), "<4>supervisor: still there\n");
}

static void
test_journal(void)
{
	int fds[2], journal = journal_socket();

	CHECK_INT(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	capture_into(fds[1]);
	journal_stream(STDERR_FILENO);
	log_output_init();
	test_fields(journal, fds[0]);
	capture_end();
	close(fds[0]);
	close(journal);
	rmdir(dir);
}

/* JOURNAL_STREAM of another descriptor: standard error is no journal. */
static void
test_redirected(void)
{
	capture_begin();
	CHECK_INT(setenv("JOURNAL_STREAM", "1:1", 1), 0);
	log_output_init();
	log_output_fields();
	log_warnx("to a file");
	CHECK_STR(capture_end(), "WARN  [supervisor] to a file\n");
}

int
main(void)
{
	unsetenv("JOURNAL_STREAM");
	log_init("supervisor", LOG_LEVEL_WARN);
	log_output_init();
	test_full_pipe();
	test_redirected();
	test_journal();
	return check_done();
}
