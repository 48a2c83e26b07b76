/* SPDX-License-Identifier: MIT */
/*
 * What a snapshot of a job means: cases of one job, each a sequence of what
 * Slurm shows, with the messages and the open runs that follow.
 */
#include "config.h"

#include <stdlib.h>

#include "collector/track/track.h"
#include "tests/unit/check.h"
#include "tests/unit/collector/simulation.h"

#define JOB 10

enum source {
	END_OF_CASE,
	SHOWN,		   /* scontrol shows the job */
	SQUEUE,		   /* a row of squeue; state as %t prints it */
	LEFT,		   /* squeue shows no run of the job any more */
	ROW,		   /* a row of accounting */
	ROW_MAY_ASK,	   /* the same; slurmctld may be asked first */
	ROW_NO_HOSTS,	   /* the same; the job has no hosts */
	ROW_RAN,	   /* the same; accounting has a step of it */
	ROW_NEVER_RAN,	   /* the same; accounting has none */
	ROW_NEVER_RAN_ASK, /* the same; slurmctld may be asked first */
	ROW_REPLACED	   /* the same; accounting has a later run */
};

struct step {
	enum source source;
	const char *state;
	unsigned restarts; /* accounting never says it */
	int64_t submit;
	int64_t start;
	int64_t end; /* 0 = none */
	const char *said;
	const char *open;
};

struct test_case {
	const char *title;
	void (*setup)(struct cluster *c);
	struct step steps[8];
};

static void
version_2302(struct cluster *c)
{
	c->slurm.version = 2302;
}

static void
asked_at_900(struct cluster *c)
{
	c->listing.asked_at = SIM_EPOCH + 900;
}

static void
ignore_node1(struct cluster *c)
{
	sim_set(c, CONF_IGNORE_HOSTS, "^node1$");
}

static void
ignore_node2(struct cluster *c)
{
	sim_set(c, CONF_IGNORE_HOSTS, "^node2$");
}

/* The supervisor has set aside one run of two. */
static void
quarantine_100(struct cluster *c)
{
	struct run_key *key = &c->site->quarantined[c->site->n_quarantined++];

	key->job = JOB;
	key->start = SIM_EPOCH + 100;
	snprintf(key->cluster, sizeof(key->cluster), "alpha");
}

static void
steps_asked(struct cluster *c)
{
	(void)idmap_put(&c->work.steps, JOB, NULL);
}

static void
catching_up(struct cluster *c)
{
	c->caught_up = 0;
}

static void
without_steps(struct cluster *c)
{
	c->slurm.no_steps = 1;
}

static void
without_accounting(struct cluster *c)
{
	c->caught_up = 0;
	c->slurm.accounting = 0;
}

