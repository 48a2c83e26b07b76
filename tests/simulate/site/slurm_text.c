/* SPDX-License-Identifier: MIT */
/*
 * The output of Slurm's commands for the questions of common/question, in the
 * forms of tests/data/slurm/VERSION: squeue.txt, job.txt, acct.txt, steps.txt,
 * config.txt, node.txt, sdiag.txt, users.txt, dbd.txt.
 */
#include "config.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/simulate/site/slurm_private.h"

#define CTLD_DOWN_MS 9000 /* recorded: until a command gives up */
#define ANSWER_MS    120  /* at most */
#define GPU_MAX_TEXT 64
#define NODES_TEXT   32
#define UNREACHABLE \
	"slurm_load_jobs error: Unable to contact slurm " \
	"controller (connect failure)"
#define UNKNOWN_JOB "slurm_load_jobs error: Invalid job id specified"
#define DBD_REFUSED \
	"sacct: error: slurm_persist_conn_open_without_init: " \
	"failed to open persistent connection to " \
	"host:localhost:6819: Connection refused"
#define NO_SCRIPT "job script retrieval failed: Job script not specified"

struct text {
	char *p;
	size_t n;
	size_t cap;
};

static struct prng random_answer;

static void __attribute__((format(printf, 2, 3)))
add(struct text *t, const char *fmt, ...)
{
	va_list ap;
	int n;

	for (;;) {
		va_start(ap, fmt);
		n = vsnprintf(t->p != NULL ? t->p + t->n : NULL, t->cap - t->n,
		    fmt, ap);
		va_end(ap);
		if (t->n + (size_t)n < t->cap)
			break;
		t->cap = t->cap * 2 + (size_t)n + 4096;
		t->p = world_realloc(t->p, t->cap);
	}
	t->n += (size_t)n;
}

/* --- who may see what --- */

static int
sees(unsigned user)
{
	return slurm.is_operator || !slurm.o.private_jobs ||
	    user == SLURM_USERS - 1 ||
	    (slurm.coordinates && user == COORDINATED);
}

static int
is_asked(const struct question *q, uint32_t id, uint32_t array_job)
{
	size_t i;

	if (q->ids.n == 0)
		return 1;
	for (i = 0; i < q->ids.n; i++)
		if (q->ids.ids[i] == id ||
		    (array_job != 0 && q->ids.ids[i] == array_job))
			return 1;
	return 0;
}

/*
 * The pending tasks of an array are one record, with the id of the array.
 */
static int
is_shown(const struct slurm_job *job)
{
	return sees(job->user) &&
	    (job->phase != SLURM_PENDING || job->array_job == 0 ||
		job->restarts > 0 || job->id == job->array_job);
}

/* --- parts of many answers --- */

static const char *
nodes_text(uint32_t first, uint32_t n)
{
	static char text[2][NODES_TEXT];
	static unsigned turn;

	turn = !turn;
	if (n == 1)
		snprintf(text[turn], NODES_TEXT, "n%02u", first);
	else
		snprintf(text[turn], NODES_TEXT, "n[%02u-%02u]", first,
		    first + n - 1);
	return text[turn];
}

static unsigned
gpus_count(unsigned gpus)
{
	return (unsigned)__builtin_popcount(gpus);
}

/* "0-1,3" */
static const char *
gpus_text(unsigned gpus)
{
	static char text[GPU_MAX_TEXT];
	size_t n = 0;
	unsigned i, last;

	text[0] = '\0';
	for (i = 0; i < SLURM_GPUS; i++) {
		if ((gpus & (1u << i)) == 0)
			continue;
		for (last = i; gpus & (1u << (last + 1)); last++)
			continue;
		n += (size_t)snprintf(text + n, sizeof(text) - n,
		    last > i ? "%s%u-%u" : "%s%u", n > 0 ? "," : "", i, last);
		i = last;
	}
	return text;
}

