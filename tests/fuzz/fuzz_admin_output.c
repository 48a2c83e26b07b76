/* SPDX-License-Identifier: MIT */
/*
 * The short answers of sdiag, sacctmgr, `scontrol ping`, `scontrol show
 * config`, the rows of steps and of the frequent question: each line goes to
 * all readers, once whole and once in pieces, with one result; then a plain
 * answer behind it must be read as what it says.
 */
#include "config.h"

#include "collector/slurm/slurm.h"
#include "tests/fuzz/fuzz.h"

static const char user[] = "labop";
static const char host[] = "ctl.example.org";

struct words {
	struct lines	lines;
	struct sdiag	sdiag;
	struct admin	admin;
	struct dbd_config dbd;
	struct slurm	slurm;
	struct controllers controllers;
	uint64_t	rows;		/* of steps and jobs, as a number */
};

static void
rows_read(struct words *w, struct span line)
{
	struct squeue_job row;
	struct job_step step;

	if (step_row(line, &step) == 0) {
		HOLDS(step.start >= 0 && step.end >= 0);
		w->rows = digest(w->rows, &step, sizeof(step));
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
	struct words *w = arg;
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
words_init(struct words *w)
{
	memset(w, 0, sizeof(*w));
	w->sdiag.queue = -1;
	w->controllers.first_up = w->controllers.ours = -1;
}

static int
feed(const char *p, size_t n, void *arg)
{
	struct words *w = arg;

	return lines_feed(&w->lines, p, n, on_line, w);
}

static void
words_hold(const struct words *w)
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
	/* Nothing of a configuration's words reaches what it does not tell. */
	HOLDS(s->path[0][0] == '\0' && s->user[0] == '\0' && !s->known);
}

static int
is_same(const struct words *a, const struct words *b)
{
	return a->sdiag.clock == b->sdiag.clock &&
	    a->sdiag.queue == b->sdiag.queue &&
	    a->admin.known == b->admin.known &&
	    a->admin.operator == b->admin.operator &&
	    a->dbd.reached == b->dbd.reached &&
	    a->dbd.private_jobs == b->dbd.private_jobs &&
	    a->controllers.n == b->controllers.n &&
	    a->controllers.first_up == b->controllers.first_up &&
	    a->controllers.ours == b->controllers.ours &&
	    a->rows == b->rows &&
	    strcmp(a->slurm.cluster, b->slurm.cluster) == 0 &&
	    strcmp(a->slurm.version_text, b->slurm.version_text) == 0 &&
	    strcmp(a->slurm.slurm_user, b->slurm.slurm_user) == 0 &&
	    a->slurm.version == b->slurm.version &&
	    a->slurm.private_jobs == b->slurm.private_jobs &&
	    a->slurm.accounting == b->slurm.accounting &&
	    a->slurm.min_job_age == b->slurm.min_job_age;
}

/* Whatever came before: a plain answer is read as it is. */
static void
plain_holds(struct words *w)
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
		HOLDS(w->controllers.first_up != -1 && w->controllers.ours ==
		    (int)w->controllers.n - 1);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	static struct words whole, parts;
	char *copy = exact(bytes, n);

	fuzz_quiet();
	words_init(&whole);
	words_init(&parts);
	HOLDS(feed(copy, n, &whole) == 0);
	HOLDS(fuzz_pieces(bytes, n, feed, &parts) == 0);
	HOLDS(lines_end(&whole.lines, on_line, &whole) == 0);
	HOLDS(lines_end(&parts.lines, on_line, &parts) == 0);
	words_hold(&whole);
	HOLDS(is_same(&whole, &parts));
	plain_holds(&whole);
	lines_clear(&whole.lines);
	lines_clear(&parts.lines);
	free(copy);
	return 0;
}
