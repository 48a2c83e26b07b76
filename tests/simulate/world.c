/* SPDX-License-Identifier: MIT */
/* The clock, the queue of calls and the processes; see world.h. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/simulate/world.h"

#define UPTIME_MS HOUR_MS /* at the beginning */
/* calls at one time: far more than any seed makes when all is well */
#define AT_ONCE_MAX 200000

struct world_call {
	int64_t due; /* world_ms() */
	uint64_t order;
	world_fn *fn;
	void *arg;
	enum process_id id;
	unsigned incarnation;
	size_t at; /* in the heap */
};

static struct {
	uint64_t seed;
	int64_t now;
	int64_t epoch; /* true ms since 1970 at 0 */
	int64_t step;  /* of the wall clock, ms */
	struct world_call **heap;
	size_t n, cap;
	uint64_t order;
	uint64_t steps;
} world;

static struct {
	const struct process_ops *ops;
	char *initial[PROCESS_MEMORIES];
	unsigned incarnation;
	int runs;
} processes[PROCESS__COUNT];

static enum process_id current;
static jmp_buf death;
/* a copy: the caller's text ends with its stack */
static char death_why[128];
static void (*on_fault)(const char *where);

void *
world_alloc(size_t n)
{
	void *p = calloc(1, n > 0 ? n : 1);

	if (p == NULL)
		abort();
	return p;
}

void *
world_realloc(void *p, size_t n)
{
	p = realloc(p, n > 0 ? n : 1);
	if (p == NULL)
		abort();
	return p;
}

/* --- the clock --- */

int64_t
world_ms(void)
{
	return world.now;
}

int64_t
world_true_ms(void)
{
	return world.epoch + world.now;
}

int64_t
world_wall_ms(void)
{
	return world_true_ms() + world.step;
}

void
world_wall_step(int64_t ms)
{
	world.step += ms;
	trace("the wall clock steps by %lld ms", (long long)ms);
}

uint64_t
world_seed(void)
{
	return world.seed;
}

uint64_t
world_steps(void)
{
	return world.steps;
}

/* --- the queue: a binary heap --- */

static int
call_is_before(const struct world_call *a, const struct world_call *b)
{
	return a->due != b->due ? a->due < b->due : a->order < b->order;
}

static void
heap_set(size_t i, struct world_call *call)
{
	world.heap[i] = call;
	call->at = i;
}

static void
heap_up(size_t i, struct world_call *call)
{
	for (; i > 0 && call_is_before(call, world.heap[(i - 1) / 2]);
	     i = (i - 1) / 2)
		heap_set(i, world.heap[(i - 1) / 2]);
	heap_set(i, call);
}

static void
heap_down(size_t i, struct world_call *call)
{
	size_t child;

	for (; (child = 2 * i + 1) < world.n; i = child) {
		if (child + 1 < world.n &&
		    call_is_before(world.heap[child + 1], world.heap[child]))
			child++;
		if (!call_is_before(world.heap[child], call))
			break;
		heap_set(i, world.heap[child]);
	}
	heap_set(i, call);
}

struct world_call *
world_after(enum process_id id, int64_t ms, world_fn *fn, void *arg)
{
	struct world_call *call = world_alloc(sizeof(*call));

	if (world.n == world.cap) {
		world.cap = world.cap != 0 ? 2 * world.cap : 256;
		world.heap = world_realloc(world.heap,
		    world.cap * sizeof(world.heap[0]));
	}
	call->due = world.now + (ms > 0 ? ms : 0);
	call->order = world.order++;
	call->fn = fn;
	call->arg = arg;
	call->id = id;
	call->incarnation = processes[id].incarnation;
	heap_up(world.n++, call);
	return call;
}

static void
heap_remove(struct world_call *call)
{
	size_t i = call->at;
	struct world_call *last = world.heap[--world.n];

	if (last == call)
		return;
	if (i > 0 && call_is_before(last, world.heap[(i - 1) / 2]))
		heap_up(i, last);
	else
		heap_down(i, last);
}

