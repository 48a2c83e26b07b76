/* SPDX-License-Identifier: MIT */
/*
 * The table of the states of a run: every pair of a state and an event, what
 * must hold for all of them, and the diagram in cc-slurm-adapter-protocol(7).
 * `test_transition -print` prints that diagram.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"
#include "submitter/spool/spool.h"
#include "submitter/spool/transition.h"
#include "tests/unit/check.h"

#define MANUAL "man/cc-slurm-adapter-protocol.7"
#define BEGIN  ".\\\" The states of a run begin.\n"
#define END    ".\\\" The states of a run end.\n"

/* The work that is due in each state. */
static const char *const todos[RUN_STATE__COUNT] = {
	[RUN_NONE] = "nothing",
	[START_DUE] = "start request",
	[START_DUE_ENDED] = "start request",
	[START_BLOCKED] = "nothing until the earlier run is settled",
	[START_CONFLICT] = "listing",
	[STARTED] = "listing",
	[START_COMMITTED] = "nothing until the end",
	[STOP_BLOCKED] = "listing",
	[STOP_DUE] = "stop request",
	[RUN_DONE] = "nothing",
	[START_REJECTED] = "nothing until an admin acts",
	[STOP_REJECTED] = "nothing until an admin acts",
	[DELETE_DUE] = "delete request",
	[STOP_CONFLICT] = "listing",
	[STOPPED_BY_OTHERS] = "nothing until an admin acts",
	[BACKFILL_HELD] = "listing",
	[KEPT_REPLACEABLE] = "nothing; done after a day",
};

static char dir[] = "/tmp/test_transition.XXXXXX";
static struct spool *sp;

static struct spool_run
run_of(enum dest dest, enum run_state state, int ended)
{
	struct spool_run run;

	memset(&run, 0, sizeof(run));
	snprintf(run.key.cluster, sizeof(run.key.cluster), "alpha");
	run.key.job = 1;
	run.key.start = 1000;
	run.end = ended ? 2000 : 0;
	run.state[dest] = state;
	run.due[dest] = 7;
	run.tries[dest] = 3;
	snprintf(run.reason, sizeof(run.reason), "as it was");
	return run;
}

static void
pair(enum dest dest, enum run_state state, enum run_event event, int ended)
{
	enum run_state next = run_next(dest, state, event, ended);
	struct spool_run run = run_of(dest, state, ended), was = run;
	uint64_t before = spool_forbidden(sp);
	int rc = run_move(sp, &run, dest, event, 99, "new");

	if (next == RUN_STATE__COUNT) {
		CHECK_INT(rc, -1);
		CHECK_INT(spool_forbidden(sp), before + 1);
		CHECK(memcmp(&run, &was, sizeof(run)) == 0);
		return;
	}
	CHECK_INT(rc, 0);
	CHECK_INT(spool_forbidden(sp), before);
	CHECK_INT(run.state[dest], next);
	CHECK_INT(run.state[!dest], was.state[!dest]);
	CHECK_INT(run.due[dest], 99);
	CHECK(run.tries[dest] == 0 || run.tries[dest] == 3);
	CHECK_STR(run.reason, "new");
	run = was;
	CHECK_INT(run_move(sp, &run, dest, event, DUE_KEEP, NULL), 0);
	CHECK_INT(run.due[dest], 7);
	CHECK_STR(run.reason, "as it was");
}

/* States that say that the run has no end, and that it has one. */
static int
says_open(enum run_state state)
{
	return state == START_DUE || state == STARTED ||
	    state == START_COMMITTED;
}

static int
says_ended(enum run_state state)
{
	return state == START_DUE_ENDED || state == STOP_BLOCKED ||
	    state == STOP_DUE;
}

/* Nothing is left to be delivered, and nobody has to look at it. */
static int
is_final(enum run_state state)
{
	return state == RUN_NONE || state == RUN_DONE;
}

