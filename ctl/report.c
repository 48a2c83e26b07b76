/* SPDX-License-Identifier: MIT */
/*
 * `report`: one HTML page for a ticket, which loads nothing: status, runs that
 * wait or were rejected, warnings, configuration without secrets, and plots.
 */
#include "config.h"

#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/model/config_key.h"
#include "common/text/text.h"
#include "common/text/time_text.h"
#include "ctl/report.h"

#define REASON_SIZE 1024
#define CELL_SIZE   4096
#define ROWS	    200 /* of the queue */

static const char head[] =
    "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src "
    "'none'; style-src 'unsafe-inline'\">\n"
    "<title>cc-slurm-adapter report</title>\n<style>\n"
    ":root{color-scheme:light dark;--bg:#fff;--fg:#222;--line:#ccc;"
    "--a:#0060b0;--b:#c05000;--c:#2a7a2a;--away:#f4b8b8;--nats:#f4e2a8;"
    "--ctld:#c8d8f4;--dbd:#d8ecc8}\n"
    "@media(prefers-color-scheme:dark){:root{--bg:#181818;--fg:#ddd;"
    "--line:#444;--a:#6cb4ff;--b:#ffa050;--c:#7ad07a;--away:#6b2a2a;"
    "--nats:#665520;--ctld:#2a3a66;--dbd:#2f4a24}}\n"
    "body{background:var(--bg);color:var(--fg);font:14px/1.4 sans-serif;"
    "max-width:60em;margin:1em auto;padding:0 1em}\n"
    "table{border-collapse:collapse;width:100%}\n"
    "td,th{border:1px solid var(--line);padding:2px 6px;text-align:left;"
    "vertical-align:top;overflow-wrap:anywhere}\n"
    "figure{margin:0 0 1em}svg{width:100%;height:120px;"
    "border:1px solid var(--line)}\n"
    "path{fill:none;stroke-width:1;vector-effect:non-scaling-stroke}\n"
    ".c0{stroke:var(--a)}.c1{stroke:var(--b)}.c2{stroke:var(--c)}\n"
    ".l0{color:var(--a)}.l1{color:var(--b)}.l2{color:var(--c)}\n"
    ".away{fill:var(--away)}.nats{fill:var(--nats)}"
    ".ctld{fill:var(--ctld)}.dbd{fill:var(--dbd)}\n"
    ".restart{stroke:var(--fg);stroke-dasharray:3 2}\n"
    ".lb{background:var(--away)}.ln{background:var(--nats)}"
    ".lc{background:var(--ctld)}.ld{background:var(--dbd)}"
    ".lr{border-left:2px dashed var(--fg);padding-left:3px}\n"
    "</style></head><body>\n";

void
html_put(FILE *f, const char *text)
{
	static const char *const marks[256] = { ['<'] = "&lt;",
		['>'] = "&gt;",
		['&'] = "&amp;",
		['"'] = "&quot;",
		['\''] = "&#39;" };
	char clean[CELL_SIZE];
	const char *s;

	for (s = text_vis(text, clean, sizeof(clean)); *s != '\0'; s++) {
		if (marks[(unsigned char)*s] != NULL)
			fputs(marks[(unsigned char)*s], f);
		else
			fputc(*s, f);
	}
}

static void
cell_put(FILE *f, const char *tag, const char *text)
{
	fprintf(f, "<%s>", tag);
	html_put(f, text);
	fprintf(f, "</%s>", tag);
}

static int
is_one_of(const char *const *list, const char *word)
{
	while (*list != NULL && strcmp(*list, word) != 0)
		list++;
	return *list != NULL;
}

/*
 * The bytes of a value that can contain no name of a user or a job.  The rest is
 * a text of a user, the answer of a server, the error of a command, or a value
 * of the configuration.  In some rows of status this text follows ": ".
 */
