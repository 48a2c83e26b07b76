/* SPDX-License-Identifier: MIT */
/*
 * Connections of hooks.  A message is complete at the end of the stream, as
 * the Go hook client sends it.  When CLIENT_MS have passed, what has arrived
 * is read as the message.
 */
#include "config.h"

#include <sys/socket.h>

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <event2/event.h>

#include "common/clock.h"
#include "common/ipc/passing.h"
#include "common/log.h"
#include "common/text/time_text.h"
#include "listener/listener.h"

#define FIRST_BYTES 2048 /* a hook's message is shorter */
#define ACCEPTS_MAX 16	 /* per turn of the event loop */
#define PAUSE_MS    200	 /* without accept(2), see accept_exhausted() */

struct hook_client {
	struct hook_server *server; /* borrowed */
	struct hook_client *next;
	struct event *readable;
	struct event *timeout;
	struct peer peer;
	int64_t active; /* ms: last bytes from the client */
	int fd;
	char *buf; /* owned */
	size_t len;
	size_t cap;
};

struct hook_server {
	struct event_base *base; /* borrowed */
	server_message_fn *on_message;
	void *arg;
	struct access_list access; /* its arrays are borrowed */
	struct rate_table rate;
	struct event *sockets[SOCKETS_MAX];
	int fds[SOCKETS_MAX];
	int n_sockets;
	int open;
	struct event *pause_timer; /* accepts again when it fires */
	int spare_fd;		   /* see accept_exhausted() */
	struct hook_client *clients;
	struct server_counts count;
	struct log_limit limit_access, limit_connections, limit_rate,
	    limit_invalid, limit_credential, limit_accept;
};

static void
client_free(struct hook_client *c)
{
	struct hook_client **at;

	for (at = &c->server->clients; *at != NULL; at = &(*at)->next)
		if (*at == c) {
			*at = c->next;
			c->server->count.open--;
			break;
		}
	if (c->readable != NULL)
		event_free(c->readable);
	if (c->timeout != NULL)
		event_free(c->timeout);
	passing_close(c->fd);
	free(c->buf);
	free(c);
}

static void
client_warn(struct log_limit *limit, const struct peer *peer, const char *what)
{
	char text[PEER_TEXT_MAX];

	log_limited(limit, log_warnx, "hook message from %s: %s",
	    peer_text(peer, text), what);
}

/* Names the line of the configuration that allows the client. */
static void
client_warn_refused(struct hook_server *server, const struct peer *peer)
{
	char text[PEER_TEXT_MAX], what[PEER_TEXT_MAX + 128];

	if (peer->local) {
		client_warn(&server->limit_access, peer,
		    "refused: the user is not root, SlurmUser, the service's "
		    "user or in prepAllowedUids");
		return;
	}
	snprintf(what, sizeof(what),
	    "refused; to allow this host, add the line \"prepAllowedHosts\": "
	    "[\"%s\"] to the configuration and reload",
	    peer_text(peer, text));
	client_warn(&server->limit_access, peer, what);
}

/*
 * The collector checks the credential of a TCP client.  The kernel has named the
 * user of a UNIX socket, so that no credential is needed there.
 */
static int
client_is_proved(struct hook_client *c, struct hook_message *msg)
{
	struct hook_server *server = c->server;

	if (c->peer.local || !server->access.munge)
		msg->credential[0] = '\0';
	else if (msg->credential[0] == '\0') {
		server->count.refused++;
		server->count.no_credential++;
		client_warn(&server->limit_credential, &c->peer,
		    "refused: the message has no munge credential; on that "
		    "host, set prepAuth to \"munge\" in the configuration of "
		    "the hook and run: munge -n | unmunge");
		return 0;
	}
	return 1;
}

/* ended: why the stream is not complete, or NULL. */
static void
client_finish(struct hook_client *c, const char *ended)
{
	struct hook_server *server = c->server;
	struct hook_message msg;
	const char *wrong;

	wrong = hook_message_parse(c->buf, c->len, &msg);
	if (wrong == NULL) {
		if (client_is_proved(c, &msg))
			server->on_message(&msg, server->arg);
	} else {
		server->count.invalid++;
		client_warn(&server->limit_invalid, &c->peer,
		    ended != NULL ? ended : wrong);
	}
	client_free(c);
}

