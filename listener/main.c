/* SPDX-License-Identifier: MIT */
/*
 * The listener process.  It opens no file, makes no connection, executes
 * nothing and has no secret.  Its only message to another worker is `event`.
 */
#include "config.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/log.h"
#include "listener/listener.h"

/* Time for open connections to finish when the process stops. */
#define CLOSE_GRACE_MS 500
#define DROPPED_MS     600000 /* after the last one it is no problem */

struct listener {
	struct hook_server *server;
	struct event_queue *events;
	struct access_list access;     /* in force */
	struct access_list new_access; /* checked, not in force */
	struct event *stop_timer;      /* ends the process */
	uint64_t dropped;	       /* events, at the last summary */
	long long dropped_at;	       /* clock_ms(); 0 = never */
};

static void
on_message(const struct hook_message *msg, void *arg)
{
	struct listener *l = arg;

	log_debug("hook: job %llu of %s, kind %u", (unsigned long long)msg->job,
	    msg->cluster, msg->kind);
	event_queue_add(l->events, msg, (int64_t)time(NULL));
}

static void
on_init(struct worker *w)
{
	struct listener *l = w->arg;

	l->events = event_queue_new();
	l->server = server_new(w->base, on_message, l);
	if (l->events == NULL || l->server == NULL)
		fatalx("out of memory");
}

static int
on_conf_check(struct worker *w, const struct conf *next, const uint8_t *secrets,
    size_t len, char *reason, size_t size)
{
	struct listener *l = w->arg;

	access_clear(&l->new_access);
	if (access_init(&l->new_access, conf_str(next, CONF_PREP_ALLOWED_UIDS),
		conf_str(next, CONF_PREP_ALLOWED_HOSTS), reason, size) == -1)
		return -1;
	l->new_access.munge = strcmp(conf_str(next, CONF_PREP_AUTH), "munge") ==
	    0;
	return 0;
}

static void
on_conf_commit(struct worker *w)
{
	struct listener *l = w->arg;
	struct access_list old = l->access;

	l->access = l->new_access;
	l->new_access = (struct access_list) { .n_uids = 0 };
	server_set_access(l->server, &l->access);
	access_clear(&old);
}

static void
on_start(struct worker *w)
{
	struct listener *l = w->arg;

	server_start(l->server);
}

static void
on_supervisor(struct worker *w, const struct msg_header *h, struct reader *r,
    int fd)
{
	struct listener *l = w->arg;

	if (h->type == MSG_LISTEN)
		server_add_socket(l->server, fd);
	else if (fd != -1)
		close(fd);
}

static void
on_peer(struct worker *w, enum role peer, struct channel *c)
{
	struct listener *l = w->arg;

	if (peer == ROLE_COLLECTOR)
		event_queue_set_collector(l->events, c);
}

static void
on_neighbour(struct worker *w, struct channel *c, const struct msg_header *h,
    struct reader *r, int fd)
{
	struct listener *l = w->arg;
	uint64_t id = rd_u64(r);

	if (h->type != MSG_EVENT_ACK || rd_end(r) == -1)
		channel_broken(c, "event-ack");
	else
		event_queue_ack(l->events, id);
}

static void
on_drained(struct worker *w, struct channel *c)
{
	struct listener *l = w->arg;

	event_queue_flush(l->events);
}

static void
send_status(struct worker *w, uint64_t request)
{
	struct listener *l = w->arg;
	struct event_counts e;
	struct server_counts d;

	event_queue_counts(l->events, &e);
	server_counts(l->server, &d);
	worker_status(w, request, "events_received", "%llu",
	    (unsigned long long)e.received);
	worker_status(w, request, "events_waiting", "%zu", e.waiting);
	worker_status(w, request, "events_acked", "%llu",
	    (unsigned long long)e.acked);
	worker_status(w, request, "events_dropped", "%llu",
	    (unsigned long long)e.dropped);
	worker_status(w, request, "connections_refused", "%llu",
	    (unsigned long long)d.refused);
	worker_status(w, request, "messages_without_credential", "%llu",
	    (unsigned long long)d.no_credential);
	worker_status(w, request, "messages_bad", "%llu",
	    (unsigned long long)d.invalid);
}

