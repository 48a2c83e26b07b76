/* SPDX-License-Identifier: MIT */
/* Secrets as text in memory that is wiped before it is freed. */
#ifndef SUBMITTER_NET_SECRET_H
#define SUBMITTER_NET_SECRET_H

#include <stddef.h>

/*
 * Returns owned: a copy with a NUL behind it.  NULL when the bytes contain a
 * NUL or memory is short.
 */
char *secret_copy(const void *p, size_t len);
/* Wipes and frees; NULL is fine. */
void secret_free(char *secret);

#endif