static void
tres_add(struct text *t, uint32_t nodes, uint32_t cpus, unsigned gpus)
{
	unsigned n = gpus_count(gpus) * nodes;

	add(t, "cpu=%u,node=%u,billing=%u", cpus * nodes, nodes, cpus * nodes);
	if (n > 0)
		add(t, ",gres/gpu=%u,gres/gpu:a100=%u", n, n);
}

static const char *
word_of_end(enum job_end end)
{
	static const struct {
		const char *word;
		const char *compact;
	} words[END__COUNT] = {
		[END_COMPLETED] = { "COMPLETED", "CD" },
		[END_FAILED] = { "FAILED", "F" },
		[END_CANCELLED] = { "CANCELLED", "CA" },
		[END_TIMEOUT] = { "TIMEOUT", "TO" },
		[END_OUT_OF_MEMORY] = { "OUT_OF_MEMORY", "OOM" },
		[END_PREEMPTED] = { "PREEMPTED", "PR" },
		[END_NODE_FAIL] = { "NODE_FAIL", "NF" },
	};

	return words[end].word;
}

static const char *
compact_of_end(enum job_end end)
{
	static const char *const words[END__COUNT] = {
		[END_COMPLETED] = "CD",
		[END_FAILED] = "F",
		[END_CANCELLED] = "CA",
		[END_TIMEOUT] = "TO",
		[END_OUT_OF_MEMORY] = "OOM",
		[END_PREEMPTED] = "PR",
		[END_NODE_FAIL] = "NF",
	};

	return words[end];
}

static const char *
state_word_of(const struct slurm_job *job)
{
	switch (job->phase) {
	case SLURM_PENDING:
		return "PENDING";
	case SLURM_CONFIGURING:
		return "CONFIGURING";
	case SLURM_PROLOG:
	case SLURM_RUNNING:
		return "RUNNING";
	case SLURM_SUSPENDED:
		return "SUSPENDED";
	case SLURM_COMPLETING:
	case SLURM_REQUEUED:
		return "COMPLETING";
	default:
		return word_of_end(job->end_state);
	}
}

static const char *
compact_of(const struct slurm_job *job)
{
	switch (job->phase) {
	case SLURM_PENDING:
		return "PD";
	case SLURM_CONFIGURING:
		return "CF";
	case SLURM_PROLOG:
	case SLURM_RUNNING:
		return "R";
	case SLURM_SUSPENDED:
		return "S";
	case SLURM_COMPLETING:
	case SLURM_REQUEUED:
		return "CG";
	default:
		return compact_of_end(job->end_state);
	}
}

static int
is_live(const struct slurm_job *job)
{
	return job->phase != SLURM_PENDING && job->phase < SLURM_OVER;
}

/* --- squeue --- */

static void
squeue_add(struct text *t, const struct slurm_job *job)
{
	const char *reason = job->phase == SLURM_PROLOG ? "Pr" : "No";
	int64_t start = job->run != NULL ? job->run->start : job->end;

	if (job->phase == SLURM_REQUEUED)
		start = slurm_now_s();
	if (job->phase == SLURM_PENDING)
		add(t, "%u PD %s %lld\n", job->id,
		    job->restarts > 0 ? "Be" : "Pr", (long long)job->begin);
	else
		add(t, "%u %s %s %lld\n", job->id, compact_of(job), reason,
		    (long long)start);
}

static void
squeue(const struct question *q, struct text *t, struct slurm_answer *a)
{
	const struct slurm_job *job;
	int all = q->kind == QUESTION_LIST_ALL, found = 0;

	for (job = slurm.first; job != NULL; job = job->next) {
		if (!is_shown(job) || !is_asked(q, job->id, job->array_job))
			continue;
		found = 1;
		if (all || is_live(job))
			squeue_add(t, job);
	}
	if (q->ids.n == 1 && !found) {
		a->status = 1;
		a->err = UNKNOWN_JOB;
	}
}

