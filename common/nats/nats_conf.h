/* SPDX-License-Identifier: MIT */
/*
 * The configuration of NATS with its secrets: servers, login, certificates.
 * Without libnats in the build, natsServer is refused (nats_none.c).
 */
#ifndef COMMON_NATS_NATS_CONF_H
#define COMMON_NATS_NATS_CONF_H

#include <stddef.h>
#include <stdint.h>

#include "common/model/conf.h"

struct nats_conf;

/* Loads TLS and certificates.  Call it before the sandbox closes. */
void nats_prepare(void);

/*
 * Reads servers, login and certificates; copies the secrets.  NULL with a
 * reason.  Without natsServer the result has no server.
 */
struct nats_conf *nats_conf_new(const struct conf *conf, const uint8_t *secrets,
    size_t len, char *reason, size_t size);
/* Wipes the secrets; NULL is fine. */
void nats_conf_free(struct nats_conf *nc);
/*
 * Another host that gets the password or the token without TLS, borrowed from
 * nc; NULL = none.
 */
const char *nats_conf_clear_host(const struct nats_conf *nc);

#endif
