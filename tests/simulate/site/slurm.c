/* SPDX-License-Identifier: MIT */
/* The life of jobs in the simulated Slurm; see slurm.h. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/simulate/reduce.h"
#include "tests/simulate/site/slurm_private.h"

#define BEGIN_AFTER_S 121   /* a requeued job begins again */
#define TASKS_MAX     6	    /* of an array */
#define PURGE_EVERY_S 30    /* slurmctld looks for old jobs */
#define RETRY_MS      5000  /* of a message to a slurmctld that is down */
#define IDS_RESERVED  64    /* of an array or a heterogeneous job */
#define EPILOG_MS     12000 /* at most */
#define BUCKETS	      4096

const struct slurm_user slurm_users[SLURM_USERS] = {
	{ "labalice", 1001, "proj1" },
	{ "labbob", 1002, "proj2" },
	{ SLURM_USER, 990, "ops" },
};

struct slurm slurm;

static struct slurm_run *buckets[BUCKETS]; /* of runs by id */

/* Names that occur, then names that a user chose to confuse a reader. */
static const char *const names[] = { "sbatch", "arr", "md run", "j\303\266b",
	"a|b|c" };

/* A whole record of another job behind a newline. */
#define FORGED_RECORD \
	"a\nJobId=%u JobName=b UserId=labbob(1002) GroupId=labbob(1002) " \
	"MCS_label=N/A Priority=1 Nice=0 Account=proj2 QOS=normal " \
	"JobState=COMPLETED Reason=None Dependency=(null) Requeue=1 " \
	"Restarts=0 BatchFlag=1 Reboot=0 ExitCode=0:0 DerivedExitCode=0:0 " \
	"RunTime=00:00:01 TimeLimit=00:05:00 TimeMin=N/A SubmitTime=%lld " \
	"EligibleTime=%lld AccrueTime=%lld StartTime=%lld EndTime=%lld " \
	"Partition=main NodeList=n01 NumNodes=1 NumCPUs=2 NumTasks=1"

static const char *const hostile_names[] = {
	"x JobState=FAILED UserId=root(0)",
	"new\nline",
	FORGED_RECORD,
	"%u R No %lld",
	"\nJobId=%u JobName=",
};

int64_t
slurm_now_s(void)
{
	return world_true_ms() / 1000;
}

const char *
slurm_node_name(uint32_t number)
{
	static char text[2][16];
	static unsigned turn;

	turn = !turn;
	snprintf(text[turn], sizeof(text[turn]), "n%02u", number);
	return text[turn];
}

int64_t
slurm_opts_out(const struct slurm_run *run)
{
	return run->job->opts_out;
}

int
slurm_is_hostile(const struct slurm_run *run)
{
	return run->job->hostile;
}

const char *
slurm_user_of(const struct slurm_run *run)
{
	return slurm_users[run->job->user].name;
}

uint32_t
slurm_array_of(const struct slurm_run *run)
{
	return run->job->array_job;
}

int
slurm_has_script(const struct slurm_run *run)
{
	return run->job->batch && run->job->het_job == 0;
}

int
slurm_remembers(const struct slurm_run *run, int64_t s)
{
	return slurm.ctld_up && slurm.is_operator && !slurm.o.limited &&
	    run->end != 0 && slurm_now_s() + s < run->end + slurm.o.min_job_age;
}

uint32_t
slurm_script_of(const struct slurm_job *job)
{
	if (job->het_job != 0)
		return job->het_job;
	return job->array_job != 0 ? job->array_job : job->id;
}

static struct prng *
dice(void)
{
	return &slurm.prng;
}

/* --- the list of slurmctld --- */

static void
job_link(struct slurm_job *job)
{
	job->before = slurm.last;
	if (slurm.last != NULL)
		slurm.last->next = job;
	else
		slurm.first = job;
	slurm.last = job;
}

static void
job_unlink(struct slurm_job *job)
{
	if (job->before != NULL)
		job->before->next = job->next;
	else
		slurm.first = job->next;
	if (job->next != NULL)
		job->next->before = job->before;
	else
		slurm.last = job->before;
}

/* Calls fn later; while slurmctld is down, when it runs again. */
static void
job_after(struct slurm_job *job, int64_t ms, world_fn *fn)
{
	world_after(PROCESS_NONE, ms, fn, job);
}

static int
postponed(struct slurm_job *job, world_fn *fn)
{
	if (slurm.ctld_up)
		return 0;
	job_after(job, RETRY_MS + (int64_t)prng_below(dice(), RETRY_MS), fn);
	return 1;
}

