/* SPDX-License-Identifier: MIT */
/*
 * Entry of the collector: passes messages of the supervisor and of other
 * workers to their handlers.  The collector executes nothing, opens no file and
 * has no secret.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collector/collector.h"
#include "common/log.h"

/* s that a hook message may wait in the listener */
#define HOOK_AGE_MAX 86400

static void on_claim_accepted(const struct hook_claim *claim, void *arg);
static void on_claim_refused(const struct hook_claim *claim, void *arg);

static const struct hook_auth_ops hook_auth_ops = {
	.accepted = on_claim_accepted,
	.refused = on_claim_refused,
};

static void
on_init(struct worker *w)
{
	struct collector *col = w->arg;

	clusters_init(col, w);
	col->hook_auth = hook_auth_new(&col->site, &hook_auth_ops, col);
	col->sync_report = sync_report_new(col);
	col->explain_slurm = explain_slurm_new(col);
	col->job_part = job_part_new(col);
	col->controller_role = controller_role_new(&col->site);
	col->slurm_times = slurm_times_new(&col->site);
	col->check = check_new(col);
}

static int
on_conf_check(struct worker *w, const struct conf *next, const uint8_t *secrets,
    size_t len, char *reason, size_t size)
{
	struct collector *col = w->arg;

	settings_free(col->next_set);
	col->next_set = settings_new(next, reason, size);
	return col->next_set != NULL ? 0 : -1;
}

static void
on_conf_commit(struct worker *w)
{
	struct collector *col = w->arg;
	int first = col->set == NULL;
	unsigned i;

	/* A query under way still uses the old settings. */
	if (!first) {
		col->set->next = col->retired;
		col->retired = col->set;
	}
	col->set = col->next_set;
	col->next_set = NULL;
	if (first)
		clusters_configure(col);
	for (i = 0; i < col->site.n; i++) {
		col->lanes[i].c->set = col->set;
		sched_conf(&col->lanes[i]);
	}
}

static void
on_start(struct worker *w)
{
	sched_start(w->arg);
}

static void
on_quarantine(struct site *site, struct reader *r)
{
	struct run_key key;

	rd_run_key(r, &key);
	if (rd_end(r) == -1) {
		channel_broken(site->w->supervisor, "quarantine");
		return;
	}
	if (site->n_quarantined < QUARANTINED_MAX)
		site->quarantined[site->n_quarantined++] = key;
	log_about(LOG_ID_QUARANTINED, key.cluster, key.job);
	log_warnx("%s is in quarantine and is skipped: a process died while "
		  "it handled this run",
	    run_key_text(&key));
}

static void
on_supervisor(struct worker *w, const struct msg_header *h, struct reader *r,
    int fd)
{
	struct collector *col = w->arg;

	switch (h->type) {
	case MSG_QUARANTINE:
		on_quarantine(&col->site, r);
		break;
	default:
		if (fd != -1)
			close(fd);
		log_debug("the supervisor sent %s", msg_name(h->type));
	}
}

static void
on_peer(struct worker *w, enum role peer, struct channel *ch)
{
	struct collector *col = w->arg;
	unsigned i;

	sched_event(col);
	if (peer == ROLE_RUNNER)
		runner_peer(col->site.runner, ch);
	if (peer == ROLE_LISTENER)
		hook_auth_forget(col->hook_auth);
	if (peer == ROLE_SUBMITTER) {
		outbox_peer(col->outbox, ch);
		resume_unsynced(&col->site);
		controller_role_peer(col->controller_role);
	}
	for (i = 0; i < col->site.n; i++) {
		if (peer == ROLE_SUBMITTER) {
			lookup_forget(col->lanes[i].c->lookups);
			node_states_peer(col->lanes[i].node_states);
		} else if (peer == ROLE_LISTENER)
			hook_events_forget(col->lanes[i].hook_events);
	}
}

static void
on_resume_from(struct site *site, struct channel *ch, struct reader *r)
{
	struct resume_point point;

	rd_name(r, point.cluster, sizeof(point.cluster));
	point.until = rd_i64(r);
	/* A spool of 0.1.0 may have a mark without a limit. */
	if (point.until > TIME_S_MAX)
		point.until = TIME_S_MAX;
	if (rd_end(r) == -1 || point.until < RESUME_LOST)
		channel_broken(ch, "resume-from");
	else if (site->n_resume_points < RESUME_POINTS_MAX)
		site->resume_points[site->n_resume_points++] = point;
}

