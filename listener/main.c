/* SPDX-License-Identifier: MIT */
/*
 * The listener: what the supervisor and the collector tell it, and the one
 * thing that it says.  It opens no file, connects nowhere, executes nothing,
 * and holds no secret.
 */
#include "config.h"

#include <time.h>
#include <unistd.h>

#include "common/log.h"
#include "listener/listener.h"

/* On the way out the open connections get this long to finish. */
#define LAST_WORDS_MS	500

struct listener {
	struct door	*door;
	struct events	*events;
	struct allow	 allow;		/* in force */
	struct allow	 next;		/* checked, not yet in force */
	struct event	*leave;		/* the stop's deadline */
};

static void
heard(const struct prep *prep, void *arg)
{
	struct listener *l = arg;

	log_debug("hook: job %llu of %s, kind %u",
	    (unsigned long long)prep->job, prep->cluster, prep->kind);
	events_add(l->events, prep, (int64_t)time(NULL));
}

static void
on_init(struct worker *w)
{
	struct listener *l = w->arg;

	l->events = events_new();
	l->door = door_new(w->base, heard, l);
	if (l->events == NULL || l->door == NULL)
		fatalx("no memory");
}

static int
on_conf_check(struct worker *w, const struct conf *next,
    const uint8_t *secrets, size_t len, char *reason, size_t size)
{
	struct listener *l = w->arg;

	allow_clear(&l->next);
	return allow_init(&l->next, conf_str(next, CONF_PREP_ALLOWED_UIDS),
	    conf_str(next, CONF_PREP_ALLOWED_HOSTS), reason, size);
}

static void
on_conf_use(struct worker *w)
{
	struct listener *l = w->arg;
	struct allow old = l->allow;

	l->allow = l->next;
	l->next = (struct allow){ .n_uids = 0 };
	door_allow(l->door, &l->allow);
	allow_clear(&old);
}

static void
on_start(struct worker *w)
{
	struct listener *l = w->arg;

	door_open(l->door);
}

static void
on_supervisor(struct worker *w, const struct msg_header *h, struct reader *r,
    int fd)
{
	struct listener *l = w->arg;

	if (h->type == MSG_LISTEN)
		door_listen(l->door, fd);
	else if (fd != -1)
		close(fd);
}

static void
on_peer(struct worker *w, enum role peer, struct channel *c)
{
	struct listener *l = w->arg;

	if (peer == ROLE_COLLECTOR)
		events_peer(l->events, c);
}

static void
on_neighbour(struct worker *w, struct channel *c, const struct msg_header *h,
    struct reader *r, int fd)
{
	struct listener *l = w->arg;
	uint64_t id = rd_u64(r);

	/* The table lets nothing else through. */
	if (h->type != MSG_EVENT_ACK || rd_end(r) == -1)
		channel_broken(c, "taken");
	else
		events_taken(l->events, id);
}

static void
on_drained(struct worker *w, struct channel *c)
{
	struct listener *l = w->arg;

	events_flush(l->events);
}

static void
say_status(struct worker *w, uint64_t request)
{
	struct listener *l = w->arg;
	struct events_count e;
	struct door_count d;

	events_count(l->events, &e);
	door_count(l->door, &d);
	worker_status(w, request, "events_received", "%llu",
	    (unsigned long long)e.received);
	worker_status(w, request, "events_waiting", "%zu", e.waiting);
	worker_status(w, request, "events_taken", "%llu",
	    (unsigned long long)e.taken);
	worker_status(w, request, "events_dropped", "%llu",
	    (unsigned long long)e.dropped);
	worker_status(w, request, "connections_refused", "%llu",
	    (unsigned long long)d.refused);
	worker_status(w, request, "messages_bad", "%llu",
	    (unsigned long long)d.garbage);
}

static void
say_metrics(struct worker *w, uint64_t request)
{
	struct listener *l = w->arg;
	struct events_count e;
	struct door_count d;

	events_count(l->events, &e);
	door_count(l->door, &d);
	worker_metric(w, request, "cc_slurm_adapter_hook_events", "counter",
	    "Hook messages understood.", e.received);
	worker_metric(w, request, "cc_slurm_adapter_hook_events_dropped",
	    "counter", "Hook messages dropped for lack of room.", e.dropped);
	worker_metric(w, request, "cc_slurm_adapter_hook_events_waiting", "gauge",
	    "Hook messages that the collector has not taken.", e.waiting);
	worker_metric(w, request, "cc_slurm_adapter_hook_refused", "counter",
	    "Connections refused at the hooks' door.", d.refused);
	worker_metric(w, request, "cc_slurm_adapter_hook_garbage", "counter",
	    "Connections that brought no message.", d.garbage);
}

static void
on_ctl(struct worker *w, uint64_t request, const struct ctl_request *req)
{
	if (req->verb == CTL_STATUS)
		say_status(w, request);
	else if (req->verb == CTL_METRICS)
		say_metrics(w, request);
	worker_ctl_end(w, request, CTL_OK, "");
}

static void
on_leave(evutil_socket_t fd, short what, void *arg)
{
	struct worker *w = arg;

	worker_exit(w);
}

static void
on_stop(struct worker *w, uint32_t grace_ms)
{
	struct listener *l = w->arg;
	uint32_t ms = grace_ms < LAST_WORDS_MS ? grace_ms : LAST_WORDS_MS;
	struct timeval wait = { 0, (suseconds_t)ms * 1000 };
	struct door_count d;

	door_shut(l->door);
	door_count(l->door, &d);
	l->leave = evtimer_new(w->base, on_leave, w);
	if (d.open == 0 || l->leave == NULL || evtimer_add(l->leave, &wait) == -1)
		worker_exit(w);
}

static const struct worker_ops ops = {
	.role = ROLE_LISTENER,
	.init = on_init,
	.conf_check = on_conf_check,
	.conf_use = on_conf_use,
	.start = on_start,
	.on_supervisor = on_supervisor,
	.on_peer = on_peer,
	.on_neighbour = on_neighbour,
	.on_drained = on_drained,
	.on_ctl = on_ctl,
	.on_stop = on_stop,
};

int
main(int argc, char **argv)
{
	static struct listener listener;	/* as long as the process */

	worker_main(&ops, &listener, argc, argv);
}
