/* SPDX-License-Identifier: MIT */
/* The faults of the host: its clock steps, its disk is full or broken. */
#ifndef TESTS_SIMULATE_HOST_H
#define TESTS_SIMULATE_HOST_H

void host_begin(void);
/* The disk has no fault from now on. */
void host_good(void);

#endif
