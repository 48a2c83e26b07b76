/* SPDX-License-Identifier: MIT */
/*
 * States of nodes: at most two questions for each interval, and only what has changed
 * is sent.
 */
#include "config.h"

#include <stdlib.h>

#include "collector/query/query_lanes.h"
#include "collector/slurm/slurm.h"
#include "tests/unit/check.h"
#include "tests/unit/collector/simulation.h"

static struct cluster *c;
static struct node_states *nodes;

static void
begin(void)
{
	static const struct accounting_ops ops;

	c = sim_begin(NULL, NULL);
	nodes = sim_keep(node_states_new(c, sim_keep(acct_new(c, &ops, NULL))));
}

#define NODE(name, state, cpus) \
	"NodeName=" name " CPUAlloc=" cpus " CPUTot=16 Gres=(null)" \
	" AllocMem=100 State=" state " Reason=none\n"
#define NONE "No nodes in the system\n"
#define BOTH NODE("n1", "MIXED", "2") NODE("n2", "IDLE", "0")

/* A cycle after a minute; NULL = that question must not be asked. */
static const char *
cycle(const char *shown, const char *busy)
{
	sim_pass(60);
	node_states_kick(nodes);
	CHECK_STR(sim_asked(), shown != NULL ? "scontrol" : "");
	if (shown == NULL)
		return sim_said();
	CHECK_STR(sim_args("scontrol"), "--all show node -d -o");
	sim_answer("scontrol", shown);
	CHECK_STR(sim_asked(), busy != NULL ? "squeue" : "");
	if (busy != NULL)
		sim_answer("squeue", busy);
	return sim_said();
}

static void
test_changes(void)
{
	begin();
	CHECK_STR(cycle(BOTH, "n1\nn[1-2]\n"),
	    "node n2 idle 0 cpus 100 MB 0 gpus 1 jobs, "
	    "node n1 mixed 2 cpus 100 MB 0 gpus 2 jobs");
	CHECK_INT(node_states_count(nodes), 2);
	CHECK_INT(node_states_sent(nodes), 2);
	CHECK_STR(cycle(BOTH, "n1\nn[1-2]\n"), "");
	/* A job has ended; then a node has another state. */
	CHECK_STR(cycle(BOTH, "n[1-2]\n"),
	    "node n1 mixed 2 cpus 100 MB 0 gpus 1 jobs");
	CHECK_STR(cycle(NODE("n1", "MIXED", "2") NODE("n2", "DOWN", "0"),
		      "n[1-2]\n"),
	    "node n2 down 0 cpus 100 MB 0 gpus 1 jobs");
	/* A node is removed, another one is added. */
	CHECK_STR(cycle(NODE("n1", "MIXED", "2") NODE("n3", "IDLE", "0"),
		      "n1\n"),
	    "node n3 idle 0 cpus 100 MB 0 gpus 0 jobs, "
	    "node n2 down 0 cpus 0 MB 0 gpus 0 jobs");
	CHECK_INT(node_states_count(nodes), 2);
	CHECK_INT(node_states_sent(nodes), 6);
}

/* All nodes go to a new submitter at once, and to all after nodeStateRefresh. */
static void
test_all_again(void)
{
	int i;

	begin();
	(void)cycle(BOTH, "");
	node_states_peer(nodes);
	node_states_kick(nodes);
	sim_answer("scontrol", BOTH);
	sim_answer("squeue", "");
	CHECK_STR(sim_said(),
	    "node n2 idle 0 cpus 100 MB 0 gpus 0 jobs, "
	    "node n1 mixed 2 cpus 100 MB 0 gpus 0 jobs");
	for (i = 0; i < 9; i++)
		CHECK_STR(cycle(BOTH, ""), "");
	CHECK(strstr(cycle(BOTH, ""), "node n2 idle") != NULL);
}

/* An answer that is not complete changes nothing. */
static void
test_failed(void)
{
	begin();
	(void)cycle(BOTH, "n1\n");
	CHECK_STR(cycle("", NULL), "");
	CHECK_INT(c->ctld.away, 1);
	sim_pass(60);
	node_states_kick(nodes);
	sim_answer_failed("scontrol", NODE("n1", "DOWN", "0"), "Killed");
	CHECK_STR(sim_asked(), "");
	sim_pass(60);
	node_states_kick(nodes);
	sim_answer("scontrol", BOTH);
	sim_answer_late("squeue");
	CHECK_STR(sim_said(), "");
	CHECK_INT(node_states_count(nodes), 2);
	CHECK_STR(cycle(BOTH, "n1\n"), "");
	CHECK_INT(c->ctld.away, 0);
}

/*
 * The MCS label of a job on n2 contains lines that look like n1 and n3.  What is
 * known of n1 stays, and of the new node n3 nothing is sent, until Slurm's line is
 * the only one.
 */
