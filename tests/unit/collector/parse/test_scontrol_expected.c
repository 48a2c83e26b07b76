/* SPDX-License-Identifier: MIT */
/*
 * Recorded jobs of every version, compared with the expected records in
 * tests/data/slurm/VERSION/job.expected.  expected.py made them from the output
 * of `scontrol show job -d`; it shares no code with the reader.
 */
#include "config.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "collector/parse/parse.h"
#include "tests/unit/check.h"
#include "tests/unit/collector/parse/recording.h"

#define EXPECTED_MAX 256

static const struct recording {
	const char *version;
	const char *text;
} recordings[] = {
	{ "20.11", "scontrol-job-d-o.txt" },
	{ "22.05", "job.txt" },
	{ "24.11", "job.txt" },
	{ "26.05", "job.txt" },
};

/*
 * Names that make a record ambiguous or contain a newline.  The reader needs
 * the exact name of such a job.
 */
static const struct ambiguous_name {
	const char *version;
	uint64_t job;
	const char *name;
} ambiguous_names[] = {
	{ "22.05", 36, "two\nlines" },
	{ "22.05", 42, "x JobState=FAILED UserId=root(0)" },
	{ "24.11", 38, "new\nline" },
	{ "24.11", 41, "a=b UserId=root(0) c" },
	{ "26.05", 38, "new\nline" },
	{ "26.05", 41, "a=b UserId=root(0) c" },
};
#define AMBIGUOUS_NAMES (sizeof(ambiguous_names) / sizeof(ambiguous_names[0]))

static struct expected {
	char *line; /* points into the file */
	int seen;
} expected[EXPECTED_MAX];
static size_t n_expected;
static const struct recording *now;

static struct gres_names gpus;
static struct read_options how = { .gpus = &gpus, .device = recording_device };

struct line {
	char text[16 * 1024];
	size_t len;
};

