/* SPDX-License-Identifier: MIT */
/*
 * cpuMap of the configuration: how a site tells the order of thread ids
 * where cc-backend's topology does not, or is wrong.  An object from host
 * pattern (a regular expression, the first that matches wins) to "block"
 * (Slurm's ids are the system's), "interleaved" (siblings lie the number of
 * cores apart) or a list of OS ids by abstract id.
 */
#ifndef SUBMITTER_PAYLOAD_CPUMAP_H
#define SUBMITTER_PAYLOAD_CPUMAP_H

#include <stddef.h>
#include <stdint.h>

#include "common/job.h"

#define CPUMAP_RULES_MAX	256	/* patterns: each is tried for each host */

struct cpumap;

/* NULL with a reason that names the pattern. */
struct cpumap *cpumap_new(const char *json, char *reason, size_t size);
/* NULL is fine. */
void cpumap_free(struct cpumap *m);
/* The rule of a host, -1 = none; map may be NULL. */
int cpumap_rule(const struct cpumap *m, const char *host);
/* The OS id of an abstract id by that rule; -1 when the rule has none for it. */
int64_t cpumap_id(const struct cpumap *m, int rule,
    const struct job_host *host, uint32_t abstract);

#endif
