/* SPDX-License-Identifier: MIT */
/* Lines of `scontrol show node`: recorded ones, and each state. */
#include "config.h"

#include <stdlib.h>

#include "collector/parse/parse.h"
#include "tests/unit/check.h"
#include "tests/unit/collector/parse/recording.h"

#define S(text) ((struct span) { text, strlen(text) })

static struct gres_names names;

static const char *
show(const char *line)
{
	static char buf[512];
	struct node_state node;

	if (node_use(S(line), &names, &node) == -1)
		return "none";
	snprintf(buf, sizeof(buf), "%s %s cpus=%u memory=%llu gpus=%u",
	    node.host, node.states, node.cpus, (unsigned long long)node.memory,
	    node.gpus);
	return buf;
}

/* Compares each line of a version's recording with want. */
static void
recording(const char *version, const char *const *want)
{
	size_t n;
	char *text = recording_read(version, "node-use.txt", &n), *line, *end;

	for (line = text; *line != '\0'; line = end + 1) {
		end = strchrnul(line, '\n');
		CHECK(*end == '\n' && *want != NULL);
		if (*end == '\0' || *want == NULL)
			break;
		*end = '\0';
		CHECK_STR(show(line), *want++);
	}
	CHECK(*want == NULL);
	free(text);
}

static void
recordings(void)
{
	/* 20.11 prints MAINT alone; in the recording of 24.11 n1 is idle. */
	static const char *const maint[] = { "20.11", "26.05" };
	static const char *const v22_05[] = {
		"node1 mixed cpus=14 memory=0 gpus=4",
		"node5 allocated cpus=16 memory=0 gpus=3",
		"node7 mixed cpus=4 memory=0 gpus=0",
		"big2 down cpus=0 memory=0 gpus=0", NULL
	};
	const char *others[] = { "n3 allocated cpus=16 memory=0 gpus=4",
		"n4 allocated cpus=16 memory=0 gpus=2",
		"n1 reserved cpus=0 memory=0 gpus=0",
		"n2 mixed cpus=4 memory=0 gpus=0",
		"n5 down cpus=0 memory=0 gpus=0",
		"n2 down cpus=0 memory=0 gpus=0",
		"n3 down cpus=0 memory=0 gpus=0",
		"n4 down cpus=0 memory=0 gpus=0",
		"n5 down cpus=0 memory=0 gpus=0", NULL };
	size_t i;

	recording("22.05", v22_05);
	for (i = 0; i < sizeof(maint) / sizeof(maint[0]); i++)
		recording(maint[i], others);
	others[2] = "n1 idle cpus=0 memory=0 gpus=0";
	recording("24.11", others);
}

static void
words(void)
{
	static const struct {
		const char *state;
		const char *word;
	} table[] = {
		{ "IDLE", "idle" },
		{ "ALLOCATED", "allocated" },
		{ "MIXED", "mixed" },
		{ "DOWN", "down" },
		{ "UNKNOWN", "unknown" },
		{ "FUTURE", "" },
		{ "IDLE+DRAIN", "down" },
		{ "MIXED+DRAIN", "mixed" },
		{ "ALLOCATED+DRAIN", "allocated" },
		{ "IDLE+FAIL", "down" },
		{ "ALLOCATED+FAIL", "allocated" },
		{ "ALLOCATED+NOT_RESPONDING", "down" },
		{ "IDLE+NOT_RESPONDING", "down" },
		{ "IDLE*", "down" },
		{ "UNKNOWN*", "down" },
		{ "DOWN*+DRAIN", "down" },
		{ "IDLE+PLANNED", "idle" },
		{ "MIXED+PLANNED", "mixed" },
		{ "IDLE+RESERVED", "reserved" },
		{ "MIXED+RESERVED", "mixed" },
		{ "IDLE+MAINTENANCE+RESERVED", "reserved" },
		{ "MAINT", "reserved" },
		{ "IDLE+MAINTENANCE+DRAIN", "down" },
		{ "IDLE+CLOUD+POWERED_DOWN", "down" },
		{ "IDLE+CLOUD+POWER", "down" },
		{ "ALLOCATED+CLOUD+POWERING_UP", "allocated" },
		{ "IDLE~", "down" },
		{ "IDLE+DYNAMIC_NORM", "idle" },
		{ "IDLE+COMPLETING", "mixed" },
		{ "SOMETHING_NEW", "unknown" },
		{ "IDLE+SOMETHING_NEW", "idle" },
		{ "", "unknown" },
		{ "+", "unknown" },
		{ "***", "down" },
	};
	struct node_state node;
	char line[128];
	size_t i;

	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		snprintf(line, sizeof(line), "NodeName=a State=%s",
		    table[i].state);
		CHECK_INT(node_use(S(line), &names, &node), 0);
		CHECK_STR(node.states, table[i].word);
	}
}