/* Makes room for at least one byte.  0, or -1: too long, or out of memory. */
static int
client_grow(struct hook_client *c)
{
	size_t cap = c->cap != 0 ? c->cap * 2 : FIRST_BYTES;
	char *buf;

	if (c->len < c->cap)
		return 0;
	if (c->cap >= HOOK_MESSAGE_MAX || (buf = realloc(c->buf, cap)) == NULL)
		return -1;
	c->buf = buf;
	c->cap = cap;
	return 0;
}

static const char *
read_error_text(void)
{
	return errno == EPROTO ? "it passes a descriptor" :
				 "the connection failed";
}

static void
client_readable(evutil_socket_t fd, short what, void *arg)
{
	struct hook_client *c = arg;
	ssize_t n;

	if (client_grow(c) == -1) {
		c->server->count.invalid++;
		client_warn(&c->server->limit_invalid, &c->peer,
		    "the message is longer than 64 KiB");
		client_free(c);
		return;
	}
	n = passing_read(c->fd, c->buf + c->len, c->cap - c->len);
	if (n == -1 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		client_finish(c, n == -1 ? read_error_text() : NULL);
		return;
	}
	c->len += (size_t)n;
	c->active = clock_ms();
}

static void
client_timeout(evutil_socket_t fd, short what, void *arg)
{
	client_finish(arg, "the message did not end within 5 s");
}

/* Takes fd. */
static void
client_new(struct hook_server *server, int fd, const struct peer *peer)
{
	static const struct timeval limit = { CLIENT_MS / 1000,
		CLIENT_MS % 1000 * 1000 };
	struct hook_client *c = calloc(1, sizeof(*c));

	if (c == NULL) {
		passing_close(fd);
		return;
	}
	passing_inline(fd);
	c->server = server;
	c->fd = fd;
	c->peer = *peer;
	c->active = clock_ms();
	c->next = server->clients;
	server->clients = c;
	server->count.open++;
	c->readable = event_new(server->base, fd, EV_READ | EV_PERSIST,
	    client_readable, c);
	c->timeout = evtimer_new(server->base, client_timeout, c);
	if (c->readable == NULL || c->timeout == NULL ||
	    event_add(c->readable, NULL) == -1 ||
	    event_add(c->timeout, &limit) == -1) {
		log_warnx("out of memory: a connection from a hook is closed");
		client_free(c);
	}
}

/* Closes the connection whose last bytes are the oldest. */
static void
client_evict(struct hook_server *server)
{
	struct hook_client *c, *oldest = server->clients;

	for (c = server->clients; c != NULL; c = c->next)
		if (c->active < oldest->active)
			oldest = c;
	server->count.refused++;
	client_warn(&server->limit_connections, &oldest->peer,
	    "closed: too many connections at once");
	client_free(oldest);
}

/* Takes fd. */
static void
client_admit(struct hook_server *server, int fd)
{
	struct peer peer;

	server->count.accepted++;
	if (peer_get(fd, &peer) == -1) {
		/* The client has closed the connection. */
		passing_close(fd);
		return;
	}
	if (!access_allows(&server->access, &peer)) {
		server->count.refused++;
		client_warn_refused(server, &peer);
		passing_close(fd);
		return;
	}
	if (!rate_take(&server->rate, &peer, clock_ms())) {
		server->count.refused++;
		client_warn(&server->limit_rate, &peer,
		    "refused: too many messages per second; the next poll "
		    "finds the jobs");
		passing_close(fd);
		return;
	}
	if (server->count.open >= CLIENTS_MAX)
		client_evict(server);
	client_new(server, fd, &peer);
}

static void
accept_pause(struct hook_server *server)
{
	static const struct timeval wait = { 0, PAUSE_MS * 1000 };
	int i;

	for (i = 0; i < server->n_sockets; i++)
		event_del(server->sockets[i]);
	event_add(server->pause_timer, &wait);
}

static void
accept_resume(evutil_socket_t fd, short what, void *arg)
{
	struct hook_server *server = arg;
	int i;

	for (i = 0; server->open && i < server->n_sockets; i++)
		event_add(server->sockets[i], NULL);
}

