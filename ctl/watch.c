/* SPDX-License-Identifier: MIT */
/*
 * watch: asks the daemon every two seconds and draws one screen with ANSI
 * sequences.  Without a terminal the screen is printed once.  A daemon that
 * does not answer, for example during a restart, is asked again.
 */
#include "config.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/text/text.h"
#include "ctl/watch.h"

#define INTERVAL_MS 2000
#define ENTER	    "\033[?1049h\033[?25l" /* alternate screen, no cursor */
#define LEAVE	    "\033[?25h\033[?1049l"
#define HOME	    "\033[H"
#define CLEAR_LINE  "\033[K"
#define CLEAR_BELOW "\033[J"

static volatile sig_atomic_t resized;
static struct termios before_watch;

static void
on_resize(int sig)
{
	resized = 1;
}

/*
 * Ends the tool at once, also while the daemon does not reply.  Calls only
 * functions that a signal handler may call.
 */
static void
on_end(int sig)
{
	tcsetattr(STDIN_FILENO, TCSANOW, &before_watch);
	_exit(write(STDOUT_FILENO, LEAVE, sizeof(LEAVE) - 1) == -1 ?
		EXIT_REFUSED :
		EXIT_DONE);
}

static void
signals_catch(void)
{
	static const int ends[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction sa = { .sa_handler = on_resize };
	size_t i;

	sigaction(SIGWINCH, &sa, NULL);
	sa.sa_handler = on_end;
	for (i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		sigaction(ends[i], &sa, NULL);
}

static int
ask(const struct ctl_args *args, unsigned verb, struct ctl_reply *reply,
    struct sample *s)
{
	struct ctl_request req = args->req;

	req.verb = (uint16_t)verb;
	req.limit = verb == CTL_QUEUE ? WATCH_QUEUE_ROWS : 0;
	if (request_send(args->socket, &req, reply, s->reason,
		sizeof(s->reason)) == -1)
		return -1;
	if (reply->status == CTL_OK)
		return 0;
	snprintf(s->reason, sizeof(s->reason), "%s", reply->text);
	/* The status has rows also when processes do not answer. */
	return reply->status == CTL_DENIED ||
		(verb == CTL_STATUS && reply->n == 0) ?
	    -1 :
	    0;
}

static void
sample_clear(struct sample *s)
{
	reply_clear(&s->status);
	reply_clear(&s->metrics);
	reply_clear(&s->queue);
	memset(s, 0, sizeof(*s));
}

/* Fills *s.  0, or -1 with the reason in s->reason. */
static int
sample_take(const struct ctl_args *args, struct sample *s)
{
	memset(s, 0, sizeof(*s));
	s->now = time(NULL);
	s->ok = ask(args, CTL_STATUS, &s->status, s) == 0 &&
	    ask(args, CTL_METRICS, &s->metrics, s) == 0 &&
	    ask(args, CTL_QUEUE, &s->queue, s) == 0;
	s->at_ms = clock_ms();
	return s->ok ? 0 : -1;
}

/*
 * A line is cleared before its text: after the last column, the cursor of some
 * terminals is still on it.
 */
static void
screen_draw(const struct view *v)
{
	int i;

	printf(HOME);
	for (i = 0; i < v->n; i++)
		printf(CLEAR_LINE "%s%s", v->lines[i],
		    i + 1 < v->n ? "\n" : "");
	printf(CLEAR_BELOW);
	fflush(stdout);
}

/* Waits until the time; 1 when the admin wants to quit. */
static int
keys_wait(long long until)
{
	struct pollfd in = { .fd = STDIN_FILENO, .events = POLLIN };
	char key;

	while (!resized && clock_left(until) > 0) {
		if (poll(&in, 1, clock_left(until)) <= 0)
			continue;
		if (read(STDIN_FILENO, &key, 1) != 1 || key == 'q' ||
		    key == 'Q' || key == 3)
			return 1;
	}
	return 0;
}

static int
terminal_begin(void)
{
	struct termios raw;

	if (tcgetattr(STDIN_FILENO, &before_watch) == -1)
		return -1;
	raw = before_watch;
	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	raw.c_cc[VMIN] = 1;
	raw.c_cc[VTIME] = 0;
	signals_catch();
	if (tcsetattr(STDIN_FILENO, TCSANOW, &raw) == -1)
		return -1;
	printf(ENTER);
	return 0;
}

static void
terminal_end(void)
{
	printf(LEAVE);
	fflush(stdout);
	tcsetattr(STDIN_FILENO, TCSANOW, &before_watch);
}

/* The samples of the screen. */
static struct {
	struct sample shown;
	struct sample before; /* the one before it, for the rates */
	long long answered;   /* clock_ms() of the last answer */
	int away;	      /* the daemon does not answer */
} live;

/* A sample that failed leaves the values on the screen. */
static void
live_update(const struct ctl_args *args)
{
	struct sample next;

	live.away = sample_take(args, &next) == -1;
	if (!live.away) {
		sample_clear(&live.before);
		live.before = live.shown;
		live.shown = next;
		live.answered = next.at_ms;
		return;
	}
	live.shown.now = next.now;
	memcpy(live.shown.reason, next.reason, sizeof(live.shown.reason));
	sample_clear(&next);
}

static void
live_draw(void)
{
	static struct view v;
	int64_t away = (clock_ms() - live.answered) / 1000 + 1;

	v.columns = terminal_size(STDOUT_FILENO, &v.rows);
	view_make(&v, &live.shown, &live.before, live.away ? away : 0);
	screen_draw(&v);
}

static int
watch_live(const struct ctl_args *args)
{
	long long next = 0;

	if (terminal_begin() == -1)
		return -1;
	live.answered = clock_ms();
	for (;;) {
		if (clock_left(next) == 0) {
			live_update(args);
			next = clock_ms() + INTERVAL_MS;
		}
		resized = 0;
		live_draw();
		if (keys_wait(next))
			break;
	}
	terminal_end();
	sample_clear(&live.shown);
	sample_clear(&live.before);
	return 0;
}

static int
watch_once(const struct ctl_args *args)
{
	static struct sample now, none;
	static struct view v = { .rows = VIEW_ROWS_MAX,
		.columns = VIEW_COLUMNS_MAX };
	char buf[sizeof(now.reason)];
	int i;

	if (sample_take(args, &now) == -1) {
		fprintf(stderr, "cc-slurm-adapterctl: %s\n",
		    text_vis(now.reason, buf, sizeof(buf)));
		i = now.status.status == CTL_DENIED ? EXIT_REFUSED :
						      EXIT_UNREACHABLE;
		sample_clear(&now);
		return i;
	}
	view_make(&v, &now, &none, 0);
	for (i = 0; i < v.n; i++)
		printf("%s\n", v.lines[i]);
	i = now.status.status != CTL_OK || reply_is_degraded(&now.status);
	sample_clear(&now);
	if (output_failed()) {
		fprintf(stderr,
		    "cc-slurm-adapterctl: cannot write to standard output\n");
		return EXIT_REFUSED;
	}
	return i ? EXIT_REFUSED : EXIT_DONE;
}

int
watch_run(const struct ctl_args *args)
{
	if (isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) &&
	    watch_live(args) == 0)
		return EXIT_DONE;
	return watch_once(args);
}
