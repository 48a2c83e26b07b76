/* SPDX-License-Identifier: MIT */
/*
 * Which thread ids the operating system has on which host, as cc-backend's
 * /api/clusters/ lists it, and the map from Slurm's abstract ids to them.
 */
#ifndef SUBMITTER_PAYLOAD_TOPOLOGY_H
#define SUBMITTER_PAYLOAD_TOPOLOGY_H

#include <stddef.h>
#include <stdint.h>

#include "common/job.h"

struct topology;
struct cpumap;

/* Threads of one host; far above any machine there is. */
#define THREADS_MAX	16384

/* A list of thread ids; the memory is kept from use to use. */
struct thread_ids {
	uint32_t	*ids;	/* owned */
	uint32_t	 n;
	uint32_t	 cap;
};
void thread_ids_clear(struct thread_ids *ids);

/* NULL on memory. */
struct topology *topology_new(void);
/* NULL is fine. */
void topology_free(struct topology *t);
/*
 * Takes the body of an answer to GET /api/clusters/ in place of what was
 * known.  0, or -1 with a reason and the old one in force.  A subcluster
 * whose topology makes no sense is kept without one, and said.
 */
int topology_load(struct topology *t, const char *json, size_t len,
    char *reason, size_t size);
/* Number of clusters known; 0 = nothing was loaded. */
unsigned topology_clusters(const struct topology *t);
/*
 * The OS ids of a host's abstract ids, ascending, each once, into out.
 * cluster is cc-backend's name; t and map may be NULL.  What cannot be
 * mapped passes unchanged, and one log line per kind of host says so.
 * 0, or -1 when there are more than THREADS_MAX or memory is short.
 */
int topology_map(struct topology *t, const struct cpumap *map,
    const char *cluster, const struct job_host *host, struct thread_ids *out);
/* Counts and says once per host the devices that cc-backend does not list. */
void topology_check_accels(struct topology *t, const char *cluster,
    const struct job_host *host);
/* How many devices of how many hosts that was; for status. */
void topology_unlisted(const struct topology *t, unsigned *devices,
    unsigned *hosts);

#endif
