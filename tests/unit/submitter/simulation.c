/* SPDX-License-Identifier: MIT */
/* See simulation.h. */
#include "config.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "submitter/backend/breaker.h"
#include "submitter/base/timer.h"
#include "submitter/delivery/delivery.h"
#include "submitter/payload/topology.h"
#include "submitter/reconcile/failover.h"
#include "submitter/reconcile/reconcile.h"
#include "submitter/spool/commit.h"
#include "submitter/spool/spool_private.h"
#include "submitter/spool/transition.h"
#include "tests/unit/check.h"
#include "tests/unit/submitter/sim_boxes.h"
#include "tests/unit/submitter/sim_clock.h"
#include "tests/unit/submitter/simulation.h"

#define REQUESTS_MAX 64

struct submitter sim;
int64_t sim_fence;
int sim_fence_over;
int sim_unsent;
void (*sim_quiet)(void *arg);
void *sim_quiet_arg;
static struct worker worker;
static char dir[] = "/tmp/simulation.XXXXXX";

static struct {
	enum request_kind kind;
	char path[640];
	char body[4096];
	http_data_fn *data;
	http_done_fn *done;
	void *arg;
} requests[REQUESTS_MAX];
static int n_requests;

void
sim_run(int64_t ms)
{
	sim_clock_run(worker.base, ms, NULL);
}

/* --- cc-backend --- */

int
http_send(struct http_client *r, struct http_request *req)
{
	size_t n = req->body != NULL ? req->body->len : 0;
	int i = n_requests;

	(void)r;
	if (sim_unsent > 0) {
		sim_unsent--;
		return -1;
	}
	if (i == REQUESTS_MAX || n >= sizeof(requests[i].body))
		return -1;
	memset(&requests[i], 0, sizeof(requests[i]));
	requests[i].kind = req->what;
	snprintf(requests[i].path, sizeof(requests[i].path), "%s", req->path);
	if (n > 0)
		memcpy(requests[i].body, req->body->buf, n);
	requests[i].data = req->data;
	requests[i].done = req->done;
	requests[i].arg = req->arg;
	n_requests++;
	return 0;
}

void
http_fence(struct http_client *r, int64_t until)
{
	(void)r;
	sim_fence = until;
	sim_fence_over = until <= clock_boot_ms();
}

void
http_on_quiet(struct http_client *r, void (*quiet)(void *arg), void *arg)
{
	(void)r;
	sim_quiet = quiet;
	sim_quiet_arg = arg;
}

int
http_all_answered(const struct http_client *r, int64_t ms)
{
	(void)r;
	return ms == 25000;
}

int
http_usable(const struct http_client *r)
{
	(void)r;
	return 1;
}

static int
request_find(enum request_kind kind)
{
	int i;

	for (i = 0; i < n_requests; i++)
		if (requests[i].kind == kind)
			return i;
	return -1;
}

int
sim_waits(enum request_kind kind)
{
	int i, n = 0;

	for (i = 0; i < n_requests; i++)
		n += requests[i].kind == kind;
	return n;
}

const char *
sim_path(enum request_kind kind)
{
	int i = request_find(kind);

	return i != -1 ? requests[i].path : "";
}

const char *
sim_body(enum request_kind kind)
{
	int i = request_find(kind);

	return i != -1 ? requests[i].body : "";
}

void
sim_answer(enum request_kind kind, int code, const char *body)
{
	int i = request_find(kind);
	struct http_answer a = { .what = kind,
		.code = code,
		.body = body,
		.len = body != NULL ? strlen(body) : 0,
		.error = code == 0 ? "reset" : NULL,
		.sends = 1 };
	http_data_fn *data;
	http_done_fn *done;
	void *arg;

	CHECK(i != -1);
	if (i == -1)
		return;
	data = requests[i].data;
	done = requests[i].done;
	arg = requests[i].arg;
	n_requests--;
	memmove(&requests[i], &requests[i + 1],
	    (size_t)(n_requests - i) * sizeof(requests[0]));
	if (data != NULL && code == 200) {
		/* as in http_call.c */
		if (data(body, strlen(body), arg) == -1)
			a.error = "the answer does not have the expected form";
		a.body = NULL;
		a.len = 0;
	}
	done(&a, arg);
	sim_run(0);
}