static void
test_forged(void)
{
#define TAIL  " MCS_label=N/A Partitions=a AllocTRES=cpu=2\n"
#define N3    "NodeName=n3 CPUAlloc=4 CPUTot=16 AllocMem=0 State=MIXED" TAIL
#define LABEL " MCS_label=N/A Partitions=b State=DOWN\n"
	begin();
	(void)cycle(BOTH, "n1\n");
	CHECK_STR(cycle(NODE("n1", "MIXED",
			    "2") "NodeName=n2 CPUAlloc=1 CPUTot=16 AllocMem=0 "
				 "State=MIXED" LABEL NODE("n1", "DOWN", "0")
				     NODE("n3", "DOWN", "0") N3,
		      "n[1-2]\n"),
	    "node n2 mixed 1 cpus 0 MB 0 gpus 1 jobs");
	CHECK_STR(cycle(BOTH N3, "n[1-2]\n"),
	    "node n3 mixed 4 cpus 0 MB 0 gpus 0 jobs, "
	    "node n2 idle 0 cpus 100 MB 0 gpus 1 jobs");
	/* A forged line that agrees changes nothing. */
	CHECK_STR(cycle(BOTH N3 NODE("n1", "MIXED", "2"), "n[1-2]\n"), "");
}

/*
 * A cloud node that is powered down is hidden.  It is sent as down once, and
 * again as what it is when Slurm shows it.
 */
static void
test_gone(void)
{
#define N2_GONE "node n2 down 0 cpus 0 MB 0 gpus 0 jobs"
	begin();
	(void)cycle(BOTH, "n[1-2]\n");
	CHECK_STR(cycle(NODE("n1", "MIXED", "2"), "n[1-2]\n"), N2_GONE);
	CHECK_INT(node_states_count(nodes), 1);
	CHECK_STR(cycle(NODE("n1", "MIXED", "2"), "n1\n"), "");
	CHECK_STR(cycle(BOTH, "n1\n"),
	    "node n2 idle 0 cpus 100 MB 0 gpus 0 jobs");
	/* An answer that is not complete says nothing about other nodes. */
	sim_pass(60);
	node_states_kick(nodes);
	sim_answer_failed("scontrol", NODE("n1", "MIXED", "2"), "Killed");
	CHECK_STR(cycle(BOTH, "n1\n"), "");
	/* The query for jobs failed: the node is sent the next time. */
	sim_pass(60);
	node_states_kick(nodes);
	sim_answer("scontrol", NODE("n1", "MIXED", "2"));
	sim_answer_late("squeue");
	CHECK_STR(sim_said(), "");
	CHECK_STR(cycle(NODE("n1", "MIXED", "2"), "n1\n"), N2_GONE);
	/* The node comes back before its state was sent. */
	begin();
	(void)cycle(BOTH, "n1\n");
	sim_pass(60);
	node_states_kick(nodes);
	sim_answer("scontrol", NODE("n1", "MIXED", "2"));
	sim_answer_late("squeue");
	CHECK_STR(cycle(BOTH, "n1\n"),
	    "node n2 idle 0 cpus 100 MB 0 gpus 0 jobs");
	CHECK_STR(cycle(BOTH, "n1\n"), "");
	/* Without the permission, hidden partitions are not shown. */
	c->permission = PERMISSION_OPEN;
	CHECK_STR(cycle(NODE("n1", "MIXED", "2"), "n1\n"), "");
	CHECK_INT(node_states_count(nodes), 1);
	c->permission = PERMISSION_OPERATOR;
	(void)cycle(BOTH, "n1\n");
	/* No node is shown: all are down. */
	CHECK_STR(cycle(NONE, ""),
	    N2_GONE ", node n1 down 0 cpus 0 MB 0 gpus 0 jobs");
	CHECK_INT(node_states_count(nodes), 0);
#undef N2_GONE
}

static unsigned shapes_ends; /* calls of on_shapes() */

static void
on_shapes(void *arg, int failed)
{
	(void)arg;
	(void)failed;
	shapes_ends++;
}

/* The shapes of the nodes in this answer are read. */
static void
shapes(const char *shown)
{
	unsigned before = shapes_ends;

	hosts_query(c, on_shapes, NULL);
	CHECK_STR(sim_args("scontrol"), "--all show node -o");
	sim_answer("scontrol", shown);
	CHECK_INT(shapes_ends, before + 1);
}

/* The shape that decides whether a job has a whole node: cores per socket, 0 = none. */
static int
cores_of(const char *name)
{
	const struct node_shape *shape = hosts_shape(c->hosts, name);

	return shape != NULL ? shape->cores : 0;
}

