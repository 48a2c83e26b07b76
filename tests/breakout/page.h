/* SPDX-License-Identifier: MIT */
/*
 * The page that the test and the worker under attack share: one place for each
 * process.  tests/breakout/run has the same layout.
 */
#ifndef TESTS_BREAKOUT_PAGE_H
#define TESTS_BREAKOUT_PAGE_H

#include <stdatomic.h>
#include <stdint.h>

#define PLACE_SIZE  8192 /* bytes of struct place */
#define COMMAND_MAX 128
#define TARGETS_MAX 7000

struct place {
	_Atomic uint32_t request; /* the test adds 1 */
	_Atomic uint32_t begun;	  /* the request that was taken */
	_Atomic uint32_t done;	  /* the request that has ended */
	_Atomic int32_t error;	  /* errno of it; 0 = it succeeded */
	_Atomic int64_t value;	  /* what it reached */
	_Atomic int32_t pid;	  /* of the process that serves; 0 = none */
	char command[COMMAND_MAX];
	char targets[TARGETS_MAX]; /* struct targets, one field a line */
};

#endif
