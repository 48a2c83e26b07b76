/* SPDX-License-Identifier: MIT */
/*
 * The code below the product's in a simulated process: the loop of
 * events, the channels, the sandbox and the calls of libc that read a clock or
 * end the process.  Each process links its own copy (libprocess.a).
 */
#ifndef TESTS_SIMULATE_PROCESS_H
#define TESTS_SIMULATE_PROCESS_H

/*
 * Calls main() of the product until its event loop would begin.  Descriptor 3
 * of the process is the end `fd` (link_fd()) of its link to the supervisor.
 */
void process_main(int (*product_main)(int, char **), int fd);
/* Returns from process_main(). */
void process_main_done(void) __attribute__((noreturn));
/* The number that stands for a descriptor of the process (link_fd()). */
int process_fd(int fd);
/* Calls the events that wait for the descriptor: EV_READ or EV_WRITE. */
void loop_fd_ready(int fd, short what);
/* The process has handled an event: what main() does after each turn of its loop. */
void loop_turn_end(void);

#endif
