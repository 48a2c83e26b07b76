/* SPDX-License-Identifier: MIT */
/*
 * How far a long command is: one line on standard error that is written again,
 * at most once a second, and only on a terminal.  A command that ends within
 * two seconds has no such line.
 */
#include "config.h"

#include <stdio.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/text/time_text.h"
#include "ctl/ctl.h"

#define QUIET_MS 2000
#define EVERY_MS 1000
#define CLEAR	 "\r\033[K"

static struct {
	const char *what;   /* NULL: no command under way */
	long long began_ms; /* clock_ms() */
	long long shown_ms; /* 0 = never */
} state;

void
progress_begin(const char *what)
{
	state.what = isatty(STDERR_FILENO) ? what : NULL;
	state.began_ms = clock_ms();
	state.shown_ms = 0;
}

/* 1 when the line may be written now. */
static int
is_due(void)
{
	long long now = clock_ms();

	if (state.what == NULL || now - state.began_ms < QUIET_MS ||
	    (state.shown_ms != 0 && now - state.shown_ms < EVERY_MS))
		return 0;
	state.shown_ms = now;
	return 1;
}

void
progress_show(uint64_t done, uint64_t total, const char *unit)
{
	long long ms = clock_ms() - state.began_ms;

	if (!is_due())
		return;
	if (total == 0 || done == 0 || done > total)
		fprintf(stderr, CLEAR "%s: %s %s, %s", state.what,
		    count_text(done), unit, duration_text(ms));
	else
		fprintf(stderr, CLEAR "%s: %s of %s %s, %d %%, about %s left",
		    state.what, count_text(done), count_text(total), unit,
		    (int)((double)done * 100 / (double)total),
		    duration_text((int64_t)((double)ms *
			(double)(total - done) / (double)done)));
	fflush(stderr);
}

void
progress_wait(unsigned most)
{
	if (!is_due())
		return;
	fprintf(stderr, CLEAR "%s: waits for the daemon for %s, at most %s",
	    state.what, duration_text(clock_ms() - state.began_ms),
	    duration_text((int64_t)most * 1000));
	fflush(stderr);
}

void
progress_end(void)
{
	if (state.what != NULL && state.shown_ms != 0) {
		fprintf(stderr, CLEAR);
		fflush(stderr);
	}
	state.what = NULL;
}
