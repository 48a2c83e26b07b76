/* SPDX-License-Identifier: MIT */
/*
 * `explain`: the daemon's rows about a job, one line for each event.  Jobs that
 * the suite does not have are then looked up in Slurm with a second request.  A
 * task of an array and a component of a heterogeneous job have a request of their
 * own for their job ids, which the daemon looks up in Slurm.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/text/text.h"
#include "common/text/time_text.h"
#include "ctl/ctl.h"

#define REASON_SIZE 1024
#define CELL_SIZE   4096

/* Fields of a row of CTL_T_EXPLAIN. */
enum {
	F_CLUSTER,
	F_JOB,
	F_START,
	F_TIME,
	F_EVENT,
	F_TEXT,
	F__COUNT
};

static int
is_event(const struct ctl_row *row)
{
	return row->table == CTL_T_EXPLAIN && row->n == F__COUNT;
}

static int
row_has_event(const struct ctl_row *row, const char *event)
{
	return is_event(row) && strcmp(row->fields[F_EVENT], event) == 0;
}

/* 1 when the reply has a run of the job, or says that it leaves them out. */
static int
job_has_run(const struct ctl_reply *a, uint64_t job)
{
	size_t i;

	for (i = 0; i < a->n; i++)
		if (is_event(&a->rows[i]) &&
		    strtoull(a->rows[i].fields[F_JOB], NULL, 10) == job &&
		    (a->rows[i].fields[F_START][0] != '\0' ||
			row_has_event(&a->rows[i], CTL_EVENT_NOT_SHOWN)))
			return 1;
	return 0;
}

/* Keeps the ids of the jobs without a run. */
static void
ids_lacking(const struct ctl_reply *a, struct ctl_request *req)
{
	uint32_t i, n = 0;

	for (i = 0; i < req->n_ids; i++)
		if (!job_has_run(a, req->ids[i]))
			req->ids[n++] = req->ids[i];
	memset(req->ids + n, 0, (req->n_ids - n) * sizeof(req->ids[0]));
	req->n_ids = n;
}

/* Moves the rows of from behind those of into; an error and its text stay. */
static int
reply_join(struct ctl_reply *into, struct ctl_reply *from, char *reason,
    size_t size)
{
	struct ctl_row *rows;

	if (from->n > ROWS_MAX - into->n ||
	    from->bytes > REPLY_BYTES_MAX - into->bytes) {
		reply_full_text(reason, size);
		return -1;
	}
	rows = realloc(into->rows, (into->n + from->n + 1) * sizeof(*rows));
	if (rows == NULL) {
		snprintf(reason, size, "out of memory");
		return -1;
	}
	if (from->n > 0)
		memcpy(rows + into->n, from->rows, from->n * sizeof(*rows));
	into->rows = rows;
	into->n += from->n;
	into->bytes += from->bytes;
	into->cap = into->n + 1;
	from->n = 0;
	if (into->status != CTL_OK)
		return 0;
	free(into->text);
	into->text = from->text;
	from->text = NULL;
	into->status = from->status;
	return 0;
}

/* "1763733605.123" as ISO 8601 with milliseconds; "" is "now". */
static void
event_time(const char *field, char *buf, size_t size)
{
	const char *text, *ms, *zone;
	long long seconds = strtoll(field, NULL, 10);

	if (seconds <= 0) {
		snprintf(buf, size, "now");
		return;
	}
	text = time_text(seconds);
	zone = strlen(text) > 19 ? text + 19 : "";
	ms = field + strspn(field, "0123456789");
	if (*ms != '.' || strlen(ms) != 4 || strspn(ms + 1, "0123456789") != 3)
		ms = ".000";
	snprintf(buf, size, "%.19s%s%s", text, ms, zone);
}

static int
same_run(const struct ctl_row *a, const struct ctl_row *b)
{
	return strcmp(a->fields[F_CLUSTER], b->fields[F_CLUSTER]) == 0 &&
	    strcmp(a->fields[F_JOB], b->fields[F_JOB]) == 0 &&
	    strcmp(a->fields[F_START], b->fields[F_START]) == 0;
}

static void
print_head(const struct ctl_row *row)
{
	char cluster[CELL_SIZE], job[64];
	long long start = strtoll(row->fields[F_START], NULL, 10);

	text_vis(row->fields[F_CLUSTER], cluster, sizeof(cluster));
	text_vis(row->fields[F_JOB], job, sizeof(job));
	printf("job %s%s%s%s", job, *cluster != '\0' ? " (" : "", cluster,
	    *cluster != '\0' ? ")" : "");
	if (start > 0)
		printf(", run started %s", time_text(start));
	printf("\n");
}

