/* SPDX-License-Identifier: MIT */
/*
 * Two readers, one record: on every recorded output that has both shapes the
 * text and the JSON reader must say the same of every job.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "collector/parse/json_read.h"
#include "tests/unit/check.h"
#include "tests/unit/dump_record.h"
#include "tests/unit/recording.h"

#define DATA_DELIMITER	"<~!>"
#define ROWS_MAX	256

static struct recorded_hosts hosts;
static struct gres_names gpus;
static struct read_options how = { .gpus = &gpus, .opt_out_word = "keep_away",
	.device = recording_device };
static unsigned lacking;

static void
on_lack(uint64_t job, const char *field, void *arg)
{
	lacking++;
	if (getenv("VERBOSE") != NULL)
		fprintf(stderr, "job %llu lacks %s\n", (unsigned long long)job,
		    field);
}

static struct json_reading json_how = { .how = &how, .shape = recording_shape,
	.lacks = on_lack, .arg = &hosts };

/* Deliberate differences: what is not compared, and why that is right. */
static const struct difference {
	const char	*version;
	const char	*what;
	unsigned	 skip;
	const char	*why;
} differences[] = {
	{ "22.05", "jobs", DUMP_MEMORY,
	    "no cpus_per_task in JSON: memory per CPU cannot be added up" },
	{ "22.05", "accounting", DUMP_USER,
	    "null where the user has no account; text names the user" },
	{ "22.05", "accounting", DUMP_EXIT,
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
rows_add(struct rows *rows, struct job_snapshot *s)
{
	static struct dump d;

	if (rows->n == ROWS_MAX)
		return;
	dump_record(&d, s, skip | DUMP_REASON);
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
	struct job_snapshot s;
	struct span no_name = { NULL, 0 };

	snapshot_init(&s);
	if (scontrol_record(line, no_name, &how, &s) == RECORD_GOOD)
		rows_add(rows, &s);
	else
		rows->bad++;
	snapshot_clear(&s);
	return 0;
}

static int
on_text_acct(struct job_snapshot *s, void *arg)
{
	rows_add(arg, s);
	return 0;
}

static int
on_json_job(struct span element, void *arg)
{
	struct rows *rows = arg;
	struct job_snapshot s;

	snapshot_init(&s);
	if (json_job(element, &json_how, &s) == RECORD_GOOD)
		rows_add(rows, &s);
	else
		rows->bad++;
	snapshot_clear(&s);
	return 0;
}

static int
on_json_acct(struct span element, void *arg)
{
	struct rows *rows = arg;
	struct job_snapshot s;

	snapshot_init(&s);
	if (json_acct(element, &json_how, &s) == RECORD_GOOD)
		rows_add(rows, &s);
	else
		rows->bad++;
	snapshot_clear(&s);
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
	char *buf = recording_read(version, name, &n);

	CHECK_INT(json_split_feed(split, buf, n), 0);
	CHECK_INT(json_split_end(split), 0);
	json_split_free(split);
	free(buf);
}

static void
text_jobs(const char *version, struct rows *rows)
{
	recording_lines(version, "job.txt", on_text_job, rows);
}

static void
text_acct(const char *version, struct rows *rows)
{
	struct sacct_reader r = { .delimiter = DATA_DELIMITER, .how = &how,
		.each = on_text_acct, .arg = rows };
	size_t n;
	char *buf = recording_read(version, "acct.txt", &n);

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
	int met;

	recording_hosts(version, "node.txt", &hosts);
	CHECK(hosts.n >= 4);

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

int
main(void)
{
	static const char *const versions[] = { "22.05", "24.11", "26.05" };
	size_t i;

	gres_names_set(&gpus, "[\"gpu\"]");
	for (i = 0; i < 3; i++)
		test_version(versions[i]);
	return check_done();
}
