/* SPDX-License-Identifier: MIT */
/*
 * The simulated runner: it answers the questions of the collector with the text
 * of the simulated Slurm, through simulated pipes.
 */
#ifndef TESTS_SIMULATE_SITE_RUNNER_H
#define TESTS_SIMULATE_SITE_RUNNER_H

#include <sys/types.h>

#include "common/question/question.h"
#include "tests/simulate/link.h"

/* span: slurmQueryMaxSpan, s; resume: the durable resume point, epoch. */
void runner_begin(int64_t span, int64_t (*resume)(void));
/* 1: accounting of this time (epoch) was older than the span when it was due. */
int runner_skipped(int64_t end);
/* A new collector: end 0 of the link is the runner's. */
void runner_connect(struct link *l);
/* The collector has ended, and the runner with it. */
void runner_ended(void);
/* Of a million answers: cut at the deadline, or killed. */
void runner_faults_set(unsigned cut, unsigned killed);
/* Questions of this kind so far. */
uint64_t runner_asked(enum question_kind kind);

/* pipe.c: main() of the collector up to its event loop; fd as process_main(). */
void collector_begin(int fd);

/* --- called by the collector's libc --- */

void runner_pipe_opened(int fd, void (*ready)(int fd, short what));
ssize_t runner_pipe_read(int fd, void *buf, size_t n);
void runner_pipe_close(int fd);

#endif
