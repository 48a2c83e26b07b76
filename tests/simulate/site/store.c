/* SPDX-License-Identifier: MIT */
/* See store.h. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/model/job.h"
#include "tests/simulate/site/faults.h"
#include "tests/simulate/site/runner.h"
#include "tests/simulate/site/slurm.h"
#include "tests/simulate/site/store.h"

#define COMMIT_MS	1000 /* at most, until records are durable */
#define COMMIT_QUICK_MS 5
#define LOOKUP_MS	(30 * MINUTE_MS)
#define LOOKUP_RUNS	20
#define RESENT_MS	(10 * SECOND_MS) /* until all is sent again */
#define BUCKETS		4096
#define UNCOMMITTED	4096		/* records: more than the window */
#define SEEN_MS		(5 * MINUTE_MS) /* that Slurm has shown a run */
#define LASTING_S	600		/* such a run was seen by a poll */
#define BOGUS_JOB	4000000000u	/* Slurm never had this job */
#define SCRIPT_MS	(5 * MINUTE_MS) /* for a script after the end */
#define SCRIPT_CTLD_S	50 /* slurmctld must have it for this long */
#define KEYS_OF_FRAME	500

struct stored_run {
	struct stored_run *next; /* all, oldest first */
	struct stored_run *same; /* of the same bucket */
	struct job job;
	int64_t submit; /* of the first record: a resize changes it in Slurm */
	int confirmed;	/* Slurm has shown it running */
	int script_due; /* as RUN_SCRIPT_DUE of the submitter */
};

struct uncommitted {
	struct uncommitted *next;
	uint16_t type;
	size_t len;
	uint8_t bytes[];
};

static struct {
	struct link *link;
	struct stored_run *first, **tail, *buckets[BUCKETS];
	uint64_t runs;
	uint64_t lookups;
	int64_t resume;		 /* epoch */
	int64_t collector_ended; /* ms */
	struct uncommitted *frames, **frames_tail;
	unsigned n_frames;
	/* a crash has lost them: this collector must send them again */
	struct uncommitted *lost, **lost_tail;
	const struct store_ops *ops;
	unsigned fragile;	 /* of a million records */
	unsigned script_fragile; /* of a million announced job scripts */
	uint64_t seq;		 /* of the last message */
	struct world_call *commit;
	int paused;
	struct prng prng, script_prng;
} store;

static void
frame_send(enum msg_type type, struct writer *w)
{
	struct msg_header h = { .type = (uint16_t)type,
		.length = (uint32_t)w->len };
	const char *wrong = msg_check(&h, ROLE_SUBMITTER, ROLE_COLLECTOR);

	invariant(wrong == NULL, "%s of the store: %s", msg_name(type), wrong);
	if (store.link != NULL)
		link_send(store.link, 0, &h, w->buf, -1);
	wr_clear(w);
}

/* --- the records and the truth --- */

static const char *
key_text(const struct run_key *key)
{
	static char text[128];

	snprintf(text, sizeof(text), "job %llu of %s, started at %lld",
	    (unsigned long long)key->job, key->cluster, (long long)key->start);
	return text;
}

static void
threads_check(const struct job *job, const struct slurm_run *run)
{
	const struct job_host *host;
	uint32_t i;

	for (i = 0; i < job->n_hosts; i++) {
		host = &job->hosts[i];
		invariant(host->n_cpus == 1 &&
			host->cpus[0].first == run->cpu_first &&
			host->cpus[0].last ==
			    run->cpu_first + run->cpu_count - 1,
		    "%s has other hardware threads on %s", key_text(&job->key),
		    host->name);
	}
}

static void
devices_check(const struct job *job, const struct slurm_run *run)
{
	uint32_t i, k, n = (uint32_t)__builtin_popcount(run->gpus);
	char want[ACCEL_MAX];
	unsigned device;

	for (i = 0; i < job->n_hosts; i++) {
		invariant(job->hosts[i].n_accels == n,
		    "%s has %u devices on %s, not %u", key_text(&job->key),
		    job->hosts[i].n_accels, job->hosts[i].name, n);
		for (device = k = 0; device < SLURM_GPUS; device++) {
			if ((run->gpus & (1u << device)) == 0)
				continue;
			snprintf(want, sizeof(want), "gpu%u", device);
			invariant(strcmp(job->hosts[i].accels[k++], want) == 0,
			    "%s lacks device %u", key_text(&job->key), device);
		}
	}
}

