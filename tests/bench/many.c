/* SPDX-License-Identifier: MIT */
/*
 * A Slurm with more short jobs than this machine could run, and its hooks.
 *
 * Called as squeue, sacct or scontrol it answers in their place about jobs
 * that begin and end by the clock, and what a real scontrol said about
 * anything else; as sdiag and sacctmgr it says that all is well.  Called as
 * many it sends a hook message for each of these jobs to the daemon's socket, once
 * when the job begins and once when it ends, and prints how many messages the
 * daemon did not receive.
 *
 * Beside the program lie the file `jobs` (the second the first job begins, jobs
 * a second, seconds a job runs, number of jobs, seconds that slurmctld remembers
 * an ended one, and perhaps the first one's id), config.text and node.text, and
 * perhaps `nodes`, the number of nodes c00001 ... that are in node.text beside
 * n1..n4, and `cluster`, the name of the cluster if it is not alpha.  With the file `batch` the jobs have scripts.  Job k has that id + k, two
 * threads of one of n1..n4, and on n3 and n4 a GPU; squeue shows it on one of the c
 * nodes, if there are any.
 */
#include "config.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define FIRST_ID 100000

static struct {
	long begin;
	double rate;
	long life;
	long count;
	long kept;
	long first;
} jobs;
static long nodes; /* c00001 ... */
static int batch;  /* the jobs have scripts */
static char cluster[64] = "alpha";
static char *asked; /* by job: is it among the ids of -j?  NULL = all are */

static double
now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static long
start_of(long k)
{
	return jobs.begin + (long)((double)k / jobs.rate);
}

static long
end_of(long k)
{
	return start_of(k) + jobs.life;
}

/* Index of the job's GPU, -1 = none. */
static long
gpu_of(long k)
{
	return k % 4 >= 2 ? k / 4 % 4 : -1;
}

/* The file of this name beside the program; NULL = there is none. */
static FILE *
file_open(const char *self, const char *name)
{
	char path[PATH_MAX];
	const char *slash = strrchr(self, '/');

	snprintf(path, sizeof(path), "%.*s/%s",
	    slash != NULL ? (int)(slash - self) : 1, slash != NULL ? self : ".",
	    name);
	return fopen(path, "re");
}

static FILE *
file_beside(const char *self, const char *name)
{
	FILE *f = file_open(self, name);

	if (f == NULL) {
		perror(name);
		exit(1);
	}
	return f;
}

static void
nodes_read(const char *self)
{
	FILE *f = file_open(self, "nodes");

	if (f == NULL)
		return;
	if (fscanf(f, "%ld", &nodes) != 1)
		nodes = 0;
	fclose(f);
}

static void
jobs_read(const char *self)
{
	FILE *f = file_beside(self, "jobs");

	jobs.first = FIRST_ID;
	if (fscanf(f, "%ld %lf %ld %ld %ld %ld", &jobs.begin, &jobs.rate,
		&jobs.life, &jobs.count, &jobs.kept, &jobs.first) < 5) {
		fprintf(stderr, "the file jobs is wrong\n");
		exit(1);
	}
	fclose(f);
}

static void
cluster_read(const char *self)
{
	FILE *f = file_open(self, "cluster");

	if (f == NULL)
		return;
	if (fscanf(f, "%63s", cluster) != 1)
		exit(1);
	fclose(f);
}

static int
print_file(const char *self, const char *name)
{
	FILE *f = file_beside(self, name);
	int c;

	while ((c = getc(f)) != EOF)
		putchar(c);
	fclose(f);
	return 0;
}

static int
has(char **argv, const char *word)
{
	for (; *argv != NULL; argv++)
		if (strcmp(*argv, word) == 0)
			return 1;
	return 0;
}

/* The word behind an option, or what follows "--option=". */
static const char *
value(char **argv, const char *option)
{
	size_t n = strlen(option);

	for (; *argv != NULL; argv++) {
		if (strcmp(*argv, option) == 0)
			return argv[1];
		if (strncmp(*argv, option, n) == 0 && (*argv)[n] == '=')
			return *argv + n + 1;
	}
	return NULL;
}