/* clang-format off */
static const struct test_case cases[] = {
	{ "the start, its repetition, the end, its repetition", NULL, {
	{ SHOWN, "RUNNING", 0, 50, 100, 0, "start 10/100", "10/100 runs" },
	{ SHOWN, "RUNNING", 0, 50, 100, 0, "", "10/100 runs" },
	{ SHOWN, "COMPLETED", 0, 50, 100, 500,
	    "end 10/100-500 completed", "" },
	{ SHOWN, "COMPLETED", 0, 50, 100, 500, "", "" },
	{ SHOWN, "RUNNING", 0, 50, 100, 0, "", "" },
	{ ROW, "COMPLETED", 0, 50, 100, 500, "", "" } } },

	{ "the end comes from accounting, once", NULL, {
	{ SHOWN, "RUNNING", 0, 50, 100, 0, "start 10/100", "10/100 runs" },
	{ LEFT, NULL, 0, 0, 0, 0, "", "10/100 runs left" },
	{ ROW, "TIMEOUT", 0, 50, 100, 500, "end 10/100-500 timeout", "" },
	{ ROW, "TIMEOUT", 0, 50, 100, 500, "", "" } } },

	{ "a row of a running job is no end", NULL, {
	{ ROW, "RUNNING", 0, 50, 100, 0, "", "" },
	{ ROW, "COMPLETED", 0, 50, 100, 0, "", "" } } },

	{ "a run that nobody saw waits for slurmctld's answer", NULL, {
	{ ROW_MAY_ASK, "COMPLETED", 0, 50, 100, 900, "wants-details", "" },
	{ ROW, "COMPLETED", 0, 50, 100, 900,
	    "end 10/100-900 completed", "" } } },

	{ "slurmctld has forgotten the run: nobody is asked", NULL, {
	{ ROW_MAY_ASK, "COMPLETED", 0, 50, 100, 660,
	    "end 10/100-660 completed", "" } } },

	{ "requeue: the new run starts, the earlier one has left", NULL, {
	{ SHOWN, "RUNNING", 0, 50, 100, 0, "start 10/100", "10/100 runs" },
	{ SHOWN, "PENDING", 1, 250, 400, 0, "", "10/100 runs left" },
	{ SHOWN, "RUNNING", 1, 250, 400, 0, "start 10/400",
	    "10/100 runs left, 10/400 runs" },
	{ ROW, "NODE_FAIL", 0, 50, 100, 200, "end 10/100-200 node_fail",
	    "10/400 runs" },
	{ SHOWN, "COMPLETED", 1, 250, 400, 500,
	    "end 10/400-500 completed", "" } } },

	{ "requeue between two polls: the pending job was not seen", NULL, {
	{ SHOWN, "RUNNING", 0, 50, 100, 0, "start 10/100", "10/100 runs" },
	{ SHOWN, "RUNNING", 1, 250, 400, 0, "start 10/400",
	    "10/100 runs left, 10/400 runs" } } },

	{ "a pending job without a restart ends no run", NULL, {
	{ SHOWN, "RUNNING", 0, 50, 100, 0, "start 10/100", "10/100 runs" },
	{ SHOWN, "PENDING", 0, 50, 100, 0, "", "10/100 runs" } } },

	{ "resize before 23.02: the second row keeps the start", NULL, {
	{ SHOWN, "RUNNING", 0, 50, 100, 0, "start 10/100", "10/100 runs" },
	{ ROW, "RESIZING", 0, 50, 100, 300, "", "10/100 runs" },
	{ LEFT, NULL, 0, 0, 0, 0, "", "10/100 runs left" },
	{ ROW, "COMPLETED", 0, 50, 100, 500,
	    "end 10/100-500 completed", "" } } },

	{ "before 23.02: powered up, then resized, never seen running", NULL, {
	{ SHOWN, "CONFIGURING", 0, 50, 100, 0, "held 10/100", "10/100 held" },
	{ LEFT, NULL, 0, 0, 0, 0, "", "10/100 held left" },
	{ ROW, "RESIZING", 0, 50, 150, 300, "", "10/100 held left" },
	{ ROW, "RESIZING", 0, 300, 150, 400, "", "10/100 held left" },
	{ ROW, "COMPLETED", 0, 400, 150, 500,
	    "end 10/150-500 completed", "" } } },

	{ "before 23.02 a row with a later submission is another run", NULL, {
	{ SHOWN, "RUNNING", 0, 50, 100, 0, "start 10/100", "10/100 runs" },
	{ ROW, "COMPLETED", 0, 300, 300, 500,
	    "end 10/300-500 completed", "10/100 runs" } } },

	{ "resize from 23.02: the second row starts anew", version_2302, {
	{ SHOWN, "RUNNING", 0, 50, 100, 0, "start 10/100", "10/100 runs" },
	{ ROW, "RESIZING", 0, 50, 100, 300, "", "10/100 runs" },
	{ LEFT, NULL, 0, 0, 0, 0, "", "10/100 runs left" },
	{ ROW, "COMPLETED", 0, 300, 300, 500,
	    "end 10/100-500 completed", "" },
	{ ROW, "COMPLETED", 0, 300, 300, 500, "", "" } } },

	{ "from 23.02: a job with the same id is no resized part", version_2302,
	    {
	{ SHOWN, "RUNNING", 0, 50, 100, 0, "start 10/100", "10/100 runs" },
	{ LEFT, NULL, 0, 0, 0, 0, "", "10/100 runs left" },
	{ SHOWN, "RUNNING", 0, 600, 600, 0, "start 10/600",
	    "10/100 runs left, 10/600 runs" },
	{ SHOWN, "COMPLETED", 0, 600, 600, 700,
	    "end 10/600-700 completed", "10/100 runs left" },
	{ ROW, "COMPLETED", 0, 600, 600, 700, "", "10/100 runs left" },
	{ ROW, "NODE_FAIL", 0, 50, 100, 500, "end 10/100-500 node_fail",
	    "" } } },

	{ "resize from 23.02: only accounting has the run", version_2302, {
	{ ROW, "RESIZING", 0, 50, 100, 300, "", "" },
	{ ROW, "RESIZING", 0, 300, 300, 400, "", "" },
	{ ROW, "COMPLETED", 0, 400, 400, 500,
	    "end 10/100-500 completed", "" },
	{ ROW, "COMPLETED", 0, 400, 400, 500, "", "" } } },

	{ "resize from 23.02: slurmctld has shown the end", version_2302, {
	{ SHOWN, "RUNNING", 0, 50, 100, 0, "start 10/100", "10/100 runs" },
	{ SHOWN, "COMPLETED", 0, 50, 100, 500,
	    "end 10/100-500 completed", "" },
	{ ROW, "RESIZING", 0, 50, 100, 300, "", "" },
	{ ROW, "COMPLETED", 0, 300, 300, 500, "", "" } } },

	{ "failed prolog: the row waits for its steps", NULL, {
	{ ROW, "REQUEUED", 0, 50, 100, 105, "wants-steps", "" },
	{ ROW_NEVER_RAN, "REQUEUED", 0, 50, 100, 105,
	    "end 10/100-105 requeued never-ran", "" } } },

	{ "slurmctld ended in the prolog: the next one runs it", NULL, {
	{ ROW_NEVER_RAN, "REQUEUED", 0, 50, 100, 101,
	    "end 10/100-101 requeued never-ran", "" },
	{ SHOWN, "CONFIGURING", 0, 50, 100, 0, "", "" },
	{ SHOWN, "RUNNING", 0, 50, 100, 0, "start 10/100", "10/100 runs" },
	{ LEFT, NULL, 0, 0, 0, 0, "", "10/100 runs left" },
	{ ROW_NEVER_RAN, "REQUEUED", 0, 50, 100, 101, "",
	    "10/100 runs left" },
	{ ROW, "COMPLETED", 0, 50, 100, 500,
	    "end 10/100-500 completed", "" },
	{ ROW_NEVER_RAN, "REQUEUED", 0, 50, 100, 101, "", "" } } },

	{ "a run that ended in its prolog completes", NULL, {
	{ ROW_NEVER_RAN, "REQUEUED", 0, 50, 100, 105,
	    "end 10/100-105 requeued never-ran", "" },
	{ SHOWN, "COMPLETING", 0, 50, 100, 0, "", "" } } },

	{ "the same, found when it has ended", NULL, {
	{ ROW_NEVER_RAN, "REQUEUED", 0, 50, 100, 101,
	    "end 10/100-101 requeued never-ran", "" },
	{ ROW, "COMPLETED", 0, 50, 100, 500,
	    "end 10/100-500 completed", "" },
	{ ROW, "COMPLETED", 0, 50, 100, 500, "", "" } } },

	{ "the steps show that the requeued run ran", NULL, {
	{ ROW_RAN, "REQUEUED", 0, 50, 100, 105, "end 10/100-105 requeued",
	    "" } } },

	{ "accounting has no steps: the requeued run is reported",
	    without_steps, {
	{ ROW, "REQUEUED", 0, 50, 100, 105, "end 10/100-105 requeued", "" },
	{ ROW, "REQUEUED", 0, 50, 100, 105, "", "" },
	{ ROW, "REQUEUED", 0, 50, 200, 200,
	    "end 10/200-200 requeued never-ran", "" } } },

	{ "a requeued run of 600 s may have had a prolog only", NULL, {
	{ ROW, "REQUEUED", 0, 50, 100, 700, "wants-steps", "" } } },

	{ "a requeued run of 601 s ran", NULL, {
	{ ROW, "REQUEUED", 0, 50, 100, 701, "end 10/100-701 requeued",
	    "" } } },

	{ "a requeued run of no time did not run", NULL, {
	{ ROW, "REQUEUED", 0, 50, 100, 100,
	    "end 10/100-100 requeued never-ran", "" } } },

	{ "no row overtakes one that waits for its steps", steps_asked, {
	{ ROW, "COMPLETED", 0, 50, 100, 500, "wants-steps", "" },
	{ ROW_RAN, "COMPLETED", 0, 50, 100, 500,
	    "end 10/100-500 completed", "" } } },

	{ "two rows of one second: the one without time is another's", NULL, {
	{ SHOWN, "RUNNING", 1, 50, 100, 0, "start 10/100", "10/100 runs" },
	{ LEFT, NULL, 0, 0, 0, 0, "", "10/100 runs left" },
	{ ROW, "REQUEUED", 0, 50, 100, 100, "", "10/100 runs left" },
	{ ROW, "COMPLETED", 0, 50, 100, 500,
	    "end 10/100-500 completed", "" } } },

	{ "the clock was set back: the row starts before its submission",
	    NULL, {
	{ SHOWN, "RUNNING", 0, 80, 100, 0, "start 10/100", "10/100 runs" },
	{ LEFT, NULL, 0, 0, 0, 0, "", "10/100 runs left" },
	{ ROW, "COMPLETED", 0, 80, 60, 90, "end 10/100-90 completed", "" } } },

	{ "the clock was set back to after the submission: a row of no time",
	    NULL, {
	{ SHOWN, "RUNNING", 0, 50, 100, 0, "start 10/100", "10/100 runs" },
	{ LEFT, NULL, 0, 0, 0, 0, "", "10/100 runs left" },
	{ ROW, "COMPLETED", 0, 50, 80, 80, "end 10/100-80 completed", "" } } },

	{ "an earlier row of no time that was requeued is another run", NULL, {
	{ SHOWN, "RUNNING", 0, 50, 100, 0, "start 10/100", "10/100 runs" },
	{ ROW, "REQUEUED", 0, 50, 80, 80,
	    "end 10/80-80 requeued never-ran", "10/100 runs" },
	{ ROW, "NODE_FAIL", 0, 50, 80, 80, "end 10/80-80 node_fail",
	    "10/100 runs" } } },

	{ "an earlier row of another submission is another run", NULL, {
	{ SHOWN, "RUNNING", 0, 80, 100, 0, "start 10/100", "10/100 runs" },
	{ ROW, "COMPLETED", 0, 40, 60, 90, "end 10/60-90 completed",
	    "10/100 runs" } } },

	{ "unconfirmed start: held until squeue shows the run", NULL, {
	{ SHOWN, "CONFIGURING", 0, 50, 100, 0, "held 10/100",
	    "10/100 held" },
	{ SHOWN, "CONFIGURING", 0, 50, 100, 0, "", "10/100 held" },
	{ SQUEUE, "CF", 0, 0, 100, 0, "", "10/100 held" },
	{ SQUEUE, "CG", 0, 0, 100, 0, "", "10/100 held" },
	{ SQUEUE, "R", 0, 0, 100, 0, "confirm 10/100", "10/100 runs" },
	{ SQUEUE, "R", 0, 0, 100, 0, "", "10/100 runs" } } },

	{ "COMPLETING may be a failed prolog: the start is held", NULL, {
	{ SHOWN, "COMPLETING", 0, 50, 100, 0, "held 10/100",
	    "10/100 held" } } },

	{ "unconfirmed start: scontrol shows the run", NULL, {
	{ SHOWN, "CONFIGURING", 0, 50, 100, 0, "held 10/100",
	    "10/100 held" },
	{ SHOWN, "RUNNING", 0, 50, 100, 0, "start 10/100",
	    "10/100 runs" } } },

	{ "unconfirmed start: the prolog fails, the run is forgotten", NULL, {
	{ SHOWN, "CONFIGURING", 0, 50, 100, 0, "held 10/100",
	    "10/100 held" },
	{ SHOWN, "PENDING", 1, 110, 230, 0, "", "10/100 held left" },
	{ ROW, "REQUEUED", 0, 50, 100, 110, "wants-steps",
	    "10/100 held left" },
	{ ROW_NEVER_RAN, "REQUEUED", 0, 50, 100, 110,
	    "end 10/100-110 requeued never-ran", "" } } },

	{ "a node does not boot, slurmctld shows the job pending again", NULL, {
	{ SHOWN, "CONFIGURING", 0, 50, 100, 0, "held 10/100",
	    "10/100 held" },
	{ LEFT, NULL, 0, 0, 0, 0, "", "10/100 held left" },
	{ SHOWN, "PENDING", 1, 123, 243, 0, "", "10/100 held left" },
	{ ROW, "NODE_FAIL", 0, 50, 100, 123, "wants-steps",
	    "10/100 held left" },
	{ ROW_NEVER_RAN, "NODE_FAIL", 0, 50, 100, 123,
	    "end 10/100-123 requeued never-ran", "" } } },

	{ "a node does not boot, and the job is requeued", NULL, {
	{ SHOWN, "CONFIGURING", 0, 50, 100, 0, "held 10/100",
	    "10/100 held" },
	{ ROW, "NODE_FAIL", 0, 50, 100, 123, "wants-steps", "10/100 held" },
	{ ROW_REPLACED, "NODE_FAIL", 0, 50, 100, 123,
	    "end 10/100-123 requeued never-ran", "" },
	{ ROW, "NODE_FAIL", 0, 50, 100, 123, "", "" },
	{ SHOWN, "RUNNING", 1, 123, 150, 0, "start 10/150", "10/150 runs" },
	{ ROW, "NODE_FAIL", 0, 50, 100, 123, "", "10/150 runs" } } },

	{ "preempted while it was CONFIGURING, the next run is known", NULL, {
	{ SHOWN, "CONFIGURING", 0, 50, 100, 0, "held 10/100",
	    "10/100 held" },
	{ SHOWN, "RUNNING", 1, 106, 150, 0, "start 10/150",
	    "10/100 held left, 10/150 runs" },
	{ ROW, "PREEMPTED", 0, 50, 100, 106, "wants-steps",
	    "10/100 held left, 10/150 runs" },
	{ ROW_NEVER_RAN, "PREEMPTED", 0, 50, 100, 106,
	    "end 10/100-106 requeued never-ran", "10/150 runs" } } },

	{ "a node does not boot, the job is not requeued: reported", NULL, {
	{ SHOWN, "CONFIGURING", 0, 50, 100, 0, "held 10/100",
	    "10/100 held" },
	{ LEFT, NULL, 0, 0, 0, 0, "", "10/100 held left" },
	{ ROW, "NODE_FAIL", 0, 50, 100, 123, "wants-steps",
	    "10/100 held left" },
	{ ROW_NEVER_RAN_ASK, "NODE_FAIL", 0, 50, 100, 123, "wants-details",
	    "10/100 held left" },
	{ ROW_NEVER_RAN, "NODE_FAIL", 0, 50, 100, 123,
	    "end 10/100-123 node_fail", "" } } },

	{ "preempted between two polls: the steps show that it ran", NULL, {
	{ SHOWN, "CONFIGURING", 0, 50, 100, 0, "held 10/100",
	    "10/100 held" },
	{ ROW, "PREEMPTED", 0, 50, 100, 106, "wants-steps", "10/100 held" },
	{ ROW_RAN, "PREEMPTED", 0, 50, 100, 106, "end 10/100-106 preempted",
	    "" } } },

	{ "the node has booted, and fails before a poll", NULL, {
	{ SHOWN, "CONFIGURING", 0, 50, 100, 0, "held 10/100",
	    "10/100 held" },
	{ ROW, "NODE_FAIL", 0, 50, 160, 165, "end 10/160-165 node_fail",
	    "" } } },

	{ "a run that was shown running, and whose node fails", NULL, {
	{ SHOWN, "RUNNING", 0, 50, 100, 0, "start 10/100", "10/100 runs" },
	{ LEFT, NULL, 0, 0, 0, 0, "", "10/100 runs left" },
	{ ROW, "NODE_FAIL", 0, 50, 100, 123, "end 10/100-123 node_fail",
	    "" } } },

	{ "power-up: an unconfirmed start moves with Slurm's", NULL, {
	{ SHOWN, "CONFIGURING", 0, 50, 100, 0, "held 10/100",
	    "10/100 held" },
	{ SHOWN, "RUNNING", 0, 50, 160, 0, "start 10/160", "10/160 runs" },
	{ LEFT, NULL, 0, 0, 0, 0, "", "10/160 runs left" },
	{ ROW, "COMPLETED", 0, 50, 160, 500,
	    "end 10/160-500 completed", "" } } },

	{ "power-up moves the start, the node fails: the last run", NULL, {
	{ SHOWN, "CONFIGURING", 0, 50, 100, 0, "held 10/100",
	    "10/100 held" },
	{ SHOWN, "CONFIGURING", 0, 50, 160, 0, "", "10/100 held" },
	{ LEFT, NULL, 0, 0, 0, 0, "", "10/100 held left" },
	{ ROW, "NODE_FAIL", 0, 50, 160, 180, "wants-steps",
	    "10/100 held left" },
	{ ROW_NEVER_RAN_ASK, "NODE_FAIL", 0, 50, 160, 180, "wants-details",
	    "10/100 held left" },
	{ ROW_NEVER_RAN, "NODE_FAIL", 0, 50, 160, 180,
	    "end 10/160-180 node_fail", "" } } },

	{ "held while it runs, its steps are lost, requeued: it ran",
	    catching_up, {
	{ SHOWN, "RUNNING", 1, 250, 400, 0, "held 10/400, accounting-asked",
	    "10/400 held runs" },
	{ SHOWN, "PENDING", 2, 9000, 0, 0, "", "10/400 held runs left" },
	{ ROW_NEVER_RAN, "NODE_FAIL", 1, 250, 400, 9000,
	    "end 10/400-9000 node_fail", "" } } },

	{ "power-up, then a prolog of the node: the same", NULL, {
	{ SHOWN, "CONFIGURING", 0, 50, 100, 0, "held 10/100",
	    "10/100 held" },
	{ SHOWN, "CONFIGURING", 0, 50, 160, 0, "", "10/100 held" },
	{ SQUEUE, "R", 0, 0, 160, 0, "confirm 10/160", "10/160 runs" },
	{ SHOWN, "RUNNING", 0, 50, 160, 0, "", "10/160 runs" },
	{ LEFT, NULL, 0, 0, 0, 0, "", "10/160 runs left" },
	{ ROW, "COMPLETED", 0, 50, 160, 500,
	    "end 10/160-500 completed", "" } } },

	{ "power-up: the run ends before squeue shows it running", NULL, {
	{ SHOWN, "CONFIGURING", 0, 50, 100, 0, "held 10/100",
	    "10/100 held" },
	{ LEFT, NULL, 0, 0, 0, 0, "", "10/100 held left" },
	{ ROW, "COMPLETED", 0, 50, 160, 180, "end 10/160-180 completed", "" },
	{ ROW, "COMPLETED", 0, 50, 160, 180, "", "" } } },

	{ "power-up: slurmctld shows that end", NULL, {
	{ SHOWN, "CONFIGURING", 0, 50, 100, 0, "held 10/100",
	    "10/100 held" },
	{ SHOWN, "COMPLETING", 0, 50, 160, 0, "", "10/100 held" },
	{ SHOWN, "COMPLETED", 0, 50, 160, 180,
	    "end 10/160-180 completed", "" },
	{ ROW, "COMPLETED", 0, 50, 160, 180, "", "" } } },

	{ "power-up: a start that was sent stays", NULL, {
	{ SHOWN, "RUNNING", 0, 50, 100, 0, "start 10/100", "10/100 runs" },
	{ SHOWN, "RUNNING", 0, 50, 160, 0, "", "10/100 runs" },
	{ SHOWN, "COMPLETED", 0, 50, 160, 500,
	    "end 10/100-500 completed", "" },
	{ ROW, "COMPLETED", 0, 50, 160, 500, "", "" },
	{ ROW, "COMPLETED", 0, 50, 100, 500, "", "" } } },

	{ "disputed: squeue showed the run after its end", asked_at_900, {
	{ SHOWN, "RUNNING", 0, 50, 100, 0, "start 10/100", "10/100 runs" },
	{ ROW, "COMPLETED", 0, 50, 100, 500, "", "10/100 runs disputed" },
	{ LEFT, NULL, 0, 0, 0, 0, "", "10/100 runs left disputed" },
	{ ROW, "COMPLETED", 0, 50, 100, 500, "slurmctld-asked",
	    "10/100 runs left disputed" },
	{ SHOWN, "COMPLETED", 0, 50, 100, 950,
	    "end 10/100-950 completed", "" } } },

	{ "an end just before squeue was asked is no dispute", asked_at_900, {
	{ SHOWN, "RUNNING", 0, 50, 100, 0, "start 10/100", "10/100 runs" },
	{ ROW, "COMPLETED", 0, 50, 100, 880, "", "10/100 runs" },
	{ LEFT, NULL, 0, 0, 0, 0, "", "10/100 runs left" },
	{ ROW, "COMPLETED", 0, 50, 100, 880,
	    "end 10/100-880 completed", "" } } },

	{ "a job on ignored hosts only is never reported", ignore_node1, {
	{ SHOWN, "RUNNING", 0, 50, 100, 0, "", "10/100 runs ignored" },
	{ SQUEUE, "R", 0, 0, 100, 0, "", "10/100 runs ignored" },
	{ SHOWN, "COMPLETED", 0, 50, 100, 500, "", "" },
	{ ROW_MAY_ASK, "COMPLETED", 0, 600, 700, 900, "", "" } } },

	{ "power-up of an ignored host: the start moves", ignore_node1, {
	{ SHOWN, "CONFIGURING", 0, 50, 100, 0, "", "10/100 held ignored" },
	{ SHOWN, "RUNNING", 0, 50, 160, 0, "", "10/160 runs ignored" },
	{ SHOWN, "COMPLETED", 0, 50, 160, 500, "", "" } } },

	{ "another ignored host changes nothing", ignore_node2, {
	{ SHOWN, "RUNNING", 0, 50, 100, 0, "start 10/100",
	    "10/100 runs" } } },

	{ "a quarantined run is left out, the others are not", quarantine_100,
	    {
	{ SHOWN, "RUNNING", 0, 50, 100, 0, "", "" },
	{ SHOWN, "COMPLETED", 0, 50, 100, 500, "", "" },
	{ ROW, "COMPLETED", 0, 50, 100, 500, "", "" },
	{ SHOWN, "RUNNING", 1, 550, 600, 0, "start 10/600",
	    "10/600 runs" } } },

	{ "catch-up: a restarted job waits for its earlier runs",
	    catching_up, {
	{ SHOWN, "RUNNING", 1, 250, 400, 0, "held 10/400, accounting-asked",
	    "10/400 held runs" },
	{ SQUEUE, "R", 0, 0, 400, 0, "", "10/400 held runs" } } },

	{ "catch-up: so does its end, and accounting has both",
	    catching_up, {
	{ SHOWN, "RUNNING", 1, 250, 400, 0, "held 10/400, accounting-asked",
	    "10/400 held runs" },
	{ SHOWN, "COMPLETED", 1, 250, 400, 500, "", "10/400 held" },
	{ ROW, "NODE_FAIL", 0, 50, 100, 200, "end 10/100-200 node_fail",
	    "10/400 held" },
	{ ROW, "COMPLETED", 0, 250, 400, 500,
	    "end 10/400-500 completed", "" } } },

	{ "catch-up: the same job, found when it has ended", catching_up, {
	{ SHOWN, "COMPLETED", 1, 250, 400, 500,
	    "held 10/400, accounting-asked", "10/400 held" },
	{ SHOWN, "COMPLETED", 1, 250, 400, 500, "", "10/400 held" },
	{ ROW, "NODE_FAIL", 0, 50, 100, 200, "end 10/100-200 node_fail",
	    "10/400 held" },
	{ ROW, "COMPLETED", 0, 250, 400, 500,
	    "end 10/400-500 completed", "" } } },

	{ "without accounting nothing waits", without_accounting, {
	{ SHOWN, "RUNNING", 1, 250, 400, 0, "start 10/400",
	    "10/400 runs" } } },

	{ "after the catch-up nothing waits", NULL, {
	{ SHOWN, "RUNNING", 1, 250, 400, 0, "start 10/400",
	    "10/400 runs" } } },

	{ "an ended row without a start is the end of the open run", NULL, {
	{ SHOWN, "RUNNING", 0, 50, 100, 0, "start 10/100", "10/100 runs" },
	{ LEFT, NULL, 0, 0, 0, 0, "", "10/100 runs left" },
	{ ROW, "REQUEUED", 0, 50, -SIM_EPOCH, 104, "wants-steps",
	    "10/100 runs left" },
	{ ROW_RAN, "REQUEUED", 0, 50, -SIM_EPOCH, 104,
	    "end 10/100-104 requeued", "" },
	{ ROW, "REQUEUED", 0, 50, -SIM_EPOCH, 104, "", "" } } },

	{ "the same of another submission, or before the start", NULL, {
	{ SHOWN, "RUNNING", 0, 50, 100, 0, "start 10/100", "10/100 runs" },
	{ LEFT, NULL, 0, 0, 0, 0, "", "10/100 runs left" },
	{ ROW, "REQUEUED", 0, 60, -SIM_EPOCH, 904, "", "10/100 runs left" },
	{ ROW, "REQUEUED", 0, 50, -SIM_EPOCH, 90, "",
	    "10/100 runs left" } } },

	{ "cancelled while it was pending again: it has no hosts", NULL, {
	{ SHOWN, "RUNNING", 0, 50, 100, 0, "start 10/100", "10/100 runs" },
	{ LEFT, NULL, 0, 0, 0, 0, "", "10/100 runs left" },
	{ ROW_NO_HOSTS, "CANCELLED", 0, 50, -SIM_EPOCH, 904, "",
	    "10/100 runs left" } } },

	{ "a job that has never had a start is no run", NULL, {
	{ SHOWN, "CANCELLED", 0, 50, -SIM_EPOCH, 500, "", "" },
	{ ROW, "CANCELLED", 0, 50, -SIM_EPOCH, 500, "", "" } } },
};
/* clang-format on */

