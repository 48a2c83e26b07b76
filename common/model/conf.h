/* SPDX-License-Identifier: MIT */
/*
 * Configuration values: a text for each key.  The parser has checked type,
 * range and structure; a worker does not check them again.  Secrets are not
 * part of struct conf.
 */
#ifndef COMMON_CONF_H
#define COMMON_CONF_H

#include <stdint.h>

#include "common/codec.h"
#include "common/model/msg.h"

enum conf_key {
#define KEY(id, name, type, def, min, max, roles, effect) CONF_##id,
#include "common/model/conf_keys.h"
#undef KEY
	CONF__COUNT
};

enum conf_type {
	CONF_TYPE_STR,
	CONF_TYPE_INT,
	CONF_TYPE_BOOL,
	CONF_TYPE_LIST,	       /* text: a JSON array of strings */
	CONF_TYPE_JSON,	       /* text: compact JSON, in the file's order */
	CONF_TYPE_SECRET,      /* only in the sealed memfd */
	CONF_TYPE_SECRET_FILE, /* a path; its content is in the sealed memfd */
	CONF_TYPE_FILE	       /* a path; its content is in the sealed memfd */
};

enum conf_effect {
	CONF_EFFECT_LIVE,    /* takes effect with the reload */
	CONF_EFFECT_RESTART, /* the workers of its roles are restarted */
	CONF_EFFECT_SERVICE  /* needs a restart of the service */
};

#define CONF_CLUSTERS_MAX 256 /* clusters of a centre; see conf_keys.h */
#define CONF_CPU_MAP_MAX  256 /* patterns: each is tried on every new host */

struct conf_rule {
	const char *name;
	enum conf_type type;
	const char *def;
	int64_t min; /* of an INT; else bytes or items */
	int64_t max;
	unsigned roles; /* bits 1u << role that get the value */
	enum conf_effect effect;
};

struct conf;

/* The row of a key; key < CONF__COUNT. */
const struct conf_rule *conf_rule(enum conf_key key);

struct conf {
	char *values[CONF__COUNT]; /* owned; NULL = the default */
	uint32_t generation;
};

void conf_init(struct conf *conf);
void conf_clear(struct conf *conf);
/* Copies value.  0, or -1 when out of memory. */
int conf_set(struct conf *conf, enum conf_key key, const char *value);
/* The value or the default, never NULL. */
const char *conf_str(const struct conf *conf, enum conf_key key);
int64_t conf_int(const struct conf *conf, enum conf_key key);
int conf_bool(const struct conf *conf, enum conf_key key);

/* The two roles of a host in a fan-in over NATS; 0 for any other host. */
/* deliver "stream": the submitter publishes the runs of this host's Slurm. */
int conf_delivers_to_stream(const struct conf *conf);
/* 1 when the runs are sent to cc-backend by REST. */
int conf_sends_rest(const struct conf *conf);
/* source "stream": the receiver reads the runs of other hosts. */
int conf_reads_stream(const struct conf *conf);
/*
 * 1 when the worker of this role gets the value of the key.  The address and
 * the login of NATS go only to the process that connects.
 */
int conf_is_for(const struct conf *conf, enum conf_key key, enum role role);

/* The n-th string of a LIST value (its JSON text) into buf; 1 when there is
 * one, 0 at the end, -1 when the string does not fit. */
int conf_list_item(const char *list, unsigned n, char *buf, size_t size);

/* conf_paths.c: paths that are derived; 0, or -1 when buf is too small. */
/* daemon.pid gives ctl.sock beside it, NAME.pid gives NAME.ctl.sock. */
int conf_ctl_sock_path(const char *pid_file, char *buf, size_t size);
/* lastrun and last_run give spool beside it, NAME gives NAME.spool. */
int conf_spool_path(const char *last_run, char *buf, size_t size);
/* 1 when the name of the file is lastrun or last_run. */
int conf_is_usual_last_run(const char *last_run);

/* Reads one `conf` frame; the reader fails when the frame is invalid. */
void conf_read(struct reader *r, struct conf *conf);
/* Writes the payload of a `conf` frame. */
void conf_write(struct writer *w, enum conf_key key, const char *value);

/*
 * The secrets' memfd: u16 key, blob content, repeated.  Returns the content of
 * one key in the mapped bytes (borrowed), or NULL and *n 0.  The token has the
 * key CONF_CC_REST_JWT; its source is ccRestJwt, ccRestJwtFile or a credential
 * of systemd.
 */
const uint8_t *conf_secret(const uint8_t *map, size_t len, enum conf_key key,
    size_t *n);
#define CONF_SECRETS_MAX (1u * 1024 * 1024)

/* bytes: least jobScriptMaxBytes but 0; the mark of a cut text needs them */
#define JOB_SCRIPT_MIN 64

#endif
