/* SPDX-License-Identifier: MIT */
/*
 * The spool at the end of a seed: nothing is left to do, and each run that
 * cc-backend has refused is kept as rejected, with the reason.
 */
#ifndef TESTS_SIMULATE_BOOK_H
#define TESTS_SIMULATE_BOOK_H

/* After check_end().  Ends the submitter. */
void book_check(void);

#endif
