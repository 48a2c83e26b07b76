/* SPDX-License-Identifier: MIT */
/*
 * cc-backend and the network to it: requests are lost, late or repeated,
 * cc-backend is away, loses its cache or its last hours.
 */
#ifndef TESTS_SIMULATE_BACKEND_H
#define TESTS_SIMULATE_BACKEND_H

#include <stddef.h>
#include <stdint.h>

#include "tests/simulate/cc_box.h"

void backend_begin(enum cc_version version, int64_t commit_ms);
enum cc_version backend_version(void);
/* The version at the beginning. */
enum cc_version backend_oldest(void);

/* The end of a request; code 0: there is no answer.  Borrows all. */
typedef void backend_fn(void *arg, int code, const char *body, size_t n,
    const char *error, unsigned sends);
/*
 * From the submitter: sends a request; fn is called in the submitter, unless it
 * ends before.  Copies all.
 */
void backend_request(const char *method, const char *path, const char *body,
    size_t n, int64_t timeout_ms, backend_fn *fn, void *arg);
/* Compares cc-backend's rows with the truth. */
void backend_check_end(void);
/* For the figures of the run. */
struct backend_numbers {
	uint64_t requests, outages, restored;
};
const struct backend_numbers *backend_numbers(void);

#endif
