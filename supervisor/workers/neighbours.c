/* SPDX-License-Identifier: MIT */
/*
 * The socketpairs between neighbours.  Each pair has a number, so that a
 * message about a pair that was replaced is recognized and ignored.
 */
#include "config.h"

#include <sys/socket.h>

#include <stdio.h>
#include <string.h>

#include "supervisor/workers/workers.h"

/*
 * If the pair broke because a neighbour ended, SIGCHLD arrives within this
 * time.
 */
#define EXIT_WAIT_MS 500

static void
neighbour_send(struct child *c, enum role peer, uint64_t id, int fd)
{
	struct writer w;

	wr_init(&w, 1);
	wr_u8(&w, (uint8_t)peer);
	channel_send(c->channel, MSG_PEER, id, &w, fd);
	wr_clear(&w);
}

static void
link_connect(struct workers *w, struct link *link)
{
	struct child *up = &w->children[link->up];
	struct child *down = &w->children[link->down];
	int fds[2];

	if (up->state != CHILD_READY || up->channel == NULL ||
	    down->state != CHILD_READY || down->channel == NULL)
		return;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) == -1) {
		log_error("cannot make the channel between %s and %s",
		    role_name(link->up), role_name(link->down));
		return;
	}
	evtimer_del(link->broken_timer);
	link->id = ++w->link_ids;
	neighbour_send(up, link->down, link->id, fds[0]);
	neighbour_send(down, link->up, link->id, fds[1]);
}

void
neighbours_connect(struct child *c)
{
	int i;

	for (i = 0; i < LINKS; i++) {
		if (c->workers->links[i].up == c->role ||
		    c->workers->links[i].down == c->role)
			link_connect(c->workers, &c->workers->links[i]);
	}
}

/*
 * Both neighbours are ready and their channel is broken.  The upstream one is
 * restarted, whichever reported the break: it reads untrusted bytes, and it
 * repeats its messages after a restart.
 */
static void
on_link_broken(evutil_socket_t fd, short what, void *arg)
{
	struct link *link = arg;
	struct child *up = &link->workers->children[link->up];
	struct child *down = &link->workers->children[link->down];

	if (link->workers->stopping || up->state != CHILD_READY ||
	    down->state != CHILD_READY)
		return;
	log_warnx("channel between %s and %s: %s", role_name(link->up),
	    role_name(link->down), link->error);
	child_restart(up, "its channel to a neighbour is broken", 0);
}

void
neighbours_broken(struct child *c, enum role peer, uint64_t id, const char *why)
{
	static const struct timeval wait = { .tv_usec = EXIT_WAIT_MS * 1000 };
	struct link *link;
	int i;

	for (i = 0; i < LINKS; i++) {
		link = &c->workers->links[i];
		if (link->id != id ||
		    (link->up != c->role && link->down != c->role) ||
		    (link->up != peer && link->down != peer))
			continue;
		if (!evtimer_pending(link->broken_timer, NULL)) {
			snprintf(link->error, sizeof(link->error),
			    "reported by the %s: %s", role_name(c->role), why);
			if (event_add(link->broken_timer, &wait) == -1)
				log_errorx("channel between %s and %s: out "
					   "of memory",
				    role_name(link->up), role_name(link->down));
		}
	}
}

void
neighbours_init(struct workers *w)
{
	static const enum role ends[LINKS][2] = {
		{ ROLE_LISTENER, ROLE_COLLECTOR },
		{ ROLE_COLLECTOR, ROLE_RUNNER },
		{ ROLE_COLLECTOR, ROLE_SUBMITTER },
		{ ROLE_RECEIVER, ROLE_SUBMITTER },
	};
	int i;

	for (i = 0; i < LINKS; i++) {
		w->links[i].workers = w;
		w->links[i].up = ends[i][0];
		w->links[i].down = ends[i][1];
		w->links[i].broken_timer = evtimer_new(w->base, on_link_broken,
		    &w->links[i]);
		if (w->links[i].broken_timer == NULL)
			fatalx("out of memory");
	}
}
