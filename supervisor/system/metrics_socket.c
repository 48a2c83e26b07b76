/* SPDX-License-Identifier: MIT */
/*
 * The listening socket of the metrics: a loopback address or a UNIX socket.
 * The exporter has no authentication, so no other address is possible.
 */
#include "config.h"

#include <sys/socket.h>

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "common/ipc/passing.h"
#include "supervisor/config/config_file.h"
#include "supervisor/system/system.h"

#define BACKLOG	     32	  /* connections that the exporter has not accepted */
#define METRICS_MODE 0666 /* protected by its directory; no secrets in it */

/* A literal, or "localhost", which is not looked up. */
static socklen_t
loopback_fill(const struct conf_address *a, struct sockaddr_storage *sa)
{
	struct sockaddr_in6 *six = (struct sockaddr_in6 *)sa;
	struct sockaddr_in *four = (struct sockaddr_in *)sa;
	const char *host = strcasecmp(a->host, "localhost") == 0 ? "127.0.0.1" :
								   a->host;
	in_port_t port = htons((uint16_t)strtoul(a->port, NULL, 10));

	memset(sa, 0, sizeof(*sa));
	if (inet_pton(AF_INET6, host, &six->sin6_addr) == 1) {
		six->sin6_family = AF_INET6;
		six->sin6_port = port;
		return sizeof(*six);
	}
	if (inet_pton(AF_INET, host, &four->sin_addr) != 1)
		return 0;
	four->sin_family = AF_INET;
	four->sin_port = port;
	return sizeof(*four);
}

static int
loopback_listen(const struct conf_address *a)
{
	struct sockaddr_storage sa;
	socklen_t len = loopback_fill(a, &sa);
	int yes = 1, fd;

	fd = socket(sa.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK,
	    0);
	if (fd != -1 &&
	    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)) == 0 &&
	    bind(fd, (const struct sockaddr *)&sa, len) == 0 &&
	    listen(fd, BACKLOG) == 0)
		return fd;
	log_error("metricsListen: cannot listen on %s port %s", a->host,
	    a->port);
	if (fd != -1)
		close(fd);
	return -1;
}

int
metrics_socket_open(struct setup *setup, const struct conf *conf)
{
	const char *value = conf_str(conf, CONF_METRICS_LISTEN);
	struct conf_address a;

	if (*value == '\0')
		return 0;
	if (conf_metrics_address(value, &a) == -1) {
		log_errorx("metricsListen: %s is not a loopback address",
		    value);
		return -1;
	}
	if (a.kind == CONF_ADDRESS_TCP) {
		setup->metrics_fd = loopback_listen(&a);
		return setup->metrics_fd != -1 ? 0 : -1;
	}
	if ((setup->metrics_path = strdup(a.path)) == NULL) {
		log_errorx("metricsListen: out of memory");
		return -1;
	}
	setup->metrics_fd = socket_unix_listen(setup, a.path, METRICS_MODE);
	if (setup->metrics_fd != -1)
		return 0;
	free(setup->metrics_path);
	setup->metrics_path = NULL;
	return -1;
}

void
metrics_socket_close(struct setup *setup)
{
	if (setup->metrics_fd != -1)
		passing_close(setup->metrics_fd);
	setup->metrics_fd = -1;
	if (setup->metrics_path != NULL && unlink(setup->metrics_path) == -1 &&
	    errno != ENOENT)
		log_warn("metricsListen: the socket %s is not removed",
		    setup->metrics_path);
	free(setup->metrics_path);
	setup->metrics_path = NULL;
}
