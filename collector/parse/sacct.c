/* SPDX-License-Identifier: MIT */
/*
 * Rows of sacct, for jobs and for steps; see parse.h.  A reader finds the end of a
 * row by counting delimiters: a job name can contain a newline, the last column
 * cannot.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "collector/parse/parse.h"
#include "common/array.h"

#define ROW_MAX (1024u * 1024) /* bytes; node list, comment, job name */
/*
 * With more malformed rows and no other one the stream is no answer: this sacct
 * has another format, and to skip its rows would lose all runs.
 */
#define BAD_ROWS_MAX 100

/* A row while it is read into s. */
struct row {
	struct job_snapshot *s;
	const struct read_options *how;
	struct span memory;
	uint32_t cpus_asked;
	struct span uid;
};

static int
get_id(struct span v, struct row *row)
{
	uint64_t id;

	if (number_u64(v, &id) == -1 || id == 0)
		return -1;
	row->s->job.key.job = id;
	return 0;
}

/* "17", "17_3", "18+1", "17_[4-9]". */
static int
get_display_id(struct span v, struct row *row)
{
	struct job *job = &row->s->job;
	const char *p;
	uint64_t base;
	size_t i;

	for (i = 0; i < v.n && v.p[i] >= '0' && v.p[i] <= '9'; i++)
		continue;
	if (i == 0 || number_u64((struct span) { v.p, i }, &base) == -1)
		return -1;
	if (i == v.n)
		return 0;
	p = v.p + i + 1;
	v = span_from(v, p);
	if (p[-1] == '_' && number_u32(v, &job->array_task) == 0)
		job->array_job = base;
	else if (p[-1] == '+' && number_u32(v, &job->het_offset) == 0)
		job->het_job = base;
	return 0;
}

#define TEXT_GETTER(member) \
	static int get_##member(struct span v, struct row *row) \
	{ \
		row->s->job.member = span_text(v, TEXT_MAX); \
		return 0; \
	}

TEXT_GETTER(user)
TEXT_GETTER(account)
TEXT_GETTER(partition)
TEXT_GETTER(qos)
TEXT_GETTER(reservation)
TEXT_GETTER(admin_comment)
TEXT_GETTER(name)

static int
get_uid(struct span v, struct row *row)
{
	row->uid = v;
	return 0;
}

static int
get_state(struct span v, struct row *row)
{
	row->s->state = state_word(v);
	row->s->job.state = row->s->state->end;
	/* "CANCELLED by 1001": no other column has the user id. */
	if (row->s->job.state == END_CANCELLED && memchr(v.p, ' ', v.n) != NULL)
		row->s->job.reason = span_text(v, TEXT_MAX);
	return row->s->state->phase == PHASE_UNKNOWN ? -1 : 0;
}

static int
get_exit(struct span v, struct row *row)
{
	row->s->job.exit_code = exit_status(v);
	return 0;
}

static int
get_submit(struct span v, struct row *row)
{
	return time_point(v, &row->s->job.submit);
}

static int
get_start(struct span v, struct row *row)
{
	return time_point(v, &row->s->job.key.start);
}

static int
get_end(struct span v, struct row *row)
{
	return time_point(v, &row->s->job.end);
}

static int
get_limit(struct span v, struct row *row)
{
	if (time_limit_minutes(v, &row->s->job.walltime) == -1)
		return -1;
	if (row->s->job.walltime < 0)
		row->s->job.walltime = 0;
	return 0;
}

static int
get_tres(struct span v, struct row *row)
{
	struct job *job = &row->s->job;
	struct tres tres;

	tres_parse(v, row->how->gpus, &tres);
	job->nodes = tres.nodes;
	job->cpus = tres.cpus;
	job->accels = tres.gpus;
	job->memory = tres.memory;
	return 0;
}

static int
get_memory(struct span v, struct row *row)
{
	row->memory = v;
	return 0;
}

static int
get_cpus_asked(struct span v, struct row *row)
{
	return number_u32(v, &row->cpus_asked);
}

static int
on_name(const char *name, void *arg)
{
	return job_add_host(arg, name) != NULL ? 0 : -1;
}

