/* SPDX-License-Identifier: MIT */
/*
 * Which login the NATS connection uses.  The example configuration of the Go
 * adapter names all logins side by side, so that several are no error: the
 * first one of the table is used, and a warning names each other one.
 */
#include "config.h"

#include <errno.h>
#include <unistd.h>

#include "common/model/destination.h"
#include "supervisor/config/config_file.h"

static const enum conf_key logins[] = { CONF_NATS_CREDS_FILE,
	CONF_NATS_NKEY_SEED_FILE, CONF_NATS_TOKEN, CONF_NATS_USER };

#define LOGINS (sizeof(logins) / sizeof(logins[0]))

/* The first login from the i-th on that the file names; LOGINS when none. */
static size_t
login_next(const struct conf_parse *p, size_t i)
{
	while (i < LOGINS && !conf_is_set(p, logins[i]))
		i++;
	return i;
}

/* 1 when the login is a file that does not exist. */
static int
file_is_missing(const struct conf_parse *p, enum conf_key key)
{
	return conf_rule(key)->type == CONF_TYPE_SECRET_FILE &&
	    access(conf_str(&p->conf, key), F_OK) == -1 && errno == ENOENT;
}

/* With creds and NKeys the client signs; the broker gets no secret. */
static void
clear_warn(struct conf_parse *p, enum conf_key used)
{
	struct destination d;
	enum conf_key secret = used == CONF_NATS_USER ? CONF_NATS_PASSWORD :
							used;

	if ((used == CONF_NATS_USER || used == CONF_NATS_TOKEN) &&
	    conf_is_set(p, secret) &&
	    destination_in_clear(&d, conf_str(&p->conf, CONF_NATS_SERVER),
		(uint16_t)conf_int(&p->conf, CONF_NATS_PORT),
		conf_bool(&p->conf, CONF_NATS_TLS)))
		conf_warn(p, conf_rule(secret)->name, NULL,
		    "is readable in the network to %.200s; set natsTls to "
		    "true, or use natsCredsFile or natsNKeySeedFile",
		    d.host);
}

enum conf_key
conf_nats_login(struct conf_parse *p)
{
	size_t i = login_next(p, 0), other = login_next(p, i + 1);
	enum conf_key used;

	/* The last login is an error if its file is missing. */
	while (other < LOGINS && file_is_missing(p, logins[i])) {
		conf_warn(p, conf_rule(logins[i])->name, NULL,
		    "%.256s does not exist; the NATS login is %s",
		    conf_str(&p->conf, logins[i]),
		    conf_rule(logins[other])->name);
		i = other;
		other = login_next(p, i + 1);
	}
	if (i >= LOGINS)
		return CONF__COUNT;
	used = logins[i];
	for (; other < LOGINS; other = login_next(p, other + 1))
		conf_warn(p, conf_rule(logins[other])->name, NULL,
		    "has no effect, because %s is the NATS login; remove one "
		    "of them",
		    conf_rule(used)->name);
	clear_warn(p, used);
	return used;
}
