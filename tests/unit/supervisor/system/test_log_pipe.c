/* SPDX-License-Identifier: MIT */
/*
 * Lines of a worker in the supervisor: the name is the supervisor's, each line
 * is bounded, a flood is counted and harms no other worker, and the last lines
 * of a process that has ended are logged.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>

#include "supervisor/system/log_output.h"
#include "supervisor/system/log_pipe.h"
#include "tests/unit/check.h"
#include "tests/unit/loop.h"
#include "tests/unit/supervisor/system/log_capture.h"

#define FLOOD_LINES 4000 /* more than the burst of log_pipe.c */
#define FLOOD_TEXT  "the same line again and again"

static struct event_base *base;

static struct log_pipe *
pipe_new(const char *sender, int *fd)
{
	struct log_pipe *lp = log_pipe_new(base, sender, fd);

	CHECK(lp != NULL);
	return lp;
}

static void
put(int fd, const char *text)
{
	CHECK_INT(write(fd, text, strlen(text)), (long long)strlen(text));
}

/* Handles what is ready now. */
static void
loop(void)
{
	event_base_loop(base, EVLOOP_NONBLOCK);
}

static unsigned
count(const char *text, const char *word)
{
	unsigned n = 0;

	for (; (text = strstr(text, word)) != NULL; text += strlen(word))
		n++;
	return n;
}

static void
test_names(void)
{
	int fd;
	struct log_pipe *lp = pipe_new("listener", &fd);

	capture_begin();
	put(fd, "<1,0,0,>no answer\n<4,0,0,>not at this level\n");
	put(fd, "ERROR [supervisor] forged\n<9,0,0,>no record\n");
	put(fd, "<1,0,0,>a\rFATAL [submitter] \033[2Jb\xff\n<1,0,0,>two ");
	loop();
	put(fd, "parts\n\n");
	loop();
	CHECK_STR(capture_end(),
	    "ERROR [listener] no answer\n"
	    "WARN  [listener] ERROR [supervisor] forged\n"
	    "WARN  [listener] <9,0,0,>no record\n"
	    "ERROR [listener] a\\x0dFATAL [submitter] \\x1b[2Jb\xef\xbf\xbd\n"
	    "ERROR [listener] two parts\n");
	close(fd);
	log_pipe_free(lp);
}

static void
test_last_lines(void)
{
	int fd;
	struct log_pipe *lp = pipe_new("submitter", &fd);

	put(fd, "<0,0,0,>out of memory\n*** stack smashing detected ***");
	close(fd);
	capture_begin();
	log_pipe_free(lp);
	CHECK_STR(capture_end(),
	    "FATAL [submitter] out of memory\n"
	    "WARN  [submitter] *** stack smashing detected ***\n");
}

static void
test_long_line(void)
{
	char text[9000];
	int fd;
	struct log_pipe *lp = pipe_new("collector", &fd);
	const char *got;

	memset(text, 'x', sizeof(text));
	memcpy(text + sizeof(text) - 2, "\n", 2);
	put(fd, text);
	put(fd, "<1,0,0,>next\n");
	capture_begin();
	loop();
	got = capture_end();
	CHECK(strlen(got) < LOG_LINE_MAX + 64);
	CHECK_STR(strchr(got, '.'), "...\nERROR [collector] next\n");
	close(fd);
	log_pipe_free(lp);
}

/* As much as the pipe takes.  Returns the lines that were written. */
static unsigned
flood(int fd)
{
	static const char line[] = "<2,0,0,>" FLOOD_TEXT "\n";
	unsigned n = 0;

	while (write(fd, line, sizeof(line) - 1) == sizeof(line) - 1)
		n++;
	CHECK_INT(errno, EAGAIN);
	return n;
}

