/* SPDX-License-Identifier: MIT */
/* Declarations for backend.c and network.c only. */
#ifndef TESTS_SIMULATE_BACKEND_PRIVATE_H
#define TESTS_SIMULATE_BACKEND_PRIVATE_H

#include "tests/simulate/world.h"

int backend_is_away(void);
/* While it is away: no answer instead of a refused connection. */
int backend_hangs(void);
struct prng *backend_random(void);
void backend_count_request(void);

#endif
