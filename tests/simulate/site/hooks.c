/* SPDX-License-Identifier: MIT */
/* See hooks.h. */
#include "config.h"

#include <stdlib.h>

#include "tests/simulate/site/hooks.h"
#include "tests/simulate/site/slurm.h"

#define HOOK_MS	   1500 /* at most, from slurmctld to the listener */
#define FORGED_MS  (20 * MINUTE_MS) /* the mean time between two of them */
#define ACK_MS	   (2 * MINUTE_MS)  /* until a message is acknowledged */
#define EVENTS_MAX 65536

struct hook_event {
	struct hook_event *next;
	uint64_t id;
	uint64_t job;
	const char *cluster;
	int is_end;
	int64_t time;	 /* epoch */
	int64_t arrived; /* at the listener, simulated ms */
};

static struct {
	struct link *link;
	struct hook_event *first, **tail;
	uint64_t ids;
	unsigned n;
	unsigned lost;
	struct prng prng;
} hooks;

static void
event_send(const struct hook_event *e)
{
	struct msg_header h = { .type = MSG_EVENT };
	struct writer w;

	if (hooks.link == NULL)
		return;
	wr_init(&w, 256);
	wr_u64(&w, e->id);
	wr_str(&w, e->cluster);
	wr_u64(&w, e->job);
	wr_u8(&w, e->is_end ? EVENT_END : EVENT_START);
	wr_i64(&w, e->time);
	wr_str(&w, ""); /* no munge credential */
	h.length = (uint32_t)w.len;
	link_send(hooks.link, 0, &h, w.buf, -1);
	wr_clear(&w);
}

static void
on_hook(void *arg)
{
	struct hook_event *e = arg;

	if (prng_chance(&hooks.prng, hooks.lost)) {
		trace("the hook of job %llu is lost",
		    (unsigned long long)e->job);
		free(e);
		return;
	}
	e->id = ++hooks.ids;
	e->arrived = world_ms();
	*hooks.tail = e;
	hooks.tail = &e->next;
	hooks.n++;
	invariant(hooks.n <= EVENTS_MAX, "the collector acknowledges no hook");
	event_send(e);
}

void
hooks_called(uint32_t job, int is_end)
{
	struct hook_event *e = world_alloc(sizeof(*e));

	e->job = job;
	e->cluster = SLURM_CLUSTER;
	e->is_end = is_end;
	e->time = world_true_ms() / 1000;
	world_after(PROCESS_NONE, (int64_t)prng_below(&hooks.prng, HOOK_MS),
	    on_hook, e);
}

/* Any process may send any message to the listener. */
static void
forge(void *arg)
{
	static const char *const clusters[] = { SLURM_CLUSTER, "", "beta" };
	static const uint64_t jobs[] = { 0, 1, 7, 4294967295u, 4294967296u,
		UINT64_MAX };
	struct hook_event *e = world_alloc(sizeof(*e));

	(void)arg;
	e->job = jobs[prng_below(&hooks.prng, sizeof(jobs) / sizeof(jobs[0]))];
	e->cluster = clusters[prng_below(&hooks.prng, 3)];
	e->is_end = prng_chance(&hooks.prng, 500000);
	e->time = prng_between(&hooks.prng, 0, 2 * world_true_ms() / 1000);
	world_after(PROCESS_NONE, 0, on_hook, e);
	world_after(PROCESS_NONE,
	    (int64_t)prng_below(&hooks.prng, 2 * FORGED_MS), forge, NULL);
}

static void
on_frame(void *arg, const struct msg_header *h, const uint8_t *payload, int fd)
{
	struct hook_event **at = &hooks.first, *e;
	struct reader r;
	uint64_t id;

	(void)arg;
	(void)fd;
	rd_init(&r, payload, h->length);
	id = rd_u64(&r);
	invariant(h->type == MSG_EVENT_ACK && rd_end(&r) == 0,
	    "%s to the listener", msg_name(h->type));
	while ((e = *at) != NULL && e->id != id)
		at = &e->next;
	if (e == NULL)
		return;
	*at = e->next;
	if (e->next == NULL)
		hooks.tail = at;
	hooks.n--;
	free(e);
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

void
hooks_begin(unsigned lost)
{
	hooks.tail = &hooks.first;
	hooks.lost = lost;
	prng_init(&hooks.prng, world_seed(), "hooks");
	world_after(PROCESS_NONE, 0, forge, NULL);
}

void
hooks_connect(struct link *l)
{
	const struct hook_event *e;

	hooks.link = l;
	link_attach(l, 0, &ops, NULL);
	for (e = hooks.first; e != NULL; e = e->next)
		event_send(e);
}

void
hooks_disconnect(void)
{
	if (hooks.link != NULL)
		link_close(hooks.link, 0);
	hooks.link = NULL;
}

void
hooks_crash(void)
{
	struct hook_event *e;

	trace("the listener crashes with %u events", hooks.n);
	while ((e = hooks.first) != NULL) {
		hooks.first = e->next;
		free(e);
	}
	hooks.tail = &hooks.first;
	hooks.n = 0;
	hooks_disconnect();
}

unsigned
hooks_waiting(void)
{
	const struct hook_event *e;
	unsigned n = 0;

	for (e = hooks.first; e != NULL; e = e->next)
		n += world_ms() - e->arrived > ACK_MS;
	return n;
}
