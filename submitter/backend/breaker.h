/* SPDX-License-Identifier: MIT */
/*
 * The circuit breaker for cc-backend: decides whether requests may be sent, and
 * stores the version of cc-backend.  While cc-backend fails, only a probe
 * without effect is sent.
 */
#ifndef SUBMITTER_BACKEND_BREAKER_H
#define SUBMITTER_BACKEND_BREAKER_H

#include <stdint.h>

#include "submitter/backend/response.h"
#include "submitter/payload/payload.h"

struct breaker;
struct submitter;
struct summary;

/*
 * The body of a start that is not valid.  cc-backend before 1.4 does not have
 * the field scope, before 1.5 the field shared; its answer names the first
 * unknown field.
 */
extern const char breaker_probe[];
/* Lives as long as the process; fatalx() when out of memory. */
struct breaker *breaker_new(struct submitter *s);
/* The configuration is new: probes cc-backend, or stops all requests. */
void breaker_conf(struct breaker *g);
/* Requests that may be under way now; 0 = none. */
unsigned breaker_width(const struct breaker *g);
/* 1 when requests may be sent. */
int breaker_allows(const struct breaker *g);
/* 1 when cc-backend answers, so that its jobs can be listed. */
int breaker_reaches(const struct breaker *g);
/* 1 when cc-backend answers and the breaker is not half open. */
int breaker_is_up(const struct breaker *g);
/* Changes the state by the result of a request; tries: those of its row. */
void breaker_result(struct breaker *g, const struct result *v, unsigned tries);
/*
 * No request for a row is under way, and all that were due are made: the end of
 * an outage does not wait for the only row, which is due later, or for one that does
 * not exist any more.
 */
void breaker_no_request(struct breaker *g);
/* As breaker_result() for a request that was made for no row. */
void breaker_request_result(struct breaker *g, const struct result *v);
/*
 * As breaker_result() for edit_meta: a proxy may never answer a PATCH, so an
 * update without an answer is followed by a probe.
 */
void breaker_meta_result(struct breaker *g, const struct result *v);
/* Notes whether a list of jobs was complete, for the summary. */
void breaker_listed(struct breaker *g, const struct result *v);
/* The state and, during an outage, its duration and reason; static memory. */
const char *breaker_problem(struct breaker *g);
void breaker_status(struct breaker *g, uint64_t request);
/*
 * Adds an outage, failed lists of jobs, a token that expires, and a wrong
 * ccBackendVersion.
 */
void breaker_summary(const struct breaker *g, struct summary *to);
/* The rows of the stage cc-backend, without the oldest item. */
void breaker_metrics(struct breaker *g, uint64_t request);

/* "1.4", "1.5 or newer": also for both forms of 1.4. */
const char *breaker_version_text(enum backend version);
/* cc-backend's version, or the newest one while it is not known. */
enum backend breaker_version(const struct breaker *g);
/* 1 when the version was found or configured. */
int breaker_knows_version(const struct breaker *g);
/*
 * Sets the version that an answer to a stop showed, unless one is configured.
 */
void breaker_set_version(struct breaker *g, enum backend version);
/* Sets the configured version; pinned = 0: the probe finds the version. */
void breaker_pin_version(struct breaker *g, int pinned, enum backend version);

/* topology_cache.c */

/* Reads cc-backend's clusters and stores them for the next process. 0 or -1. */
int topology_cache_store(struct submitter *s, const struct http_answer *a);
/* Loads the clusters that the previous process stored. */
void topology_cache_load(struct submitter *s);

#endif
