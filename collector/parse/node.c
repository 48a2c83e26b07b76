/* SPDX-License-Identifier: MIT */
/*
 * Lines of `scontrol show node -o`: the shape of a node, and with -d its state
 * and its resources in use.  cc-backend knows the states allocated, reserved,
 * mixed, idle, down and unknown and ignores all other words.  So Slurm's words
 * are mapped to these states.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "collector/parse/parse.h"

/* Slurm changed the order of these tokens, so each search begins at the start. */
static uint16_t
number_of(struct span line, const char *key)
{
	struct span s = line;
	uint32_t v;

	if (number_u32(token_value(&s, key), &v) == -1 || v > UINT16_MAX)
		return 0;
	return (uint16_t)v;
}

static int
node_name(struct span line, char host[HOST_MAX])
{
	static const char key[] = "NodeName=";
	const char *end;
	struct span v;

	if (line.n < sizeof(key) || memcmp(line.p, key, sizeof(key) - 1) != 0)
		return -1;
	v = span_from(line, line.p + sizeof(key) - 1);
	end = memchr(v.p, ' ', v.n);
	if (end != NULL)
		v.n = (size_t)(end - v.p);
	if (v.n == 0 || v.n >= HOST_MAX || memchr(v.p, '\0', v.n) != NULL)
		return -1;
	memcpy(host, v.p, v.n);
	host[v.n] = '\0';
	return 0;
}

/*
 * The tokens of Slurm: behind them are the MCS label, a text of the user whose job
 * has the node, and texts of an admin.
 */
static struct span
node_head(struct span line)
{
	static const char *const texts[] = { " MCS_label=", " Reason=",
		" Comment=", " Extra=" };
	const char *p;
	size_t i;

	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if ((p = token_find(line, texts[i])) != NULL)
			line.n = (size_t)(p - line.p);
	return line;
}

int
node_record(struct span line, char host[HOST_MAX], struct node_shape *shape)
{
	struct span os;

	if (node_name(line, host) == -1)
		return -1;
	os = node_head(line);
	shape->sockets = number_of(os, " Sockets=");
	shape->cores = number_of(os, " CoresPerSocket=");
	shape->threads = number_of(os, " ThreadsPerCore=");
	return 0;
}

/* A node has several words; the one with the lowest effect decides. */
enum effect {
	EFFECT_ABSENT, /* the node does not exist yet */
	EFFECT_DOWN,   /* down, whatever the other words are */
	EFFECT_ALLOCATED,
	EFFECT_MIXED,
	EFFECT_UNUSABLE, /* no job runs and none can start: down */
	EFFECT_HELD,	 /* no job runs, only some can start: reserved */
	EFFECT_IDLE,
	EFFECT_NONE, /* the word does not describe the use */
	EFFECT__COUNT
};

static const char *const effect_words[EFFECT__COUNT] = {
	[EFFECT_ABSENT] = "",
	[EFFECT_DOWN] = "down",
	[EFFECT_ALLOCATED] = "allocated",
	[EFFECT_MIXED] = "mixed",
	[EFFECT_UNUSABLE] = "down",
	[EFFECT_HELD] = "reserved",
	[EFFECT_IDLE] = "idle",
	[EFFECT_NONE] = "unknown",
};

static const struct {
	const char *word;
	enum effect effect;
} words[] = {
	{ "IDLE", EFFECT_IDLE },
	{ "ALLOCATED", EFFECT_ALLOCATED },
	{ "MIXED", EFFECT_MIXED },
	{ "DOWN", EFFECT_DOWN },
	{ "ERROR", EFFECT_DOWN },
	{ "UNKNOWN", EFFECT_NONE },
	{ "FUTURE", EFFECT_ABSENT },
	/* Nothing is known of its jobs until the node responds. */
	{ "NOT_RESPONDING", EFFECT_DOWN },
	/* Its jobs run to their end; without a job it is out of service. */
	{ "DRAIN", EFFECT_UNUSABLE },
	{ "DRAINED", EFFECT_UNUSABLE },
	{ "DRAINING", EFFECT_MIXED },
	{ "FAIL", EFFECT_UNUSABLE },
	{ "FAILING", EFFECT_MIXED },
	{ "INVALID_REG", EFFECT_UNUSABLE },
	{ "INVAL", EFFECT_UNUSABLE },
	{ "REBOOT_ISSUED", EFFECT_UNUSABLE },
	/* The node is switched off, or not ready after its start. */
	{ "POWER", EFFECT_UNUSABLE },
	{ "POWERED_DOWN", EFFECT_UNUSABLE },
	{ "POWER_DOWN", EFFECT_UNUSABLE },
	{ "POWERING_DOWN", EFFECT_UNUSABLE },
	{ "POWER_UP", EFFECT_UNUSABLE },
	{ "POWERING_UP", EFFECT_UNUSABLE },
	/* The node is reserved; Slurm's maintenance is a reservation too. */
	{ "RESERVED", EFFECT_HELD },
	{ "RESV", EFFECT_HELD },
	{ "MAINT", EFFECT_HELD },
	{ "MAINTENANCE", EFFECT_HELD },
	{ "BLOCKED", EFFECT_HELD },
	/* The epilog runs: the job has ended, the node is not free yet. */
	{ "COMPLETING", EFFECT_MIXED },
	/* The scheduler changes its plans often, and short jobs can start. */
	{ "PLANNED", EFFECT_IDLE },
};

