/* SPDX-License-Identifier: MIT */
/* See collector_side.h. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "tests/simulate/collector_side.h"
#include "tests/simulate/faults.h"
#include "tests/simulate/truth.h"

#define POLL_MS	   MINUTE_MS
#define RESTART_MS 1000
#define LAG	   900	  /* s: a range question reaches so far back */
#define DBD_DELAY  30	  /* s until accounting shows an end */
#define SPAN_MAX   604800 /* s: slurmQueryMaxSpan */
#define WINDOW	   512	  /* unacknowledged messages; ended runs wait */

struct item {
	struct item *next;
	enum msg_type type;
	struct writer w;       /* begins with the number of the message */
	struct truth_run *run; /* of a record */
};

static struct {
	struct supervised *submitter;
	struct link *link; /* end 0 is ours */
	struct item *first, **last;
	struct item *unsent;
	uint64_t base, next; /* numbers on this link */
	uint64_t acks;	     /* messages, on all links */
	unsigned n;
	int released; /* open-runs was received */
	int paused;
	unsigned incarnation; /* of the collector, from 1 */
	int64_t resume;	      /* accounting was read up to */
	unsigned seen;	      /* runs that were looked at at least once */
	int role;	      /* of two suites: 1 active, 0 passive, -1 one */
} side = { .last = &side.first, .incarnation = 1, .role = -1 };

unsigned
collector_side_waiting(void)
{
	return side.n;
}

/* --- the outbox --- */

static void
item_send(struct item *item)
{
	struct msg_header h = { .type = (uint16_t)item->type,
		.length = (uint32_t)item->w.len };
	uint64_t number = side.next++;

	memcpy(item->w.buf, &number, sizeof(number));
	link_send(side.link, 0, &h, item->w.buf, -1);
}

static void
outbox_flush(void)
{
	while (side.unsent != NULL && side.link != NULL && side.released) {
		item_send(side.unsent);
		side.unsent = side.unsent->next;
	}
}

/* Takes w. */
static void
outbox_add(enum msg_type type, const struct writer *w, struct truth_run *run)
{
	struct item *item = world_alloc(sizeof(*item));

	invariant(wr_end(w) == 0, "a message is too long");
	item->type = type;
	item->w = *w;
	item->run = run;
	*side.last = item;
	side.last = &item->next;
	if (side.unsent == NULL)
		side.unsent = item;
	side.n++;
	outbox_flush();
}

static void
item_drop(void)
{
	struct item *item = side.first;

	side.first = item->next;
	if (side.first == NULL)
		side.last = &side.first;
	if (side.unsent == item)
		side.unsent = item->next;
	side.n--;
	wr_clear(&item->w);
	free(item);
}

static void
on_ack(struct reader *r)
{
	uint64_t number = rd_u64(r);

	invariant(number < side.next, "record-ack %llu of %llu",
	    (unsigned long long)number, (unsigned long long)side.next);
	side.acks++;
	while (side.first != NULL && side.base <= number) {
		invariant(side.first != side.unsent,
		    "record-ack of a message that was not sent");
		if (side.first->run != NULL && side.first->run->stored == 0)
			side.first->run->stored = side.acks;
		item_drop();
		side.base++;
	}
}

/* --- records --- */

static void
record_send(struct truth_run *t, int with_script, int more)
{
	struct writer w;
	struct job job;

	job_init(&job);
	truth_job(t, &job, with_script);
	if (more)
		job.flags |= JOB_MORE;
	wr_init(&w, MSG_PAYLOAD_MAX);
	wr_u64(&w, 0);
	job_write(&w, &job);
	trace("record: job %llu start %lld end %lld",
	    (unsigned long long)t->job, (long long)t->start,
	    (long long)job.end);
	job_clear(&job);
	outbox_add(MSG_RECORD, &w, t);
	if (t->told_by != side.incarnation)
		t->told_end = t->told_script = 0;
	t->told_by = side.incarnation;
	t->told_end |= truth_has_ended(t);
	t->told_script |= with_script;
}

static void
watermark_send(int64_t until)
{
	struct writer w;

	if (until <= side.resume)
		return;
	side.resume = until;
	wr_init(&w, 256);
	wr_u64(&w, 0);
	wr_str(&w, TRUTH_CLUSTER);
	wr_u8(&w, WATERMARK_ACCOUNTING);
	wr_i64(&w, until);
	outbox_add(MSG_WATERMARK, &w, NULL);
}

/* squeue: runs that run; their script comes a poll later. */
static void
ask_controller(void)
{
	struct truth_run *t;
	unsigned i;

	for (i = 0; (t = truth_run(i)) != NULL; i++) {
		if (truth_has_ended(t))
			continue;
		if (t->told_by != side.incarnation)
			record_send(t, 0, t->has_script);
		else if (t->has_script && !t->told_script)
			record_send(t, 1, 0);
	}
}

/*
 * sacct: ended runs of the range, in the order of their start.  The watermark
 * follows only the whole answer.
 */
static void
ask_accounting(void)
{
	int64_t until = truth_now() - DBD_DELAY, from = side.resume - LAG;
	struct truth_run *t;
	unsigned i;

	if (side.resume == 0)
		from = truth_now() - SPAN_MAX;
	for (i = 0; (t = truth_run(i)) != NULL; i++) {
		if (t->end > until || t->end < from)
			continue;
		if (t->told_by == side.incarnation && t->told_end)
			continue;
		if (side.paused || side.n >= WINDOW)
			return;
		record_send(t, t->has_script, 0);
	}
	watermark_send(until);
}

static void
poll(void)
{
	if (side.link == NULL || !side.released)
		return;
	ask_controller();
	ask_accounting();
}