/* Reads a list of ids; NULL = none was given. */
static void
ask_for(const char *ids)
{
	char *end;
	long k;

	if (ids == NULL)
		return;
	asked = calloc(1, (size_t)jobs.count + 1);
	if (asked == NULL)
		exit(1);
	for (; *ids != '\0'; ids = *end == ',' ? end + 1 : end) {
		k = strtol(ids, &end, 10) - jobs.first;
		if (end == ids)
			break;
		if (k >= 0 && k < jobs.count)
			asked[k] = 1;
	}
}

static int
wanted(long k)
{
	return asked == NULL || asked[k];
}

/* As Slurm answers for one job that it does not know: status 1. */
static int
unknown(const char *ids, long printed)
{
	if (printed > 0 || ids == NULL || strchr(ids, ',') != NULL)
		return 0;
	fputs("slurm_load_jobs error: Invalid job id specified\n", stderr);
	return 1;
}

/* --- squeue ---------------------------------------------------------------- */

static void
squeue_one(const char *format, long k, int ended)
{
	for (; *format != '\0'; format++) {
		if (*format != '%') {
			putchar(*format);
			continue;
		}
		switch (*++format) {
		case 'A':
			printf("%ld", jobs.first + k);
			break;
		case 't':
			fputs(ended ? "CD" : "R", stdout);
			break;
		case 'T':
			fputs(ended ? "COMPLETED" : "RUNNING", stdout);
			break;
		case 'S':
			printf("%ld", start_of(k));
			break;
		case 'N':
			if (nodes > 0)
				printf("c%05ld", 1 + k % nodes);
			else
				printf("n%ld", 1 + k % 4);
			break;
		default:
			fputs("many", stdout);
			break;
		}
	}
	putchar('\n');
}

static int
squeue(char **argv)
{
	const char *format = value(argv, "-o"), *ids = value(argv, "-j");
	long k, printed = 0, all = has(argv, "all");
	double t = now();

	ask_for(ids);
	nodes_read(argv[0]);
	for (k = 0; k < jobs.count && start_of(k) <= t; k++)
		if (end_of(k) + (all ? jobs.kept : 0) > t && wanted(k)) {
			squeue_one(format, k, end_of(k) <= t);
			printed++;
		}
	return unknown(ids, printed);
}

/* --- sacct ------------------------------------------------------------------ */

static const struct {
	const char *name;
	const char *text;
} columns[] = { { "User", "labalice" }, { "UID", "1001" },
	{ "Account", "proj1" }, { "Partition", "main" }, { "QOS", "normal" },
	{ "ExitCode", "0:0" }, { "TimelimitRaw", "10" }, { "ReqMem", "100M" },
	{ "ReqCPUS", "2" }, { "JobName", "many" }, { "Cluster", cluster },
	{ NULL, "" } };

static void
sacct_column(const char *name, size_t n, long k, double t)
{
	size_t i;

	if (strncmp(name, "JobIDRaw", n) == 0 || strncmp(name, "JobID", n) == 0)
		printf("%ld", jobs.first + k);
	else if (strncmp(name, "State", n) == 0)
		fputs(end_of(k) <= t ? "COMPLETED" : "RUNNING", stdout);
	else if (strncmp(name, "Start", n) == 0 ||
	    strncmp(name, "Submit", n) == 0)
		printf("%ld", start_of(k));
	else if (strncmp(name, "End", n) == 0)
		end_of(k) <= t ? printf("%ld", end_of(k)) : printf("Unknown");
	else if (strncmp(name, "NodeList", n) == 0)
		printf("n%ld", 1 + k % 4);
	else if (strncmp(name, "AllocTRES", n) == 0)
		printf("billing=2,cpu=2,node=1%s",
		    gpu_of(k) != -1 ? ",gres/gpu=1,gres/gpu:a100=1" : "");
	else {
		for (i = 0; columns[i].name != NULL; i++)
			if (strncmp(name, columns[i].name, n) == 0)
				break;
		fputs(columns[i].text, stdout);
	}
}

/*
 * The file `widest`, where there is one, has the seconds of MaxQueryTimeRange:
 * slurmdbd refuses what is longer, in its own words.
 */