static void
snapshot_fill(struct job_snapshot *s, const struct step *step)
{
	struct job *job = &s->job;

	snapshot_init(s);
	s->state = state_word(
	    (struct span) { step->state, strlen(step->state) });
	if (step->source == ROW_RAN)
		s->ran = RAN_YES;
	else if (step->source >= ROW_NEVER_RAN)
		s->ran = RAN_NEVER;
	s->followed = step->source == ROW_REPLACED;
	job->key.job = JOB;
	job->key.start = step->start + SIM_EPOCH;
	job->submit = step->submit + SIM_EPOCH;
	job->end = step->end != 0 ? step->end + SIM_EPOCH : 0;
	job->state = s->state->end;
	job->restarts = step->restarts;
	job->flags = JOB_HAS_START;
	job->partition = strdup("main");
	job->user = strdup("labalice");
	if (step->source != ROW_NO_HOSTS)
		job_add_host(job, "node1");
	/* As the reader of sacct sets it. */
	if (step->source >= ROW)
		s->never = s->state->phase == PHASE_ENDED &&
		    (job->n_hosts == 0 || job->key.start == 0);
}

static void
row_result(enum row_result result)
{
	if (result == ROW_WANTS_DETAILS)
		sim_note("wants-details");
	else if (result == ROW_WANTS_STEPS)
		sim_note("wants-steps");
}

