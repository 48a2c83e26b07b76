/* SPDX-License-Identifier: MIT */
/* See check.h. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <event2/event.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/nats/nats_broker.h"
#include "common/record/stream_name.h"
#include "receiver/check.h"
#include "receiver/check_lease.h"
#include "receiver/streams/api.h"

#define CHECK_MS     12000 /* then the missing answers are reported */
#define CONNECT_MS   3000  /* for the connection; a failure may be temporary */
#define TICK_MS	     200
#define CLUSTERS_MAX STREAMS_MAX
#define NOT_FOUND    404 /* JetStream: no such stream */

static struct {
	struct receiver *v; /* NULL = not begun */
	uint64_t request;
	long long began; /* clock_ms() */
	struct event *timer;
	int connected;
	char clusters[CLUSTERS_MAX][CLUSTER_MAX];
	unsigned n;
	unsigned char answered[CLUSTERS_MAX];
	unsigned waits; /* answers that are missing, also of the lease */
	int lease;	/* one of them is that of the lease */
	int ended;
} check;

int
check_is_on(void)
{
	return check.v != NULL;
}

static void
check_end(void)
{
	if (check.ended)
		return;
	check.ended = 1;
	event_del(check.timer);
	worker_ctl_end(check.v->w, check.request, CTL_OK, NULL);
}

static void
connection_report(void)
{
	struct nats_broker_status st;

	link_status(check.v->link, &st);
	worker_check(check.v->w, check.request, check.connected ? "ok" : "warn",
	    "NATS: %s%s", st.text,
	    check.connected ? "" :
			      "; on the host of the broker, run: systemctl "
			      "status nats-server; or correct natsServer and "
			      "the login");
}

static void
stream_report(unsigned k, const char *kind, const char *text)
{
	if (check.answered[k])
		return;
	check.answered[k] = 1;
	check.waits--;
	worker_check(check.v->w, check.request, kind,
	    "stream of cluster %s: %s", check.clusters[k], text);
	if (check.waits == 0)
		check_end();
}

static void
lease_report(const char *kind, const char *text)
{
	if (!check.lease)
		return;
	check.lease = 0;
	check.waits--;
	worker_check(check.v->w, check.request, kind,
	    "lease of the active centre: %s", text);
	if (check.waits == 0)
		check_end();
}

/* Asks for the state of one stream. */
static void
stream_ask(unsigned k)
{
	char stream[STREAM_NAME_MAX], subject[API_SUBJECT_MAX], tail[32];

	if (stream_name(STREAM_OF_RECORDS, check.clusters[k], stream,
		sizeof(stream)) == -1) {
		stream_report(k, "warn", "its name is too long for NATS");
		return;
	}
	snprintf(subject, sizeof(subject), "$JS.API.STREAM.INFO.%s", stream);
	snprintf(tail, sizeof(tail), "check.%u", k);
	if (link_publish(check.v->link, subject, tail, NULL, 0) == -1)
		stream_report(k, "warn", "the question cannot be sent");
}

void
check_link(int up)
{
	unsigned k;

	if (!up || check.connected || check.ended)
		return;
	check.connected = 1;
	connection_report();
	check.lease = check.v->checked_active_only;
	check.waits = check.n + (unsigned)check.lease;
	for (k = 0; k < check.n; k++)
		stream_ask(k);
	if (check.lease && check_lease_ask(check.v->link) == -1)
		lease_report("warn", "the question cannot be sent");
	if (check.waits == 0)
		check_end();
}

static void
answer_report(unsigned k, const struct api_answer *a)
{
	char text[256];

	if (a->code == NOT_FOUND) {
		stream_report(k, "ok", "the daemon makes it at the start");
		return;
	}
	if (a->code != 0) {
		stream_report(k, "warn", a->error);
		return;
	}
	snprintf(text, sizeof(text), "%llu messages, %lld replicas",
	    (unsigned long long)a->messages, (long long)a->replicas);
	stream_report(k, "ok", text);
}

void
check_message(const struct link_message *m)
{
	struct check_lease_line line;
	struct api_answer a;
	unsigned k;

	if (!check.ended && check_lease_message(check.v->link, m, &line)) {
		lease_report(line.kind, line.text);
		return;
	}
	if (m->tail == NULL || sscanf(m->tail, "check.%u", &k) != 1 ||
	    k >= check.n || check.ended || check.answered[k])
		return;
	if (m->status != 0)
		stream_report(k, "warn",
		    "JetStream is not enabled for this login, or the question "
		    "is not permitted");
	else if (api_answer_read(&a, m->data, m->len) == -1)
		stream_report(k, "warn", "the answer is invalid");
	else
		answer_report(k, &a);
}

static void
on_timer(evutil_socket_t fd, short what, void *arg)
{
	struct timeval tick = clock_timeval(TICK_MS);
	long long age = clock_ms() - check.began;
	unsigned k;

	(void)fd;
	(void)what;
	(void)arg;
	if (check.ended)
		return;
	evtimer_add(check.timer, &tick);
	if (!check.connected && age >= CONNECT_MS) {
		connection_report();
		check_end();
	}
	for (k = 0; !check.ended && age >= CHECK_MS && k < check.n; k++)
		stream_report(k, "warn",
		    "no answer: is JetStream enabled, and is the login "
		    "permitted to ask $JS.API.STREAM.INFO?");
	if (!check.ended && age >= CHECK_MS)
		lease_report("warn",
		    "no answer: is the login permitted to ask "
		    "$JS.API.STREAM.INFO.KV_CC_LEASE and "
		    "$JS.API.STREAM.MSG.GET.KV_CC_LEASE?");
}

void
check_begin(struct receiver *v, uint64_t request)
{
	struct timeval tick = clock_timeval(TICK_MS);

	if (check.v != NULL || v->checked == NULL) {
		worker_ctl_end(v->w, request, CTL_ERROR,
		    "the receiver does not support this request");
		return;
	}
	check.v = v;
	check.request = request;
	check.began = clock_ms();
	while (check.n < CLUSTERS_MAX &&
	    conf_list_item(v->checked_clusters, check.n,
		check.clusters[check.n], CLUSTER_MAX) == 1)
		check.n++;
	check.timer = evtimer_new(v->w->base, on_timer, NULL);
	if (check.timer == NULL || evtimer_add(check.timer, &tick) == -1)
		fatalx("out of memory");
	link_use(v->link, v->checked);
	v->checked = NULL;
}
