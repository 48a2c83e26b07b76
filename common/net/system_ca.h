/* SPDX-License-Identifier: MIT */
/* The certificate authorities that the system trusts, for HTTP and NATS. */
#ifndef COMMON_NET_SYSTEM_CA_H
#define COMMON_NET_SYSTEM_CA_H

#include <stddef.h>

/* Reads the system's bundle.  Call it before the sandbox closes. */
void system_ca_load(void);
/*
 * The bundle as PEM text with a NUL behind it, *len without the NUL.
 * Borrowed until the process ends; NULL when the system has no bundle.
 */
const char *system_ca(size_t *len);

#endif
