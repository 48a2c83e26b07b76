/* SPDX-License-Identifier: MIT */
/*
 * The hook socket server and the event queue.  A message is one small JSON
 * object; the end of the stream ends the message.  The listener reads the job
 * id, the cluster name and the kind of hook from the message.  They are a
 * hint: the collector asks Slurm.  The listener keeps each event until the
 * collector acknowledges it.
 */
#ifndef LISTENER_LISTENER_H
#define LISTENER_LISTENER_H

#include <sys/socket.h>
#include <sys/types.h>

#include <stddef.h>
#include <stdint.h>

#include "common/model/hook_credential.h"
#include "common/model/job.h"
#include "common/worker/worker.h"

/* hook_message.c: reads a message. */

/*
 * Bytes of a message.  The message of the Go hook client has about 1.1 KiB;
 * names and paths in it may be long.
 */
#define HOOK_MESSAGE_MAX (64u * 1024)

struct hook_message {
	char cluster[CLUSTER_MAX];
	uint64_t job; /* 1 to 2^32 - 1 */
	uint8_t kind; /* enum event_kind */
	/* Of munge; "" = none, or none is needed. */
	char credential[HOOK_CREDENTIAL_MAX];
};

/*
 * Reads a message of len bytes.  Returns NULL and fills msg, or a constant
 * text with what is wrong.
 */
const char *hook_message_parse(const char *buf, size_t len,
    struct hook_message *msg);

/* access.c: who may connect, and how often. */

#define ACCESS_UIDS_MAX	    128
#define ACCESS_NETWORKS_MAX 1024 /* the maximum of prepAllowedHosts */
#define PEER_TEXT_MAX	    64	 /* bytes with the NUL */

/* The client of a connection. */
struct peer {
	int local; /* UNIX socket: uid is valid, else addr */
	uid_t uid;
	uint8_t addr[16]; /* IPv6, or IPv4 mapped into IPv6 */
	int own_host;	  /* addr is the address that it connected to */
};

struct network {
	uint8_t addr[16];
	unsigned bits; /* length of the prefix, 0 to 128 */
};

struct access_list {
	uid_t *uids; /* owned */
	size_t n_uids;
	struct network *networks; /* owned */
	size_t n_networks;
	int munge; /* prepAuth: TCP clients need a credential */
};

/*
 * Reads the values of prepAllowedUids (as numbers) and prepAllowedHosts.
 * 0, or -1 with a reason that names the invalid item.
 */
int access_init(struct access_list *access, const char *uids, const char *hosts,
    char *reason, size_t size);
void access_clear(struct access_list *access);
/* 1 or 0; loopback addresses and this host are always allowed. */
int access_allows(const struct access_list *access, const struct peer *peer);

/* Gets the peer of an accepted socket from the kernel.  0 or -1 with errno. */
int peer_get(int fd, struct peer *peer);
/* "uid 4294967295" or an address, in buf. */
const char *peer_text(const struct peer *peer, char buf[PEER_TEXT_MAX]);

/*
 * Messages that one peer may send: RATE_BURST at once, RATE_PER_SECOND in the
 * long run.  All hooks of a slurmctld come from one peer, and the start of a
 * large job array runs thousands of hooks within seconds.
 */
#define RATE_PER_SECOND 1000
#define RATE_BURST	10000
#define RATE_PEERS	64 /* in the table; the oldest makes room */

struct rate_table {
	struct {
		struct peer peer;
		int64_t tokens; /* in thousandths */
		int64_t when;	/* ms; 0 = free */
	} peers[RATE_PEERS];
};

/* 1 when one more message of the peer is allowed.  now_ms > 0, monotonic. */
int rate_take(struct rate_table *rate, const struct peer *from, int64_t now_ms);

/* event_queue.c: events that the collector has not acknowledged. */

/*
 * Events with a credential, which the collector has to check: messages
 * of unknown senders must not use the room of the others.
 */
#define UNCHECKED_MAX 1024

/* More than the hooks of a day; the poll finds the jobs of dropped events. */
#define EVENTS_MAX 50000

struct event_queue;

struct event_counts {
	uint64_t received; /* valid messages */
	uint64_t merged;   /* of them, into an event that was not sent */
	uint64_t acked;	   /* by the collector */
	uint64_t dropped;  /* because the queue was full */
	size_t waiting;	   /* not acknowledged */
	size_t unchecked;  /* of them, with a credential */
	int64_t acked_at;  /* epoch of the last acknowledgement; 0 = none */
	int64_t oldest_ms; /* age of the oldest one that waits; 0 = none */
	struct histogram stored; /* arrival to acknowledgement */
};

/* NULL when out of memory. */
struct event_queue *event_queue_new(void);
void event_queue_free(struct event_queue *events);
/*
 * Adds an event and sends it when there is a collector.  now: epoch seconds.
 * 0, or -1 when the queue is full.
 */
int event_queue_add(struct event_queue *events, const struct hook_message *msg,
    int64_t now);
/*
 * Sends all events to a new collector.  NULL: there is no collector any more.
 * Borrows the channel.
 */
void event_queue_set_collector(struct event_queue *events,
    struct channel *collector);
/* Sends what waits; called when the channel has room again. */
void event_queue_flush(struct event_queue *events);
/* Removes an event.  An unknown id was acknowledged before: no effect. */
void event_queue_ack(struct event_queue *events, uint64_t id);
void event_queue_counts(const struct event_queue *events,
    struct event_counts *count);

/* server.c: connections. */

#define CLIENTS_MAX 64	 /* connections at once */
#define CLIENT_MS   5000 /* from accept to the end of the message */
#define SOCKETS_MAX 8	 /* listening sockets from the supervisor */

struct hook_server;

struct server_counts {
	uint64_t accepted;
	uint64_t refused; /* not allowed, too many, too fast */
	uint64_t
	    no_credential; /* of them: without the credential of prepAuth */
	uint64_t invalid;  /* without a valid message within CLIENT_MS */
	unsigned open;	   /* connections */
};

/* Called for each valid message. */
typedef void server_message_fn(const struct hook_message *msg, void *arg);

/* NULL when out of memory. */
struct hook_server *server_new(struct event_base *base,
    server_message_fn *on_message, void *arg);
/* Closes all sockets.  server may be NULL. */
void server_free(struct hook_server *server);
/* Takes a listening socket; server_start() begins to accept. */
void server_add_socket(struct hook_server *server, int fd);
void server_start(struct hook_server *server);
/* Closes the listening sockets; open connections go on. */
void server_stop(struct hook_server *server);
/*
 * access is borrowed until the next call.  Before the first call only the addresses
 * of this host are allowed.
 */
void server_set_access(struct hook_server *server,
    const struct access_list *access);
void server_counts(const struct hook_server *server,
    struct server_counts *count);

#endif
