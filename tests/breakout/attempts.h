/* SPDX-License-Identifier: MIT */
/*
 * The attempts of an attacker who controls a process.  Each attempt is harmless
 * when it succeeds.
 */
#ifndef TESTS_BREAKOUT_ATTEMPTS_H
#define TESTS_BREAKOUT_ATTEMPTS_H

#include <sys/types.h>

#include <stddef.h>
#include <stdint.h>

/* The targets of the attempts; the lines of place.targets in this order. */
struct targets {
	pid_t supervisor;
	pid_t submitter;
	pid_t victim;	  /* a process of this uid outside of the suite */
	int tcp_port;	  /* a server of the test that no configuration names */
	int allowed_port; /* cc-backend's */
	int udp_port;
	const char *config; /* the files with secrets */
	const char *secret;
	const char *spool;
	const char *ctl;    /* the admin socket */
	const char *stream; /* path of a UNIX socket of any user */
	const char *datagram;
	const char *abstract; /* name of a datagram socket */
	const char *file;     /* beside config, owned by this uid, mode 0600 */
	const char *nats;     /* the seed for the login of NATS */
};
extern struct targets targets;

/* Reads targets from lines; text is changed and borrowed. */
void targets_read(char *text);

struct attempt {
	const char *name;
	/* -1 with errno: refused; else what was reached */
	int64_t (*run)(void);
};
/* The end has no name. */
extern const struct attempt attempts_files[];
extern const struct attempt attempts_processes[];
extern const struct attempt attempts_sockets[];
extern const struct attempt attempts_limits[];
/*
 * Makes the attempt of this name, also of the table of system calls, once.  0 or
 * errno; ENOENT when there is no such attempt.
 */
int attempt_run(const char *name, int64_t *value);
/* Calls fn with each name. */
void attempts_each(void (*fn)(const char *name));

#endif