/* What the job's admin comment is now; "" = none. */
static const char *
admin_comment(int64_t opts_out)
{
	return opts_out != 0 && opts_out <= slurm_now_s() ?
	    "disable_cc_submission" :
	    "";
}

static void
squeue_names(const struct question *q, struct text *t, struct slurm_answer *a)
{
	const struct slurm_job *job;
	int found = 0;

	for (job = slurm.first; job != NULL; job = job->next) {
		if (!is_shown(job) || !is_asked(q, job->id, job->array_job))
			continue;
		found = 1;
		add(t, "%u%s%s%s%s%s(null)%snormal%s\n", job->id, q->delimiter,
		    job->name, q->delimiter, admin_comment(job->opts_out),
		    q->delimiter, q->delimiter, q->delimiter);
	}
	if (!found) {
		a->status = 1;
		a->err = UNKNOWN_JOB;
	}
}

static void
squeue_nodes(struct text *t)
{
	const struct slurm_job *job;

	for (job = slurm.first; job != NULL; job = job->next)
		if (sees(job->user) && is_live(job) &&
		    job->phase < SLURM_COMPLETING)
			add(t, "%s\n",
			    nodes_text(job->run->node_first,
				job->run->nodes_now));
}

/* --- scontrol show job -d -o --- */

static void
record_head(struct text *t, const struct slurm_job *job)
{
	const struct slurm_user *user = &slurm_users[job->user];

	add(t, "JobId=%u ", job->id);
	if (job->array_job != 0)
		add(t, "ArrayJobId=%u ArrayTaskId=%u ", job->array_job,
		    job->array_task);
	if (job->het_job != 0)
		add(t, "HetJobId=%u HetJobOffset=%u ", job->het_job,
		    job->het_offset);
	add(t, "JobName=%s ", job->name);
	if (job->het_job != 0)
		add(t, "HetJobIdSet=%u-%u ", job->het_job, job->het_job + 1);
	if (slurm.o.version >= 2605)
		add(t, "SLUID=s%u ", job->id);
	add(t,
	    "UserId=%s(%u) GroupId=%s(%u) MCS_label=N/A Priority=4294901759 "
	    "Nice=0 Account=%s QOS=normal ",
	    user->name, user->uid, user->name, user->uid, user->account);
}

static void
record_life(struct text *t, const struct slurm_job *job)
{
	int64_t start = job->run != NULL ? job->run->start : job->end;
	int64_t end = start + job->limit * 60;
	int failed = job->phase >= SLURM_OVER && job->end_state == END_FAILED;

	/* Recorded: a requeued job shows the present until it is pending. */
	if (job->phase == SLURM_PENDING || job->phase == SLURM_REQUEUED) {
		start = job->phase == SLURM_PENDING ? job->begin :
						      slurm_now_s();
		end = start + job->limit * 60;
	} else if (job->phase >= SLURM_COMPLETING)
		end = job->end;
	add(t,
	    "JobState=%s Reason=%s Dependency=(null) Requeue=1 Restarts=%u "
	    "BatchFlag=%d Reboot=0 ExitCode=%d:0 DerivedExitCode=0:0 "
	    "RunTime=00:00:00 TimeLimit=%lld-%02lld:%02lld:00 TimeMin=N/A "
	    "SubmitTime=%lld EligibleTime=%lld AccrueTime=%lld ",
	    state_word_of(job), job->phase == SLURM_PROLOG ? "Prolog" : "None",
	    job->restarts, job->batch, failed, (long long)job->limit / 1440,
	    (long long)job->limit / 60 % 24, (long long)job->limit % 60,
	    (long long)job->submit, (long long)job->submit,
	    (long long)job->submit);
	if (job->resized != 0)
		add(t, "ResizeTime=%lld ", (long long)job->resized);
	add(t,
	    "StartTime=%lld EndTime=%lld Deadline=N/A SuspendTime=None "
	    "SecsPreSuspend=0 LastSchedEval=%lld Scheduler=Main "
	    "Partition=main AllocNode:Sid=localhost:2989 "
	    "ReqNodeList=(null) ExcNodeList=(null) ",
	    (long long)start, (long long)end, (long long)job->submit);
}

