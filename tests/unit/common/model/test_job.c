/* SPDX-License-Identifier: MIT */
/* The record of a run: its bytes, and two records merged. */
#include "config.h"

#include <stdlib.h>

#include "common/model/job.h"
#include "common/model/msg.h"
#include "tests/unit/check.h"

static void
job_example(struct job *j)
{
	struct job_host *h;

	job_init(j);
	strcpy(j->key.cluster, "alpha");
	j->key.job = 4711;
	j->key.start = 1790000000;
	j->flags = JOB_HAS_START;
	j->user = strdup("u1");
	j->nodes = 2;
	h = job_add_host(j, "n1");
	job_host_add_cpus(h, 0, 3);
	job_host_add_cpus(h, 8, 11);
	job_host_add_accel(h, "00000000:C1:00.0");
	job_add_host(j, "n2");
}

static void
test_record(void)
{
	struct job a, b;
	struct writer w;
	struct reader r;
	size_t cut;

	job_example(&a);
	wr_init(&w, MSG_PAYLOAD_MAX);
	job_write(&w, &a);
	CHECK(wr_end(&w) == 0);
	rd_init(&r, w.buf, w.len);
	job_init(&b);
	job_read(&r, &b);
	CHECK(rd_end(&r) == 0);
	CHECK(run_key_equal(&a.key, &b.key));
	CHECK_STR(b.user, "u1");
	CHECK(b.account == NULL);
	CHECK_INT(b.n_hosts, 2);
	CHECK_INT(b.hosts[0].cpus[1].last, 11);
	CHECK_STR(b.hosts[0].accels[0], "00000000:C1:00.0");
	CHECK_INT(b.exit_code, -1);
	job_clear(&b);

	/* Cut at each byte the record is invalid. */
	for (cut = 0; cut < w.len; cut++) {
		rd_init(&r, w.buf, cut);
		job_init(&b);
		job_read(&r, &b);
		CHECK(rd_end(&r) == -1);
		job_clear(&b);
	}
	wr_clear(&w);
	job_clear(&a);
}

static void
test_merge(void)
{
	struct job a, b;

	job_example(&a);
	a.flags |= JOB_HAS_THREADS | JOB_HAS_ACCELS | JOB_MORE;
	job_example(&b);
	b.end = 1790000060;
	b.state = END_FAILED;
	b.exit_code = 256;
	CHECK_INT(job_merge(&a, &b), 1);
	CHECK_INT(a.state, END_FAILED);
	CHECK(a.hosts[0].n_cpus == 2);
	/* The end says nothing about the script, which still follows. */
	CHECK(a.flags & JOB_MORE);
	b.script = strdup("#!/bin/sh\n");
	CHECK_INT(job_merge(&a, &b), 1);
	CHECK_STR(a.script, "#!/bin/sh\n");
	CHECK((a.flags & JOB_MORE) == 0);
	/* A final state stays. */
	b.end = 1790000999;
	b.state = END_COMPLETED;
	CHECK_INT(job_merge(&a, &b), 0);
	CHECK_INT(a.end, 1790000060);
	job_clear(&b);

	/* First the counts, then the threads. */
	job_clear(&a);
	job_example(&a);
	a.message = strdup("no threads known");
	job_example(&b);
	b.flags |= JOB_HAS_THREADS;
	CHECK_INT(job_merge(&a, &b), 1);
	CHECK(a.flags & JOB_HAS_THREADS);
	CHECK(a.message == NULL);
	/* A later record without them changes nothing. */
	job_clear(&b);
	job_example(&b);
	CHECK_INT(job_merge(&a, &b), 0);
	CHECK(a.flags & JOB_HAS_THREADS);
	job_clear(&a);
	job_clear(&b);
}

/* A record of the cluster's spool with a revision. */
static void
job_revised(struct job *j, uint64_t revision, const char *name,
    const char *script, const char *message)
{
	job_example(j);
	j->revision = revision;
	j->name = name != NULL ? strdup(name) : NULL;
	j->script = script != NULL ? strdup(script) : NULL;
	j->message = message != NULL ? strdup(message) : NULL;
}

