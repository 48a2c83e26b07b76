/* SPDX-License-Identifier: MIT */
/*
 * Recorded jobs of every version against the records expected of them:
 * tests/data/slurm/VERSION/job.expected, written from `scontrol show job -d`
 * by expected.py, which knows nothing of the readers.  Both readers must say
 * just that.
 */
#include "config.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "collector/parse/json_read.h"
#include "tests/unit/check.h"
#include "tests/unit/recording.h"

#define EXPECTED_MAX	256

static const char text_only[] = "text only: ";

/* What one recording holds. */
static const struct recording {
	const char	*version;
	const char	*text;
	const char	*json;		/* NULL = this version has none */
	const char	*nodes;		/* the shapes, for JSON */
	int		 no_memory;	/* not from JSON: it lacks cpus_per_task */
} recordings[] = {
	{ "20.11", "scontrol-job-d-o.txt", NULL, NULL, 0 },
	{ "22.05", "job.txt", "job.json", "node.txt", 1 },
	{ "24.11", "job.txt", "job.json", "node.txt", 0 },
	{ "26.05", "job.txt", "job.json", "node.txt", 0 },
};

/*
 * Names that leave a doubt, or tear the record in two: such jobs are asked for
 * once more, singly, with what squeue says of the name.
 */
static const struct result_ambiguous {
	const char	*version;
	uint64_t	 job;
	const char	*name;
} step_rows[] = {
	{ "22.05", 36, "two\nlines" },
	{ "22.05", 42, "x JobState=FAILED UserId=root(0)" },
	{ "24.11", 38, "new\nline" },
	{ "24.11", 41, "a=b UserId=root(0) c" },
	{ "26.05", 38, "new\nline" },
	{ "26.05", 41, "a=b UserId=root(0) c" },
};
#define DOUBTS	(sizeof(step_rows) / sizeof(step_rows[0]))

static struct expected {
	char	*line;			/* into the file */
	int	 seen;
} expected[EXPECTED_MAX];
static size_t n_expected;
static const struct recording *now;

static struct recorded_hosts hosts;
static struct gres_names gpus;
static struct read_options how = { .gpus = &gpus, .device = recording_device };
static struct json_reading json_how = { .how = &how, .shape = recording_shape,
	.arg = &hosts };

struct line {
	char	text[16 * 1024];
	size_t	len;
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

/* A record as expected.py writes it. */
static void
write_record(struct line *l, struct job_snapshot *s)
{
	struct job *j = &s->job;

	l->len = 0;
	add(l, "%llu start %lld state %s end %lld user %s account %s"
	    " partition %s qos %s array %llu_%u het %llu+%u",
	    (unsigned long long)j->key.job, (long long)j->key.start,
	    s->state->word, (long long)j->end,
	    j->user != NULL ? j->user : "(null)",
	    j->account != NULL ? j->account : "(null)",
	    j->partition != NULL ? j->partition : "(null)",
	    j->qos != NULL ? j->qos : "(null)",
	    (unsigned long long)j->array_job, j->array_task,
	    (unsigned long long)j->het_job, j->het_offset);
	add(l, " shared %s%s nodes %u cpus %u accels %u walltime %lld"
	    " memory %llu exit %d", job_shared_name(j->shared),
	    s->whole_is_none ? "-unless-whole" : "", j->nodes, j->cpus,
	    j->accels, (long long)j->walltime, (unsigned long long)j->memory,
	    j->exit_code);
	add_hosts(l, j);
}

/* " memory N" taken out, where it is not compared. */
static void
drop_memory(char *text)
{
	char *at = strstr(text, " memory "), *end;

	if (at == NULL)
		return;
	end = at + strlen(" memory ");
	end += strspn(end, "0123456789");
	memmove(at, end, strlen(end) + 1);
}

static void
hold_against(struct job_snapshot *s, const char *reader, int without_memory)
{
	char want[sizeof(((struct line *)0)->text)];
	static struct line got;
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
		fprintf(stderr, "%s: job %llu is not expected\n",
		    now->version, (unsigned long long)s->job.key.job);
		CHECK(0);
		return;
	}
	snprintf(want, sizeof(want), "%s", expected[i].line);
	if (without_memory) {
		drop_memory(want);
		drop_memory(got.text);
	}
	if (strcmp(want, got.text) != 0)
		fprintf(stderr, "%s, %s\nexpected %s\nread     %s\n",
		    now->version, reader, want, got.text);
	CHECK(strcmp(want, got.text) == 0);
	expected[i].seen++;
}

