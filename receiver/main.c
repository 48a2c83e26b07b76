/* SPDX-License-Identifier: MIT */
/*
 * The receiver: at the centre of a fan-in, only this process connects to NATS.
 * The receiver replaces listener, collector and runner: it reads the runs
 * that other hosts have published and sends them to the submitter.  The
 * receiver has no token of cc-backend, executes nothing and opens no file.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"
#include "common/nats/nats_conf.h"
#include "common/net/resolver.h"
#include "receiver/check.h"
#include "receiver/orders.h"
#include "receiver/receiver.h"
#include "receiver/release.h"
#include "receiver/report.h"

/*
 * Limits of the streams of states of nodes.  A state describes the present; a
 * cluster sends all of them every nodeStateRefresh, 10 minutes by default.
 */
#define STATES_MAX_AGE	 3600 /* s */
#define STATES_MAX_BYTES (16 * 1024 * 1024)

/* --- calls from lower boxes --- */

/* With activeOnly, only the active centre reads the streams and asks clusters. */
static void
streams_update(struct receiver *v)
{
	int reads = link_is_up(v->link) &&
	    (!v->active_only || bucket_until(v->lease) != 0);

	if (reads == v->reads)
		return;
	v->reads = reads;
	/*
	 * What the other centre did not read either has not expired if it was
	 * active in this time.
	 */
	if (reads &&
	    bucket_elsewhere(v->lease,
		conf_int(&v->w->conf, CONF_NATS_STREAM_MAX_AGE)))
		streams_read_elsewhere(v->streams);
	streams_link(v->streams, reads);
	streams_link(v->states, reads);
	asks_link(v->asks, reads);
}

/* The submitter may send requests until then. */
static void
active_until_send(struct receiver *v)
{
	struct writer w;

	if (v->submitter == NULL || !v->active_only)
		return;
	wr_init(&w, 32);
	wr_i64(&w, bucket_until(v->lease));
	wr_u64(&w, bucket_id(v->lease));
	channel_send(v->submitter, MSG_ACTIVE_UNTIL, 0, &w, -1);
	wr_clear(&w);
}

static void
on_lease_until(int64_t until, void *arg)
{
	struct receiver *v = arg;
	int active = bucket_until(v->lease) != 0;

	(void)until;
	/* A reload without activeOnly ends the lease, and the centre sends. */
	if (v->active_only && active != v->active)
		log_notice("%s",
		    active ? "this centre is active: it has the lease" :
			     "this centre is not active: it has no lease");
	v->active = active;
	active_until_send(v);
	streams_update(v);
}

/* Each list takes the messages of its own streams. */
static void
feed(struct receiver *v, const struct link_message *m)
{
	streams_receive(v->streams, m);
	streams_receive(v->states, m);
}

static void
on_link_message(const struct link_message *m, void *arg)
{
	struct receiver *v = arg;

	if (check_is_on())
		check_message(m);
	else if (!bucket_message(v->lease, m) && !asks_receive(v->asks, m))
		feed(v, m);
}

static void
on_link_turn(void *arg)
{
	struct receiver *v = arg;

	if (check_is_on())
		return;
	streams_turn(v->streams);
	streams_turn(v->states);
}

static void
on_link_changed(int up, void *arg)
{
	struct receiver *v = arg;

	if (check_is_on()) {
		check_link(up);
		return;
	}
	bucket_link(v->lease, up);
	streams_update(v);
}

static const struct link_ops link_ops = {
	.message = on_link_message,
	.turn = on_link_turn,
	.changed = on_link_changed,
};

static enum stream_take
on_stream_message(const struct stream_message *m, uint64_t *frame, void *arg)
{
	struct receiver *v = arg;

	return intake_message(v->intake, v->w->inflight, m, frame);
}

static void
on_stream_position(const char *cluster, uint64_t identity, uint64_t sequence,
    void *arg)
{
	struct receiver *v = arg;

	intake_position(v->intake, cluster, identity, sequence);
}

static const struct streams_ops streams_ops = {
	.message = on_stream_message,
	.position = on_stream_position,
};

static int
on_is_current(const char *cluster, void *arg)
{
	struct receiver *v = arg;

	return streams_is_current(v->streams, cluster);
}

static void
on_not_found(const char *cluster, const struct ask_run *runs, unsigned n,
    void *arg)
{
	struct receiver *v = arg;

	intake_not_found(v->intake, cluster, runs, n);
}

static void
on_ordered(const struct asks_order *order, int ok, const char *text, void *arg)
{
	orders_answer(arg, order, ok, text);
}

static const struct asks_ops asks_ops = {
	.is_current = on_is_current,
	.not_found = on_not_found,
	.ordered = on_ordered,
};