/* --- runs --- */

struct slurm_run *
slurm_run_find(uint32_t id, int64_t start)
{
	struct slurm_run *run = buckets[id % BUCKETS];

	while (run != NULL &&
	    (run->id != id || (run->start != start && run->first != start)))
		run = run->same;
	return run;
}

const struct slurm_run *
slurm_runs(void)
{
	return slurm.runs;
}

static void
run_new(struct slurm_job *job)
{
	struct slurm_run *run = world_alloc(sizeof(*run));
	uint32_t room;

	run->job = job;
	run->id = job->id;
	run->start = run->first = slurm_now_s();
	run->restarts = job->restarts;
	run->node_count = 1;
	if (job->fate == FATE_RESIZE || prng_chance(dice(), 200000))
		run->node_count = (uint32_t)prng_between(dice(), 2,
		    SLURM_NODES_MAX);
	room = SLURM_NODE_COUNT - run->node_count + 1;
	run->node_first = 1 + (uint32_t)prng_below(dice(), room);
	run->nodes_now = run->node_count;
	run->cpu_count = 2 * (uint32_t)prng_between(dice(), 1, 4);
	run->cpu_first = 2 * (uint32_t)prng_below(dice(), 4);
	if (prng_chance(dice(), 300000))
		run->gpus = 1 +
		    (unsigned)prng_below(dice(), (1u << SLURM_GPUS) - 1);
	*slurm.runs_tail = run;
	slurm.runs_tail = &run->next;
	run->same = buckets[run->id % BUCKETS];
	buckets[run->id % BUCKETS] = run;
	job->run = run;
	slurm_report_start(job);
	trace("job %u starts at %lld on %u nodes from n%02u", job->id,
	    (long long)run->start, run->node_count, run->node_first);
}

/* --- the end of a job --- */

static void
job_purge(void *arg)
{
	struct slurm_job *job = arg;

	if (postponed(job, job_purge))
		return;
	job->phase = SLURM_PURGED;
	job_unlink(job);
	trace("slurmctld purges job %u", job->id);
}

static void
job_over(void *arg)
{
	struct slurm_job *job = arg;
	int64_t keep = (job->end + slurm.o.min_job_age) * 1000 -
	    world_true_ms();

	if (postponed(job, job_over))
		return;
	job->phase = SLURM_OVER;
	slurm.busy--;
	if (keep < 0)
		keep = 0;
	job_after(job, keep + (int64_t)prng_below(dice(), PURGE_EVERY_S * 1000),
	    job_purge);
}

static const char *const state_words[END__COUNT] = {
	[END_COMPLETED] = "COMPLETED",
	[END_FAILED] = "FAILED",
	[END_CANCELLED] = "CANCELLED",
	[END_TIMEOUT] = "TIMEOUT",
	[END_OUT_OF_MEMORY] = "OUT_OF_MEMORY",
	[END_PREEMPTED] = "PREEMPTED",
	[END_NODE_FAIL] = "NODE_FAIL",
	[END_BOOT_FAIL] = "BOOT_FAIL",
	[END_DEADLINE] = "DEADLINE",
	[END_REQUEUED] = "REQUEUED",
};

static void
run_end(struct slurm_job *job, enum job_end state)
{
	struct slurm_run *run = job->run;

	run->end = slurm_now_s();
	run->state = state;
	slurm_report_end(job, state_words[state], 1);
	trace("job %u, started at %lld, ends at %lld: %s", job->id,
	    (long long)run->start, (long long)run->end, state_words[state]);
	slurm.hook(job->id, 1);
}

static void
job_end_now(void *arg)
{
	struct slurm_job *job = arg;

	if (postponed(job, job_end_now))
		return;
	if (job->phase != SLURM_RUNNING) {
		job_after(job, 1000, job_end_now);
		return;
	}
	job->end = slurm_now_s();
	run_end(job, job->end_state);
	job->phase = SLURM_COMPLETING;
	job_after(job, (int64_t)prng_below(dice(), EPILOG_MS), job_over);
}

/* --- the start of a job --- */

static void job_start(void *arg);

/* The nodes are free: the job waits for its next start. */
static void
job_pends(void *arg)
{
	struct slurm_job *job = arg;

	if (postponed(job, job_pends))
		return;
	job->submit = slurm_now_s();
	job->begin = job->submit + BEGIN_AFTER_S - 1;
	job->phase = SLURM_PENDING;
	slurm_report_pending(job);
	job_after(job,
	    BEGIN_AFTER_S * 1000 + (int64_t)prng_below(dice(), 60000),
	    job_start);
}

