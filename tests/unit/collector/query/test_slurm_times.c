/* SPDX-License-Identifier: MIT */
/* The answer times of Slurm's daemons that the submitter gets. */
#include "config.h"

#include "collector/query/query_lanes.h"
#include "tests/unit/check.h"
#include "tests/unit/collector/simulation.h"

static struct cluster *c;
static struct slurm_times *t;
static struct command_times times;

static void
begin(void)
{
	c = sim_begin(NULL, NULL);
	c->slurm.known = 1;
	c->slurm.accounting = 1;
	memset(&times, 0, sizeof(times));
	t = sim_keep(slurm_times_new(c->site));
	slurm_times_kick(t, &times);
	CHECK_STR(sim_said(), "");
}

static void
seconds(unsigned n)
{
	while (n-- > 0) {
		sim_pass(1);
		slurm_times_kick(t, &times);
	}
}

static void
test_commands(void)
{
	begin();
	command_times_add(&times, QUESTION_LIST, COMMAND_OK, 30);
	command_times_add(&times, QUESTION_JOBS, COMMAND_FAILED, 500);
	command_times_add(&times, QUESTION_JOBS, COMMAND_SPAWN, 9000);
	command_times_add(&times, QUESTION_RANGE, COMMAND_OK, 7000);
	seconds(59);
	CHECK_STR(sim_said(), "");
	seconds(1);
	CHECK_STR(sim_said(), "slurm-times 0 2 530 500, 0 1 7000 7000");
	/* Each command is in one message. */
	command_times_add(&times, QUESTION_LIST, COMMAND_OK, 10);
	command_times_add(&times, QUESTION_LIST, COMMAND_OK, -5);
	seconds(60);
	CHECK_STR(sim_said(), "slurm-times 0 2 10 10, 0 0 0 0");
	command_times_add(&times, QUESTION_LIST, COMMAND_OK,
	    INT64_C(5000000000));
	seconds(60);
	CHECK_STR(sim_said(), "slurm-times 0 1 4294967295 4294967295, 0 0 0 0");
}

static void
test_away(void)
{
	begin();
	seconds(20);
	c->ctld.away = c->dbd.away = 1;
	seconds(30);
	c->ctld.away = 0;
	seconds(10);
	CHECK_STR(sim_said(), "slurm-times 30 0 0 0, 40 0 0 0");
	/* The site has no slurmdbd. */
	c->slurm.accounting = 0;
	seconds(60);
	CHECK_STR(sim_said(), "slurm-times 0 0 0 0, 0 0 0 0");
	/* The lanes ran once in a minute, a little late. */
	c->ctld.away = 1;
	sim_pass(61);
	slurm_times_kick(t, &times);
	CHECK_STR(sim_said(), "slurm-times 61 0 0 0, 0 0 0 0");
	/* The process was stopped. */
	sim_pass(3600);
	slurm_times_kick(t, &times);
	CHECK_STR(sim_said(), "slurm-times 0 0 0 0, 0 0 0 0");
}

static void
test_no_submitter(void)
{
	struct channel *ch;

	begin();
	ch = c->site->w->peers[ROLE_SUBMITTER];
	c->site->w->peers[ROLE_SUBMITTER] = NULL;
	command_times_add(&times, QUESTION_LIST, COMMAND_OK, 30);
	seconds(60);
	CHECK_STR(sim_said(), "");
	c->site->w->peers[ROLE_SUBMITTER] = ch;
	seconds(60);
	CHECK_STR(sim_said(), "slurm-times 0 0 0 0, 0 0 0 0");
}

int
main(void)
{
	log_init("test_slurm_times", LOG_LEVEL_FATAL);
	test_commands();
	test_away();
	test_no_submitter();
	return check_done();
}
