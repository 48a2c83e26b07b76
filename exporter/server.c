/* SPDX-License-Identifier: MIT */
/*
 * GET /metrics; see exporter.h.  libevent's evhttp parses the requests.  Each
 * connection has one request.  evhttp limits the time between two bytes only,
 * so the server holds a reference to each connection's bufferevent: it counts
 * them, and ends a connection when its time is over.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/http.h>
#include <event2/listener.h>

#include "common/clock.h"
#include "common/log.h"
#include "exporter/exporter.h"

#define SWEEP_MS  250 /* between two checks of the connections */
#define PAUSE_MS  500 /* without accept(2) when there is no descriptor */
#define IDLE_S	  10  /* between two bytes of a client */
#define OPEN_TYPE "application/openmetrics-text; version=1.0.0; charset=utf-8"
#define TEXT_TYPE "text/plain; version=0.0.4; charset=utf-8"

struct connection {
	struct bufferevent *bev; /* a reference; NULL = free */
	long long end_ms;	 /* clock_ms(): its time is over */
};

struct metrics_server {
	struct event_base *base; /* borrowed */
	int connection_ms;
	struct evhttp *http;
	struct evconnlistener *listener; /* borrowed from http; NULL = none */
	struct connection connections[CONNECTIONS_MAX];
	struct event *sweep;  /* timer, while a connection is open */
	struct event *resume; /* timer: accepts again */
	metrics_scrape_fn *scrape;
	void *arg;
	struct page page; /* of the scrape under way, then complete */
	int scraping;
	long long page_ms;  /* clock_ms() of the complete page; 0 = none */
	struct event *late; /* timer: the scrape takes too long */
	struct evhttp_request *waiting[CONNECTIONS_MAX];
	unsigned n_waiting;
	struct metrics_counts count;
	struct log_limit limit_accept;
};

static void
timer_set(struct event *timer, int ms)
{
	struct timeval tv = clock_timeval(ms);

	if (event_add(timer, &tv) == -1)
		fatalx("out of memory");
}

/* evhttp takes its handlers away when it frees a connection. */
static int
is_released(struct bufferevent *bev)
{
	bufferevent_event_cb event;

	bufferevent_getcb(bev, NULL, NULL, &event, NULL);
	return event == NULL;
}

static void
connections_sweep(struct metrics_server *server)
{
	struct connection *c;
	long long now = clock_ms();

	for (c = server->connections; c < server->connections + CONNECTIONS_MAX;
	     c++) {
		if (c->bev == NULL)
			continue;
		if (!is_released(c->bev) && now >= c->end_ms) {
			server->count.refused++;
			bufferevent_trigger_event(c->bev,
			    BEV_EVENT_READING | BEV_EVENT_TIMEOUT, 0);
			c->end_ms = now + server->connection_ms;
		}
		if (is_released(c->bev)) {
			bufferevent_decref(c->bev);
			c->bev = NULL;
			server->count.open--;
		}
	}
	if (server->listener != NULL && server->count.open < CONNECTIONS_MAX &&
	    !evtimer_pending(server->resume, NULL))
		evconnlistener_enable(server->listener);
	if (server->count.open > 0)
		timer_set(server->sweep, SWEEP_MS);
}

static void
on_sweep(evutil_socket_t fd, short what, void *arg)
{
	connections_sweep(arg);
}

/* evhttp frees the connection after this call. */
static void
on_complete(struct evhttp_request *req, void *arg)
{
	struct metrics_server *server = arg;

	timer_set(server->sweep, 0);
}

static struct bufferevent *
on_connection(struct event_base *base, void *arg)
{
	struct metrics_server *server = arg;
	struct connection *c = server->connections;

	while (c < server->connections + CONNECTIONS_MAX && c->bev != NULL)
		c++;
	if (c == server->connections + CONNECTIONS_MAX)
		return NULL; /* does not happen: the listener is disabled */
	c->bev = bufferevent_socket_new(base, -1, BEV_OPT_CLOSE_ON_FREE);
	if (c->bev == NULL)
		return NULL;
	bufferevent_incref(c->bev);
	c->end_ms = clock_ms() + server->connection_ms;
	server->count.connections++;
	if (++server->count.open == CONNECTIONS_MAX)
		evconnlistener_disable(server->listener);
	timer_set(server->sweep, SWEEP_MS);
	return c->bev;
}

static void
error_send(struct metrics_server *server, struct evhttp_request *req, int code,
    const char *reason)
{
	server->count.refused++;
	evhttp_add_header(evhttp_request_get_output_headers(req), "Connection",
	    "close");
	evhttp_send_reply(req, code, reason, NULL);
}

static int
wants_openmetrics(struct evhttp_request *req)
{
	const char *accept =
	    evhttp_find_header(evhttp_request_get_input_headers(req), "Accept");

	return accept != NULL &&
	    strstr(accept, "application/openmetrics-text") != NULL;
}

static void
page_send(struct metrics_server *server, struct evhttp_request *req)
{
	enum metrics_form form = wants_openmetrics(req) ? METRICS_OPEN :
							  METRICS_PROMETHEUS;
	struct evkeyvalq *headers = evhttp_request_get_output_headers(req);
	struct evbuffer *body = evbuffer_new();
	char *text;
	size_t len;

	text = page_text(&server->page, form, &len);
	if (text == NULL || body == NULL ||
	    evbuffer_add(body, text, len) == -1) {
		error_send(server, req, HTTP_INTERNAL, "Out of memory");
	} else {
		server->count.pages++;
		evhttp_add_header(headers, "Content-Type",
		    form == METRICS_OPEN ? OPEN_TYPE : TEXT_TYPE);
		evhttp_add_header(headers, "Connection", "close");
		evhttp_send_reply(req, HTTP_OK, "OK", body);
	}
	free(text);
	if (body != NULL)
		evbuffer_free(body);
}