static void
on_open_runs(struct collector *col, struct channel *ch, struct reader *r)
{
	struct open_key open;
	uint8_t bits = rd_u8(r);
	uint32_t i, n = rd_u32(r);

	for (i = 0; i < n && !r->err; i++) {
		rd_open_key(r, &open);
		if (!r->err)
			resume_open(&col->site, &open, bits);
	}
	if (rd_end(r) == -1)
		channel_broken(ch, "open-runs");
	else if (bits & OPEN_RUNS_LAST) {
		resume_synced(&col->site);
		outbox_release(col->outbox);
	}
}

/*
 * The history of the submitter shows when the hook was called.  The message may
 * be lost: no record depends on it.  The listener knows the second; a message
 * that comes at once has the milliseconds.
 */
static void
hook_tell(struct collector *col, const struct cluster *c, uint64_t job,
    unsigned kind, int64_t time)
{
	struct channel *ch = col->site.w->peers[ROLE_SUBMITTER];
	int64_t now = now_wall_ms();
	struct writer w;

	if (ch == NULL || channel_full(ch) || job == 0 ||
	    c->slurm.cluster[0] == '\0')
		return;
	if (time < now / 1000 - HOOK_AGE_MAX || time >= now / 1000)
		time = now / 1000;
	if (kind > EVENT_END)
		kind = EVENT_UNKNOWN;
	wr_init(&w, 256);
	wr_str(&w, c->slurm.cluster);
	wr_u64(&w, job);
	wr_u8(&w, (uint8_t)kind);
	wr_i64(&w, time == now / 1000 ? now : time * 1000);
	channel_send(ch, MSG_HOOK_CALLED, 0, &w, -1);
	wr_clear(&w);
}

static void
event_take(struct collector *col, const struct hook_claim *e)
{
	hook_tell(col, e->c, e->job, e->kind, e->time);
	hook_event_add(lanes_of(col, e->c)->hook_events, e->event, e->job,
	    e->kind <= EVENT_END ? (enum event_kind)e->kind : EVENT_UNKNOWN);
}

static void
on_claim_accepted(const struct hook_claim *claim, void *arg)
{
	event_take(arg, claim);
}

/* The event is acknowledged without a job: nothing is asked. */
static void
on_claim_refused(const struct hook_claim *claim, void *arg)
{
	struct collector *col = arg;

	hook_event_add(lanes_of(col, claim->c)->hook_events, claim->event, 0,
	    EVENT_UNKNOWN);
}

static void
on_event(struct collector *col, struct channel *ch, struct reader *r)
{
	struct hook_claim e;

	e.event = rd_u64(r);
	rd_name(r, e.cluster, sizeof(e.cluster));
	e.job = rd_u64(r);
	e.kind = rd_u8(r);
	e.time = rd_i64(r);
	rd_name(r, e.credential, sizeof(e.credential));
	if (rd_end(r) == -1) {
		channel_broken(ch, "event");
		return;
	}
	e.c = site_find(&col->site, e.cluster);
	if (e.c == NULL)
		startup_unknown(col->lanes[0].startup, e.cluster);
	/* A hook can send any cluster and any number. */
	if (e.c == NULL || e.job > UINT32_MAX) {
		log_debug("hook message of another cluster, or without a job "
			  "of Slurm");
		e.c = col->site.clusters[0];
		e.job = 0;
	}
	if (e.job != 0 && e.credential[0] != '\0')
		hook_auth_add(col->hook_auth, &e);
	else
		event_take(col, &e);
}

/* Each cluster takes its own runs from the list. */
static void
on_lookup(struct site *site, struct channel *ch, const struct reader *r)
{
	struct reader again;
	unsigned i;
	int bad = 0;

	for (i = 0; i < site->n; i++) {
		again = *r;
		bad |= lookup_add(site->clusters[i]->lookups, &again) == -1;
	}
	if (bad)
		channel_broken(ch, "lookup");
}

static void
on_poll_now(struct collector *col, struct channel *ch, struct reader *r)
{
	unsigned i;

	if (rd_end(r) == -1) {
		channel_broken(ch, "poll-now");
		return;
	}
	for (i = 0; i < col->site.n; i++)
		sched_poll_now(&col->lanes[i]);
}

