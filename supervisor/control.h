/* SPDX-License-Identifier: MIT */
/*
 * The admin tool's door: who knocked (control_client.c), and what becomes of
 * what they ask (control.c).
 */
#ifndef SUPERVISOR_CONTROL_H
#define SUPERVISOR_CONTROL_H

#include "supervisor/supervisor.h"

#define CLIENT_TEXT_MAX	2048	/* bytes of all workers' last words together */

struct bufferevent;

struct client {
	struct client	*next;
	struct control	*control;
	struct bufferevent *bev;
	struct event	*timer;		/* of what is awaited now */
	long long	 deadline_ms;		/* clock_ms(): of the whole answer */
	uid_t		 uid;
	uint64_t	 id;		/* of the request, in the workers' frames */
	struct ctl_request req;
	int		 has_request;		/* the request is here */
	int		 worker;		/* role whose answer is awaited, 0 = none */
	int		 waits_reload;	/* awaits the outcome of a reload */
	int		 end_queued;		/* the end is in the buffer */
	enum ctl_status	 status;
	char		 text[CLIENT_TEXT_MAX];
};

struct control {
	struct supervisor *sup;
	void		(*on_request)(struct client *c);	/* it is complete */
	void		(*on_timeout)(struct client *c);
	struct event	*accepting;
	struct client	*clients;
	unsigned	 n_clients;
	uint64_t	 ids;		/* used so far */
	struct ctl_users users;
	struct log_limit denied_log;
};

/* control_client.c */
/* Handler of the listening socket; arg is the struct control. */
void client_accept(evutil_socket_t listening, short what, void *arg);
void client_free(struct client *c);
/* How long the next event may take, ms: then request_timeout() is called. */
void client_timer_set(struct client *c, int ms);
/* Queues a row.  A client that reads too slowly is freed (logged). */
void client_row(struct client *c, const void *row, size_t len);
/* Adds to the text of the end. */
void client_text(struct client *c, const char *text);
/* Status and text as they are; c is freed when the last byte is out. */
void client_finish(struct client *c);
void client_reply(struct client *c, enum ctl_status status, const char *text);

#endif
