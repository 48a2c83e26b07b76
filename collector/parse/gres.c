/* SPDX-License-Identifier: MIT */
/*
 * GRES details of one node, "gpu:a100:2(IDX:0,2),gpu:v100:0(IDX:)"; see
 * parse.h.  Slurm numbers the devices of one GRES name on a node without
 * regard to their types.
 */
#include "config.h"

#include <string.h>

#include "collector/parse/parse.h"
#include "common/model/conf.h"

/* One item of a GRES list. */
struct gres_item {
	struct span name;
	uint64_t count;
	int has_count;	 /* "(CNT:4)": devices without a file have no index */
	struct span idx; /* behind IDX:, may be empty */
	int has_idx;
	struct span shares; /* "0/100,30/100", may be empty */
};

int
gres_names_set(struct gres_names *names, const char *list)
{
	int rc;

	names->n = 0;
	while (names->n < GRES_NAMES_MAX) {
		rc = conf_list_item(list, names->n, names->name[names->n],
		    sizeof(names->name[0]));
		if (rc != 1)
			return rc;
		names->n++;
	}
	return 0;
}

int
gres_is_gpu(const struct gres_names *names, struct span name)
{
	unsigned i;

	for (i = 0; i < names->n; i++)
		if (span_is(name, names->name[i]))
			return 1;
	return 0;
}

int
gres_is_part(struct span name)
{
	return span_is(name, "shard") || span_is(name, "mps");
}

/* The length up to the next comma that is not in parentheses. */
static size_t
item_length(struct span s)
{
	size_t i;
	int inside = 0;

	for (i = 0; i < s.n; i++) {
		if (s.p[i] == '(')
			inside = 1;
		else if (s.p[i] == ')')
			inside = 0;
		else if (s.p[i] == ',' && !inside)
			break;
	}
	return i;
}

/*
 * "0/100,30/100": the used shares of each device, in the order of the devices
 * (shards, since 22.05).
 */
static int
is_shares(struct span s)
{
	size_t i;

	for (i = 0; i < s.n; i++)
		if ((s.p[i] < '0' || s.p[i] > '9') && s.p[i] != '/' &&
		    s.p[i] != ',')
			return 0;
	return s.n > 0 && memchr(s.p, '/', s.n) != NULL;
}

/* "CNT:4", shares, or neither. */
static int
item_inside(struct span s, struct gres_item *item)
{
	if (s.n > 4 && memcmp(s.p, "CNT:", 4) == 0) {
		s.p += 4;
		s.n -= 4;
		item->has_count = 1;
		return number_u64(s, &item->count);
	}
	if (is_shares(s))
		item->shares = s;
	return 0;
}

/*
 * Cuts "(IDX:0-1)", "(CNT:4)" or shares off the words.  Other parentheses, such
 * as "(S:0)", contain no device.
 */
static int
item_parens(struct span *words, struct gres_item *item)
{
	const char *open = memchr(words->p, '(', words->n);
	const char *end = words->p + words->n, *idx;
	struct span inside;

	if (open == NULL)
		return 0;
	if (end[-1] != ')')
		return -1;
	words->n = (size_t)(open - words->p);
	idx = memmem(open, (size_t)(end - open), "IDX:", 4);
	if (idx == NULL) {
		inside.p = open + 1;
		inside.n = (size_t)(end - 1 - inside.p);
		return item_inside(inside, item);
	}
	idx += 4;
	item->has_idx = 1;
	item->idx.p = idx;
	item->idx.n = (size_t)(end - 1 - idx);
	if (span_is(item->idx, "N/A"))
		item->idx.n = 0;
	return 0;
}