static void
hosts_check(const struct job *job, const struct slurm_run *run)
{
	uint32_t i;

	invariant(job->n_hosts == run->node_count ||
		job->n_hosts == run->nodes_now,
	    "%s has %u nodes", key_text(&job->key), job->n_hosts);
	for (i = 0; i < job->n_hosts; i++)
		invariant(strcmp(job->hosts[i].name,
			      slurm_node_name(run->node_first + i)) == 0,
		    "%s ran not on %s", key_text(&job->key),
		    job->hosts[i].name);
	if (job->flags & JOB_HAS_THREADS)
		threads_check(job, run);
	if ((job->flags & JOB_HAS_ACCELS) && run->gpus != 0)
		devices_check(job, run);
}

/*
 * A run that was requeued in the second of its start never ran for the product,
 * whatever its prolog did.  The steps of an opted-out run, which is not reported to
 * cc-backend, are not read.
 */
static void
end_check(const struct job *job, const struct slurm_run *run)
{
	int never = (job->flags & JOB_NEVER_RAN) != 0;

	invariant(run->end != 0, "%s is reported as ended and runs",
	    key_text(&job->key));
	invariant(job->end == run->end && job->state == run->state,
	    "%s ended at %lld as %s, not at %lld as %s", key_text(&job->key),
	    (long long)run->end, job_end_name(run->state), (long long)job->end,
	    job_end_name(job->state));
	invariant(!never || !run->ran || run->end == run->start,
	    "%s ran and is reported as never run", key_text(&job->key));
	invariant(never || run->ran || (job->flags & JOB_OPTED_OUT) ||
		run->end - run->start > SLURM_PROLOG_MAX,
	    "%s is reported, but its prolog failed", key_text(&job->key));
}

static void
script_check(const struct job *job, const struct slurm_run *run)
{
	char want[64];

	snprintf(want, sizeof(want), "# job %u\n", slurm_script_of(run->job));
	invariant(strstr(job->script, want) != NULL,
	    "%s has the script of another job", key_text(&job->key));
}

static void
record_check(const struct job *job)
{
	const struct slurm_run *run;

	invariant(strcmp(job->key.cluster, SLURM_CLUSTER) == 0,
	    "%s is of another cluster", key_text(&job->key));
	run = slurm_run_find((uint32_t)job->key.job, job->key.start);
	invariant(run != NULL, "%s never existed", key_text(&job->key));
	if (job->script != NULL)
		script_check(job, run);
	if (job->flags & JOB_PARTIAL) {
		invariant(!(job->flags & JOB_LIVE) || run->ran,
		    "%s is confirmed and did not run", key_text(&job->key));
		return;
	}
	hosts_check(job, run);
	if (job->end != 0)
		end_check(job, run);
	else
		invariant((job->flags & JOB_UNCONFIRMED) || run->ran,
		    "%s is sent as running in its prolog", key_text(&job->key));
}

/* --- job scripts --- */

/* A run that waits for its announced job script. */
struct script_wait {
	struct stored_run *run;
	int64_t since; /* ms */
};

static void
on_script_late(void *arg)
{
	struct script_wait *wait = arg;

	invariant(!wait->run->script_due ||
		store.collector_ended >= wait->since ||
		site_faults_last() >= wait->since,
	    "nobody asked for the script of %s", key_text(&wait->run->job.key));
	free(wait);
}

static void
on_announced(void *arg)
{
	(void)arg;
	if (store.link != NULL)
		store.ops->collector_crash();
}

/* A new run, and its script was announced. */
static void
script_announced(struct stored_run *run)
{
	run->script_due = 1;
	if (prng_chance(&store.script_prng, store.script_fragile))
		world_after(PROCESS_NONE, 0, on_announced, NULL);
}