static void
job_requeue(struct slurm_job *job)
{
	run_end(job, END_REQUEUED);
	job->restarts++;
	job->phase = SLURM_REQUEUED;
	job->resized = 0;
	if (!prng_chance(dice(), 200000))
		job->fate = FATE_END;
	job_after(job, (int64_t)prng_below(dice(), EPILOG_MS), job_pends);
}

static void
job_requeue_now(void *arg)
{
	struct slurm_job *job = arg;

	if (!postponed(job, job_requeue_now))
		job_requeue(job);
}

static void
job_resize(void *arg)
{
	struct slurm_job *job = arg;
	struct slurm_run *run = job->run;

	if (postponed(job, job_resize))
		return;
	slurm_report_end(job, "RESIZING", 0);
	job->resized = slurm_now_s();
	run->nodes_now = 1;
	slurm_report_start(job);
	trace("job %u gives back nodes", job->id);
	job_after(job, job->run_ms / 2, job_end_now);
}

static void
job_resume(void *arg)
{
	struct slurm_job *job = arg;

	if (postponed(job, job_resume))
		return;
	job->phase = SLURM_RUNNING;
	job_after(job, job->run_ms / 2, job_end_now);
}

static void
job_suspend(void *arg)
{
	struct slurm_job *job = arg;

	if (postponed(job, job_suspend))
		return;
	job->phase = SLURM_SUSPENDED;
	job_after(job, 10000 + (int64_t)prng_below(dice(), 300000), job_resume);
}

/* The prolog has ended. */
static void
job_runs(void *arg)
{
	struct slurm_job *job = arg;

	if (postponed(job, job_runs))
		return;
	if (job->fate == FATE_PROLOG_CTLD || job->fate == FATE_PROLOG_NODE) {
		trace("the prolog of job %u fails", job->id);
		job_requeue(job);
		return;
	}
	job->run->ran = 1;
	job->row->steps = 1;
	job->phase = SLURM_RUNNING;
	switch (job->fate) {
	case FATE_REQUEUE:
		job_after(job, job->run_ms, job_requeue_now);
		break;
	case FATE_RESIZE:
		job_after(job, job->run_ms / 2, job_resize);
		break;
	case FATE_SUSPEND:
		job_after(job, job->run_ms / 2, job_suspend);
		break;
	default:
		job_after(job, job->run_ms, job_end_now);
	}
}

/* The nodes have booted: the run starts now. */
static void
job_booted(void *arg)
{
	struct slurm_job *job = arg;

	if (postponed(job, job_booted))
		return;
	job->run->start = slurm_now_s();
	slurm_report_moved(job);
	trace("the nodes of job %u, started at %lld, have booted: it starts at "
	      "%lld",
	    job->id, (long long)job->run->first, (long long)job->run->start);
	job_after(job, job->prolog_ms, job_runs);
}

/* ms until the nodes of the run have booted; 0 = they are up. */
static int64_t
boot_ms(const struct slurm_job *job)
{
	if (job->fate == FATE_PROLOG_CTLD || job->fate == FATE_PROLOG_NODE ||
	    (job->fate == FATE_RESIZE && job->run_ms < 4 * SECOND_MS) ||
	    !prng_chance(&slurm.powering, slurm.power_up))
		return 0;
	return prng_between(&slurm.powering, 1, 300) * SECOND_MS;
}

static void
job_start(void *arg)
{
	struct slurm_job *job = arg;
	int64_t boot;

	if (postponed(job, job_start))
		return;
	run_new(job);
	if (job->fate == FATE_PROLOG_NODE)
		job->row->steps = 2;
	job->phase = job->fate == FATE_PROLOG_NODE ||
		(job->fate != FATE_PROLOG_CTLD && prng_chance(dice(), 300000)) ?
	    SLURM_PROLOG :
	    SLURM_CONFIGURING;
	slurm.hook(job->id, 0);
	boot = boot_ms(job);
	if (boot > 0) {
		job->phase = SLURM_CONFIGURING;
		job_after(job, boot, job_booted);
	} else
		job_after(job, job->prolog_ms, job_runs);
}

static void
job_cancel(void *arg)
{
	struct slurm_job *job = arg;

	if (postponed(job, job_cancel))
		return;
	job->end = slurm_now_s();
	job->end_state = END_CANCELLED;
	slurm_report_never(job);
	trace("job %u is cancelled while it is pending", job->id);
	job_over(job);
}

