/* SPDX-License-Identifier: MIT */
/* The table of messages; see msg.h. */
#include "config.h"

#include <stdbool.h>

#include "common/model/hook_credential.h"
#include "common/model/msg.h"

#define BIT(role) (1u << ROLE_##role)
/* Those with a channel to another one. */
#define NEIGHBOURS \
	(BIT(LISTENER) | BIT(COLLECTOR) | BIT(RUNNER) | BIT(SUBMITTER) | \
	    BIT(RECEIVER))
/* Those that send records to the submitter: one of them, by `source`. */
#define FEEDERS (BIT(COLLECTOR) | BIT(RECEIVER))
/* Those that resolve names. */
#define RESOLVERS (BIT(SUBMITTER) | BIT(RECEIVER))
#define WORKERS	  (NEIGHBOURS | BIT(EXPORTER))

#define NAME	   (4 + 64)   /* a cluster's or user's name */
#define TEXT	   (4 + 4096) /* a sentence */
#define CREDENTIAL (4 + HOOK_CREDENTIAL_MAX)
#define KEY	   (NAME + 16)	  /* struct run_key */
#define KEYS	   (1024u * 1024) /* a batch of run keys */
#define QUESTION   (64u * 1024)	  /* struct question with all its ids */
#define SUMMARY	   (16u * 1024)	  /* struct summary with all its problems */

