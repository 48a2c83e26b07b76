/* SPDX-License-Identifier: MIT */
/* `status`: the runs that slurmctld does not have any more. */
#include "config.h"

#include <stdarg.h>
#include <string.h>

#include "collector/collector.h"
#include "tests/unit/check.h"
#include "tests/unit/collector/simulation.h"

static struct collector collector;
static struct summary summary;
static char shown[1024]; /* the row `runaways` */

unsigned
hook_events_waiting(const struct hook_events *e)
{
	return 0;
}

unsigned
scripts_waiting(const struct scripts *s)
{
	return 0;
}

size_t
node_states_count(const struct node_states *n)
{
	return 0;
}

uint64_t
node_states_sent(const struct node_states *n)
{
	return 0;
}

int
hook_auth_is_on(const struct hook_auth *a)
{
	return 0;
}

void
hook_auth_counts(const struct hook_auth *a, struct hook_auth_counts *n)
{
}

void
controller_role_status(struct controller_role *a, uint64_t request)
{
}

uint64_t
runner_total(const struct runner_link *r)
{
	return 0;
}

unsigned
runner_running(const struct runner_link *r)
{
	return 0;
}

uint64_t
runner_peak(const struct runner_link *r, const char **command)
{
	*command = "none";
	return 0;
}

void
worker_status(struct worker *w, uint64_t request, const char *key,
    const char *fmt, ...)
{
	va_list ap;

	if (strcmp(key, "runaways") != 0)
		return;
	va_start(ap, fmt);
	vsnprintf(shown, sizeof(shown), fmt, ap);
	va_end(ap);
}

static void
left_put(struct cluster *c, uint64_t job)
{
	struct open_run *run = open_put(&c->open, job, SIM_EPOCH);

	run->flags = OPEN_LEFT;
	run->tries = 2;
}

static enum permission permission = PERMISSION_OPERATOR;

/* The row and the problem with n runs that slurmctld does not have. */
static void
ask(int accounting, unsigned n)
{
	struct cluster *c = sim_begin(NULL, NULL);
	struct worker w = { .arg = &collector };

	c->slurm.accounting = accounting;
	c->permission = permission;
	while (n > 0)
		left_put(c, 10 + --n);
	memset(&summary, 0, sizeof(summary));
	collector.site = *c->site;
	collector.outbox = c->outbox;
	collector.lanes[0] = (struct lanes) { .c = c, .runaways_at = -60 };
	status_rows(&collector, 1);
	status_summary(&w, &summary);
}

static void
expect(const char *row, const char *problem)
{
	CHECK_STR(shown, row);
	CHECK_INT(summary.n, *problem != '\0');
	CHECK_STR(summary.problems[0].text, problem);
}

/* sacctmgr corrects slurmdbd; without slurmdbd, it has nothing to correct. */
int
main(void)
{
	ask(1, 0);
	expect("none", "");
	ask(1, 1);
	expect("1, jobs 10: unknown to slurmctld, without an end in slurmdbd; "
	       "run `sacctmgr show runawayjobs` to correct slurmdbd",
	    "slurmdbd shows 1 job without an end that slurmctld does not have; "
	    "run: sacctmgr show runawayjobs");
	permission = PERMISSION_NONE;
	ask(1, 1);
	CHECK_STR(shown, "none");
	permission = PERMISSION_OPERATOR;
	ask(0, 0);
	expect("none", "");
	ask(0, 1);
	expect("1, jobs 10: unknown to slurmctld, and without slurmdbd no end "
	       "is known; stop them in cc-backend",
	    "slurmctld does not have 1 open job any more, and without slurmdbd "
	    "no end is known; stop the job in cc-backend");
	ask(0, 2);
	CHECK_STR(summary.problems[0].text,
	    "slurmctld does not have 2 open jobs any more, and without "
	    "slurmdbd no end is known; stop the jobs in cc-backend");
	return check_done();
}