/* Nodes with the same hardware threads and devices. */
static void
group_add(struct text *t, const struct slurm_run *run, uint32_t first,
    uint32_t n, int devices)
{
	add(t, "Nodes=%s CPU_IDs=%u-%u Mem=0 GRES=", nodes_text(first, n),
	    run->cpu_first, run->cpu_first + run->cpu_count - 1);
	if (run->gpus != 0 && devices)
		add(t, "gpu:a100:%u(IDX:%s)", gpus_count(run->gpus),
		    gpus_text(run->gpus));
	add(t, " ");
}

/*
 * Slurm shows device indices only while the job has its devices.  In some seeds
 * the last node keeps them until its epilog has ended.
 */
static void
record_groups(struct text *t, const struct slurm_job *job)
{
	const struct slurm_run *run = job->run;
	uint32_t first = run->node_first, n = run->nodes_now;

	if (run->gpus != 0)
		add(t, "JOB_GRES=gpu:a100:%u   ", gpus_count(run->gpus) * n);
	else
		add(t, "JOB_GRES=(null)   ");
	if (n > 1 && slurm.node_by_node && job->phase == SLURM_COMPLETING) {
		group_add(t, run, first, n - 1, 0);
		group_add(t, run, first + n - 1, 1, 1);
	} else
		group_add(t, run, first, n, job->phase < SLURM_COMPLETING);
}

static void
record_tres(struct text *t, const struct slurm_job *job)
{
	const struct slurm_run *run = job->run;
	uint32_t nodes = run != NULL ? run->nodes_now : 1;
	uint32_t cpus = run != NULL ? run->cpu_count : 1;
	unsigned gpus = run != NULL ? run->gpus : 0;

	if (slurm.o.version >= 2411) {
		add(t, "ReqTRES=cpu=1,mem=100M,node=1,billing=1 AllocTRES=");
		if (run == NULL) {
			add(t, "(null) ");
			return;
		}
	} else
		add(t, "TRES=");
	tres_add(t, nodes, cpus, gpus);
	add(t, " ");
}

static void
record_add(struct text *t, const struct slurm_job *job)
{
	const struct slurm_run *run = job->phase != SLURM_PENDING ? job->run :
								    NULL;
	uint32_t nodes = run != NULL ? run->nodes_now : 1;
	uint32_t cpus = run != NULL ? run->cpu_count : 1;
	const char *comment = admin_comment(job->opts_out);

	record_head(t, job);
	record_life(t, job);
	if (run != NULL)
		add(t, "NodeList=%s BatchHost=n%02u ",
		    nodes_text(run->node_first, nodes), run->node_first);
	else
		add(t, "NodeList= ");
	add(t,
	    "NumNodes=%u NumCPUs=%u NumTasks=1 CPUs/Task=1 "
	    "ReqB:S:C:T=0:0:*:* ",
	    nodes, nodes * cpus);
	record_tres(t, job);
	add(t, "Socks/Node=* NtasksPerN:B:S:C=0:0:*:* CoreSpec=* ");
	if (run != NULL)
		record_groups(t, job);
	add(t,
	    "MinCPUsNode=1 MinMemoryCPU=100M MinTmpDiskNode=0 "
	    "Features=(null) DelayBoot=00:00:00 ");
	add(t,
	    slurm.o.version >= 2605 ? "OverSubscribe=NO Exclusive=NO " :
				      "OverSubscribe=OK ");
	add(t,
	    "Contiguous=0 Licenses=(null) Network=(null) Command=(null) "
	    "WorkDir=/home/lab ");
	if (*comment != '\0')
		add(t, "AdminComment=%s ", comment);
	add(t, "StdErr=/dev/null StdIn=/dev/null StdOut=/dev/null %s\n",
	    slurm.o.version < 2411 ? "Power= " : "");
}

