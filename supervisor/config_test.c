/* SPDX-License-Identifier: MIT */
/*
 * -test: after the parser the workers judge the configuration, too, and are
 * ended before any of them serves.  They get no folder, no socket and no
 * neighbour, so a daemon that runs beside this notices nothing.
 */
#include "config.h"

#include <stdio.h>

#include "supervisor/system/supervisor.h"

#define CONFIG_TEST_TIMEOUT_S	20	/* to load the libraries and look at it */

static void
on_config_test_timeout(evutil_socket_t fd, short what, void *arg)
{
	log_errorx("the workers do not answer; the configuration is not "
	    "judged");
	shutdown_begin(arg, "no answer", 1);
}

int
config_test_run(struct supervisor *sup)
{
	static const struct timeval most = { .tv_sec = CONFIG_TEST_TIMEOUT_S };

	if (users_resolve(sup) == -1 || conf_add_own_uids(sup, &sup->conf) == -1)
		return 1;
	sup->setup.mode = SANDBOX_OFF;	/* no folders to be shut in */
	sup->config_test = 1;
	event_base_once(sup->base, -1, EV_TIMEOUT, on_config_test_timeout, sup, &most);
	workers_start(sup);
	event_base_dispatch(sup->base);
	if (sup->status == 0)
		printf("configuration OK\n");
	return sup->status;
}
