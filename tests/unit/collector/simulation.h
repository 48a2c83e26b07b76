/* SPDX-License-Identifier: MIT */
/*
 * A simulated clock, a simulated Slurm and a simulated submitter, so that the
 * decisions of the collector are tested without a process, a socket or a wait.
 *
 * The functions here replace those of the same name in the boxes: clock.c,
 * outbox.c, runner.c, and channel_send().
 */
#ifndef TESTS_UNIT_COLLECTOR_SIMULATION_H
#define TESTS_UNIT_COLLECTOR_SIMULATION_H

#include <stdint.h>

#include "collector/base/cluster.h"
#include "collector/parse/parse.h"
#include "common/job.h"

#define SIM_BEGIN	1700000000	/* wall clock at the beginning, epoch */

/* The clocks of this machine: both go on by s seconds. */
void sim_wait(int64_t s);
void sim_wait_ms(int64_t ms);

/* What the collector has sent to the submitter since the last sim_sent_clear(). */

enum sim_type { SIM_RECORD, SIM_WATERMARK, SIM_BACKFILLED, SIM_NOT_FOUND };

struct sim_sent {
	enum sim_type	 type;
	struct run_key	 key;		/* of a record; the first of not-found */
	uint32_t	 flags;
	enum job_end	 state;
	int64_t		 end;
	int		 message;	/* the record has one */
	int64_t		 until;		/* of a watermark */
	uint32_t	 n;		/* runs of not-found */
};

unsigned sim_sent_count(void);
/* The i-th of them; one of zeroes when there is none. */
struct sim_sent sim_sent(unsigned i);
void sim_sent_clear(void);
/* The submitter takes no record, or does again. */
void sim_submitter_full(int full);
/* All that was sent is durable. */
void sim_submitter_stores(void);

/* Messages that went to the listener: numbers of acknowledged events. */
unsigned sim_acks(void);

/* The commands that wait for their answers, oldest first. */

unsigned sim_commands(void);
/* "squeue -h -a"; "" when there is none. */
const char *sim_command(unsigned i);
/* 1 when the i-th command has this word. */
int sim_command_has(unsigned i, const char *word);
/* Its output, in pieces; it goes on. */
void sim_output(unsigned i, const char *text);
/* Its output, then its end with status 0. */
void sim_answer(unsigned i, const char *text);
/* It ends with status 1 and this on standard error. */
void sim_fail(unsigned i, const char *err);
/* It was killed at its deadline. */
void sim_timeout(unsigned i);

/* One row of sacct in the form that the i-th command asks for. */
struct sim_row {
	uint64_t	 job;
	const char	*user;		/* NULL = "alice" */
	const char	*state;
	int64_t		 submit;
	int64_t		 start;
	int64_t		 end;		/* 0 = Unknown */
	const char	*name;		/* NULL = "job" */
	const char	*nodes;		/* NULL = "n1" */
};
/* Returns static memory. */
const char *sim_rows(unsigned i, const struct sim_row *rows, unsigned n);

/* A cluster "alpha" that is ready, asked as the user "adapter". */
struct cluster *sim_cluster(void);
struct site *sim_site(void);
/* Frees it with all commands and messages. */
void sim_end(struct cluster *c);

#endif
