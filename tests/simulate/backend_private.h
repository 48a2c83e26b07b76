/* SPDX-License-Identifier: MIT */
/* Declarations for backend.c and network.c only. */
#ifndef TESTS_SIMULATE_BACKEND_PRIVATE_H
#define TESTS_SIMULATE_BACKEND_PRIVATE_H

#include <stdint.h>

#include "tests/simulate/world.h"

int backend_is_away(void);
/* The number of outages: a request does not survive one. */
uint64_t backend_life(void);
/* While it is away: no answer instead of a refused connection. */
int backend_hangs(void);
struct prng *backend_random(void);
void backend_count_request(void);

#endif
