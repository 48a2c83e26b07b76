/* SPDX-License-Identifier: MIT */
/*
 * cpuMap of the configuration: the order of thread ids for hosts whose topology
 * in cc-backend is missing or wrong.  A JSON object from host pattern to order.
 * The pattern is a regular expression; the first match counts.  The order is
 * "block" (Slurm's abstract ids are the OS ids), "interleaved" (the OS ids of a
 * core differ by the number of cores) or a list of OS ids by abstract id.  It has at
 * most CONF_CPU_MAP_MAX patterns, a list at most THREADS_MAX ids.
 */
#ifndef SUBMITTER_PAYLOAD_CPUMAP_H
#define SUBMITTER_PAYLOAD_CPUMAP_H

#include <stddef.h>
#include <stdint.h>

#include "common/model/conf.h"
#include "common/model/job.h"

struct cpumap;

/* NULL with a reason that contains the pattern. */
struct cpumap *cpumap_new(const char *json, char *reason, size_t size);
/* NULL is fine. */
void cpumap_free(struct cpumap *m);
/* The rule of a host, -1 = none; m may be NULL. */
int cpumap_rule(const struct cpumap *m, const char *host);
/* The OS id of an abstract id; -1 when the rule has none. */
int64_t cpumap_id(const struct cpumap *m, int rule, const struct job_host *host,
    uint32_t abstract);

#endif
