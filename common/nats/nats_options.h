/* SPDX-License-Identifier: MIT */
/*
 * The content of the configuration of NATS, and libnats' options that are made
 * of it.  The event loop and the thread share it; nobody changes it after
 * nats_conf_new(); references are counted.
 */
#ifndef COMMON_NATS_NATS_OPTIONS_H
#define COMMON_NATS_NATS_OPTIONS_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <nats/nats.h>

#include "common/model/destination.h"
#include "common/nats/nats_conf.h"
#include "common/nats/nkey.h"

#define NATS_SERVERS_MAX 16 /* brokers of one cluster */

/* How to log in. */
enum nats_login {
	LOGIN_NONE,
	LOGIN_USER,
	LOGIN_TOKEN,
	LOGIN_CREDS,
	LOGIN_NKEY
};

struct nats_conf {
	atomic_int refs;
	unsigned n_servers; /* 0 = NATS is not in use */
	struct destination servers[NATS_SERVERS_MAX];
	char *subject; /* owned, as all below */
	int json;      /* natsFormat, else line protocol */
	int jetstream;
	/* deliver "stream": each message has its subject and is acknowledged */
	int records;
	/* prefix of the subjects of answers, owned; NULL = libnats' */
	char *inbox;
	char *clusters; /* of records: the key clusters; else NULL */
	enum nats_login login;
	char public[NKEY_PUBLIC_MAX];
	char *user;
	char *password;
	char *token;
	char *jwt;
	char *seed;
	char *ca; /* PEM; NULL = the system's */
	char *cert;
	char *key;
};

/* Another reference, for nats_conf_free(). */
struct nats_conf *nats_conf_ref(struct nats_conf *nc);
/* 1 when a connection made for a can be used for b. */
int nats_conf_equal(const struct nats_conf *a, const struct nats_conf *b);
/*
 * libnats' options for one server at one address.  Borrows nc, which must
 * exist until the connection is made.  Returns NATS_OK or libnats' error.
 */
natsStatus nats_conf_options(struct nats_conf *nc,
    const struct destination *server, const char *address, natsOptions **opts);

#endif
