/* SPDX-License-Identifier: MIT */
/*
 * The connections of the admin tool.  The kernel reports the user of a client,
 * a request has a fixed size, and every wait for a client has a limit.
 */
#include "config.h"

#include <sys/socket.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <event2/buffer.h>
#include <event2/bufferevent.h>

#include "common/clock.h"
#include "common/ipc/passing.h"
#include "supervisor/control.h"

#define CLIENTS_MAX	   16
#define CLIENTS_OF_ROOT	   4 /* of them, which ctlUsers cannot occupy */
#define REQUEST_TIMEOUT_MS 5000
#define WRITE_TIMEOUT_MS   10000 /* a client that stopped reading */
#define UNREAD_MAX	   (8u * 1024 * 1024)

void
client_free(struct client *c)
{
	struct client **p = &c->control->clients;

	while (*p != c)
		p = &(*p)->next;
	*p = c->next;
	if (c->bev != NULL) {
		c->control->n_clients--;
		event_free(c->readable);
		bufferevent_free(c->bev);
		passing_close(c->fd);
	}
	event_free(c->timer);
	free(c);
}

void
client_timer_set(struct client *c, int ms)
{
	struct timeval tv = clock_timeval(ms);

	if (event_add(c->timer, &tv) == -1)
		log_warnx("admin tool: out of memory, no limit of time");
}

static void
frame_queue(struct client *c, uint8_t kind, const void *payload, size_t len)
{
	struct evbuffer *out = bufferevent_get_output(c->bev);
	uint32_t n = (uint32_t)len;

	if (len > CTL_REPLY_MAX)
		return;
	evbuffer_add(out, &n, sizeof(n));
	evbuffer_add(out, &kind, sizeof(kind));
	evbuffer_add(out, payload, len);
}

void
client_row(struct client *c, const void *row, size_t len)
{
	if (c->exporter != NULL) {
		scrape_row(c, row, len);
		return;
	}
	if (evbuffer_get_length(bufferevent_get_output(c->bev)) <= UNREAD_MAX) {
		frame_queue(c, CTL_KIND_ROW, row, len);
		return;
	}
	log_warnx("admin tool of user %u does not read its answer; "
		  "disconnected",
	    (unsigned)c->uid);
	client_free(c);
}

void
client_finish(struct client *c)
{
	struct writer w;

	if (c->end_queued)
		return;
	if (c->exporter != NULL) {
		scrape_end(c);
		client_free(c);
		return;
	}
	c->end_queued = 1;
	c->worker = 0;
	c->waits_reload = 0;
	wr_init(&w, CTL_REPLY_MAX);
	wr_u8(&w, (uint8_t)c->status);
	wr_str(&w, c->text);
	frame_queue(c, CTL_KIND_END, w.buf, w.len);
	wr_clear(&w);
	client_timer_set(c, WRITE_TIMEOUT_MS);
}

void
client_text(struct client *c, const char *text)
{
	size_t len = strlen(c->text);

	if (text[0] != '\0')
		snprintf(c->text + len, sizeof(c->text) - len, "%s%s",
		    len > 0 ? "; " : "", text);
}

void
client_reply(struct client *c, enum ctl_status status, const char *text)
{
	c->status = status;
	client_text(c, text);
	client_finish(c);
}

/*
 * One request per connection; what follows it is ignored.  A client that shuts down
 * its writing side still reads.
 */
static void
on_readable(evutil_socket_t fd, short what, void *arg)
{
	struct client *c = arg;
	char ignored[256];
	ssize_t n;

	if (c->has_request)
		n = passing_read(fd, ignored, sizeof(ignored));
	else
		n = passing_read(fd, (char *)&c->req + c->req_len,
		    sizeof(c->req) - c->req_len);
	if (n == -1 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n == -1 && errno == EPROTO)
		log_limited(&c->control->passed_log, log_warnx,
		    "admin tool: a program of user %u passes a descriptor",
		    (unsigned)c->uid);
	if (n == 0 && c->has_request)
		event_del(c->readable);
	else if (n <= 0)
		client_free(c);
	else if (!c->has_request &&
	    (c->req_len += (size_t)n) == sizeof(c->req)) {
		c->has_request = 1;
		c->control->on_request(c);
	}
}

static void
on_written(struct bufferevent *bev, void *arg)
{
	struct client *c = arg;

	if (c->end_queued)
		client_free(c);
}