static void
squeue_take(struct cluster *c, const struct step *step)
{
	struct squeue_job row = { .job = JOB,
		.start = step->start + SIM_EPOCH,
		.state = state_compact(
		    (struct span) { step->state, strlen(step->state) }) };

	track_squeue_row(c, &row);
}

/* What the poll does with runs that squeue does not show. */
static void
left_take(struct cluster *c)
{
	struct open_run *run;
	size_t at = 0;

	while ((run = open_of_job(&c->open, JOB, &at)) != NULL)
		run->flags |= OPEN_LEFT;
}

static void
step_take(struct cluster *c, const struct step *step)
{
	struct job_snapshot s;

	if (step->source == SQUEUE)
		squeue_take(c, step);
	else if (step->source == LEFT)
		left_take(c);
	else {
		snapshot_fill(&s, step);
		if (step->source == SHOWN)
			(void)track_snapshot(c, &s);
		else
			row_result(track_accounting_row(c, &s,
			    step->source == ROW_MAY_ASK ||
				    step->source == ROW_NEVER_RAN_ASK ?
				ROW_MAY_DETAILS | ROW_MAY_OPEN_DETAILS :
				0));
		snapshot_clear(&s);
	}
	if (idmap_get(&c->work.left, JOB) != NULL)
		sim_note("slurmctld-asked");
	if (idmap_get(&c->work.accounting, JOB) != NULL)
		sim_note("accounting-asked");
	idmap_clear(&c->work.left);
	idmap_clear(&c->work.accounting);
}

