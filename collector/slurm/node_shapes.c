/* SPDX-License-Identifier: MIT */
/*
 * Shapes of nodes, by name.  The names are stored one after the other in one
 * piece of memory: a cluster has up to 20,000 nodes and few shapes.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "collector/slurm/query.h"
#include "collector/slurm/slurm.h"
#include "common/hash.h"
#include "common/log.h"
#include "common/permanent.h"
#include "common/text/text.h"

#define HOSTS_KEPT  100000 /* nodes; no cluster has more */
#define FIRST_CAP   64
#define WAITERS_MAX 4	/* callers that wait for one answer */
#define GRES_MAX    250 /* different texts; a cluster has a few */

struct slot {
	uint32_t name; /* offset into names, plus one; 0 = free */
	struct node_shape shape;
	uint16_t gpus;
	uint8_t gres; /* number of its text in hosts.gres, plus one; 0 = none */
	uint8_t doubtful; /* the answer has it twice, with other values */
};

struct hosts {
	struct slot *slots;
	size_t cap;
	size_t n;
	char *names;
	size_t names_len;
	size_t names_cap;
	char *gres[GRES_MAX]; /* owned: texts of Slurm, each once */
	uint8_t n_gres;
};

struct hosts *
hosts_new(void)
{
	return calloc(1, sizeof(struct hosts));
}

static void
hosts_free(struct hosts *h)
{
	uint8_t i;

	if (h == NULL)
		return;
	for (i = 0; i < h->n_gres; i++)
		free(h->gres[i]);
	free(h->slots);
	free(h->names);
	free(h);
}

size_t
hosts_count(const struct hosts *h)
{
	return h != NULL ? h->n : 0;
}

static size_t
hash(const char *name)
{
	uint64_t v = hash_bytes(HASH_START, name, strlen(name));

	return (size_t)(v ^ v >> 32);
}

/* The slot of the name, or the free slot where it belongs. */
static struct slot *
slot_of(const struct hosts *h, const char *name)
{
	size_t k;

	for (k = hash(name) & (h->cap - 1); h->slots[k].name != 0;
	     k = (k + 1) & (h->cap - 1))
		if (strcmp(h->names + h->slots[k].name - 1, name) == 0)
			break;
	return &h->slots[k];
}

static int
grow(struct hosts *h)
{
	struct hosts next = *h;
	size_t i;

	next.cap = h->cap != 0 ? h->cap * 2 : FIRST_CAP;
	next.slots = calloc(next.cap, sizeof(*next.slots));
	if (next.slots == NULL)
		return -1;
	for (i = 0; i < h->cap; i++)
		if (h->slots[i].name != 0)
			*slot_of(&next,
			    h->names + h->slots[i].name - 1) = h->slots[i];
	free(h->slots);
	*h = next;
	return 0;
}

static int
name_keep(struct hosts *h, const char *name, uint32_t *at)
{
	size_t n = strlen(name) + 1, cap = h->names_cap;
	char *names;

	while (cap < h->names_len + n)
		cap = cap != 0 ? cap * 2 : 1024;
	if (cap > UINT32_MAX / 2)
		return -1;
	if (cap != h->names_cap) {
		names = realloc(h->names, cap);
		if (names == NULL)
			return -1;
		h->names = names;
		h->names_cap = cap;
	}
	memcpy(h->names + h->names_len, name, n);
	*at = (uint32_t)h->names_len + 1;
	h->names_len += n;
	return 0;
}

/* The number of the text plus one; 0 when there are too many texts. */
static uint8_t
gres_keep(struct hosts *h, struct span gres)
{
	uint8_t i;

	for (i = 0; i < h->n_gres; i++)
		if (span_is(gres, h->gres[i]))
			return i + 1;
	if (h->n_gres == GRES_MAX ||
	    (h->gres[i] = text_clean(gres.p, gres.n, GRES_TEXT_MAX)) == NULL)
		return 0;
	return ++h->n_gres;
}

static int
is_same(const struct slot *a, const struct slot *b)
{
	return a->shape.sockets == b->shape.sockets &&
	    a->shape.cores == b->shape.cores &&
	    a->shape.threads == b->shape.threads && a->gpus == b->gpus &&
	    a->gres == b->gres;
}

/* Takes one line of `scontrol show node -o`; names: GRES that are GPUs. */
static void
hosts_line(struct hosts *h, const struct gres_names *names, struct span line)
{
	char name[HOST_MAX];
	struct slot *slot, now = { 0 };
	struct span gres;
	uint32_t gpus;

	if (node_record(line, name, &now.shape) == -1)
		return;
	if (h->n >= HOSTS_KEPT || (h->n * 4 >= h->cap * 3 && grow(h) == -1))
		return;
	gpus = node_gpus(line, names, &gres);
	now.gpus = (uint16_t)(gpus < ACCELS_MAX ? gpus : ACCELS_MAX);
	now.gres = now.gpus > 0 ? gres_keep(h, gres) : 0;
	slot = slot_of(h, name);
	if (slot->name != 0) {
		/* See node_show(): one of the lines is a text of a user. */
		slot->doubtful |= !is_same(slot, &now);
		return;
	}
	if (name_keep(h, name, &now.name) == -1)
		return;
	*slot = now;
	h->n++;
}

void
nodes_doubt(struct cluster *c, const char *name)
{
	log_limited(&c->twice, log_warnx,
	    "scontrol shows node %s twice, with other values: the MCS label of "
	    "a job contains a text that looks like a node; what is known of "
	    "the node stays",
	    name);
}