static void
show_jobs(const struct question *q, struct text *t, struct slurm_answer *a)
{
	const struct slurm_job *job;
	int found = 0;

	for (job = slurm.first; job != NULL; job = job->next) {
		if (!is_shown(job) || !is_asked(q, job->id, job->array_job))
			continue;
		found = 1;
		record_add(t, job);
	}
	if (found)
		return;
	if (q->ids.n > 0) {
		a->status = 1;
		a->err = UNKNOWN_JOB;
	} else
		add(t, "No jobs in the system\n");
}

static void
show_script(const struct question *q, struct text *t, struct slurm_answer *a)
{
	const struct slurm_job *job = slurm.first;

	while (job != NULL && (job->id != q->ids.ids[0] || !is_shown(job)))
		job = job->next;
	if (job == NULL)
		a->err = UNKNOWN_JOB;
	else if (!job->batch)
		a->err = NO_SCRIPT;
	else
		add(t, "#!/bin/sh\n# job %u\nsleep 30\n", slurm_script_of(job));
}

/* --- the rest of scontrol, sdiag, sacctmgr --- */

static const char *
version_text(void)
{
	static char text[16];

	snprintf(text, sizeof(text), "%u.%02u.5", slurm.o.version / 100,
	    slurm.o.version % 100);
	return text;
}

static void
show_config(struct text *t)
{
	add(t,
	    "Configuration data as of %lld\n"
	    "AccountingStorageHost   = 127.0.0.1\n"
	    "AccountingStorageType   = accounting_storage/slurmdbd\n"
	    "AuthType                = auth/munge\n"
	    "BOOT_TIME               = %lld\n"
	    "ClusterName             = " SLURM_CLUSTER "\n"
	    "MinJobAge               = %lld sec\n"
	    "PrivateData             = %s\n"
	    "PrologFlags             = (null)\n"
	    "SlurmUser               = slurm(64030)\n"
	    "SlurmctldHost[0]        = ctl(127.0.0.1)\n"
	    "SlurmctldParameters     = %s\n"
	    "SlurmdUser              = root(0)\n"
	    "SLURM_VERSION           = %s\n"
	    "\n"
	    "Slurmctld(primary) at ctl is UP\n",
	    (long long)slurm_now_s(), (long long)slurm.ctld_began,
	    (long long)slurm.o.min_job_age,
	    slurm.o.private_jobs ? "jobs" : "none",
	    slurm.o.limited ? "rl_enable" : "(null)", version_text());
}

static void
show_nodes(struct text *t)
{
	uint32_t i;

	for (i = 1; i <= SLURM_NODE_COUNT; i++)
		add(t,
		    "NodeName=n%02u Arch=x86_64 CoresPerSocket=4  CPUAlloc=0 "
		    "CPUEfctv=16 CPUTot=16 CPULoad=0.97 "
		    "AvailableFeatures=(null) ActiveFeatures=(null) "
		    "Gres=gpu:a100:4 GresDrain=N/A "
		    "GresUsed=gpu:a100:0(IDX:N/A) NodeAddr=127.0.0.1 "
		    "NodeHostName=n%02u Port=16823 Version=%s OS=Linux 6.12.0 "
		    "#1 SMP PREEMPT_DYNAMIC @0  RealMemory=4000 AllocMem=0 "
		    "FreeMem=22178 Sockets=2 Boards=1 State=IDLE "
		    "ThreadsPerCore=2 TmpDisk=0 Weight=1 Owner=N/A "
		    "MCS_label=N/A Partitions=main  "
		    "CfgTRES=cpu=16,mem=4000M,billing=16 AllocTRES= "
		    "CurrentWatts=0 AveWatts=0\n",
		    i, i, version_text());
}