static void
test_forged_shapes(void)
{
#define SHAPE(name, cores) \
	"NodeName=" name " CoresPerSocket=" cores \
	" Gres=gpu:4 Sockets=2 ThreadsPerCore=2" TAIL
	begin();
	shapes(SHAPE("n1", "8") SHAPE("n2", "8"));
	shapes(SHAPE("n1", "8") SHAPE("n2", "16") SHAPE("n1", "1")
		SHAPE("n3", "1") SHAPE("n3", "4"));
	CHECK_INT(cores_of("n1"), 8);
	CHECK_INT(cores_of("n2"), 16);
	CHECK_INT(cores_of("n3"), 0);
	shapes(SHAPE("n1", "4") SHAPE("n2", "16") SHAPE("n3", "4"));
	CHECK_INT(cores_of("n1"), 4);
	CHECK_INT(cores_of("n3"), 4);
}

/*
 * All nodes are hidden: slurmctld answers.  An answer that lacks both nodes and
 * this text is not one.
 */
static void
test_none(void)
{
	begin();
	(void)cycle(BOTH, "n1\n");
	(void)cycle(NONE, "");
	CHECK_INT(c->ctld.away, 0);
	CHECK_STR(cycle(NONE, ""), "");
	CHECK_INT(node_states_count(nodes), 0);
	shapes(BOTH);
	CHECK_INT(hosts_count(c->hosts), 2);
	shapes("");
	CHECK_INT(c->ctld.away, 1);
	CHECK_INT(hosts_count(c->hosts), 2);
	sim_pass(60);
	shapes(NONE);
	CHECK_INT(c->ctld.away, 0);
	CHECK_INT(hosts_count(c->hosts), 0);
	sim_pass(60);
	shapes("");
	CHECK_INT(c->ctld.away, 1);
	sim_pass(60);
	shapes(BOTH);
	CHECK_INT(c->ctld.away, 0);
	CHECK_INT(hosts_count(c->hosts), 2);
}

/* The poll has priority; 0 turns the states off; hosts can be ignored. */
static void
test_not_asked(void)
{
	begin();
	c->listing.busy = 1;
	CHECK_STR(cycle(NULL, NULL), "");
	c->listing.busy = 0;
	(void)cycle(BOTH, "");
	sim_pass(30);
	node_states_kick(nodes);
	CHECK_STR(sim_asked(), "");
	sim_set(c, CONF_NODE_STATE_POLL, "0");
	CHECK_STR(cycle(NULL, NULL), "");
	sim_set(c, CONF_IGNORE_HOSTS, "^n1$");
	CHECK_STR(cycle(BOTH, "n[1-2]\n"),
	    "node n2 idle 0 cpus 100 MB 0 gpus 1 jobs");
	CHECK_INT(node_states_count(nodes), 1);
}

/* The last poll showed no job: nobody has to ask on which nodes jobs run. */
static void
test_no_job(void)
{
	begin();
	(void)cycle(BOTH, "n1\n");
	c->listing.asked_at = slurm_now(c);
	c->listing.jobs = 0;
	CHECK_STR(cycle(BOTH, NULL),
	    "node n1 mixed 2 cpus 100 MB 0 gpus 0 jobs");
	/* The poll was long ago. */
	CHECK_STR(cycle(BOTH, "n1\n"),
	    "node n1 mixed 2 cpus 100 MB 0 gpus 1 jobs");
	/* A hook was called since, or squeue showed a job. */
	c->listing.asked_at = slurm_now(c);
	(void)open_put(&c->open, 10, SIM_EPOCH);
	CHECK_STR(cycle(BOTH, "n1\n"), "");
	open_remove(&c->open, open_find(&c->open, 10, SIM_EPOCH));
	c->listing.asked_at = slurm_now(c);
	c->listing.jobs = 1;
	CHECK_STR(cycle(BOTH, "n1\n"), "");
}

/* Many nodes: still two questions. */
static void
test_many(void)
{
	enum {
		MANY = 20000
	};
	static char text[MANY * 128];
	size_t n = 0;
	int i;

	for (i = 0; i < MANY; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n,
		    "NodeName=n%05d CPUAlloc=0 AllocMem=0 State=IDLE x=\n", i);
	begin();
	c->outbox = outbox_new(NULL, NULL);
	sim_pass(60);
	node_states_kick(nodes);
	sim_answer("scontrol", text);
	sim_answer("squeue", "n[00000-19999]\n");
	CHECK_STR(sim_asked(), "");
	CHECK_INT(node_states_count(nodes), MANY);
	/* The submitter is not connected: they are sent the next time. */
	CHECK_INT(node_states_sent(nodes), 0);
}

int
main(void)
{
	test_changes();
	test_all_again();
	test_failed();
	test_forged();
	test_forged_shapes();
	test_gone();
	test_none();
	test_not_asked();
	test_no_job();
	test_many();
	return check_done();
}
