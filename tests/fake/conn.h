/* SPDX-License-Identifier: MIT */
/*
 * One connection, as http.c, parse.c and play.c share it.
 */
#ifndef TESTS_FAKE_CONN_H
#define TESTS_FAKE_CONN_H

#include "fake.h"

enum conn_state {
	CONN_HEAD, /* waits for, or is in, a request's header */
	CONN_BODY,
	CONN_CHUNK,    /* size line of a chunk */
	CONN_DATA,     /* inside a chunk */
	CONN_DATA_END, /* the line end behind it */
	CONN_TRAILER,
	CONN_PLAY,    /* a fault has it */
	CONN_CLOSING, /* closes once everything is written */
	CONN_DRAIN    /* swallows input, so that no reset eats a reply */
};

struct conn {
	LIST_ENTRY(conn) entry;
	struct bufferevent *bev;
	struct event *timer;
	enum conn_state state;
	struct request rq;
	int64_t header_at; /* ms, end of the header */
	bool eof;	   /* the client said all */
	/* what a fault does, while state is CONN_PLAY */
	enum fault_kind play;
	struct text out; /* to be sent piece by piece */
	size_t sent;
	int64_t more; /* bytes of a big answer left */
	int pace;     /* ms between two bytes */
	bool pending; /* the effect is still to come */
};

/* http.c */
void conn_close(struct conn *);
void conn_reset(struct conn *);
void conn_timer(struct conn *, int ms); /* negative: off */
void conn_send(struct conn *, const char *, size_t);
void conn_answer(struct conn *); /* handles rq, sends the reply */
void conn_bad(struct conn *, const char *status);

/* parse.c */
void request_clear(struct request *);
/* The header without its last empty line; 0, or the status of a refusal. */
const char *request_parse(struct request *, char *head);

/* play.c */
void play_start(struct conn *, struct fault *);
void play_timer(struct conn *);
void play_drained(struct conn *);

#endif