static int
get_nodes(struct span v, struct row *row)
{
	if (v.n == 0 || span_is(v, "None assigned"))
		return 0;
	return hostlist_each(v, on_name, &row->s->job) == -1 ? -1 : 0;
}

/* The reader of each column. */
static const struct field {
	int (*get)(struct span v, struct row *row);
	int needed; /* every record needs this column */
} fields[SACCT__COUNT] = {
	[SACCT_JOB_ID_RAW] = { get_id, 1 },
	[SACCT_JOB_ID] = { get_display_id, 0 },
	[SACCT_USER] = { get_user, 0 },
	[SACCT_UID] = { get_uid, 0 },
	[SACCT_ACCOUNT] = { get_account, 0 },
	[SACCT_PARTITION] = { get_partition, 0 },
	[SACCT_QOS] = { get_qos, 0 },
	[SACCT_RESERVATION] = { get_reservation, 0 },
	[SACCT_STATE] = { get_state, 1 },
	[SACCT_EXIT_CODE] = { get_exit, 0 },
	[SACCT_SUBMIT] = { get_submit, 1 },
	[SACCT_START] = { get_start, 1 },
	[SACCT_END] = { get_end, 1 },
	[SACCT_TIME_LIMIT] = { get_limit, 0 },
	[SACCT_ALLOC_TRES] = { get_tres, 0 },
	[SACCT_REQ_MEM] = { get_memory, 0 },
	[SACCT_REQ_CPUS] = { get_cpus_asked, 0 },
	[SACCT_ADMIN_COMMENT] = { get_admin_comment, 0 },
	[SACCT_JOB_NAME] = { get_name, 0 },
	[SACCT_NODE_LIST] = { get_nodes, 1 },
};

void
sacct_begin(struct sacct_reader *r, uint32_t lacking)
{
	memset(r, 0, sizeof(*r));
	delimiter_new(r->delimiter);
	r->lacking = lacking;
}

/* sacct: error: Invalid field requested: "QOS" */
const char *
sacct_lacks(const char *err, uint32_t *lacking)
{
	static const char words[] = "Invalid field requested: \"";
	const char *p = strstr(err, words);
	size_t i, n;

	if (p == NULL)
		return NULL;
	p += sizeof(words) - 1;
	n = strcspn(p, "\"\n");
	for (i = 0; i < SACCT__COUNT; i++) {
		if (strlen(sacct_column_name(i)) != n || fields[i].needed ||
		    strncasecmp(sacct_column_name(i), p, n) != 0 ||
		    (*lacking & 1u << i))
			continue;
		*lacking |= 1u << i;
		return sacct_column_name(i);
	}
	return NULL;
}

/*
 * The requested memory of the whole job.  Up to 20.11, ReqMem is per node (n)
 * or per CPU (c).
 */
static void
row_memory(struct row *row)
{
	struct job *job = &row->s->job;
	uint64_t mb, n = 1;
	char per;

	if (number_memory(row->memory, &mb, &per) == -1 || mb == 0)
		return;
	if (per == 'n')
		n = job->nodes;
	else if (per == 'c')
		n = row->cpus_asked;
	if (n != 0 && mb < UINT64_MAX / n)
		job->memory = mb * n;
}

static void
row_finish(struct row *row)
{
	struct job_snapshot *s = row->s;

	row_memory(row);
	if (s->job.user == NULL)
		s->job.user = span_text(row->uid, TEXT_MAX);
	if (s->job.nodes == 0)
		s->job.nodes = s->job.n_hosts;
	s->never = s->state->phase == PHASE_ENDED &&
	    (s->job.n_hosts == 0 || s->job.key.start == 0);
	if (s->state->phase != PHASE_ENDED)
		s->job.exit_code = -1;
	else
		s->job.exit_code = snapshot_exit(s, s->job.exit_code);
	s->job.flags |= JOB_HAS_START;
	if (row->how->opt_out_word != NULL && s->job.admin_comment != NULL &&
	    strstr(s->job.admin_comment, row->how->opt_out_word) != NULL)
		s->job.flags |= JOB_OPTED_OUT;
}

/* Reads one row without its newline.  Returns -1 when it is malformed. */
static int
row_parse(struct span text, const struct sacct_reader *r,
    struct job_snapshot *s)
{
	struct span values[SACCT__COUNT];
	struct row row = { .s = s, .how = r->how };
	size_t i;

