/* SPDX-License-Identifier: MIT */
/*
 * Connections: who may come in, how long and how much they may speak.  The
 * message is whole when the stream ends, as the Go hook client has it; what
 * has come when the time is up is read all the same.
 */
#include "config.h"

#include <sys/socket.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <event2/event.h>

#include "common/clock.h"
#include "common/log.h"
#include "listener/listener.h"

#define FIRST_BYTES	2048	/* what a hook's message needs */
#define ACCEPTS_MAX	16	/* in one turn of the loop, so that those inside get theirs */
#define PAUSE_MS	200	/* when the kernel has nothing left for us */

struct client {
	struct door	*door;		/* borrowed */
	struct client	*next;
	struct event	*readable;
	struct event	*timeout;
	struct peer	 peer;
	int64_t		 active;	/* ms: when it last said something */
	int		 fd;
	char		*buf;		/* owned */
	size_t		 len;
	size_t		 cap;
};

struct door {
	struct event_base *base;	/* borrowed */
	door_heard	*heard;
	void		*arg;
	struct allow	 allow;		/* what it points to is borrowed */
	struct rate	 rate;
	struct event	*sockets[SOCKETS_MAX];
	int		 fds[SOCKETS_MAX];
	int		 n_sockets;
	int		 open;
	struct event	*pause;		/* after it, accepting goes on */
	int		 reserve;	/* a descriptor to give up when there is none left */
	struct client	*clients;
	struct door_count count;
	struct log_limit denied, crowded, hurried, garbled, exhausted;
};

static void
client_free(struct client *c)
{
	struct client **at;

	for (at = &c->door->clients; *at != NULL; at = &(*at)->next)
		if (*at == c) {
			*at = c->next;
			c->door->count.open--;
			break;
		}
	if (c->readable != NULL)
		event_free(c->readable);
	if (c->timeout != NULL)
		event_free(c->timeout);
	close(c->fd);
	free(c->buf);
	free(c);
}

static void
complain(struct log_limit *limit, const struct peer *peer, const char *what)
{
	char text[PEER_TEXT_MAX];
	unsigned held;

	if (!log_allowed(limit, &held))
		return;
	if (held > 0)
		log_warnx("hook message from %s: %s (%u like it before)",
		    peer_text(peer, text), what, held);
	else
		log_warnx("hook message from %s: %s", peer_text(peer, text),
		    what);
}

/* The stream has ended, or its time has: ended says which. */
static void
client_done(struct client *c, const char *ended)
{
	struct door *door = c->door;
	struct prep prep;
	const char *wrong;

	wrong = prep_parse(c->buf, c->len, &prep);
	if (wrong == NULL)
		door->heard(&prep, door->arg);
	else {
		door->count.garbage++;
		complain(&door->garbled, &c->peer, ended != NULL ? ended :
		    wrong);
	}
	client_free(c);
}

/* Room for at least one byte more; -1 when there must not be any. */
static int
client_grow(struct client *c)
{
	size_t cap = c->cap != 0 ? c->cap * 2 : FIRST_BYTES;
	char *buf;

	if (c->len < c->cap)
		return 0;
	if (c->cap >= PREP_BYTES_MAX || (buf = realloc(c->buf, cap)) == NULL)
		return -1;
	c->buf = buf;
	c->cap = cap;
	return 0;
}

static void
client_readable(evutil_socket_t fd, short what, void *arg)
{
	struct client *c = arg;
	ssize_t n;

	if (client_grow(c) == -1) {
		c->door->count.garbage++;
		complain(&c->door->garbled, &c->peer, "longer than 64 KiB");
		client_free(c);
		return;
	}
	n = read(c->fd, c->buf + c->len, c->cap - c->len);
	if (n == -1 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		client_done(c, n == -1 ? "the connection broke" : NULL);
		return;
	}
	c->len += (size_t)n;
	c->active = clock_ms();
}

static void
client_timeout(evutil_socket_t fd, short what, void *arg)
{
	client_done(arg, "no end of the message within 5 seconds");
}

/* Takes fd. */
static void
client_new(struct door *door, int fd, const struct peer *peer)
{
	static const struct timeval limit = { CLIENT_MS / 1000,
		CLIENT_MS % 1000 * 1000 };
	struct client *c = calloc(1, sizeof(*c));

	if (c == NULL) {
		close(fd);
		return;
	}
	c->door = door;
	c->fd = fd;
	c->peer = *peer;
	c->active = clock_ms();
	c->next = door->clients;
	door->clients = c;
	door->count.open++;
	c->readable = event_new(door->base, fd, EV_READ | EV_PERSIST,
	    client_readable, c);
	c->timeout = evtimer_new(door->base, client_timeout, c);
	if (c->readable == NULL || c->timeout == NULL ||
	    event_add(c->readable, NULL) == -1 ||
	    event_add(c->timeout, &limit) == -1) {
		log_warnx("no memory for a connection");
		client_free(c);
	}
}

