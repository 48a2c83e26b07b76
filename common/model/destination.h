/* SPDX-License-Identifier: MIT */
/* The servers that ccRestUrl and natsServer name. */
#ifndef COMMON_DESTINATION_H
#define COMMON_DESTINATION_H

#include <stdint.h>

#include "common/model/job.h"

struct destination {
	char host[HOST_MAX]; /* name or address, without brackets */
	uint16_t port;
	int tls;
};

/*
 * Splits "host", "host:port", "nats://host" or "tls://[::1]:4222"; port and tls
 * are the defaults.  Returns 0, or -1 when the text has another form.
 */
int destination_parse(struct destination *d, const char *text, uint16_t port,
    int tls);
/* The same for "https://host:8080/path"; a user in it is skipped. */
int destination_parse_url(struct destination *d, const char *url);
/*
 * The first server of a natsServer list that is not on this host and has no
 * TLS: 1 and d, else 0.  Items of another form are skipped.
 */
int destination_in_clear(struct destination *d, const char *list, uint16_t port,
    int tls);
/* localhost, 127.0.0.0/8 or ::1. */
int host_is_local(const char *host);

#endif
