/* SPDX-License-Identifier: MIT */
/* See link.h. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "tests/simulate/link.h"

#define FD_FIRST 100000 /* of the numbers for ends; no real descriptor */
#define DELAY_MS 2	/* at most, of a frame */
/* A closed end loses its last frames with this chance, per million. */
#define TAIL_LOST 200000

struct flight {
	struct flight *next;
	struct link *link;
	struct msg_header header;
	uint8_t *payload;
	int fd;
	int to; /* end */
	int64_t due;
};

struct end {
	enum process_id id;
	const struct link_ops *ops; /* NULL = not attached */
	void *arg;
	struct flight *first, **last; /* frames to this end */
	struct world_call *arrival;
	int closed;	/* by its process */
	int peer_ended; /* broken after the last frame */
	int told;	/* broken was called */
};

struct link {
	struct end ends[2];
	size_t waiting[2]; /* bytes sent from the end */
};

static struct link **links;
static int n_links;
static struct prng random_link;

struct link *
link_new(enum process_id end0, enum process_id end1)
{
	struct link *l = world_alloc(sizeof(*l));

	if (n_links == 0)
		prng_init(&random_link, world_seed(), "link");
	links = world_realloc(links, (size_t)(n_links + 1) * sizeof(links[0]));
	links[n_links++] = l;
	l->ends[0].id = end0;
	l->ends[1].id = end1;
	l->ends[0].last = &l->ends[0].first;
	l->ends[1].last = &l->ends[1].first;
	return l;
}

int
link_fd(struct link *l, int end)
{
	int i;

	for (i = 0; links[i] != l; i++)
		continue;
	return FD_FIRST + 2 * i + end;
}

struct link *
link_of_fd(int fd, int *end)
{
	if (fd < FD_FIRST || fd >= FD_FIRST + 2 * n_links)
		return NULL;
	*end = (fd - FD_FIRST) % 2;
	return links[(fd - FD_FIRST) / 2];
}

static void on_arrival(void *arg);

static void
arrival_plan(struct end *e)
{
	int64_t ms = 0;

	if (e->arrival != NULL || e->ops == NULL || e->closed || e->told ||
	    (e->first == NULL && !e->peer_ended))
		return;
	if (e->first != NULL)
		ms = e->first->due - world_ms();
	e->arrival = world_after(e->id, ms, on_arrival, e);
}

static void
flight_free(struct flight *f)
{
	free(f->payload);
	free(f);
}

/* Takes the first frame out of the queue to the end. */
static struct flight *
flight_take(struct end *e)
{
	struct flight *f = e->first;

	e->first = f->next;
	if (e->first == NULL)
		e->last = &e->first;
	f->link->waiting[1 - f->to] -= sizeof(f->header) + f->header.length;
	return f;
}

static void
on_sent(void *arg)
{
	struct end *e = arg;

	if (!e->closed && e->ops != NULL && e->ops->sent != NULL)
		e->ops->sent(e->arg);
}

/*
 * The next arrival is planned before the handler is called, which may end the
 * process or close the link.
 */
static void
on_arrival(void *arg)
{
	struct end *e = arg, *from;
	struct flight *f;

	e->arrival = NULL;
	if (e->first == NULL) {
		e->told = 1;
		e->ops->broken(e->arg, "closed by the peer");
		return;
	}
	f = flight_take(e);
	from = &f->link->ends[1 - f->to];
	arrival_plan(e);
	if (!from->closed && from->ops != NULL && from->ops->sent != NULL)
		world_after(from->id, 0, on_sent, from);
	e->ops->frame(e->arg, &f->header, f->payload, f->fd);
	flight_free(f);
}

void
link_attach(struct link *l, int end, const struct link_ops *ops, void *arg)
{
	struct end *e = &l->ends[end];

	e->ops = ops;
	e->arg = arg;
	arrival_plan(e);
}

void
link_send(struct link *l, int end, const struct msg_header *h,
    const void *payload, int fd)
{
	struct end *to = &l->ends[1 - end];
	struct flight *f;

	if (l->ends[end].closed || to->closed)
		return;
	f = world_alloc(sizeof(*f));
	f->link = l;
	f->header = *h;
	f->payload = world_alloc(h->length);
	if (h->length > 0)
		memcpy(f->payload, payload, h->length);
	f->fd = fd;
	f->to = 1 - end;
	f->due = world_ms() + (int64_t)prng_below(&random_link, DELAY_MS + 1);
	*to->last = f;
	to->last = &f->next;
	l->waiting[end] += sizeof(*h) + h->length;
	arrival_plan(to);
}

size_t
link_waiting(const struct link *l, int end)
{
	return l->waiting[end];
}

/* The last frames may not have left the process. */
static void
tail_lose(struct end *e)
{
	struct flight *f, **p = &e->first;
	size_t keep, n = 0;

	for (f = e->first; f != NULL; f = f->next)
		n++;
	if (n == 0 || !prng_chance(&random_link, TAIL_LOST))
		return;
	for (keep = prng_below(&random_link, n); keep > 0 && *p != NULL; keep--)
		p = &(*p)->next;
	e->last = p;
	while ((f = *p) != NULL) {
		*p = f->next;
		flight_free(f);
	}
	if (e->first == NULL && e->arrival != NULL) {
		world_cancel(e->arrival);
		e->arrival = NULL;
	}
}

void
link_close(struct link *l, int end)
{
	struct end *e = &l->ends[end], *peer = &l->ends[1 - end];

	if (e->closed)
		return;
	e->closed = 1;
	world_cancel(e->arrival);
	e->arrival = NULL;
	while (e->first != NULL)
		flight_free(flight_take(e));
	if (peer->closed)
		return;
	tail_lose(peer);
	peer->peer_ended = 1;
	arrival_plan(peer);
}

void
link_process_ended(enum process_id id)
{
	int i, k;

	for (i = 0; i < n_links; i++)
		for (k = 0; k < 2; k++)
			if (links[i]->ends[k].id == id)
				link_close(links[i], k);
}
