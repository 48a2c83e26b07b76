/* SPDX-License-Identifier: MIT */
/*
 * The admin tool: sends one request and prints the reply as text or as one JSON
 * object.  It checks the bounds of each frame of the daemon and never writes a
 * control character to a terminal.
 */
#ifndef CTL_CTL_H
#define CTL_CTL_H

#include <stddef.h>
#include <stdint.h>

#include "common/ctl.h"
#include "common/metrics_text.h"

/* Exit statuses, as the manual has them. */
enum {
	EXIT_DONE,	 /* the daemon has executed the request */
	EXIT_REFUSED,	 /* the daemon replied with an error */
	EXIT_USAGE,	 /* the command line is invalid */
	EXIT_UNREACHABLE /* no daemon, or no reply */
};

/* One row of a table, fields in the order of ctl_columns(). */
struct ctl_row {
	unsigned table;
	unsigned n;
	char *fields[CTL_COLUMNS_MAX]; /* owned; n of them */
};

/* Rows of a reply: the queue of a large site after a week without delivery. */
#define ROWS_MAX 1000000u

struct ctl_reply {
	struct ctl_row *rows; /* owned */
	size_t n;
	size_t cap;
	enum ctl_status status;
	char *text; /* owned; the result in words */
};

/* client.c: the connection to the daemon. */

/*
 * Sends the request to the socket at path and reads the whole reply.  0, or -1
 * with a sentence in reason.  The caller calls reply_clear() in either case.
 */
int request_send(const char *path, const struct ctl_request *req,
    struct ctl_reply *reply, char *reason, size_t size);
void reply_clear(struct ctl_reply *reply);
/* Appends the row in payload.  0, or -1 when the payload is not a row. */
int reply_add(struct ctl_reply *reply, const uint8_t *payload, size_t len);

/* options.c: the command line. */

struct ctl_args {
	const char *socket; /* of -s; NULL = see socket_find() */
	const char *config; /* of -c, or NULL */
	int json;
	int prometheus;	  /* metrics in Prometheus' older text form */
	const char *file; /* to import or check; "-" = stdin */
	struct ctl_request req;
};

/* Returns NULL, or what is wrong: a constant or static memory. */
const char *args_parse(struct ctl_args *args, int argc, char **argv);
/*
 * Reads epoch seconds, "YYYY-MM-DD" or "YYYY-MM-DDThh:mm[:ss]".  The time is
 * local; "Z" at its end means UTC.  0 or -1.
 */
int time_parse(const char *text, int64_t *when);
extern const char args_usage[];

/*
 * socket.c: sets args->socket, if -s did not, from the configuration of -c or
 * the default configuration.  0, or -1 with a sentence in reason when the file
 * of -c cannot be read.
 */
int socket_find(struct ctl_args *args, char *reason, size_t size);

/* spool.c: check, export and import.  Returns the exit status. */
int spool_run(struct ctl_args *args);

/* print_text.c, print_json.c, print_metrics.c: write to standard output. */

void print_text(const struct ctl_reply *reply);
void print_metrics(const struct ctl_reply *reply, enum metrics_form form);
/* verb: its table is printed even without rows. */
void print_json(const struct ctl_reply *reply, unsigned verb);
/* Writes any bytes as a JSON string to standard output. */
void json_string(const char *s);

#endif