static void
test_flood(void)
{
	static const char end[] = " log lines of the collector are suppressed";
	int fd, other_fd;
	struct log_pipe *lp = pipe_new("collector", &fd);
	struct log_pipe *other = pipe_new("listener", &other_fd);
	unsigned written = 0, logged, suppressed;
	const char *got, *report;

	capture_begin();
	while (written < FLOOD_LINES) {
		written += flood(fd);
		event_base_loop(base, EVLOOP_ONCE);
	}
	/* A full pipe is read 100 ms later; the other one is read at once. */
	put(other_fd, "<2,0,0,>a line of another\n");
	loop();
	log_pipe_free(lp);
	close(fd);
	got = capture_end();
	CHECK(strstr(got, "[listener] a line of another") != NULL);
	logged = count(got, FLOOD_TEXT);
	CHECK(logged > 1000 && logged < written);
	CHECK_INT(count(got, end), 1);
	report = strstr(got, end);
	while (report != NULL && report > got && report[-1] != ' ')
		report--;
	suppressed = report != NULL ? (unsigned)strtoul(report, NULL, 10) : 0;
	CHECK_INT(logged + suppressed, written);
	close(other_fd);
	log_pipe_free(other);
}

/* The last lines of a worker are logged after its flood, too. */
static void
test_reserve(void)
{
	int fd;
	struct log_pipe *lp = pipe_new("collector", &fd);
	unsigned written = 0;

	capture_begin();
	while (written < FLOOD_LINES) {
		written += flood(fd);
		event_base_loop(base, EVLOOP_ONCE);
	}
	while (write(fd, "<0,0,0,>the end\n", 16) != 16)
		event_base_loop(base, EVLOOP_ONCE);
	close(fd);
	log_pipe_free(lp);
	CHECK_INT(count(capture_end(), "FATAL [collector] the end\n"), 1);
}

/* Lines are there before the event loop runs; the end of the pipe is quiet. */
static void
test_read(void)
{
	int fd;
	struct log_pipe *lp = pipe_new("config", &fd);

	capture_begin();
	put(fd, "<2,0,0,>before\n");
	log_pipe_read(lp);
	CHECK_STR(capture_end(), "WARN  [config] before\n");
	capture_begin();
	put(fd, "<2,0,0,>after\n");
	close(fd);
	loop();
	loop();
	CHECK_STR(capture_end(), "WARN  [config] after\n");
	CHECK_INT(event_base_get_num_events(base, EVENT_BASE_COUNT_ADDED), 0);
	log_pipe_free(lp);
}

/* The reader of our log hangs: the worker's lines stay in its pipe. */
static void
test_reader_hangs(void)
{
	static char page[4096];
	int fd, out[2];
	struct log_pipe *lp = pipe_new("listener", &fd);
	struct pollfd p = { .events = POLLIN };
	char got[256] = "";

	CHECK_INT(pipe(out), 0);
	CHECK(fcntl(out[1], F_SETPIPE_SZ, (int)sizeof(page)) >= 0);
	CHECK_INT(write(out[1], page, sizeof(page)), sizeof(page));
	capture_into(out[1]);
	log_output_init();
	put(fd, "<2,0,0,>kept\n");
	loop();
	CHECK_INT(read(out[0], page, sizeof(page)), sizeof(page));
	p.fd = out[0];
	LOOP_UNTIL(base, poll(&p, 1, 0) == 1);
	CHECK(read(out[0], got, sizeof(got) - 1) > 0);
	capture_end();
	CHECK_STR(got, "WARN  [listener] kept\n");
	close(out[0]);
	close(fd);
	log_pipe_free(lp);
}

int
main(void)
{
	unsetenv("JOURNAL_STREAM");
	log_init("supervisor", LOG_LEVEL_WARN);
	log_output_init();
	base = event_base_new();
	CHECK(base != NULL);
	test_names();
	test_last_lines();
	test_long_line();
	test_read();
	test_flood();
	test_reserve();
	test_reader_hangs();
	event_base_free(base);
	return check_done();
}