static int
too_wide(const char *self, long from, long to)
{
	FILE *f = file_open(self, "widest");
	long widest;
	int n;

	if (f == NULL)
		return 0;
	n = fscanf(f, "%ld", &widest);
	fclose(f);
	if (n != 1 || to - from <= widest)
		return 0;
	fputs("sacct: error: slurmdbd: Too wide of a date range in query\n",
	    stderr);
	return 1;
}

/* A time of -S or -E: uts12345, else for ever. */
static long
point(const char *text, long otherwise)
{
	return text != NULL && strncmp(text, "uts", 3) == 0 ? atol(text + 3) :
							      otherwise;
}

static int
sacct(char **argv)
{
	const char *fields = value(argv, "-o"), *p, *comma, *ids;
	const char *between = value(argv, "--delimiter");
	long k, from = point(value(argv, "-S"), 0);
	long to = point(value(argv, "-E"), LONG_MAX);
	double t = now();

	ids = value(argv, "-j");
	if (ids == NULL && too_wide(argv[0], from, to))
		return 1;
	ask_for(ids);
	for (k = 0; k < jobs.count && start_of(k) <= t; k++) {
		if (start_of(k) > to || end_of(k) < from || !wanted(k) ||
		    (value(argv, "-s") != NULL && end_of(k) > t))
			continue;
		for (p = fields; p != NULL;
		     p = comma != NULL ? comma + 1 : NULL) {
			comma = strchr(p, ',');
			if (p != fields)
				fputs(between != NULL ? between : "|", stdout);
			sacct_column(p,
			    comma != NULL ? (size_t)(comma - p) : strlen(p), k,
			    t);
		}
		putchar('\n');
	}
	return 0;
}

/* --- scontrol ---------------------------------------------------------------- */

static void
scontrol_one(long k, double t)
{
	long s = start_of(k), core = k / 4 % 8, gpu = gpu_of(k);
	char gres[64] = "";

	if (gpu != -1)
		snprintf(gres, sizeof(gres), "gpu:a100:1(IDX:%ld)", gpu);
	printf("JobId=%ld JobName=many UserId=labalice(1001) "
	       "GroupId=labalice(1001) MCS_label=N/A Priority=1 Nice=0 "
	       "Account=proj1 QOS=normal JobState=%s Reason=None "
	       "Dependency=(null) Requeue=1 Restarts=0 BatchFlag=%d Reboot=0 "
	       "ExitCode=0:0 DerivedExitCode=0:0 RunTime=00:00:01 "
	       "TimeLimit=00:10:00 TimeMin=N/A SubmitTime=%ld EligibleTime=%ld "
	       "AccrueTime=%ld StartTime=%ld EndTime=%ld Deadline=N/A "
	       "SuspendTime=None SecsPreSuspend=0 LastSchedEval=%ld "
	       "Scheduler=Main Partition=main AllocNode:Sid=localhost:1 "
	       "ReqNodeList=(null) ExcNodeList=(null) NodeList=n%ld "
	       "BatchHost=n%ld NumNodes=1 NumCPUs=2 NumTasks=1 CPUs/Task=1 "
	       "ReqB:S:C:T=0:0:*:* TRES=cpu=2,node=1,billing=2%s Socks/Node=* "
	       "NtasksPerN:B:S:C=0:0:*:* CoreSpec=* JOB_GRES=(null)   "
	       "Nodes=n%ld CPU_IDs=%ld-%ld Mem=0 GRES=%s MinCPUsNode=1 "
	       "MinMemoryCPU=100M MinTmpDiskNode=0 Features=(null) "
	       "DelayBoot=00:00:00 OverSubscribe=OK Contiguous=0 "
	       "Licenses=(null) Network=(null) Command=(null) WorkDir=/tmp "
	       "StdErr=/dev/null StdIn=/dev/null StdOut=/dev/null Power= \n",
	    jobs.first + k, end_of(k) <= t ? "COMPLETED" : "RUNNING", batch, s,
	    s, s, s, end_of(k) <= t ? end_of(k) : s + 600, s, 1 + k % 4,
	    1 + k % 4, gpu != -1 ? ",gres/gpu=1,gres/gpu:a100=1" : "",
	    1 + k % 4, 2 * core, 2 * core + 1, gres);
}