static size_t
own_length(unsigned table, const char *key, const char *value)
{
	static const char *const removed[] = { "reason", "problem",
		"last_error", "last_answer", "lease_problem", "user", NULL };
	static const char *const cut[] = { "backend", "slurmctld", "slurmdbd",
		"nats", "stream_refuses", "questions", "last_reload", "state",
		NULL };
	const char *end = NULL;

	if (is_one_of(removed, key) ||
	    (table == CTL_T_WARNING && strcmp(key, "text") == 0))
		return 0;
	if (table == CTL_T_STATUS && is_one_of(cut, key))
		end = strstr(value, ": ");
	return end != NULL ? (size_t)(end + 2 - value) : strlen(value);
}

/* With several clusters, a key of status begins with the cluster and a point. */
static void
anonymous_put(FILE *f, unsigned table, const char *key, const char *value)
{
	const char *point = strrchr(key, '.');
	char text[CELL_SIZE];
	size_t len;

	len = own_length(table, point != NULL ? point + 1 : key, value);
	snprintf(text, sizeof(text), "%.*s%s", (int)len, value,
	    value[len] != '\0' ? "(removed)" : "");
	cell_put(f, "td", text);
}

static void
row_put(FILE *f, int anonymize, const struct ctl_row *row)
{
	const struct ctl_column *columns = ctl_columns(row->table);
	const char *key;
	unsigned c;

	fprintf(f, "<tr>");
	for (c = 0; c < row->n && columns[c].name != NULL; c++) {
		key = row->table == CTL_T_STATUS && c == 2 ? row->fields[1] :
							     columns[c].name;
		if (column_is_time(row->table, &columns[c]))
			cell_put(f, "td",
			    time_text(strtoll(row->fields[c], NULL, 10)));
		else if (anonymize)
			anonymous_put(f, row->table, key, row->fields[c]);
		else
			cell_put(f, "td", row->fields[c]);
	}
	fprintf(f, "</tr>\n");
}

void
report_table(FILE *f, int anonymize, const struct ctl_reply *a, unsigned table)
{
	const struct ctl_column *columns = ctl_columns(table);
	unsigned c;
	size_t i;

	if (anonymize && table == CTL_T_WARNING)
		fprintf(f,
		    "<p>The texts are removed: a text can contain names of "
		    "users and jobs.</p>\n");
	fprintf(f, "<table><tr>");
	for (c = 0; columns[c].name != NULL; c++)
		cell_put(f, "th", columns[c].name);
	fprintf(f, "</tr>\n");
	for (i = 0; i < a->n; i++)
		if (a->rows[i].table == table)
			row_put(f, anonymize, &a->rows[i]);
	fprintf(f, "</table>\n");
}

/* The sentence contains a problem, in which the answer of a server may be. */
static void
summary_put(FILE *f, int anonymize, const struct ctl_reply *a)
{
	const struct ctl_row *row = reply_summary(a);

	if (row == NULL)
		return;
	cell_put(f, "p", anonymize ? row->fields[0] : row->fields[3]);
	report_table(f, anonymize, a, CTL_T_PROBLEM);
}

/* A section is the answer to one request. */
struct section {
	const char *title;
	enum ctl_verb verb;
	unsigned flags;
	unsigned table;
};

static const struct section sections[] = {
	{ "History", CTL_HISTORY, 0, CTL_T_HISTORY },
	{ "Deliveries that wait", CTL_QUEUE, 0, CTL_T_QUEUE },
	{ "Rejected runs", CTL_QUEUE, CTL_FLAG_REJECTED, CTL_T_QUEUE },
	{ "Warnings and errors, newest first", CTL_WARNINGS, 0, CTL_T_WARNING },
	{ "Status", CTL_STATUS, 0, CTL_T_STATUS },
};
#define SECTIONS (sizeof(sections) / sizeof(sections[0]))

/*
 * Asks the daemon and writes the rows, and why rows are missing.  Returns the exit
 * status.
 */
