/* SPDX-License-Identifier: MIT */
/*
 * Slurm's description of a job as lines.  The recordings are the output of
 * `scontrol show job -d` of each version, one job of each layout; -o prints the
 * same tokens on one line.
 */
#include "config.h"

#include <stdlib.h>
#include <time.h>

#include "common/text/time_text.h"
#include "submitter/payload/slurm_info.h"
#include "tests/unit/check.h"

#define RECORDING_MAX (64 * 1024)

/* Runs of blanks and newlines become one blank. */
static char *
joined(const char *lines)
{
	char *out = strdup(lines), *to = out;
	const char *p;

	for (p = lines; *p != '\0'; p++)
		if (*p != ' ' && *p != '\n')
			*to++ = *p;
		else if (to > out && to[-1] != ' ')
			*to++ = ' ';
	*to = '\0';
	return out;
}

/*
 * What is expected of recorded lines: times get the offset of UTC.  A token of
 * 20.11 without "=" stays at the end of the line before.
 */
static char *
expected(const char *lines)
{
	char *out = malloc(2 * strlen(lines) + 1), *to = out;
	const char *p = lines;
	int d;

	while (*p != '\0') {
		if (strncmp(p, "\n   NtasksPerTRES:", 18) == 0) {
			*to++ = ' ';
			p += 4;
		} else if (sscanf(p, "=%*4d-%*2d-%*2dT%*2d:%*2d:%2d", &d) ==
		    1) {
			to += sprintf(to, "%.20s+00:00", p);
			p += 20;
		} else
			*to++ = *p++;
	}
	*to = '\0';
	return out;
}

/* The text between begin and end, owned; NULL when there is none. */
static char *
between(const char *text, const char *begin, const char *end)
{
	const char *p = strstr(text, begin);

	if (p == NULL)
		return NULL;
	p += strlen(begin);
	return strndup(p,
	    strstr(p, end) != NULL ? (size_t)(strstr(p, end) - p) : strlen(p));
}

static void
recorded_job(const char *version, const char *lines)
{
	struct job job;
	char *got, *want = expected(lines);

	job_init(&job);
	job.slurm_info = joined(lines);
	job.name = between(lines, " JobName=", "\n");
	job.admin_comment = between(lines, "\n   AdminComment=", "\n");
	got = slurm_info_text(&job);
	if (got == NULL || strcmp(got, want) != 0)
		fprintf(stderr, "Slurm %s:\n", version);
	CHECK_STR(got, want);
	free(got);
	free(want);
	job_clear(&job);
}

/* Returns the number of jobs. */
static unsigned
recorded(const char *version)
{
	static char text[RECORDING_MAX];
	const char *dir = getenv("srcdir") != NULL ? getenv("srcdir") : ".";
	char path[512], *job = text, *next;
	unsigned n = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/tests/data/slurm/%s/show-job-d.txt",
	    dir, version);
	f = fopen(path, "r");
	if (f == NULL) {
		perror(path);
		exit(1);
	}
	text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
	fclose(f);
	for (; job != NULL && *job != '\0'; job = next, n++) {
		next = strstr(job, "\n\n");
		if (next != NULL) {
			*next = '\0';
			next += 2;
		} else
			job[strlen(job) - 1] = '\0';
		recorded_job(version, job);
	}
	return n;
}

#define HEAD  "JobId=7 JobName="
#define OWNER " UserId=a(1) GroupId=b(2) MCS_label=N/A"
#define LIFE \
	" Priority=1 Nice=0 Account=p QOS=q JobState=CONFIGURING Reason=Prolog" \
	" Dependency=(null) Requeue=1 ExitCode=0:0 RunTime=00:00:00" \
	" StartTime=1790000000 EndTime=1790000300 Deadline=N/A OverSubscribe=OK"
#define LIFE_LINES \
	"\n   UserId=a(1) GroupId=b(2) MCS_label=N/A" \
	"\n   Priority=1 Nice=0 Account=p QOS=q" \
	"\n   JobState=CONFIGURING Reason=Prolog Dependency=(null)" \
	"\n   Requeue=1 ExitCode=0:0" \
	"\n   RunTime=00:00:00" \
	"\n   StartTime=2026-09-21T16:13:20+02:00" \
	" EndTime=2026-09-21T16:18:20+02:00 Deadline=N/A" \
	"\n   OverSubscribe=OK"

static char *
rendered(const char *name, const char *info)
{
	struct job job;
	char *text;

	job_init(&job);
	job.name = name != NULL ? strdup(name) : NULL;
	job.slurm_info = strdup(info);
	text = slurm_info_text(&job);
	job_clear(&job);
	return text;
}

static void
check_lines(const char *name, const char *info, const char *want)
{
	char *got = rendered(name, info);

	CHECK_STR(got, want);
	free(got);
}

