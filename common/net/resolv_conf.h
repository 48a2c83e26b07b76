/* SPDX-License-Identifier: MIT */
/* Configures evdns by resolv.conf in memory; evdns itself reads a file. */
#ifndef COMMON_NET_RESOLV_CONF_H
#define COMMON_NET_RESOLV_CONF_H

#include <stddef.h>

struct evdns_base;

/*
 * Reads nameserver, search, domain and the options ndots, timeout and attempts
 * of resolv.conf(5); ignores other lines.  The default server is 127.0.0.1, as
 * in the C library.
 */
void resolv_read(struct evdns_base *dns, const char *bytes, size_t len);

#endif
