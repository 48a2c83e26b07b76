/* SPDX-License-Identifier: MIT */
/*
 * The admin's tool: one request, its answer as text for people or as one JSON
 * object for programs.  It believes the daemon's frames no further than their
 * bounds, and a terminal is never given a byte that could steer it.
 */
#ifndef CTL_CTL_H
#define CTL_CTL_H

#include <stddef.h>
#include <stdint.h>

#include "common/ctl.h"

/* Exit statuses, as the manual has them. */
enum {
	EXIT_DONE,	/* the daemon did it */
	EXIT_REFUSED,	/* the daemon answered with an error */
	EXIT_USAGE,	/* the command line is wrong */
	EXIT_UNREACHABLE	/* there is no daemon, or it does not answer */
};

/* One row of a table, fields in the order of ctl_columns(). */
struct ctl_row {
	unsigned	 table;
	unsigned	 n;
	char		*fields[CTL_COLUMNS_MAX];	/* owned; n of them */
};

/* Of an answer: a queue of all runs of a large site in a bad week. */
#define ROWS_MAX	1000000u

struct ctl_reply {
	struct ctl_row	*rows;		/* owned */
	size_t		 n;
	size_t		 cap;
	enum ctl_status	 status;
	char		*text;		/* owned; what the daemon says of it */
};

/* client.c: the daemon. */

/*
 * Sends the request to the socket at path and reads the whole answer.  0, or
 * -1 with a sentence in reason.  reply_clear() in any case.
 */
int request_send(const char *path, const struct ctl_request *req,
    struct ctl_reply *reply, char *reason, size_t size);
void reply_clear(struct ctl_reply *reply);
/* Takes one row's payload apart; 0, or -1 when it is none. */
int reply_add(struct ctl_reply *reply, const uint8_t *payload, size_t len);

/* options.c: the command line. */

struct ctl_args {
	const char	  *socket;
	int		   json;
	const char	  *file;	/* what to import; "-" = standard input; or to check */
	struct ctl_request req;
};

/* Returns NULL, or a sentence with what is wrong (constant or in static memory). */
const char *args_parse(struct ctl_args *args, int argc, char **argv);
/* Epoch seconds, "YYYY-MM-DD" or "YYYY-MM-DDThh:mm[:ss]", local time, UTC
 * with a Z behind it.  0, or -1. */
int time_parse(const char *text, int64_t *when);
extern const char args_usage[];

/* spool.c: check, export, import, in steps.  Returns the exit status. */
int spool_run(struct ctl_args *args);

/* print_text.c, print_json.c, print_metrics.c: the answer on standard output. */

void print_text(const struct ctl_reply *reply);
void print_metrics(const struct ctl_reply *reply);
/* verb: what was asked, for a table without rows is there all the same. */
void print_json(const struct ctl_reply *reply, unsigned verb);
/* Writes s as a JSON string to standard output, whatever its bytes are. */
void json_string(const char *s);

#endif