/* Sender, receiver, length, with or without a descriptor. */
static const struct msg_rule {
	const char *name;
	unsigned from; /* bits of roles */
	unsigned to;
	uint32_t min; /* bytes of payload */
	uint32_t max;
	bool fd;
} rules[MSG__COUNT] = {
	[MSG_SANDBOX] = { "sandbox", BIT(SUPERVISOR), WORKERS, 1, KEYS, false },
	[MSG_HELLO] = { "hello", WORKERS | BIT(PARSER), BIT(SUPERVISOR), 9,
	    5 + TEXT, false },
	[MSG_CONF] = { "conf", BIT(SUPERVISOR) | BIT(PARSER),
	    WORKERS | BIT(SUPERVISOR), 6, KEYS, false },
	[MSG_SECRETS] = { "secrets", BIT(SUPERVISOR) | BIT(PARSER),
	    RESOLVERS | BIT(SUPERVISOR), 0, 0, true },
	[MSG_CONF_END] = { "conf-end", BIT(SUPERVISOR) | BIT(PARSER),
	    WORKERS | BIT(SUPERVISOR), 4, 4, false },
	[MSG_CONF_OK] = { "conf-ok", WORKERS, BIT(SUPERVISOR), 4, 4, false },
	[MSG_CONF_BAD] = { "conf-bad", WORKERS | BIT(PARSER), BIT(SUPERVISOR),
	    8, 4 + TEXT, false },
	[MSG_CONF_COMMIT] = { "conf-commit", BIT(SUPERVISOR), WORKERS, 4, 4,
	    false },
	[MSG_FILE] = { "file", BIT(SUPERVISOR), RESOLVERS, 5, 5 + MSG_FILE_MAX,
	    false },
	[MSG_LISTEN] = { "listen", BIT(SUPERVISOR),
	    BIT(LISTENER) | BIT(EXPORTER), 1, 1, true },
	[MSG_LASTRUN] = { "lastrun", BIT(SUPERVISOR), BIT(RUNNER), 0, 0, true },
	[MSG_INFLIGHT] = { "inflight", BIT(SUPERVISOR),
	    FEEDERS | BIT(SUBMITTER), 0, 0, true },
	[MSG_PEER] = { "peer", BIT(SUPERVISOR), NEIGHBOURS, 1, 1, true },
	[MSG_QUARANTINE] = { "quarantine", BIT(SUPERVISOR),
	    FEEDERS | BIT(SUBMITTER), 20, KEY, false },
	[MSG_READY] = { "ready", WORKERS, BIT(SUPERVISOR), 0, 0, false },
	[MSG_PING] = { "ping", BIT(SUPERVISOR), WORKERS, 8, 8, false },
	[MSG_PONG] = { "pong", WORKERS, BIT(SUPERVISOR), 8, 8, false },
	[MSG_STOP] = { "stop", BIT(SUPERVISOR), WORKERS, 4, 4, false },
	[MSG_VERBOSE] = { "verbose", BIT(SUPERVISOR), WORKERS, 1, 1, false },
	[MSG_CTL] = { "ctl", BIT(SUPERVISOR), WORKERS, 1, 2 * TEXT, false },
	[MSG_CTL_ROW] = { "ctl-row", WORKERS, BIT(SUPERVISOR), 2, 16 * TEXT,
	    false },
	[MSG_CTL_END] = { "ctl-end", WORKERS, BIT(SUPERVISOR), 5, 1 + TEXT,
	    false },
	[MSG_PEER_LOST] = { "peer-lost", NEIGHBOURS, BIT(SUPERVISOR), 5,
	    1 + TEXT, false },
	[MSG_EVENT] = { "event", BIT(LISTENER), BIT(COLLECTOR), 33,
	    25 + NAME + CREDENTIAL, false },
	[MSG_EVENT_ACK] = { "event-ack", BIT(COLLECTOR), BIT(LISTENER), 8, 8,
	    false },
	[MSG_QUESTION] = { "question", BIT(COLLECTOR), BIT(RUNNER), 34,
	    QUESTION, false },
	[MSG_CANCEL] = { "cancel", BIT(COLLECTOR), BIT(RUNNER), 0, 0, false },
	[MSG_PAUSE] = { "pause", BIT(COLLECTOR), BIT(RUNNER), 0, 0, false },
	[MSG_CONTINUE] = { "continue", BIT(COLLECTOR), BIT(RUNNER), 0, 0,
	    false },
	[MSG_RESUME_TIME] = { "resume-time", BIT(COLLECTOR), BIT(RUNNER), 8, 8,
	    false },
	[MSG_ANSWER_FD] = { "answer-fd", BIT(RUNNER), BIT(COLLECTOR), 0, 0,
	    true },
	[MSG_ANSWER_END] = { "answer-end", BIT(RUNNER), BIT(COLLECTOR), 21,
	    17 + TEXT, false },
	[MSG_RUNNER_INFO] = { "runner-info", BIT(RUNNER), BIT(COLLECTOR), 25,
	    25 + 2 * TEXT, false },
	[MSG_RECORD] = { "record", FEEDERS, BIT(SUBMITTER), 32, MSG_PAYLOAD_MAX,
	    false },
	[MSG_WATERMARK] = { "watermark", BIT(COLLECTOR), BIT(SUBMITTER), 21,
	    17 + NAME, false },
	[MSG_NODES] = { "nodes", FEEDERS, BIT(SUBMITTER), 8, MSG_PAYLOAD_MAX,
	    false },
	[MSG_NOT_FOUND] = { "not-found", FEEDERS, BIT(SUBMITTER), 24, KEYS,
	    false },
	[MSG_RECORD_ACK] = { "record-ack", BIT(SUBMITTER), FEEDERS, 8, 8,
	    false },
	[MSG_RESUME_FROM] = { "resume-from", BIT(SUBMITTER), FEEDERS, 12,
	    8 + NAME, false },
	[MSG_OPEN_RUNS] = { "open-runs", BIT(SUBMITTER), FEEDERS, 5, KEYS,
	    false },
	[MSG_LOOKUP] = { "lookup", BIT(SUBMITTER), FEEDERS, 16, KEYS, false },
	[MSG_POLL_NOW] = { "poll-now", BIT(SUBMITTER), FEEDERS, 0, 0, false },
	[MSG_BACKFILL_RANGE] = { "backfill-range", BIT(SUBMITTER), FEEDERS, 21,
	    17 + NAME, false },
	[MSG_CONTROLLER_ROLE] = { "controller-role", BIT(COLLECTOR),
	    BIT(SUBMITTER), 2, 2, false },
	[MSG_SCRAPE] = { "scrape", BIT(EXPORTER), BIT(SUPERVISOR), 0, 0,
	    false },
	[MSG_METRIC] = { "metric", BIT(SUPERVISOR), BIT(EXPORTER), 2,
	    MSG_METRIC_MAX, false },
	[MSG_METRIC_END] = { "metric-end", BIT(SUPERVISOR), BIT(EXPORTER), 0, 0,
	    false },
	[MSG_HOOK_CALLED] = { "hook-called", BIT(COLLECTOR), BIT(SUBMITTER), 21,
	    17 + NAME, false },
	[MSG_SLURM_TIMES] = { "slurm-times", BIT(COLLECTOR), BIT(SUBMITTER),
	    MSG_SLURM_TIMES_LEN, MSG_SLURM_TIMES_LEN, false },
	[MSG_FLOW] = { "flow", BIT(SUBMITTER), FEEDERS, 1, 1, false },
	[MSG_SUMMARY] = { "summary", NEIGHBOURS, BIT(SUPERVISOR), 49, SUMMARY,
	    false },
	[MSG_STREAM_POSITION] = { "stream-position",
	    BIT(RECEIVER) | BIT(SUBMITTER), BIT(SUBMITTER) | BIT(RECEIVER), 28,
	    24 + NAME, false },
	[MSG_STREAM_HOLD] = { "stream-hold", BIT(SUBMITTER), BIT(RECEIVER), 6,
	    5 + NAME, false },
	[MSG_RECEIVER_SECRETS] = { "receiver-secrets", BIT(PARSER),
	    BIT(SUPERVISOR), 0, 0, true },
	[MSG_ACTIVE_UNTIL] = { "active-until", BIT(RECEIVER) | BIT(SUBMITTER),
	    BIT(SUBMITTER) | BIT(RECEIVER), 16, 16, false },
	[MSG_ENDING] = { "ending", BIT(SUPERVISOR), BIT(RECEIVER), 0, 0,
	    false },
	[MSG_DRAIN] = { "drain", BIT(RECEIVER), BIT(SUBMITTER), 4, 4, false },
	[MSG_DRAINED] = { "drained", BIT(SUBMITTER), BIT(RECEIVER), 1, 1,
	    false },
};

