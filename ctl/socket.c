/* SPDX-License-Identifier: MIT */
/*
 * The daemon's socket: named by -s, or found in the configuration of the
 * daemon, which names ctlSockPath or pidFilePath.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/model/conf.h"
#include "common/model/config_key.h"
#include "ctl/ctl.h"

#define SOCKET_BYTES 4200 /* the longest pidFilePath and a name */

/* Of the configuration; 0, or -1 with errno when it cannot be read. */
static int
socket_of_config(const char *config, char *path, size_t size)
{
	char pid_file[SOCKET_BYTES];
	int rc;

	rc = config_key_read(config, conf_rule(CONF_CTL_SOCK)->name, path,
	    size);
	if (rc != 0)
		return rc == 1 ? 0 : -1;
	rc = config_key_read(config, conf_rule(CONF_PID_FILE)->name, pid_file,
	    sizeof(pid_file));
	if (rc == -1)
		return -1;
	errno = ENAMETOOLONG;
	return conf_ctl_sock_path(rc == 1 ? pid_file :
					    conf_rule(CONF_PID_FILE)->def,
	    path, size);
}

int
socket_find(struct ctl_args *args, char *reason, size_t size)
{
	static char path[SOCKET_BYTES];
	const char *config = args->config != NULL ? args->config :
						    CONFIG_DEFAULT;

	if (args->socket != NULL)
		return 0;
	args->socket = path;
	if (socket_of_config(config, path, sizeof(path)) == 0)
		return 0;
	/* Without -c, the usual socket: ctlUsers cannot read the file. */
	if (args->config == NULL)
		return conf_ctl_sock_path(conf_rule(CONF_PID_FILE)->def, path,
		    sizeof(path));
	snprintf(reason, size,
	    "%s: %s; name the daemon's socket with -s instead", config,
	    strerror(errno));
	return -1;
}
