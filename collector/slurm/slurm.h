/* SPDX-License-Identifier: MIT */
/*
 * Slurm of one cluster: its commands, what differs by version and site, the
 * shapes of its nodes, and our permission to see all jobs.
 */
#ifndef COLLECTOR_SLURM_SLURM_H
#define COLLECTOR_SLURM_SLURM_H

#include <stddef.h>

#include "collector/base/cluster.h"
#include "collector/parse/parse.h"
#include "collector/slurm/runner_link.h"

/* slurm_info.c */

/* Takes the user and the state of the commands from the runner. */
void slurm_runner_info(struct slurm *slurm, const struct runner_info *info);
/* One line of `scontrol show config`. */
void slurm_config_line(struct slurm *slurm, struct span line);
/* Does the user of the commands see all jobs without being an operator? */
int slurm_permission_inherent(const struct slurm *slurm);
/* Does PrivateData of slurm.conf hide what a record needs: jobs, or nodes? */
int slurm_is_private(const struct slurm *slurm);
/* Was the permission proved since the poll began, or is it not needed? */
int permission_known(const struct cluster *c);

/* permission.c: our permission to see all jobs */

/*
 * Queries the permission; then() gets 1 when it was proved, maybe before this
 * returns.
 */
void permission_check(struct cluster *c, void (*then)(void *arg, int proved),
    void *arg);
const char *permission_name(enum permission permission);
/* Writes which jobs are not reported, and the command that grants the permission. */
void permission_missing(const struct cluster *c, char *buf, size_t size);

/* node_shapes.c: shapes of nodes */

struct hosts *hosts_new(void);
size_t hosts_count(const struct hosts *h);
/* NULL when it is not known. */
const struct node_shape *hosts_shape(const struct hosts *h, const char *name);
/* Fills in the shapes of a run's hosts; returns how many are unknown. */
unsigned hosts_apply(const struct hosts *h, struct job_snapshot *s);
/* Logs that an answer has the node twice, with other values. */
void nodes_doubt(struct cluster *c, const char *name);
/* A node with GPUs; gres: Gres= of Slurm, "" if it was not kept. */
typedef void hosts_gpu_fn(const char *name, unsigned gpus, const char *gres,
    void *arg);
#define GRES_TEXT_MAX 256 /* bytes of a Gres= that are kept */
/* Calls fn for each node with GPUs, in no order. */
void hosts_each_gpu(const struct hosts *h, hosts_gpu_fn *fn, void *arg);
/*
 * Reads the shapes again; then() is called at the end.  failed: the shapes that
 * are known are those of an earlier answer, and slurmctld did not deny this one.
 */
void hosts_query(struct cluster *c, void (*then)(void *arg, int failed),
    void *arg);
/*
 * Is the line the whole answer of `scontrol show node` when slurmctld shows no
 * node?  Every node may be hidden (a cloud node that is powered down), or none
 * may have registered (dynamic nodes).  An answer without any line is not valid.
 */
int nodes_none(struct span line);

#endif
