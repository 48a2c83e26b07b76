/* SPDX-License-Identifier: MIT */
/*
 * A disk without current: files for SQLite that live in memory, of which only
 * what was flushed is sure to be there after a cut.
 */
#ifndef TESTS_UNIT_SUBMITTER_SPOOL_POWER_H
#define TESTS_UNIT_SUBMITTER_SPOOL_POWER_H

#include <stdint.h>

/* Becomes SQLite's default; before spool_prepare(). */
void power_prepare(uint64_t seed);
/* The current fails at the n-th write, flush or truncation from now on. */
void power_cut_at(unsigned n);
/* 1 after it failed: from then on nothing works. */
int power_is_off(void);
/* Writes, flushes and truncations since the last cut. */
unsigned power_calls(void);
/*
 * The power is back: the files have all bytes that were flushed, and random
 * sectors of the later ones.
 */
void power_back(void);
/* The power is back at once, and nothing was lost: a passing error. */
void power_resume(void);
/* 1: a disk that says flushed, and is not.  The default is an honest one. */
void power_lies(int lies);
/* Forgets all files. */
void power_forget(void);
uint64_t power_random(uint64_t below);

#endif
