/* SPDX-License-Identifier: MIT */
/*
 * Records for streams; see nats_records.h.  Each message names its own subject
 * for the answer.  A message without an answer is sent again later: the stream
 * knows its id.
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/nats/nats_dial.h"
#include "submitter/nats/nats_ack.h"
#include "submitter/nats/nats_records.h"

/* ms; longest wait for a flush, and for the next answer */
#define CONFIRM_MS 5000
/* ms; longest wait for all answers of a batch: foreign messages may come in between */
#define ANSWERS_MS 60000

/*
 * The broker reports a subject that is not permitted before it answers the flush.
 * libnats keeps the last report, and no answer follows.  It says nothing about
 * other subjects: records of other clusters, states of nodes, questions of the
 * centre and their answers.
 */
static int
is_denied(natsConnection *nc, const char *subject)
{
	char quoted[STREAM_NAME_MAX + 72];
	const char *text = NULL;

	if (natsConnection_GetLastError(nc, &text) != NATS_NOT_PERMITTED ||
	    text == NULL)
		return 0;
	snprintf(quoted, sizeof(quoted), "\"%s", subject);
	return strstr(text, quoted) != NULL;
}

/*
 * libnats does not wait for the broker's answer to a subscription.  Without this one
 * no record is ever acknowledged, and a permission that the broker gets later makes
 * none: the connection fails, and the next one subscribes again.
 */
static natsStatus
acks_subscribe(struct nats_session *ns, natsConnection *nc)
{
	char subject[sizeof(ns->inbox) + 8];
	natsStatus s;

	snprintf(subject, sizeof(subject), "%s.*", ns->inbox);
	s = natsConnection_SubscribeSync(&ns->acks, nc, subject);
	if (s == NATS_OK)
		s = natsConnection_FlushTimeout(nc, CONFIRM_MS);
	if (s == NATS_OK && is_denied(nc, ns->inbox))
		s = NATS_NOT_PERMITTED;
	if (s != NATS_OK) {
		natsSubscription_Destroy(ns->acks);
		ns->acks = NULL;
	}
	return s;
}

natsStatus
nats_records_begin(struct nats_session *ns, natsConnection *nc,
    const char *prefix)
{
	natsInbox *unique = NULL;
	natsStatus s = natsInbox_Create(&unique);

	if (s != NATS_OK)
		return s;
	/* "_INBOX.UNIQUE": the prefix is replaced. */
	snprintf(ns->inbox, sizeof(ns->inbox), "%s%s", prefix,
	    strchr(unique, '.'));
	natsInbox_Destroy(unique);
	return acks_subscribe(ns, nc);
}

int
nats_acks_lost(const struct nats_session *ns)
{
	return is_denied(ns->nc, ns->inbox);
}

void
nats_acks_denied(const struct nats_conf *conf, char *why, size_t size)
{
	snprintf(why, size,
	    "the broker does not permit the subscription to %.100s.>",
	    conf->inbox);
}

static void
item_end(struct nats_item *item, enum nats_result result, const char *why)
{
	item->answered = 1;
	item->result = result;
	snprintf(item->why, sizeof(item->why), "%s", why);
}

/* Ends all items without an answer. */
static void
rest_end(struct nats_items *batch, enum nats_result result, const char *why)
{
	struct nats_item *item;

	for (item = STAILQ_FIRST(batch); item != NULL;
	     item = STAILQ_NEXT(item, link))
		if (!item->answered)
			item_end(item, result, why);
}

/* The result follows with the flush; see plain_end(). */
static natsStatus
plain_publish(struct nats_session *ns, struct nats_item *item)
{
	natsStatus s = natsConnection_Publish(ns->nc, item->subject,
	    item->bytes, (int)item->len);

	item->serial = 0;
	item_end(item, NATS_SENT, "");
	if (s != NATS_MAX_PAYLOAD)
		return s;
	item_end(item, NATS_TOO_LONG, TOO_LONG_FOR_BROKER);
	return NATS_OK;
}