static void
case_run(const struct test_case *t)
{
	struct cluster *c = sim_begin(NULL, NULL);
	const struct step *step;
	int failed = check_failed;

	if (t->setup != NULL)
		t->setup(c);
	for (step = t->steps; step->source != END_OF_CASE; step++) {
		step_take(c, step);
		CHECK_STR(sim_said(), step->said);
		CHECK_STR(sim_open(c, JOB), step->open);
		if (*step->open == '\0')
			CHECK_INT(c->requeued.n, 0);
		if (check_failed == failed)
			continue;
		fprintf(stderr, "    in \"%s\", step %d\n", t->title,
		    (int)(step - t->steps) + 1);
		return;
	}
}

static const struct step running = { SHOWN, "RUNNING", 0, 50, 100, 0, "", "" };
static const struct step completed = { SHOWN, "COMPLETED", 0, 50, 100, 500, "",
	"" };

/* The collector reports the job; the submitter keeps it from cc-backend. */
static void
test_opt_out(void)
{
	struct cluster *c = sim_begin(NULL, NULL);
	struct job_snapshot s;

	snapshot_fill(&s, &running);
	s.job.flags |= JOB_OPTED_OUT;
	(void)track_snapshot(c, &s);
	snapshot_clear(&s);
	CHECK_STR(sim_said(), "start 10/100 opted-out");
}

