/* SPDX-License-Identifier: MIT */
/* Messages from hooks: which are accepted, and what is read of them. */
#include "config.h"

#include <stdlib.h>

#include "listener/listener.h"
#include "tests/unit/check.h"

#define ID   "\"SLURM_JOB_ID\":\"17\""
#define NAME "\"SLURM_CLUSTER_NAME\":\"alpha\""

static const struct {
	const char *text;
	const char *wrong; /* NULL: valid */
	unsigned kind;
} messages[] = {
	{ "{" ID "," NAME "}", NULL, EVENT_UNKNOWN },
	{ " {\n" ID " ,\t" NAME " }\r\n", NULL, EVENT_UNKNOWN },
	{ "{" ID "," NAME ",\"SLURM_SCRIPT_CONTEXT\":\"prolog_slurmctld\"}",
	    NULL, EVENT_START },
	{ "{" ID "," NAME ",\"SLURM_SCRIPT_CONTEXT\":\"epilog_slurmctld\"}",
	    NULL, EVENT_END },
	{ "{" ID "," NAME ",\"SLURM_SCRIPT_CONTEXT\":\"\"}", NULL,
	    EVENT_UNKNOWN },
	{ "{\"x\":{\"a\":[1,-2.5e3,null,{\"b\":\"}]\"}]}," ID "," NAME
	  ",\"y\":true}",
	    NULL, 0 },
	{ "{\"SLURM_JOB_ID\":\"1\\u0037\"," NAME "}", NULL, 0 },
	{ "{\"SLURM_JOB_NAME\":\"\xff\xfe \\ud83d\\ude00 \\\"\"," ID "," NAME
	  "}",
	    NULL, 0 },
	{ "{\"SLURM_JOB_ID\":\"9\"," ID "," NAME "}", NULL, 0 },
	{ "", "the message is empty", 0 },
	{ "garbage", "not a JSON object", 0 },
	{ "[" ID "]", "not a JSON object", 0 },
	{ "{}", "SLURM_JOB_ID is missing", 0 },
	{ "{" ID "}", "SLURM_CLUSTER_NAME is missing", 0 },
	{ "{" ID "," NAME, "the object does not end", 0 },
	{ "{" ID "," NAME ",}", "a string is missing", 0 },
	{ "{" ID NAME "}", "the object does not end", 0 },
	{ "{\"SLURM_JOB_ID\" \"17\"," NAME "}", "a colon is missing", 0 },
	{ "{" ID "," NAME "}{}", "more bytes after the end", 0 },
	{ "{\"SLURM_JOB_ID\":17," NAME "}", "a string is missing", 0 },
	{ "{\"SLURM_JOB_ID\":\"0\"," NAME "}", "SLURM_JOB_ID is not a job id",
	    0 },
	{ "{\"SLURM_JOB_ID\":\"\"," NAME "}", "SLURM_JOB_ID is missing", 0 },
	{ "{\"SLURM_JOB_ID\":\"-1\"," NAME "}", "SLURM_JOB_ID is not a job id",
	    0 },
	{ "{\"SLURM_JOB_ID\":\"17a\"," NAME "}", "SLURM_JOB_ID is not a job id",
	    0 },
	{ "{\"SLURM_JOB_ID\":\"4294967296\"," NAME "}",
	    "SLURM_JOB_ID is not a job id", 0 },
	{ "{\"SLURM_JOB_ID\":\"99999999999999999999999999999999\"," NAME "}",
	    "SLURM_JOB_ID is not a job id", 0 },
	{ "{" ID ",\"SLURM_CLUSTER_NAME\":\"\"}",
	    "SLURM_CLUSTER_NAME is missing", 0 },
	{ "{" ID ",\"SLURM_CLUSTER_NAME\":\"a b\"}",
	    "SLURM_CLUSTER_NAME is not a cluster name", 0 },
	{ "{" ID ",\"SLURM_CLUSTER_NAME\":\"../a\"}",
	    "SLURM_CLUSTER_NAME is not a cluster name", 0 },
	{ "{" ID ",\"SLURM_CLUSTER_NAME\":\"a\\u0000b\"}",
	    "SLURM_CLUSTER_NAME is not a cluster name", 0 },
	{ "{\"a\":\"b\nc\"," ID "," NAME "}",
	    "a string contains a control byte", 0 },
	{ "{\"a\":\"\\q\"," ID "," NAME "}", "unknown escape", 0 },
	{ "{\"a\":\"\\u12g4\"," ID "," NAME "}", "invalid \\u escape", 0 },
	{ "{\"a\":[}," ID "," NAME "}", "brackets do not match", 0 },
	{ "{\"a\":," ID "," NAME "}", "a value is missing", 0 },
	{ "{\"a\":[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[", "nested too deeply", 0 },
};

