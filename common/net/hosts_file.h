/* SPDX-License-Identifier: MIT */
/* Addresses without a name server: literal addresses and the hosts file. */
#ifndef COMMON_NET_HOSTS_FILE_H
#define COMMON_NET_HOSTS_FILE_H

#include "common/net/resolver.h"

#define NAMES_LINE_MAX 1024 /* with the NUL; longer lines are cut */

/* Copies the next line without its newline and moves *p; 0 at the end. */
int resolver_line(const char **p, size_t *len, char line[NAMES_LINE_MAX]);
/* Adds an address as text, each once, at most NAMES_ADDRS_MAX. */
void answer_add(struct resolver_answer *a, int family, const void *address);
/* 1 when host is an IPv4 or IPv6 address, with or without brackets. */
int answer_literal(struct resolver_answer *a, const char *host);
/* 1 when the host is localhost or the hosts file lists it; IPv4 first. */
int answer_hosts(struct resolver_answer *a, const char *bytes, size_t len,
    const char *host);

#endif
