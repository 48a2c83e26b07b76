/* SPDX-License-Identifier: MIT */
/* The table of system calls; see calls.c. */
#ifndef TESTS_BREAKOUT_CALLS_H
#define TESTS_BREAKOUT_CALLS_H

#include "tests/breakout/attempts.h"

/* 0 when the call reached the kernel, else errno; ENOENT: no such call. */
int call_make(const char *name, int64_t *value);
void calls_each(void (*fn)(const char *name));

#endif
