/* SPDX-License-Identifier: MIT */
/*
 * The messages between the processes.  A frame is this header and a bounded
 * payload, in host order, for both ends run on one machine from one build.
 * The table in msg.c says who may say what to whom and how long it may be;
 * it is checked before any handler runs.
 */
#ifndef COMMON_MSG_H
#define COMMON_MSG_H

#include <stddef.h>
#include <stdint.h>

#define MSG_VERSION	1u

enum role {
	ROLE_SUPERVISOR,
	ROLE_LISTENER,
	ROLE_COLLECTOR,
	ROLE_SUBMITTER,
	ROLE_PARSER,		/* the child that reads the configuration */
	ROLE__COUNT
};

/* "collector" and so on; "?" for what is none. */
const char *role_name(enum role role);

enum msg_type {
	/* between the supervisor and a worker */
	MSG_SANDBOX,	/* first of all: struct sandbox (sandbox.h) */
	MSG_HELLO,	/* u32 version, u8 role, str layers in force */
	MSG_CONF,	/* u16 key (conf.h), str value */
	MSG_SECRETS,	/* sealed memfd with the credentials; no payload */
	MSG_CONF_END,	/* u32 generation */
	MSG_CONF_OK,	/* u32 generation */
	MSG_CONF_BAD,	/* u32 generation, str reason */
	MSG_CONF_COMMIT,	/* u32 generation: every worker said conf-ok */
	MSG_FILE,	/* u8 enum msg_file, blob: resolv.conf, hosts */
	MSG_LISTEN,	/* u8 1 = UNIX, 2 = TCP; listening socket */
	MSG_LASTRUN,	/* descriptor of the last-run file */
	MSG_INFLIGHT,	/* descriptor of the page of inflight.h */
	MSG_PEER,	/* u8 role; socket to it; header id = number of the link */
	MSG_QUARANTINE,	/* struct run_key (job.h), set aside */
	MSG_READY,	/* serving; no payload */
	MSG_PING,	/* u64 token */
	MSG_PONG,	/* u64 the same token */
	MSG_STOP,	/* u32 grace, ms */
	MSG_VERBOSE,	/* u8 enum log_level */
	MSG_CTL,	/* a verb for this worker (ctl.h); header id = request */
	MSG_CTL_ROW,	/* one row of its answer (ctl.h) */
	MSG_CTL_END,	/* u8 enum ctl_status, str text: no more rows */
	MSG_PEER_LOST,	/* u8 role, str why: that channel broke; header id as in peer */
	/* listener and collector */
	MSG_EVENT,	/* u64 event, str cluster, u64 job, u8 kind, i64 time */
	MSG_EVENT_ACK,	/* u64 event */
	/* collector and submitter */
	MSG_RECORD,	/* u64 sequence number, struct job (job.h) */
	MSG_WATERMARK,	/* u64 seq, str cluster, u8 source, i64 seen until */
	MSG_NODES,	/* node states of one cluster (job.h) */
	MSG_NOT_FOUND,	/* u64 seq, str cluster, u64 ask, run keys unknown to Slurm */
	MSG_RECORD_ACK,	/* u64: all up to this sequence number is durable */
	MSG_RESUME_FROM,	/* str cluster, i64 resume point (0 = none) */
	MSG_OPEN_RUNS,	/* u8 OPEN_RUNS_ bits, run keys that are open in the spool */
	MSG_LOOKUP,	/* str cluster, u64 ask, run keys: what is known of these */
	MSG_POLL_NOW,	/* every cluster; no payload */
	MSG_BACKFILL_RANGE,	/* str cluster, i64 from, i64 to, u8 1 = dry run */
	MSG_FLOW,	/* u8: 1 = hold back, 0 = go on */
	MSG_CONTROLLER_ROLE,	/* u8: 1 = the controller beside us works, u8 its rank from 0 */
	MSG__COUNT
};

enum msg_file {
	MSG_FILE_RESOLV_CONF = 1,
	MSG_FILE_HOSTS = 2
};

/* What a hook says an event is; a hint, never believed. */
enum event_kind {
	EVENT_UNKNOWN,
	EVENT_START,	/* PrologSlurmctld */
	EVENT_END	/* EpilogSlurmctld */
};

/* What a batch of MSG_OPEN_RUNS is. */
#define OPEN_RUNS_LAST	1u	/* no more follow */
#define OPEN_RUNS_UNCONFIRMED	2u	/* their starts wait until Slurm shows them running */

/* What says a mark: which question was answered in full. */
enum watermark_source {
	WATERMARK_ACCOUNTING = 1,	/* sacct, ended runs */
	WATERMARK_BACKFILL = 2	/* the past range that was asked for, up to its end */
};

struct msg_header {
	uint16_t	type;	/* enum msg_type */
	uint16_t	flags;	/* 1: a descriptor comes with it */
	uint32_t	length;	/* of the payload, bytes */
	uint64_t	id;	/* of the request; 0 where there is none */
};

#define MSG_FLAG_FD	1u

/* The longest of all: a run on 100,000 nodes with its script. */
#define MSG_PAYLOAD_MAX	(16u * 1024 * 1024)

/* "event" and so on; "?" for what is none. */
const char *msg_name(unsigned type);

/*
 * Is this header one that `from` may say to `to`?  Returns NULL, or a
 * constant text with what is wrong.
 */
const char *msg_check(const struct msg_header *h, enum role from,
    enum role to);

#endif
