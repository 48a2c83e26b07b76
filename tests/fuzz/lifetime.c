/* SPDX-License-Identifier: MIT */
/* See lifetime.h.  The linker replaces each call of NAME by one of __wrap_NAME. */
#include "config.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <event2/event.h>

#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/lifetime.h"

#define SLOTS_MIN   4096u
#define FIRED_MAX   200
#define CLOCK_BEGIN 50000000 /* ms */

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t size);
void __real_free(void *p);
char *__real_strdup(const char *s);
struct event *__real_event_new(struct event_base *base, evutil_socket_t fd,
    short what, event_callback_fn fn, void *arg);
void __real_event_free(struct event *event);
int __real_event_add(struct event *event, const struct timeval *tv);
int __real_event_del(struct event *event);
int __real_event_pending(const struct event *event, short what,
    struct timeval *tv);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t size);
void __wrap_free(void *p);
char *__wrap_strdup(const char *s);
struct event *__wrap_event_new(struct event_base *base, evutil_socket_t fd,
    short what, event_callback_fn fn, void *arg);
void __wrap_event_free(struct event *event);
int __wrap_event_add(struct event *event, const struct timeval *tv);
int __wrap_event_del(struct event *event);
int __wrap_event_pending(const struct event *event, short what,
    struct timeval *tv);
long long __wrap_clock_ms(void);
int __wrap_clock_left(long long end);

static int noting;
static int64_t clock_at;

/* --- memory: a set of pointers with open addressing --- */

static void **slots;
static size_t n_slots, n_used; /* used: also by removed pointers */
static char removed;

static size_t
slot_of(const void *p)
{
	uintptr_t at = (uintptr_t)p >> 4;
	size_t i = (size_t)(at * UINT64_C(0x9e3779b97f4a7c15)) & (n_slots - 1);

	while (slots[i] != NULL && slots[i] != p)
		i = (i + 1) & (n_slots - 1);
	return i;
}

static void
slots_grow(void)
{
	size_t before = n_slots, i;
	void **old = slots;

	n_slots = before != 0 ? 2 * before : SLOTS_MIN;
	slots = __real_calloc(n_slots, sizeof(*slots));
	HOLDS(slots != NULL);
	n_used = 0;
	for (i = 0; i < before; i++)
		if (old[i] != NULL && old[i] != &removed) {
			slots[slot_of(old[i])] = old[i];
			n_used++;
		}
	__real_free(old);
}

static void *
note(void *p)
{
	if (!noting || p == NULL)
		return p;
	if (2 * n_used >= n_slots)
		slots_grow();
	slots[slot_of(p)] = p;
	n_used++;
	return p;
}

static void
note_drop(const void *p)
{
	size_t i;

	if (n_slots == 0 || p == NULL)
		return;
	i = slot_of(p);
	if (slots[i] == p)
		slots[i] = &removed;
}

void *
__wrap_malloc(size_t size)
{
	return note(__real_malloc(size));
}

void *
__wrap_calloc(size_t n, size_t size)
{
	return note(__real_calloc(n, size));
}

void *
__wrap_realloc(void *p, size_t size)
{
	note_drop(p);
	return note(__real_realloc(p, size));
}

char *
__wrap_strdup(const char *s)
{
	return note(__real_strdup(s));
}

void
__wrap_free(void *p)
{
	note_drop(p);
	__real_free(p);
}

static void
memory_free(void)
{
	size_t i;

	for (i = 0; i < n_slots; i++)
		if (slots[i] != NULL && slots[i] != &removed)
			__real_free(slots[i]);
	__real_free(slots);
	slots = NULL;
	n_slots = n_used = 0;
}

/* --- events --- */

static struct timer {
	struct timer *next;
	struct event *event; /* owned */
	int timed;	     /* it has no descriptor */
	int64_t due;	     /* -1 = not set */
	int64_t every;	     /* ms between two calls; 0 = one call */
} * timers;

static struct timer *
timer_find(const struct event *event)
{
	struct timer *t;

	for (t = timers; t != NULL && t->event != event; t = t->next)
		continue;
	return t;
}

struct event *
__wrap_event_new(struct event_base *base, evutil_socket_t fd, short what,
    event_callback_fn fn, void *arg)
{
	struct event *event = __real_event_new(base, fd, what, fn, arg);
	struct timer *t;

	if (!noting || event == NULL)
		return event;
	t = __real_calloc(1, sizeof(*t));
	HOLDS(t != NULL);
	t->event = event;
	t->timed = fd == -1;
	t->due = -1;
	t->next = timers;
	timers = t;
	return event;
}

void
__wrap_event_free(struct event *event)
{
	struct timer **at = &timers, *t;

	while (*at != NULL && (*at)->event != event)
		at = &(*at)->next;
	if ((t = *at) != NULL) {
		*at = t->next;
		__real_free(t);
	}
	__real_event_free(event);
}

int
__wrap_event_add(struct event *event, const struct timeval *tv)
{
	struct timer *t = timer_find(event);

	if (t == NULL || !t->timed)
		return __real_event_add(event, tv);
	HOLDS(tv != NULL && tv->tv_sec >= 0 && tv->tv_usec >= 0 &&
	    tv->tv_usec < 1000000);
	t->due = clock_at + (int64_t)tv->tv_sec * 1000 + tv->tv_usec / 1000;
	if (event_get_events(event) & EV_PERSIST)
		t->every = t->due - clock_at;
	return 0;
}

int
__wrap_event_del(struct event *event)
{
	struct timer *t = timer_find(event);

	if (t != NULL)
		t->due = -1;
	return __real_event_del(event);
}

int
__wrap_event_pending(const struct event *event, short what, struct timeval *tv)
{
	const struct timer *t = timer_find(event);

	if (t == NULL || !t->timed)
		return __real_event_pending(event, what, tv);
	return t->due >= 0 ? EV_TIMEOUT : 0;
}

static struct timer *
timer_first(int64_t until)
{
	struct timer *t, *first = NULL;

	for (t = timers; t != NULL; t = t->next)
		if (t->due >= 0 && t->due <= until &&
		    (first == NULL || t->due < first->due))
			first = t;
	return first;
}

int64_t
lifetime_ms(void)
{
	return clock_at;
}

long long
lifetime_clock_ms(void)
{
	return CLOCK_BEGIN + clock_at;
}

long long
__wrap_clock_ms(void)
{
	return lifetime_clock_ms();
}

int
__wrap_clock_left(long long end)
{
	long long left = end - lifetime_clock_ms();

	return left <= 0 ? 0 : left < INT_MAX ? (int)left : INT_MAX;
}

void
lifetime_pass(struct event_base *base, int64_t ms)
{
	int64_t until = clock_at + ms;
	struct timer *t;
	int fired;

	for (fired = 0; fired < FIRED_MAX; fired++) {
		event_base_loop(base, EVLOOP_NONBLOCK);
		if ((t = timer_first(until)) == NULL)
			break;
		if (t->due > clock_at)
			clock_at = t->due;
		t->due = t->every > 0 ? t->due + t->every : -1;
		event_get_callback(
		    t->event)(-1, EV_TIMEOUT, event_get_callback_arg(t->event));
	}
	clock_at = until;
}

void
lifetime_begin(void)
{
	HOLDS(!noting && timers == NULL && slots == NULL);
	noting = 1;
	clock_at = 0;
}

void
lifetime_end(void)
{
	struct timer *t;

	noting = 0;
	while ((t = timers) != NULL) {
		timers = t->next;
		__real_event_free(t->event);
		__real_free(t);
	}
	memory_free();
}