/*
 * The run has ended and its announced script has not come: it must come while
 * slurmctld has it.  By a clock that was stepped, slurmctld seems to have forgotten
 * the job.
 */
static void
script_due_check(struct stored_run *run)
{
	const struct run_key *key = &run->job.key;
	const struct slurm_run *truth = slurm_run_find((uint32_t)key->job,
	    key->start);
	struct script_wait *wait;

	if (truth == NULL || !slurm_has_script(truth) ||
	    world_wall_ms() != world_true_ms() ||
	    truth->state == END_REQUEUED || store.paused ||
	    !slurm_remembers(truth, SCRIPT_CTLD_S))
		return;
	wait = world_alloc(sizeof(*wait));
	wait->run = run;
	wait->since = world_ms();
	world_after(PROCESS_NONE, SCRIPT_MS, on_script_late, wait);
}

/* --- storing --- */

static struct stored_run *
run_find(const struct run_key *key)
{
	struct stored_run *run = store.buckets[key->job % BUCKETS];

	while (run != NULL && !run_key_equal(&run->job.key, key))
		run = run->same;
	return run;
}

static struct stored_run *
run_new(const struct run_key *key)
{
	struct stored_run *run = world_alloc(sizeof(*run));

	job_init(&run->job);
	run->job.key = *key;
	run->same = store.buckets[key->job % BUCKETS];
	store.buckets[key->job % BUCKETS] = run;
	*store.tail = run;
	store.tail = &run->next;
	store.runs++;
	return run;
}

/*
 * Since 23.02 the last row of a resized job begins at the resize.  The submitter
 * finds the stored run that began earlier and has the same end
 * (submitter/spool/find_run.c).
 */
static void
resized_part(struct job *job)
{
	const struct stored_run *run = store.buckets[job->key.job % BUCKETS];

	if (job->end <= job->key.start || job->submit < job->key.start)
		return;
	for (; run != NULL; run = run->same)
		if (run->job.key.job == job->key.job &&
		    run->job.key.start < job->key.start &&
		    run->job.end == job->end) {
			job->key.start = run->job.key.start;
			return;
		}
}

/*
 * The start of a run whose nodes were powered up first moves until the start is
 * confirmed; the submission stays (submitter/spool/put.c).
 */
static void
moved_start(struct job *job)
{
	const struct slurm_run *run = slurm_run_find((uint32_t)job->key.job,
	    job->key.start);
	struct run_key other = job->key;
	struct stored_run *stored;
	/* The only record without a submission; it has the key of its request. */
	int is_script = (job->flags & JOB_PARTIAL) != 0 && job->submit == 0;

	if (run == NULL || run->first == run->start ||
	    run_find(&job->key) != NULL)
		return;
	other.start = job->key.start == run->start ? run->first : run->start;
	stored = run_find(&other);
	if (stored == NULL || (!is_script && stored->submit != job->submit))
		return;
	if (stored->confirmed || is_script)
		job->key.start = other.start;
	else
		stored->job.key.start = job->key.start;
}

static void
record_apply(struct reader *r)
{
	struct stored_run *run;
	struct job job;
	int is_new = 0;

	job_init(&job);
	job_read(r, &job);
	invariant(rd_end(r) == 0, "a malformed record");
	trace("stores %s%s%s", key_text(&job.key),
	    job.flags & JOB_PARTIAL ? ", an update" : "",
	    job.end != 0 ? ", ended" : "");
	resized_part(&job);
	moved_start(&job);
	record_check(&job);
	run = run_find(&job.key);
	if (run == NULL && (job.flags & JOB_PARTIAL) == 0) {
		is_new = 1;
		run = run_new(&job.key);
		run->submit = job.submit;
		if (job.flags & JOB_MORE)
			script_announced(run);
	}
	if (run != NULL) {
		if ((job.flags & (JOB_PARTIAL | JOB_UNCONFIRMED)) == 0 ||
		    (job.flags & JOB_LIVE) != 0)
			run->confirmed = 1;
		if ((job.flags & JOB_MORE) == 0 && job.end == 0)
			run->script_due = 0;
		if (!is_new && run->job.end == 0 && job.end != 0 &&
		    run->script_due)
			script_due_check(run);
		job_merge(&run->job, &job);
	}
	job_clear(&job);
}

