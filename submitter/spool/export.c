/* SPDX-License-Identifier: MIT */
/*
 * Writes and reads the lines of an export. An imported line must have a valid
 * record of the run that it names, like a row of a damaged spool. Pure
 * functions: no spool, no daemon.
 */
#include "config.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "common/text/base64.h"
#include "common/text/text.h"
#include "submitter/spool/export.h"

/*
 * Commas and brackets: a line has eight members, and a reason may contain many
 * of them. Each one could be a value, which needs much more memory.
 */
#define MARKS_MAX 4096
#define BUF_FIRST 4096

char *
export_line(const struct spool_run *run, const void *record, size_t n)
{
	char reason[sizeof(run->reason) * 4 + 1], *text, *line;
	const char *why = run->reason[0] != '\0' ? run->reason :
						   run->nats_reason;
	json_t *o;

	text = base64_text(record, n);
	o = text == NULL ?
	    NULL :
	    json_pack("{s:s, s:I, s:I, s:I, s:s, s:s, s:s, s:s}", "cluster",
		run->key.cluster, "job", (json_int_t)run->key.job, "start",
		(json_int_t)run->key.start, "end", (json_int_t)run->end, "rest",
		run_state_name(run->state[DEST_REST]), "nats",
		run_state_name(run->state[DEST_NATS]), "reason",
		text_vis(why, reason, sizeof(reason)), "record", text);
	line = o != NULL ? json_dumps(o, JSON_COMPACT) : NULL;
	json_decref(o);
	free(text);
	return line;
}

/* 1 when the line cannot need more memory than an exported one. */
static int
is_plain(const char *line, size_t n)
{
	unsigned marks = 0;
	size_t i;

	for (i = 0; i < n && marks <= MARKS_MAX; i++)
		marks += line[i] == ',' || line[i] == '[' || line[i] == '{';
	return marks <= MARKS_MAX;
}

/* NULL, or what is wrong with the record; text is its base64. */
static const char *
record_read(struct job *job, const char *text)
{
	struct reader r;
	uint8_t *bytes;
	size_t n;
	int rc;

	bytes = base64_bytes(text, &n);
	if (bytes == NULL)
		return "the record is no base64";
	rd_init(&r, bytes, n);
	job_read(&r, job);
	rc = rd_end(&r);
	free(bytes);
	return rc == -1 ? "the record is invalid" : NULL;
}

static const char *
object_read(struct imported *in, json_t *o)
{
	const char *cluster = NULL, *text = NULL, *wrong;
	const char *rest = json_string_value(json_object_get(o, "rest"));
	const char *why = json_string_value(json_object_get(o, "reason"));
	json_int_t id = 0, start = 0;

	if (o == NULL ||
	    json_unpack(o, "{s:s, s:I, s:I, s:s}", "cluster", &cluster, "job",
		&id, "start", &start, "record", &text) == -1)
		return "it is no line of an export";
	if ((wrong = record_read(&in->job, text)) != NULL)
		return wrong;
	if (strcmp(in->job.key.cluster, cluster) != 0 || id < 0 ||
	    in->job.key.job != (uint64_t)id || in->job.key.start != start)
		return "the record is of another run";
	in->refused = rest != NULL &&
	    (strcmp(rest, run_state_name(START_REJECTED)) == 0 ||
		strcmp(rest, run_state_name(STOP_REJECTED)) == 0);
	if (in->refused && why != NULL)
		text_vis(why, in->reason, sizeof(in->reason));
	return NULL;
}

const char *
import_line(struct imported *in, const char *line, size_t n)
{
	const char *wrong;
	json_t *o;

	memset(in, 0, sizeof(*in));
	job_init(&in->job);
	o = is_plain(line, n) ?
	    json_loadb(line, n, JSON_REJECT_DUPLICATES, NULL) :
	    NULL;
	wrong = object_read(in, o);
	json_decref(o);
	return wrong;
}

void
imported_clear(struct imported *in)
{
	job_clear(&in->job);
}

static int
text_grow(struct import_text *t)
{
	size_t cap = t->cap != 0 ? t->cap * 2 : BUF_FIRST;
	char *buf = realloc(t->buf, cap);

	if (buf == NULL)
		return -1;
	t->buf = buf;
	t->cap = cap;
	return 0;
}

int64_t
import_text_next(struct import_text *t, FILE *f)
{
	int64_t took = 0;
	int c = EOF;

	t->len = 0;
	t->too_long = 0;
	while (!t->too_long && (c = getc_unlocked(f)) != EOF) {
		took++;
		if (c == '\n')
			break;
		if (t->len == t->cap && text_grow(t) == -1)
			return -1;
		t->buf[t->len++] = (char)c;
		t->too_long = t->len > EXPORT_LINE_MAX;
	}
	return took;
}

void
import_text_clear(struct import_text *t)
{
	free(t->buf);
	memset(t, 0, sizeof(*t));
}

int64_t
import_text_rest(FILE *f)
{
	int64_t took = 0;
	int c = getc_unlocked(f);

	while (c != '\n' && c != EOF && took < EXPORT_SKIP_MAX) {
		c = getc_unlocked(f);
		took += c != EOF;
	}
	return took;
}
