/* SPDX-License-Identifier: MIT */
/*
 * Two readers, one record: on every recorded output that has both shapes the
 * text and the JSON reader must say the same of every job, and deleting or
 * retyping any member of the JSON costs at most what it said.
 */
#include "config.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "collector/json_read.h"
#include "tests/unit/check.h"

#define DATA_DELIMITER	"<~!>"
#define DUMP_MAX	(256 * 1024)
#define ROWS_MAX	256

static char *
file_read(const char *version, const char *name, size_t *n)
{
	const char *dir = getenv("srcdir") != NULL ? getenv("srcdir") : ".";
	char path[512];
	FILE *f;
	char *buf;

	snprintf(path, sizeof(path), "%s/tests/data/slurm/%s/%s", dir, version,
	    name);
	f = fopen(path, "rb");
	if (f == NULL) {
		fprintf(stderr, "%s: cannot be opened\n", path);
		exit(1);
	}
	buf = malloc(4 * 1024 * 1024);
	*n = fread(buf, 1, 4 * 1024 * 1024, f);
	fclose(f);
	return buf;
}

/* What is known of the hosts of the recorded cluster. */
static struct {
	char		host[HOST_MAX];
	struct shape	shape;
} hosts[64];
static size_t n_hosts;

static int
on_node(struct span line, void *arg)
{
	if (n_hosts < 64 && node_record(line, hosts[n_hosts].host,
	    &hosts[n_hosts].shape) == 0)
		n_hosts++;
	return 0;
}

static int
shape_of(const char *host, struct shape *shape, void *arg)
{
	size_t i;

	for (i = 0; i < n_hosts; i++) {
		if (strcmp(hosts[i].host, host) == 0) {
			*shape = hosts[i].shape;
			return 0;
		}
	}
	return -1;
}

static int
device(const char *host, uint32_t index, char address[ACCEL_MAX], void *arg)
{
	snprintf(address, ACCEL_MAX, "%s-%u", host, index);
	return 0;
}

static struct gres_names gpus;
static struct reading how = { .gpus = &gpus, .opt_out_word = "keep_away",
	.device = device };
static unsigned lacking;

static void
on_lack(uint64_t job, const char *field, void *arg)
{
	lacking++;
	if (getenv("VERBOSE") != NULL)
		fprintf(stderr, "job %llu lacks %s\n", (unsigned long long)job,
		    field);
}

static struct json_reading json_how = { .how = &how, .shape = shape_of,
	.lacks = on_lack };

/* Deliberate differences: what is not compared, and why that is right. */
#define SKIP_MEMORY	1u
#define SKIP_USER	2u
#define SKIP_EXIT	4u

static const struct difference {
	const char	*version;
	const char	*what;
	unsigned	 skip;
	const char	*why;
} differences[] = {
	{ "22.05", "jobs", SKIP_MEMORY,
	    "no cpus_per_task in JSON: memory per CPU cannot be added up" },
	{ "22.05", "accounting", SKIP_USER,
	    "null where the user has no account; text names the user" },
	{ "22.05", "accounting", SKIP_EXIT,
	    "0 for every exit code that is no signal; text has it" },
};

static unsigned
skipped(const char *version, const char *what)
{
	unsigned skip = 0;
	size_t i;

	for (i = 0; i < sizeof(differences) / sizeof(differences[0]); i++)
		if (strcmp(differences[i].version, version) == 0 &&
		    strcmp(differences[i].what, what) == 0)
			skip |= differences[i].skip;
	return skip;
}

static unsigned skip;	/* of what is being compared */

/* A record as text, hosts in the order of their names. */
struct dump {
	char	text[16 * 1024];
	size_t	len;
};

