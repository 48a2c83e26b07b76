/* SPDX-License-Identifier: MIT */
/*
 * The admin socket: its connections (control_client.c) and
 * its requests (control.c).
 */
#ifndef SUPERVISOR_CONTROL_H
#define SUPERVISOR_CONTROL_H

#include "supervisor/supervisor.h"

#define CLIENT_TEXT_MAX 2048 /* bytes of the workers' texts together */

struct bufferevent;

struct client {
	struct client *next;
	struct control *control;
	struct bufferevent *bev; /* NULL: a scrape of the exporter */
	struct event *readable;	 /* of its request; NULL for a scrape */
	struct child *exporter;	 /* of a scrape, or NULL */
	uint64_t scrape;	 /* its number, for the exporter */
	struct event *timer;	 /* of the next event */
	long long deadline_ms;	 /* clock_ms(): of the whole answer */
	int fd;
	uid_t uid;
	uint64_t id; /* of the request, in the workers' frames */
	struct ctl_request req;
	size_t req_len; /* bytes that have arrived */
	int has_request;
	int worker;	  /* role whose answer is awaited, 0 = none */
	int waits_reload; /* for the result of a reload */
	int end_queued;	  /* the end is in the output buffer */
	enum ctl_status status;
	char text[CLIENT_TEXT_MAX];
};

struct control {
	struct supervisor *sup;
	/* The request of a client is complete. */
	void (*on_request)(struct client *c);
	/* The time of client_timer_set() is over. */
	void (*on_timeout)(struct client *c);
	struct event *accepting;
	struct client *clients;
	unsigned n_clients;
	uint64_t ids;	     /* used so far */
	long long scrape_ms; /* clock_ms() of the last scrape; 0 = none */
	struct ctl_users users;
	struct log_limit denied_log;
	struct log_limit full_log;   /* no place for a client */
	struct log_limit passed_log; /* descriptors */
};

/* control_client.c */
/* Handler of the listening socket; arg is the struct control. */
void client_accept(evutil_socket_t listening, short what, void *arg);
/*
 * A client without a connection: its rows go to the exporter.  NULL when out of
 * memory.
 */
struct client *client_internal_new(struct control *control,
    struct child *exporter);
void client_free(struct client *c);
/* Calls control->on_timeout() after ms. */
void client_timer_set(struct client *c, int ms);
/* Queues a row.  A client that reads too slowly is freed (logged). */
void client_row(struct client *c, const void *row, size_t len);
/* Adds to the text of the end. */
void client_text(struct client *c, const char *text);
/* Queues the end; c is freed when the last byte is written, or now. */
void client_finish(struct client *c);
/* Sets the status, adds to the text and queues the end. */
void client_reply(struct client *c, enum ctl_status status, const char *text);

/* scrape.c: the client is the exporter */
void scrape_row(struct client *c, const void *row, size_t len);
void scrape_end(struct client *c);
/* The process of a worker has ended. */
void scrape_child_gone(struct control *control, const struct child *child);

#endif