/* A node that is in the answer twice keeps what the one before has shown. */
static void
hosts_keep(struct cluster *c, struct hosts *h, const struct hosts *old)
{
	struct slot *slot, *was;
	const char *gres;
	size_t i;

	for (i = 0; i < h->cap; i++) {
		slot = &h->slots[i];
		if (slot->name == 0 || !slot->doubtful)
			continue;
		nodes_doubt(c, h->names + slot->name - 1);
		if (old == NULL || old->cap == 0)
			continue;
		was = slot_of(old, h->names + slot->name - 1);
		if (was->name == 0 || was->doubtful)
			continue;
		slot->shape = was->shape;
		slot->gpus = was->gpus;
		gres = was->gres != 0 ? old->gres[was->gres - 1] : NULL;
		slot->gres = gres == NULL ?
		    0 :
		    gres_keep(h, (struct span) { gres, strlen(gres) });
		slot->doubtful = 0;
	}
}

void
hosts_each_gpu(const struct hosts *h, hosts_gpu_fn *fn, void *arg)
{
	const struct slot *slot;
	size_t i;

	for (i = 0; h != NULL && i < h->cap; i++) {
		slot = &h->slots[i];
		if (slot->name != 0 && !slot->doubtful && slot->gpus > 0)
			fn(h->names + slot->name - 1, slot->gpus,
			    slot->gres > 0 ? h->gres[slot->gres - 1] : "", arg);
	}
}

const struct node_shape *
hosts_shape(const struct hosts *h, const char *name)
{
	struct slot *slot;

	if (h == NULL || h->cap == 0)
		return NULL;
	slot = slot_of(h, name);
	return slot->name != 0 && !slot->doubtful ? &slot->shape : NULL;
}

static uint64_t
threads_of(const struct job_host *host)
{
	uint64_t n = 0;
	uint32_t i;

	for (i = 0; i < host->n_cpus; i++)
		n += host->cpus[i].last - host->cpus[i].first + 1;
	return n;
}

unsigned
hosts_apply(const struct hosts *h, struct job_snapshot *s)
{
	const struct node_shape *shape;
	struct job_host *host;
	unsigned unknown = 0;
	int whole = s->job.n_hosts > 0;
	uint32_t i;

	for (i = 0; i < s->job.n_hosts; i++) {
		host = &s->job.hosts[i];
		shape = hosts_shape(h, host->name);
		if (shape == NULL) {
			unknown++;
			whole = 0;
			continue;
		}
		host->sockets = shape->sockets;
		host->cores = shape->cores;
		host->threads = shape->threads;
		if (threads_of(host) < (uint64_t)shape->sockets * shape->cores *
			    shape->threads ||
		    shape->sockets == 0)
			whole = 0;
	}
	if (whole && s->whole_is_none)
		s->job.shared = SHARED_NONE;
	return unknown;
}

/* The query for all shapes; several callers may wait for its answer. */
struct shapes_query {
	struct query query;
	struct hosts *next; /* owned: shapes of the answer that is being read */
	int none;	    /* the answer says that there is no node */
	struct {
		void (*then)(void *arg, int failed);
		void *arg;
	} waiters[WAITERS_MAX];
	unsigned n_waiters;
};

int
nodes_none(struct span line)
{
	return span_is(line, "No nodes in the system");
}

static int
on_line(struct span line, void *arg)
{
	struct cluster *c = arg;

	c->shapes->none |= nodes_none(line);
	hosts_line(c->shapes->next, &c->set->names, line);
	return 0;
}

/*
 * Without the permission slurmctld denies this query, and answers others.
 * Returns 0 when slurmctld has denied it, otherwise 1.
 */
static int
shapes_failed(struct cluster *c, const struct command_end *end)
{
	/* While slurmdbd is away the permission is not known. */
	int denied = c->slurm.private_nodes &&
	    (c->permission == PERMISSION_NONE ||
		(c->permission == PERMISSION_UNKNOWN && c->dbd.away));

	query_failed(c, denied ? NULL : &c->ctld, "scontrol show node", end);
	if (denied)
		health_denies(&c->ctld);
	return !denied;
}

static void
on_end(const struct command_end *end, int complete, void *arg)
{
	struct cluster *c = arg;
	struct shapes_query *s = c->shapes;
	unsigned i, n = s->n_waiters;
	int failed = 0;

	if (complete && (hosts_count(s->next) > 0 || s->none)) {
		hosts_keep(c, s->next, c->hosts);
		hosts_free(c->hosts);
		c->hosts = s->next;
		health_good(&c->ctld);
		log_debug("%zu nodes", hosts_count(c->hosts));
	} else {
		hosts_free(s->next);
		failed = shapes_failed(c, end);
	}
	s->next = NULL;
	c->hosts_at = now_s();
	s->n_waiters = 0;
	for (i = 0; i < n; i++)
		s->waiters[i].then(s->waiters[i].arg, failed);
}

static const struct query_type shapes_query = {
	.kind = QUESTION_SHAPES,
	.flags = QUERY_LAST_LINE,
	.on_line = on_line,
	.on_end = on_end,
};

void
hosts_query(struct cluster *c, void (*then)(void *arg, int failed), void *arg)
{
	struct shapes_query *s = c->shapes;

	if (s == NULL)
		s = c->shapes = permanent_new(sizeof(*s));
	if (s->n_waiters == WAITERS_MAX) {
		then(arg, 1);
		return;
	}
	s->waiters[s->n_waiters].then = then;
	s->waiters[s->n_waiters++].arg = arg;
	if (s->next != NULL)
		return;
	s->next = hosts_new();
	if (s->next == NULL)
		fatalx("out of memory");
	s->none = 0;
	query_begin(&s->query, c, &shapes_query, c);
	if (query_start(&s->query) == -1)
		fatalx("out of memory");
}
