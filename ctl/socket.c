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
#include "common/text/json_scan.h"
#include "ctl/ctl.h"

#define SOCKET_BYTES 4200 /* the longest pidFilePath and a name */

static const char *
on_event(struct json_scan *s, enum json_event event, void *arg)
{
	return NULL;
}

/* NULL when the file is one complete JSON object, else the reason. */
static const char *
config_error(const char *config)
{
	static char buf[4096], text[64];
	FILE *f = fopen(config, "re");
	struct json_scan s;
	size_t n;

	if (f == NULL)
		return strerror(errno);
	/* The file may have secrets: only buf has its bytes. */
	setvbuf(f, NULL, _IONBF, 0);
	json_scan_init(&s, '{', text, sizeof(text), on_event, NULL);
	while ((n = fread(buf, 1, sizeof(buf), f)) > 0 &&
	    json_scan_feed(&s, buf, n) == NULL)
		continue;
	fclose(f);
	explicit_bzero(buf, sizeof(buf));
	explicit_bzero(text, sizeof(text));
	return json_scan_end(&s);
}

/*
 * Of the configuration; 0, or -1 with the reason.  In a file with an error, the
 * keys may be after the error: the usual socket would be another daemon's.
 */
static int
socket_of_config(const char *config, char *path, size_t size, const char **why)
{
	char pid_file[SOCKET_BYTES];
	int rc;

	rc = config_key_read(config, conf_rule(CONF_CTL_SOCK)->name, path,
	    size);
	if (rc == 1)
		return 0;
	*why = strerror(errno);
	if (rc == -1)
		return -1;
	rc = config_key_read(config, conf_rule(CONF_PID_FILE)->name, pid_file,
	    sizeof(pid_file));
	*why = rc == 0 ? config_error(config) : strerror(errno);
	if (rc == -1 || (rc == 0 && *why != NULL))
		return -1;
	*why = strerror(ENAMETOOLONG);
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
	const char *why;

	if (args->socket != NULL)
		return 0;
	args->socket = path;
	if (socket_of_config(config, path, sizeof(path), &why) == 0)
		return 0;
	/* Without -c, the usual socket: ctlUsers cannot read the file. */
	if (args->config == NULL)
		return conf_ctl_sock_path(conf_rule(CONF_PID_FILE)->def, path,
		    sizeof(path));
	snprintf(reason, size,
	    "%s: %s; name the daemon's socket with -s instead", config, why);
	return -1;
}
