/* SPDX-License-Identifier: MIT */
/*
 * Rules of the key tags.  A rule adds its tag to the runs whose partition, QOS,
 * account and reservation match its patterns.
 */
#ifndef SUBMITTER_PAYLOAD_TAGS_H
#define SUBMITTER_PAYLOAD_TAGS_H

#include "common/codec.h"
#include "common/model/job.h"

#define TAGS_MAX 64 /* rules; a new run is matched against each */

struct tags;

/* NULL with a reason that contains the number of the rule. */
struct tags *tags_new(const char *json, char *reason, size_t size);
/* NULL is fine. */
void tags_free(struct tags *t);
/* 1 when there is a rule. */
int tags_any(const struct tags *t);
/*
 * Appends the run's tags, each once: [{"type":...},...]; nothing when there are
 * none.  scope: with the member scope, which cc-backend before 1.4 rejects.
 * Returns the number of tags.  w may be NULL to count only.
 */
unsigned tags_write(const struct tags *t, const struct job *job, int scope,
    struct writer *w);

#endif
