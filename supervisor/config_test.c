/* SPDX-License-Identifier: MIT */
/*
 * -test: after the parser the workers judge the configuration, too, and are
 * ended before any of them serves.  They get no folder, no socket and no
 * neighbour, so a daemon that runs beside this notices nothing.
 */
#include "config.h"

#include <stdio.h>

#include "supervisor/system/supervisor.h"

#define TRIAL_SECONDS	20	/* to load the libraries and look at it */

static void
on_trial_late(evutil_socket_t fd, short what, void *arg)
{
	log_errorx("the workers do not answer; the configuration is not "
	    "judged");
	stop_begin(arg, "no answer", 1);
}

int
trial_run(struct supervisor *sup)
{
	static const struct timeval most = { .tv_sec = TRIAL_SECONDS };

	if (users_settle(sup) == -1 || conf_resolve(sup, &sup->conf) == -1)
		return 1;
	sup->places.mode = SANDBOX_OFF;	/* no folders to be shut in */
	sup->trial = 1;
	event_base_once(sup->base, -1, EV_TIMEOUT, on_trial_late, sup, &most);
	workers_start(sup);
	event_base_dispatch(sup->base);
	if (sup->status == 0)
		printf("configuration OK\n");
	return sup->status;
}