/* A request whose client has gone is freed by evhttp_send_reply(). */
static void
waiting_answer(struct metrics_server *server, int good)
{
	unsigned i, n = server->n_waiting;

	server->n_waiting = 0;
	for (i = 0; i < n; i++)
		if (good)
			page_send(server, server->waiting[i]);
		else
			error_send(server, server->waiting[i], HTTP_SERVUNAVAIL,
			    "The daemon does not answer");
}

static void
on_late(evutil_socket_t fd, short what, void *arg)
{
	waiting_answer(arg, 0);
}

static void
on_metrics(struct evhttp_request *req, void *arg)
{
	struct metrics_server *server = arg;

	evhttp_request_set_on_complete_cb(req, on_complete, server);
	if (!server->scraping && server->page_ms != 0 &&
	    clock_ms() - server->page_ms < PAGE_AGE_MS) {
		page_send(server, req);
		return;
	}
	if (server->n_waiting == CONNECTIONS_MAX ||
	    (!server->scraping && server->scrape(server->arg) == -1)) {
		error_send(server, req, HTTP_SERVUNAVAIL,
		    "The daemon does not answer");
		return;
	}
	server->waiting[server->n_waiting++] = req;
	if (!evtimer_pending(server->late, NULL))
		timer_set(server->late, SCRAPE_MS);
	if (server->scraping)
		return;
	server->scraping = 1;
	server->page_ms = 0;
	page_clear(&server->page);
}

static void
on_other(struct evhttp_request *req, void *arg)
{
	struct metrics_server *server = arg;

	evhttp_request_set_on_complete_cb(req, on_complete, server);
	error_send(server, req, HTTP_NOTFOUND, "Only /metrics exists");
}

static void
on_resume(evutil_socket_t fd, short what, void *arg)
{
	struct metrics_server *server = arg;

	if (server->listener != NULL && server->count.open < CONNECTIONS_MAX)
		evconnlistener_enable(server->listener);
}

/* Without a pause the loop would call accept(2) again at once, for ever. */
static void
on_accept_error(struct evconnlistener *listener, void *arg)
{
	struct metrics_server *server = arg;

	log_limited(&server->limit_accept, log_warn,
	    "cannot accept a connection to the metrics; the next attempt is in "
	    "%d ms",
	    PAUSE_MS);
	evconnlistener_disable(listener);
	timer_set(server->resume, PAUSE_MS);
}

struct metrics_server *
metrics_server_new(struct event_base *base, int connection_ms,
    metrics_scrape_fn *scrape, void *arg)
{
	struct metrics_server *server = calloc(1, sizeof(*server));

	if (server == NULL)
		return NULL;
	server->base = base;
	server->connection_ms = connection_ms;
	server->scrape = scrape;
	server->arg = arg;
	server->sweep = evtimer_new(base, on_sweep, server);
	server->resume = evtimer_new(base, on_resume, server);
	server->late = evtimer_new(base, on_late, server);
	server->http = evhttp_new(base);
	if (server->sweep == NULL || server->resume == NULL ||
	    server->late == NULL || server->http == NULL ||
	    evhttp_set_cb(server->http, "/metrics", on_metrics, server) != 0) {
		metrics_server_free(server);
		return NULL;
	}
	evhttp_set_gencb(server->http, on_other, server);
	evhttp_set_bevcb(server->http, on_connection, server);
	evhttp_set_allowed_methods(server->http, EVHTTP_REQ_GET);
	evhttp_set_max_headers_size(server->http, HEADERS_MAX);
	evhttp_set_max_body_size(server->http, 0);
	evhttp_set_timeout(server->http, IDLE_S);
	return server;
}

void
metrics_server_free(struct metrics_server *server)
{
	if (server == NULL)
		return;
	server->listener = NULL;
	if (server->http != NULL)
		evhttp_free(server->http);
	server->n_waiting = 0;
	if (server->sweep != NULL)
		connections_sweep(server);
	page_clear(&server->page);
	if (server->sweep != NULL)
		event_free(server->sweep);
	if (server->resume != NULL)
		event_free(server->resume);
	if (server->late != NULL)
		event_free(server->late);
	free(server);
}

int
metrics_server_listen(struct metrics_server *server, int fd)
{
	struct evconnlistener *listener;

	if (server->listener != NULL ||
	    evutil_make_socket_nonblocking(fd) == -1 ||
	    (listener = evconnlistener_new(server->base, NULL, NULL,
		 LEV_OPT_CLOSE_ON_EXEC | LEV_OPT_CLOSE_ON_FREE, 0, fd)) ==
		NULL) {
		close(fd);
		return -1;
	}
	if (evhttp_bind_listener(server->http, listener) == NULL) {
		evconnlistener_free(listener);
		return -1;
	}
	server->listener = listener;
	evconnlistener_set_error_cb(listener, on_accept_error);
	return 0;
}

void
metrics_server_row(struct metrics_server *server, struct reader *r)
{
	uint64_t before = server->page.dropped;

	if (!server->scraping)
		return;
	page_add(&server->page, r);
	server->count.dropped += server->page.dropped - before;
}

void
metrics_server_end(struct metrics_server *server)
{
	if (!server->scraping)
		return;
	server->scraping = 0;
	if (server->page.n > 0)
		server->page_ms = clock_ms();
	evtimer_del(server->late);
	waiting_answer(server, server->page.n > 0);
}

void
metrics_server_counts(const struct metrics_server *server,
    struct metrics_counts *counts)
{
	*counts = server->count;
}