static natsStatus
item_publish(struct nats_session *ns, struct nats_item *item)
{
	char answer[sizeof(ns->inbox) + 24];
	natsMsg *msg = NULL;
	natsStatus s;

	if (item->ack_by == ACK_BY_NOBODY) {
		item_end(item, NATS_SENT, "");
		s = natsConnection_Publish(ns->nc, item->subject, item->bytes,
		    (int)item->len);
		return s == NATS_MAX_PAYLOAD ? NATS_OK : s;
	}
	item->answered = 0;
	item->result = NATS_NO_STREAM; /* see foreign_end() */
	if (item->ack_by == ACK_BY_FLUSH)
		return plain_publish(ns, item);
	item->serial = ++ns->serial;
	snprintf(answer, sizeof(answer), "%s.%" PRIu64, ns->inbox,
	    item->serial);
	s = natsMsg_Create(&msg, item->subject, answer,
	    (const char *)item->bytes, (int)item->len);
	if (s == NATS_OK)
		s = natsMsgHeader_Set(msg, "Nats-Msg-Id", item->id);
	if (s == NATS_OK)
		s = natsConnection_PublishMsg(ns->nc, msg);
	natsMsg_Destroy(msg);
	if (s != NATS_MAX_PAYLOAD)
		return s;
	item_end(item, NATS_TOO_LONG, TOO_LONG_FOR_BROKER);
	return NATS_OK;
}

/* The item of an answer; NULL: it is of an earlier batch. */
static struct nats_item *
item_of(struct nats_items *batch, const char *subject)
{
	const char *dot = strrchr(subject, '.');
	uint64_t serial = dot != NULL ? strtoull(dot + 1, NULL, 10) : 0;
	struct nats_item *item;

	for (item = STAILQ_FIRST(batch); item != NULL;
	     item = STAILQ_NEXT(item, link))
		if (item->serial == serial)
			return item->answered ? NULL : item;
	return NULL;
}

/*
 * Is this the stream that the centre reads?  A stream that somebody else has made
 * for the subject acknowledges, too.  Imports of accounts, leaf nodes and domains
 * of JetStream do not change the name.
 */
static int
is_read(const char *stream, const struct nats_item *item)
{
	size_t n = sizeof(STREAM_OF_RECORDS) - 1;

	/* The rest of both names is that of the cluster; see stream_name(). */
	return strncmp(stream, STREAM_OF_RECORDS, n) == 0 &&
	    strcmp(stream + n,
		item->subject + sizeof(SUBJECT_OF_RECORDS) - 1) == 0;
}

/*
 * Another stream has the subject, too.  That of the centre may answer after it:
 * the item is not answered yet.
 */
static void
foreign_note(struct nats_item *item, const char *stream)
{
	item->result = NATS_REFUSED;
	snprintf(item->why, sizeof(item->why),
	    "another stream has the subject: %.100s", stream);
}

/* Only another stream has answered. */
static void
foreign_end(struct nats_items *batch)
{
	struct nats_item *item;

	for (item = STAILQ_FIRST(batch); item != NULL;
	     item = STAILQ_NEXT(item, link))
		item->answered |= item->result == NATS_REFUSED;
}

static void
answer_read(struct nats_item *item, natsMsg *msg)
{
	struct nats_ack ack;

	if (nats_ack_read(natsMsg_GetData(msg),
		(size_t)natsMsg_GetDataLength(msg), &ack) == -1)
		item_end(item, NATS_NO_STREAM,
		    "the answer is not that of a stream");
	else if (ack.stream[0] != '\0' && !is_read(ack.stream, item))
		foreign_note(item, ack.stream);
	else if (ack.stored) {
		item_end(item, NATS_SENT, "");
		item->duplicate = ack.duplicate;
	} else if (ack.in_process)
		item_end(item, NATS_IN_PROCESS,
		    "the stream has not stored it yet");
	else if (ack.code == ACK_TOO_LONG)
		item_end(item, NATS_TOO_LONG, TOO_LONG_FOR_STREAM);
	else
		item_end(item, NATS_REFUSED, ack.text);
}

/*
 * Reads the answers until there are all, or none comes in time.  Returns how
 * many messages had no stream: libnats does not tell which.
 */
static unsigned
answers_read(struct nats_session *ns, struct nats_items *batch, unsigned left)
{
	int64_t until = nats_Now() + ANSWERS_MS, ms;
	struct nats_item *item;
	unsigned missing = 0;
	natsMsg *msg;
	natsStatus s;

	while (left > 0 && (ms = until - nats_Now()) > 0) {
		msg = NULL;
		s = natsSubscription_NextMsg(&msg, ns->acks,
		    ms < CONFIRM_MS ? ms : CONFIRM_MS);
		if (s == NATS_NO_RESPONDERS) {
			missing++;
			left--;
			continue;
		}
		if (s != NATS_OK)
			break;
		item = item_of(batch, natsMsg_GetSubject(msg));
		if (item != NULL) {
			answer_read(item, msg);
			left -= item->answered != 0;
		}
		natsMsg_Destroy(msg);
	}
	return left == 0 ? missing : 0;
}

