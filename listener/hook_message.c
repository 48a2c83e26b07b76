/* SPDX-License-Identifier: MIT */
/*
 * Reads a hook's message: four members of one JSON object.  Anybody who may
 * connect can send any bytes.
 */
#include "config.h"

#include <string.h>

#include "common/text/json_scan.h"
#include "listener/listener.h"

#define DEPTH_MAX  32		       /* nested objects and arrays */
#define WANTED_MAX HOOK_CREDENTIAL_MAX /* bytes with the NUL of a value */
#define JOB_MAX	   UINT32_MAX	       /* Slurm's job ids have 32 bits */

static const char *
job_parse(const char *value, struct hook_message *msg)
{
	const char *start = value;
	uint64_t job = 0;

	for (; *value >= '0' && *value <= '9' && job <= JOB_MAX; value++)
		job = job * 10 + (uint64_t)(*value - '0');
	if (*value != '\0' || (job == 0 && *start != '\0') || job > JOB_MAX)
		return "SLURM_JOB_ID is not a job id";
	msg->job = job;
	return NULL;
}

static const char *
cluster_parse(const char *value, struct hook_message *msg)
{
	const char *p;

	/* The hook sends "" for a variable that is not set. */
	for (p = value; *p != '\0'; p++)
		if (*p <= ' ' || *p > '~' || strchr("\"\\/?*,", *p) != NULL)
			break;
	if (*p != '\0' || (size_t)(p - value) >= sizeof(msg->cluster))
		return "SLURM_CLUSTER_NAME is not a cluster name";
	memcpy(msg->cluster, value, (size_t)(p - value) + 1);
	return NULL;
}

static const char *
context_parse(const char *value, struct hook_message *msg)
{
	msg->kind = hook_kind(value);
	return NULL;
}

static const char *
credential_parse(const char *value, struct hook_message *msg)
{
	if (hook_credential_check(value) == -1)
		return HOOK_CREDENTIAL_KEY " is not a credential of munge";
	memcpy(msg->credential, value, strlen(value) + 1);
	return NULL;
}

static const struct {
	const char *key;
	const char *(*parse)(const char *value, struct hook_message *msg);
} wanted[] = {
	{ "SLURM_JOB_ID", job_parse },
	{ "SLURM_CLUSTER_NAME", cluster_parse },
	{ "SLURM_SCRIPT_CONTEXT", context_parse },
	{ HOOK_CREDENTIAL_KEY, credential_parse },
};

#define WANTED (sizeof(wanted) / sizeof(wanted[0]))

struct message_scan {
	struct hook_message msg; /* the values read so far */
	size_t key;		 /* of the member, index in wanted */
};

/* The value of a wanted member is a string; of two the last one counts. */
static const char *
on_member(struct json_scan *s, enum json_event event, struct message_scan *m)
{
	size_t key = m->key;

	if (event == JSON_EV_NAME) {
		for (m->key = 0; m->key < WANTED; m->key++)
			if (!s->cut && strcmp(s->text, wanted[m->key].key) == 0)
				break;
		return NULL;
	}
	m->key = WANTED;
	if (key == WANTED)
		return NULL;
	if (event != JSON_EV_STRING)
		return "a string is missing";
	/* A value that does not fit is not valid either. */
	return wanted[key].parse(s->cut ? "" : s->text, &m->msg);
}

static const char *
on_event(struct json_scan *s, enum json_event event, void *arg)
{
	return s->depth == 1 ? on_member(s, event, arg) : NULL;
}

const char *
hook_message_parse(const char *buf, size_t len, struct hook_message *msg)
{
	struct message_scan m = { .msg = { .kind = EVENT_UNKNOWN },
		.key = WANTED };
	char text[WANTED_MAX];
	struct json_scan s;
	const char *error;

	if (len == 0)
		return "the message is empty";
	json_scan_init(&s, '{', text, sizeof(text), on_event, &m);
	json_scan_set_depth(&s, DEPTH_MAX);
	error = json_scan_feed(&s, buf, len);
	if (error == NULL)
		error = json_scan_end(&s);
	if (error != NULL)
		return error;
	if (m.msg.job == 0)
		return "SLURM_JOB_ID is missing";
	if (m.msg.cluster[0] == '\0')
		return "SLURM_CLUSTER_NAME is missing";
	*msg = m.msg;
	return NULL;
}