/* --- submission --- */

/* From seconds to hours, mostly minutes. */
static int64_t
duration_ms(void)
{
	switch (prng_below(dice(), 10)) {
	case 0:
		return (int64_t)prng_below(dice(), 3000);
	case 1:
	case 2:
		return (int64_t)prng_below(dice(), 60000);
	case 9:
		return (int64_t)prng_below(dice(), 6 * HOUR_MS);
	default:
		return (int64_t)prng_below(dice(), 20 * MINUTE_MS);
	}
}

static enum job_fate
fate_new(void)
{
	const struct {
		unsigned chance; /* of 1,000 */
		enum job_fate fate;
	} fates[] = {
		{ 40, FATE_REQUEUE },
		{ 15, FATE_PROLOG_CTLD },
		{ 15, FATE_PROLOG_NODE },
		{ slurm.o.resized, FATE_RESIZE },
		{ 20, FATE_SUSPEND },
		{ 40, FATE_CANCEL },
	};
	uint64_t v = prng_below(dice(), 1000);
	size_t i;

	for (i = 0; i < sizeof(fates) / sizeof(fates[0]); i++) {
		if (v < fates[i].chance)
			return fates[i].fate;
		v -= fates[i].chance;
	}
	return FATE_END;
}

static enum job_end
end_new(void)
{
	static const enum job_end ends[] = { END_FAILED, END_CANCELLED,
		END_TIMEOUT, END_OUT_OF_MEMORY, END_NODE_FAIL, END_PREEMPTED };

	if (prng_chance(dice(), 700000))
		return END_COMPLETED;
	return ends[prng_below(dice(), sizeof(ends) / sizeof(ends[0]))];
}

static const char *
name_new(struct slurm_job *job)
{
	long long t = (long long)slurm_now_s() - 60;
	unsigned victim = slurm.first != NULL ? slurm.first->id : 1;
	const char *shape;
	char *text;

	job->hostile = prng_chance(dice(), slurm.o.hostile);
	if (!job->hostile)
		return names[prng_below(dice(),
		    sizeof(names) / sizeof(names[0]))];
	shape = hostile_names[prng_below(dice(),
	    sizeof(hostile_names) / sizeof(hostile_names[0]))];
	text = world_alloc(1024);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	snprintf(text, 1024, shape, victim, t, t, t, t, t + 1);
#pragma GCC diagnostic pop
	return text;
}

/* At the submission (a job_submit plugin), or later by an admin. */
static int64_t
opts_out_at(int64_t submit)
{
	if (!prng_chance(&slurm.opting, slurm.opt_out))
		return 0;
	return prng_chance(&slurm.opting, 500000) ?
	    submit :
	    submit + prng_between(&slurm.opting, 1, 3600);
}

static struct slurm_job *
job_new(uint32_t id)
{
	struct slurm_job *job = world_alloc(sizeof(*job));

	job->id = id;
	job->user = (unsigned)prng_below(dice(), 50) == 0 ?
	    SLURM_USERS - 1 :
	    (unsigned)prng_below(dice(), SLURM_USERS - 1);
	job->name = name_new(job);
	job->submit = slurm_now_s();
	job->begin = job->submit;
	job->batch = !prng_chance(dice(), 150000);
	job->fate = fate_new();
	job->end_state = end_new();
	job->prolog_ms = prng_chance(dice(), 200000) ?
	    (int64_t)prng_below(dice(), 90000) :
	    (int64_t)prng_below(dice(), 1500);
	job->run_ms = duration_ms();
	job->limit = job->run_ms / 60000 + 1 + (int64_t)prng_below(dice(), 60);
	job->cancelled_by = slurm_users[job->user].uid;
	job->opts_out = opts_out_at(job->submit);
	job_link(job);
	slurm.busy++;
	return job;
}

static void
job_wait(struct slurm_job *job)
{
	int64_t wait = prng_chance(dice(), 500000) ?
	    (int64_t)prng_below(dice(), 3000) :
	    (int64_t)prng_below(dice(), 10 * MINUTE_MS);

	if (job->array_job == 0)
		slurm_report_pending(job);
	job_after(job, wait, job->fate == FATE_CANCEL ? job_cancel : job_start);
}

static int
id_is_taken(uint32_t id)
{
	const struct slurm_job *job;

	for (job = slurm.first; job != NULL; job = job->next)
		if (job->id == id)
			return 1;
	return 0;
}

