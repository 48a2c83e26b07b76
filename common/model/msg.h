/* SPDX-License-Identifier: MIT */
/*
 * The messages between the processes.  A frame is a header and a bounded
 * payload in host byte order: both processes are of one build on one host.  The
 * table in msg.c has sender, receiver and length of each message; it is checked
 * before any handler runs.
 */
#ifndef COMMON_MSG_H
#define COMMON_MSG_H

#include <stddef.h>
#include <stdint.h>

#define MSG_VERSION 9u

enum role {
	ROLE_SUPERVISOR,
	ROLE_LISTENER,
	ROLE_COLLECTOR,
	ROLE_RUNNER, /* of Slurm's commands; part of the collector */
	ROLE_SUBMITTER,
	ROLE_EXPORTER, /* of the metrics; only with metricsListen */
	/* of the records of other hosts; with source "stream" */
	ROLE_RECEIVER,
	ROLE_PARSER, /* the child that reads the configuration */
	ROLE__COUNT
};

/* "collector" and so on; "?" when role is invalid. */
const char *role_name(enum role role);

enum msg_type {
	/* between the supervisor and a worker */
	MSG_SANDBOX, /* the first message: struct sandbox (sandbox.h) */
	/*
	 * u32 version, u8 role, str sandbox layers in force; of the parser its
	 * table of keys: see parser_hello()
	 */
	MSG_HELLO,
	MSG_CONF,	 /* u16 key (conf.h), str value */
	MSG_SECRETS,	 /* sealed memfd with the credentials; no payload */
	MSG_CONF_END,	 /* u32 generation */
	MSG_CONF_OK,	 /* u32 generation */
	MSG_CONF_BAD,	 /* u32 generation, str reason */
	MSG_CONF_COMMIT, /* u32 generation: every worker sent conf-ok */
	MSG_FILE,	 /* u8 enum msg_file, blob: resolv.conf, hosts */
	MSG_LISTEN,	 /* u8 1 = UNIX, 2 = TCP; listening socket */
	MSG_LASTRUN,	 /* descriptor of the last-run file */
	MSG_INFLIGHT,	 /* descriptor of the page of inflight.h */
	MSG_PEER,	 /* u8 role; socket to that worker; header id = link */
	MSG_QUARANTINE,	 /* struct run_key (job.h): do not process this run */
	MSG_READY,	 /* the worker serves; no payload */
	MSG_PING,	 /* u64 token */
	MSG_PONG,	 /* u64 the same token */
	MSG_STOP,	 /* u32 grace, ms */
	MSG_VERBOSE,	 /* u8 enum log_level */
	MSG_CTL,       /* a verb for this worker (ctl.h); header id = request */
	MSG_CTL_ROW,   /* one row of the reply (ctl.h) */
	MSG_CTL_END,   /* u8 enum ctl_status, str text: end of the reply */
	MSG_PEER_LOST, /* u8 role, str why: channel failed; id as in peer */
	/* listener and collector */
	/*
	 * u64 event, str cluster, u64 job, u8 kind, i64 time, str munge credential
	 * that the collector has to check ("" = none)
	 */
	MSG_EVENT,
	MSG_EVENT_ACK, /* u64 event */
	/* collector and runner; the header's id is that of the question */
	MSG_QUESTION,	 /* struct question (question/question.h) */
	MSG_CANCEL,	 /* kill the command; answer-end follows */
	MSG_PAUSE,	 /* the collector does not read: no deadline */
	MSG_CONTINUE,	 /* it reads again */
	MSG_RESUME_TIME, /* i64: the time of the last-run file, epoch */
	MSG_ANSWER_FD,	 /* the reading end of the answer's pipe */
	/*
	 * u8 enum answer_how, u32 status of wait(2), u32 ms without pauses, u64
	 * peak resident bytes, str standard error
	 */
	MSG_ANSWER_END,
	/*
	 * str user of the commands, u8 1 = root, str missing commands, u64 grows
	 * when commands or the user are replaced, i64 time of the last-run file
	 */
	MSG_RUNNER_INFO,
	/* collector or receiver, and submitter */
	MSG_RECORD,    /* u64 sequence number, struct job (job.h) */
	MSG_WATERMARK, /* u64 seq, str cluster, u8 source, i64 read up to */
	MSG_NODES,     /* node states of one cluster (job.h) */
	/* u64 seq, str cluster, u64 lookup, run keys unknown to Slurm */
	MSG_NOT_FOUND,
	MSG_RECORD_ACK,	 /* u64: durable up to this sequence number */
	MSG_RESUME_FROM, /* str cluster, i64 resume point; 0 = none */
	MSG_OPEN_RUNS,	 /* u8 OPEN_RUNS_ bits, open runs of the spool */
	MSG_LOOKUP,	 /* str cluster, u64 lookup, run keys to look up */
	MSG_POLL_NOW,	 /* all clusters; no payload */
	/* str cluster, i64 from, i64 to (both 0 = no more), u8 1 = dry run */
	MSG_BACKFILL_RANGE,
	MSG_FLOW, /* u8: 1 = pause, 0 = continue */
	/* u8: 1 = the controller on this host is active, u8 rank from 0 */
	MSG_CONTROLLER_ROLE,
	/* exporter and supervisor; the header's id is that of the scrape */
	MSG_SCRAPE,	/* no payload; metric rows and their end follow */
	MSG_METRIC,	/* one row of CTL_T_METRIC (ctl.h) */
	MSG_METRIC_END, /* no payload */
	/* worker to supervisor */
	MSG_SUMMARY, /* struct summary (summary.h): replaces the last one */
	/* collector to submitter */
	/* str cluster, u64 job, u8 enum event_kind, i64 epoch in ms */
	MSG_HOOK_CALLED,
	/*
	 * For slurmctld, then for slurmdbd: u32 seconds without an answer, u32
	 * commands that ended, u32 sum of their ms, u32 the longest in ms; all
	 * since the last message
	 */
	MSG_SLURM_TIMES,
	/* receiver and submitter */
	/*
	 * u64 seq (0 from the submitter, at the start), str cluster, u64 identity
	 * of the cluster's stream, u64 position: each message of the stream up to
	 * there was taken (0 = none)
	 */
	MSG_STREAM_POSITION,
	/* parser to supervisor: the memfd of the receiver; no payload */
	MSG_RECEIVER_SECRETS,
	/* submitter to receiver: str cluster, u8: 1 = it has used its share */
	MSG_STREAM_HOLD,
	/*
	 * receiver and submitter: i64 CLOCK_BOOTTIME in ms until which this centre
	 * is active (0 = it is not), u64 id of its lease (0 = none); from the
	 * submitter, at the start: what it has
	 */
	MSG_ACTIVE_UNTIL,
	MSG_ENDING, /* to the receiver: the daemon ends; no payload */
	/*
	 * receiver to submitter: send no request that changes cc-backend any more;
	 * u32 ms: cc-backend may work on one without an answer for so long
	 */
	MSG_DRAIN,
	/*
	 * the answer: none is under way; u8: 1 = every one that was sent within
	 * these ms was answered
	 */
	MSG_DRAINED,
	MSG__COUNT
};