static void
on_write_error(struct bufferevent *bev, short what, void *arg)
{
	client_free(arg);
}

static void
on_timer(evutil_socket_t fd, short what, void *arg)
{
	struct client *c = arg;

	if (!c->has_request || c->end_queued)
		client_free(c);
	else
		c->control->on_timeout(c);
}

/*
 * A refused user gets no place among the clients.  The refusal fits into the buffer
 * of the socket, so that it needs no wait.  Closes fd.
 */
static void
refusal_reply(int fd, enum ctl_status status, const char *why)
{
	size_t len = strlen(why);
	struct writer w;

	wr_init(&w, len + 16);
	wr_u32(&w, (uint32_t)(sizeof(uint8_t) + sizeof(uint32_t) + len));
	wr_u8(&w, CTL_KIND_END);
	wr_u8(&w, (uint8_t)status);
	wr_str(&w, why);
	if (wr_end(&w) == 0 && send(fd, w.buf, w.len, MSG_NOSIGNAL) == -1)
		log_debug("admin tool: refusal not sent");
	wr_clear(&w);
	passing_close(fd);
}

static int
has_place(const struct control *control, uid_t uid)
{
	unsigned max = CLIENTS_MAX;

	if (uid != 0 && uid != geteuid())
		max -= CLIENTS_OF_ROOT;
	return control->n_clients < max;
}

struct client *
client_internal_new(struct control *control, struct child *exporter)
{
	struct client *c = calloc(1, sizeof(*c));

	if (c == NULL)
		return NULL;
	c->timer = evtimer_new(control->sup->base, on_timer, c);
	if (c->timer == NULL) {
		free(c);
		return NULL;
	}
	c->control = control;
	c->exporter = exporter;
	c->status = CTL_OK;
	c->next = control->clients;
	control->clients = c;
	return c;
}

/* The events of a new client.  0, or -1: out of memory. */
static int
client_open(struct client *c, struct event_base *base)
{
	c->bev = bufferevent_socket_new(base, c->fd, 0);
	c->readable = event_new(base, c->fd, EV_READ | EV_PERSIST, on_readable,
	    c);
	c->timer = evtimer_new(base, on_timer, c);
	if (c->bev != NULL && c->readable != NULL && c->timer != NULL &&
	    event_add(c->readable, NULL) == 0)
		return 0;
	if (c->timer != NULL)
		event_free(c->timer);
	if (c->readable != NULL)
		event_free(c->readable);
	if (c->bev != NULL)
		bufferevent_free(c->bev);
	return -1;
}

static void
client_new(struct control *control, int fd, uid_t uid)
{
	struct client *c = calloc(1, sizeof(*c));

	passing_inline(fd);
	if (c != NULL) {
		c->control = control;
		c->fd = fd;
		c->uid = uid;
		c->status = CTL_OK;
	}
	if (c == NULL || client_open(c, control->sup->base) == -1) {
		log_warnx("admin tool: out of memory, connection closed");
		free(c);
		passing_close(fd);
		return;
	}
	c->next = control->clients;
	control->clients = c;
	control->n_clients++;
	bufferevent_setcb(c->bev, NULL, on_written, on_write_error, c);
	client_timer_set(c, REQUEST_TIMEOUT_MS);
}

void
client_accept(evutil_socket_t listening, short what, void *arg)
{
	struct control *control = arg;
	struct ucred peer;
	socklen_t len = sizeof(peer);
	int fd = accept4(listening, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd == -1)
		return;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) == -1)
		passing_close(fd);
	else if (!ctl_user_allowed(&control->users, peer.uid, 0)) {
		log_limited(&control->denied_log, log_warnx,
		    "admin tool: user %u is refused: not root and not in "
		    "ctlUsers",
		    (unsigned)peer.uid);
		refusal_reply(fd, CTL_DENIED,
		    "only root and ctlUsers may do that");
	} else if (!has_place(control, peer.uid)) {
		log_limited(&control->full_log, log_warnx,
		    "admin tool: the request of user %u is refused: %u "
		    "requests are under way",
		    (unsigned)peer.uid, control->n_clients);
		refusal_reply(fd, CTL_ERROR,
		    "too many requests at once: try again later");
	} else
		client_new(control, fd, peer.uid);
}
