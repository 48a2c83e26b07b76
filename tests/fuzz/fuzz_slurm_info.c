/* SPDX-License-Identifier: MIT */
/*
 * Slurm's description of a job, as lines.  The first byte selects the record: a run
 * that has ended or not, with or without an AdminComment.  Then follow the job name
 * and the text of the user, with a NUL between them.  Neither begins a line of one
 * of Slurm's keys.  The same bytes are also read as a whole description.
 */
#include "config.h"

#include <stdlib.h>

#include "submitter/payload/slurm_info.h"
#include "tests/fuzz/fuzz.h"

#define ENDED	1u
#define COMMENT 2u

/* Slurm's tokens before and after the name. */
#define HEAD "JobId=7 JobName="
static const char middle[] =
    " UserId=alice(1000) GroupId=staff(1000) MCS_label=N/A Priority=1 Nice=0"
    " JobState=RUNNING Reason=None Dependency=(null) Requeue=1 Restarts=0"
    " ExitCode=0:0 DerivedExitCode=0:0 RunTime=00:00:05 TimeLimit=01:00:00"
    " SubmitTime=1700000000 EligibleTime=Unknown StartTime=2023-11-14T22:13:20"
    " EndTime=2023-11-14T23:13:20 Deadline=N/A Partition=main NodeList=n1"
    " NumNodes=1 OverSubscribe=OK Licenses=";

/* The keys that begin a line in the part of the user. */
static const char *const of_user[] = { "Command", "SubmitLine", "WorkDir",
	"AdminComment", "Comment", "StdErr", "StdIn", "StdOut", "Power",
	"CpusPerTres", "MemPerTres", "TresBind", "TresFreq", "TresPerJob",
	"TresPerNode", "TresPerSocket", "TresPerTask", "MailUser" };

static void
record_init(struct job *job, unsigned choice)
{
	job_init(job);
	job->key.job = 7;
	job->key.start = 1700000000;
	if (choice & ENDED) {
		job->end = job->key.start + 86400 + 61;
		job->state = END_FAILED;
		job->exit_code = 0x0100;
		job->reason = exact_string("NonZeroExitCode", 15);
	}
	if (choice & COMMENT)
		job->admin_comment = exact_string("ok JobState=FAILED", 18);
}

static char *
text_of(struct job *job, const char *name, const char *user)
{
	size_t n = sizeof(HEAD) + strlen(name) + sizeof(middle) + strlen(user);
	char *text;

	job->name = exact_string(name, strlen(name));
	job->slurm_info = malloc(n);
	HOLDS(job->slurm_info != NULL);
	snprintf(job->slurm_info, n, HEAD "%s%s%s", name, middle, user);
	text = slurm_info_text(job);
	HOLDS(text != NULL);
	free(job->name);
	free(job->slurm_info);
	job->name = job->slurm_info = NULL;
	return text;
}

static int
is_of_user(const char *key, size_t n)
{
	size_t i;

	for (i = 0; i < sizeof(of_user) / sizeof(of_user[0]); i++)
		if (strlen(of_user[i]) == n && memcmp(of_user[i], key, n) == 0)
			return 1;
	return 0;
}

/* Each line from here begins at a key of the user. */
static void
user_lines_hold(const char *p, int with_comment)
{
	size_t n;

	while ((p = strchr(p, '\n')) != NULL) {
		HOLDS(strncmp(p, "\n   ", 4) == 0);
		p += 4;
		n = strcspn(p, "=\n");
		HOLDS(p[n] == '=' && is_of_user(p, n));
		if (n == 12 && memcmp(p, "AdminComment", n) == 0)
			HOLDS(with_comment);
	}
}

/*
 * Whatever the name and the text of the user are, Slurm's part has the same lines
 * as with a harmless name.
 */
static void
parts_hold(unsigned choice, const char *name, const char *user)
{
	char *plain, *text, *slurm, *at;
	struct job job;
	size_t n;

	record_init(&job, choice);
	plain = text_of(&job, "x", "");
	text = text_of(&job, name, user);
	HOLDS(strncmp(plain, HEAD "x", sizeof(HEAD)) == 0);
	HOLDS(strncmp(text, HEAD, sizeof(HEAD) - 1) == 0);
	slurm = plain + sizeof(HEAD);
	n = strlen(slurm);
	HOLDS(n > sizeof(" Licenses="));
	at = strchr(text, '\n');
	HOLDS(at != NULL && at > text);
	/* The name ends where the first line of Slurm's part begins. */
	HOLDS(*slurm == '\n' && strncmp(at, slurm, n) == 0);
	user_lines_hold(at + n, (choice & COMMENT) != 0);
	free(plain);
	free(text);
	job_clear(&job);
}

/* Any description: the text has no line that no key begins. */
static void
whole_holds(unsigned choice, const char *name, const char *info)
{
	struct job job;
	const char *p;
	char *text;

	record_init(&job, choice);
	job.name = *name != '\0' ? exact_string(name, strlen(name)) : NULL;
	job.slurm_info = exact_string(info, strlen(info));
	text = slurm_info_text(&job);
	for (p = text; p != NULL && (p = strchr(p, '\n')) != NULL;) {
		HOLDS(strncmp(p, "\n   ", 4) == 0);
		p += 4 + strspn(p + 4, " ");
		HOLDS(p[strcspn(p, "=\n")] == '=');
	}
	if (text != NULL)
		HOLDS(strstr(text, "\xe2\x80\xa8") == NULL &&
		    strstr(text, "\xe2\x80\xa9") == NULL);
	free(text);
	job_clear(&job);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	char *name, *user;
	size_t len;

	fuzz_quiet();
	if (n == 0)
		return 0;
	name = exact_string(bytes + 1, n - 1);
	len = strlen(name);
	user = len < n - 1 ? name + len + 1 : name + len;
	parts_hold(bytes[0], name, user);
	whole_holds(bytes[0], name, user);
	free(name);
	return 0;
}