/* "gpu", "gpu:2", "gpu:a100", "gpu:a100:2"; before "(CNT:4)" without a number. */
static int
item_words(struct span words, struct gres_item *item)
{
	const char *colon = memchr(words.p, ':', words.n);
	struct span rest, last;

	item->name = words;
	if (colon != NULL)
		item->name.n = (size_t)(colon - words.p);
	if (item->name.n == 0)
		return -1;
	if (item->has_count)
		return 0;
	item->count = 1;
	if (colon == NULL)
		return 0;
	rest.p = colon + 1;
	rest.n = words.n - item->name.n - 1;
	colon = memrchr(rest.p, ':', rest.n);
	last = rest;
	if (colon != NULL) {
		last.p = colon + 1;
		last.n = rest.n - (size_t)(last.p - rest.p);
	}
	if (number_u64(last, &item->count) == -1)
		item->count = 1; /* rest is the type */
	return 0;
}

/*
 * Takes the next item off *s, "gpu:a100:2(IDX:0,2)".  Returns 1, 0 at the end
 * of the list, or -1 when the item is malformed.
 */
static int
gres_next(struct span *s, struct gres_item *item)
{
	struct span words;

	if (s->n == 0 || span_is(*s, "(null)"))
		return 0;
	memset(item, 0, sizeof(*item));
	words.p = s->p;
	words.n = item_length(*s);
	s->p += words.n;
	s->n -= words.n;
	if (s->n > 0) {
		s->p++;
		s->n--;
	}
	if (words.n == 0 || item_parens(&words, item) == -1)
		return -1;
	/* Slurm prints a request with the prefix "gres:". */
	if (words.n > 5 && memcmp(words.p, "gres:", 5) == 0) {
		words.p += 5;
		words.n -= 5;
	}
	return item_words(words, item) == 0 ? 1 : -1;
}

struct devices {
	int (*each)(uint32_t index, void *arg);
	void *arg;
	uint32_t count;
	uint8_t seen[ACCELS_MAX / 8]; /* a GPU and its shares are one device */
};

/* Remembers the index; an index from ACCELS_MAX on is not remembered. */
static int
is_seen(struct devices *d, uint32_t i)
{
	uint8_t bit = (uint8_t)(1 << (i % 8));
	int seen;

	if (i >= ACCELS_MAX)
		return 0;
	seen = d->seen[i / 8] & bit;
	d->seen[i / 8] |= bit;
	return seen;
}

static int
on_range(uint32_t first, uint32_t last, void *arg)
{
	struct devices *d = arg;
	uint32_t i;

	if (last - first >= ACCELS_MAX || d->count > ACCELS_MAX)
		return -1;
	for (i = first;; i++) {
		if (!is_seen(d, i)) {
			d->count++;
			if (d->each(i, d->arg) == -1)
				return -1;
		}
		if (i == last)
			return 0;
	}
}

/* Every device with a used share; its place in the list is its index. */
static int
shares_each(struct span s, struct devices *d)
{
	const char *comma;
	struct span one;
	uint32_t i;

	for (i = 0; s.n > 0; i++) {
		comma = memchr(s.p, ',', s.n);
		one.p = s.p;
		one.n = comma != NULL ? (size_t)(comma - s.p) : s.n;
		s.p += one.n + (comma != NULL);
		s.n -= one.n + (comma != NULL);
		if (one.n > 1 && !(one.p[0] == '0' && one.p[1] == '/') &&
		    on_range(i, i, d) == -1)
			return -1;
	}
	return 0;
}

int
gres_each(struct span s, const struct gres_names *names,
    int (*each)(uint32_t index, void *arg), void *arg, uint32_t *count)
{
	struct devices d = { .each = each, .arg = arg };
	struct gres_item item;
	int rc;

	*count = 0;
	while ((rc = gres_next(&s, &item)) == 1) {
		if (!gres_is_gpu(names, item.name))
			continue;
		if (item.has_idx) {
			if (ranges_each(item.idx, on_range, &d) == -1)
				return -1;
		} else if (item.shares.n > 0) {
			if (shares_each(item.shares, &d) == -1)
				return -1;
		} else if (item.count <= ACCELS_MAX)
			d.count += (uint32_t)item.count;
	}
	*count = d.count;
	return rc;
}