/*
 * Called when there is no descriptor, or no kernel memory, for a connection.
 * The connection stays in the kernel's queue and would wake the loop again at
 * once.  The spare descriptor is closed to accept the connection and close it;
 * then the server pauses.
 */
static void
accept_exhausted(struct hook_server *server, int listening)
{
	int fd;

	log_limited(&server->limit_accept, log_warn,
	    "cannot accept a connection from a hook; the next attempt is in %s",
	    duration_text(PAUSE_MS));
	if (server->spare_fd != -1) {
		close(server->spare_fd);
		fd = accept4(listening, NULL, NULL, SOCK_CLOEXEC);
		if (fd != -1) {
			server->count.refused++;
			passing_close(fd);
		}
		server->spare_fd = dup(STDIN_FILENO);
	}
	accept_pause(server);
}

/*
 * The event loop reported a connection, and there is none.  After a shutdown()
 * by an earlier listener this would repeat for ever.  The supervisor makes a
 * new socket for the next listener.
 */
static void
shut_down_check(int listening)
{
	struct pollfd p = { .fd = listening, .events = POLLRDHUP };

	if (poll(&p, 1, 0) == 1 && (p.revents & (POLLRDHUP | POLLHUP)) != 0)
		fatalx("the socket of the hooks was shut down");
}

static void
on_connect(evutil_socket_t listening, short what, void *arg)
{
	struct hook_server *server = arg;
	int i, fd;

	for (i = 0; i < ACCEPTS_MAX; i++) {
		fd = accept4(listening, NULL, NULL,
		    SOCK_NONBLOCK | SOCK_CLOEXEC);
		if (fd != -1) {
			client_admit(server, fd);
			continue;
		}
		if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS ||
		    errno == ENOMEM)
			accept_exhausted(server, listening);
		if (errno == EINVAL || (errno == EAGAIN && i == 0))
			shut_down_check(listening);
		/* Other errors concern a client that closed the connection. */
		return;
	}
}

struct hook_server *
server_new(struct event_base *base, server_message_fn *on_message, void *arg)
{
	struct hook_server *server = calloc(1, sizeof(*server));

	if (server == NULL)
		return NULL;
	server->base = base;
	server->on_message = on_message;
	server->arg = arg;
	server->spare_fd = dup(STDIN_FILENO);
	server->pause_timer = evtimer_new(base, accept_resume, server);
	if (server->pause_timer == NULL) {
		close(server->spare_fd);
		free(server);
		return NULL;
	}
	return server;
}

void
server_add_socket(struct hook_server *server, int fd)
{
	struct event *ev;

	if (server->n_sockets == SOCKETS_MAX ||
	    evutil_make_socket_nonblocking(fd) == -1 ||
	    (ev = event_new(server->base, fd, EV_READ | EV_PERSIST, on_connect,
		 server)) == NULL) {
		log_warnx("a listening socket of the supervisor is closed: "
			  "out of memory, or more than %d sockets",
		    SOCKETS_MAX);
		close(fd);
		return;
	}
	server->fds[server->n_sockets] = fd;
	server->sockets[server->n_sockets++] = ev;
	if (server->open)
		event_add(ev, NULL);
}

void
server_start(struct hook_server *server)
{
	server->open = 1;
	accept_resume(-1, 0, server);
}

void
server_stop(struct hook_server *server)
{
	int i;

	server->open = 0;
	event_del(server->pause_timer);
	for (i = 0; i < server->n_sockets; i++) {
		event_free(server->sockets[i]);
		close(server->fds[i]);
	}
	server->n_sockets = 0;
}

void
server_free(struct hook_server *server)
{
	if (server == NULL)
		return;
	server_stop(server);
	while (server->clients != NULL)
		client_free(server->clients);
	event_free(server->pause_timer);
	if (server->spare_fd != -1)
		close(server->spare_fd);
	free(server);
}

void
server_set_access(struct hook_server *server, const struct access_list *access)
{
	server->access = *access;
}

void
server_counts(const struct hook_server *server, struct server_counts *count)
{
	*count = server->count;
}
