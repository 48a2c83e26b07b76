/* SPDX-License-Identifier: MIT */
/*
 * The common part of the workers: enter the sandbox, send hello, get the
 * configuration in two steps, answer pings, receive descriptors, stop.
 */
#ifndef COMMON_WORKER_WORKER_H
#define COMMON_WORKER_WORKER_H

#include <event2/event.h>

#include "common/model/conf.h"
#include "common/model/ctl.h"
#include "common/histogram.h"
#include "common/ipc/channel.h"
#include "common/model/summary.h"
#include "common/worker/inflight.h"
#include "common/worker/sandbox.h"

struct worker;

struct worker_ops {
	enum role role;
	/*
	 * Before the sandbox, with the rights of the start (root, when the
	 * supervisor is root): initialises libraries.  May be NULL.
	 */
	void (*prepare)(struct worker *w);
	/* In the sandbox, with an event base, before hello.  May be NULL. */
	void (*init)(struct worker *w);
	/*
	 * A complete new configuration: checks what the parser could not check
	 * and prepares the switch.  secrets/len: the mapped memfd, only for the
	 * submitter and the receiver, unmapped after the call.  0, or -1 with a reason.  Must
	 * not change the behaviour yet.  May be NULL.
	 */
	int (*conf_check)(struct worker *w, const struct conf *next,
	    const uint8_t *secrets, size_t len, char *reason, size_t size);
	/* w->conf is the new configuration now.  May be NULL. */
	void (*conf_commit)(struct worker *w);
	/*
	 * The first configuration is in force.  `ready` is sent after it.  May
	 * be NULL.
	 */
	void (*start)(struct worker *w);
	/*
	 * A message of the supervisor that worker.c does not handle, as listen,
	 * lastrun, file, quarantine, metric; owns fd.
	 */
	void (*on_supervisor)(struct worker *w, const struct msg_header *h,
	    struct reader *r, int fd);
	/*
	 * The new channel to a neighbour, or NULL: the channel is broken.  An
	 * old channel is freed after the call.  NULL in a worker to which the
	 * table of messages allows no `peer`.
	 */
	void (*on_peer)(struct worker *w, enum role peer, struct channel *c);
	/* A message of a neighbour; owns fd.  NULL as on_peer. */
	void (*on_neighbour)(struct worker *w, struct channel *c,
	    const struct msg_header *h, struct reader *r, int fd);
	/* The output to a neighbour is below the low mark.  May be NULL. */
	void (*on_drained)(struct worker *w, struct channel *c);
	/*
	 * A request of the admin tool: answer with worker_ctl_row() and
	 * worker_ctl_end(), now or later.  Borrows req.
	 */
	void (*on_ctl)(struct worker *w, uint64_t request,
	    const struct ctl_request *req);
	/* Finish the work under way in grace_ms, then call worker_exit(). */
	void (*on_stop)(struct worker *w, uint32_t grace_ms);
	/*
	 * Fills in a summary of zeros, about once a second: in a bounded time,
	 * without a question to anyone.  May be NULL.
	 */
	void (*summary)(struct worker *w, struct summary *s);
};

struct worker {
	const struct worker_ops *ops;
	struct event_base *base;
	struct channel *supervisor;
	struct channel *peers[ROLE__COUNT]; /* NULL = none */
	struct conf conf;		    /* in force */
	struct inflight *inflight;	    /* may be NULL */
	char layers[512];		    /* of the sandbox */
	enum sandbox_mode sandbox_mode;
	int serving;
	int stopping;
	void *arg; /* the worker's own state */
};

/* main() of a worker: never returns. The channel is descriptor 3. */
void worker_main(const struct worker_ops *ops, void *arg, int argc, char **argv)
    __attribute__((noreturn));
/* Writes the queued output (at most 1 s) and exits with status 0. */
void worker_exit(struct worker *w) __attribute__((noreturn));
/*
 * Sends a pong, from code that blocks the event loop for seconds: the
 * supervisor kills a worker that does not answer.
 */
void worker_alive(struct worker *w);
void worker_ctl_row(struct worker *w, uint64_t request,
    const struct writer *row);
void worker_ctl_end(struct worker *w, uint64_t request, enum ctl_status status,
    const char *text);
/* Sends one row of CTL_T_STATUS. */
void worker_status(struct worker *w, uint64_t request, const char *key,
    const char *fmt, ...) __attribute__((format(printf, 4, 5)));
/* Sends one row of CTL_T_CHECK. */
void worker_check(struct worker *w, uint64_t request, const char *kind,
    const char *fmt, ...) __attribute__((format(printf, 4, 5)));
/* metric_rows.c: rows of CTL_T_METRIC */

/*
 * Sends one row.  labels: as in OpenMetrics without braces, "a=\"b\"", or "".
 * All rows of one name have the same type and help.
 */
void worker_metric_row(struct worker *w, uint64_t request, const char *name,
    const char *type, const char *help, const char *labels, const char *value);
void worker_metric_value(struct worker *w, uint64_t request, const char *name,
    const char *type, const char *help, const char *labels, int64_t value);
/* Without labels. */
void worker_metric(struct worker *w, uint64_t request, const char *name,
    const char *type, const char *help, unsigned long long value);
/* The rows of a histogram of durations: NAME_bucket, NAME_count, NAME_sum. */
void worker_histogram(struct worker *w, uint64_t request, const char *name,
    const char *help, const char *labels, const struct histogram *h,
    enum histogram_scale scale);

/* The metrics of each stage on the way of a job. */
enum stage_metric {
	STAGE_LAST_SUCCESS,   /* epoch, s */
	STAGE_OLDEST_WAITING, /* s */
	STAGE_ERRORS	      /* number; the label is "kind" */
};
/* One row of a stage; label and its text may be NULL. */
void worker_metric_stage(struct worker *w, uint64_t request,
    enum stage_metric which, const char *stage, const char *label,
    const char *text, int64_t value);

#endif