/* The one that has been silent longest makes room. */
static void
evict(struct door *door)
{
	struct client *c, *oldest = door->clients;

	for (c = door->clients; c != NULL; c = c->next)
		if (c->active < oldest->active)
			oldest = c;
	door->count.refused++;
	complain(&door->crowded, &oldest->peer,
	    "dropped, too many connections at once");
	client_free(oldest);
}

/* Takes fd. */
static void
admit(struct door *door, int fd)
{
	struct peer peer;

	door->count.accepted++;
	if (peer_of(fd, &peer) == -1) {
		/* It has already gone. */
		close(fd);
		return;
	}
	if (!allow_peer(&door->allow, &peer)) {
		door->count.refused++;
		complain(&door->denied, &peer, peer.local ?
		    "refused: not root, SlurmUser or the service's user "
		    "(prepAllowedUids adds users)" :
		    "refused: not in prepAllowedHosts");
		close(fd);
		return;
	}
	if (!rate_take(&door->rate, &peer, clock_ms())) {
		door->count.refused++;
		complain(&door->hurried, &peer, "refused: too many messages "
		    "a second; the poll finds the jobs");
		close(fd);
		return;
	}
	if (door->count.open >= CLIENTS_MAX)
		evict(door);
	client_new(door, fd, &peer);
}

static void
sockets_pause(struct door *door)
{
	static const struct timeval wait = { 0, PAUSE_MS * 1000 };
	int i;

	for (i = 0; i < door->n_sockets; i++)
		event_del(door->sockets[i]);
	event_add(door->pause, &wait);
}

static void
sockets_resume(evutil_socket_t fd, short what, void *arg)
{
	struct door *door = arg;
	int i;

	for (i = 0; door->open && i < door->n_sockets; i++)
		event_add(door->sockets[i], NULL);
}

/*
 * No descriptor, or no memory for one.  With the reserve the knock is at
 * least answered by a hang-up, so that it does not wake us for ever; then
 * there is a pause in any case.
 */
static void
out_of_descriptors(struct door *door, int listening)
{
	unsigned held;
	int fd;

	if (log_allowed(&door->exhausted, &held))
		log_warn("cannot accept a hook's connection (%u times before)",
		    held);
	if (door->reserve != -1) {
		close(door->reserve);
		fd = accept4(listening, NULL, NULL, SOCK_CLOEXEC);
		if (fd != -1) {
			door->count.refused++;
			close(fd);
		}
		door->reserve = dup(STDIN_FILENO);
	}
	sockets_pause(door);
}

static void
on_knock(evutil_socket_t listening, short what, void *arg)
{
	struct door *door = arg;
	int i, fd;

	for (i = 0; i < ACCEPTS_MAX; i++) {
		fd = accept4(listening, NULL, NULL,
		    SOCK_NONBLOCK | SOCK_CLOEXEC);
		if (fd != -1) {
			admit(door, fd);
			continue;
		}
		if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS ||
		    errno == ENOMEM)
			out_of_descriptors(door, listening);
		/* Anything else is about a client that has gone. */
		return;
	}
}

struct door *
door_new(struct event_base *base, door_heard *heard, void *arg)
{
	struct door *door = calloc(1, sizeof(*door));

	if (door == NULL)
		return NULL;
	door->base = base;
	door->heard = heard;
	door->arg = arg;
	door->reserve = dup(STDIN_FILENO);
	if ((door->pause = evtimer_new(base, sockets_resume, door)) == NULL) {
		close(door->reserve);
		free(door);
		return NULL;
	}
	return door;
}

void
door_listen(struct door *door, int fd)
{
	struct event *ev;

	if (door->n_sockets == SOCKETS_MAX || evutil_make_socket_nonblocking(
	    fd) == -1 || (ev = event_new(door->base, fd, EV_READ | EV_PERSIST,
	    on_knock, door)) == NULL) {
		log_warnx("cannot listen on one more socket");
		close(fd);
		return;
	}
	door->fds[door->n_sockets] = fd;
	door->sockets[door->n_sockets++] = ev;
	if (door->open)
		event_add(ev, NULL);
}

void
door_open(struct door *door)
{
	door->open = 1;
	sockets_resume(-1, 0, door);
}

void
door_shut(struct door *door)
{
	int i;

	door->open = 0;
	event_del(door->pause);
	for (i = 0; i < door->n_sockets; i++) {
		event_free(door->sockets[i]);
		close(door->fds[i]);
	}
	door->n_sockets = 0;
}

void
door_free(struct door *door)
{
	if (door == NULL)
		return;
	door_shut(door);
	while (door->clients != NULL)
		client_free(door->clients);
	event_free(door->pause);
	if (door->reserve != -1)
		close(door->reserve);
	free(door);
}

void
door_allow(struct door *door, const struct allow *allow)
{
	door->allow = *allow;
}

void
door_count(const struct door *door, struct door_count *count)
{
	*count = door->count;
}
