/* SPDX-License-Identifier: MIT */
/*
 * The collector's entry: what the supervisor and the neighbours say goes to
 * whom it concerns.  Runs as the user who may see all jobs, knows no secret.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collector/collector.h"
#include "common/log.h"

static const char *const no_environment[] = { NULL };

static void
on_init(struct worker *w)
{
	struct collector *c = w->arg;

	c->w = w;
	c->lastrun = -1;
	c->ctld.name = "slurmctld";
	c->dbd.name = "slurmdbd";
	c->runner = runner_new(w->base, no_environment);
	if (c->runner == NULL)
		fatal("no memory");
	c->out = out_new(c);
	c->cycle = cycle_new(c);
	c->ledger = ledger_new(c);
	c->events = events_new(c);
	c->asks = asks_new(c);
	c->scripts = scripts_new(c);
	c->nodes = nodes_new(c);
}

static int
on_conf_check(struct worker *w, const struct conf *next,
    const uint8_t *secrets, size_t len, char *reason, size_t size)
{
	struct collector *c = w->arg;

	(void)secrets;
	(void)len;
	settings_free(c->next_set);
	c->next_set = settings_new(next, reason, size);
	return c->next_set != NULL ? 0 : -1;
}

static void
on_conf_use(struct worker *w)
{
	struct collector *c = w->arg;
	const char *slurm_conf = conf_str(&w->conf, CONF_SLURM_CONF);

	/* A question under way still reads with the old one. */
	if (c->set != NULL) {
		c->set->next = c->retired;
		c->retired = c->set;
	}
	c->set = c->next_set;
	c->next_set = NULL;
	if (*slurm_conf == '\0')
		slurm_conf = getenv("SLURM_CONF");
	if (slurm_environment(c->runner, slurm_conf, c->set->bin_dir) == -1)
		fatal("no memory");
	plan_conf(c);
}

static void
on_start(struct worker *w)
{
	plan_start(w->arg);
}

static void
on_lastrun(struct collector *c, int fd)
{
	if (c->lastrun != -1)
		close(c->lastrun);
	c->lastrun = fd;
}

static void
on_skip(struct collector *c, struct reader *r)
{
	struct run_key key;

	rd_run_key(r, &key);
	if (rd_end(r) == -1) {
		channel_broken(c->w->supervisor, "skip");
		return;
	}
	if (c->n_skips < SKIPS_MAX)
		c->skips[c->n_skips++] = key;
	log_warnx("job %llu of %s that started at %lld is left out: this "
	    "program died on it", (unsigned long long)key.job, key.cluster,
	    (long long)key.start);
}

static void
on_supervisor(struct worker *w, const struct msg_header *h, struct reader *r,
    int fd)
{
	struct collector *c = w->arg;

	switch (h->type) {
	case MSG_LASTRUN:
		on_lastrun(c, fd);
		break;
	case MSG_SKIP:
		on_skip(c, r);
		break;
	default:
		if (fd != -1)
			close(fd);
		log_debug("the supervisor said %s", msg_name(h->type));
	}
}

static void
on_peer(struct worker *w, enum role peer, struct channel *ch)
{
	struct collector *c = w->arg;

	if (peer == ROLE_SUBMITTER) {
		out_peer(c->out, ch);
		asks_forget(c->asks);
		plan_unsynced(c);
		nodes_peer(c->nodes);
	} else if (peer == ROLE_LISTENER)
		events_forget(c->events);
}

static void
on_cursor(struct collector *c, struct channel *ch, struct reader *r)
{
	struct cursor cursor;

	rd_name(r, cursor.cluster, sizeof(cursor.cluster));
	cursor.until = rd_i64(r);
	if (rd_end(r) == -1 || cursor.until < 0)
		channel_broken(ch, "cursor");
	else if (c->n_cursors < CURSORS_MAX)
		c->cursors[c->n_cursors++] = cursor;
}

static void
on_running(struct collector *c, struct channel *ch, struct reader *r)
{
	struct run_key key;
	uint32_t i, n = rd_u32(r);
	uint8_t last;

	for (i = 0; i < n && !r->err; i++) {
		rd_run_key(r, &key);
		if (!r->err)
			plan_open(c, &key);
	}
	last = rd_u8(r);
	if (rd_end(r) == -1)
		channel_broken(ch, "running");
	else if (last)
		plan_synced(c);
}

