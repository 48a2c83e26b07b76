/* SPDX-License-Identifier: MIT */
/*
 * A site with one cluster for tests of the collector's decisions.  The clock,
 * the runner of commands and the channels are simulated: the
 * object of simulation.c defines their functions, so the linker does not
 * take those of the libraries.
 *
 * Times in texts are seconds after SIM_EPOCH, at which tests/data/slurm/22.05
 * begins.
 */
#ifndef TESTS_UNIT_COLLECTOR_SIMULATION_H
#define TESTS_UNIT_COLLECTOR_SIMULATION_H

#include "collector/base/cluster.h"
#include "collector/track/outbox.h"

#define SIM_EPOCH     1795212354
#define SIM_USER      "ccadapter" /* runs the commands, is no operator */
#define SIM_DELIMITER "<~!>"	  /* of recorded and of simulated rows */

/*
 * Returns a new cluster, borrowed: it and the site before it are kept to the
 * end of the process.  slurmctld's clock shows 1000; accounting was read up to
 * 0; a submitter and a listener are connected.
 */
struct cluster *sim_begin(const struct outbox_ops *ops, void *arg);
/* Replaces the settings by those with one key changed. */
void sim_set(struct cluster *c, enum conf_key key, const char *value);
/* Keeps p, which the product never frees, reachable for the leak check. */
void *sim_keep(void *p);

/* Both clocks advance. */
void sim_pass(int64_t seconds);

/*
 * The messages and notes since the last call, ", " between them, for example
 * "start 10/0", "held 10/0", "confirm 10/0", "script 10/0",
 * "end 10/0-500 completed", "watermark 900", "not-found 7: 10/0",
 * "event-ack 5", "node n1 idle 0 cpus 0 MB 0 gpus 0 jobs",
 * "role active rank 0", "slurm-times 0 2 30 20, 0 0 0 0".  Borrowed until the next message.
 */
const char *sim_said(void);
/* Adds a note of the test's own. */
void sim_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* The message for people in the last record, "" = none.  Borrowed. */
const char *sim_message(void);
/* The script in the last record, "" = none.  Borrowed. */
const char *sim_script(void);
/* The submitter has stored all messages so far. */
void sim_stored(struct cluster *c);
/*
 * The submitter stores nothing: more messages wait than the outbox takes.
 * sim_stored() makes room.
 */
void sim_fill(struct cluster *c);

/* The open runs of a job: "10/0 runs, 10/500 left".  Borrowed. */
const char *sim_open(struct cluster *c, uint64_t job);

/* The time of the last-run file, epoch; 0 = none. */
void sim_lastrun_set(int64_t epoch);
int64_t sim_lastrun(void);

/* The names of the commands under way, oldest first: "squeue sacct". */
const char *sim_asked(void);
/* The arguments of the oldest command with this name, "" = none.  Borrowed. */
const char *sim_args(const char *name);
/*
 * The oldest command with this name prints text and ends well, or prints it
 * and ends with status 1 and err.  SIM_DELIMITER in the text becomes the
 * delimiter that the command was given.
 */
void sim_answer(const char *name, const char *text);
void sim_answer_failed(const char *name, const char *text, const char *err);
/* The same with this exit status, which is not 0. */
void sim_answer_exit(const char *name, const char *text, int status);
/* The same without text, with status 0, and with err on standard error. */
void sim_answer_error(const char *name, const char *err);
/* The oldest command with this name is killed at its deadline. */
void sim_answer_late(const char *name);
/* The command with this output is killed, because there is more than expected. */
void sim_answer_too_long(const char *name, const char *text);

/*
 * A row of sacct; a time of SIM_NEVER is printed as "Unknown".  Borrowed until
 * the eighth later call.
 */
#define SIM_NEVER INT64_MIN
const char *sim_sacct_row(const char *user, uint64_t job, const char *state,
    int64_t submit, int64_t start, int64_t end);

#endif