/* Waits while the submitter does not read. */
static enum stream_take
on_states_message(const struct stream_message *m, uint64_t *frame, void *arg)
{
	struct receiver *v = arg;
	enum stream_take take = intake_states(v->intake, m);

	if (v->submitter != NULL && channel_full(v->submitter))
		streams_pause(v->states, 1);
	return take;
}

static const struct streams_ops states_ops = {
	.message = on_states_message,
};

/* --- the worker --- */

static void
on_prepare(struct worker *w)
{
	resolver_prepare();
	nats_prepare();
}

static void
on_init(struct worker *w)
{
	struct receiver *v = w->arg;

	v->w = w;
	v->resolver = resolver_new(w->base);
	if (v->resolver != NULL)
		v->link = link_new(w->base, v->resolver, &link_ops, v);
	if (v->link == NULL)
		fatalx("out of memory");
	v->streams = streams_new(w->base, v->link, STREAM_OF_RUNS, &streams_ops,
	    v);
	v->states = streams_new(w->base, v->link, STREAM_OF_STATES, &states_ops,
	    v);
	v->asks = asks_new(w->base, v->link, &asks_ops, v);
	v->lease = bucket_new(w->base, v->link, on_lease_until, v);
	v->intake = intake_new();
}

static int
on_conf_check(struct worker *w, const struct conf *next, const uint8_t *secrets,
    size_t len, char *reason, size_t size)
{
	struct receiver *v = w->arg;

	nats_conf_free(v->checked);
	free(v->checked_clusters);
	v->checked_clusters = strdup(conf_str(next, CONF_CLUSTERS));
	if (v->checked_clusters == NULL)
		fatalx("out of memory");
	v->checked_active_only = conf_bool(next, CONF_ACTIVE_ONLY);
	v->checked = nats_conf_new(next, secrets, len, reason, size);
	return v->checked != NULL ? 0 : -1;
}

static void
on_conf_commit(struct worker *w)
{
	struct receiver *v = w->arg;
	struct api_limits limits = { (unsigned)conf_int(&w->conf,
					 CONF_NATS_STREAM_REPLICAS),
		conf_int(&w->conf, CONF_NATS_STREAM_MAX_AGE),
		conf_int(&w->conf, CONF_NATS_STREAM_MAX_BYTES), 0 };
	struct api_limits states = { limits.replicas, STATES_MAX_AGE,
		STATES_MAX_BYTES, 1 };

	link_use(v->link, v->checked);
	v->checked = NULL;
	streams_conf(v->streams, conf_str(&w->conf, CONF_CLUSTERS), &limits);
	streams_conf(v->states, conf_str(&w->conf, CONF_CLUSTERS), &states);
	asks_conf(v->asks, conf_str(&w->conf, CONF_CLUSTERS));
	v->active_only = conf_bool(&w->conf, CONF_ACTIVE_ONLY);
	bucket_conf(v->lease, v->active_only,
	    conf_int(&w->conf, CONF_NATS_LEASE_TIME) * 1000, limits.replicas);
	streams_update(v);
}

static void
on_file(struct receiver *v, struct reader *r)
{
	unsigned which = rd_u8(r);
	const uint8_t *p;
	size_t n;

	p = rd_blob(r, &n);
	if (rd_end(r) == -1)
		channel_broken(v->w->supervisor, "file");
	else
		resolver_file(v->resolver, (enum msg_file)which, p, n);
}

static void
on_quarantine(struct receiver *v, struct reader *r)
{
	struct run_key key;

	rd_run_key(r, &key);
	if (rd_end(r) == -1)
		channel_broken(v->w->supervisor, "quarantine");
	else
		intake_quarantine(v->intake, &key);
}

static void
on_supervisor(struct worker *w, const struct msg_header *h, struct reader *r,
    int fd)
{
	struct receiver *v = w->arg;

	if (fd != -1)
		close(fd);
	if (h->type == MSG_FILE)
		on_file(v, r);
	else if (h->type == MSG_QUARANTINE)
		on_quarantine(v, r);
	else if (h->type == MSG_ENDING)
		release_begin(v);
}

/* The new submitter tells its positions; open-runs is its last message then. */
static void
on_peer(struct worker *w, enum role peer, struct channel *c)
{
	struct receiver *v = w->arg;

	if (peer != ROLE_SUBMITTER)
		return;
	v->submitter = c;
	streams_reset(v->streams);
	streams_reset(v->states);
	streams_pause(v->streams, 0);
	streams_pause(v->states, 0);
	asks_reset(v->asks);
	intake_peer(v->intake, c);
	v->told.id = 0;
	if (c == NULL)
		release_submitter_lost(v);
	if (v->release != RELEASE_WRITES)
		bucket_submitter(v->lease, 0, 0, 0);
}

static void
on_record_ack(struct receiver *v, struct channel *c, struct reader *r)
{
	uint64_t frame = rd_u64(r);

	if (rd_end(r) == -1)
		channel_broken(c, "record-ack");
	else
		streams_acked(v->streams, frame);
}

