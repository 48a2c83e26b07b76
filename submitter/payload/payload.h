/* SPDX-License-Identifier: MIT */
/*
 * The bodies cc-backend takes, made of a run record: start_job, stop_job and
 * the smaller ones.  Written straight into a buffer, without a tree: a start
 * is made again at each try, for the topology may have come in between.
 */
#ifndef SUBMITTER_PAYLOAD_PAYLOAD_H
#define SUBMITTER_PAYLOAD_PAYLOAD_H

#include <stddef.h>
#include <stdint.h>

#include "common/codec.h"
#include "common/conf.h"
#include "common/job.h"
#include "submitter/payload/backend_version.h"

struct topology;

/* More than the longest record makes: a writer of a body has this max. */
#define PAYLOAD_MAX	(32u * 1024 * 1024)

/* What of the configuration shapes bodies. */
struct payload;

/* Reads clusterNames, cpuMap, metaDataFields, requeuedState, tags.  NULL with a reason. */
struct payload *payload_new(const struct conf *conf, char *reason,
    size_t size);
/* NULL is fine. */
void payload_free(struct payload *p);
/* cc-backend's name of a cluster of Slurm's; borrowed from p or slurm. */
const char *payload_cluster(const struct payload *p, const char *slurm);

/* How one start is to be made. */
struct payload_how {
	enum backend	 backend;
	struct topology	*topology;	/* borrowed; NULL = nothing is known */
	size_t		 script_max;	/* bytes of jobScript, cut with a mark; 0 = left out */
	size_t		 info_max;	/* the same of slurmInfo */
	int		 bare;		/* no metaData at all */
	int		 tags;		/* by rule; not unless the first start had them */
};
/* A backend of that version, all texts whole. */
void payload_how_init(struct payload_how *how, enum backend backend,
    struct topology *topology);

/*
 * The start_job body of a run, appended to w.  0, or -1 with a constant text
 * in *why when no valid body can be made of it (no host, no user) or w is full.
 */
int payload_start(const struct payload *p, const struct payload_how *how,
    const struct job *job, struct writer *w, const char **why);
/* 1 when there are rules for tags at all; and when one fits the run. */
int payload_tags(const struct payload *p);
int payload_tagged(const struct payload *p, const struct job *job);
/*
 * The stop_job body.  A stop before its start is moved to it (one second
 * after it where the backend refuses an equal one), a state the backend does
 * not know is replaced by the nearest it knows.  0, or -1 with *why.
 */
int payload_stop(const struct payload *p, enum backend backend,
    const struct job *job, struct writer *w, const char **why);
/* The state as payload_stop() sends it; NULL for what is no end. */
const char *payload_stop_state(const struct payload *p, enum backend backend,
    enum job_end end);
/* The stop time as payload_stop() sends it: epoch, seconds. */
int64_t payload_stop_time(enum backend backend, const struct job *job);
/* edit_meta's body (from 1.5): one key of metaData. */
void payload_edit_meta(const struct payload *p, const struct run_key *key,
    const char *field, const char *value, struct writer *w);
/* 1 when metaDataFields has message. */
int payload_has_message(const struct payload *p);
/*
 * What of metaData only the end of a run has told, as metaDataFields allow:
 * exit code (of a completed run 0:0 is nothing new), reason, and with info the
 * text of slurmInfo.
 */
typedef void payload_late_fn(const char *field, const char *value, void *arg);
void payload_meta_late(const struct payload *p, const struct job *job,
    int info, payload_late_fn *fn, void *arg);
/* delete_job's body. */
void payload_delete(const struct payload *p, const struct run_key *key,
    struct writer *w);
/* nodestate's body; cluster is Slurm's name. */
void payload_nodes(const struct payload *p, const char *cluster,
    const struct node_state *nodes, size_t n, struct writer *w);

#endif