/* A record says what could not be known. */
static void
test_message(void)
{
	static const struct step row = { ROW, "COMPLETED", 0, 50, 100, 500, "",
		"" };
	struct cluster *c = sim_begin(NULL, NULL);
	struct job_snapshot s;

	step_take(c, &row);
	CHECK(strstr(sim_message(), "found after its end") != NULL);
	c = sim_begin(NULL, NULL);
	step_take(c, &running);
	CHECK_STR(sim_message(), "");
	c = sim_begin(NULL, NULL);
	snapshot_fill(&s, &running);
	s.groups = 1;
	s.job.flags &= ~JOB_HAS_THREADS;
	(void)track_snapshot(c, &s);
	snapshot_clear(&s);
	CHECK(strstr(sim_message(), "long lists of hardware threads") != NULL);
	left_take(c);
	step_take(c, &row);
	CHECK_STR(sim_said(), "start 10/100, end 10/100-500 completed");
	CHECK_STR(sim_message(), "");
}

/*
 * Of a run that is first seen while it completes nobody knows the devices.  The record
 * of the end says so, too: in the spool it replaces the threads and the message.
 */
static void
test_message_of_end(void)
{
	static const struct step completing = { SHOWN, "COMPLETING", 0, 50, 100,
		0, "", "" };
	const struct step *const shown[] = { &completing, &completed };
	struct cluster *c = sim_begin(NULL, NULL);
	struct job_snapshot s;
	size_t i;

	for (i = 0; i < sizeof(shown) / sizeof(shown[0]); i++) {
		snapshot_fill(&s, shown[i]);
		s.groups = 1;
		s.job.accels = 2;
		s.job.flags |= JOB_HAS_THREADS;
		(void)track_snapshot(c, &s);
		snapshot_clear(&s);
		CHECK_STR(sim_said(),
		    i == 0 ? "held 10/100 threads" :
			     "end 10/100-500 completed threads");
		CHECK(strstr(sim_message(), "not which devices") != NULL);
	}
}

