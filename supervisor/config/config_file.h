/* SPDX-License-Identifier: MIT */
/*
 * The parser of config.json.  It runs in a short-lived child of the
 * supervisor, because config.json has secrets in it and the supervisor lives
 * long.  The child sends a checked text for each key, and the secrets in a
 * sealed memfd.  It logs every error with its line; the first error is the
 * reason that the supervisor gets.
 */
#ifndef SUPERVISOR_CONFIG_CONFIG_FILE_H
#define SUPERVISOR_CONFIG_CONFIG_FILE_H

#include <jansson.h>
#include <stddef.h>

#include "common/model/conf.h"

/* Bytes; the configuration of a thousand GPU nodes has 200 KiB. */
#define CONF_FILE_MAX	  (1024u * 1024)
#define CONF_REASON_MAX	  1024 /* bytes with the NUL: one log line */
#define CONF_MESSAGES_MAX 50   /* of one file; more do not help */

/* A reload does not change this. */
struct in_force {
	struct conf conf; /* deliver and source alone */
	/* SlurmUser, if it did not exist at the start; borrowed, or NULL */
	const char *missing_user;
};

/* One reading of the file: from its text to the content of the frames. */
struct conf_parse {
	const char *path;	   /* of config.json, as it was named */
	json_t *root;		   /* owned; NULL when there is no file */
	json_t *lines;		   /* owned; see line_numbers.c */
	struct conf conf;	   /* the values, without the secrets */
	struct in_force *in_force; /* borrowed, or NULL; see parser_run() */
	const char *secret[CONF__COUNT]; /* borrowed from root, or NULL */
	struct writer secrets;		 /* bytes of the submitter's memfd */
	struct writer receiver_secrets;	 /* of the receiver's */
	int has_token;			 /* for cc-backend, from any source */
	unsigned errors;
	unsigned warnings;
	char reason[CONF_REASON_MAX]; /* the first error */
};

/*
 * parser_main.c
 *
 * The whole life of the child: reads path and writes frames to fd_out: `hello`,
 * `conf`
 * for every value that is not the default, `secrets` (always, its memfd may be
 * empty), with source "stream" `receiver-secrets`, and `conf-end`; or
 * `conf-bad` with the reason alone.
 * explicit_path: a file that does not exist is an error, else it means all
 * defaults.  in_force is NULL at the start.  At a reload, its deliver and source
 * decide which secrets are read and which process gets them; `conf` has the
 * values of the file.  Its missing_user is added to prepAllowedUids if the user
 * exists now.
 * Returns 0 when conf-end was written, 1 after conf-bad, -1 when the channel
 * failed.  parser_confine() or parser_limits() comes first, in a process of its
 * own.
 *
 * The token for cc-backend is in the memfd under CONF_CC_REST_JWT, whichever
 * of ccRestJwt, ccRestJwtFile and systemd's credential it came from.
 */
int parser_run(const char *path, int explicit_path, struct in_force *in_force,
    int fd_out);
/*
 * Appends the payload of the parser's `hello`, its first frame.  The numbers of
 * the keys and of the messages depend on the version, and the file of the program
 * may be newer than the running supervisor, which compares all bytes.
 */
void parser_hello(struct writer *w);
/*
 * The limits and the allocator of a process that reads one file.  Call it before
 * jansson is used.
 */
void parser_limits(void);

/*
 * parser_confine.c
 *
 * The sandbox of a process that calls parser_run() next: parser_limits(), no
 * capability but to read files, a filter of system calls.  channel is the
 * fd_out of parser_run(); the process that it starts does not keep it.  Fatal
 * when a layer fails; a kernel without seccomp is none.
 */
void parser_confine(int channel);

/*
 * migrate.c
 *
 * Reads the configuration of the Go adapter or of cc-slurm-sync, prints ours on
 * standard output and an explanation of each changed key on standard error.
 * Returns the exit status: 0, or 1 when the file or a value is not valid.  For
 * a process of its own.
 */
int migrate_run(const char *path);

/* parse.c */
void conf_parse_init(struct conf_parse *p, const char *path);
/* Wipes the secrets, frees. */
void conf_parse_clear(struct conf_parse *p);
/* Reads and checks the file; p->errors has the number of errors. */
void conf_parse_file(struct conf_parse *p, int explicit_path);
/* The same from bytes; for the fuzzer and the tests. */
void conf_parse_text(struct conf_parse *p, const char *text, size_t len);

/* values.c */
/* 1 when the key has a value that is not empty. */
int conf_is_set(const struct conf_parse *p, enum conf_key key);
/* 1 when the file changes deliver or source, which needs a restart. */
int conf_is_kept(const struct conf_parse *p, enum conf_key key);
/* Exchanges deliver and source of the file with those in force. */
void conf_kept_swap(struct conf_parse *p);

/* report.c */
/*
 * Logs a message about a key with its line; an error refuses the file.
 * sub: the key inside the value, or NULL.
 */
void conf_error(struct conf_parse *p, const char *key, const char *sub,
    const char *fmt, ...) __attribute__((format(printf, 4, 5)));
void conf_warn(struct conf_parse *p, const char *key, const char *sub,
    const char *fmt, ...) __attribute__((format(printf, 4, 5)));