static const char *const roles[ROLE__COUNT] = {
	[ROLE_SUPERVISOR] = "supervisor",
	[ROLE_LISTENER] = "listener",
	[ROLE_COLLECTOR] = "collector",
	[ROLE_RUNNER] = "runner",
	[ROLE_SUBMITTER] = "submitter",
	[ROLE_EXPORTER] = "exporter",
	[ROLE_RECEIVER] = "receiver",
	[ROLE_PARSER] = "parser",
};

const char *
role_name(enum role role)
{
	return (unsigned)role < ROLE__COUNT ? roles[role] : "?";
}

const char *
msg_name(unsigned type)
{
	return type < MSG__COUNT ? rules[type].name : "?";
}

const char *
msg_check(const struct msg_header *h, enum role from, enum role to)
{
	const struct msg_rule *rule;

	if (h->type >= MSG__COUNT)
		return "no such message";
	rule = &rules[h->type];
	if ((rule->from & (1u << from)) == 0)
		return "this process must not send it";
	if ((rule->to & (1u << to)) == 0)
		return "it is not for this process";
	if (h->length < rule->min)
		return "too short";
	if (h->length > rule->max)
		return "too long";
	if (h->flags != (rule->fd ? MSG_FLAG_FD : 0))
		return rule->fd ? "its descriptor is missing" :
				  "it has a descriptor or an unknown flag";
	return NULL;
}

int
msg_has_fd(enum role from, enum role to)
{
	size_t i;

	for (i = 0; i < MSG__COUNT; i++)
		if (rules[i].fd && (rules[i].from & (1u << from)) &&
		    (rules[i].to & (1u << to)))
			return 1;
	return 0;
}