/* A record with ambiguous texts: squeue has to confirm the run. */
static void
test_ambiguous(void)
{
	static const struct step row = { SQUEUE, "R", 0, 0, 100, 0, "", "" };
	struct cluster *c = sim_begin(NULL, NULL);
	struct job_snapshot s;

	snapshot_fill(&s, &running);
	CHECK(track_ambiguous(c, &s) != 0);
	snapshot_clear(&s);
	CHECK_STR(sim_said(), "held 10/100");
	CHECK(strstr(sim_message(), "ambiguous") != NULL);
	step_take(c, &row);
	CHECK_STR(sim_said(), "confirm 10/100");
}

/* The outbox is full: nothing is remembered, and the next snapshot counts. */
static void
test_no_room(void)
{
	static const struct step row = { ROW, "COMPLETED", 0, 50, 90, 500, "",
		"" };
	struct cluster *c = sim_begin(NULL, NULL);
	struct job_snapshot s;

	sim_fill(c);
	step_take(c, &running);
	CHECK_INT(open_find(&c->open, JOB, SIM_EPOCH + 100)->flags &
		OPEN_RESOURCES_SENT,
	    0);
	step_take(c, &completed);
	CHECK_STR(sim_open(c, JOB), "10/100");
	snapshot_fill(&s, &row);
	s.job.key.job = 11;
	CHECK_INT(track_accounting_row(c, &s, 0), ROW_FAILED);
	snapshot_clear(&s);
	CHECK(!done_has(&c->done, 11, SIM_EPOCH + 90));
	CHECK_STR(sim_said(), "");
	sim_stored(c);
	step_take(c, &running);
	step_take(c, &completed);
	CHECK_STR(sim_said(), "start 10/100, end 10/100-500 completed");
}

/* A batch job's start waits for its script, as long as there is room. */
static void
test_script(void)
{
	struct cluster *c = sim_begin(NULL, NULL);
	struct job_snapshot s;
	uint64_t job;

	sim_set(c, CONF_JOB_SCRIPT_MAX, "1000");
	for (job = JOB; job < JOB + 3; job++) {
		snapshot_fill(&s, &running);
		s.job.key.job = job;
		s.batch = job != JOB + 1;
		(void)track_snapshot(c, &s);
		snapshot_clear(&s);
		c->work.n_scripts = job == JOB ? 1 : SCRIPTS_MAX;
	}
	CHECK_STR(sim_said(),
	    "start 10/100 script-follows, start 11/100, "
	    "start 12/100");
	CHECK(c->work.scripts != NULL && c->work.scripts->key.job == JOB &&
	    c->work.scripts->next == NULL);
}

/* The submitter looks run 10/100 up: what is known is sent again. */
static void
look_up(struct cluster *c)
{
	struct run_key key = { "alpha", JOB, SIM_EPOCH + 100 };
	struct writer w;
	struct reader r;

	wr_init(&w, 256);
	wr_str(&w, "alpha");
	wr_u64(&w, 1);
	wr_u32(&w, 1);
	wr_run_key(&w, &key);
	rd_init(&r, w.buf, w.len);
	CHECK_INT(lookup_add(c->lookups, &r), 0);
	wr_clear(&w);
}

static void
test_lookup(void)
{
	struct cluster *c = sim_begin(NULL, NULL);

	step_take(c, &running);
	step_take(c, &completed);
	CHECK_STR(sim_said(), "start 10/100, end 10/100-500 completed");
	step_take(c, &completed);
	CHECK_STR(sim_said(), "");
	look_up(c);
	step_take(c, &completed);
	CHECK_STR(sim_said(), "end 10/100-500 completed");

	c = sim_begin(NULL, NULL);
	step_take(c, &running);
	look_up(c);
	step_take(c, &running);
	CHECK_STR(sim_said(), "start 10/100, start 10/100");
}

/* A run that began on ignored hosts stays out when the setting changes. */
static void
test_ignored_stays(void)
{
	struct cluster *c = sim_begin(NULL, NULL);

	ignore_node1(c);
	step_take(c, &running);
	ignore_node2(c);
	step_take(c, &running);
	step_take(c, &completed);
	CHECK_STR(sim_said(), "");
}

/*
 * cc-backend has a run on ignored hosts that another daemon has started: the
 * submitter looks the run up, and gets its end.
 */
static void
test_ignored_looked_up(void)
{
	static const struct step row = { ROW, "COMPLETED", 0, 50, 100, 500, "",
		"" };
	struct cluster *c = sim_begin(NULL, NULL);

	ignore_node1(c);
	look_up(c);
	step_take(c, &running);
	lookup_forget(c->lookups);
	step_take(c, &completed);
	CHECK_STR(sim_said(), "start 10/100, end 10/100-500 completed");

	/* This daemon has seen the run before. */
	c = sim_begin(NULL, NULL);
	ignore_node1(c);
	step_take(c, &running);
	CHECK_STR(sim_said(), "");
	look_up(c);
	step_take(c, &running);
	lookup_forget(c->lookups);
	left_take(c);
	step_take(c, &row);
	CHECK_STR(sim_said(), "start 10/100, end 10/100-500 completed");

	/* The run has ended. */
	c = sim_begin(NULL, NULL);
	ignore_node1(c);
	look_up(c);
	step_take(c, &row);
	CHECK_STR(sim_said(), "end 10/100-500 completed");
}

