/* SPDX-License-Identifier: MIT */
/*
 * Request bodies for cc-backend, made of a run record: start_job, stop_job and
 * smaller ones.  Each attempt makes the body again, because cc-backend's
 * topology or version may have changed.
 */
#ifndef SUBMITTER_PAYLOAD_PAYLOAD_H
#define SUBMITTER_PAYLOAD_PAYLOAD_H

#include <stddef.h>
#include <stdint.h>

#include "common/codec.h"
#include "common/model/conf.h"
#include "common/model/job.h"
#include "submitter/payload/backend_version.h"

struct topology;

/* Bytes; the maximum of a writer for a body.  Longer than any record. */
#define PAYLOAD_MAX (32u * 1024 * 1024)

/* The configuration of bodies. */
struct payload;

/* NULL with a reason when the configuration is not valid. */
struct payload *payload_new(const struct conf *conf, char *reason, size_t size);
/* NULL is fine. */
void payload_free(struct payload *p);
/* cc-backend's name of Slurm's cluster; borrowed from p or slurm. */
const char *payload_cluster(const struct payload *p, const char *slurm);

/* How one body is made. */
struct payload_how {
	enum backend backend;
	struct topology *topology; /* borrowed; NULL = unknown */
	size_t script_max;	   /* bytes of jobScript; 0 = omit it */
	size_t info_max;	   /* bytes of slurmInfo; 0 = omit it */
	int bare;		   /* omit metaData */
	int tags; /* add tags; a repeated start only if the first had them */
};
/* All texts complete, without tags. */
void payload_how_init(struct payload_how *how, enum backend backend,
    struct topology *topology);

/*
 * Appends the start_job body of a run to w.  Returns 0, or -1 with a constant
 * text in *why when the record is incomplete (no host, no user) or w is full.
 */
int payload_start(const struct payload *p, const struct payload_how *how,
    const struct job *job, struct writer *w, const char **why);
/* 1 when tags are configured; 1 when the run gets one. */
int payload_tags(const struct payload *p);
int payload_tagged(const struct payload *p, const struct job *job);
/*
 * Appends the stop_job body.  A stop time before the start becomes the start
 * time (plus one second before 1.4.3); a state that the backend does not know
 * becomes the nearest known state.  Returns 0, or -1 with *why.
 */
int payload_stop(const struct payload *p, enum backend backend,
    const struct job *job, struct writer *w, const char **why);
/* The state that payload_stop() sends; NULL when the run has no end. */
const char *payload_stop_state(const struct payload *p, enum backend backend,
    enum job_end end);
/* The stop time that payload_stop() sends: epoch, seconds. */
int64_t payload_stop_time(enum backend backend, const struct job *job);
/* The edit_meta body (1.5 and later): one key of metaData. */
void payload_edit_meta(const struct payload *p, const struct run_key *key,
    const char *field, const char *value, struct writer *w);
/*
 * Appends an edit_meta body that changes nothing: a text that the start
 * contains and that no update changes.  0, or -1 when metaDataFields contains
 * no such text of this run.
 */
int payload_edit_meta_same(const struct payload *p, const struct job *job,
    struct writer *w);
/* 1 when metaDataFields contains message. */
int payload_has_message(const struct payload *p);
/* The key of the job script; NULL when metaDataFields does not contain it. */
const char *payload_script_key(const struct payload *p);
/*
 * Calls fn for each text of metaData that is known only at the end of a run, if
 * metaDataFields contains it: exit code (not 0:0 of a completed run), reason,
 * and slurmInfo with the end (ccUpdateSlurmInfo).
 */
typedef void payload_late_fn(const char *field, const char *value, void *arg);
void payload_meta_late(const struct payload *p, const struct job *job,
    payload_late_fn *fn, void *arg);
/* The delete_job body. */
void payload_delete(const struct payload *p, const struct run_key *key,
    struct writer *w);
/* The nodestate body; cluster is Slurm's name. */
void payload_nodes(const struct payload *p, const char *cluster,
    const struct node_state *nodes, size_t n, struct writer *w);

#endif
