/* SPDX-License-Identifier: MIT */
/*
 * The status: the sentence, the problems, then the values that an admin looks
 * for, in groups, with units and ages.  With -v all rows of all processes as
 * the daemon sends them.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/text/text.h"
#include "common/text/time_text.h"
#include "ctl/print_private.h"

#define SINCE_WIDTH 14 /* "12 min 30 s" */

enum form {
	FORM_TEXT,   /* times in it become ages */
	FORM_PLAIN,  /* as it is: it has an age beside its time */
	FORM_COUNT,  /* "1,204" */
	FORM_BYTES,  /* "12.3 MiB" */
	FORM_SECONDS /* "6 d 2 h" */
};

/* A row that is shown in a group; one that is 0, "none" or "" may be hidden. */
static const struct shown {
	const char *group;
	const char *process;
	const char *key;
	const char *label;
	enum form form;
	int hidden;
} shown[] = {
	{ "Hooks", "listener", "events_received", "received", FORM_COUNT, 0 },
	{ "Hooks", "listener", "events_waiting", "waiting", FORM_COUNT, 1 },
	{ "Hooks", "listener", "events_dropped", "dropped", FORM_COUNT, 1 },
	{ "Hooks", "listener", "connections_refused", "refused", FORM_COUNT,
	    1 },
	{ "Hooks", "listener", "messages_bad", "invalid", FORM_COUNT, 1 },
	{ "Slurm", "collector", "slurm_version", "version", FORM_TEXT, 0 },
	{ "Slurm", "collector", "cluster", "cluster", FORM_TEXT, 0 },
	{ "Slurm", "runner", "user", "asked as", FORM_TEXT, 0 },
	{ "Slurm", "collector", "right", "right", FORM_TEXT, 0 },
	{ "Slurm", "collector", "slurmctld", "slurmctld", FORM_TEXT, 0 },
	{ "Slurm", "collector", "slurmdbd", "slurmdbd", FORM_TEXT, 0 },
	{ "Slurm", "collector", "rate_limit", "rate limit", FORM_TEXT, 0 },
	{ "Slurm", "collector", "controllers", "controllers", FORM_TEXT, 0 },
	{ "Slurm", "collector", "open_runs", "jobs running", FORM_COUNT, 0 },
	{ "Slurm", "collector", "cursor", "accounting read", FORM_TEXT, 0 },
	{ "Slurm", "collector", "skipped_seconds", "accounting skipped",
	    FORM_SECONDS, 1 },
	{ "Slurm", "collector", "runaways", "runaway jobs", FORM_TEXT, 1 },
	{ "Slurm", "collector", "last_error", "last error", FORM_TEXT, 1 },
	{ "Spool", "submitter", "spool", "state", FORM_TEXT, 0 },
	{ "Spool", "submitter", "spool_runs", "runs", FORM_COUNT, 0 },
	{ "Spool", "submitter", "spool_bytes", "in use", FORM_BYTES, 0 },
	{ "Spool", "submitter", "spool_bytes_max", "limit", FORM_BYTES, 0 },
	{ "Spool", "submitter", "spool_error", "last error", FORM_TEXT, 0 },
	{ "cc-backend", "submitter", "backend", "state", FORM_TEXT, 0 },
	{ "cc-backend", "submitter", "backend_address", "address", FORM_TEXT,
	    0 },
	{ "cc-backend", "submitter", "backend_version", "version", FORM_TEXT,
	    0 },
	{ "cc-backend", "submitter", "token", "token", FORM_PLAIN, 0 },
	{ "cc-backend", "submitter", "side", "this side", FORM_TEXT, 0 },
	{ "cc-backend", "receiver", "lease", "lease", FORM_TEXT, 0 },
	{ "cc-backend", "receiver", "lease_problem", "lease", FORM_TEXT, 0 },
	{ "cc-backend", "submitter", "first_list", "first list", FORM_TEXT, 0 },
	{ "cc-backend", "submitter", "start_due", "starts waiting", FORM_COUNT,
	    0 },
	{ "cc-backend", "submitter", "stop_due", "stops waiting", FORM_COUNT,
	    0 },
	{ "cc-backend", "submitter", "stop_waiting", "stops held for commit",
	    FORM_COUNT, 1 },
	{ "cc-backend", "submitter", "rejected", "rejected runs", FORM_COUNT,
	    0 },
	{ "cc-backend", "submitter", "closed_wrongly", "stopped by others",
	    FORM_COUNT, 1 },
	{ "cc-backend", "submitter", "delivered_starts", "starts delivered",
	    FORM_COUNT, 0 },
	{ "cc-backend", "submitter", "delivered_stops", "stops delivered",
	    FORM_COUNT, 0 },
	{ "cc-backend", "submitter", "retries", "requests repeated", FORM_COUNT,
	    1 },
	{ "cc-backend", "submitter", "compared", "compared with Slurm",
	    FORM_TEXT, 0 },
	{ "cc-backend", "submitter", "compared_records",
	    "compared with records", FORM_TEXT, 0 },
	{ "cc-backend", "submitter", "backfill", "backfill", FORM_TEXT, 1 },
	{ "NATS", "submitter", "nats", "state", FORM_TEXT, 0 },
	{ "NATS", "receiver", "nats", "state", FORM_TEXT, 0 },
	{ "NATS", "submitter", "deliver", "delivery", FORM_TEXT, 0 },
	{ "NATS", "submitter", "published_starts", "starts published",
	    FORM_COUNT, 0 },
	{ "NATS", "submitter", "published_ends", "ends published", FORM_COUNT,
	    0 },
	{ "NATS", "submitter", "nats_waiting", "waiting", FORM_COUNT, 1 },
	{ "NATS", "submitter", "nats_sent", "sent", FORM_COUNT, 1 },
	{ "Service", "supervisor", "version", "version", FORM_TEXT, 0 },
	{ "Service", "supervisor", "configuration", "configuration", FORM_TEXT,
	    0 },
	{ "Service", "supervisor", "last_reload", "last reload", FORM_TEXT, 0 },
	{ "Service", "supervisor", "sandbox", "sandbox", FORM_TEXT, 0 },
};
#define SHOWN (sizeof(shown) / sizeof(shown[0]))