void
print_explain(const struct ctl_reply *a)
{
	const struct ctl_row *row, *before = NULL;
	char when[64], event[64], text[CELL_SIZE];
	size_t i;

	for (i = 0; i < a->n; i++) {
		row = &a->rows[i];
		if (!is_event(row))
			continue;
		if (before == NULL || !same_run(before, row))
			print_head(row);
		before = row;
		event_time(row->fields[F_TIME], when, sizeof(when));
		printf("  %-29s  %-15s  %s\n", when,
		    text_vis(row->fields[F_EVENT], event, sizeof(event)),
		    text_vis(row->fields[F_TEXT], text, sizeof(text)));
	}
}

static int
print_reply(const struct ctl_args *args, const struct ctl_reply *a)
{
	char buf[REASON_SIZE];

	if (args->json)
		print_json(a, CTL_EXPLAIN);
	else {
		print_explain(a);
		if (a->status != CTL_OK)
			fprintf(stderr, "cc-slurm-adapterctl: %s%s\n",
			    a->status == CTL_DENIED ? "not allowed: " : "",
			    text_vis(a->text, buf, sizeof(buf)));
	}
	if (output_failed()) {
		fprintf(stderr,
		    "cc-slurm-adapterctl: cannot write to standard output\n");
		return EXIT_REFUSED;
	}
	return a->status == CTL_OK ? EXIT_DONE : EXIT_REFUSED;
}

/* The rows of one request.  0, or -1 with a sentence in reason. */
static int
rows_add(const struct ctl_args *args, const struct ctl_request *req,
    struct ctl_reply *reply, char *reason, size_t size)
{
	struct ctl_reply more;
	int rc = request_send(args->socket, req, &more, reason, size);

	if (rc == 0)
		rc = reply_join(reply, &more, reason, size);
	reply_clear(&more);
	return rc;
}

/* All about the jobs of req: from the suite, or else from Slurm. */
static int
jobs_add(const struct ctl_args *args, struct ctl_request *req,
    struct ctl_reply *reply, char *reason, size_t size)
{
	struct ctl_reply own;
	int rc;

	req->verb = CTL_EXPLAIN;
	rc = request_send(args->socket, req, &own, reason, size);
	if (rc == 0) {
		ids_lacking(&own, req);
		if (own.status != CTL_OK)
			req->n_ids = 0;
		rc = reply_join(reply, &own, reason, size);
	}
	reply_clear(&own);
	if (rc == -1 || req->n_ids == 0)
		return rc;
	req->verb = CTL_EXPLAIN_SLURM;
	req->a = 0;
	return rows_add(args, req, reply, reason, size);
}

/* The job whose id is in the row, in its cluster. */
static int
part_job_add(const struct ctl_args *args, size_t at, struct ctl_reply *reply,
    char *reason, size_t size)
{
	const struct ctl_row *row = &reply->rows[at];
	struct ctl_request req = args->req;

	if (!row_has_event(row, CTL_EVENT_JOB_ID) ||
	    strlen(row->fields[F_CLUSTER]) >= sizeof(req.text))
		return 0;
	memset(req.ids, 0, sizeof(req.ids));
	memset(req.text, 0, sizeof(req.text));
	req.n_ids = 1;
	req.ids[0] = strtoull(row->fields[F_JOB], NULL, 10);
	memcpy(req.text, row->fields[F_CLUSTER],
	    strlen(row->fields[F_CLUSTER]));
	return jobs_add(args, &req, reply, reason, size);
}

/* A task or component: its job ids, then all about these jobs. */
static int
part_add(const struct ctl_args *args, const char *part, struct ctl_reply *reply,
    char *reason, size_t size)
{
	struct ctl_request req = args->req;
	size_t i, from = reply->n, end;

	memset(req.ids, 0, sizeof(req.ids));
	req.flags = 0;
	if (!job_part_parse(part, &req))
		return 0;
	if (rows_add(args, &req, reply, reason, size) == -1)
		return -1;
	end = reply->n;
	for (i = from; i < end; i++)
		if (part_job_add(args, i, reply, reason, size) == -1)
			return -1;
	return 0;
}

/* Fills *reply.  0, or -1 with a sentence in reason. */
static int
rows_collect(const struct ctl_args *args, struct ctl_reply *reply, char *reason,
    size_t size)
{
	struct ctl_request req = args->req;
	unsigned i;

	if (req.n_ids > 0 && jobs_add(args, &req, reply, reason, size) == -1)
		return -1;
	for (i = 0; i < args->n_parts && reply->status == CTL_OK; i++)
		if (part_add(args, args->parts[i], reply, reason, size) == -1)
			return -1;
	return 0;
}

int
explain_run(struct ctl_args *args)
{
	char reason[REASON_SIZE];
	struct ctl_reply reply = { .status = CTL_OK };
	int status, rc;

	progress_begin(args->verb);
	rc = rows_collect(args, &reply, reason, sizeof(reason));
	progress_end();
	if (rc == -1) {
		print_unreached(args, reason);
		status = EXIT_UNREACHABLE;
	} else
		status = print_reply(args, &reply);
	reply_clear(&reply);
	return status;
}
