/* SPDX-License-Identifier: MIT */
/*
 * What the three workers do alike: close themselves in, say hello, take their
 * configuration in two steps, answer pings, take descriptors, stop.
 */
#ifndef COMMON_WORKER_WORKER_H
#define COMMON_WORKER_WORKER_H

#include <event2/event.h>

#include "common/conf.h"
#include "common/ctl.h"
#include "common/ipc/channel.h"
#include "common/worker/inflight.h"

struct worker;

struct worker_ops {
	enum role role;
	/*
	 * Before the sandbox closes, with the rights the worker was started
	 * with (root, when the supervisor is): libraries are initialised here.  May be NULL.
	 */
	void	(*prepare)(struct worker *w);
	/* Closed in, event base made, before hello.  May be NULL. */
	void	(*init)(struct worker *w);
	/*
	 * A complete new configuration: check what the parser could not, build
	 * aside.  secrets/len: the mapped memfd, only for the submitter, gone
	 * after the call.  0, or -1 with a reason.  Must not change behaviour yet.
	 */
	int	(*conf_check)(struct worker *w, const struct conf *next,
		    const uint8_t *secrets, size_t len, char *reason,
		    size_t size);
	/* Now w->conf is the new one: swap. */
	void	(*conf_use)(struct worker *w);
	/* First configuration in force: begin to serve.  `ready` follows its return. */
	void	(*start)(struct worker *w);
	/* A frame of the supervisor's that is not handled here (listen, lastrun, file, skip); owns fd. */
	void	(*on_supervisor)(struct worker *w, const struct msg_header *h,
		    struct reader *r, int fd);
	/* A neighbour's new channel (the old one, if any, is freed after the call), or NULL: it is gone. */
	void	(*on_peer)(struct worker *w, enum role peer, struct channel *c);
	/* A frame from a neighbour; owns fd. */
	void	(*on_neighbour)(struct worker *w, struct channel *c,
		    const struct msg_header *h, struct reader *r, int fd);
	/* May send more to that neighbour; may be NULL. */
	void	(*on_drained)(struct worker *w, struct channel *c);
	/* A verb: answer with worker_ctl_row() and worker_ctl_end(), now or later.
	 * req is the frame's copy. */
	void	(*on_ctl)(struct worker *w, uint64_t request,
		    const struct ctl_request *req);
	/* Finish what is under way within grace_ms, then call worker_exit(). */
	void	(*on_stop)(struct worker *w, uint32_t grace_ms);
};

struct worker {
	const struct worker_ops *ops;
	struct event_base	*base;
	struct channel		*supervisor;
	struct channel		*peers[ROLE__COUNT];	/* NULL = not there */
	struct conf		 conf;		/* in force */
	struct inflight		*inflight;		/* may be NULL */
	char			 layers[512];	/* of the sandbox */
	int			 serving;
	int			 stopping;
	void			*arg;		/* the worker's own state */
};

/* main() of a worker: never returns. The channel is descriptor 3. */
void worker_main(const struct worker_ops *ops, void *arg, int argc,
    char **argv) __attribute__((noreturn));
/* Leaves at once with status 0 after the output is flushed (bounded). */
void worker_exit(struct worker *w) __attribute__((noreturn));
/* From what keeps the loop waiting for seconds: the supervisor shall not think us deaf. */
void worker_alive(struct worker *w);
void worker_ctl_row(struct worker *w, uint64_t request, const struct writer *row);
void worker_ctl_end(struct worker *w, uint64_t request, enum ctl_status status,
    const char *text);
/* Short for one row of CTL_T_STATUS of this worker. */
void worker_status(struct worker *w, uint64_t request, const char *key,
    const char *fmt, ...) __attribute__((format(printf, 4, 5)));
/* Short for one row of CTL_T_METRIC without labels. */
void worker_metric(struct worker *w, uint64_t request, const char *name,
    const char *type, const char *help, unsigned long long value);

#endif