/*
 * The start of a run was sent before its hosts were ignored: cc-backend gets the
 * end, too.
 */
static void
test_ignored_later(void)
{
	static const struct step row = { ROW, "COMPLETED", 0, 50, 100, 500, "",
		"" };
	struct open_key spooled = { { "alpha", JOB, SIM_EPOCH + 100 },
		SIM_EPOCH + 50 };
	struct cluster *c = sim_begin(NULL, NULL);

	step_take(c, &running);
	ignore_node1(c);
	look_up(c);
	step_take(c, &running);
	step_take(c, &completed);
	CHECK_STR(sim_said(),
	    "start 10/100, start 10/100, end 10/100-500 completed");

	c = sim_begin(NULL, NULL);
	step_take(c, &running);
	ignore_node1(c);
	left_take(c);
	step_take(c, &row);
	CHECK_STR(sim_said(), "start 10/100, end 10/100-500 completed");

	/* The start was sent by an earlier process. */
	c = sim_begin(NULL, NULL);
	ignore_node1(c);
	resume_open(c->site, &spooled, 0);
	step_take(c, &running);
	left_take(c);
	step_take(c, &row);
	CHECK_STR(sim_said(), "start 10/100, end 10/100-500 completed");
}

/* Accounting is away: only a restarted job has an earlier run for sure. */
static void
test_earlier_without_slurmdbd(void)
{
	static const struct step again = { SHOWN, "RUNNING", 1, 250, 400, 0, "",
		"" };
	static const struct step again_completed = { SHOWN, "COMPLETED", 1, 250,
		400, 500, "", "" };
	static const struct step row = { SQUEUE, "R", 0, 0, 100, 0, "", "" };
	static const struct step row_again = { SQUEUE, "R", 0, 0, 400, 0, "",
		"" };
	struct cluster *c = sim_begin(NULL, NULL);

	/* The id may have been used while nobody listened. */
	c->caught_up = 0;
	step_take(c, &running);
	CHECK_STR(sim_said(), "held 10/100, accounting-asked");
	step_take(c, &row);
	CHECK_STR(sim_said(), "");
	c->dbd.away = 1;
	step_take(c, &row);
	CHECK_STR(sim_said(), "confirm 10/100");

	c = sim_begin(NULL, NULL);
	c->caught_up = 0;
	c->dbd.away = 1;
	step_take(c, &again);
	CHECK_STR(sim_said(), "held 10/400, accounting-asked");
	step_take(c, &row_again);
	CHECK_STR(sim_said(), "");

	/* The same with the ends. */
	c = sim_begin(NULL, NULL);
	c->caught_up = 0;
	step_take(c, &completed);
	CHECK_STR(sim_said(), "held 10/100, accounting-asked");
	c->dbd.away = 1;
	step_take(c, &completed);
	CHECK_STR(sim_said(), "end 10/100-500 completed");
	step_take(c, &again);
	step_take(c, &again_completed);
	CHECK_STR(sim_said(), "held 10/400, accounting-asked");
}

/* squeue and accounting disagree twice: then accounting is right. */
static void
test_dispute_ends(void)
{
	static const struct step row = { ROW, "COMPLETED", 0, 50, 100, 500, "",
		"" };
	struct cluster *c = sim_begin(NULL, NULL);
	struct open_run *run;

	asked_at_900(c);
	step_take(c, &running);
	step_take(c, &row);
	left_take(c);
	run = open_find(&c->open, JOB, SIM_EPOCH + 100);
	CHECK(run != NULL);
	if (run == NULL)
		return;
	run->tries = 1;
	(void)sim_said();
	step_take(c, &row);
	CHECK_STR(sim_said(), "slurmctld-asked");
	run->tries = 2;
	step_take(c, &row);
	CHECK_STR(sim_said(), "end 10/100-500 completed");
	CHECK_STR(sim_open(c, JOB), "");
}

/* Of a past range nothing waits, and a dry run remembers nothing. */
static void
test_backfill(void)
{
	static const struct step row = { ROW, "COMPLETED", 0, 50, 100, 900, "",
		"" };
	struct cluster *c = sim_begin(NULL, NULL);
	struct job_snapshot s;
	int i;

	for (i = 0; i < 2; i++) {
		snapshot_fill(&s, &row);
		CHECK_INT(track_backfill_row(c, &s, 0, 1), ROW_SENT);
		snapshot_clear(&s);
		CHECK_STR(sim_said(),
		    "end 10/100-900 completed backfill dry-run");
	}
	snapshot_fill(&s, &row);
	CHECK_INT(track_backfill_row(c, &s, 0, 0), ROW_SENT);
	snapshot_clear(&s);
	CHECK_STR(sim_said(), "end 10/100-900 completed backfill");
	/* The run is done. The submitter asks cc-backend whether it has it. */
	snapshot_fill(&s, &row);
	CHECK_INT(track_backfill_row(c, &s, 0, 1), ROW_SENT);
	snapshot_clear(&s);
	CHECK_STR(sim_said(), "end 10/100-900 completed backfill dry-run");
	snapshot_fill(&s, &row);
	CHECK_INT(track_backfill_row(c, &s, 0, 0), ROW_SENT);
	snapshot_clear(&s);
	CHECK_STR(sim_said(), "end 10/100-900 completed backfill");
	/* Other reads of accounting send it once, see track_ended(). */
	for (i = 0; i < 2; i++) {
		snapshot_fill(&s, &row);
		CHECK_INT(track_accounting_row(c, &s, 0),
		    i == 0 ? ROW_SENT : ROW_NOTHING);
		snapshot_clear(&s);
		CHECK_STR(sim_said(), i == 0 ? "end 10/100-900 completed" : "");
	}
}

int
main(void)
{
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		case_run(&cases[i]);
	test_opt_out();
	test_message();
	test_message_of_end();
	test_ambiguous();
	test_no_room();
	test_script();
	test_ignored_stays();
	test_ignored_looked_up();
	test_ignored_later();
	test_lookup();
	test_earlier_without_slurmdbd();
	test_dispute_ends();
	test_backfill();
	return check_done();
}