static void
on_position(struct receiver *v, struct channel *c, struct reader *r)
{
	char cluster[CLUSTER_MAX];
	uint64_t identity, sequence;

	rd_u64(r); /* no number: it is not acknowledged */
	rd_name(r, cluster, sizeof(cluster));
	identity = rd_u64(r);
	sequence = rd_u64(r);
	if (rd_end(r) == -1)
		channel_broken(c, "stream-position");
	else
		streams_position(v->streams, cluster, identity, sequence);
}

/* Only the end of the list matters: all positions were told. */
static void
on_open_runs(struct receiver *v, struct channel *c, struct reader *r)
{
	unsigned bits = rd_u8(r);

	if (r->err)
		channel_broken(c, "open-runs");
	else if (bits & OPEN_RUNS_LAST) {
		bucket_submitter(v->lease, 1, v->told.id, v->told.until);
		active_until_send(v);
		streams_begin(v->streams);
		streams_begin(v->states);
	}
}

static void
on_active_until(struct receiver *v, struct channel *c, struct reader *r)
{
	v->told.until = rd_i64(r);
	v->told.id = rd_u64(r);
	if (rd_end(r) == -1)
		channel_broken(c, "active-until");
}

static void
on_flow(struct receiver *v, struct channel *c, struct reader *r)
{
	unsigned pause = rd_u8(r);

	if (rd_end(r) == -1)
		channel_broken(c, "flow");
	else
		streams_pause(v->streams, pause != 0);
}

static void
on_stream_hold(struct receiver *v, struct channel *c, struct reader *r)
{
	char cluster[CLUSTER_MAX];
	unsigned hold;

	rd_name(r, cluster, sizeof(cluster));
	hold = rd_u8(r);
	if (rd_end(r) == -1)
		channel_broken(c, "stream-hold");
	else
		streams_hold(v->streams, cluster, hold != 0);
}

static void
on_neighbour(struct worker *w, struct channel *c, const struct msg_header *h,
    struct reader *r, int fd)
{
	struct receiver *v = w->arg;

	if (fd != -1)
		close(fd);
	switch (h->type) {
	case MSG_RECORD_ACK:
		on_record_ack(v, c, r);
		break;
	case MSG_STREAM_POSITION:
		on_position(v, c, r);
		break;
	case MSG_OPEN_RUNS:
		on_open_runs(v, c, r);
		break;
	case MSG_FLOW:
		on_flow(v, c, r);
		break;
	case MSG_LOOKUP:
		if (asks_lookup(v->asks, r) == -1)
			channel_broken(c, "lookup");
		break;
	case MSG_ACTIVE_UNTIL:
		on_active_until(v, c, r);
		break;
	case MSG_DRAINED:
		release_drained(v, c, r);
		break;
	case MSG_STREAM_HOLD:
		on_stream_hold(v, c, r);
		break;
	default:
		/*
		 * resume-from and others have times of Slurm; no Slurm is here
		 */
		break;
	}
}

static void
on_drained(struct worker *w, struct channel *c)
{
	struct receiver *v = w->arg;

	if (c == v->submitter)
		streams_pause(v->states, 0);
}

static void
on_ctl(struct worker *w, uint64_t request, const struct ctl_request *req)
{
	struct receiver *v = w->arg;

	if (req->verb == CTL_CHECK) {
		check_begin(v, request);
		return;
	}
	if (req->verb == CTL_BACKFILL) {
		orders_backfill(v, request, req);
		return;
	}
	if (req->verb == CTL_EXPLAIN_SLURM) {
		orders_explain(v, request, req);
		return;
	}
	if (req->verb == CTL_JOB_PART) {
		worker_ctl_end(w, request, CTL_ERROR,
		    "a centre has no Slurm: name the job id, or run the "
		    "command at the cluster");
		return;
	}
	if (req->verb == CTL_STATUS)
		report_status(v, request);
	else if (req->verb == CTL_METRICS)
		report_metrics(v, request);
	worker_ctl_end(w, request, CTL_OK, "");
}

static void
on_stop(struct worker *w, uint32_t grace_ms)
{
	release_stop(w->arg, grace_ms);
}

static const struct worker_ops ops = {
	.role = ROLE_RECEIVER,
	.prepare = on_prepare,
	.init = on_init,
	.conf_check = on_conf_check,
	.conf_commit = on_conf_commit,
	.on_supervisor = on_supervisor,
	.on_peer = on_peer,
	.on_neighbour = on_neighbour,
	.on_drained = on_drained,
	.on_ctl = on_ctl,
	.on_stop = on_stop,
	.summary = report_summary,
};

int
main(int argc, char **argv)
{
	static struct receiver receiver; /* as long as the process */

	worker_main(&ops, &receiver, argc, argv);
}