/* The rules of each transition; exceptions are named by their event. */
static void
sound(enum dest dest, enum run_state state, enum run_event event)
{
	enum run_state open = run_next(dest, state, event, 0);
	enum run_state ended = run_next(dest, state, event, 1);

	/* A state fits the end of its run. */
	if (event != RUN_EVENT_KNOWN_AGAIN)
		CHECK(!says_open(ended));
	if (event != RUN_EVENT_STOP_NO_RUN && event != RUN_EVENT_RETRY)
		CHECK(!says_ended(open));
	/* No run is lost: these alone finish what waits. */
	if (ended == RUN_DONE && !is_final(state))
		CHECK(event == RUN_EVENT_STOPPED ||
		    event == RUN_EVENT_STOP_SETTLED ||
		    event == RUN_EVENT_LISTED_STOPPED ||
		    event == RUN_EVENT_DROPPED ||
		    event == RUN_EVENT_KEPT_LONG ||
		    event == RUN_EVENT_DELETED_FINALLY);
	if (ended == RUN_NONE && !is_final(state))
		CHECK(event == RUN_EVENT_OPTED_OUT ||
		    event == RUN_EVENT_QUARANTINED ||
		    event == RUN_EVENT_TO_STREAM ||
		    event == RUN_EVENT_REMOVED || event == RUN_EVENT_DISCARDED);
	/* No stop goes before its start is known to be committed. */
	if (dest == DEST_REST && ended == STOP_DUE)
		CHECK(event == RUN_EVENT_LISTED ||
		    event == RUN_EVENT_COMMITTED || event == RUN_EVENT_RETRY ||
		    (event == RUN_EVENT_REJECTED && state == DELETE_DUE) ||
		    (event == RUN_EVENT_ENDED &&
			(state == STARTED || state == START_COMMITTED)));
	/* A run that is done is deleted before it is reported again. */
	if (state == RUN_DONE && dest == DEST_REST)
		CHECK(ended == RUN_STATE__COUNT || ended == DELETE_DUE ||
		    ended == KEPT_REPLACEABLE ||
		    event == RUN_EVENT_QUARANTINED ||
		    event == RUN_EVENT_RECOVERED ||
		    event == RUN_EVENT_TO_STREAM || event == RUN_EVENT_REMOVED);
}

static void
test_pairs(void)
{
	int d, s, e;

	for (d = 0; d < DEST__COUNT; d++)
		for (s = 0; s < RUN_STATE__COUNT; s++)
			for (e = 0; e < RUN_EVENT__COUNT; e++) {
				pair((enum dest)d, (enum run_state)s,
				    (enum run_event)e, 0);
				pair((enum dest)d, (enum run_state)s,
				    (enum run_event)e, 1);
				sound((enum dest)d, (enum run_state)s,
				    (enum run_event)e);
			}
}

/* Each state can be reached, and each but the last can be left. */
static void
test_reach(void)
{
	unsigned reached[DEST__COUNT] = { 0, 0 };
	int d, s, e, leaves;

	for (d = 0; d < DEST__COUNT; d++)
		for (s = 0; s < RUN_STATE__COUNT; s++)
			for (e = 0; e < RUN_EVENT__COUNT; e++) {
				reached[d] |= 1u
				    << run_next((enum dest)d, (enum run_state)s,
					   (enum run_event)e, 0);
				reached[d] |= 1u
				    << run_next((enum dest)d, (enum run_state)s,
					   (enum run_event)e, 1);
			}
	for (s = 0; s < RUN_STATE__COUNT; s++)
		CHECK(reached[DEST_REST] & (1u << s));
	for (d = 0; d < DEST__COUNT; d++)
		for (s = 0; s < RUN_STATE__COUNT; s++) {
			if (!(reached[d] & (1u << s)) ||
			    is_final((enum run_state)s))
				continue;
			for (e = leaves = 0; e < RUN_EVENT__COUNT; e++)
				leaves |= e != RUN_EVENT_QUARANTINED &&
				    e != RUN_EVENT_RECOVERED &&
				    e != RUN_EVENT_REMOVED &&
				    run_next((enum dest)d, (enum run_state)s,
					(enum run_event)e,
					1) != RUN_STATE__COUNT;
			CHECK(leaves);
		}
}

/* Texts tell events and states apart; what is none has a text, too. */
static void
test_names(void)
{
	int i, k;

	for (i = 0; i < RUN_EVENT__COUNT; i++)
		for (k = 0; k < i; k++)
			CHECK(strcmp(run_event_text((enum run_event)i),
				  run_event_text((enum run_event)k)) != 0);
	for (i = 0; i < RUN_STATE__COUNT; i++)
		for (k = 0; k < i; k++)
			CHECK(strcmp(run_state_label((enum run_state)i),
				  run_state_label((enum run_state)k)) != 0);
	CHECK_STR(run_event_text(RUN_EVENT__COUNT), "?");
	CHECK_STR(run_state_label(RUN_STATE__COUNT), "?");
}