static void
lines(void)
{
	CHECK_STR(show("NodeName=a CPUAlloc=3 AllocMem=512 State=MIXED"),
	    "a mixed cpus=3 memory=512 gpus=0");
	/* Tokens in an admin's text do not count. */
	CHECK_STR(show("NodeName=a CPUAlloc=3 State=IDLE+DRAIN Reason=x "
		       "GresUsed=gpu:4 State=ALLOCATED"),
	    "a down cpus=3 memory=0 gpus=0");
	/* Types, shards, and malformed lists. */
	CHECK_STR(show("NodeName=a CPUAlloc=3 GresUsed=gpu:a40:1(IDX:0),"
		       "gpu:v100:2(IDX:2-3),shard:a40:4(4/0) State=MIXED"),
	    "a mixed cpus=3 memory=0 gpus=3");
	CHECK_STR(show("NodeName=a GresUsed=gpu:(IDX State=MIXED "
		       "AllocTRES=cpu=4,gres/gpu=2"),
	    "a mixed cpus=0 memory=0 gpus=2");
	CHECK_STR(show("NodeName=a State=MIXED AllocTRES="),
	    "a mixed cpus=0 memory=0 gpus=0");
	CHECK_STR(show("JobId=1 State=MIXED"), "none");
	CHECK_STR(show("NodeName=a CPUAlloc=3 AllocMe"), "none");
	CHECK_STR(show("NodeName= State=MIXED"), "none");
}

static void
shapes(void)
{
	struct node_shape shape;
	struct span gres;
	char host[HOST_MAX];
	char *file;
	size_t n;

	file = recording_read("22.05", "scontrol-node-o.txt", &n);
	file[strcspn(file, "\n")] = '\0';
	CHECK_INT(node_record(S(file), host, &shape), 0);
	CHECK_STR(host, "big1");
	CHECK(shape.sockets == 2 && shape.cores == 1024 && shape.threads == 1);
	CHECK_INT(node_gpus(S(file), &names, &gres), 0);
	CHECK_INT(node_gpus(S("NodeName=a Gres=gpu:a40:2(S:0),gpu:v100:1,"
			      "shard:8 NodeAddr=a"),
		      &names, &gres),
	    3);
	CHECK(span_is(gres, "gpu:a40:2(S:0),gpu:v100:1,shard:8"));
	CHECK_INT(node_gpus(S("NodeName=a Gres=fpga:2"), &names, &gres), 0);
	CHECK_INT(node_gpus(S("NodeName=a Gres=gpu:(IDX"), &names, &gres), 0);
	CHECK_INT(node_gpus(S("NodeName=a"), &names, &gres), 0);
	CHECK(gres.p == NULL);
	CHECK_INT(node_record(S("NodeName="), host, &shape), -1);
	CHECK_INT(node_record(S("x"), host, &shape), -1);
	/* A name must not end before its bytes do. */
	CHECK_INT(node_record((struct span) { "NodeName=\0a Sockets=1", 21 },
		      host, &shape),
	    -1);
	free(file);
}

int
main(void)
{
	CHECK_INT(gres_names_set(&names, "[\"gpu\"]"), 0);
	recordings();
	words();
	lines();
	shapes();
	return check_done();
}