void
world_cancel(struct world_call *call)
{
	if (call == NULL)
		return;
	heap_remove(call);
	free(call);
}

/* --- processes --- */

void
process_define(enum process_id id, const struct process_ops *ops)
{
	const struct process_memory *m;
	size_t n;
	int i;

	processes[id].ops = ops;
	for (i = 0; i < PROCESS_MEMORIES; i++) {
		m = &ops->memory[i];
		n = (size_t)(m->end - m->begin);
		processes[id].initial[i] = world_alloc(n);
		if (n > 0)
			memcpy(processes[id].initial[i], m->begin, n);
	}
}

int
process_runs(enum process_id id)
{
	return id == PROCESS_NONE || processes[id].runs;
}

unsigned
process_incarnation(enum process_id id)
{
	return processes[id].incarnation;
}

enum process_id
process_current(void)
{
	return current;
}

static void
process_end(enum process_id id, const char *why)
{
	const struct process_memory *m;
	int i;

	trace("the %s ends: %s", processes[id].ops->name, why);
	processes[id].runs = 0;
	processes[id].incarnation++;
	for (i = 0; i < PROCESS_MEMORIES; i++) {
		m = &processes[id].ops->memory[i];
		if (m->end > m->begin)
			memcpy(m->begin, processes[id].initial[i],
			    (size_t)(m->end - m->begin));
	}
	processes[id].ops->ended(why);
}

void
process_die(const char *why)
{
	if (current == PROCESS_NONE)
		invariant_fail("the world ends itself: %s", why);
	snprintf(death_why, sizeof(death_why), "%s", why);
	longjmp(death, 1);
}

void
process_fault_set(void (*fn)(const char *where))
{
	on_fault = fn;
}

void
process_fault(const char *where)
{
	if (on_fault != NULL && current != PROCESS_NONE)
		on_fault(where);
}

void
process_kill(enum process_id id, const char *why)
{
	if (current != PROCESS_NONE)
		invariant_fail("a process kills another: %s", why);
	if (processes[id].runs)
		process_end(id, why);
}

/* After process_die(); apart because setjmp() leaves locals undefined. */
static void
process_died(void)
{
	enum process_id id = current;

	current = PROCESS_NONE;
	process_end(id, death_why);
}

/* Calls fn in the process, which may end in it. */
static void
process_enter(enum process_id id, world_fn *fn, void *arg)
{
	if (id == PROCESS_NONE) {
		fn(arg);
		return;
	}
	current = id;
	if (setjmp(death) == 0) {
		fn(arg);
		current = PROCESS_NONE;
	} else
		process_died();
}

static void
process_first_call(void *arg)
{
	(void)arg;
	trace("the process starts");
	processes[current].ops->start();
}

void
process_start(enum process_id id)
{
	if (current != PROCESS_NONE || processes[id].runs)
		invariant_fail("second start of the %s",
		    processes[id].ops->name);
	processes[id].runs = 1;
	processes[id].incarnation++;
	world_after(id, 0, process_first_call, NULL);
}

/* --- the run --- */

void
world_begin(uint64_t seed, int64_t epoch)
{
	world.seed = seed;
	world.now = UPTIME_MS;
	world.epoch = epoch * SECOND_MS - UPTIME_MS;
}

void
world_run(int64_t ms, void (*check)(void))
{
	int64_t until = world.now + ms;
	struct world_call *call, made;
	unsigned at_once = 0;

	while (world.n > 0 && world.heap[0]->due <= until) {
		call = world.heap[0];
		heap_remove(call);
		made = *call;
		free(call);
		if (made.incarnation != processes[made.id].incarnation)
			continue;
		if (made.due > world.now) {
			world.now = made.due;
			at_once = 0;
		}
		invariant(++at_once < AT_ONCE_MAX,
		    "calls without an end, and no time passes");
		world.steps++;
		process_enter(made.id, made.fn, made.arg);
		if (check != NULL)
			check();
	}
	world.now = until;
}
