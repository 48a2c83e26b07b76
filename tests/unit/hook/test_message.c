/* SPDX-License-Identifier: MIT */
/* The hook client's message, against the recorded bytes of the Go client. */
#include "config.h"

#include <stdlib.h>

#include "hook/hook.h"
#include "tests/unit/check.h"

extern char **environ;

/* The environment of the recorded job; other variables were not set. */
static const char *const recorded[][2] = {
	{ "SLURM_CLUSTER_NAME", "lab2411" },
	{ "SLURM_JOB_ACCOUNT", "proja" },
	{ "SLURM_JOB_CPUS_PER_NODE", "2" },
	{ "SLURM_JOB_DERIVED_EC", "0" },
	{ "SLURM_JOB_END_TIME", "1795246579" },
	{ "SLURM_JOB_EXIT_CODE", "0" },
	{ "SLURM_JOB_EXIT_CODE2", "0:0" },
	{ "SLURM_JOB_GID", "2100" },
	{ "SLURM_JOB_GROUP", "hpc" },
	{ "SLURM_JOB_ID", "10" },
	{ "SLURM_JOB_NODELIST", "n1" },
	{ "SLURM_JOB_NUM_NODES", "1" },
	{ "SLURM_JOB_OVERSUBSCRIBE", "OK" },
	{ "SLURM_JOB_PARTITION", "main" },
	{ "SLURM_JOB_RESTART_COUNT", "0" },
	{ "SLURM_JOB_START_TIME", "1795246573" },
	{ "SLURM_JOB_STDIN", "/dev/null" },
	{ "SLURM_JOB_STDOUT", "/dev/null" },
	{ "SLURM_JOB_UID", "2004" },
	{ "SLURM_JOB_USER", "carol" },
	{ "SLURM_JOB_WORK_DIR", "/home/carol" },
	{ "SLURM_SCRIPT_CONTEXT", "epilog_slurmctld" },
};

static char message[MESSAGE_MAX];

static void
environment_set(void)
{
	size_t i;

	clearenv();
	for (i = 0; i < sizeof(recorded) / sizeof(recorded[0]); i++)
		setenv(recorded[i][0], recorded[i][1], 1);
}

static void
check_message(const char *dir, const char *name)
{
	char want[4096], path[512];
	size_t n, len;
	FILE *f;

	snprintf(path, sizeof(path), "%s/tests/data/hook/%s", dir, name);
	if ((f = fopen(path, "r")) == NULL) {
		CHECK_STR(path, "readable");
		return;
	}
	n = fread(want, 1, sizeof(want), f);
	fclose(f);
	len = message_write(message, sizeof(message));
	CHECK_INT(len, n);
	CHECK(len == n && memcmp(message, want, n) == 0);
}

static void
test_recorded(const char *dir)
{
	environment_set();
	setenv("SLURM_JOB_NAME", "q\"uo'te\nnl|\xc3\xbc", 1);
	check_message(dir, "quote.json");
	setenv("SLURM_JOB_NAME", "bad\xff\xfe", 1);
	setenv("SLURM_JOB_COMMENT", "caf\xe9 <b>&\xe2\x80\xa8 \x01", 1);
	check_message(dir, "odd.json");
	environment_set();
	setenv("SLURM_JOB_NAME", "q\"uo'te\nnl|\xc3\xbc", 1);
	unsetenv("SLURM_JOB_DERIVED_EC");
	unsetenv("SLURM_JOB_EXIT_CODE");
	unsetenv("SLURM_JOB_EXIT_CODE2");
	setenv("SLURM_JOB_END_TIME", "1795246873", 1);
	setenv("SLURM_SCRIPT_CONTEXT", "prolog_slurmctld", 1);
	check_message(dir, "prolog.json");
}

static void
test_escape(void)
{
	static const struct {
		const char *value, *want;
	} cases[] = {
		{ "", "\"\"" },
		{ "\\\b\f\r\t", "\"\\\\\\b\\f\\r\\t\"" },
		{ "\x7f", "\"\x7f\"" },
		{ "\xc0\x80", "\"\\ufffd\\ufffd\"" },
		{ "\xed\xa0\x80", "\"\\ufffd\\ufffd\\ufffd\"" },
		{ "\xf4\x90\x80\x80", "\"\\ufffd\\ufffd\\ufffd\\ufffd\"" },
		{ "\xf0\x9f\x98\x80", "\"\xf0\x9f\x98\x80\"" },
		{ "\xf0\x9f\x98", "\"\\ufffd\\ufffd\\ufffd\"" },
		{ "\xe2\x80\xa9", "\"\\u2029\"" },
		{ "\xe2\x80\xaa", "\"\xe2\x80\xaa\"" },
	};
	char buf[64];
	size_t i, n;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		n = message_escape(buf, sizeof(buf), cases[i].value);
		CHECK_INT(n, strlen(cases[i].want));
		CHECK(memcmp(buf, cases[i].want, n) == 0);
	}
	/* The value is cut before the character that does not fit. */
	CHECK_INT(message_escape(buf, 5, "ab\xc3\xbc"), 4);
	CHECK_INT(message_escape(buf, 2, "ab"), 2);
}

/* With long values the message is still not too long. */
static void
test_long(void)
{
	size_t i, len;
	char *huge;

	environment_set();
	huge = malloc(200001);
	memset(huge, '\1', 200000);
	huge[200000] = '\0';
	setenv("SLURM_JOB_COMMENT", huge, 1);
	setenv("SLURM_JOB_NODELIST", huge, 1);
	setenv("CUDA_VISIBLE_DEVICES", huge, 1);
	for (i = 0; i < sizeof(recorded) / sizeof(recorded[0]); i++)
		if (strcmp(recorded[i][0], "SLURM_JOB_ID") != 0 &&
		    strcmp(recorded[i][0], "SLURM_CLUSTER_NAME") != 0)
			setenv(recorded[i][0], huge, 1);
	len = message_write(message, sizeof(message));
	CHECK(len > 10000 && len <= sizeof(message));
	CHECK(message[len - 1] == '}');
	message[len - 1] = '\0';
	CHECK(strstr(message, "\"SLURM_JOB_ID\":\"10\"") != NULL);
	CHECK(strstr(message, "\"SLURM_CLUSTER_NAME\":\"lab2411\"") != NULL);
	CHECK(strstr(message, ",\"SLURM_WCKEY\":\"\"") != NULL);
	free(huge);
	environment_set();
}

int
main(void)
{
	const char *srcdir = getenv("srcdir");
	char dir[256];

	/* A copy, because the tests clear the environment. */
	snprintf(dir, sizeof(dir), "%s", srcdir != NULL ? srcdir : ".");
	test_recorded(dir);
	test_escape();
	test_long();
	return check_done();
}