static void add(struct dump *d, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

static void
add(struct dump *d, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(d->text + d->len, sizeof(d->text) - d->len, fmt, ap);
	va_end(ap);
	if (n > 0 && d->len + (size_t)n < sizeof(d->text))
		d->len += (size_t)n;
}

static int
by_name(const void *a, const void *b)
{
	const struct job_host *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static void
dump_host(struct dump *d, const struct job_host *h)
{
	uint32_t i;

	add(d, "\n  %s", h->name);
	for (i = 0; i < h->n_cpus; i++)
		add(d, " %u-%u", h->cpus[i].first, h->cpus[i].last);
	for (i = 0; i < h->n_accels; i++)
		add(d, " %s", h->accels[i]);
}

static void
dump(struct dump *d, struct sighting *s)
{
	struct job *j = &s->job;
	uint32_t i;

	d->len = 0;
	add(d, "%llu state %s flags %u submit %lld start %lld end %lld %s",
	    (unsigned long long)j->key.job, s->state->word, j->flags,
	    (long long)j->submit, (long long)j->key.start, (long long)j->end,
	    job_end_name(j->state));
	add(d, " exit %d never %d batch %d optout %d",
	    skip & SKIP_EXIT ? 0 : j->exit_code, s->never,
	    s->batch, s->opt_out_seen);
	add(d, "\n  shared %s whole %d restarts %u array %llu_%u het %llu+%u",
	    job_shared_name(j->shared), s->whole_is_none, j->restarts,
	    (unsigned long long)j->array_job, j->array_task,
	    (unsigned long long)j->het_job, j->het_offset);
	add(d, "\n  nodes %u cpus %u accels %u walltime %lld memory %llu",
	    j->nodes, j->cpus, j->accels, (long long)j->walltime,
	    skip & SKIP_MEMORY ? 0 : (unsigned long long)j->memory);
	add(d, "\n  user [%s] account [%s] partition [%s] qos [%s] resv [%s]",
	    j->user != NULL && !(skip & SKIP_USER) ? j->user : "",
	    j->account != NULL ? j->account : "",
	    j->partition != NULL ? j->partition : "",
	    j->qos != NULL ? j->qos : "",
	    j->reservation != NULL ? j->reservation : "");
	add(d, "\n  name [%s]", j->name != NULL ? j->name : "");
	if (j->n_hosts > 1)
		qsort(j->hosts, j->n_hosts, sizeof(*j->hosts), by_name);
	for (i = 0; i < j->n_hosts; i++)
		dump_host(d, &j->hosts[i]);
}

/* The rows of one side, by job id and start. */
struct rows {
	struct {
		uint64_t	 job;
		int64_t		 start;
		int		 sent;	/* pending and never run ones are not */
		char		*text;
	} row[ROWS_MAX];
	size_t	n;
	size_t	bad;
};

static void
rows_add(struct rows *rows, struct sighting *s)
{
	static struct dump d;

	if (rows->n == ROWS_MAX)
		return;
	dump(&d, s);
	rows->row[rows->n].job = s->job.key.job;
	rows->row[rows->n].start = s->job.key.start;
	rows->row[rows->n].sent = s->state->phase != PHASE_PENDING &&
	    !s->never;
	rows->row[rows->n].text = strdup(d.text);
	rows->n++;
}

static void
rows_clear(struct rows *rows)
{
	while (rows->n > 0)
		free(rows->row[--rows->n].text);
	rows->bad = 0;
}

static int
on_text_job(struct span line, void *arg)
{
	struct rows *rows = arg;
	struct sighting s;
	struct span no_name = { NULL, 0 };

	sighting_init(&s);
	if (scontrol_record(line, no_name, &how, &s) == RECORD_GOOD)
		rows_add(rows, &s);
	else
		rows->bad++;
	sighting_clear(&s);
	return 0;
}

static int
on_text_acct(struct sighting *s, void *arg)
{
	rows_add(arg, s);
	return 0;
}

static int
on_json_job(struct span element, void *arg)
{
	struct rows *rows = arg;
	struct sighting s;

	sighting_init(&s);
	if (json_job(element, &json_how, &s) == RECORD_GOOD)
		rows_add(rows, &s);
	else
		rows->bad++;
	sighting_clear(&s);
	return 0;
}

static int
on_json_acct(struct span element, void *arg)
{
	struct rows *rows = arg;
	struct sighting s;

	sighting_init(&s);
	if (json_acct(element, &json_how, &s) == RECORD_GOOD)
		rows_add(rows, &s);
	else
		rows->bad++;
	sighting_clear(&s);
	return 0;
}

static const struct json_split_ops job_ops = { on_json_job, NULL, NULL };
static const struct json_split_ops acct_ops = { on_json_acct, NULL, NULL };

static void
json_rows(const char *version, const char *name,
    const struct json_split_ops *ops, struct rows *rows)
{
	struct json_split *split = json_split_new("jobs", 1024 * 1024, ops,
	    rows);
	size_t n;
	char *buf = file_read(version, name, &n);

	CHECK_INT(json_split_feed(split, buf, n), 0);
	CHECK_INT(json_split_end(split), 0);
	json_split_free(split);
	free(buf);
}

static void
text_jobs(const char *version, struct rows *rows)
{
	struct lines lines;
	size_t n;
	char *buf = file_read(version, "job.txt", &n);

	memset(&lines, 0, sizeof(lines));
	lines_feed(&lines, buf, n, on_text_job, rows);
	lines_clear(&lines);
	free(buf);
}

static void
text_acct(const char *version, struct rows *rows)
{
	struct sacct_reader r = { .delimiter = DATA_DELIMITER, .how = &how,
		.each = on_text_acct, .arg = rows };
	size_t n;
	char *buf = file_read(version, "acct.txt", &n);

	CHECK_INT(sacct_feed(&r, buf, n), 0);
	CHECK_INT(sacct_end(&r), 0);
	CHECK_INT(r.bad, 0);
	sacct_clear(&r);
	free(buf);
}

/* Returns how many rows both had. */
static int
compare(const char *version, const char *what, const struct rows *a,
    const struct rows *b)
{
	size_t i, k;
	int same, met = 0;

	for (i = 0; i < a->n; i++) {
		for (k = 0; k < b->n; k++)
			if (a->row[i].job == b->row[k].job &&
			    a->row[i].start == b->row[k].start)
				break;
		if (k == b->n || !a->row[i].sent)
			continue;
		met++;
		same = strcmp(a->row[i].text, b->row[k].text) == 0;
		CHECK(same);
		if (!same)
			fprintf(stderr, "%s %s\n--- text\n%s\n--- JSON\n%s\n",
			    version, what, a->row[i].text, b->row[k].text);
	}
	return met;
}

static void
test_version(const char *version)
{
	struct rows text = { .n = 0 }, json = { .n = 0 };
	struct lines lines;
	size_t n;
	char *buf = file_read(version, "node.txt", &n);
	int met;

	n_hosts = 0;
	memset(&lines, 0, sizeof(lines));
	lines_feed(&lines, buf, n, on_node, NULL);
	lines_clear(&lines);
	free(buf);
	CHECK(n_hosts >= 4);

	lacking = 0;
	skip = skipped(version, "jobs");
	text_jobs(version, &text);
	json_rows(version, "job.json", &job_ops, &json);
	CHECK_INT(json.bad, 0);
	CHECK_INT(lacking, 0);
	met = compare(version, "jobs", &text, &json);
	CHECK(met >= 15);
	printf("%s: %d jobs alike\n", version, met);
	rows_clear(&text);
	rows_clear(&json);

	skip = skipped(version, "accounting");
	text_acct(version, &text);
	json_rows(version, "acct.json", &acct_ops, &json);
	CHECK_INT(json.bad, 0);
	CHECK_INT(lacking, 0);
	met = compare(version, "accounting", &text, &json);
	CHECK(met >= 15);
	printf("%s: %d accounting records alike\n", version, met);
	rows_clear(&text);
	rows_clear(&json);
}

/*
 * Every member of an element, on every level, is deleted once and replaced by
 * values of other types once: the reader must survive, and either say that
 * the job is none or name what it lacks, unless nothing is read there.
 */
struct mutation {
	enum record_verdict (*read)(struct span, const struct json_reading *,
	    struct sighting *);
	unsigned	 tried;
	unsigned	 jobs_lost;
};

static void
mutant_read(struct mutation *m, const char *p, size_t n)
{
	/* Of its exact size, so that a read beyond it is found. */
	char *copy = malloc(n);
	struct span element = { copy, n };
	struct sighting s;

	memcpy(copy, p, n);
	sighting_init(&s);
	if (m->read(element, &json_how, &s) != RECORD_GOOD)
		m->jobs_lost++;
	sighting_clear(&s);
	free(copy);
	m->tried++;
}

/* Puts `with` in the place of [at, at + len) of the element. */
static void
mutate(struct mutation *m, struct span element, const char *at, size_t len,
    const char *with)
{
	size_t head = (size_t)(at - element.p), n = strlen(with);
	size_t tail = element.n - head - len;
	char *buf = malloc(element.n + n + 1);

	memcpy(buf, element.p, head);
	memcpy(buf + head, with, n);
	memcpy(buf + head + n, at + len, tail);
	mutant_read(m, buf, head + n + tail);
	free(buf);
}

static void
mutate_members(struct mutation *m, struct span element, struct span object,
    int depth)
{
	static const char *const values[] = { "null", "-1", "\"text\"", "[]",
		"{}", "true", "99999999999999999999", "[[[]]]",
		"{\"set\":true,\"infinite\":false,\"number\":\"x\"}" };
	struct json_iter it;
	struct span key, value;
	size_t i;

	if (depth > 6)
		return;
	json_iter_object(&it, object);
	while (json_member(&it, &key, &value)) {
		/* Another name is as good as none. */
		mutate(m, element, key.p, key.n, "renamed");
		for (i = 0; i < sizeof(values) / sizeof(values[0]); i++)
			mutate(m, element, value.p, value.n, values[i]);
		if (json_kind(value) == JSON_OBJECT)
			mutate_members(m, element, value, depth + 1);
		else if (json_kind(value) == JSON_ARRAY) {
			struct json_iter items;
			struct span item;

			json_iter_array(&items, value);
			while (json_item(&items, &item))
				mutate_members(m, element, item, depth + 1);
		}
	}
}

static int
on_mutable(struct span element, void *arg)
{
	struct mutation *m = arg;
	size_t cut;

	mutate_members(m, element, element, 0);
	for (cut = 1; cut < element.n; cut += 17)
		mutant_read(m, element.p, cut);
	/* One rich element is enough. */
	return m->tried > 2000 ? -1 : 0;
}

static void
test_mutations(const char *version, const char *name,
    enum record_verdict (*reader)(struct span, const struct json_reading *,
    struct sighting *))
{
	static const struct json_split_ops ops = { on_mutable, NULL, NULL };
	struct mutation m = { .read = reader };
	struct json_split *split = json_split_new("jobs", 1024 * 1024, &ops,
	    &m);
	size_t n;
	char *buf = file_read(version, name, &n);

	lacking = 0;
	json_split_feed(split, buf, n);
	json_split_free(split);
	free(buf);
	CHECK(m.tried > 1000);
	CHECK(lacking > 0);
	CHECK(m.jobs_lost < m.tried / 2);
	printf("%s %s: %u mutants, %u no job any more, %u fields named\n",
	    version, name, m.tried, m.jobs_lost, lacking);
}

int
main(void)
{
	static const char *const versions[] = { "22.05", "24.11", "26.05" };
	size_t i;

	gres_names_set(&gpus, "[\"gpu\"]");
	for (i = 0; i < 3; i++) {
		test_version(versions[i]);
		test_mutations(versions[i], "job.json", json_job);
		test_mutations(versions[i], "acct.json", json_acct);
	}
	return check_done();
}