/* The signs that older versions and sinfo print behind a word. */
static const struct {
	char sign;
	enum effect effect;
} signs[] = {
	{ '*', EFFECT_DOWN },	  /* not responding */
	{ '~', EFFECT_UNUSABLE }, /* switched off */
	{ '#', EFFECT_UNUSABLE }, /* powering up */
	{ '!', EFFECT_UNUSABLE }, /* power down is pending */
	{ '%', EFFECT_UNUSABLE }, /* powering down */
	{ '^', EFFECT_UNUSABLE }, /* rebooting */
	{ '$', EFFECT_HELD },	  /* maintenance */
	{ '@', EFFECT_NONE },	  /* reboot is pending */
	{ '-', EFFECT_NONE },	  /* planned */
};

static void
effect_of_word(struct span word, enum effect *effect)
{
	size_t i;

	for (; word.n > 0; word.n--) {
		for (i = 0; i < sizeof(signs) / sizeof(signs[0]); i++)
			if (word.p[word.n - 1] == signs[i].sign)
				break;
		if (i == sizeof(signs) / sizeof(signs[0]))
			break;
		if (signs[i].effect < *effect)
			*effect = signs[i].effect;
	}
	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (span_is(word, words[i].word) && words[i].effect < *effect)
			*effect = words[i].effect;
}

/* cc-backend's word for Slurm's words, "MIXED+DRAIN". */
static const char *
node_word(struct span state)
{
	enum effect effect = EFFECT_NONE;
	struct span word;
	const char *plus;

	while (state.n > 0) {
		word = state;
		plus = memchr(state.p, '+', state.n);
		if (plus != NULL)
			word.n = (size_t)(plus - state.p);
		effect_of_word(word, &effect);
		if (plus == NULL)
			break;
		state = span_from(state, plus + 1);
	}
	return effect_words[effect];
}

static int
on_device(uint32_t index, void *arg)
{
	return 0;
}

/*
 * GresUsed= exists since 19.05.  AllocTRES= replaces a malformed GresUsed=; it is
 * behind the MCS label, which can contain another one.
 */
static uint32_t
gpus_used(struct span line, struct span head, const struct gres_names *names)
{
	struct span used = token_value(&head, " GresUsed="), last = { NULL, 0 };
	struct tres tres = { 0 };
	uint32_t n;

	if (used.p != NULL && gres_each(used, names, on_device, NULL, &n) == 0)
		return n;
	while ((used = token_value(&line, " AllocTRES=")).p != NULL)
		last = used;
	tres_parse(last, names, &tres);
	return tres.gpus;
}

uint32_t
node_gpus(struct span line, const struct gres_names *names, struct span *gres)
{
	uint32_t n;

	*gres = token_value(&line, " Gres=");
	if (gres->p == NULL ||
	    gres_each(*gres, names, on_device, NULL, &n) == -1)
		return 0;
	return n;
}

int
node_use(struct span line, const struct gres_names *names,
    struct node_state *node)
{
	static const char *const texts[] = { " Reason=", " Comment=",
		" Extra=" };
	struct span head, s, state;
	const char *p;
	size_t i;

	memset(node, 0, sizeof(*node));
	if (node_name(line, node->host) == -1)
		return -1;
	head = node_head(line);
	/* AllocTRES= is between the MCS label and the texts of an admin. */
	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if ((p = token_find(line, texts[i])) != NULL)
			line.n = (size_t)(p - line.p);
	s = head;
	state = token_value(&s, " State=");
	if (state.p == NULL)
		return -1;
	snprintf(node->states, sizeof(node->states), "%s", node_word(state));
	s = head;
	if (number_u32(token_value(&s, " CPUAlloc="), &node->cpus) == -1)
		node->cpus = 0;
	s = head;
	if (number_memory(token_value(&s, " AllocMem="), &node->memory, NULL) ==
	    -1)
		node->memory = 0;
	node->gpus = gpus_used(line, head, names);
	return 0;
}