static void
on_poll(void *arg)
{
	(void)arg;
	poll();
	world_after(PROCESS_NONE, POLL_MS, on_poll, NULL);
}

/* --- messages of the submitter --- */

static void
on_resume_from(struct reader *r)
{
	char cluster[CLUSTER_MAX];
	int64_t until;

	rd_name(r, cluster, sizeof(cluster));
	until = rd_i64(r);
	trace("resume-from %s %lld", cluster, (long long)until);
	/* Only a new collector uses it. */
	if (side.resume == 0)
		side.resume = until;
}

/* A run that is open in the spool: its end is asked by id. */
static void
run_open(const struct open_key *open)
{
	const struct run_key *key = &open->key;
	struct truth_run *t = truth_find(key->job, key->start);

	invariant(t != NULL, "the spool has %s, which never ran",
	    run_key_text(key));
	invariant(open->submit == 0 || open->submit == t->submit,
	    "the spool has another submission of %s", run_key_text(key));
	if (truth_has_ended(t) &&
	    (t->told_by != side.incarnation || !t->told_end))
		record_send(t, t->has_script, 0);
}

static void
on_open_runs(struct reader *r)
{
	uint8_t bits = rd_u8(r);
	uint32_t i, n = rd_u32(r);
	struct open_key open;

	for (i = 0; i < n && !r->err; i++) {
		rd_open_key(r, &open);
		if (!r->err)
			run_open(&open);
	}
	if (bits & OPEN_RUNS_LAST) {
		side.released = 1;
		side.unsent = side.first;
		side.base = side.next = 1;
		outbox_flush();
		poll();
	}
}

static void
on_lookup(struct reader *r)
{
	char cluster[CLUSTER_MAX];
	struct truth_run *t;
	struct run_key key;
	uint32_t i, n;

	rd_name(r, cluster, sizeof(cluster));
	rd_u64(r);
	n = rd_u32(r);
	for (i = 0; i < n && !r->err; i++) {
		rd_run_key(r, &key);
		if (r->err)
			break;
		t = truth_find(key.job, key.start);
		invariant(t != NULL, "lookup of %s, which never ran",
		    run_key_text(&key));
		record_send(t, t->has_script, 0);
	}
}

static void
on_frame(void *arg, const struct msg_header *h, const uint8_t *payload, int fd)
{
	const char *wrong = msg_check(h, ROLE_SUBMITTER, ROLE_COLLECTOR);
	struct reader r;

	(void)fd;
	if (arg != side.link)
		return;
	invariant(wrong == NULL, "%s to the collector: %s", msg_name(h->type),
	    wrong);
	rd_init(&r, payload, h->length);
	switch (h->type) {
	case MSG_RECORD_ACK:
		on_ack(&r);
		break;
	case MSG_RESUME_FROM:
		on_resume_from(&r);
		break;
	case MSG_OPEN_RUNS:
		on_open_runs(&r);
		break;
	case MSG_LOOKUP:
		on_lookup(&r);
		break;
	case MSG_FLOW:
		side.paused = rd_u8(&r);
		trace("flow %d", side.paused);
		break;
	case MSG_POLL_NOW:
		poll();
		break;
	default:
		break;
	}
	invariant(rd_end(&r) == 0 || h->type == MSG_POLL_NOW ||
		h->type == MSG_BACKFILL_RANGE,
	    "malformed %s", msg_name(h->type));
}

static void
on_broken(void *arg, const char *why)
{
	(void)why;
	if (arg == side.link)
		side.link = NULL;
}

static const struct link_ops link_ops = {
	.frame = on_frame,
	.broken = on_broken,
};

static void
role_send(void)
{
	struct msg_header h = { .type = MSG_CONTROLLER_ROLE };
	struct writer w;

	if (side.link == NULL || side.role == -1)
		return;
	wr_init(&w, 2);
	wr_u8(&w, (uint8_t)side.role);
	wr_u8(&w, 1); /* the second controller: its stops wait */
	h.length = (uint32_t)w.len;
	link_send(side.link, 0, &h, w.buf, -1);
	wr_clear(&w);
}

void
collector_side_role(int active)
{
	side.role = active;
	role_send();
}

void
collector_side_link(void)
{
	struct link *l;

	if (!supervised_serves(side.submitter) || side.incarnation == 0)
		return;
	l = link_new(PROCESS_NONE, supervised_process(side.submitter));
	if (side.link != NULL)
		link_close(side.link, 0);
	side.link = l;
	side.released = side.paused = 0;
	link_attach(l, 0, &link_ops, l);
	supervised_peer(side.submitter, ROLE_COLLECTOR, l, 1);
	role_send();
}

/* --- crashes --- */

static void
on_restart(void *arg)
{
	(void)arg;
	trace("the collector starts");
	collector_side_link();
}

static void
on_crash(void *arg)
{
	(void)arg;
	if (faults_ended())
		return;
	trace("the collector ends");
	if (side.link != NULL)
		link_close(side.link, 0);
	side.link = NULL;
	while (side.first != NULL)
		item_drop();
	side.incarnation++;
	side.resume = 0;
	world_after(PROCESS_NONE, RESTART_MS, on_restart, NULL);
	world_after(PROCESS_NONE,
	    fault_wait("collector-crash", faults()->collector_every), on_crash,
	    NULL);
}

void
collector_side_begin(struct supervised *submitter)
{
	side.submitter = submitter;
	world_after(PROCESS_NONE, POLL_MS, on_poll, NULL);
	if (faults()->collector_every > 0)
		world_after(PROCESS_NONE,
		    fault_wait("collector-crash", faults()->collector_every),
		    on_crash, NULL);
}