static void
show_clock(struct text *t)
{
	int64_t now = slurm_now_s(), midnight = now - now % 86400;
	int64_t since = slurm.ctld_began > midnight ? slurm.ctld_began :
						      midnight;

	/* slurmctld notes the time in the first run of its background thread. */
	if (now >= slurm.ctld_began && now - slurm.ctld_began < 2)
		since = 0;
	add(t,
	    "*******************************************************\n"
	    "sdiag output at Sat Nov 21 17:32:24 2026 (%lld)\n"
	    "Data since      Sat Nov 21 17:32:07 2026 (%lld)\n"
	    "*******************************************************\n"
	    "Server thread count:  3\n"
	    "Agent queue size:     0\n"
	    "Agent count:          0\n"
	    "Agent thread count:   0\n"
	    "DBD Agent queue size: %u\n\n"
	    "Jobs submitted: 5\n",
	    (long long)now, (long long)since, slurm.dbd_queued);
}

static void
show_dbd_config(struct text *t)
{
	add(t,
	    "Configuration data as of %lld\n"
	    "AccountingStorageType  = accounting_storage/slurmdbd\n"
	    "PrivateData            = none\n\n"
	    "SlurmDBD configuration:\n"
	    "DbdHost                = localhost\n"
	    "MaxQueryTimeRange      = UNLIMITED\n"
	    "PrivateData            = %s\n",
	    (long long)slurm_now_s(), slurm.o.private_jobs ? "jobs" : "none");
}

/* --- sacct --- */

static void
time_add(struct text *t, int64_t v, const char *delimiter)
{
	if (v != 0)
		add(t, "%lld%s", (long long)v, delimiter);
	else
		add(t, "Unknown%s", delimiter);
}

static void
row_id_add(struct text *t, const struct slurm_row *row, const char *d)
{
	add(t, "%u%s", row->id, d);
	if (row->array_job != 0)
		add(t, "%u_%u%s", row->array_job, row->array_task, d);
	else if (row->het_job != 0)
		add(t, "%u+%u%s", row->het_job, row->het_offset, d);
	else
		add(t, "%u%s", row->id, d);
}

static void
row_add(struct text *t, const struct slurm_row *row, const char *d)
{
	const struct slurm_user *user = &slurm_users[row->user];
	int failed = strcmp(row->shown_state, "FAILED") == 0;

	row_id_add(t, row, d);
	add(t, "%s%s%u%s%s%smain%snormal%s%s", user->name, d, user->uid, d,
	    user->account, d, d, d, d);
	if (strcmp(row->shown_state, "CANCELLED") == 0)
		add(t, "CANCELLED by %u%s", row->cancelled_by, d);
	else
		add(t, "%s%s", row->shown_state, d);
	add(t, "%d:0%s", failed, d);
	time_add(t, row->submit, d);
	time_add(t, row->shown_start, d);
	time_add(t, row->shown_end, d);
	add(t, "%lld%s", (long long)row->limit, d);
	if (row->shown_start != 0 && row->node_count > 0)
		tres_add(t, row->node_count, row->cpu_count, row->gpus);
	add(t, "%s100M%s1%s%s%s%s%s%s\n", d, d, d,
	    admin_comment(row->run != NULL ? slurm_opts_out(row->run) : 0), d,
	    row->name, d,
	    row->node_count > 0 ? nodes_text(row->node_first, row->node_count) :
				  "None assigned");
}

/* -s: the states of ended runs; of these, those that ended in the range. */
static int
is_in_range(const struct slurm_row *row, const struct question *q)
{
	return row->shown_end != 0 && row->shown_end >= q->from &&
	    row->shown_end <= q->to;
}

static void
sacct_range(const struct question *q, struct text *t)
{
	const struct slurm_row *row;

	for (row = slurm_rows(); row != NULL; row = row->next)
		if (sees(row->user) && is_in_range(row, q))
			row_add(t, row, q->delimiter);
}