/* --- the rest of the program --- */

static char told[4096];

void (*sim_on_row)(const struct writer *row);

static void
tell(const char *text, const char *after)
{
	size_t n = strlen(told);

	snprintf(told + n, sizeof(told) - n, "%s%s", text, after);
}

void
worker_ctl_row(struct worker *w, uint64_t request, const struct writer *row)
{
	struct reader r;
	unsigned i, n;
	char *field;

	(void)w;
	(void)request;
	if (sim_on_row != NULL) {
		sim_on_row(row);
		return;
	}
	rd_init(&r, row->buf, row->len);
	rd_u8(&r); /* the table */
	n = rd_u8(&r);
	for (i = 0; i < n; i++) {
		field = rd_strdup(&r, CTL_REPLY_MAX);
		tell(field, i + 1 < n ? "|" : "\n");
		free(field);
	}
	CHECK_INT(rd_end(&r), 0);
}

void
worker_ctl_end(struct worker *w, uint64_t request, enum ctl_status status,
    const char *text)
{
	(void)w;
	(void)request;
	tell(status == CTL_OK ? "ok: " : "error: ", text);
	tell("\n", "");
}

const char *
sim_told(void)
{
	static char text[sizeof(told)];

	memcpy(text, told, sizeof(text));
	told[0] = '\0';
	return text;
}

void
sim_begin(void)
{
	if (worker.base == NULL) {
		spool_prepare();
		worker.base = event_base_new();
		conf_init(&worker.conf);
		conf_set(&worker.conf, CONF_CC_COMMIT_INTERVAL, "1");
		if (worker.base == NULL || mkdtemp(dir) == NULL)
			exit(1);
	}
	memset(&sim, 0, sizeof(sim));
	told[0] = '\0';
	n_requests = 0;
	sim_clock_begin(SIM_HOUR);
	sim.w = &worker;
	worker.arg = &sim;
	sim_boxes_begin(&sim, dir);
	sim.failover = failover_new(&sim);
}

void
sim_end(void)
{
	while (n_requests > 0)
		sim_answer(requests[0].kind, 0, NULL);
	event_del(sim.wake.event);
	CHECK_INT(spool_forbidden(sim.spool), 0);
	sim_boxes_end(&sim, dir);
}

void
sim_connect(void)
{
	breaker_conf(sim.breaker);
	wake(&sim, WAKE_DELIVERY);
	sim_run(0);
	sim_answer(REQUEST_PROBE, 400, "{\"error\":\"no such cluster: \"}");
	sim_answer(REQUEST_CLUSTERS, 200, "{\"clusters\":[]}");
	CHECK(role_is_passive(&sim) || breaker_allows(sim.breaker));
}

void
sim_put(uint64_t id, int64_t start, int64_t end)
{
	struct job job;
	int64_t row;

	job_init(&job);
	snprintf(job.key.cluster, sizeof(job.key.cluster), "alpha");
	job.key.job = id;
	job.key.start = start;
	job.flags = JOB_HAS_START | (end == 0 ? JOB_LIVE : 0);
	job.end = end;
	job.state = end != 0 ? END_COMPLETED : END_NOT;
	job.user = strdup("u1");
	job.name = strdup("train");
	job.nodes = 1;
	job_add_host(&job, "n1");
	spool_put(sim.spool, &job, &row);
	job_clear(&job);
	wake(&sim, WAKE_DELIVERY);
	sim_run(0);
}

enum run_state
sim_state(uint64_t job, int64_t start)
{
	struct run_key key = { .job = job, .start = start };
	struct spool_run run;

	snprintf(key.cluster, sizeof(key.cluster), "alpha");
	return spool_find(sim.spool, &key, &run) == 1 ? run.state[DEST_REST] :
							RUN_STATE__COUNT;
}
