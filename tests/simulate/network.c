/* SPDX-License-Identifier: MIT */
/*
 * A request on its way to cc-backend and back.  Each may be lost, answered and
 * its answer lost, late, or handled twice.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/simulate/backend.h"
#include "tests/simulate/backend_private.h"
#include "tests/simulate/check.h"
#include "tests/simulate/faults.h"
#include "tests/simulate/refusals.h"
#include "tests/simulate/world.h"

#define LATENCY_MS    20
#define CONNECT_MS    5000  /* a host that does not answer */
#define LOCK_MAX      60000 /* a request waits for a lock at most so long */
#define REPLY_LIMIT   20000 /* cc-backend closes a later reply */
#define REPEAT_MAX_MS 2000
#define RACE	      300000 /* per million of the stops */

struct exchange {
	char method[8];
	char path[700];
	char *body;
	size_t n;
	backend_fn *fn;
	void *arg;
	struct world_call *timeout; /* in the submitter */
	unsigned incarnation;	    /* of the submitter */
	unsigned handlings;	    /* still to come */
	unsigned sends;
	int done; /* the submitter has its result */
	/* the result under way */
	struct cc_answer answer;
	const char *error;
	int64_t asked; /* world_ms() */
	int64_t arrived;
	uint64_t life; /* of cc-backend, in which it arrived */
	int number;    /* for the trace */
};

static int n_exchanges;

static void
exchange_free(struct exchange *x)
{
	if (!x->done || x->handlings > 0)
		return;
	free(x->answer.body);
	free(x->body);
	free(x);
}

/* In the submitter. */
static void
on_result(void *arg)
{
	struct exchange *x = arg;
	int is_listing = strcmp(x->method, "GET") == 0;
	int code = x->error == NULL ? x->answer.status : 0;

	x->done = 1;
	world_cancel(x->timeout);
	x->timeout = NULL;
	trace("http %d: %d %s", x->number, code,
	    x->error != NULL ? x->error :
		code == 201 || is_listing || x->answer.body == NULL ?
			       "" :
			       x->answer.body);
	if (is_listing && code == 200)
		check_listing(x->answer.body, x->answer.len, x->asked);
	else
		check_answer(x->path, x->body, x->n, code);
	fault_point("answer");
	x->fn(x->arg, code, x->answer.body, x->answer.len, x->error, x->sends);
	exchange_free(x);
}

static void
on_timeout(void *arg)
{
	struct exchange *x = arg;

	x->timeout = NULL;
	if (x->done)
		return;
	/* An answer that arrives later finds x->done. */
	x->error = "Operation timed out";
	on_result(x);
}

/* From the world: tells the submitter, if it is still that one. */
static void
result_send(struct exchange *x, const char *error)
{
	if (x->done || x->incarnation != process_incarnation(PROCESS_SUBMITTER))
		return;
	x->error = error;
	world_cancel(x->timeout); /* it has waited long enough */
	x->timeout = NULL;
	world_after(PROCESS_SUBMITTER,
	    prng_between(backend_random(), 1, LATENCY_MS), on_result, x);
}

static void
handle(struct exchange *x)
{
	struct prng *random = backend_random();

	backend_count_request();
	/*
	 * A stop that its client has given up may come into the commit of a
	 * repeated start, whatever the client does: not played.
	 */
	if (!x->done && strstr(x->path, "stop_job") != NULL &&
	    prng_chance(random, RACE))
		cc_box_race();
	free(x->answer.body);
	if (!refusals_answer(x->path, x->body, x->n, &x->answer))
		cc_box_request(x->method, x->path, x->body, x->n, &x->answer);
	check_handled(x->path, x->body, x->n, x->answer.status);
	trace("cc-backend: %d: %s %s gives %d", x->number, x->method, x->path,
	    x->answer.status);
}

