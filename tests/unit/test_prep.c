/* SPDX-License-Identifier: MIT */
/* What the listener believes of a hook's message, and whom it lets in. */
#include "config.h"

#include <arpa/inet.h>

#include <stdlib.h>

#include "listener/listener.h"
#include "tests/unit/check.h"

#define ID	"\"SLURM_JOB_ID\":\"17\""
#define NAME	"\"SLURM_CLUSTER_NAME\":\"alpha\""

static const struct {
	const char	*text;
	const char	*wrong;		/* NULL: good */
	unsigned	 kind;
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
	    ",\"y\":true}", NULL, 0 },
	{ "{\"SLURM_JOB_ID\":\"1\\u0037\"," NAME "}", NULL, 0 },
	{ "{\"SLURM_JOB_NAME\":\"\xff\xfe \\ud83d\\ude00 \\\"\"," ID "," NAME
	    "}", NULL, 0 },
	{ "{\"SLURM_JOB_ID\":\"9\"," ID "," NAME "}", NULL, 0 },
	{ "", "nothing was said", 0 },
	{ "garbage", "that is no JSON object", 0 },
	{ "[" ID "]", "that is no JSON object", 0 },
	{ "{}", "SLURM_JOB_ID is missing", 0 },
	{ "{" ID "}", "SLURM_CLUSTER_NAME is missing", 0 },
	{ "{" ID "," NAME, "the object does not end", 0 },
	{ "{" ID "," NAME ",}", "a string is missing", 0 },
	{ "{" ID NAME "}", "the object does not end", 0 },
	{ "{\"SLURM_JOB_ID\" \"17\"," NAME "}", "a colon is missing", 0 },
	{ "{" ID "," NAME "}{}", "more bytes behind the object", 0 },
	{ "{\"SLURM_JOB_ID\":17," NAME "}", "a string is missing", 0 },
	{ "{\"SLURM_JOB_ID\":\"0\"," NAME "}", "SLURM_JOB_ID is no job id", 0 },
	{ "{\"SLURM_JOB_ID\":\"\"," NAME "}", "SLURM_JOB_ID is missing", 0 },
	{ "{\"SLURM_JOB_ID\":\"-1\"," NAME "}", "SLURM_JOB_ID is no job id",
	    0 },
	{ "{\"SLURM_JOB_ID\":\"17a\"," NAME "}", "SLURM_JOB_ID is no job id",
	    0 },
	{ "{\"SLURM_JOB_ID\":\"4294967296\"," NAME "}",
	    "SLURM_JOB_ID is no job id", 0 },
	{ "{\"SLURM_JOB_ID\":\"99999999999999999999999999999999\"," NAME "}",
	    "SLURM_JOB_ID is no job id", 0 },
	{ "{" ID ",\"SLURM_CLUSTER_NAME\":\"\"}",
	    "SLURM_CLUSTER_NAME is missing", 0 },
	{ "{" ID ",\"SLURM_CLUSTER_NAME\":\"a b\"}",
	    "SLURM_CLUSTER_NAME is no cluster's name", 0 },
	{ "{" ID ",\"SLURM_CLUSTER_NAME\":\"../a\"}",
	    "SLURM_CLUSTER_NAME is no cluster's name", 0 },
	{ "{" ID ",\"SLURM_CLUSTER_NAME\":\"a\\u0000b\"}",
	    "SLURM_CLUSTER_NAME is no cluster's name", 0 },
	{ "{\"a\":\"b\nc\"," ID "," NAME "}", "control byte in a string", 0 },
	{ "{\"a\":\"\\q\"," ID "," NAME "}", "unknown escape", 0 },
	{ "{\"a\":\"\\u12g4\"," ID "," NAME "}", "bad \\u escape", 0 },
	{ "{\"a\":[}," ID "," NAME "}", "brackets that do not match", 0 },
	{ "{\"a\":," ID "," NAME "}", "a value is missing", 0 },
	{ "{\"a\":[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[", "nested too deep", 0 },
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

/* A name one byte too long, and one that just fits. */
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

/* What the Go client sent; and every message that stops somewhere in it. */
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
			/* In memory of just that size, for the sanitizer. */
			exact = malloc(cut + 1);
			memcpy(exact, buf, cut);
			CHECK(hook_message_parse(exact, cut, &msg) != NULL);
			free(exact);
		}
	}
}