static void
test_messages(void)
{
	struct hook_message msg;
	const char *wrong;
	size_t i;

	for (i = 0; i < sizeof(messages) / sizeof(messages[0]); i++) {
		memset(&msg, 0, sizeof(msg));
		wrong = hook_message_parse(messages[i].text,
		    strlen(messages[i].text), &msg);
		CHECK_STR(wrong, messages[i].wrong);
		if (messages[i].wrong != NULL) {
			CHECK_INT(msg.job, 0);
			continue;
		}
		CHECK_INT(msg.job, 17);
		CHECK_STR(msg.cluster, "alpha");
		CHECK_INT(msg.kind, messages[i].kind);
	}
}

/* A credential is kept as it is; without one the text is empty. */
static void
test_credentials(void)
{
	static const struct {
		const char *value;
		const char *kept; /* NULL: the message is refused */
	} all[] = {
		{ "\"MUNGE:AwQ+/=:\"", "MUNGE:AwQ+/=:" },
		{ "\"MUNGE:\\u0041:\"", "MUNGE:A:" },
		{ "\"\"", NULL },
		{ "\"x\"", NULL },
		{ "\"MUNGE:A:\\n\"", NULL },
		{ "\"MUNGE:A:\\u0000\"", NULL },
		{ "17", NULL },
		{ "{}", NULL },
	};
	struct hook_message msg;
	char buf[HOOK_CREDENTIAL_MAX + 256], longest[HOOK_CREDENTIAL_MAX + 1];
	size_t i;

	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		snprintf(buf, sizeof(buf),
		    "{" ID "," NAME ",\"MUNGE_CREDENTIAL\":%s}", all[i].value);
		if (hook_message_parse(buf, strlen(buf), &msg) != NULL)
			CHECK(all[i].kept == NULL);
		else
			CHECK_STR(msg.credential, all[i].kept);
	}
	snprintf(buf, sizeof(buf), "{" ID "," NAME "}");
	CHECK(hook_message_parse(buf, strlen(buf), &msg) == NULL);
	CHECK_STR(msg.credential, "");
	memset(longest, 'A', sizeof(longest));
	memcpy(longest, "MUNGE:", 6);
	longest[HOOK_CREDENTIAL_MAX - 1] = ':';
	longest[HOOK_CREDENTIAL_MAX] = '\0';
	snprintf(buf, sizeof(buf),
	    "{" ID "," NAME ",\"MUNGE_CREDENTIAL\":\"%s\"}", longest);
	CHECK(hook_message_parse(buf, strlen(buf), &msg) != NULL);
	snprintf(buf, sizeof(buf),
	    "{" ID "," NAME ",\"MUNGE_CREDENTIAL\":\"MUNGE:%s\"}", longest + 7);
	CHECK(hook_message_parse(buf, strlen(buf), &msg) == NULL);
	CHECK_INT(strlen(msg.credential), HOOK_CREDENTIAL_MAX - 1);
}

/* A name that is one byte too long, and the longest valid name. */
static void
test_long_names(void)
{
	char buf[512], name[CLUSTER_MAX + 1];
	struct hook_message msg;

	memset(name, 'a', CLUSTER_MAX);
	name[CLUSTER_MAX] = '\0';
	snprintf(buf, sizeof(buf), "{" ID ",\"SLURM_CLUSTER_NAME\":\"%s\"}",
	    name);
	CHECK(hook_message_parse(buf, strlen(buf), &msg) != NULL);
	snprintf(buf, sizeof(buf), "{" ID ",\"SLURM_CLUSTER_NAME\":\"%s\"}",
	    name + 1);
	CHECK(hook_message_parse(buf, strlen(buf), &msg) == NULL);
	CHECK_INT(strlen(msg.cluster), CLUSTER_MAX - 1);
}

static size_t
read_recorded(const char *name, char *buf, size_t size)
{
	const char *dir = getenv("srcdir");
	char path[512];
	FILE *f;
	size_t n;

	snprintf(path, sizeof(path), "%s/tests/data/hook/%s",
	    dir != NULL ? dir : ".", name);
	if ((f = fopen(path, "r")) == NULL)
		return 0;
	n = fread(buf, 1, size, f);
	fclose(f);
	return n;
}

/* Messages of the Go client, whole and cut at each byte. */
static void
test_recorded(void)
{
	static const char *const names[] = { "quote.json", "prolog.json",
		"odd.json" };
	char buf[4096], *exact;
	struct hook_message msg;
	size_t i, n, cut;

	for (i = 0; i < 3; i++) {
		n = read_recorded(names[i], buf, sizeof(buf));
		CHECK(n > 1000);
		CHECK(hook_message_parse(buf, n, &msg) == NULL);
		CHECK_INT(msg.job, 10);
		CHECK_STR(msg.cluster, "lab2411");
		CHECK_INT(msg.kind, i == 1 ? EVENT_START : EVENT_END);
		for (cut = 0; cut < n; cut++) {
			/* Memory of exact size, for the sanitizer. */
			exact = malloc(cut + 1);
			memcpy(exact, buf, cut);
			CHECK(hook_message_parse(exact, cut, &msg) != NULL);
			free(exact);
		}
	}
}

int
main(void)
{
	test_messages();
	test_credentials();
	test_long_names();
	test_recorded();
	return check_done();
}