static void
watermark_apply(struct reader *r)
{
	char cluster[CLUSTER_MAX];
	int64_t until;
	uint8_t source;

	rd_name(r, cluster, sizeof(cluster));
	source = rd_u8(r);
	until = rd_i64(r);
	invariant(rd_end(r) == 0 && source == WATERMARK_ACCOUNTING,
	    "a malformed watermark");
	invariant(until <= world_true_ms() / 1000,
	    "the resume point %lld is in the future", (long long)until);
	store.resume = until;
}

/* Slurm has shown the run to whoever asked for minutes. */
static int
is_evident(const struct slurm_run *run)
{
	int64_t now = world_ms();

	if (run->end == 0)
		return run->start * 1000 + SEEN_MS < world_true_ms() &&
		    slurm_ctld_is_up();
	return run->known != 0 && run->known + SEEN_MS < now;
}

static void
not_found_apply(struct reader *r)
{
	char cluster[CLUSTER_MAX];
	const struct slurm_run *run;
	struct run_key key;
	uint32_t n;

	rd_name(r, cluster, sizeof(cluster));
	rd_u64(r);
	for (n = rd_u32(r); n > 0; n--) {
		rd_run_key(r, &key);
		run = slurm_run_find((uint32_t)key.job, key.start);
		trace("%s is not found", key_text(&key));
		/* Its start has moved meanwhile: nothing is stored of the key. */
		if (run != NULL && run->first != run->start &&
		    run_find(&key) == NULL)
			continue;
		invariant(run == NULL || !is_evident(run),
		    "%s is reported as not found", key_text(&key));
	}
	invariant(rd_end(r) == 0, "a malformed not-found");
}

static void
frames_apply(void)
{
	struct uncommitted *f;
	struct reader r;

	while ((f = store.frames) != NULL) {
		store.frames = f->next;
		rd_init(&r, f->bytes, f->len);
		rd_u64(&r);
		if (f->type == MSG_RECORD)
			record_apply(&r);
		else if (f->type == MSG_WATERMARK)
			watermark_apply(&r);
		else
			not_found_apply(&r);
		free(f);
	}
	store.frames_tail = &store.frames;
	store.n_frames = 0;
}

static void
on_commit(void *arg)
{
	struct writer w;

	(void)arg;
	store.commit = NULL;
	frames_apply();
	wr_init(&w, 8);
	wr_u64(&w, store.seq);
	frame_send(MSG_RECORD_ACK, &w);
}

/* The numbers of the messages differ. */
static int
is_same(const struct uncommitted *a, const struct uncommitted *b)
{
	return a->type == b->type && a->len == b->len &&
	    memcmp(a->bytes + sizeof(uint64_t), b->bytes + sizeof(uint64_t),
		a->len - sizeof(uint64_t)) == 0;
}

static void
lost_pop(void)
{
	struct uncommitted *f = store.lost;

	store.lost = f->next;
	if (store.lost == NULL)
		store.lost_tail = &store.lost;
	free(f);
}

static void
on_fragile(void *arg)
{
	(void)arg;
	if (store.link != NULL)
		store.ops->crash();
}

/* Some commits are quick: their acknowledgements meet the next records. */
static int64_t
commit_ms(void)
{
	return (int64_t)prng_below(&store.prng,
	    prng_chance(&store.prng, 500000) ? COMMIT_QUICK_MS : COMMIT_MS);
}

static void
frame_keep(const struct msg_header *h, const uint8_t *payload)
{
	struct uncommitted *f = world_alloc(sizeof(*f) + h->length);
	uint64_t seq;

	f->type = h->type;
	f->len = h->length;
	memcpy(f->bytes, payload, h->length);
	memcpy(&seq, payload, sizeof(seq));
	invariant(seq == store.seq + 1, "message %llu after %llu",
	    (unsigned long long)seq, (unsigned long long)store.seq);
	store.seq = seq;
	if (store.lost != NULL && is_same(store.lost, f))
		lost_pop();
	if (prng_chance(&store.prng, store.fragile))
		world_after(PROCESS_NONE,
		    (int64_t)prng_below(&store.prng, COMMIT_MS), on_fragile,
		    NULL);
	*store.frames_tail = f;
	store.frames_tail = &f->next;
	invariant(++store.n_frames <= UNCOMMITTED,
	    "the collector sends without acknowledgements");
	if (store.commit == NULL)
		store.commit = world_after(PROCESS_NONE, commit_ms(), on_commit,
		    NULL);
}

