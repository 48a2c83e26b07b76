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

#include "common/model/ctl.h"
#include "common/text/metrics_text.h"

/* Exit statuses, as the manual has them. */
enum {
	EXIT_DONE,    /* the daemon has executed the request */
	EXIT_REFUSED, /* an error of the daemon or a file, or a DEGRADED state */
	EXIT_USAGE,   /* the command line is invalid */
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
/*
 * Memory of the rows of a reply.  The largest ones are history (31 days of all
 * counters: 20 MiB here), sync and queue (rows of 4 MiB and 2 MiB: 30 MiB
 * here), and gpus (a row for each node).  No worker can send more than 64 MiB of
 * rows at a time (CHANNEL_OUTPUT_MAX).
 */
#define REPLY_BYTES_MAX (256u << 20)

struct ctl_reply {
	struct ctl_row *rows; /* owned */
	size_t n;
	size_t cap;
	size_t bytes; /* memory of the rows, at most REPLY_BYTES_MAX */
	int is_full;  /* a row was refused because of a limit */
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
/*
 * Appends the row in payload.  0; -1 when the payload is not a row, or with
 * reply->is_full when the reply would have more than ROWS_MAX rows or
 * REPLY_BYTES_MAX.
 */
int reply_add(struct ctl_reply *reply, const uint8_t *payload, size_t len);
/* The sentence for a reply that is full. */
void reply_full_text(char *reason, size_t size);
/* print_text.c: the row of CTL_T_SUMMARY, or NULL. */
const struct ctl_row *reply_summary(const struct ctl_reply *reply);
/* 1 when the row of CTL_T_SUMMARY says so. */
int reply_is_degraded(const struct ctl_reply *reply);
/*
 * cell.c: a time or a duration in a field, in seconds: from 0 to the year 9999, so
 * that sums and milliseconds of it are in range.
 */
int64_t field_seconds(const char *s);
/* 1 when text and pages show a field of this column as an ISO 8601 time. */
int column_is_time(unsigned table, const struct ctl_column *column);

/* options.c: the command line. */

struct ctl_args {
	const char *verb;   /* as given */
	const char *socket; /* of -s; NULL = see socket_find() */
	const char *config; /* of -c, or NULL */
	int json;
	int prometheus; /* metrics in Prometheus' older text form */
	int verbose;	/* status: all rows */
	int no_color;
	int watch;	  /* the verb is watch */
	int report;	  /* the page of all */
	const char *file; /* to import, check or write; "-" = stdin, stdout */
	/* explain: tasks and components; the words of the command line */
	const char *parts[CTL_IDS_MAX];
	unsigned n_parts;
	struct ctl_request req;
};

/*
 * "4711_3" or "4711+1" as a request: 1, 0 when the word is no such id.
 */
int job_part_parse(const char *word, struct ctl_request *req);
/* Returns NULL, or what is wrong: a constant or static memory. */
const char *args_parse(struct ctl_args *args, int argc, char **argv);
/*
 * Reads epoch seconds of 10 digits, "YYYY-MM-DD" or "YYYY-MM-DDThh:mm[:ss]".
 * The time is local; "Z" at its end means UTC.  Of a local time that exists
 * twice, takes the second one if is_last.  0 or -1.
 */
int time_parse(const char *text, int is_last, int64_t *when);
extern const char args_usage[];

/*
 * socket.c: sets args->socket, if -s did not, from the configuration of -c or
 * the default configuration.  0, or -1 with a sentence in reason when the file
 * of -c cannot be read.
 */
int socket_find(struct ctl_args *args, char *reason, size_t size);

/*
 * progress.c: a line on standard error, if that is a terminal.  One command at
 * a time; all functions do nothing between progress_end() and progress_begin().
 */

/* what is borrowed until progress_end(). */
void progress_begin(const char *what);
/* total = 0: not known. */
void progress_show(uint64_t done, uint64_t total, const char *unit);
/* The daemon has not replied yet; most: its time limit in seconds. */
void progress_wait(unsigned most);
/* Removes the line. */
void progress_end(void);

/*
 * watch.c: the live screen, or one screen when standard input or output is no
 * terminal.  Returns the exit status.
 */
int watch_run(const struct ctl_args *args);

/*
 * explain.c: one request, and a second one for jobs that the suite does not
 * have; before them one for each task or component.  Returns the exit status.
 */
int explain_run(struct ctl_args *args);
/* The events of the reply, grouped by run. */
void print_explain(const struct ctl_reply *reply);

/* report.c: writes the page.  Returns the exit status. */
int report_run(const struct ctl_args *args);

/* spool.c: check, export and import.  Returns the exit status. */
int spool_run(struct ctl_args *args);

/* gpus.c: the reply to `gpus` as text. */
void print_gpus(const struct ctl_reply *reply);

/* print_text.c, print_json.c, print_metrics.c: write to standard output. */

/* style.c: what standard output can show, and what it has lost */

struct style {
	int colour; /* ANSI colours are wanted */
	int width;  /* columns of the terminal; 0 = no terminal */
};

enum colour {
	COLOUR_BOLD,
	COLOUR_GOOD,
	COLOUR_BAD
};

/* no_color: of --no-color; NO_COLOR and TERM=dumb have the same effect. */
void style_init(struct style *style, int no_color);
/* The codes that begin and end a colour, or "". */
const char *style_on(const struct style *style, enum colour colour);
const char *style_off(const struct style *style);
/* Columns and rows of the terminal fd, or 80 and 24. */
int terminal_size(int fd, int *rows);

/*
 * Writes the rest of standard output.  1 when a part is lost, also if an earlier
 * write failed and the file system has space again: fflush() does not report that,
 * because libc has dropped those bytes.
 */
int output_failed(void);

/* verbose: the status with all its rows. */
void print_text(const struct ctl_reply *reply, const struct style *style,
    int verbose);
void print_metrics(const struct ctl_reply *reply, enum metrics_form form);
/* The daemon was not reached: reason as text on standard error, or as JSON. */
void print_unreached(const struct ctl_args *args, const char *reason);
/* verb: its table is printed even without rows. */
void print_json(const struct ctl_reply *reply, unsigned verb);
/* Of ctl.schema.json: a change that a program can notice increases it. */
#define CTL_JSON_VERSION 1
/* Writes the members of each object; the caller writes "}". */
void json_begin(const char *result, const char *text);
/* Writes any bytes as a JSON string to standard output. */
void json_string(const char *s);

#endif