static void
on_event(struct collector *c, struct channel *ch, struct reader *r)
{
	char cluster[CLUSTER_MAX];
	uint64_t event, job;

	event = rd_u64(r);
	rd_name(r, cluster, sizeof(cluster));
	job = rd_u64(r);
	rd_u8(r);
	rd_i64(r);
	if (rd_end(r) == -1) {
		channel_broken(ch, "event");
		return;
	}
	/* Another cluster's hook: nothing here can be asked about it. */
	if (c->slurm.known && *cluster != '\0' &&
	    strcmp(cluster, c->slurm.cluster) != 0) {
		log_debug("hook message of another cluster");
		job = 0;
	}
	events_note(c->events, event, job);
}

static void
on_sync(struct collector *c, struct channel *ch, struct reader *r)
{
	int64_t from, to;

	rd_u32(r);
	from = rd_i64(r);
	to = rd_i64(r);
	if (rd_end(r) == -1)
		channel_broken(ch, "sync");
	else if (from != 0 || to != 0)
		(void)ledger_backfill(c->ledger, from, to);
	else
		plan_sync(c);
}

static void
on_neighbour(struct worker *w, struct channel *ch, const struct msg_header *h,
    struct reader *r, int fd)
{
	struct collector *c = w->arg;
	uint64_t seq;

	if (fd != -1)
		close(fd);
	switch (h->type) {
	case MSG_EVENT:
		on_event(c, ch, r);
		break;
	case MSG_STORED:
		seq = rd_u64(r);
		out_stored(c->out, seq);
		break;
	case MSG_CURSOR:
		on_cursor(c, ch, r);
		break;
	case MSG_RUNNING:
		on_running(c, ch, r);
		break;
	case MSG_ASK:
		if (asks_note(c->asks, r) == -1)
			channel_broken(ch, "ask");
		break;
	case MSG_SYNC:
		on_sync(c, ch, r);
		break;
	case MSG_FLOW:
		out_flow(c->out, rd_u8(r) != 0);
		break;
	default:
		log_debug("a neighbour said %s", msg_name(h->type));
	}
}

static void
on_drained(struct worker *w, struct channel *ch)
{
	struct collector *c = w->arg;

	if (channel_peer(ch) == ROLE_SUBMITTER)
		out_drained(c->out);
}

static void
on_ctl(struct worker *w, uint64_t request, const struct ctl_request *req)
{
	struct collector *c = w->arg;

	switch (req->verb) {
	case CTL_STATUS:
		status_rows(c, request);
		worker_ctl_end(w, request, CTL_OK, NULL);
		break;
	case CTL_METRICS:
		status_metrics(c, request);
		worker_ctl_end(w, request, CTL_OK, NULL);
		break;
	case CTL_SYNC:
		plan_sync(c);
		worker_ctl_end(w, request, CTL_OK, "a round has begun");
		break;
	case CTL_BACKFILL:
		if (ledger_backfill(c->ledger, req->a, req->b) == -1)
			worker_ctl_end(w, request, CTL_ERROR, "a backfill is "
			    "under way, or the range is empty");
		else
			worker_ctl_end(w, request, CTL_OK, "begun; `status` "
			    "and the log show how far it is");
		break;
	case CTL_LOG:
		log_set_level((enum log_level)req->a);
		worker_ctl_end(w, request, CTL_OK, NULL);
		break;
	default:
		worker_ctl_end(w, request, CTL_ERROR,
		    "the collector does not know this");
	}
}

/* What was asked is asked again after the next start; nothing is lost. */
static void
on_stop(struct worker *w, uint32_t grace_ms)
{
	struct collector *c = w->arg;

	(void)grace_ms;
	runner_free(c->runner);
	worker_exit(w);
}

static const struct worker_ops ops = {
	.role = ROLE_COLLECTOR,
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
	static struct collector collector;

	worker_main(&ops, &collector, argc, argv);
}