static void
on_frame(void *arg, const struct msg_header *h, const uint8_t *payload, int fd)
{
	(void)arg;
	(void)fd;
	switch (h->type) {
	case MSG_RECORD:
	case MSG_WATERMARK:
	case MSG_NOT_FOUND:
		frame_keep(h, payload);
		break;
	case MSG_NODES:
	case MSG_HOOK_CALLED:
	case MSG_SLURM_TIMES:
	case MSG_CONTROLLER_ROLE:
		break;
	default:
		invariant_fail("%s to the store", msg_name(h->type));
	}
}

static void
on_broken(void *arg, const char *why)
{
	(void)arg;
	(void)why;
}

static const struct link_ops ops = {
	.frame = on_frame,
	.broken = on_broken,
};

/* --- messages of the store --- */

static unsigned
open_bits(const struct stored_run *run)
{
	return (run->confirmed ? 0 : OPEN_RUNS_UNCONFIRMED) |
	    (run->script_due ? OPEN_RUNS_SCRIPT_DUE : 0);
}

/* Sends the open runs with these bits. */
static void
open_runs_send(unsigned bits)
{
	struct stored_run *run = store.first;
	struct open_key open;
	struct writer keys, w;
	uint32_t n;

	while (run != NULL) {
		wr_init(&keys, MSG_PAYLOAD_MAX);
		for (n = 0; run != NULL && n < KEYS_OF_FRAME; run = run->next) {
			if (run->job.end != 0 || open_bits(run) != bits)
				continue;
			open.key = run->job.key;
			open.submit = run->submit;
			wr_open_key(&keys, &open);
			n++;
		}
		wr_init(&w, MSG_PAYLOAD_MAX);
		wr_u8(&w, (uint8_t)bits);
		wr_u32(&w, n);
		if (n > 0)
			wr_mem(&w, keys.buf, keys.len);
		frame_send(MSG_OPEN_RUNS, &w);
		wr_clear(&keys);
	}
}

static void
resume_send(void)
{
	struct writer w;

	if (store.resume != 0) {
		wr_init(&w, 256);
		wr_str(&w, SLURM_CLUSTER);
		wr_i64(&w, store.resume);
		frame_send(MSG_RESUME_FROM, &w);
	}
	open_runs_send(0);
	open_runs_send(OPEN_RUNS_SCRIPT_DUE);
	open_runs_send(OPEN_RUNS_UNCONFIRMED);
	open_runs_send(OPEN_RUNS_UNCONFIRMED | OPEN_RUNS_SCRIPT_DUE);
	wr_init(&w, 16);
	wr_u8(&w, OPEN_RUNS_LAST);
	wr_u32(&w, 0);
	frame_send(MSG_OPEN_RUNS, &w);
}

/* Looks up some open runs, and one that never existed. */
static void
lookup_send(void *arg)
{
	struct run_key bogus = { SLURM_CLUSTER, BOGUS_JOB, 1700000000 };
	struct stored_run *run;
	struct writer w, keys;
	uint32_t n = 1;

	(void)arg;
	world_after(PROCESS_NONE, LOOKUP_MS, lookup_send, NULL);
	wr_init(&keys, MSG_PAYLOAD_MAX);
	wr_run_key(&keys, &bogus);
	for (run = store.first; run != NULL && n < LOOKUP_RUNS; run = run->next)
		if (run->job.end == 0) {
			wr_run_key(&keys, &run->job.key);
			n++;
		}
	wr_init(&w, MSG_PAYLOAD_MAX);
	wr_str(&w, SLURM_CLUSTER);
	wr_u64(&w, ++store.lookups);
	wr_u32(&w, n);
	wr_mem(&w, keys.buf, keys.len);
	frame_send(MSG_LOOKUP, &w);
	wr_clear(&keys);
}

