/* SPDX-License-Identifier: MIT */
/*
 * The OS thread ids of each host, as cc-backend's /api/clusters/ lists them,
 * and the map from Slurm's abstract ids to OS ids.
 */
#ifndef SUBMITTER_PAYLOAD_TOPOLOGY_H
#define SUBMITTER_PAYLOAD_TOPOLOGY_H

#include <stddef.h>
#include <stdint.h>

#include "common/model/job.h"

struct topology;
struct cpumap;

/* A list of thread ids; its memory is used again. */
struct thread_ids {
	uint32_t *ids; /* owned */
	uint32_t n;
	size_t cap;
};
void thread_ids_clear(struct thread_ids *ids);

/* NULL when memory is short. */
struct topology *topology_new(void);
/* NULL is fine. */
void topology_free(struct topology *t);
/*
 * Reads the answer to GET /api/clusters/ and replaces the old one.  Returns 0,
 * or -1 with a reason and the old one unchanged.  A subcluster whose topology
 * is not valid has no table; a log line says so.
 */
int topology_load(struct topology *t, const char *json, size_t len,
    char *reason, size_t size);
/* Number of clusters; 0 = no answer was read. */
unsigned topology_clusters(const struct topology *t);
/* 1 when the last answer has this cluster (cc-backend's name). */
int topology_has(const struct topology *t, const char *cluster);
/* Writes the names of the clusters, "alpha, beta"; "..." replaces what is too
 * long, "none" means that there is none. */
void topology_names(const struct topology *t, char *buf, size_t size);
/* A host with accelerators; ids has n texts.  Borrowed for the call. */
typedef void topology_accel_fn(const char *cluster, const char *nodes,
    char *const *ids, size_t n, void *arg);
/* Calls fn for each subcluster with accelerators; nodes is its node list. */
void topology_each_accel(const struct topology *t, topology_accel_fn *fn,
    void *arg);
/*
 * Writes the OS ids of a host's abstract ids to out, ascending, each once.
 * cluster is cc-backend's name; t and map may be NULL.  If one id cannot be mapped,
 * all ids of the host stay unchanged, and a log line says so: one for each host, or
 * for each kind of host without a table.  Returns 0, or -1 when there are more than
 * THREADS_MAX or memory is short.
 */
int topology_map(struct topology *t, const struct cpumap *map,
    const char *cluster, const struct job_host *host, struct thread_ids *out);
/* Counts the devices that cc-backend does not list; logs once per host. */
void topology_check_accels(struct topology *t, const char *cluster,
    const struct job_host *host);
/* The counts of topology_check_accels(). */
void topology_unlisted(const struct topology *t, unsigned *devices,
    unsigned *hosts);

#endif
