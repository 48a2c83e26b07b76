/* SPDX-License-Identifier: MIT */
/*
 * The short answers of sdiag, sacctmgr, `scontrol ping` and `scontrol show
 * config`, the rows of steps and of squeue.  All readers get each line.  Input
 * in one piece and in many must give the same result, and a correct answer behind
 * the input must be read correctly.  The input is also an error text of sacct.
 */
#include "config.h"

#include "collector/slurm/slurm.h"
#include "tests/fuzz/fuzz.h"

#define LIMIT_MAX 1000000u /* of a parameter of slurmctld's rate limit */

static const char user[] = "labop";
static const char host[] = "ctl.example.org";

struct answers {
	struct lines lines;
	struct sdiag sdiag;
	struct admin admin;
	struct dbd_config dbd;
	struct slurm slurm;
	struct controllers controllers;
	uint64_t rows; /* a digest of the rows of steps and jobs */
};

static void
rows_read(struct answers *w, struct span line)
{
	struct squeue_job row;
	struct job_step step;

	if (step_row(line, &step) == 0) {
		HOLDS(step.start >= 0 && step.end >= 0);
		w->rows = digest(w->rows, &step.job, sizeof(step.job));
		w->rows = digest(w->rows, &step.is_run, sizeof(step.is_run));
		w->rows = digest(w->rows, &step.start, sizeof(step.start));
		w->rows = digest(w->rows, &step.end, sizeof(step.end));
	}
	if (squeue_row(line, &row) == 0) {
		HOLDS(row.job != 0 && row.state != NULL && row.start >= 0);
		w->rows = digest(w->rows, &row.job, sizeof(row.job));
		w->rows = digest(w->rows, &row.start, sizeof(row.start));
	}
}

static int
on_line(struct span line, void *arg)
{
	struct answers *w = arg;
	char *copy = exact(line.p, line.n);

	line.p = copy;
	sdiag_line(&w->sdiag, line);
	admin_line(&w->admin, user, line);
	dbd_config_line(&w->dbd, line);
	controllers_line(&w->controllers, host, line);
	slurm_config_line(&w->slurm, line);
	rows_read(w, line);
	free(copy);
	return 0;
}

static void
answers_init(struct answers *w)
{
	memset(w, 0, sizeof(*w));
	w->sdiag.queue = -1;
	w->controllers.first_up = w->controllers.ours = -1;
}

static int
feed(const char *p, size_t n, void *arg)
{
	struct answers *w = arg;

	return lines_feed(&w->lines, p, n, on_line, w);
}

static void
answers_hold(const struct answers *w)
{
	const struct slurm *s = &w->slurm;
	const struct controllers *c = &w->controllers;

	HOLDS(c->n <= CONTROLLERS_MAX);
	HOLDS(c->first_up >= -1 && c->first_up < (int)c->n);
	HOLDS(c->ours >= -1 && c->ours < (int)c->n);
	HOLDS(w->sdiag.clock >= 0 && w->sdiag.queue >= -1);
	HOLDS(w->admin.known || !w->admin.operator);
	HOLDS(w->dbd.reached || !w->dbd.private_jobs);
	HOLDS(memchr(s->cluster, '\0', sizeof(s->cluster)) != NULL);
	HOLDS(memchr(s->version_text, '\0', sizeof(s->version_text)) != NULL);
	HOLDS(memchr(s->slurm_user, '\0', sizeof(s->slurm_user)) != NULL);
	HOLDS(strchr(s->slurm_user, '(') == NULL);
	HOLDS(s->version <= 9912 && s->version % 100 <= 12);
	HOLDS(s->min_job_age >= 0);
	HOLDS(s->limit_bucket <= LIMIT_MAX && s->limit_rate <= LIMIT_MAX &&
	    s->limit_period <= LIMIT_MAX);
	HOLDS(memchr(s->prolog, '\0', sizeof(s->prolog)) != NULL);
	HOLDS(memchr(s->epilog, '\0', sizeof(s->epilog)) != NULL);
	HOLDS(memchr(s->prep, '\0', sizeof(s->prep)) != NULL);
	/* A configuration must not change other values. */
	HOLDS(!s->root && s->user[0] == '\0' && !s->known);
}

