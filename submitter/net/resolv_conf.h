/* SPDX-License-Identifier: MIT */
/* resolv.conf's bytes into evdns, which would want to open the file. */
#ifndef SUBMITTER_NET_RESOLV_CONF_H
#define SUBMITTER_NET_RESOLV_CONF_H

#include <stddef.h>

struct evdns_base;

/*
 * nameserver, search, domain and of options ndots, timeout, attempts, as
 * resolv.conf(5) has them; other lines are ignored.  Without a name server
 * it is the one on this host, as the C library has it.
 */
void resolv_read(struct evdns_base *dns, const char *bytes, size_t len);

#endif
