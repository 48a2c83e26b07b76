/* SPDX-License-Identifier: MIT */
/*
 * The submitter: the only process that has the token, stores the spool and sends
 * requests to cc-backend; it publishes on NATS.  The submitter executes no program
 * and opens no file outside the directory of the spool, which is its root.  It
 * receives everything else as bytes.
 */
#include "config.h"

#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/log.h"
#include "common/net/resolver.h"
#include "common/net/secret.h"
#include "common/record/stream_name.h"
#include "submitter/backend/breaker.h"
#include "submitter/backend/token_watch.h"
#include "submitter/base/context.h"
#include "submitter/base/timer.h"
#include "submitter/base/tomb_age.h"
#include "submitter/check.h"
#include "submitter/ctl.h"
#include "submitter/delivery/delivery.h"
#include "submitter/explain.h"
#include "submitter/history/history.h"
#include "submitter/intake/intake.h"
#include "submitter/memory.h"
#include "submitter/nats/nats.h"
#include "submitter/net/http_private.h"
#include "submitter/payload/topology.h"
#include "submitter/reconcile/backfill.h"
#include "submitter/reconcile/centre_asks.h"
#include "submitter/reconcile/destinations.h"
#include "submitter/reconcile/failover.h"
#include "submitter/reconcile/first_list.h"
#include "submitter/reconcile/reconcile.h"
#include "submitter/reconcile/sync_command.h"
#include "submitter/run_history.h"
#include "submitter/spool/commit.h"

/* in the sandbox's root */
#define SPOOL_FILE   "spool.db"
#define HISTORY_FILE "spool.history.db"
#define MORE_WAIT    5000 /* ms that a start waits for the job script */
/* ms beyond the commit interval of cc-backend */
#define NATS_MARGIN 2000
/* ms between two checks of old tombstones */
#define AGE_EVERY 10000
#define AGE_IDLE  30000 /* the same while nothing is old and cc-backend works */
#define AGE_FULL  1000	/* after AGE_ROWS old rows: there are more */
#define AGE_ROWS  512

/* Built by conf_check, not in force yet. */
static struct check_conf checked;

/* Runs that were quarantined before the spool was open. */
static struct run_key quarantined[QUARANTINE_MAX];
static unsigned n_quarantined;

static struct event *upkeep; /* checks old tombstones and the reserve */

static void
on_prepare(struct worker *w)
{
	/* The spool has names of users, and scripts. */
	umask(077);
	signal(SIGXFSZ, SIG_IGN);
	spool_prepare();
	http_prepare();
	resolver_prepare();
	nats_prepare();
}

static void
on_init(struct worker *w)
{
	struct submitter *s = w->arg;

	s->w = w;
	s->resolver = resolver_new(w->base);
	s->topology = topology_new();
	s->http = s->resolver != NULL ? http_new(w->base, s->resolver) : NULL;
	if (s->http == NULL || s->topology == NULL)
		fatalx("out of memory");
}

static void
next_drop(void)
{
	payload_free(checked.payload);
	http_conf_free(checked.http);
	nats_conf_free(checked.nats);
	checked.payload = NULL;
	checked.http = NULL;
	checked.nats = NULL;
}

/* For -test: where the runs of each cluster go. */
static void
streams_text(const struct conf *conf)
{
	char cluster[CLUSTER_MAX], subject[STREAM_NAME_MAX];
	size_t n = 0, size = sizeof(checked.streams);
	unsigned i;

	checked.streams[0] = '\0';
	if (!conf_delivers_to_stream(conf))
		return;
	for (i = 0; conf_list_item(conf_str(conf, CONF_CLUSTERS), i, cluster,
			sizeof(cluster)) == 1 &&
	     n < size;
	     i++)
		if (stream_name(SUBJECT_OF_RECORDS, cluster, subject,
			sizeof(subject)) == 0)
			n += (size_t)snprintf(checked.streams + n, size - n,
			    "%s %s", i == 0 ? "; runs are published to" : ",",
			    subject);
}

static int
on_conf_check(struct worker *w, const struct conf *next, const uint8_t *secrets,
    size_t len, char *reason, size_t size)
{
	next_drop();
	checked.payload = payload_new(next, reason, size);
	if (checked.payload != NULL)
		checked.http = http_conf_new(next, secrets, len, reason, size);
	if (checked.http != NULL)
		checked.nats = nats_conf_new(next, secrets, len, reason, size);
	if (checked.nats == NULL) {
		next_drop();
		return -1;
	}
	checked.with_rest = conf_sends_rest(next);
	checked.with_nats = *conf_str(next, CONF_NATS_SERVER) != '\0';
	snprintf(checked.version, sizeof(checked.version), "%s",
	    conf_str(next, CONF_CC_BACKEND_VERSION));
	streams_text(next);
	return 0;
}