static void
on_backfill_range(struct collector *col, struct channel *ch, struct reader *r)
{
	char cluster[CLUSTER_MAX];
	struct cluster *c;
	int64_t from, to;
	uint8_t dry_run;

	rd_name(r, cluster, sizeof(cluster));
	from = rd_time(r);
	to = rd_time(r);
	dry_run = rd_u8(r);
	if (rd_end(r) == -1) {
		channel_broken(ch, "backfill-range");
		return;
	}
	c = site_find(&col->site, cluster);
	if (c == NULL)
		outbox_backfilled(col->outbox, cluster,
		    from == 0 && to == 0 ? 0 : WATERMARK_NO_CLUSTER);
	else if (acct_backfill(lanes_of(col, c)->accounting, from, to,
		     dry_run != 0) == -1)
		log_warnx("backfill of the cluster %s: the range is empty",
		    cluster);
}

static void
on_record_ack(struct collector *col, struct channel *ch, struct reader *r)
{
	uint64_t seq = rd_u64(r);

	if (rd_end(r) == -1)
		channel_broken(ch, "record-ack");
	else
		outbox_acked(col->outbox, seq);
}

static void
on_flow(struct collector *col, struct channel *ch, struct reader *r)
{
	uint8_t pause = rd_u8(r);

	if (rd_end(r) == -1)
		channel_broken(ch, "flow");
	else
		outbox_flow(col->outbox, pause != 0);
}

static void
on_neighbour(struct worker *w, struct channel *ch, const struct msg_header *h,
    struct reader *r, int fd)
{
	struct collector *col = w->arg;

	sched_event(col);
	if (channel_peer(ch) == ROLE_RUNNER) {
		runner_frame(col->site.runner, ch, h, r, fd);
		return;
	}
	if (fd != -1)
		close(fd);
	switch (h->type) {
	case MSG_EVENT:
		on_event(col, ch, r);
		break;
	case MSG_RECORD_ACK:
		on_record_ack(col, ch, r);
		break;
	case MSG_RESUME_FROM:
		on_resume_from(&col->site, ch, r);
		break;
	case MSG_OPEN_RUNS:
		on_open_runs(col, ch, r);
		break;
	case MSG_LOOKUP:
		on_lookup(&col->site, ch, r);
		break;
	case MSG_POLL_NOW:
		on_poll_now(col, ch, r);
		break;
	case MSG_BACKFILL_RANGE:
		on_backfill_range(col, ch, r);
		break;
	case MSG_FLOW:
		on_flow(col, ch, r);
		break;
	default:
		log_debug("a neighbour sent %s", msg_name(h->type));
	}
}

static void
on_drained(struct worker *w, struct channel *ch)
{
	struct collector *col = w->arg;

	if (channel_peer(ch) == ROLE_SUBMITTER)
		outbox_drained(col->outbox);
}

static void
on_ctl(struct worker *w, uint64_t request, const struct ctl_request *req)
{
	struct collector *col = w->arg;

	switch (req->verb) {
	case CTL_STATUS:
		status_rows(col, request);
		worker_ctl_end(w, request, CTL_OK, NULL);
		break;
	case CTL_METRICS:
		status_metrics(col, request);
		worker_ctl_end(w, request, CTL_OK, NULL);
		break;
	case CTL_SYNC:
		sync_report_begin(col->sync_report, request, req);
		break;
	case CTL_CHECK:
		check_begin(col->check, request);
		break;
	case CTL_GPUS:
		gpu_rows(col, request);
		break;
	case CTL_EXPLAIN_SLURM:
		explain_slurm_begin(col->explain_slurm, request, req);
		break;
	case CTL_JOB_PART:
		job_part_begin(col->job_part, request, req);
		break;
	default:
		worker_ctl_end(w, request, CTL_ERROR,
		    "the collector does not support this request");
	}
}

/* After the next start all queries are repeated; nothing is lost. */
static void
on_stop(struct worker *w, uint32_t grace_ms)
{
	(void)grace_ms;
	worker_exit(w);
}

static const struct worker_ops ops = {
	.role = ROLE_COLLECTOR,
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
	.summary = status_summary,
};

int
main(int argc, char **argv)
{
	static struct collector collector;

	worker_main(&ops, &collector, argc, argv);
}