/* The states of a run arrive in any order, and more than once. */
static void
test_revisions(void)
{
	struct job a, b;

	/* The newer record comes second. */
	job_revised(&a, 10, "old", "s", "no threads known");
	job_revised(&b, 11, "new", NULL, "shortened");
	b.flags |= JOB_MORE;
	CHECK_INT(job_merge(&a, &b), 1);
	CHECK_STR(a.name, "new");
	CHECK_STR(a.script, "s");
	CHECK_STR(a.message, "shortened");
	CHECK_INT(a.revision, 11);
	job_clear(&b);

	/* The newer record comes again, then the older one once more. */
	job_revised(&b, 11, "new", NULL, "shortened");
	CHECK_INT(job_merge(&a, &b), 0);
	job_clear(&b);
	job_revised(&b, 10, "old", "s2", "no threads known");
	CHECK_INT(job_merge(&a, &b), 0);
	CHECK_STR(a.name, "new");
	CHECK_STR(a.script, "s");
	CHECK_STR(a.message, "shortened");
	CHECK_INT(a.revision, 11);
	job_clear(&a);
	job_clear(&b);

	/* The older record comes second: it adds only what is missing. */
	job_revised(&a, 11, "new", NULL, NULL);
	a.end = 1790000060;
	a.state = END_FAILED;
	job_revised(&b, 10, "old", "s", "no threads known");
	b.reason = strdup("Resources");
	CHECK_INT(job_merge(&a, &b), 1);
	CHECK_STR(a.name, "new");
	CHECK_STR(a.script, "s");
	CHECK_STR(a.reason, "Resources");
	CHECK(a.message == NULL);
	CHECK_INT(a.state, END_FAILED);
	CHECK_INT(a.revision, 11);
	job_clear(&a);
	job_clear(&b);

	/* An end with a lower revision replaces no reason. */
	job_revised(&a, 11, NULL, NULL, NULL);
	a.reason = strdup("new");
	job_revised(&b, 10, NULL, NULL, NULL);
	b.reason = strdup("old");
	b.end = 1790000060;
	b.state = END_COMPLETED;
	CHECK_INT(job_merge(&a, &b), 1);
	CHECK_STR(a.reason, "new");
	CHECK_INT(a.end, 1790000060);
	job_clear(&b);

	/* Slurm's own record has no revision: the rules of one spool. */
	job_revised(&b, 0, "slurm", NULL, NULL);
	CHECK_INT(job_merge(&a, &b), 1);
	CHECK_STR(a.name, "slurm");
	CHECK_INT(a.revision, 11);
	job_clear(&a);
	job_clear(&b);
}

#define THREADS JOB_HAS_THREADS
#define ACCELS	JOB_HAS_ACCELS
#define BOTH	(JOB_HAS_THREADS | JOB_HAS_ACCELS)
#define NOTHING "no threads and no devices known"

/*
 * The message names what the merged record lacks.  A run that is read again
 * after its end has neither threads nor devices.
 */
static const struct {
	const char *what;
	unsigned into;
	const char *into_message;
	unsigned from;
	const char *from_message;
	uint64_t revision; /* of from; that of into is 10; 0 = both have none */
	const char *want;  /* NULL = none */
	int changed;
} messages[] = {
	{ "all is kept", BOTH, NULL, 0, NOTHING, 0, NULL, 0 },
	{ "all is kept, newer revision", BOTH, NULL, 0, NOTHING, 11, NULL, 1 },
	{ "a run without devices", THREADS, NULL, 0, NOTHING, 0, NULL, 0 },
	{ "the threads are kept", THREADS, "no devices", 0, NOTHING, 0,
	    "no devices", 0 },
	{ "the threads are kept, newer revision", THREADS, "no devices", 0,
	    NOTHING, 11, "no devices", 1 },
	{ "the devices are kept", ACCELS, "no threads", 0, NOTHING, 11,
	    "no threads", 1 },
	{ "the devices are kept, threads again", BOTH, NULL, THREADS,
	    "no devices", 0, NULL, 0 },
	{ "one for the other", THREADS, "no devices", ACCELS, "no threads", 11,
	    "no devices", 1 },
	{ "nothing is kept", 0, NULL, 0, NOTHING, 0, NOTHING, 1 },
	{ "nothing to lose", BOTH, NULL, BOTH, "shortened", 0, "shortened", 1 },
	/* The message comes first. */
	{ "all comes later", 0, NOTHING, BOTH, NULL, 0, NULL, 1 },
	{ "all comes later, older revision", 0, NOTHING, BOTH, NULL, 9, NULL,
	    1 },
	{ "the threads come later", 0, NOTHING, THREADS, "no devices", 0,
	    "no devices", 1 },
	{ "the devices come later", THREADS, "no devices", BOTH, NULL, 0, NULL,
	    1 },
};