static void
sacct_runs(const struct question *q, struct text *t)
{
	const struct slurm_row *row;

	for (row = slurm_rows(); row != NULL; row = row->next)
		if (sees(row->user) && is_asked(q, row->id, row->array_job))
			row_add(t, row, q->delimiter);
}

#define STEP "||||"

static void
sacct_steps(const struct question *q, struct text *t)
{
	const struct slurm_row *row;

	for (row = slurm_rows(); row != NULL; row = row->next) {
		if (!sees(row->user) || !is_asked(q, row->id, row->array_job))
			continue;
		add(t, "%u" STEP, row->id);
		time_add(t, row->shown_start, STEP);
		time_add(t, row->shown_end, STEP "0:0\n");
		if (row->steps == 0)
			continue;
		add(t, "%u.batch" STEP, row->id);
		time_add(t, row->shown_start, STEP);
		time_add(t, row->shown_end, STEP);
		add(t, row->steps == 1 && row->shown_end != 0 ? "0:0\n" : "\n");
	}
}

/* --- the answer --- */

static void
dbd_text(const struct question *q, struct text *t)
{
	switch (q->kind) {
	case QUESTION_RANGE:
		sacct_range(q, t);
		break;
	case QUESTION_RUNS:
		sacct_runs(q, t);
		break;
	case QUESTION_STEPS:
		sacct_steps(q, t);
		break;
	case QUESTION_ADMIN:
		add(t, SLURM_USER "|%s\n",
		    slurm.is_operator ? "Operator" : "None");
		break;
	case QUESTION_DBD_CONFIG:
		show_dbd_config(t);
		break;
	default:
		invariant_fail("there is no question %d", (int)q->kind);
	}
}

static void
ctld_text(const struct question *q, struct text *t, struct slurm_answer *a)
{
	switch (q->kind) {
	case QUESTION_CONFIG:
		show_config(t);
		break;
	case QUESTION_PING:
		add(t, "Slurmctld(primary) at ctl is UP\n");
		break;
	case QUESTION_SHAPES:
	case QUESTION_NODES:
		show_nodes(t);
		break;
	case QUESTION_JOBS:
	case QUESTION_JOB:
		show_jobs(q, t, a);
		break;
	case QUESTION_SCRIPT:
		show_script(q, t, a);
		break;
	case QUESTION_LIST:
	case QUESTION_LIST_JOBS:
	case QUESTION_LIST_ALL:
		squeue(q, t, a);
		break;
	case QUESTION_NAME:
		squeue_names(q, t, a);
		break;
	case QUESTION_BUSY_NODES:
		squeue_nodes(t);
		break;
	case QUESTION_CLOCK:
		show_clock(t);
		break;
	default:
		invariant_fail("there is no question %d", (int)q->kind);
	}
}

void
slurm_answer(const struct question *q, struct slurm_answer *a)
{
	enum slurm_command command = question_type(q->kind)->command;
	int of_dbd = command == CMD_SACCT || command == CMD_SACCTMGR;
	struct text t = { NULL, 0, 0 };

	if (random_answer.s[0] == 0)
		prng_init(&random_answer, world_seed(), "answer");
	*a = (struct slurm_answer) { .err = "",
		.ms = 5 + (int64_t)prng_below(&random_answer, ANSWER_MS) };
	if (of_dbd && !slurm.dbd_up) {
		a->status = 1;
		a->err = DBD_REFUSED;
		return;
	}
	if (!of_dbd && !slurm.ctld_up) {
		a->status = 1;
		a->err = UNREACHABLE;
		a->ms += CTLD_DOWN_MS;
		return;
	}
	if (of_dbd)
		dbd_text(q, &t);
	else
		ctld_text(q, &t, a);
	a->text = t.p;
	a->len = t.n;
}

void
slurm_answer_clear(struct slurm_answer *a)
{
	free(a->text);
	a->text = NULL;
	a->len = 0;
}