/* A value for a message, cut and escaped, never a secret; returns buf. */
const char *conf_value_text(const json_t *value, char *buf, size_t size);
#define CONF_VALUE_TEXT_MAX 80
/* The name of a key in conf_parse.lines; outer may be NULL.  Owned. */
char *conf_line_name(const char *outer, const char *key);
/* 0 when the line is not known. */
int conf_lines_find(const json_t *lines, const char *key, const char *sub);

/* key_names.c */
/* 1 and the key when name is one, also as an alias; 0 when it is not. */
int conf_key_find(const char *name, enum conf_key *key);
/* The warning about a key without effect; NULL for any other name. */
const char *conf_key_obsolete(const char *name);
/* The key that was probably meant, or NULL. */
const char *conf_key_guess(const char *name);

/* line_numbers.c */
/*
 * Lines of the keys of the two upper levels of a text that jansson has
 * accepted.  Returns p->lines, NULL when out of memory.  Warns about keys given
 * twice.
 */
json_t *conf_lines_new(struct conf_parse *p, const char *text, size_t len);

/* check_value.c */
/*
 * Checks type, range and format of one value, not null; stores a valid one
 * in p.  name is the key as the file spells it.
 */
void conf_check_value(struct conf_parse *p, enum conf_key key, const char *name,
    json_t *value);
/*
 * 1 when the value is a blank natsPort or natsSubject of a file without
 * natsServer.  The Go adapter accepts it; the default stays.
 */
int conf_is_blank(const struct conf_parse *p, enum conf_key key,
    const json_t *value);

/* check_object.c: gpuPciAddrs, cpuMap, clusterNames, tags. */
void conf_check_object(struct conf_parse *p, enum conf_key key,
    const char *name, json_t *value);

/* check_regex.c: an invalid pattern is an error; sub as in conf_error(). */
void conf_check_regex(struct conf_parse *p, const char *key, const char *sub,
    const char *pattern);

/* check_fan_in.c: deliver, source and the keys that depend on them. */
void conf_check_fan_in(struct conf_parse *p);
/* Loads the library of patterns now; later the filter denies it. */
void conf_regex_prepare(void);

/* check_all.c: the checks that need several values. */
void conf_check_all(struct conf_parse *p);
/*
 * A login in ccRestUrl or natsServer is an error; one in a URL that no worker reads
 * is a warning.  The value is not printed.
 */
void conf_check_logins(struct conf_parse *p);

/*
 * format.c
 *
 * NULL, or what a text must be ("must be an absolute path").  No text has a
 * control character: those are refused before.
 */
typedef const char *conf_format(const char *value);
conf_format conf_format_path, conf_format_optional_path, conf_format_user,
    conf_format_optional_user, conf_format_word, conf_format_url,
    conf_format_address, conf_format_subject, conf_format_server,
    conf_format_network, conf_format_version, conf_format_cluster,
    conf_format_metrics;

/* A listening address, split into its parts. */
struct conf_address {
	enum {
		CONF_ADDRESS_UNIX,
		CONF_ADDRESS_TCP
	} kind;
	char path[108]; /* UNIX */
	int family;	/* TCP: AF_INET, AF_INET6, or AF_UNSPEC for both */
	char host[256]; /* TCP: without brackets, "" = every address */
	char port[6];
};

/*
 * PATH, unix:PATH, tcp:HOST:PORT, tcp:[V6]:PORT, tcp::PORT, also with tcp4: and
 * tcp6:.  0, or -1.
 */
int conf_address_parse(const char *value, struct conf_address *address);
/* metricsListen: only loopback addresses and UNIX sockets.  0 or -1. */
int conf_metrics_address(const char *value, struct conf_address *address);

/*
 * user_names.c: replaces the names in ctlUsers and prepAllowedUids by
 * numbers; drops unknown users with a warning.  Adds the missing SlurmUser.
 */
void conf_users_resolve(struct conf_parse *p);

/*
 * name_filter.c: loads the filter of the process that asks the name services;
 * no_new_privs must be set.  0, also without seccomp in the kernel; -1 with errno.
 */
int name_filter_enter(void);

/* name_service.c */
#define NAME_SERVICE_MAX 255 /* bytes of a user's name; useradd takes 32 */
/*
 * Starts a process that name_service_find() asks, once.  It closes channel.  0,
 * or -1 with errno.
 */
int name_service_start(int channel);
/*
 * 0 and the uid, or -1: no such user, or no answer.  It has no limit of time.
 * Without name_service_start() the calling process asks the name services.
 */
int name_service_find(const char *name, unsigned *uid);

/*
 * nats_login.c: the key of the NATS login, CONF__COUNT when none is set.  Warns
 * about each other login that is set.
 */
enum conf_key conf_nats_login(struct conf_parse *p);

/* secrets.c */
/* Reads every file whose content goes into the memfd, and the token. */
void conf_secrets_read(struct conf_parse *p);
/* A sealed memfd with these bytes; owned by the caller, -1 with errno. */
int conf_secrets_seal(const struct writer *secrets);
/*
 * Reads a regular file of at most max bytes.  Returns owned, with a NUL
 * behind; NULL with *why set to what is wrong.  *mode gets its bits.
 */
char *conf_file_read(const char *path, size_t max, size_t *n, unsigned *mode,
    unsigned *owner, const char **why);

#endif
