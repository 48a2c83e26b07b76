/* SPDX-License-Identifier: MIT */
/*
 * cc-backend in time: its commits, outages and restarts.  The ledger of the
 * stand-in is its disk: a restart reads the lines that are left.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/simulate/backend.h"
#include "tests/simulate/backend_private.h"
#include "tests/simulate/check.h"
#include "tests/simulate/faults.h"
#include "tests/simulate/refusals.h"
#include "tests/simulate/truth.h"
#include "tests/simulate/world.h"

#define RESTORE_MAX (6 * HOUR_MS) /* age of the backup that is restored */

extern char __start_cc_data[], __stop_cc_data[];
extern char __start_cc_bss[], __stop_cc_bss[];

struct line {
	char *text; /* one or more lines of one request */
	size_t len;
	int64_t at; /* world_ms() */
	int gone;   /* lost by a restart */
};

static struct {
	enum cc_version version;
	enum cc_version oldest; /* of the seed */
	int64_t commit_ms;
	char *data; /* initial content of the static data */
	struct line *lines;
	size_t n_lines;
	struct prng random;
	int away;
	int hangs;	   /* while away: no answer, not even a refusal */
	int64_t committed; /* world_ms() of the last commit */
	struct backend_numbers n;
} cc;

enum cc_version
backend_version(void)
{
	return cc.version;
}

enum cc_version
backend_oldest(void)
{
	return cc.oldest;
}

const struct backend_numbers *
backend_numbers(void)
{
	return &cc.n;
}

int
backend_is_away(void)
{
	return cc.away;
}

uint64_t
backend_life(void)
{
	return cc.n.outages;
}

int
backend_hangs(void)
{
	return cc.hangs;
}

struct prng *
backend_random(void)
{
	return &cc.random;
}

void
backend_count_request(void)
{
	cc.n.requests++;
}

void
backend_ledger(const char *p, size_t n)
{
	struct line *l;

	cc.lines = world_realloc(cc.lines,
	    (cc.n_lines + 1) * sizeof(cc.lines[0]));
	l = &cc.lines[cc.n_lines++];
	l->text = world_alloc(n);
	memcpy(l->text, p, n);
	l->len = n;
	l->at = world_ms();
	l->gone = 0;
}

/* All that was not lost. */
static char *
ledger_text(size_t *n)
{
	char *all;
	size_t i;

	*n = 0;
	for (i = 0; i < cc.n_lines; i++)
		*n += cc.lines[i].gone ? 0 : cc.lines[i].len;
	all = world_alloc(*n + 1);
	*n = 0;
	for (i = 0; i < cc.n_lines; i++) {
		if (cc.lines[i].gone)
			continue;
		memcpy(all + *n, cc.lines[i].text, cc.lines[i].len);
		*n += cc.lines[i].len;
	}
	return all;
}

/* Bytes between two symbols of the linker. */
static size_t
section_size(const char *begin, const char *end)
{
	return (size_t)((uintptr_t)end - (uintptr_t)begin);
}

static void
cc_load(void)
{
	size_t data = section_size(__start_cc_data, __stop_cc_data), n;
	char *text;

	if (cc.data == NULL) {
		cc.data = world_alloc(data);
		memcpy(cc.data, __start_cc_data, data);
	} else {
		memcpy(__start_cc_data, cc.data, data);
		memset(__start_cc_bss, 0,
		    section_size(__start_cc_bss, __stop_cc_bss));
	}
	text = ledger_text(&n);
	cc_box_begin(cc.version, TRUTH_CLUSTER "=" TRUTH_NODES,
	    (double)cc.commit_ms / 1000, text, n);
	free(text);
}

/* Starts that no commit and no stop has moved to the table of jobs. */
static void
cache_lose(void)
{
	size_t i;

	for (i = 0; i < cc.n_lines; i++)
		if (cc.lines[i].at > cc.committed &&
		    memmem(cc.lines[i].text, cc.lines[i].len,
			"\"effect\":\"start\"", 16) != NULL &&
		    memmem(cc.lines[i].text, cc.lines[i].len, "\"cached\":true",
			13) != NULL)
			cc.lines[i].gone = 1;
}

static void
restore(void)
{
	int64_t until = world_ms() - prng_between(&cc.random, 0, RESTORE_MAX);
	size_t i;

	for (i = 0; i < cc.n_lines; i++)
		if (cc.lines[i].at > until)
			cc.lines[i].gone = 1;
	cc.n.restored++;
}

static void on_outage(void *arg);

static void
on_back(void *arg)
{
	const struct faults *f = faults();
	const char *with = "its database";

	(void)arg;
	check_before_loss();
	if (prng_chance(&cc.random, f->restored)) {
		restore();
		with = "an older database";
	} else if (prng_chance(&cc.random, f->cache_lost)) {
		cache_lose();
		with = "an empty cache";
	}
	if (cc.version < CC_1_5_4 && prng_chance(&cc.random, f->upgraded)) {
		cc.version++;
		trace("cc-backend is upgraded to version %d", (int)cc.version);
	}
	cc_load();
	refusals_restart();
	check_after_loss();
	cc.away = cc.hangs = 0;
	trace("cc-backend is back with %s", with);
	if (f->outage_every > 0)
		world_after(PROCESS_NONE, fault_wait("outage", f->outage_every),
		    on_outage, NULL);
}

static void
on_outage(void *arg)
{
	const struct faults *f = faults();
	int64_t ms = prng_between(&cc.random, 1000, 1000 + f->outage_max);

	(void)arg;
	if (faults_ended())
		return;
	cc.away = 1;
	cc.hangs = prng_chance(&cc.random, 300000);
	cc.n.outages++;
	trace("cc-backend is away for %lld ms", (long long)ms);
	world_after(PROCESS_NONE, ms, on_back, NULL);
}

static void
on_commit(void *arg)
{
	(void)arg;
	if (!cc.away) {
		cc_box_commit();
		cc.committed = world_ms();
	}
	world_after(PROCESS_NONE, cc.commit_ms, on_commit, NULL);
}

void
backend_begin(enum cc_version version, int64_t commit_ms)
{
	cc.version = cc.oldest = version;
	cc.commit_ms = commit_ms;
	prng_init(&cc.random, world_seed(), "cc-backend");
	cc_load();
	world_after(PROCESS_NONE, commit_ms, on_commit, NULL);
	if (faults()->outage_every > 0)
		world_after(PROCESS_NONE,
		    fault_wait("outage", faults()->outage_every), on_outage,
		    NULL);
}