static int
is_item_denied(const struct nats_session *ns, const struct nats_item *item)
{
	char subject[sizeof(item->subject) + 1];

	/* Only a record has a serial. */
	snprintf(subject, sizeof(subject), "%s\"", item->subject);
	return item->serial != 0 && is_denied(ns->nc, subject);
}

/*
 * Ends the records without an answer whose subject is not permitted.  Returns 1
 * when a stream has a record with that subject: the broker permits it now.
 */
static int
denied_end(struct nats_session *ns, struct nats_items *batch)
{
	struct nats_item *item;
	char why[sizeof(item->why)];
	int permitted = 0;

	for (item = STAILQ_FIRST(batch); item != NULL;
	     item = STAILQ_NEXT(item, link)) {
		if (!is_item_denied(ns, item))
			continue;
		nats_error_text(ns->nc, NATS_NOT_PERMITTED, why, sizeof(why));
		if (!item->answered)
			item_end(item, NATS_DENIED, why);
		else
			permitted |= item->result == NATS_SENT;
	}
	return permitted;
}

/* Ends the states of nodes that were published and did not arrive. */
static void
plain_end(struct nats_items *batch, enum nats_result result, const char *why)
{
	struct nats_item *item;

	for (item = STAILQ_FIRST(batch); item != NULL;
	     item = STAILQ_NEXT(item, link))
		if (item->ack_by == ACK_BY_FLUSH && item->result == NATS_SENT)
			item_end(item, result, why);
}

static int
has_states(struct nats_items *batch)
{
	struct nats_item *item = STAILQ_FIRST(batch);

	while (item != NULL && item->ack_by != ACK_BY_FLUSH)
		item = STAILQ_NEXT(item, link);
	return item != NULL;
}

enum nats_trouble
nats_records_publish(struct nats_session *ns, struct nats_items *batch,
    char *why, size_t size)
{
	struct nats_item *item;
	natsStatus s = NATS_OK;
	unsigned left = 0, missing;
	int permitted;

	/*
	 * A broker that reloads its rights keeps the connection, and libnats keeps
	 * the last error of a connection: only a new one shows the rights of now.
	 */
	if (has_states(batch) && is_denied(ns->nc, SUBJECT_OF_NODES)) {
		snprintf(why, size,
		    "ended, to try the states of nodes again, which were not "
		    "permitted");
		nats_items_end(STAILQ_FIRST(batch), NATS_AWAY, why);
		return TROUBLE_AWAY;
	}
	for (item = STAILQ_FIRST(batch); item != NULL && s == NATS_OK;
	     item = STAILQ_NEXT(item, link)) {
		s = item_publish(ns, item);
		left += !item->answered;
	}
	if (s == NATS_OK)
		s = natsConnection_FlushTimeout(ns->nc, CONFIRM_MS);
	if (is_denied(ns->nc, SUBJECT_OF_NODES)) {
		nats_error_text(ns->nc, NATS_NOT_PERMITTED, why, size);
		plain_end(batch, NATS_DENIED, why);
	}
	if (s != NATS_OK) {
		nats_error_text(ns->nc, s, why, size);
		plain_end(batch, NATS_AWAY, why);
		rest_end(batch, NATS_AWAY, why);
		return TROUBLE_AWAY;
	}
	missing = answers_read(ns, batch, left);
	/* A reload of the broker has ended the subscription. */
	if (nats_acks_lost(ns)) {
		nats_acks_denied(ns->conf, why, size);
		rest_end(batch, NATS_AWAY, why);
		return TROUBLE_DENIED;
	}
	foreign_end(batch);
	if (missing > 0)
		rest_end(batch, NATS_NO_STREAM, "no stream has the subject");
	permitted = denied_end(ns, batch);
	rest_end(batch, NATS_NO_STREAM, "the stream does not answer in time");
	if (!permitted)
		return TROUBLE_NONE;
	snprintf(why, size,
	    "ended, because the broker permits a subject that was not permitted");
	return TROUBLE_AWAY;
}
