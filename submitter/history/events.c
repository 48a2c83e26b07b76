/* SPDX-License-Identifier: MIT */
/*
 * The form of an event: u8 number, then variable-length integers (7 bits in
 * each byte): the milliseconds since the event before it, or since 1970 for the
 * first one, with the sign in the lowest bit; then the values of the event.
 */
#include "config.h"

#include <string.h>

#include "submitter/history/events.h"

#define INTEGER_MAX 10 /* bytes of a 64 bit number */
/* The largest event, and behind it HISTORY_MORE. */
#define ITEM_MAX (1 + 3 * INTEGER_MAX)
#define MS_MAX	 (INT64_C(1) << 50) /* year 37,000 */

#define ONCE   1u /* stored once in a run */
#define REPEAT 2u /* b counts it when it follows itself */

static const struct {
	uint8_t values;
	uint8_t how;
} kinds[HISTORY__COUNT] = {
	[HISTORY_HOOK] = { 1, 0 },
	[HISTORY_STORED] = { 2, ONCE },
	[HISTORY_RUNNING] = { 0, ONCE },
	[HISTORY_ENDED] = { 2, ONCE },
	[HISTORY_REJECTED] = { 1, 0 },
	[HISTORY_RETRY] = { 2, REPEAT },
	[HISTORY_OPTED_OUT] = { 0, ONCE },
	[HISTORY_NEVER_RAN] = { 0, ONCE },
	[HISTORY_BACKFILL] = { 2, ONCE },
	[HISTORY_UNKNOWN] = { 0, ONCE },
	[HISTORY_MORE] = { 0, ONCE },
};

static size_t
number_put(uint8_t *p, uint64_t v)
{
	size_t n = 0;

	for (; v >= 0x80; v >>= 7)
		p[n++] = (uint8_t)(v | 0x80);
	p[n++] = (uint8_t)v;
	return n;
}

/* Returns 0, or -1 when the number is cut or too long. */
static int
number_get(const struct history_events *e, size_t *at, uint64_t *v)
{
	unsigned shift;
	uint8_t byte;

	*v = 0;
	for (shift = 0; shift < 7 * INTEGER_MAX; shift += 7) {
		if (*at >= e->len)
			return -1;
		byte = e->bytes[(*at)++];
		*v |= (uint64_t)(byte & 0x7f) << shift;
		if ((byte & 0x80) == 0)
			return 0;
	}
	return -1;
}

int
history_events_next(const struct history_events *e, size_t *at,
    struct history_item *item)
{
	int64_t before = *at == 0 ? 0 : item->ms;
	uint64_t v;
	unsigned number;

	if (*at >= e->len)
		return 0;
	number = e->bytes[(*at)++];
	if (number == HISTORY_NONE || number >= HISTORY__COUNT ||
	    number_get(e, at, &v) == -1)
		return -1;
	item->event = (enum history_event)number;
	item->a = item->b = 0;
	if ((kinds[number].values > 0 && number_get(e, at, &item->a) == -1) ||
	    (kinds[number].values > 1 && number_get(e, at, &item->b) == -1) ||
	    v >> 1 > MS_MAX)
		return -1;
	item->ms = before + ((v & 1) ? -(int64_t)(v >> 1) : (int64_t)(v >> 1));
	return item->ms >= 0 && item->ms <= MS_MAX ? 1 : -1;
}

static void
item_put(struct history_events *e, const struct history_item *item,
    int64_t before)
{
	int64_t delta = item->ms - before;
	uint8_t *p = e->bytes;

	p[e->len++] = (uint8_t)item->event;
	e->len += number_put(p + e->len,
	    delta < 0 ? (uint64_t)-delta << 1 | 1 : (uint64_t)delta << 1);
	if (kinds[item->event].values > 0)
		e->len += number_put(p + e->len, item->a);
	if (kinds[item->event].values > 1)
		e->len += number_put(p + e->len, item->b);
}

/* A request that is repeated after a failure adds no event of its own. */
static int
follows_failure(enum history_event last, enum history_event event)
{
	return last == HISTORY_RETRY &&
	    (event == HISTORY_START_SENT || event == HISTORY_STOP_SENT);
}

int
history_events_add(struct history_events *e, const struct history_item *item)
{
	struct history_item now, last = { .event = HISTORY_NONE }, add = *item;
	unsigned how = kinds[item->event].how;
	size_t at = 0, last_at = 0, was = 0;
	int64_t before = 0;
	int rc;

	if (item->ms < 0 || item->ms > MS_MAX)
		return 0;
	now.ms = 0;
	while ((rc = history_events_next(e, &at, &now)) == 1) {
		if (now.event == HISTORY_MORE ||
		    ((how & ONCE) && now.event == item->event))
			return 0;
		before = last.event == HISTORY_NONE ? 0 : last.ms;
		last = now;
		last_at = was;
		was = at;
	}
	if (rc == -1) /* begin anew */
		e->len = 0, last.event = HISTORY_NONE;
	if (follows_failure(last.event, item->event))
		return 0;
	if ((how & REPEAT) && last.event == item->event && last.a == item->a) {
		add.b = last.b + 1;
		e->len = last_at;
		last.ms = before;
	}
	if (e->len + 2 * ITEM_MAX > HISTORY_BYTES_MAX)
		add.event = HISTORY_MORE;
	item_put(e, &add, e->len == 0 ? 0 : last.ms);
	return 1;
}