static int
section_put(FILE *f, const struct ctl_args *args, const struct section *s)
{
	int anonymize = (args->req.flags & CTL_FLAG_ANONYMIZE) != 0, rc;
	struct ctl_request req = args->req;
	char reason[REASON_SIZE];
	struct ctl_reply reply;

	req.verb = (uint16_t)s->verb;
	req.flags = s->flags;
	req.limit = s->verb == CTL_QUEUE ? ROWS : 0;
	fprintf(f, "<h2>%s</h2>\n", s->title);
	rc = request_send(args->socket, &req, &reply, reason, sizeof(reason));
	if (rc == -1) {
		cell_put(f, "p", reason);
		reply_clear(&reply);
		return EXIT_UNREACHABLE;
	}
	if (reply.text != NULL && reply.text[0] != '\0')
		cell_put(f, "p", reply.text);
	if (s->table == CTL_T_STATUS)
		summary_put(f, anonymize, &reply);
	if (s->table == CTL_T_HISTORY)
		report_plots(f, &reply, (int64_t)time(NULL));
	else
		report_table(f, anonymize, &reply, s->table);
	rc = reply.status == CTL_OK ? EXIT_DONE : EXIT_REFUSED;
	reply_clear(&reply);
	return rc;
}

/* Returns the exit status: the highest one of the sections. */
static int
page_put(FILE *f, const struct ctl_args *args)
{
	int rc = EXIT_DONE, status;
	size_t i;

	fputs(head, f);
	fprintf(f, "<h1>cc-slurm-adapter %s</h1>\n<p>%s</p>\n", PACKAGE_VERSION,
	    time_text((int64_t)time(NULL)));
	for (i = 0; i < SECTIONS; i++) {
		status = section_put(f, args, &sections[i]);
		if (status > rc)
			rc = status;
		if (i == 0 && status == EXIT_UNREACHABLE)
			break; /* no daemon: the others would only wait */
	}
	report_config(f, (args->req.flags & CTL_FLAG_ANONYMIZE) != 0,
	    args->config != NULL ? args->config : CONFIG_DEFAULT);
	fputs("</body></html>\n", f);
	return rc;
}

/*
 * The page has names of users: only its owner may read it, also if the file
 * existed before.  The mode of a device is not changed.
 */
static FILE *
page_open(const char *path)
{
	int fd = open(path,
	    O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	struct stat st;
	FILE *f = NULL;

	if (fd != -1 && fstat(fd, &st) == 0 &&
	    (!S_ISREG(st.st_mode) || fchmod(fd, 0600) == 0))
		f = fdopen(fd, "w");
	if (f == NULL && fd != -1)
		close(fd);
	return f;
}

int
report_run(const struct ctl_args *args)
{
	int rc, bad,
	    to_file = args->file != NULL && strcmp(args->file, "-") != 0;
	FILE *f = to_file ? page_open(args->file) : stdout;

	if (f == NULL) {
		fprintf(stderr, "cc-slurm-adapterctl: %s: %s\n", args->file,
		    strerror(errno));
		return EXIT_REFUSED;
	}
	if (to_file)
		progress_begin(args->verb);
	rc = page_put(f, args);
	progress_end();
	/* An earlier write can have failed, with a cause that is gone. */
	errno = 0;
	bad = fflush(f) != 0 || ferror(f);
	if (to_file)
		bad |= fclose(f) != 0;
	if (bad) {
		fprintf(stderr, "cc-slurm-adapterctl: cannot write %s: %s\n",
		    to_file ? args->file : "to standard output",
		    errno != 0 ? strerror(errno) : "an earlier write failed");
		return EXIT_REFUSED;
	}
	if (rc != EXIT_DONE)
		fprintf(stderr,
		    "cc-slurm-adapterctl: a part of the report is missing; "
		    "the report contains the reason\n");
	return rc;
}