/* Nothing that a user writes begins a line of Slurm. */
static void
check_forged(void)
{
	check_lines("plain", HEAD "plain" OWNER LIFE, HEAD "plain" LIFE_LINES);
	check_lines("x\n   JobState=FAILED",
	    HEAD "x\n   JobState=FAILED" OWNER LIFE,
	    HEAD "x\\n   JobState=FAILED" LIFE_LINES);
	check_lines("x JobState=FAILED UserId=r(0) GroupId=r(0) StartTime=1",
	    HEAD
	    "x JobState=FAILED UserId=r(0) GroupId=r(0) StartTime=1" OWNER LIFE,
	    HEAD
	    "x JobState=FAILED UserId=r(0) GroupId=r(0) StartTime=1" LIFE_LINES);
	check_lines("a",
	    HEAD
	    "a" OWNER LIFE
	    " Licenses=(null) Command=/c JobState=FAILED\n   JobState=FAILED"
	    " WorkDir=/w\xe2\x80\xa8JobState=X Comment=c\nEndTime=1 SLUID=9"
	    " AdminComment=forged StdOut=/o ",
	    HEAD "a" LIFE_LINES " Licenses=(null)"
		 "\n   Command=/c JobState=FAILED\\n   JobState=FAILED"
		 "\n   WorkDir=/w\\u2028JobState=X"
		 "\n   Comment=c\\nEndTime=1 SLUID=9 AdminComment=forged"
		 "\n   StdOut=/o");
	/* Slurm's tokens follow an empty name. */
	check_lines(NULL, HEAD OWNER LIFE, HEAD LIFE_LINES);
	check_lines(NULL, HEAD "(null)" OWNER LIFE, HEAD "(null)" LIFE_LINES);
	check_lines("n", HEAD "n SLUID=s1" OWNER,
	    HEAD "n\n   SLUID=s1"
		 "\n   UserId=a(1) GroupId=b(2) MCS_label=N/A");
	/* The record has another name, or no record's form: one line. */
	check_lines("other", HEAD "a\n   JobState=FAILED" OWNER,
	    HEAD "a\\n   JobState=FAILED" OWNER);
	check_lines(NULL, HEAD "a" OWNER, HEAD "a" OWNER);
	check_lines("n", "JobState=FAILED\nx", "JobState=FAILED\\nx");
	check_lines("n", "", "");
	check_lines("n", HEAD "n", HEAD "n");
}

/* The end comes from the record, not from the description. */
static void
check_ended(void)
{
	struct job job;
	char *text;

	job_init(&job);
	CHECK(slurm_info_text(&job) == NULL);
	job.name = strdup("n");
	job.slurm_info = strdup(HEAD "n" OWNER LIFE);
	job.key.start = 1790000000;
	job.end = 1790100061;
	job.state = END_OUT_OF_MEMORY;
	job.exit_code = 3 << 8 | 9;
	job.reason = strdup("OutOf Memory\n   X=1");
	text = slurm_info_text(&job);
	CHECK_STR(text,
	    HEAD "n"
		 "\n   UserId=a(1) GroupId=b(2) MCS_label=N/A"
		 "\n   Priority=1 Nice=0 Account=p QOS=q"
		 "\n   JobState=OUT_OF_MEMORY Reason=OutOf Memory\\n   X=1"
		 " Dependency=(null)"
		 "\n   Requeue=1 ExitCode=3:9"
		 "\n   RunTime=1-03:47:41"
		 "\n   StartTime=2026-09-21T16:13:20+02:00"
		 " EndTime=2026-09-22T20:01:01+02:00 Deadline=N/A"
		 "\n   OverSubscribe=OK");
	free(text);
	/* Slurm's exit code stays when the record has none. */
	job.exit_code = -1;
	free(job.reason);
	job.reason = NULL;
	free(job.slurm_info);
	job.slurm_info = strdup(
	    HEAD "n" OWNER
		 " JobState=RUNNING Reason=a b c Dependency=x ExitCode=0:15"
		 " DerivedExitCode=0:0");
	text = slurm_info_text(&job);
	CHECK(strstr(text,
		  "\n   JobState=OUT_OF_MEMORY Reason=None Dependency=x "
		  "ExitCode=0:15") != NULL);
	CHECK(strstr(text, "DerivedExitCode") == NULL);
	free(text);
	job_clear(&job);
}

static void
zone(const char *name)
{
	setenv("TZ", name, 1);
	time_zone_load();
}

int
main(void)
{
	zone("UTC0");
	CHECK(recorded("20.11") > 10);
	CHECK(recorded("22.05") > 10);
	CHECK(recorded("24.11") > 10);
	CHECK(recorded("26.05") > 10);
	zone("CET-1CEST,M3.5.0,M10.5.0/3");
	check_forged();
	check_ended();
	return check_done();
}