static struct peer
host(const char *text)
{
	struct peer peer = { .local = 0 };
	struct in_addr v4;

	if (inet_pton(AF_INET, text, &v4) == 1) {
		peer.addr[10] = peer.addr[11] = 0xff;
		memcpy(peer.addr + 12, &v4, 4);
	} else
		CHECK_INT(inet_pton(AF_INET6, text, peer.addr), 1);
	return peer;
}

static int
may(const struct access_list *access, const char *text)
{
	struct peer peer = host(text);

	return access_allows(access, &peer);
}

static void
test_allow(void)
{
	static const char *const bad[] = { "[\"10.1.2\"]", "[\"10.0.0.0/33\"]",
		"[\"::/129\"]", "[\"10.0.0.0/\"]", "[\"10.0.0.0/x\"]",
		"[\"example.org\"]", "[\"\"]", "[\"10.0.0.0/-1\"]" };
	struct peer peer = { .local = 1, .uid = 64030 };
	struct access_list access;
	char reason[256];
	size_t i;

	CHECK_INT(access_init(&access, "[\"0\",\"64030\"]",
	    "[\"10.1.0.0/16\",\"192.0.2.7\",\"2001:db8::/33\"]", reason,
	    sizeof(reason)), 0);
	CHECK_INT(access_allows(&access, &peer), 1);
	peer.uid = 1000;
	CHECK_INT(access_allows(&access, &peer), 0);
	CHECK_INT(may(&access, "127.0.0.1"), 1);
	CHECK_INT(may(&access, "127.200.0.1"), 1);
	CHECK_INT(may(&access, "::1"), 1);
	CHECK_INT(may(&access, "10.1.255.255"), 1);
	CHECK_INT(may(&access, "10.2.0.0"), 0);
	CHECK_INT(may(&access, "192.0.2.7"), 1);
	CHECK_INT(may(&access, "192.0.2.6"), 0);
	CHECK_INT(may(&access, "2001:db8:7fff::1"), 1);
	CHECK_INT(may(&access, "2001:db8:8000::1"), 0);
	CHECK_INT(may(&access, "::"), 0);
	access_clear(&access);
	CHECK_INT(may(&access, "10.1.0.1"), 0);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		CHECK_INT(access_init(&access, "[]", bad[i], reason,
		    sizeof(reason)), -1);
		CHECK(strstr(reason, "prepAllowedHosts") != NULL);
	}
	CHECK_INT(access_init(&access, "[\"slurm\"]", "[]", reason,
	    sizeof(reason)), -1);
	CHECK(strstr(reason, "slurm") != NULL);
	CHECK_INT(access_init(&access, "[]", "[\"0.0.0.0/0\"]", reason,
	    sizeof(reason)), 0);
	CHECK_INT(may(&access, "203.0.113.9"), 1);
	CHECK_INT(may(&access, "2001:db8::1"), 0);
	access_clear(&access);
}

static int
take_many(struct rate_table *rate, const struct peer *peer, int64_t now, int n)
{
	int taken = 0;

	while (n-- > 0)
		taken += rate_take(rate, peer, now);
	return taken;
}

static void
test_rate(void)
{
	static struct rate_table rate;
	struct peer peer = { .local = 1, .uid = 1 }, other = { .local = 1 };
	uid_t uid;

	CHECK_INT(take_many(&rate, &peer, 1, RATE_BURST + 500), RATE_BURST);
	CHECK_INT(take_many(&rate, &peer, 11, 500), 10 * RATE_PER_SECOND /
	    1000);
	CHECK_INT(take_many(&rate, &other, 11, 500), 500);
	/* A long rest earns the burst again and no more. */
	CHECK_INT(take_many(&rate, &peer, 1 << 30, RATE_BURST + 500),
	    RATE_BURST);
	/* Others come and go; who has been silent longest is forgotten. */
	for (uid = 100; uid < 100 + 3 * RATE_PEERS; uid++) {
		other.uid = uid;
		CHECK_INT(rate_take(&rate, &other, (1 << 30) + uid), 1);
	}
}

int
main(void)
{
	test_messages();
	test_long_names();
	test_recorded();
	test_allow();
	test_rate();
	return check_done();
}