static void
on_handle(void *arg)
{
	struct exchange *x = arg;
	const struct faults *f = faults();
	struct prng *random = backend_random();

	x->handlings--;
	if (backend_is_away() || backend_life() != x->life) {
		if (!backend_is_away() || !backend_hangs())
			result_send(x, "Connection reset by peer");
		exchange_free(x);
		return;
	}
	if (x->done) { /* an answer that nobody reads must not replace it */
		struct cc_answer kept = x->answer;

		memset(&x->answer, 0, sizeof(x->answer));
		handle(x);
		free(x->answer.body);
		x->answer = kept;
	} else {
		handle(x);
		if (x->handlings > 0)
			x->sends++; /* the answer to the repetition counts */
		else if (world_ms() - x->arrived > REPLY_LIMIT)
			result_send(x, "Empty reply from server");
		else if (prng_chance(random, f->answer_lost)) {
			if (prng_chance(random, 500000))
				result_send(x, "Connection reset by peer");
		} else
			result_send(x, NULL);
	}
	exchange_free(x);
}

static void
on_arrival(void *arg)
{
	struct exchange *x = arg;
	const struct faults *f = faults();
	struct prng *random = backend_random();
	int64_t wait = prng_between(random, 0, 10);

	x->arrived = world_ms();
	x->life = backend_life();
	if (prng_chance(random, f->answer_late))
		wait = prng_between(random, 0, LOCK_MAX);
	if (strcmp(x->method, "GET") == 0)
		wait += fault_listing_ms(REPLY_LIMIT);
	x->handlings = 1;
	if (prng_chance(random, f->repeated)) {
		x->handlings = 2;
		world_after(PROCESS_NONE,
		    wait + prng_between(random, 0, REPEAT_MAX_MS), on_handle,
		    x);
	}
	world_after(PROCESS_NONE, wait, on_handle, x);
}

static void
on_refused(void *arg)
{
	result_send(arg, "Failed to connect");
}

static void
on_lost(void *arg)
{
	result_send(arg, "Connection reset by peer");
}

/* A proxy, a portal or another server at the address of cc-backend. */
static void
on_proxy(void *arg)
{
	static const int codes[] = { 200, 302, 401, 403, 404, 407, 429, 431,
		500, 502, 503, 504 };
	struct exchange *x = arg;
	static const char page[] = "<html><body>not cc-backend</body></html>";

	x->answer.status = codes[prng_below(backend_random(),
	    sizeof(codes) / sizeof(codes[0]))];
	x->answer.body = world_alloc(sizeof(page));
	memcpy(x->answer.body, page, sizeof(page));
	x->answer.len = sizeof(page) - 1;
	result_send(x, NULL);
}

static void
request_go(struct exchange *x)
{
	const struct faults *f = faults();
	struct prng *random = backend_random();

	if (backend_is_away() && prng_chance(random, f->proxied))
		world_after(PROCESS_NONE, prng_between(random, 1, LATENCY_MS),
		    on_proxy, x);
	else if (backend_is_away())
		world_after(PROCESS_NONE, backend_hangs() ? CONNECT_MS : 1,
		    on_refused, x);
	else if (prng_chance(random, f->request_lost))
		world_after(PROCESS_NONE, prng_between(random, 1, 1000),
		    on_lost, x);
	else
		world_after(PROCESS_NONE, prng_between(random, 1, LATENCY_MS),
		    on_arrival, x);
}

void
backend_request(const char *method, const char *path, const char *body,
    size_t n, int64_t timeout_ms, backend_fn *fn, void *arg)
{
	struct exchange *x = world_alloc(sizeof(*x));

	invariant(strlen(method) < sizeof(x->method) &&
		strlen(path) < sizeof(x->path),
	    "a long path: %s", path);
	snprintf(x->method, sizeof(x->method), "%s", method);
	snprintf(x->path, sizeof(x->path), "%s", path);
	x->body = world_alloc(n + 1);
	if (n > 0)
		memcpy(x->body, body, n);
	x->n = n;
	x->fn = fn;
	x->arg = arg;
	x->incarnation = process_incarnation(PROCESS_SUBMITTER);
	x->sends = 1;
	x->asked = world_ms();
	x->number = ++n_exchanges;
	trace("http %d: %s %s %s", x->number, method, path, x->body);
	check_request(path, x->body, n);
	fault_point("send");
	x->timeout = world_after(PROCESS_SUBMITTER, timeout_ms, on_timeout, x);
	request_go(x);
	fault_point("sent");
}