/* Returns owned; NULL when it cannot be read. */
static char *
file_read(const char *name)
{
	const char *top = getenv("srcdir");
	char path[1024];
	char *text = calloc(1, 1 << 20);
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", top != NULL ? top : ".", name);
	f = fopen(path, "r");
	if (f == NULL || text == NULL) {
		free(text);
		if (f != NULL)
			fclose(f);
		return NULL;
	}
	CHECK(fread(text, 1, (1 << 20) - 1, f) > 0);
	fclose(f);
	return text;
}

/* Whether the state implies the end of the run: 1, 0, or -1 = not known. */
static int
end_shown(enum run_state state)
{
	if (says_open(state))
		return 0;
	return says_ended(state) || state == BACKFILL_HELD ? 1 : -1;
}

static void
next_print(FILE *f, enum dest dest, enum run_state state, enum run_event event)
{
	enum run_state open = run_next(dest, state, event, 0);
	enum run_state ended = run_next(dest, state, event, 1);
	int end = end_shown(state);

	if (open == RUN_STATE__COUNT && ended == RUN_STATE__COUNT)
		return;
	if (open == RUN_STATE__COUNT || end == 1)
		open = ended;
	if (ended == RUN_STATE__COUNT || (end == 0 && open != RUN_STATE__COUNT))
		ended = open;
	fprintf(f, "    %-34s -> %s\n", run_event_text(event),
	    run_state_label(open));
	if (ended != open)
		fprintf(f, "      %-32s -> %s\n", "if it has ended",
		    run_state_label(ended));
}

/* Events that are possible in each state; the manual lists them once. */
static int
is_common(enum run_event event)
{
	return event == RUN_EVENT_QUARANTINED || event == RUN_EVENT_RECOVERED ||
	    event == RUN_EVENT_TO_STREAM || event == RUN_EVENT_REMOVED;
}

static int
is_allowed(enum dest dest, enum run_state state, enum run_event event)
{
	return run_next(dest, state, event, 0) != RUN_STATE__COUNT ||
	    run_next(dest, state, event, 1) != RUN_STATE__COUNT;
}

/* No list of NATS shows a run. */
static const char *
todo_of(enum dest dest, enum run_state state)
{
	return dest == DEST_NATS && state == STARTED ? todos[START_COMMITTED] :
						       todos[state];
}

static void
state_print(FILE *f, enum dest dest, enum run_state state)
{
	int e, any = state == RUN_DONE;

	for (e = 0; e < RUN_EVENT__COUNT; e++)
		any |= !is_common((enum run_event)e) &&
		    is_allowed(dest, state, (enum run_event)e);
	if (!any)
		return;
	fprintf(f, "  %s (due: %s)\n", run_state_label(state),
	    todo_of(dest, state));
	for (e = 0; e < RUN_EVENT__COUNT; e++)
		if (!is_common((enum run_event)e))
			next_print(f, dest, state, (enum run_event)e);
}

/* Prints the table as the text that is in cc-slurm-adapter-protocol(7). */
static void
table_print(FILE *f)
{
	int s;

	fprintf(f, "REST\n");
	for (s = 0; s < RUN_STATE__COUNT; s++)
		state_print(f, DEST_REST, (enum run_state)s);
	fprintf(f, "NATS\n");
	for (s = 0; s < RUN_STATE__COUNT; s++)
		state_print(f, DEST_NATS, (enum run_state)s);
}

static void
test_manual(void)
{
	char *manual = file_read(MANUAL), *from, *to, *table = NULL;
	size_t size;
	FILE *f = open_memstream(&table, &size);

	CHECK(f != NULL && manual != NULL);
	if (f == NULL || manual == NULL)
		exit(1);
	table_print(f);
	fclose(f);
	from = strstr(manual, BEGIN);
	to = strstr(manual, END);
	CHECK(from != NULL && to != NULL);
	if (from != NULL && to != NULL) {
		from += strlen(BEGIN);
		*to = '\0';
		CHECK_STR(from, table);
	}
	free(table);
	free(manual);
}

int
main(int argc, char **argv)
{
	char path[64], reason[256];

	if (argc == 2 && strcmp(argv[1], "-print") == 0) {
		table_print(stdout);
		return 0;
	}
	if (mkdtemp(dir) == NULL)
		return 1;
	log_set_level(LOG_LEVEL_FATAL);
	snprintf(path, sizeof(path), "%s/spool.db", dir);
	spool_prepare();
	sp = spool_open(path, 64 << 20, 1000, reason, sizeof(reason));
	CHECK(sp != NULL);
	if (sp == NULL)
		return 1;
	test_pairs();
	test_reach();
	test_names();
	test_manual();
	spool_close(sp);
	unlink(path);
	rmdir(dir);
	return check_done();
}