static void add(struct line *l, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

static void
add(struct line *l, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(l->text + l->len, sizeof(l->text) - l->len, fmt, ap);
	va_end(ap);
	if (n > 0 && l->len + (size_t)n < sizeof(l->text))
		l->len += (size_t)n;
}

static int
by_name(const void *a, const void *b)
{
	const struct job_host *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static void
add_hosts(struct line *l, struct job *j)
{
	const struct job_host *h;
	uint32_t i, k;

	if (j->n_hosts > 1)
		qsort(j->hosts, j->n_hosts, sizeof(*j->hosts), by_name);
	for (i = 0; i < j->n_hosts; i++) {
		h = &j->hosts[i];
		add(l, " | %s ", h->name);
		for (k = 0; k < h->n_cpus; k++)
			add(l, "%s%u-%u", k > 0 ? "," : "", h->cpus[k].first,
			    h->cpus[k].last);
		add(l, "%s", h->n_cpus == 0 ? "-" : "");
		for (k = 0; k < h->n_accels; k++)
			add(l, " %s", h->accels[k]);
	}
}

/* Writes a record in the form of expected.py. */
static void
write_record(struct line *l, struct job_snapshot *s)
{
	struct job *j = &s->job;

	l->len = 0;
	add(l,
	    "%llu start %lld state %s end %lld user %s account %s"
	    " partition %s qos %s array %llu_%u het %llu+%u",
	    (unsigned long long)j->key.job, (long long)j->key.start,
	    s->state->word, (long long)j->end,
	    j->user != NULL ? j->user : "(null)",
	    j->account != NULL ? j->account : "(null)",
	    j->partition != NULL ? j->partition : "(null)",
	    j->qos != NULL ? j->qos : "(null)",
	    (unsigned long long)j->array_job, j->array_task,
	    (unsigned long long)j->het_job, j->het_offset);
	add(l,
	    " shared %s%s nodes %u cpus %u accels %u walltime %lld"
	    " memory %llu exit %d",
	    job_shared_name(j->shared), s->whole_is_none ? "-unless-whole" : "",
	    j->nodes, j->cpus, j->accels, (long long)j->walltime,
	    (unsigned long long)j->memory, j->exit_code);
	add_hosts(l, j);
}

static void
compare(struct job_snapshot *s, const char *reader)
{
	static struct line got;
	const char *want;
	uint64_t id;
	size_t i;

	if (s->state->phase == PHASE_PENDING || s->never)
		return;
	write_record(&got, s);
	for (i = 0; i < n_expected; i++) {
		id = strtoull(expected[i].line, NULL, 10);
		if (id == s->job.key.job)
			break;
	}
	if (i == n_expected) {
		fprintf(stderr, "%s: job %llu is not expected\n", now->version,
		    (unsigned long long)s->job.key.job);
		CHECK(0);
		return;
	}
	want = expected[i].line;
	if (strcmp(want, got.text) != 0)
		fprintf(stderr, "%s, %s\nexpected %s\nread     %s\n",
		    now->version, reader, want, got.text);
	CHECK(strcmp(want, got.text) == 0);
	expected[i].seen++;
}

static const struct ambiguous_name *
ambiguous_name_of(uint64_t job)
{
	size_t i;

	for (i = 0; i < AMBIGUOUS_NAMES; i++)
		if (ambiguous_names[i].job == job &&
		    strcmp(ambiguous_names[i].version, now->version) == 0)
			return &ambiguous_names[i];
	return NULL;
}

static int
on_text(struct span line, void *arg)
{
	enum record_verdict verdict;
	struct job_snapshot s;

	snapshot_init(&s);
	verdict = scontrol_record(line, NULL, &how, &s);
	if (ambiguous_name_of(scontrol_id(line)) != NULL)
		CHECK(verdict == RECORD_AMBIGUOUS || verdict == RECORD_BAD);
	else if (verdict == RECORD_GOOD)
		compare(&s, "text");
	snapshot_clear(&s);
	return 0;
}

/* Reads a whole record, with its newlines, by the exact name. */
static void
read_exactly(const char *file, const struct ambiguous_name *d)
{
	const struct record_texts exact = { { d->name, strlen(d->name) },
		{ "(null)", 6 }, { "normal", 6 } };
	struct span record;
	struct job_snapshot s;
	const char *end;
	char head[32];

	snprintf(head, sizeof(head), "\nJobId=%llu ",
	    (unsigned long long)d->job);
	record.p = strstr(file, head);
	CHECK(record.p != NULL);
	if (record.p == NULL)
		return;
	record.p++;
	end = strstr(record.p, "\nJobId=");
	record.n = end != NULL ? (size_t)(end - record.p) : strlen(record.p);
	snapshot_init(&s);
	CHECK_INT(scontrol_record(record, &exact, &how, &s), RECORD_GOOD);
	CHECK(s.job.name != NULL && strcmp(s.job.name, d->name) == 0);
	compare(&s, "text, exactly");
	snapshot_clear(&s);
}

static void
expected_load(char *p)
{
	char *end;

	n_expected = 0;
	for (; *p != '\0' && n_expected < EXPECTED_MAX; p = end + 1) {
		end = strchr(p, '\n');
		*end = '\0';
		expected[n_expected].line = p;
		expected[n_expected++].seen = 0;
	}
	CHECK(n_expected >= 15);
}

static void
all_seen(void)
{
	size_t i;

	for (i = 0; i < n_expected; i++) {
		if (expected[i].seen != 1)
			fprintf(stderr, "%s: %d times: %s\n", now->version,
			    expected[i].seen, expected[i].line);
		CHECK_INT(expected[i].seen, 1);
	}
	printf("%s: %zu records as expected\n", now->version, n_expected);
}

static void
test_text(void)
{
	size_t n, i;
	char *want = recording_read(now->version, "job.expected", &n), *buf;

	expected_load(want);
	recording_lines(now->version, now->text, on_text, NULL);
	buf = recording_read(now->version, now->text, &n);
	for (i = 0; i < AMBIGUOUS_NAMES; i++)
		if (strcmp(ambiguous_names[i].version, now->version) == 0)
			read_exactly(buf, &ambiguous_names[i]);
	free(buf);
	all_seen();
	free(want);
}

int
main(void)
{
	size_t i;

	gres_names_set(&gpus, "[\"gpu\"]");
	for (i = 0; i < sizeof(recordings) / sizeof(recordings[0]); i++) {
		now = &recordings[i];
		test_text();
	}
	return check_done();
}