/*
 * Sets the policy of the spool from the configuration and the version of
 * cc-backend.
 */
static void
policy_set(struct submitter *s)
{
	const struct conf *conf = &s->w->conf;
	struct spool_policy *p = spool_policy(s->spool);
	int rest = conf_sends_rest(conf);
	int64_t commit = conf_int(conf, CONF_CC_COMMIT_INTERVAL) * 1000;

	/* Without an address the spool keeps the runs until there is one. */
	p->to[DEST_REST] = rest && *conf_str(conf, CONF_CC_REST_URL) != '\0';
	p->to[DEST_NATS] = *conf_str(conf, CONF_NATS_SERVER) != '\0';
	if (!p->to[DEST_REST] && !p->to[DEST_NATS])
		p->to[DEST_REST] = 1;
	p->whole = conf_delivers_to_stream(conf);
	p->wait_commit = !p->whole &&
	    breaker_version(s->breaker) == BACKEND_1_5;
	p->active_only = conf_bool(conf, CONF_ACTIVE_ONLY);
	p->more_wait = MORE_WAIT;
	p->script_key = payload_script_key(s->payload);
	p->from_stream = conf_reads_stream(conf);
	/* An error of the file also fails the next commit, which reports it. */
	if (p->from_stream)
		(void)spool_shares_begin(s->spool);
	p->last_requeued = strcmp(conf_str(conf, CONF_REQUEUED_RUNS), "last") ==
	    0;
	/*
	 * With REST, other programs read NATS. Without REST, cc-backend may
	 * read NATS.
	 */
	p->nats_gap = rest || p->whole ? 0 : commit + commit / 4 + NATS_MARGIN;
	spool_set_limits(s->spool,
	    (uint64_t)conf_int(conf, CONF_SPOOL_MAX_BYTES), tomb_age(conf));
}

static void
version_pin(struct submitter *s)
{
	const char *version = conf_str(&s->w->conf, CONF_CC_BACKEND_VERSION);

	breaker_pin_version(s->breaker, strcmp(version, "auto") != 0,
	    backend_of(version));
}

#if LIBCURL_VERSION_NUM < 0x074d00
/* This libcurl reads certificates only from a file, so the file is written. */
static void
ca_write(void)
{
	size_t len;
	const char *ca = http_ca(checked.http, &len);
	int fd = open(HTTP_CA_PATH,
	    O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd == -1 || (ca != NULL && write(fd, ca, len) != (ssize_t)len))
		log_warn("cannot write the certificates of the system to %s",
		    HTTP_CA_PATH);
	if (fd != -1)
		close(fd);
}
#endif

static void
secrets_report(void)
{
	static int reported;

	if (!secret_is_unlocked() || reported)
		return;
	reported = 1;
	log_info("the memory of the secrets cannot be locked and may be "
		 "swapped: raise LimitMEMLOCK= of the unit");
}

/* A question of the centre. */
static void
on_ask(const struct nats_ask *ask, void *arg)
{
	struct submitter *s = arg;

	centre_asks_question(s->centre_asks, ask);
}

static void
conf_swap(struct submitter *s)
{
	payload_free(s->payload);
	s->payload = checked.payload;
	checked.payload = NULL;
#if LIBCURL_VERSION_NUM < 0x074d00
	ca_write();
#endif
	http_use(s->http, checked.http);
	checked.http = NULL;
	token_watch_conf(s);
	token_watch_check(s, time(NULL));
	cluster_names_conf(s);
	version_pin(s);
	policy_set(s);
	history_conf(s->history, conf_int(&s->w->conf, CONF_HISTORY_DAYS),
	    conf_int(&s->w->conf, CONF_HISTORY_MAX_BYTES));
	failover_conf(s->failover);
	first_list_check(s->first_list);
	nats_delivery_conf(s->nats_delivery, checked.nats);
	checked.nats = NULL;
	if (s->nats != NULL)
		nats_on_ask(s->nats, on_ask, s);
	secrets_report();
}

/*
 * A new configuration may have removed the reason why runs were rejected, so
 * rejected runs are tried again.
 */