static void
flow_send(void)
{
	struct writer w;

	wr_init(&w, 1);
	wr_u8(&w, (uint8_t)store.paused);
	frame_send(MSG_FLOW, &w);
}

/* --- its life --- */

/* The collector keeps what was not acknowledged. */
static void
on_resent(void *arg)
{
	invariant(arg != store.link || store.lost == NULL,
	    "the collector does not send a message again");
}

void
store_begin(const struct store_ops *callbacks)
{
	store.ops = callbacks;
	store.lost_tail = &store.lost;
	store.tail = &store.first;
	store.frames_tail = &store.frames;
	prng_init(&store.prng, world_seed(), "store");
	prng_init(&store.script_prng, world_seed(), "announced job scripts");
	world_after(PROCESS_NONE, LOOKUP_MS, lookup_send, NULL);
}

void
store_connect(struct link *l)
{
	store_disconnect();
	store.link = l;
	store.seq = 0;
	link_attach(l, 0, &ops, NULL);
	resume_send();
	world_after(PROCESS_NONE, RESENT_MS, on_resent, l);
	if (store.paused)
		flow_send();
}

/* Records that have arrived are stored before a new collector gets the runs. */
void
store_disconnect(void)
{
	world_cancel(store.commit);
	store.commit = NULL;
	frames_apply();
	if (store.link != NULL)
		link_close(store.link, 0);
	store.link = NULL;
}

void
store_collector_ended(void)
{
	store.collector_ended = world_ms();
	store_disconnect();
	while (store.lost != NULL)
		lost_pop();
}

void
store_fragile(unsigned chance)
{
	store.fragile = chance;
}

void
store_script_fragile(unsigned chance)
{
	store.script_fragile = chance;
}

void
store_crash(void)
{
	trace("the store crashes with %u records", store.n_frames);
	/* They were sent before those that are lost already. */
	*store.frames_tail = store.lost;
	if (store.lost == NULL)
		store.lost_tail = store.frames_tail;
	store.lost = store.frames;
	if (store.lost == NULL)
		store.lost_tail = &store.lost;
	store.frames = NULL;
	store.frames_tail = &store.frames;
	store.n_frames = 0;
	store.paused = 0;
	store_disconnect();
}

void
store_flow_set(int pause)
{
	trace("the store %s", pause ? "is full" : "has room");
	store.paused = pause;
	flow_send();
}

int64_t
store_resume(void)
{
	return store.resume;
}

uint64_t
store_runs(void)
{
	return store.runs;
}

/* --- the end --- */

static void
run_verdict(const struct slurm_run *run, int details)
{
	struct run_key key = { SLURM_CLUSTER, run->id, run->first };
	const struct stored_run *stored = run_find(&key), *first = stored;

	if (run->first != run->start) {
		key.start = run->start;
		stored = run_find(&key);
		invariant(stored == NULL || first == NULL,
		    "%s is stored with both of its starts", key_text(&key));
		if (stored == NULL)
			stored = first;
	}
	if (stored == NULL) {
		invariant(!run->ran || runner_skipped(run->end), "%s is lost",
		    key_text(&key));
		return;
	}
	invariant(stored->job.end != 0, "%s has no end", key_text(&key));
	invariant(!run->ran || run->end == run->start ||
		(stored->job.flags & JOB_NEVER_RAN) == 0,
	    "%s ran and is stored as never run", key_text(&key));
	if (details && run->ran && !slurm_is_hostile(run) &&
	    run->end - run->start > LASTING_S) {
		invariant(stored->job.flags & JOB_HAS_THREADS,
		    "%s lacks its hardware threads", key_text(&key));
		invariant(!slurm_has_script(run) || stored->job.script != NULL,
		    "%s lacks its job script", key_text(&key));
	}
}

void
store_verdict(int details)
{
	const struct slurm_run *run;

	for (run = slurm_runs(); run != NULL; run = run->next)
		run_verdict(run, details);
}
