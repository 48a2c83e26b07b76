/* SPDX-License-Identifier: MIT */
/* Which workers a configuration has. */
#include "config.h"

#include "supervisor/system/system.h"

int
worker_is_wanted(const struct conf *conf, enum role role)
{
	switch (role) {
	case ROLE_LISTENER:
	case ROLE_COLLECTOR:
	case ROLE_RUNNER:
		return !conf_reads_stream(conf);
	case ROLE_RECEIVER:
		return conf_reads_stream(conf);
	case ROLE_EXPORTER:
		return *conf_str(conf, CONF_METRICS_LISTEN) != '\0';
	default:
		return role == ROLE_SUBMITTER;
	}
}