static int
is_same(const struct answers *a, const struct answers *b)
{
	return a->sdiag.clock == b->sdiag.clock &&
	    a->sdiag.queue == b->sdiag.queue &&
	    a->admin.known == b->admin.known &&
	    a->admin.operator== b->admin.operator&& a->dbd.reached ==
	    b->dbd.reached && a->dbd.private_jobs == b->dbd.private_jobs &&
	    a->controllers.n == b->controllers.n &&
	    a->controllers.first_up == b->controllers.first_up &&
	    a->controllers.ours == b->controllers.ours && a->rows == b->rows &&
	    strcmp(a->slurm.cluster, b->slurm.cluster) == 0 &&
	    strcmp(a->slurm.version_text, b->slurm.version_text) == 0 &&
	    strcmp(a->slurm.slurm_user, b->slurm.slurm_user) == 0 &&
	    a->slurm.version == b->slurm.version &&
	    a->slurm.private_jobs == b->slurm.private_jobs &&
	    a->slurm.accounting == b->slurm.accounting &&
	    a->slurm.min_job_age == b->slurm.min_job_age;
}

/* A correct answer is read correctly, whatever came before. */
static void
plain_holds(struct answers *w)
{
	static const char answer[] =
	    "\nsdiag output at Sat Nov 21 13:00:00 2026 (1795266000)\n"
	    "DBD Agent queue size: 12\n"
	    "LABOP|Operator\n"
	    "Slurmctld(primary) at CTL is UP\n"
	    "ClusterName             = alpha\n"
	    "SLURM_VERSION           = 22.05.8\n"
	    "MinJobAge               = 300 sec\n"
	    "PrivateData             = none\n"
	    "SlurmDBD configuration:\n"
	    "PrivateData             = users,jobs\n"
	    "PrivateData             = users\n";

	HOLDS(feed(answer, sizeof(answer) - 1, w) == 0);
	HOLDS(w->sdiag.clock == 1795266000 && w->sdiag.queue == 12);
	HOLDS(w->admin.known && w->admin.operator);
	HOLDS(strcmp(w->slurm.cluster, "alpha") == 0);
	HOLDS(w->slurm.version == 2205 && w->slurm.min_job_age == 300);
	HOLDS(!w->slurm.private_jobs);
	HOLDS(w->dbd.reached && !w->dbd.private_jobs);
	if (w->controllers.n > 0 && w->controllers.n < CONTROLLERS_MAX)
		HOLDS(w->controllers.first_up != -1 &&
		    w->controllers.ours == (int)w->controllers.n - 1);
}

/* Each answer names a column that was not missing before, so sacct is asked again. */
static void
lacks_hold(const uint8_t *bytes, size_t n)
{
	char *err = exact_string(bytes, n);
	uint32_t lacking = 0, before = 0;

	while (sacct_lacks(err, &lacking) != NULL) {
		HOLDS((lacking & before) == before && lacking != before);
		before = lacking;
	}
	HOLDS(lacking == before);
	free(err);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	static struct answers whole, parts;
	char *copy = exact(bytes, n);

	fuzz_quiet();
	lacks_hold(bytes, n);
	answers_init(&whole);
	answers_init(&parts);
	HOLDS(feed(copy, n, &whole) == 0);
	HOLDS(fuzz_pieces(bytes, n, feed, &parts) == 0);
	HOLDS(lines_end(&whole.lines, on_line, &whole) == 0);
	HOLDS(lines_end(&parts.lines, on_line, &parts) == 0);
	answers_hold(&whole);
	HOLDS(is_same(&whole, &parts));
	plain_holds(&whole);
	lines_clear(&whole.lines);
	lines_clear(&parts.lines);
	free(copy);
	return 0;
}
