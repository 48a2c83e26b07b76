/* SPDX-License-Identifier: MIT */
/* Other clients of cc-backend: they stop runs that are not theirs. */
#ifndef TESTS_SIMULATE_OTHERS_H
#define TESTS_SIMULATE_OTHERS_H

void others_begin(void);

#endif