	if (delimiter_split(text, r->delimiter, values, SACCT__COUNT) !=
	    SACCT__COUNT)
		return -1;
	for (i = 0; i < SACCT__COUNT; i++)
		if (!(r->lacking & 1u << i) &&
		    fields[i].get(values[i], &row) == -1)
			return -1;
	row_finish(&row);
	return 0;
}

static int
row_take(struct sacct_reader *r, struct span text)
{
	struct job_snapshot s;
	int rc = 0;

	r->rows++;
	snapshot_init(&s);
	if (row_parse(text, r, &s) == -1)
		r->bad++;
	else
		rc = r->each(&s, r->arg);
	snapshot_clear(&s);
	return rc;
}

/*
 * The length of the first row in text, with its newline, which is the first one
 * behind the last delimiter of a row.  0 when the row is not complete.
 */
static size_t
row_length(struct span text, const char *delimiter)
{
	const char *at, *nl;
	struct span s = text;
	size_t len = strlen(delimiter), i;

	for (i = 1; i < SACCT__COUNT; i++) {
		at = s.n > 0 ? memmem(s.p, s.n, delimiter, len) : NULL;
		if (at == NULL)
			return 0;
		s = span_from(s, at + len);
	}
	nl = s.n > 0 ? memchr(s.p, '\n', s.n) : NULL;
	return nl != NULL ? (size_t)(nl - text.p) + 1 : 0;
}

/* Reads every complete row.  Returns the number of bytes read, or -1. */
static ssize_t
rows_take(struct sacct_reader *r, const char *p, size_t n)
{
	struct span text = { p, n };
	size_t len;

	while ((len = row_length(text, r->delimiter)) != 0) {
		if (row_take(r, (struct span) { text.p, len - 1 }) == -1)
			return -1;
		text = span_from(text, text.p + len);
	}
	return (ssize_t)(n - text.n);
}

static int
keep(struct sacct_reader *r, const char *p, size_t n)
{
	char *buf;

	if (n == 0)
		return 0;
	if (r->len + n > ROW_MAX + 64 * 1024)
		return -1;
	buf = array_reserve(r->buf, &r->cap, r->len + n, 1);
	if (buf == NULL)
		return -1;
	r->buf = buf;
	memmove(r->buf + r->len, p, n);
	r->len += n;
	return 0;
}

int
sacct_feed(struct sacct_reader *r, const char *p, size_t n)
{
	ssize_t used;

	/* The bytes begin within a row: complete that row first. */
	if (r->len > 0) {
		if (keep(r, p, n) == -1)
			return -1;
		used = rows_take(r, r->buf, r->len);
		if (used == -1)
			return -1;
		r->len -= (size_t)used;
		memmove(r->buf, r->buf + used, r->len);
		return r->len > ROW_MAX ? -1 : 0;
	}
	used = rows_take(r, p, n);
	if (used == -1)
		return -1;
	return keep(r, p + used, n - (size_t)used);
}

int
sacct_end(struct sacct_reader *r)
{
	int unread = r->bad > BAD_ROWS_MAX && r->bad == r->rows;

	return r->len == 0 && !unread ? 0 : -1;
}

void
sacct_clear(struct sacct_reader *r)
{
	free(r->buf);
	r->buf = NULL;
	r->len = r->cap = 0;
}

int
step_row(struct span line, struct job_step *step)
{
	enum {
		ID,
		START,
		END,
		STATUS,
		N
	};
	struct span f[N + 1];
	const char *dot;

	if (delimiter_split(line, STEP_DELIMITER, f, N) != N || f[ID].n == 0)
		return -1;
	step->has_status = f[STATUS].n > 0;
	dot = memchr(f[ID].p, '.', f[ID].n);
	step->is_run = dot == NULL;
	if (dot != NULL)
		f[ID].n = (size_t)(dot - f[ID].p);
	if (number_u64(f[ID], &step->job) == -1 ||
	    time_point(f[START], &step->start) == -1 ||
	    time_point(f[END], &step->end) == -1)
		return -1;
	return 0;
}