static void
on_conf_commit(struct worker *w)
{
	struct submitter *s = w->arg;

	if (s->spool == NULL)
		return; /* on_start() applies the configuration */
	conf_swap(s);
	/* After an error on_age() calls it again. */
	(void)destinations_check(s);
	node_states_kick(s->nodes);
	breaker_conf(s->breaker);
	wake(s, WAKE_DELIVERY);
	reconcile_conf(s->reconcile);
	ctl_retry_all(s);
}

/* cc-backend refuses no other run of the job after a day. */
static int
kept_finish(struct spool *sp)
{
	struct spool_run run;
	int64_t ids[AGE_ROWS];
	int i,
	    n = spool_pick(sp, DEST_REST, KEPT_REPLACEABLE, ORDER_DUE, ids,
		AGE_ROWS);

	for (i = 0; i < n; i++)
		if (spool_get(sp, ids[i], &run) != 1 ||
		    spool_kept_done(sp, &run) == -1)
			return i;
	return n;
}

static int64_t
upkeep_wait(const struct submitter *s, int removed)
{
	/* A long backfill of a cluster adds up to 400 tombstones a second. */
	if (removed == AGE_ROWS)
		return AGE_FULL;
	return removed > 0 || !breaker_reaches(s->breaker) ? AGE_EVERY :
							     AGE_IDLE;
}

static void
on_age(evutil_socket_t fd, short what, void *arg)
{
	struct submitter *s = arg;
	int n = 0;

	token_watch_check(s, time(NULL));
	intake_upkeep(s->intake);
	run_history_tick(s);
	if (!commit_is_stuck(s->commit))
		(void)destinations_check(s);
	if (!commit_is_stuck(s->commit) && kept_finish(s->spool) > 0)
		commit_soon(s->commit);
	if (!commit_is_stuck(s->commit))
		n = spool_age(s->spool, time(NULL), AGE_ROWS);
	if (n > 0)
		commit_soon(s->commit);
	/* Lists of cc-backend's jobs leave free memory, too. */
	memory_release(s);
	timer_after(upkeep, upkeep_wait(s, n));
}

static void
on_long(void *arg)
{
	worker_alive(arg);
}

static struct spool *
spool_begin(const struct conf *conf, char *reason, size_t size)
{
	return spool_open(SPOOL_FILE,
	    (uint64_t)conf_int(conf, CONF_SPOOL_MAX_BYTES), tomb_age(conf),
	    reason, size);
}

static void
spool_begin_or_die(struct submitter *s)
{
	const struct conf *conf = &s->w->conf;
	char reason[512];

	spool_on_long(on_long, s->w);
	s->spool = spool_begin(conf, reason, sizeof(reason));
	/*
	 * On a full disk SQLite's log has no space or no inode, or a recovery
	 * has stored only a part of the runs; the reserve is for that.
	 */
	if (errno == ENOSPC && intake_remove_reserve() == 0) {
		spool_close(s->spool);
		s->spool = spool_begin(conf, reason, sizeof(reason));
	}
	if (s->spool == NULL)
		fatalx("the spool cannot be opened: %s", reason);
	spool_inflight(s->spool, &s->w->inflight);
	log_info("%llu runs in the spool",
	    (unsigned long long)spool_runs(s->spool));
}

/* --- calls from lower boxes --- */

/* The run of a new cluster must not be picked before the list. */
static void
on_before_commit(struct submitter *s)
{
	first_list_check(s->first_list);
	rest_delivery_lease(s->rest);
}

static void
on_committed(struct submitter *s)
{
	intake_committed(s->intake);
	first_list_check(s->first_list);
	memory_used(s);
}

static int
on_commit_failed(struct submitter *s)
{
	rest_delivery_rolled_back(s->rest);
	nats_delivery_rolled_back(s->nats_delivery);
	failover_rolled_back(s->failover);
	first_list_rolled_back(s->first_list);
	return intake_rolled_back(s->intake);
}

static int
on_commit_retry(struct submitter *s)
{
	return intake_retry(s->intake);
}

static void
on_stuck(struct submitter *s)
{
	intake_flow(s->intake);
}

static const struct commit_ops commit_ops = {
	.before = on_before_commit,
	.committed = on_committed,
	.failed = on_commit_failed,
	.retry = on_commit_retry,
	.stuck = on_stuck,
};

static void
on_backfill_record(struct submitter *s, enum spool_put put)
{
	backfill_record(s->backfill, put);
}