static void
send_stage(struct worker *w, uint64_t request, const struct event_counts *e,
    const struct server_counts *d)
{
	worker_metric_stage(w, request, STAGE_LAST_SUCCESS, "hooks", NULL, NULL,
	    e->acked_at);
	worker_metric_stage(w, request, STAGE_OLDEST_WAITING, "hooks", NULL,
	    NULL, e->oldest_ms / 1000);
	worker_metric_stage(w, request, STAGE_ERRORS, "hooks", "kind",
	    "refused", (int64_t)d->refused);
	worker_metric_stage(w, request, STAGE_ERRORS, "hooks", "kind",
	    "invalid", (int64_t)d->invalid);
	worker_metric_stage(w, request, STAGE_ERRORS, "hooks", "kind",
	    "dropped", (int64_t)e->dropped);
}

static void
send_metrics(struct worker *w, uint64_t request)
{
	struct listener *l = w->arg;
	struct event_counts e;
	struct server_counts d;

	event_queue_counts(l->events, &e);
	server_counts(l->server, &d);
	worker_metric(w, request, "cc_slurm_adapter_hook_events_total",
	    "counter", "Valid hook messages.", e.received);
	worker_metric(w, request, "cc_slurm_adapter_hook_events_dropped_total",
	    "counter", "Hook messages dropped because the queue was full.",
	    e.dropped);
	worker_metric(w, request, "cc_slurm_adapter_hook_events_waiting",
	    "gauge", "Hook messages that the collector has not acknowledged.",
	    e.waiting);
	worker_metric(w, request, "cc_slurm_adapter_hook_refused_total",
	    "counter", "Connections of hooks that were refused.", d.refused);
	worker_metric(w, request, "cc_slurm_adapter_hook_garbage_total",
	    "counter", "Connections of hooks without a valid message.",
	    d.invalid);
	send_stage(w, request, &e, &d);
	worker_histogram(w, request, "cc_slurm_adapter_hook_stored_seconds",
	    "Time from a hook message until its records are in the spool.", "",
	    &e.stored, HISTOGRAM_COMMAND);
}

/* The queue holds the hooks of a day: the collector does not take them. */
static void
on_summary(struct worker *w, struct summary *s)
{
	struct listener *l = w->arg;
	struct event_counts e;

	event_queue_counts(l->events, &e);
	if (e.dropped != l->dropped)
		l->dropped_at = clock_ms();
	l->dropped = e.dropped;
	if (l->dropped_at != 0 && clock_ms() - l->dropped_at < DROPPED_MS)
		summary_add(s, PROBLEM_HOOKS, 0, 0,
		    "hook messages are dropped, because %zu wait for the "
		    "collector; the poll finds their jobs",
		    e.waiting);
}

static void
on_ctl(struct worker *w, uint64_t request, const struct ctl_request *req)
{
	if (req->verb == CTL_STATUS)
		send_status(w, request);
	else if (req->verb == CTL_METRICS)
		send_metrics(w, request);
	worker_ctl_end(w, request, CTL_OK, "");
}

static void
on_stop_timer(evutil_socket_t fd, short what, void *arg)
{
	struct worker *w = arg;

	worker_exit(w);
}

static void
on_stop(struct worker *w, uint32_t grace_ms)
{
	struct listener *l = w->arg;
	uint32_t ms = grace_ms < CLOSE_GRACE_MS ? grace_ms : CLOSE_GRACE_MS;
	struct timeval wait = { 0, (suseconds_t)ms * 1000 };
	struct server_counts d;

	server_stop(l->server);
	server_counts(l->server, &d);
	l->stop_timer = evtimer_new(w->base, on_stop_timer, w);
	if (d.open == 0 || l->stop_timer == NULL ||
	    evtimer_add(l->stop_timer, &wait) == -1)
		worker_exit(w);
}

static const struct worker_ops ops = {
	.role = ROLE_LISTENER,
	.init = on_init,
	.conf_check = on_conf_check,
	.conf_commit = on_conf_commit,
	.start = on_start,
	.on_supervisor = on_supervisor,
	.on_peer = on_peer,
	.on_neighbour = on_neighbour,
	.on_drained = on_drained,
	.on_ctl = on_ctl,
	.on_stop = on_stop,
	.summary = on_summary,
};

int
main(int argc, char **argv)
{
	static struct listener listener; /* as long as the process */

	worker_main(&ops, &listener, argc, argv);
}
