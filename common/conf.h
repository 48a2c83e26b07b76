/* SPDX-License-Identifier: MIT */
/*
 * Configuration values as the processes carry them: text by key.  The parser
 * has checked type, range and shape before anything is handed on, so a worker
 * reads a value without a second opinion.  Secrets are not in here.
 */
#ifndef COMMON_CONF_H
#define COMMON_CONF_H

#include <stdint.h>

#include "common/codec.h"
#include "common/msg.h"

enum conf_key {
#define KEY(id, name, type, def, min, max, roles, effect) CONF_##id,
#include "common/conf_keys.h"
#undef KEY
	CONF__COUNT
};

enum conf_type {
	CONF_TYPE_STR,
	CONF_TYPE_INT,
	CONF_TYPE_BOOL,
	CONF_TYPE_LIST,		/* text: a JSON array of strings */
	CONF_TYPE_JSON,		/* text: compact JSON, order kept */
	CONF_TYPE_SECRET,	/* only in the sealed memfd */
	CONF_TYPE_SECRET_FILE,	/* a path; its content is in the sealed memfd */
	CONF_TYPE_FILE		/* a path; its content is in the sealed memfd */
};

enum conf_effect {
	CONF_EFFECT_LIVE,
	CONF_EFFECT_RESTART,	/* the workers of its roles are restarted */
	CONF_EFFECT_SERVICE	/* takes a restart of the service */
};

struct conf_rule {
	const char	*name;
	enum conf_type	 type;
	const char	*def;
	int64_t		 min;	/* of an INT; bytes or items of the others */
	int64_t		 max;
	unsigned	 roles;	/* 1u << role */
	enum conf_effect effect;
};

/* The row of a key; key < CONF__COUNT. */
const struct conf_rule *conf_rule(enum conf_key key);

struct conf {
	char		*values[CONF__COUNT];	/* owned; NULL = the default */
	uint32_t	 generation;
};

void conf_init(struct conf *conf);
void conf_clear(struct conf *conf);
/* Copies value; 0, or -1 on memory. */
int conf_set(struct conf *conf, enum conf_key key, const char *value);
/* Never NULL: the value or the default. */
const char *conf_str(const struct conf *conf, enum conf_key key);
int64_t conf_int(const struct conf *conf, enum conf_key key);
int conf_bool(const struct conf *conf, enum conf_key key);

/* The n-th string of a LIST value (its JSON text) into buf; 1 when there is
 * one, 0 at the end, -1 when the string does not fit. */
int conf_list_item(const char *list, unsigned n, char *buf, size_t size);

/* Takes one `conf` frame; the reader has failed when it is no such item. */
void conf_read(struct reader *r, struct conf *conf);
/* Writes one item as a `conf` frame has it. */
void conf_write(struct writer *w, enum conf_key key, const char *value);

/*
 * The secrets' memfd: u16 key, blob content, repeated.  Looks up one key in
 * the mapped bytes; NULL (and *n 0) when it is not there.  Borrowed.  The
 * token is under CONF_CC_REST_JWT, whichever of ccRestJwt, ccRestJwtFile and
 * systemd's credential it came from.
 */
const uint8_t *conf_secret(const uint8_t *map, size_t len, enum conf_key key,
    size_t *n);
#define CONF_SECRETS_MAX	(1u * 1024 * 1024)

#endif
