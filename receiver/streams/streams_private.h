/* SPDX-License-Identifier: MIT */
/* Private state of the streams. */
#ifndef RECEIVER_STREAMS_STREAMS_PRIVATE_H
#define RECEIVER_STREAMS_STREAMS_PRIVATE_H

#include <sys/queue.h>

#include <event2/event.h>

#include "common/model/job.h"
#include "receiver/base/budget.h"
#include "receiver/base/window.h"
#include "receiver/streams/streams.h"

#define ACK_PENDING 256 /* messages of a consumer without acknowledgement */
/* s; above the longest time until a record is durable */
#define ACK_WAIT 150

/*
 * Begins of the tokens that name a request: for streams of states, and for the
 * questions of limits.c.
 */
#define STATES_TOKEN "n"
#define LIMITS_TOKEN "l"

#define API_REQUEST_MAX 4096 /* bytes of a request of JetStream's API */

/* The steps of a stream until its messages are fetched. */
enum stream_step {
	STEP_IDLE,   /* no connection, or no submitter */
	STEP_WAIT,   /* the timer begins again */
	STEP_INFO,   /* a request; its answer is awaited, as below */
	STEP_CREATE, /* of the stream */
	STEP_UPDATE, /* of the stream */
	STEP_DELETE, /* of our consumer */
	STEP_CONSUMER,
	STEP_READ /* messages are fetched */
};

/* A message that the submitter has not acknowledged. */
struct unacked {
	TAILQ_ENTRY(unacked) link; /* in the order of frames */
	struct stream *stream;
	uint64_t frame;
	uint64_t sequence;
	uint64_t time; /* ns, of the broker */
	size_t bytes;
	char *ack; /* subject; owned */
};
TAILQ_HEAD(unacked_list, unacked);

/* Is the next message longer than the own share? */
enum stream_long {
	LONG_NO,
	LONG_PAYLOAD, /* as long as the broker accepted when the link was made */
	LONG_STREAM   /* longer than that, as long as the stream has any */
};

/* A pull request that the broker has not answered in full. */
struct pull {
	unsigned messages; /* still to come; 0 = none is open */
	size_t bytes;
	unsigned came;
	int is_long; /* for one message above the own share */
};

struct stream {
	struct streams *t;
	char cluster[CLUSTER_MAX];
	char name[API_SUBJECT_MAX];
	char subject[API_SUBJECT_MAX];
	unsigned index;	 /* of the reply subjects */
	unsigned serial; /* of the last request */
	enum stream_step step;
	struct event *timer;	 /* of the step, or of the pull request */
	unsigned failures;	 /* since the last message or success */
	struct api_answer found; /* the stream before its update */
	struct event *check;	 /* timer; while `wrong` has a text */
	unsigned check_serial;	 /* of the last question about its limits */
	int check_is_update;	 /* that question is an update */
	unsigned unanswered;	 /* updates in a row without an answer */
	char problem[256]; /* the last failure, until it is read; "" = none */
	char wrong[256];   /* in its configuration; "" = nothing */
	char loss[160];	   /* messages were lost; "" = none */
	uint64_t identity; /* of window; 0 = unknown */
	struct window window;
	uint64_t told;	    /* position that the owner has */
	uint64_t again;	    /* up to this one, messages are read again */
	unsigned gap_times; /* gaps seen since the last message */
	uint64_t waiting;   /* messages at the broker */
	uint64_t end;	    /* the last message when the reading began */
	struct pull pull;
	struct budget_use use;
	unsigned unacked;
	int elsewhere; /* another centre has read it meanwhile */
	int on_hold;   /* its runs fill its share of the spool */
	enum stream_long wants_long;
	uint64_t received;
	uint64_t expired;
	int64_t renewed;
	int64_t last;
};

struct streams {
	struct event_base *base;
	struct link *link;
	enum stream_kind kind;
	const struct streams_ops *ops;
	void *arg;
	struct api_limits limits;
	struct stream *list[STREAMS_MAX]; /* in the order of cluster names */
	unsigned n;
	unsigned next_index;
	unsigned next; /* begin of the round robin */
	struct budget budget;
	struct unacked_list unacked;
	int up;	   /* the connection */
	int begun; /* the submitter has told its positions */
	int paused;
};

/* step.c: from the connection to the first pull request */

/* Begins with the first request when connection and submitter are there. */
void stream_start(struct stream *st);
/* Ends the present step and the pull request. */
void stream_halt(struct stream *st);
/* Begins again after a wait; why is logged and shown. */
void stream_fail(struct stream *st, const char *why);
/* An answer to the request of the step. */
void stream_answer(struct stream *st, const struct link_message *m);
/* The limit of time of the request of the step is over. */
void stream_no_answer(struct stream *st);

/* request.c: send a request of JetStream's API for the stream.  0, or -1. */
int stream_request(struct stream *st, const char *what, const char *consumer,
    const struct writer *w, const char *token);
/* With the configuration of the stream. */
int stream_request_config(struct stream *st, const char *what,
    const char *token);

/* limits.c: what is wrong in the configuration of the stream */

/*
 * Texts of stream.wrong; the reason of the broker follows the first one.  status
 * has 180 bytes of it.
 */
#define LIMITS_KEPT "the broker keeps its old limits: "
#define LIMITS_NO_ANSWER \
	LIMITS_KEPT "no permission for $JS.API.STREAM.UPDATE.* (add it in " \
		    "accounts.conf, reload the brokers), or JetStream had no " \
		    "leader; reload the daemon"

/*
 * The broker does not answer an update that is not permitted, and JetStream none
 * while it elects its leader.  After so many in a row, no more are sent while the
 * stream is read.
 */
#define LIMITS_TRIES 3

/* fatalx() when out of memory. */
void limits_init(struct stream *st);
/*
 * Notes what is wrong, and logs an error that the receiver cannot correct.  kept:
 * why the broker keeps the old limits; "" = the limits are ours.
 */
void limits_note(struct stream *st, const struct api_answer *a,
    const char *kept);
/* The stream is read: asks again later while something is wrong. */
void limits_watch(struct stream *st);
void limits_halt(struct stream *st);
/*
 * An answer to the question with this serial.  Returns 1 when the broker has taken
 * our limits: begin again, as after each update, with a new consumer.
 */
int limits_answer(struct stream *st, unsigned serial,
    const struct link_message *m);

/* fetch.c: pull requests and messages */

/* Asks for messages where the budget permits. */
void fetch_all(struct streams *t);
/* The pull request is over: gives back what did not come. */
void fetch_end(struct stream *st);
/* A status of the broker for the pull request. */
void fetch_status(struct stream *st, const struct link_message *m);
void fetch_timeout(struct stream *st);
/* A message of the stream. */
void fetch_message(struct stream *st, const struct api_ack *ack,
    const struct link_message *m);
/* Tells the position when it has changed. */
void fetch_position(struct stream *st);
/* Drops the list of what the submitter has not acknowledged. */
void fetch_forget(struct streams *t, const struct stream *st);

/* streams.c */

void stream_timer(struct stream *st, int ms);
/* "INDEX.SERIAL" of a new request. */
const char *stream_token(struct stream *st);
/* The last message that was read, also while messages are read again. */
uint64_t stream_read_up_to(const struct stream *st);

#endif
