/* SPDX-License-Identifier: MIT */
/*
 * Tags by rule: `tags` of the configuration.  A rule gives its tag to the runs
 * whose partition, QOS, account and reservation match its patterns.
 */
#ifndef SUBMITTER_PAYLOAD_TAGS_H
#define SUBMITTER_PAYLOAD_TAGS_H

#include "common/codec.h"
#include "common/job.h"

#define TAGS_MAX	64	/* rules: each is tried on every new run */

struct tags;

/* NULL with a reason that names the rule. */
struct tags *tags_new(const char *json, char *reason, size_t size);
/* NULL is fine. */
void tags_free(struct tags *t);
/* 1 when there is any rule. */
int tags_any(const struct tags *t);
/*
 * Appends [{"type":...},...] of the run's tags, each once; scope: with it
 * (cc-backend before 1.4 refuses it).  How many; 0 = nothing was written.
 * w NULL: counted only.
 */
unsigned tags_write(const struct tags *t, const struct job *job, int scope,
    struct writer *w);

#endif