static const struct result_ambiguous *
doubt_of(uint64_t job)
{
	size_t i;

	for (i = 0; i < DOUBTS; i++)
		if (step_rows[i].job == job &&
		    strcmp(step_rows[i].version, now->version) == 0)
			return &step_rows[i];
	return NULL;
}

static int
on_text(struct span line, void *arg)
{
	struct span no_name = { NULL, 0 };
	enum record_verdict verdict;
	struct job_snapshot s;

	snapshot_init(&s);
	verdict = scontrol_record(line, no_name, &how, &s);
	if (doubt_of(scontrol_id(line)) != NULL)
		CHECK(verdict == RECORD_AMBIGUOUS || verdict == RECORD_BAD);
	else if (verdict == RECORD_GOOD)
		hold_against(&s, "text", 0);
	snapshot_clear(&s);
	return 0;
}

/* The whole of one record, newlines and all, with its name known. */
static void
read_exactly(const char *file, const struct result_ambiguous *d)
{
	struct span name = { d->name, strlen(d->name) }, record;
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
	CHECK_INT(scontrol_record(record, name, &how, &s), RECORD_GOOD);
	CHECK(s.job.name != NULL && strcmp(s.job.name, d->name) == 0);
	hold_against(&s, "text, exactly", 0);
	snapshot_clear(&s);
}

static int
on_json(struct span element, void *arg)
{
	struct job_snapshot s;

	snapshot_init(&s);
	if (json_job(element, &json_how, &s) == RECORD_GOOD)
		hold_against(&s, "JSON", now->no_memory);
	snapshot_clear(&s);
	return 0;
}

static void
expected_load(char *p, int json)
{
	const size_t skip = sizeof(text_only) - 1;
	char *end;

	n_expected = 0;
	for (; *p != '\0' && n_expected < EXPECTED_MAX; p = end + 1) {
		end = strchr(p, '\n');
		*end = '\0';
		if (strncmp(p, text_only, skip) == 0) {
			if (json)
				continue;
			p += skip;
		}
		expected[n_expected].line = p;
		expected[n_expected++].seen = 0;
	}
	CHECK(n_expected >= 15);
}

static void
all_seen(const char *reader)
{
	size_t i;

	for (i = 0; i < n_expected; i++) {
		if (expected[i].seen != 1)
			fprintf(stderr, "%s, %s: %d times: %s\n", now->version,
			    reader, expected[i].seen, expected[i].line);
		CHECK_INT(expected[i].seen, 1);
	}
	printf("%s: %zu records from %s as expected\n", now->version,
	    n_expected, reader);
}

static void
test_text(void)
{
	size_t n, i;
	char *want = recording_read(now->version, "job.expected", &n), *buf;

	expected_load(want, 0);
	recording_lines(now->version, now->text, on_text, NULL);
	buf = recording_read(now->version, now->text, &n);
	for (i = 0; i < DOUBTS; i++)
		if (strcmp(step_rows[i].version, now->version) == 0)
			read_exactly(buf, &step_rows[i]);
	free(buf);
	all_seen("text");
	free(want);
}

static void
test_json(void)
{
	static const struct json_split_ops ops = { on_json, NULL, NULL };
	struct json_split *split = json_split_new("jobs", 1024 * 1024, &ops,
	    NULL);
	size_t n;
	char *want = recording_read(now->version, "job.expected", &n), *buf;

	expected_load(want, 1);
	recording_hosts(now->version, now->nodes, &hosts);
	buf = recording_read(now->version, now->json, &n);
	CHECK_INT(json_split_feed(split, buf, n), 0);
	CHECK_INT(json_split_end(split), 0);
	json_split_free(split);
	all_seen("JSON");
	free(buf);
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
		if (now->json != NULL)
			test_json();
	}
	return check_done();
}
