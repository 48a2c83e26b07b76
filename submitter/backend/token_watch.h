/* SPDX-License-Identifier: MIT */
/*
 * Logs that the token of cc-backend expires: a warning 14 and 3 days before,
 * an error afterwards, each once.
 */
#ifndef SUBMITTER_BACKEND_TOKEN_WATCH_H
#define SUBMITTER_BACKEND_TOKEN_WATCH_H

#include <stdint.h>

/* The end of a problem of `status`. */
#define TOKEN_REMEDY "store a new token and run `cc-slurm-adapterctl reload`"

struct submitter;
struct summary;

/* The configuration is new: its token is another one. */
void token_watch_conf(struct submitter *s);
/*
 * Call it at least once a minute; now is an epoch, s.  A clock that was set
 * back makes an earlier stage apply again, and the later one is logged again.
 */
void token_watch_check(struct submitter *s, int64_t now);
/* Adds a token that expires soon or has expired.  now: epoch. */
void token_watch_summary(struct submitter *s, struct summary *to, int64_t now);
/* The row "token" of `status`, and the metrics. */
void token_watch_status(struct submitter *s, uint64_t request, int64_t now);
void token_watch_metrics(struct submitter *s, uint64_t request, int64_t now);

#endif
