/* SPDX-License-Identifier: MIT */
/* Names that need no question: literal addresses and the hosts file's bytes. */
#ifndef SUBMITTER_NET_HOSTS_FILE_H
#define SUBMITTER_NET_HOSTS_FILE_H

#include "submitter/net/resolver.h"

#define NAMES_LINE_MAX	1024	/* bytes with the NUL: of a longer line the rest is not seen */

/* Takes the next line, with a NUL for its newline, off a file's bytes; 0 at their end. */
int resolver_line(const char **p, size_t *len, char line[NAMES_LINE_MAX]);
/* Adds an address as text; more than there is room for are left out. */
void answer_add(struct resolver_answer *a, int family, const void *address);
/* 1 when host is an IPv4 or IPv6 address (in brackets or not). */
int answer_literal(struct resolver_answer *a, const char *host);
/* 1 when the bytes of a hosts file name it; IPv4 first. */
int answer_hosts(struct resolver_answer *a, const char *bytes, size_t len,
    const char *host);

#endif