static void
test_messages(void)
{
	struct job a, b;
	size_t i;
	int changed, good;

	for (i = 0; i < sizeof(messages) / sizeof(messages[0]); i++) {
		job_revised(&a, messages[i].revision != 0 ? 10 : 0, NULL, NULL,
		    messages[i].into_message);
		job_revised(&b, messages[i].revision, NULL, NULL,
		    messages[i].from_message);
		a.flags |= messages[i].into;
		b.flags |= messages[i].from;
		changed = job_merge(&a, &b);
		good = messages[i].want == NULL || a.message == NULL ?
		    messages[i].want == a.message :
		    strcmp(messages[i].want, a.message) == 0;
		if (!good || changed != messages[i].changed)
			fprintf(stderr, "%s: %s\n", messages[i].what,
			    a.message != NULL ? a.message : "no message");
		CHECK(good);
		CHECK_INT(changed, messages[i].changed);
		job_clear(&a);
		job_clear(&b);
	}
}

/* A record without a revision has the bytes that version 0.1.0 reads. */
static void
test_versions(void)
{
	struct job a, b;
	struct writer w;
	struct reader r;

	job_example(&a);
	wr_init(&w, MSG_PAYLOAD_MAX);
	job_write(&w, &a);
	CHECK_INT(w.buf[0], 1);
	wr_reset(&w);
	a.revision = UINT64_MAX;
	job_write(&w, &a);
	CHECK_INT(w.buf[0], 2);
	job_init(&b);
	rd_init(&r, w.buf, w.len);
	job_read(&r, &b);
	CHECK_INT(rd_end(&r), 0);
	CHECK(b.revision == UINT64_MAX);
	job_clear(&b);
	memset(w.buf + w.len - 8, 0, 8);
	rd_init(&r, w.buf, w.len);
	job_read(&r, &b);
	CHECK_INT(rd_end(&r), -1);
	job_clear(&b);
	w.buf[0] = 3;
	rd_init(&r, w.buf, w.len);
	job_read(&r, &b);
	CHECK_INT(rd_end(&r), -1);
	job_clear(&a);
	job_clear(&b);
	wr_clear(&w);
}

/* Extreme times of a collector that an attacker controls. */
static void
test_times(void)
{
	static const int64_t bad[] = { -1, INT64_MIN, INT64_MAX };
	int64_t *members[4];
	struct job a, b;
	struct writer w;
	struct reader r;
	size_t i, k;

	for (k = 0; k < 4; k++)
		for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
			job_example(&a);
			members[0] = &a.key.start;
			members[1] = &a.submit;
			members[2] = &a.end;
			members[3] = &a.walltime;
			*members[k] = bad[i];
			wr_init(&w, 1 << 20);
			job_write(&w, &a);
			job_init(&b);
			rd_init(&r, w.buf, w.len);
			job_read(&r, &b);
			CHECK_INT(rd_end(&r), -1);
			job_clear(&a);
			job_clear(&b);
			wr_clear(&w);
		}
}

int
main(void)
{
	test_times();
	test_record();
	test_merge();
	test_revisions();
	test_messages();
	test_versions();
	return check_done();
}
