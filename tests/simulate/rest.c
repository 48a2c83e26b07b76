/* SPDX-License-Identifier: MIT */
/* See rest.h. */
#include "config.h"

#include <sys/wait.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/simulate/rest.h"
#include "tests/simulate/world.h"

#define STEP_MS	    (2 * HOUR_MS) /* between two checks */
#define WHOLE_SHARE 125000	  /* of a million seeds: the whole time */

static int whole;

void
rest_whole(void)
{
	whole = 1;
}

/* The checks end the processes of the simulation: a copy of it makes them. */
static int
passes(void (*verdict)(void))
{
	int null, status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		null = open("/dev/null", O_WRONLY);
		if (null == -1 || dup2(null, STDOUT_FILENO) == -1)
			_exit(2);
		trace_mode_set(TRACE_NONE);
		verdict();
		_exit(0);
	}
	if (pid == -1 || waitpid(pid, &status, 0) != pid)
		abort();
	invariant_forget();
	return status == 0;
}

void
rest_run(int64_t ms, void (*verdict)(void))
{
	struct prng random;
	int64_t step;

	prng_init(&random, world_seed(), "rest");
	if (prng_chance(&random, WHOLE_SHARE) || whole) {
		world_run(ms, NULL);
		return;
	}
	for (; ms > 0; ms -= step) {
		step = ms < STEP_MS ? ms : STEP_MS;
		world_run(step, NULL);
		if (ms > step && passes(verdict))
			break;
	}
	trace("the seed ends %lld hours early", (long long)(ms / HOUR_MS));
}
