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

/* prep.c: what a hook's message says. */

/* The Go hook client's is about 1.1 KiB; names and paths in it may be long. */
#define PREP_BYTES_MAX	(64u * 1024)

struct prep {
	char	 cluster[CLUSTER_MAX];
	uint64_t job;		/* 1 to 2^32 - 1 */
	uint8_t	 kind;		/* enum event_kind */
};

/*
 * Reads a message.  Returns NULL, or a constant text with what is wrong; prep
 * is filled only with NULL.  buf need not end with a NUL.
 */
const char *prep_parse(const char *buf, size_t len, struct prep *prep);

/* limit.c: who may knock, and how often. */

#define ALLOW_UIDS_MAX	128
#define ALLOW_NETS_MAX	1024	/* as prepAllowedHosts has at most */
#define PEER_TEXT_MAX	64	/* bytes with the NUL: "uid 4294967295" or an address */

/* Whoever is at the other end of a connection. */
struct peer {
	int	 local;		/* UNIX socket: uid holds, addr does not */
	uid_t	 uid;
	uint8_t	 addr[16];	/* IPv6, or IPv4 mapped into it */
};

struct net {
	uint8_t	 addr[16];
	unsigned bits;		/* of 128 that must agree */
};

struct allow {
	uid_t		*uids;	/* owned */
	size_t		 n_uids;
	struct net	*nets;	/* owned */
	size_t		 n_nets;
};

/* From two LIST values.  0, or -1 with a reason that names the bad item. */
int allow_init(struct allow *allow, const char *uids, const char *hosts,
    char *reason, size_t size);
void allow_clear(struct allow *allow);
/* 1 or 0; loopback addresses always may. */
int allow_peer(const struct allow *allow, const struct peer *peer);

/* Fills peer from what the kernel says of an accepted socket.  0 or -1 with errno. */
int peer_of(int fd, struct peer *peer);
const char *peer_text(const struct peer *peer, char buf[PEER_TEXT_MAX]);

/*
 * Messages that a peer may send: RATE_BURST at once, RATE_PER_SECOND for
 * ever.  All hooks of a slurmctld are one peer, and a large array that starts
 * is thousands of them within seconds.
 */
#define RATE_PER_SECOND	1000
#define RATE_BURST	10000
#define RATE_PEERS	64	/* remembered; the one that came last longest ago makes room */

struct rate {
	struct {
		struct peer	 peer;
		int64_t		 tokens;	/* in thousandths */
		int64_t		 when;		/* ms; 0 = free */
	} peers[RATE_PEERS];
};

/* 1 when one more message of the peer is within its rate.  now_ms > 0, monotonic. */
int rate_take(struct rate *rate, const struct peer *peer, int64_t now_ms);

/* events.c: what was heard and is not yet taken. */

/* Of a day without a collector; beyond it the poll finds the jobs. */
#define EVENTS_MAX	50000

struct events;

struct events_count {
	uint64_t received;	/* messages understood */
	uint64_t merged;	/* of them, said again before they were sent */
	uint64_t taken;
	uint64_t dropped;	/* for lack of room */
	size_t	 waiting;	/* not yet taken */
};

/* NULL on memory. */
struct events *events_new(void);
void events_free(struct events *events);
/* Notes one and sends it when there is somebody to send it to.  0, or -1: no room. */
int events_add(struct events *events, const struct prep *prep, int64_t now);
/* A new collector, to which everything is said again; NULL: it is gone.  Borrows. */
void events_peer(struct events *events, struct channel *collector);
/* There is room in the channel again. */
void events_flush(struct events *events);
/* Unknown numbers are those taken from us twice: nothing happens. */
void events_taken(struct events *events, uint64_t id);
void events_count(const struct events *events, struct events_count *count);

/* accept.c: connections. */

#define CLIENTS_MAX	64	/* at once; the one silent longest makes room */
#define CLIENT_MS	5000	/* from accept to the end of the message */
#define SOCKETS_MAX	8	/* that the supervisor listens on for us */

struct door;

struct door_count {
	uint64_t accepted;
	uint64_t refused;	/* not allowed, too many, too often */
	uint64_t garbage;	/* no message, or none in time */
	unsigned open;
};

/* What the door hands on: one well-formed message. */
typedef void door_heard(const struct prep *prep, void *arg);

/* NULL on memory. */
struct door *door_new(struct event_base *base, door_heard *heard, void *arg);
/* Closes everything; NULL is fine. */
void door_free(struct door *door);
/* Takes a listening socket; it is read from once door_open() was called. */
void door_listen(struct door *door, int fd);
void door_open(struct door *door);
/* No new connections; the open ones may end. */
void door_shut(struct door *door);
/* Borrowed until the next call; before the first nobody but loopback may. */
void door_allow(struct door *door, const struct allow *allow);
void door_count(const struct door *door, struct door_count *count);

#endif