/* How a command ended. */
enum answer_how {
	ANSWER_EXITED,	    /* by itself, or a signal; see the status */
	ANSWER_TIMEOUT,	    /* killed at its deadline */
	ANSWER_NOT_STARTED, /* see the text */
	ANSWER_STALE	    /* a file was replaced while it ran; see the text */
};
#define RUNNER_ERR_MAX 4096 /* bytes of standard error, with the NUL */

enum msg_file {
	MSG_FILE_RESOLV_CONF = 1,
	MSG_FILE_HOSTS = 2
};

/* The kind of hook; a hint, because a hook can send anything. */
enum event_kind {
	EVENT_UNKNOWN,
	EVENT_START, /* PrologSlurmctld */
	EVENT_END    /* EpilogSlurmctld */
};

/*
 * Instead of a resume point: it was lost with a damaged spool, and the time of the
 * last-run file, which is this point, is too late.
 */
#define RESUME_LOST (-1)

/* Run keys in one MSG_LOOKUP and in the MSG_NOT_FOUND that answers it. */
#define LOOKUP_KEYS_MAX 256

/* Bits of MSG_OPEN_RUNS. */
#define OPEN_RUNS_LAST	      1u /* no more follow */
#define OPEN_RUNS_UNCONFIRMED 2u /* Slurm has not shown them as running */
#define OPEN_RUNS_SCRIPT_DUE  4u /* their scripts were announced and not sent */

/* The question that was answered in full up to the time. */
enum watermark_source {
	WATERMARK_ACCOUNTING = 1, /* sacct, ended runs */
	WATERMARK_BACKFILL = 2	  /* the range of backfill-range */
};
/* The time of WATERMARK_BACKFILL when the collector has no such cluster. */
#define WATERMARK_NO_CLUSTER (-1)

struct msg_header {
	uint16_t type;	 /* enum msg_type */
	uint16_t flags;	 /* MSG_FLAG_ */
	uint32_t length; /* of the payload, bytes */
	uint64_t id;	 /* of the request; 0 = none */
};

#define MSG_FLAG_FD 1u /* a descriptor is attached */

#define MSG_METRIC_MAX (4u + 4096) /* bytes of a metric row */

#define MSG_SLURM_TIMES_LEN  32u  /* bytes */
#define SLURM_TIMES_AWAY_MAX 180u /* s; the message is sent each minute */

/* The longest payload: a run on 100,000 nodes with its job script. */
#define MSG_PAYLOAD_MAX (16u * 1024 * 1024)

/* Bytes of a file: about 100,000 lines of hosts. */
#define MSG_FILE_MAX (4u * 1024 * 1024)

/* "event" and so on; "?" when type is invalid. */
const char *msg_name(unsigned type);

/*
 * Checks the header of a message from `from` to `to`.  Returns NULL, or a
 * constant text with what is wrong.
 */
const char *msg_check(const struct msg_header *h, enum role from, enum role to);
/* 1 when a message from `from` to `to` may have a descriptor. */
int msg_has_fd(enum role from, enum role to);

#endif
