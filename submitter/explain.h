/* SPDX-License-Identifier: MIT */
/* The request `explain`: the life of a job, from the history and the spool. */
#ifndef SUBMITTER_EXPLAIN_H
#define SUBMITTER_EXPLAIN_H

#include <stddef.h>
#include <stdint.h>

#include "common/model/ctl.h"
#include "submitter/history/events.h"
#include "submitter/spool/spool.h"

struct submitter;

/* Answers CTL_EXPLAIN: rows of CTL_T_EXPLAIN. A job without a row is unknown. */
void explain_begin(struct submitter *s, uint64_t request,
    const struct ctl_request *req);
/* Writes one line about the last run of the job, for another host. */
void explain_line(struct submitter *s, const char *cluster, uint64_t job,
    char *text, size_t size);
/* Answers CTL_HISTORY: rows of CTL_T_HISTORY. */
void counts_begin(struct submitter *s, uint64_t request);

/* explain_text.c: constant words, and sentences for admins */

/* The word for the event: "start-sent". */
const char *event_word(enum history_event event);
/* The sentence for the event of a run that began at start, epoch. */
void event_text(const struct history_item *item, int64_t start, char *buf,
    size_t size);
/* Writes a sentence about what waits for this destination, or "". */
/* whole: NATS gets the whole record (deliver "stream"). */
void state_sentence(const struct spool_run *run, enum dest dest, int whole,
    int64_t now, char *buf, size_t size);
/* The command that an admin can use, or NULL when nothing has to be done. */
const char *state_remedy(const struct spool_run *run, enum dest dest);

#endif