static int
is_status(const struct ctl_row *row)
{
	return row->table == CTL_T_STATUS && row->n == 3;
}

static int
row_same_process(const struct ctl_reply *a, size_t i, size_t k)
{
	return is_status(&a->rows[k]) &&
	    strcmp(a->rows[i].fields[0], a->rows[k].fields[0]) == 0;
}

/* The name of the process and below it all its rows. */
static void
print_process(const struct ctl_reply *a, size_t first, int width)
{
	char buf[CELL_MAX];
	size_t i;

	printf("%s\n", text_vis(a->rows[first].fields[0], buf, sizeof(buf)));
	for (i = first; i < a->n; i++) {
		if (!row_same_process(a, first, i))
			continue;
		printf("  ");
		cell_print(text_vis(a->rows[i].fields[1], buf, sizeof(buf)),
		    width, 0);
		printf("%s\n",
		    text_vis(a->rows[i].fields[2], buf, sizeof(buf)));
	}
}

static void
print_all(const struct ctl_reply *a)
{
	int width = 0, w;
	size_t i, k;

	for (i = 0; i < a->n; i++)
		if (is_status(&a->rows[i]) &&
		    (w = text_width(a->rows[i].fields[1])) > width)
			width = w;
	for (i = 0; i < a->n; i++) {
		if (!is_status(&a->rows[i]))
			continue;
		for (k = 0; k < i && !row_same_process(a, i, k); k++)
			continue;
		if (k == i)
			print_process(a, i, width);
	}
}

/* The value of a process's key, or "". */
static const char *
value_of(const struct ctl_reply *a, const char *process, const char *key)
{
	size_t i;

	for (i = 0; i < a->n; i++)
		if (is_status(&a->rows[i]) &&
		    strcmp(a->rows[i].fields[0], process) == 0 &&
		    strcmp(a->rows[i].fields[1], key) == 0)
			return a->rows[i].fields[2];
	return "";
}

/*
 * 1 when the row belongs to the line.  With several clusters a key begins with
 * the name of its cluster and a point; *cluster is the length of the name.
 */
static int
row_is_shown(const struct ctl_row *row, const struct shown *s, int *cluster)
{
	size_t n, k = strlen(s->key);

	if (!is_status(row) || strcmp(row->fields[0], s->process) != 0)
		return 0;
	n = strlen(row->fields[1]);
	if (n < k || strcmp(row->fields[1] + n - k, s->key) != 0 ||
	    (n > k && (n == k + 1 || row->fields[1][n - k - 1] != '.')))
		return 0;
	*cluster = n > k ? (int)(n - k - 1) : 0;
	return !s->hidden ||
	    (strcmp(row->fields[2], "0") != 0 && row->fields[2][0] != '\0' &&
		strcmp(row->fields[2], "none") != 0);
}

