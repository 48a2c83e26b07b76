/* SPDX-License-Identifier: MIT */
/* See sim_boxes.h. */
#include "config.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "submitter/backend/breaker.h"
#include "submitter/delivery/delivery.h"
#include "submitter/net/http.h"
#include "submitter/payload/topology.h"
#include "submitter/reconcile/failover.h"
#include "submitter/reconcile/first_list.h"
#include "submitter/reconcile/reconcile.h"
#include "submitter/spool/commit.h"
#include "submitter/spool/spool.h"
#include "tests/unit/check.h"
#include "tests/unit/submitter/sim_boxes.h"

void
http_forget(struct http_client *r)
{
	(void)r;
}

int
http_token_in_clear(const struct http_client *r)
{
	return 0;
}

const char *
http_where(const struct http_client *r)
{
	(void)r;
	return "here";
}

/* No test reads the status. */
void
worker_status(struct worker *w, uint64_t request, const char *key,
    const char *fmt, ...)
{
	(void)w;
	(void)request;
	(void)key;
	(void)fmt;
}

const struct token_expiry *
http_token_expiry(const struct http_client *r)
{
	static const struct token_expiry none = { .kind = TOKEN_NONE };

	(void)r;
	return &none;
}

static void
on_before(struct submitter *s)
{
	rest_delivery_lease(s->rest);
}

static void
on_committed(struct submitter *s)
{
	(void)s;
}

static int
on_failed(struct submitter *s)
{
	rest_delivery_rolled_back(s->rest);
	nats_delivery_rolled_back(s->nats_delivery);
	if (s->failover != NULL)
		failover_rolled_back(s->failover);
	if (s->first_list != NULL)
		first_list_rolled_back(s->first_list);
	return 0;
}

static int
on_retry(struct submitter *s)
{
	(void)s;
	return 0;
}

static const struct commit_ops commit_ops = {
	.before = on_before,
	.committed = on_committed,
	.failed = on_failed,
	.retry = on_retry,
	.stuck = on_committed,
};

static void
lane_commit_check(struct submitter *s)
{
	commit_check_kick(s->commit_check);
}

static void
lane_conflict(struct submitter *s)
{
	conflict_kick(s->conflict);
}

static void
lane_reconcile(struct submitter *s)
{
	reconcile_backend_up(s->reconcile);
}

static void
lane_rest(struct submitter *s)
{
	rest_delivery_run(s->rest);
}

static void
lane_nats(struct submitter *s)
{
	nats_delivery_run(s->nats_delivery);
}

static void
lane_meta(struct submitter *s)
{
	meta_delivery_kick(s->meta);
}

static const struct wake_lane lanes[] = { { WAKE_COMMIT_CHECK,
					      lane_commit_check },
	{ WAKE_CONFLICT, lane_conflict }, { WAKE_RECONCILE, lane_reconcile },
	{ WAKE_REST, lane_rest }, { WAKE_NATS, lane_nats },
	{ WAKE_META, lane_meta }, { 0, NULL } };

/* The boxes live as long as the process: those of ended worlds stay here. */
static struct ended_world {
	struct submitter s;
	struct ended_world *before;
} * ended;

static void
world_keep(const struct submitter *w)
{
	struct ended_world *e = malloc(sizeof(*e));

	if (e == NULL)
		exit(1);
	e->s = *w;
	e->before = ended;
	ended = e;
}

void
sim_boxes_begin(struct submitter *s, const char *dir)
{
	char path[64], reason[256];

	snprintf(path, sizeof(path), "%s/spool.db", dir);
	s->spool = spool_open(path, 64 << 20, 1000, reason, sizeof(reason));
	if (s->spool == NULL)
		exit(1);
	spool_policy(s->spool)->to[DEST_REST] = 1;
	spool_policy(s->spool)->wait_commit = 1;
	s->payload = payload_new(&s->w->conf, reason, sizeof(reason));
	s->topology = topology_new();
	wake_init(s, lanes);
	s->commit = commit_new(s, &commit_ops);
	s->breaker = breaker_new(s);
	s->rest = rest_delivery_new(s);
	s->nats_delivery = nats_delivery_new(s);
	s->commit_check = commit_check_new(s);
	s->conflict = conflict_new(s);
	s->meta = meta_delivery_new(s);
	s->missing = missing_runs_new(s);
	s->lookup = slurm_lookup_new(s);
	s->reconcile = reconcile_new(s);
	spool_watermark(s->spool, "alpha", 0);
}

void
sim_boxes_end(struct submitter *s, const char *dir)
{
	char cmd[64];

	world_keep(s);
	payload_free(s->payload);
	topology_free(s->topology);
	spool_close(s->spool);
	snprintf(cmd, sizeof(cmd), "rm -f %s/spool.db*", dir);
	CHECK_INT(system(cmd), 0);
}
