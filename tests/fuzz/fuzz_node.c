/* SPDX-License-Identifier: MIT */
/*
 * A line of `scontrol show node -d -o`: any bytes, and the same bytes as the text of
 * an admin (Reason, Comment, Extra) behind the tokens of a good line.
 */
#include "config.h"

#include "collector/parse/parse.h"
#include "tests/fuzz/fuzz.h"

static const char good[] =
    "NodeName=n1 Arch=x86_64 CoresPerSocket=4 CPUAlloc=3 CPUTot=16 CPULoad=0.1"
    " Gres=gpu:a100:2(S:0-1) GresDrain=N/A GresUsed=gpu:a100:1(IDX:0)"
    " NodeAddr=n1 RealMemory=1000 AllocMem=300 FreeMem=1 Sockets=2 Boards=1"
    " State=MIXED+PLANNED ThreadsPerCore=2 CfgTRES=cpu=16 AllocTRES=cpu=3";

static const char *const words[] = { "", "down", "allocated", "mixed",
	"reserved", "idle", "unknown" };

static void
use_holds(struct span line, const struct gres_names *names)
{
	struct node_state node;
	size_t i;

	if (node_use(line, names, &node) == -1)
		return;
	HOLDS(memchr(node.host, '\0', sizeof(node.host)) != NULL);
	HOLDS(node.host[0] != '\0' && strchr(node.host, ' ') == NULL);
	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcmp(node.states, words[i]) == 0)
			break;
	HOLDS(i < sizeof(words) / sizeof(words[0]));
	if (names->n == 0)
		HOLDS(node.gpus == 0);
}

static void
line_holds(struct span line, const struct gres_names *names)
{
	struct node_shape shape;
	char host[HOST_MAX];
	struct span gres;
	uint32_t gpus = node_gpus(line, names, &gres);

	if (gres.p == NULL)
		HOLDS(gpus == 0);
	else
		HOLDS(gres.p >= line.p && gres.p + gres.n <= line.p + line.n);
	if (node_record(line, host, &shape) == 0)
		HOLDS(memchr(host, '\0', sizeof(host)) != NULL &&
		    host[0] != '\0' && strchr(host, ' ') == NULL);
	use_holds(line, names);
}

/* The text of an admin changes nothing that the tokens before it say. */
static void
text_holds(const char *key, const uint8_t *bytes, size_t n,
    const struct gres_names *names)
{
	size_t len = sizeof(good) - 1, key_len = strlen(key);
	char *text = malloc(len + key_len + n), host[HOST_MAX];
	struct node_shape shape;
	struct node_state node;
	struct span line = { text, len + key_len + n }, gres;

	HOLDS(text != NULL);
	memcpy(text, good, len);
	memcpy(text + len, key, key_len);
	if (n > 0)
		memcpy(text + len + key_len, bytes, n);
	HOLDS(node_use(line, names, &node) == 0);
	HOLDS(
	    strcmp(node.host, "n1") == 0 && strcmp(node.states, "mixed") == 0);
	HOLDS(node.cpus == 3 && node.memory == 300 && node.gpus == 1);
	HOLDS(node_record(line, host, &shape) == 0 && strcmp(host, "n1") == 0);
	HOLDS(shape.sockets == 2 && shape.cores == 4 && shape.threads == 2);
	HOLDS(node_gpus(line, names, &gres) == 2);
	free(text);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	static const struct gres_names none;
	char *text = exact(bytes, n);
	struct span line = { text, n };
	struct gres_names names;

	fuzz_quiet();
	HOLDS(gres_names_set(&names, "[\"gpu\",\"mps\"]") == 0);
	line_holds(line, &names);
	line_holds(line, &none);
	text_holds(" Reason=", bytes, n, &names);
	text_holds(" Comment=", bytes, n, &names);
	text_holds(" Extra=", bytes, n, &names);
	free(text);
	return 0;
}
