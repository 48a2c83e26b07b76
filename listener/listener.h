/* SPDX-License-Identifier: MIT */
/*
 * The door for hooks.  A message is one small JSON object ended by the end of
 * the stream; of it only the job's id, the cluster's name and the kind of
 * hook are taken, and they only cause a question to Slurm.  Each is kept
 * until the collector has taken it.
 */
#ifndef LISTENER_LISTENER_H
#define LISTENER_LISTENER_H

#include <sys/socket.h>
#include <sys/types.h>

#include <stddef.h>
#include <stdint.h>

#include "common/job.h"
#include "common/worker/worker.h"

/* hook_message.c: what a hook's message says. */

/* The Go hook client's is about 1.1 KiB; names and paths in it may be long. */
#define HOOK_MESSAGE_MAX	(64u * 1024)

struct hook_message {
	char	 cluster[CLUSTER_MAX];
	uint64_t job;		/* 1 to 2^32 - 1 */
	uint8_t	 kind;		/* enum event_kind */
};

/*
 * Reads a message.  Returns NULL, or a constant text with what is wrong; prep
 * is filled only with NULL.  buf need not end with a NUL.
 */
const char *hook_message_parse(const char *buf, size_t len,
    struct hook_message *msg);

/* access.c: who may knock, and how often. */

#define ACCESS_UIDS_MAX	128
#define ACCESS_NETWORKS_MAX	1024	/* as prepAllowedHosts has at most */
#define PEER_TEXT_MAX	64	/* bytes with the NUL: "uid 4294967295" or an address */

/* Whoever is at the other end of a connection. */
struct peer {
	int	 local;		/* UNIX socket: uid holds, addr does not */
	uid_t	 uid;
	uint8_t	 addr[16];	/* IPv6, or IPv4 mapped into it */
};

struct network {
	uint8_t	 addr[16];
	unsigned bits;		/* of 128 that must agree */
};

struct access_list {
	uid_t		*uids;	/* owned */
	size_t		 n_uids;
	struct network	*networks;	/* owned */
	size_t		 n_networks;
};

/* From two LIST values.  0, or -1 with a reason that names the bad item. */
int access_init(struct access_list *access, const char *uids, const char *hosts,
    char *reason, size_t size);
void access_clear(struct access_list *access);
/* 1 or 0; loopback addresses always may. */
int access_allows(const struct access_list *access, const struct peer *peer);

/* Fills peer from what the kernel says of an accepted socket.  0 or -1 with errno. */
int peer_get(int fd, struct peer *peer);
const char *peer_text(const struct peer *peer, char buf[PEER_TEXT_MAX]);

/*
 * Messages that a peer may send: RATE_BURST at once, RATE_PER_SECOND for
 * ever.  All hooks of a slurmctld are one peer, and a large array that starts
 * is thousands of them within seconds.
 */
#define RATE_PER_SECOND	1000
#define RATE_BURST	10000
#define RATE_PEERS	64	/* remembered; the one that came last longest ago makes room */

struct rate_table {
	struct {
		struct peer	 peer;
		int64_t		 tokens;	/* in thousandths */
		int64_t		 when;		/* ms; 0 = free */
	} peers[RATE_PEERS];
};

/* 1 when one more message of the peer is within its rate.  now_ms > 0, monotonic. */
int rate_take(struct rate_table *rate, const struct peer *peer, int64_t now_ms);

/* event_queue.c: what was heard and is not yet taken. */

/* Of a day without a collector; beyond it the poll finds the jobs. */
#define EVENTS_MAX	50000

struct event_queue;

struct event_counts {
	uint64_t received;	/* messages understood */
	uint64_t merged;	/* of them, said again before they were sent */
	uint64_t taken;
	uint64_t dropped;	/* for lack of room */
	size_t	 waiting;	/* not yet taken */
};

/* NULL on memory. */
struct event_queue *event_queue_new(void);
void event_queue_free(struct event_queue *events);
/* Notes one and sends it when there is somebody to send it to.  0, or -1: no room. */
int event_queue_add(struct event_queue *events, const struct hook_message *msg,
    int64_t now);
/* A new collector, to which everything is said again; NULL: it is gone.  Borrows. */
void event_queue_set_collector(struct event_queue *events,
    struct channel *collector);
/* There is room in the channel again. */
void event_queue_flush(struct event_queue *events);
/* Unknown numbers are those taken from us twice: nothing happens. */
void event_queue_ack(struct event_queue *events, uint64_t id);
void event_queue_counts(const struct event_queue *events,
    struct event_counts *count);

/* server.c: connections. */

#define CLIENTS_MAX	64	/* at once; the one silent longest makes room */
#define CLIENT_MS	5000	/* from accept to the end of the message */
#define SOCKETS_MAX	8	/* that the supervisor listens on for us */

struct hook_server;

struct server_counts {
	uint64_t accepted;
	uint64_t refused;	/* not allowed, too many, too often */
	uint64_t invalid;	/* no message, or none in time */
	unsigned open;
};

/* What the door hands on: one well-formed message. */
typedef void server_message_fn(const struct hook_message *msg, void *arg);

/* NULL on memory. */
struct hook_server *server_new(struct event_base *base,
    server_message_fn *on_message, void *arg);
/* Closes everything; NULL is fine. */
void server_free(struct hook_server *server);
/* Takes a listening socket; it is read from once server_start() was called. */
void server_add_socket(struct hook_server *server, int fd);
void server_start(struct hook_server *server);
/* No new connections; the open ones may end. */
void server_stop(struct hook_server *server);
/* Borrowed until the next call; before the first nobody but loopback may. */
void server_set_access(struct hook_server *server,
    const struct access_list *access);
void server_counts(const struct hook_server *server,
    struct server_counts *count);

#endif
