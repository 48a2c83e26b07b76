/* SPDX-License-Identifier: MIT */
/*
 * The frame of the simulation: the virtual clock, random numbers that depend on
 * the seed alone, the queue of future calls, simulated processes, the trace and
 * the invariants.  One operating-system process simulates one seed.  Nothing
 * here reads a real clock, an address or the environment.
 */
#ifndef TESTS_SIMULATE_WORLD_H
#define TESTS_SIMULATE_WORLD_H

#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>

#define SECOND_MS ((int64_t)1000)
#define MINUTE_MS (60 * SECOND_MS)
#define HOUR_MS	  (60 * MINUTE_MS)
#define DAY_MS	  (24 * HOUR_MS)

/* --- random numbers --- */

/*
 * A stream of random numbers.  Each subject has a stream of its own, so that a
 * change in one subject (fewer jobs, no crashes) leaves the others as they are.
 */
struct prng {
	uint64_t s[4];
};

/* The stream of the seed and the label. */
void prng_init(struct prng *p, uint64_t seed, const char *label);
uint64_t prng_next(struct prng *p);
/* In [0, n); 0 when n is 0. */
uint64_t prng_below(struct prng *p, uint64_t n);
/* In [low, high], both included. */
int64_t prng_between(struct prng *p, int64_t low, int64_t high);
/* 1 with the probability n / 1,000,000. */
int prng_chance(struct prng *p, unsigned n);

/* --- processes --- */

enum process_id {
	PROCESS_NONE,	   /* the world itself: never crashes */
	PROCESS_SUBMITTER, /* of a fan-in: at the centre */
	PROCESS_COLLECTOR,
	PROCESS_CLUSTER,  /* of a fan-in: the submitter at the cluster */
	PROCESS_RECEIVER, /* the same, at the centre */
	PROCESS__COUNT
};

/* Memory that a crash resets: static data of the product in this program. */
struct process_memory {
	char *begin;
	char *end;
};

#define PROCESS_MEMORIES 2 /* initialized data, zeroed data */

struct process_ops {
	const char *name;
	struct process_memory memory[PROCESS_MEMORIES];
	/* Starts the process: runs in it.  The static data is as after exec. */
	void (*start)(void);
	/*
	 * Called in the world after the process ended, for whatever reason:
	 * breaks its links, drops its locks, decides when it starts again.
	 */
	void (*ended)(const char *why);
};

/* Before world_run(): borrows ops for ever and saves the initial memory. */
void process_define(enum process_id id, const struct process_ops *ops);
/* Starts a process that does not run. */
void process_start(enum process_id id);
int process_runs(enum process_id id);
/* The number of starts; a restarted process has another number. */
unsigned process_incarnation(enum process_id id);
/* The process whose code is being called. */
enum process_id process_current(void);
/*
 * Ends the current process at this place, as SIGKILL would: its future calls
 * are dropped, its static data is reset, its heap is left.
 */
void process_die(const char *why) __attribute__((noreturn));
/*
 * A place at which a process may crash, in the process; fn decides and calls
 * process_die().  NULL = none.
 */
void process_fault_set(void (*fn)(const char *where));
void process_fault(const char *where);
/*
 * From the world: ends a process between two of its calls.  Does nothing when
 * it does not run.
 */
void process_kill(enum process_id id, const char *why);

/* --- the clock and the queue --- */

/* ms since the machine was started; grows only. */
int64_t world_ms(void);
/* ms since 1970 as the host's wall clock shows; may step. */
int64_t world_wall_ms(void);
/* Steps the wall clock. */
void world_wall_step(int64_t ms);
/* ms since 1970 as it is in truth: Slurm's hosts and cc-backend have it. */
int64_t world_true_ms(void);

typedef void world_fn(void *arg);
struct world_call;

/*
 * Calls fn in ms milliseconds (at least 0), in process id; calls of one moment
 * are made in the order of world_after().  A call into a process is dropped
 * when that process ends.  The result is valid until the call is made, dropped
 * or cancelled.
 */
struct world_call *world_after(enum process_id id, int64_t ms, world_fn *fn,
    void *arg);
/* The call is not made.  NULL is allowed. */
void world_cancel(struct world_call *call);

/*
 * One seed per operating-system process.  epoch: true time at the beginning, s.
 */
void world_begin(uint64_t seed, int64_t epoch);
uint64_t world_seed(void);
/*
 * Makes all calls that are due in the next ms.  After each call, check (may be
 * NULL) looks at the invariants.
 */
void world_run(int64_t ms, void (*check)(void));
/* The number of calls made. */
uint64_t world_steps(void);

/* --- trace and invariants --- */

enum trace_mode {
	TRACE_LAST,  /* keep the last lines for a failure */
	TRACE_PRINT, /* print each line at once */
	TRACE_NONE   /* nobody reads it: a seed that fails runs again */
};
void trace_mode_set(enum trace_mode mode);
/* One line about the current process, without a newline. */
void trace(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Depends on every line so far: two runs of one seed have the same. */
uint64_t trace_hash(void);

/*
 * Prints the seed, the time, what is wrong and the last lines of the trace;
 * ends the operating-system process with INVARIANT_STATUS.
 */
#define INVARIANT_STATUS 3
/* Before the processes of seeds: the way they fail is shared with the parent. */
void invariant_prepare(void);
void invariant_forget(void);
/* Not 0; the same for two failures of one invariant. */
uint64_t invariant_failed(void);
void invariant_fail(const char *fmt, ...)
    __attribute__((format(printf, 1, 2), noreturn));
#define invariant(is_true, ...) \
	do { \
		if (!(is_true)) \
			invariant_fail(__VA_ARGS__); \
	} while (0)

/* calloc(), realloc() that end the program when memory is short. */
void *world_alloc(size_t n);
void *world_realloc(void *p, size_t n);

#endif