/* One id, several with commas, or all that are remembered. */
static int
scontrol_jobs(char **argv)
{
	const char *ids = NULL;
	long k, printed = 0;
	double t = now();
	FILE *f;
	int i;

	for (i = 1; argv[i] != NULL; i++)
		if (argv[i][0] >= '0' && argv[i][0] <= '9')
			ids = argv[i];
	ask_for(ids);
	f = file_open(argv[0], "batch");
	if (f != NULL) {
		batch = 1;
		fclose(f);
	}
	for (k = 0; k < jobs.count && start_of(k) <= t; k++)
		if (end_of(k) + jobs.kept > t && wanted(k)) {
			scontrol_one(k, t);
			printed++;
		}
	return unknown(ids, printed);
}

/* --- the rest, for a bench without any Slurm ------------------------------ */

static int
sdiag(void)
{
	double t = now();
	long k, begun = 0, ended = 0;

	for (k = 0; k < jobs.count && start_of(k) <= t; k++) {
		begun++;
		ended += end_of(k) <= t;
	}
	printf(
	    "*******\nsdiag output at now (%ld)\nData since      then (%ld)\n"
	    "DBD Agent queue size: 0\n\nJobs submitted: %ld\n"
	    "Jobs started:   %ld\nJobs completed: %ld\n"
	    "Jobs canceled:  0\nJobs failed:    0\n",
	    (long)t, jobs.begin, begun, begun, ended);
	return 0;
}

/* --- the hooks ----------------------------------------------------------------- */

static int
knock(const char *path, long k, const char *context)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	char text[512];
	int n, fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), rc = -1;

	snprintf(sun.sun_path, sizeof(sun.sun_path), "%s", path);
	n = snprintf(text, sizeof(text),
	    "{\"SLURM_CLUSTER_NAME\":\"%s\","
	    "\"SLURM_JOB_ID\":\"%ld\",\"SLURM_JOB_USER\":\"labalice\","
	    "\"SLURM_SCRIPT_CONTEXT\":\"%s_slurmctld\"}",
	    cluster, jobs.first + k, context);
	if (fd != -1 &&
	    connect(fd, (struct sockaddr *)&sun, sizeof(sun)) == 0 &&
	    send(fd, text, (size_t)n, MSG_NOSIGNAL) == n)
		rc = 0;
	if (fd != -1)
		close(fd);
	return rc;
}

static int
knock_all(const char *path)
{
	long begun = 0, ended = 0, unheard = 0;
	double t, late = 0;

	while (ended < jobs.count) {
		t = now();
		if (begun < jobs.count &&
		    (double)jobs.begin + (double)begun / jobs.rate <= t) {
			late = t - (double)jobs.begin -
			    (double)begun / jobs.rate;
			unheard += knock(path, begun++, "prolog") == -1;
		} else if (ended < begun &&
		    (double)jobs.begin + (double)jobs.life +
			    (double)ended / jobs.rate <=
			t)
			unheard += knock(path, ended++, "epilog") == -1;
		else
			usleep(500);
	}
	printf("%ld messages, %ld not heard, the last %.1f s late\n",
	    begun + ended, unheard, late);
	return unheard != 0;
}

int
main(int argc, char **argv)
{
	const char *name = strrchr(argv[0], '/');

	name = name != NULL ? name + 1 : argv[0];
	jobs_read(argv[0]);
	cluster_read(argv[0]);
	if (strcmp(name, "squeue") == 0)
		return squeue(argv);
	if (strcmp(name, "sacct") == 0)
		return sacct(argv);
	if (strcmp(name, "scontrol") == 0 && has(argv, "job"))
		return scontrol_jobs(argv);
	if (strcmp(name, "scontrol") == 0 && has(argv, "batch_script")) {
		puts("#!/bin/bash\nsleep 1");
		return 0;
	}
	if (strcmp(name, "sdiag") == 0)
		return sdiag();
	if (strcmp(name, "sacctmgr") == 0) {
		puts("laboper|Operator");
		return 0;
	}
	if (strcmp(name, "many") == 0 && argc == 2)
		return knock_all(argv[1]);
	if (has(argv, "node") || has(argv, "config"))
		return print_file(argv[0],
		    has(argv, "node") ? "node.text" : "config.text");
	fprintf(stderr, "%s: nothing to say\n", name);
	return 1;
}