static const char *
value_text(const char *s, enum form form, char buf[CELL_MAX])
{
	char vis[CELL_MAX], *end;
	unsigned long long n = strtoull(s, &end, 10);

	if (form == FORM_PLAIN)
		return text_vis(s, buf, CELL_MAX);
	if (form == FORM_BYTES)
		return bytes_text(s, buf);
	if (form != FORM_TEXT && end != s && *end == '\0') {
		snprintf(buf, CELL_MAX, "%s",
		    form == FORM_COUNT ?
			count_text(n) :
			duration_text(field_seconds(s) * 1000));
		return buf;
	}
	return ages_text(text_vis(s, vis, sizeof(vis)), time(NULL), buf);
}

static void
print_line(const struct ctl_row *row, const struct shown *s, int cluster,
    const struct style *style)
{
	char label[CELL_MAX], name[CELL_MAX], buf[CELL_MAX];
	char line[2 * CELL_MAX];

	snprintf(name, sizeof(name), "%.*s", cluster, row->fields[1]);
	snprintf(label, sizeof(label), "%s%s%.3000s", s->label,
	    cluster > 0 ? " of " : "", text_vis(name, buf, sizeof(buf)));
	snprintf(line, sizeof(line), "  %-22.3000s %s", label,
	    value_text(row->fields[2], s->form, buf));
	line_print(line, style->width);
}

/* Returns the number of lines. */
static unsigned
print_group(const struct ctl_reply *a, size_t first, const struct style *style)
{
	unsigned lines = 0;
	size_t i, k;
	int cluster;

	for (k = first;
	     k < SHOWN && strcmp(shown[k].group, shown[first].group) == 0; k++)
		for (i = 0; i < a->n; i++) {
			if (!row_is_shown(&a->rows[i], &shown[k], &cluster))
				continue;
			if (lines++ == 0)
				printf("\n%s%s%s\n",
				    style_on(style, COLOUR_BOLD),
				    shown[first].group, style_off(style));
			print_line(&a->rows[i], &shown[k], cluster, style);
		}
	return lines;
}

static void
print_processes(const struct ctl_reply *a, const struct style *style)
{
	const char *name, *seconds, *restarts, *state;
	char buf[CELL_MAX];
	size_t i, k;

	printf("\n%sProcesses%s\n", style_on(style, COLOUR_BOLD),
	    style_off(style));
	for (i = 0; i < a->n; i++) {
		for (k = 0; k < i && !row_same_process(a, i, k); k++)
			continue;
		if (!is_status(&a->rows[i]) || k < i)
			continue;
		name = a->rows[i].fields[0];
		seconds = value_of(a, name, "uptime");
		restarts = value_of(a, name, "restarts");
		state = value_of(a, name, "state");
		printf("  %-22s ", text_vis(name, buf, sizeof(buf)));
		cell_print(strcmp(name, "supervisor") == 0 ?
			"serving" :
			text_vis(state, buf, sizeof(buf)),
		    8, 0);
		printf("for %s",
		    *seconds != '\0' ?
			duration_text(field_seconds(seconds) * 1000) :
			"0 s");
		if (*restarts != '\0' && strcmp(restarts, "0") != 0)
			printf(", %s restarts",
			    text_vis(restarts, buf, sizeof(buf)));
		printf("\n");
	}
}

/* Nothing of a problem is cut: the admin copies the command in it. */
static void
print_problems(const struct ctl_reply *a, const struct style *style)
{
	const struct ctl_row *row;
	char buf[CELL_MAX];
	int64_t now = time(NULL), since;
	size_t i;
	int any = 0;

	for (i = 0; i < a->n; i++) {
		row = &a->rows[i];
		if (row->table != CTL_T_PROBLEM || row->n < 4)
			continue;
		if (!any++)
			printf("\n%sProblems%s\n", style_on(style, COLOUR_BOLD),
			    style_off(style));
		since = field_seconds(row->fields[1]);
		printf("  for ");
		cell_print(duration_text(
			       (now > since ? now - since : 0) * 1000),
		    SINCE_WIDTH, 0);
		printf("%s\n", text_vis(row->fields[3], buf, sizeof(buf)));
	}
}

void
print_status(const struct ctl_reply *a, const struct style *style, int verbose)
{
	const struct ctl_row *row = reply_summary(a);
	char buf[CELL_MAX];
	size_t i;

	if (row != NULL)
		printf("%s%s%s\n",
		    style_on(style,
			reply_is_degraded(a) ? COLOUR_BAD : COLOUR_GOOD),
		    text_vis(row->fields[3], buf, sizeof(buf)),
		    style_off(style));
	print_problems(a, style);
	if (verbose) {
		print_streams(a, style);
		if (row != NULL)
			printf("\n");
		print_all(a);
		return;
	}
	print_processes(a, style);
	print_streams(a, style);
	for (i = 0; i < SHOWN; i++)
		if (i == 0 || strcmp(shown[i].group, shown[i - 1].group) != 0)
			print_group(a, i, style);
}
