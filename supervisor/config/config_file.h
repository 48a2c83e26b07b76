/* SPDX-License-Identifier: MIT */
/*
 * The parser of config.json.  It runs in a short-lived child of the
 * supervisor, for config.json holds secrets and the supervisor lives long:
 * what leaves the child is checked text by key, and the secrets in a sealed
 * memfd.  Everything that is wrong is logged with its line; the first of it
 * is the reason that the supervisor hears.
 */
#ifndef SUPERVISOR_CONFIG_CONFIG_FILE_H
#define SUPERVISOR_CONFIG_CONFIG_FILE_H

#include <jansson.h>
#include <stddef.h>

#include "common/conf.h"

#define CONF_FILE_MAX	(1024u * 1024)	/* bytes; a thousand GPU nodes take 200 KiB */
#define CONF_REASON_MAX	1024		/* bytes with the NUL: one log line */

/* One reading of the file: from text to what the frames carry. */
struct conf_parse {
	const char	*path;		/* of config.json, as it was named */
	json_t		*root;		/* owned; NULL when there is no file */
	json_t		*lines;		/* owned; see conf_lines.c */
	struct conf	 conf;		/* what was given, secrets excepted */
	const char	*secret[CONF__COUNT];	/* borrowed from root; NULL = not given */
	struct writer	 secrets;	/* the memfd's bytes */
	int		 has_token;	/* for cc-backend, from wherever */
	unsigned	 errors;
	unsigned	 warnings;
	char		 reason[CONF_REASON_MAX];	/* the first error */
};

/*
 * conf_child.c
 *
 * The whole life of the child: limits itself, reads path and writes frames to
 * fd_out: `conf` for every value that is not the default, `secrets` (always,
 * its memfd may be empty) and `conf-end`; or `conf-bad` with the reason alone.
 * explicit_path: a file that does not exist is an error, else it means all
 * defaults.  Returns 0 when conf-end was written, 1 after conf-bad, -1 when
 * the channel failed.  Changes the process (limits, allocator): fork first.
 *
 * The token for cc-backend is in the memfd under CONF_CC_REST_JWT, whichever
 * of ccRestJwt, ccRestJwtFile and systemd's credential it came from.
 */
int parser_run(const char *path, int explicit_path, int fd_out);

/* conf_parse.c */
void conf_parse_init(struct conf_parse *p, const char *path);
/* Wipes what was secret, frees. */
void conf_parse_clear(struct conf_parse *p);
/* Reads and checks it all; p->errors tells. */
void conf_parse_file(struct conf_parse *p, int explicit_path);
/* The same from bytes; for the fuzzer and the tests. */
void conf_parse_text(struct conf_parse *p, const char *text, size_t len);
/*
 * What is wrong with a key, logged with its line: an error refuses the file.
 * sub: the key inside the value, or NULL.
 */
void conf_error(struct conf_parse *p, const char *key, const char *sub,
    const char *fmt, ...) __attribute__((format(printf, 4, 5)));
void conf_warn(struct conf_parse *p, const char *key, const char *sub,
    const char *fmt, ...) __attribute__((format(printf, 4, 5)));
/* A value for a message, cut and escaped, never of a secret; returns buf. */
const char *conf_value_text(const json_t *value, char *buf, size_t size);
#define CONF_VALUE_TEXT_MAX	80

/* conf_names.c */
/* 1 and the key when name is one, also as an alias; 0 when it is not. */
int conf_key_find(const char *name, enum conf_key *key);
/* The key that was probably meant, or NULL. */
const char *conf_key_guess(const char *name);

/* conf_lines.c */
/*
 * Lines of the keys of the two upper levels of a text that jansson has
 * accepted.  Returns owned, NULL on memory.  Tells p of keys given twice.
 */
json_t *conf_lines_new(struct conf_parse *p, const char *text, size_t len);
/* 0 when it is not known. */
int conf_lines_find(const json_t *lines, const char *key, const char *sub);

/* conf_check.c */
/*
 * Type, range and form of one value, not null; takes it into p when it is
 * right.  name is the key as the file spells it.
 */
void conf_check_value(struct conf_parse *p, enum conf_key key, const char *name,
    json_t *value);

/* conf_cross.c: what only all values together can tell. */
void conf_check_all(struct conf_parse *p);

/*
 * conf_forms.c
 *
 * NULL, or what a text must be ("must be an absolute path").  None of them
 * sees a control character: those are refused before.
 */
typedef const char *conf_format(const char *value);
conf_format conf_format_path, conf_format_optional_path, conf_format_user,
    conf_format_optional_user, conf_format_word, conf_format_url, conf_format_address,
    conf_format_subject, conf_format_server, conf_format_network,
    conf_format_version, conf_format_cluster;

/* A listening address, taken apart. */
struct conf_address {
	enum { CONF_ADDRESS_UNIX, CONF_ADDRESS_TCP } kind;
	char	path[108];	/* UNIX */
	char	host[256];	/* TCP: without brackets, "" = every address */
	char	port[6];
};

/* PATH, unix:PATH, tcp:HOST:PORT, tcp:[V6]:PORT, tcp::PORT.  0, or -1. */
int conf_address_parse(const char *value, struct conf_address *address);
/* Is this host "localhost" or a loopback address? */
int conf_host_is_local(const char *host);

/* conf_shapes.c: the values that are objects. */
void conf_check_object(struct conf_parse *p, enum conf_key key,
    const char *name, json_t *value);

/* conf_tags.c: the value of `tags`. */
void conf_check_tags(struct conf_parse *p, const char *name, json_t *value);

/* conf_patterns.c: says what is wrong with a pattern; sub as in conf_error(). */
void conf_check_regex(struct conf_parse *p, const char *key, const char *sub,
    const char *pattern);

/* conf_users.c: numbers for names in ctlUsers and prepAllowedUids; who does not
 * exist is left out with a warning. */
void conf_users_resolve(struct conf_parse *p);

/* conf_secrets.c */
/* Adds one secret for the memfd. */
void conf_secret_add(struct conf_parse *p, enum conf_key key, const void *bytes,
    size_t n);
/* Reads every file whose content goes into the memfd, and the token. */
void conf_secrets_read(struct conf_parse *p);
/* The sealed memfd; owned by the caller, -1 with errno. */
int conf_secrets_seal(struct conf_parse *p);
/*
 * Reads a regular file of at most max bytes.  Returns owned, with a NUL
 * behind; NULL with *why set to what is wrong.  *mode gets its bits.
 */
char *conf_file_read(const char *path, size_t max, size_t *n,
    unsigned *mode, unsigned *owner, const char **why);

#endif