/* slurmctld gives no id that one of its jobs has. */
static uint32_t
id_take(void)
{
	do {
		if (slurm.id_next > slurm.o.id_last)
			slurm.id_next = slurm.o.id_first;
	} while (id_is_taken(slurm.id_next++));
	return slurm.id_next - 1;
}

/* The last task to start has the id of the array. */
static void
array_new(void)
{
	uint32_t n = (uint32_t)prng_between(dice(), 2, TASKS_MAX), i;
	uint32_t base = id_take();
	struct slurm_job *job;

	for (i = 0; i < n; i++) {
		job = job_new(i + 1 < n ? id_take() : base);
		job->array_job = base;
		job->array_task = i + 1;
		job->name = names[1];
		job->hostile = 0;
		job_wait(job);
	}
}

/* All components start in the same second. */
static void
het_new(void)
{
	uint32_t i, leader = 0;
	int64_t wait = (int64_t)prng_below(dice(), 60000);
	struct slurm_job *job;

	for (i = 0; i < 2; i++) {
		job = job_new(id_take());
		if (i == 0)
			leader = job->id;
		job->het_job = leader;
		job->het_offset = i;
		if (job->fate == FATE_CANCEL)
			job->fate = FATE_END;
		job_after(job, wait, job_start);
	}
}

static void
submit(void *arg)
{
	uint64_t gap = (uint64_t)HOUR_MS / slurm.o.jobs_hour;

	(void)arg;
	if (slurm.closed)
		return;
	world_after(PROCESS_NONE, (int64_t)prng_below(dice(), 2 * gap), submit,
	    NULL);
	if (!slurm.ctld_up || !reduce_job())
		return;
	if (slurm.id_next + IDS_RESERVED > slurm.o.id_last)
		slurm.id_next = slurm.o.id_first;
	switch (prng_below(dice(), 20)) {
	case 0:
		array_new();
		break;
	case 1:
		het_new();
		break;
	default:
		job_wait(job_new(id_take()));
	}
}

void
slurm_begin(const struct slurm_options *o, slurm_hook_fn *hook)
{
	struct prng random;

	slurm.o = *o;
	slurm.hook = hook;
	slurm.runs_tail = &slurm.runs;
	slurm.id_next = o->id_first;
	slurm.ctld_up = slurm.dbd_up = 1;
	slurm.is_operator = o->is_operator;
	slurm.ctld_began = slurm_now_s();
	prng_init(&slurm.prng, world_seed(), "slurm");
	prng_init(&slurm.opting, world_seed(), "opt-out");
	if (prng_chance(&slurm.opting, 200000) && reduce_allows("opt-out"))
		slurm.opt_out = 200000;
	prng_init(&slurm.powering, world_seed(), "power-up");
	if (prng_chance(&slurm.powering, 200000) && reduce_allows("power-up"))
		slurm.power_up = 300000;
	prng_init(&random, world_seed(), "node-by-node");
	slurm.node_by_node = prng_chance(&random, 400000) &&
	    reduce_allows("node-by-node");
	slurm_accounting_begin();
	world_after(PROCESS_NONE, 0, submit, NULL);
}

void
slurm_close(void)
{
	slurm.closed = 1;
}

unsigned
slurm_busy(void)
{
	return slurm.busy;
}

/* --- faults --- */

void
slurm_ctld_set(int up)
{
	if (up && !slurm.ctld_up)
		slurm.ctld_began = slurm_now_s();
	slurm.ctld_up = up;
	trace("slurmctld is %s", up ? "up" : "down");
}

void
slurm_dbd_set(int up)
{
	slurm.dbd_up = up;
	trace("slurmdbd is %s", up ? "up" : "down");
}

void
slurm_dbd_delay_set(int64_t ms)
{
	slurm.dbd_delay = ms;
	trace("slurmctld reports to slurmdbd after %lld ms", (long long)ms);
}

void
slurm_operator_set(int is_operator)
{
	slurm.is_operator = is_operator;
	trace("the user of the commands is %s operator",
	    is_operator ? "an" : "no");
}

void
slurm_coordinates_set(int coordinates)
{
	slurm.coordinates = coordinates;
	trace("the user of the commands is %s coordinator of %s",
	    coordinates ? "a" : "no", slurm_users[COORDINATED].account);
}

int
slurm_ctld_is_up(void)
{
	return slurm.ctld_up;
}

int
slurm_dbd_is_up(void)
{
	return slurm.dbd_up;
}