static void
on_dryrun_record(struct submitter *s, const struct job *job)
{
	backfill_dryrun_record(s->backfill, job);
}

static void
on_backfill_watermark(struct submitter *s, const char *cluster, int64_t until)
{
	backfill_watermark(s->backfill, cluster, until);
}

static void
on_not_found(struct submitter *s, const struct run_key *key)
{
	centre_asks_not_found(s->centre_asks, key);
	missing_report(s->missing, key);
}

static void
on_record(struct submitter *s, const struct run_key *key, struct job *job,
    int64_t id)
{
	centre_asks_record(s->centre_asks, key, job, id);
	slurm_lookup_record(s->lookup, id);
}

static const struct intake_ops intake_ops = {
	.backfill_record = on_backfill_record,
	.dryrun_record = on_dryrun_record,
	.backfill_watermark = on_backfill_watermark,
	.record = on_record,
	.not_found = on_not_found,
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

/*
 * The record of a new cluster may not be committed yet: its run must not be
 * picked before the list.
 */
static void
lane_rest(struct submitter *s)
{
	first_list_check(s->first_list);
	rest_delivery_run(s->rest);
}

static void
lane_nats(struct submitter *s)
{
	first_list_check(s->first_list);
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

static void
boxes_new(struct submitter *s)
{
	s->commit = commit_new(s, &commit_ops);
	s->breaker = breaker_new(s);
	s->intake = intake_new(s, &intake_ops);
	s->rest = rest_delivery_new(s);
	s->nats_delivery = nats_delivery_new(s);
	s->commit_check = commit_check_new(s);
	s->conflict = conflict_new(s);
	s->meta = meta_delivery_new(s);
	s->nodes = node_states_new(s);
	s->missing = missing_runs_new(s);
	s->lookup = slurm_lookup_new(s);
	s->reconcile = reconcile_new(s);
	s->sync = sync_new(s);
	s->failover = failover_new(s);
	s->first_list = first_list_new(s);
	s->backfill = backfill_new(s);
	s->centre_asks = centre_asks_new(s);
	centre_asks_explain(s->centre_asks, explain_line);
}

/* deliver may have been "direct" when the daemon ended. */
static void
to_stream(struct submitter *s)
{
	int n;

	if (!spool_policy(s->spool)->whole)
		return;
	n = spool_to_stream(s->spool);
	if (n == -1 || commit_now(s->commit) == -1)
		fatalx("the spool refuses writes: %s", spool_error(s->spool));
	if (n > 0)
		log_notice("%d runs that were not delivered to cc-backend in "
			   "full are published to the stream",
		    n);
}

static void
on_start(struct worker *w)
{
	struct submitter *s = w->arg;
	unsigned i;

	spool_begin_or_die(s);
	s->history = history_new(s, HISTORY_FILE);
	run_history_begin(s);
	upkeep = timer_new(s, on_age, s);
	memory_begin(s);
	wake_init(s, lanes);
	boxes_new(s);
	conf_swap(s);
	to_stream(s);
	/* After an error on_age() calls it again. */
	(void)destinations_check(s);
	history_count(s->history, COUNT_RESTARTS, 1);
	for (i = 0; i < n_quarantined; i++)
		intake_quarantine(s->intake, &quarantined[i]);
	topology_cache_load(s);
	intake_upkeep(s->intake);
	breaker_conf(s->breaker);
	wake(s, WAKE_DELIVERY);
	timer_after(upkeep, AGE_EVERY);
}

static void
on_supervisor(struct worker *w, const struct msg_header *h, struct reader *r,
    int fd)
{
	struct submitter *s = w->arg;
	struct run_key key;
	const uint8_t *p;
	unsigned which;
	size_t n;

	if (fd != -1)
		close(fd);
	if (h->type == MSG_FILE) {
		which = rd_u8(r);
		p = rd_blob(r, &n);
		if (rd_end(r) == -1)
			channel_broken(w->supervisor, "file");
		else
			resolver_file(s->resolver, (enum msg_file)which, p, n);
	} else if (h->type == MSG_QUARANTINE) {
		rd_run_key(r, &key);
		if (rd_end(r) == -1)
			channel_broken(w->supervisor, msg_name(h->type));
		else if (s->intake != NULL)
			intake_quarantine(s->intake, &key);
		else if (n_quarantined < QUARANTINE_MAX)
			quarantined[n_quarantined++] = key;
	}
}

static void
on_peer(struct worker *w, enum role peer, struct channel *c)
{
	struct submitter *s = w->arg;

	if ((peer != ROLE_COLLECTOR && peer != ROLE_RECEIVER) ||
	    s->intake == NULL)
		return;
	/* before its open-runs, with which the receiver begins */
	if (c != NULL && peer == ROLE_RECEIVER)
		failover_peer(s->failover, c);
	intake_peer(s->intake, c);
	if (c != NULL) {
		reconcile_peer(s->reconcile);
		backfill_peer(s->backfill);
	}
}

static void
on_hook_called(struct submitter *s, struct channel *c, struct reader *r)
{
	char cluster[CLUSTER_MAX];
	uint64_t job;
	unsigned kind;
	int64_t ms;

	rd_name(r, cluster, sizeof(cluster));
	job = rd_u64(r);
	kind = rd_u8(r);
	ms = rd_i64(r);
	if (rd_end(r) == -1 || ms < 0 || ms / 1000 > TIME_S_MAX || job == 0 ||
	    kind > EVENT_END)
		channel_broken(c, "hook-called");
	else
		history_hook(s->history, cluster, job, kind, ms);
}

static void
on_neighbour(struct worker *w, struct channel *c, const struct msg_header *h,
    struct reader *r, int fd)
{
	struct submitter *s = w->arg;

	if (fd != -1)
		close(fd);
	if (s->intake == NULL)
		channel_broken(c, "message before the start");
	else if (h->type == MSG_CONTROLLER_ROLE) {
		if (failover_frame(s->failover, r) == -1)
			channel_broken(c, msg_name(h->type));
	} else if (h->type == MSG_ACTIVE_UNTIL) {
		if (failover_active_until(s->failover, r) == -1)
			channel_broken(c, msg_name(h->type));
	} else if (h->type == MSG_DRAIN) {
		if (failover_drain(s->failover, r) == -1)
			channel_broken(c, msg_name(h->type));
	} else if (h->type == MSG_HOOK_CALLED)
		on_hook_called(s, c, r);
	else if (h->type == MSG_SLURM_TIMES) {
		if (history_slurm_times(s->history, r) == -1)
			channel_broken(c, msg_name(h->type));
	} else if (h->type == MSG_NODES)
		node_states_frame(s->nodes, c, r);
	else
		intake_receive(s->intake, h, r);
}

/* -test: the configuration is checked and not in force, the spool not open. */
static void
on_check(struct worker *w, uint64_t request, const struct ctl_request *req)
{
	struct submitter *s = w->arg;

	if (w->serving || (req->text[0] == '\0' && checked.payload == NULL))
		worker_ctl_end(w, request, CTL_ERROR,
		    "the submitter does not support this request");
	else if (req->text[0] != '\0')
		check_cluster(s, request, req->text);
	else {
		check_begin(s, request, &checked);
		memset(&checked, 0, sizeof(checked));
	}
}

static void
on_ctl(struct worker *w, uint64_t request, const struct ctl_request *req)
{
	if (req->verb == CTL_CHECK)
		on_check(w, request, req);
	else
		ctl_on_request(w, request, req);
}

static void
on_stop(struct worker *w, uint32_t grace_ms)
{
	struct submitter *s = w->arg;

	if (s->spool != NULL) {
		commit_now(s->commit);
		spool_close(s->spool);
	}
	secret_wipe_all();
	history_close(s->history);
	worker_exit(w);
}

static const struct worker_ops ops = {
	.role = ROLE_SUBMITTER,
	.prepare = on_prepare,
	.init = on_init,
	.conf_check = on_conf_check,
	.conf_commit = on_conf_commit,
	.start = on_start,
	.on_supervisor = on_supervisor,
	.on_peer = on_peer,
	.on_neighbour = on_neighbour,
	.on_ctl = on_ctl,
	.on_stop = on_stop,
	.summary = submitter_summary,
};

/*
 * `submitter -check FILE`: cc-slurm-adapterctl executes this to check a spool
 * without a daemon.  There is no worker and no sandbox; the process has the
 * rights of the caller.
 */
static int
check_main(const char *path)
{
	char text[1024];
	int rc = spool_check_file(path, text, sizeof(text));

	printf("%s\n", text);
	return fflush(stdout) == 0 ? rc : 1;
}

int
main(int argc, char **argv)
{
	static struct submitter submitter;

	if (argc == 3 && strcmp(argv[1], "-check") == 0)
		return check_main(argv[2]);

	worker_main(&ops, &submitter, argc, argv);
}
