/* SPDX-License-Identifier: MIT */
/*
 * Publishes a batch of messages and confirms each on the same connection.  Core
 * NATS: by a flush, because the broker answers the flush after all messages
 * before it.  JetStream: by the stream's acknowledgements.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "common/nats/nats_dial.h"
#include "submitter/nats/nats_ack.h"
#include "submitter/nats/nats_publish.h"
#include "submitter/nats/nats_records.h"

/* Longest wait for a flush or an acknowledgement. */
#define CONFIRM_MS 5000
/* Longest wait for each answer about the stream, when connecting. */
#define ASK_MS 2000

static natsStatus
last_error(natsConnection *nc)
{
	const char *text; /* libnats does not accept NULL */

	return natsConnection_GetLastError(nc, &text);
}

static void
item_end(struct nats_item *item, enum nats_result result, const char *why)
{
	item->result = result;
	snprintf(item->why, sizeof(item->why), "%s", why);
}

void
nats_items_end(struct nats_item *item, enum nats_result result, const char *why)
{
	for (; item != NULL; item = STAILQ_NEXT(item, link))
		item_end(item, result, why);
}

/*
 * Hands the batch to the connection.  Returns NULL, or the first item that the
 * connection did not accept; the items behind it were not tried.
 */
static struct nats_item *
core_publish(struct nats_session *ns, struct nats_items *batch, natsStatus *s)
{
	struct nats_item *item;

	*s = NATS_OK;
	for (item = STAILQ_FIRST(batch); item != NULL;
	     item = STAILQ_NEXT(item, link)) {
		*s = natsConnection_Publish(ns->nc, ns->conf->subject,
		    item->bytes, (int)item->len);
		if (*s == NATS_MAX_PAYLOAD)
			item_end(item, NATS_TOO_LONG, TOO_LONG_FOR_BROKER);
		else if (*s == NATS_OK)
			item_end(item, NATS_SENT, "");
		else
			return item;
	}
	*s = NATS_OK;
	return NULL;
}

/* Replaces this result in the items before end. */
static void
result_replace(struct nats_items *batch, const struct nats_item *end,
    enum nats_result old, enum nats_result result, const char *why)
{
	struct nats_item *item;

	for (item = STAILQ_FIRST(batch); item != NULL;
	     item = STAILQ_NEXT(item, link)) {
		if (item == end)
			break;
		if (item->result == old)
			item_end(item, result, why);
	}
}

static enum nats_trouble
core_batch(struct nats_session *ns, struct nats_items *batch, char *why,
    size_t size)
{
	struct nats_item *rest;
	natsStatus s, flushed, error;

	rest = core_publish(ns, batch, &s);
	flushed = natsConnection_FlushTimeout(ns->nc, CONFIRM_MS);
	/* libnats sets an error of this batch before the flush returns. */
	error = last_error(ns->nc);
	if (error == NATS_NOT_PERMITTED) {
		nats_error_text(ns->nc, error, why, size);
		nats_items_end(STAILQ_FIRST(batch), NATS_DENIED, why);
		return TROUBLE_DENIED;
	}
	if (rest == NULL && flushed == NATS_OK)
		return TROUBLE_NONE;
	nats_error_text(ns->nc, s != NATS_OK ? s : flushed, why, size);
	if (flushed != NATS_OK)
		result_replace(batch, rest, NATS_SENT, NATS_UNSURE, why);
	if (rest != NULL) {
		nats_items_end(rest, NATS_AWAY, why);
		/* A part of the message, or all of it, may have been sent. */
		if (s != NATS_CONNECTION_CLOSED)
			item_end(rest, NATS_UNSURE, why);
	}
	return TROUBLE_AWAY;
}

/* Reads the configuration of the stream, if the login permits it. */
static void
ask_stream(struct nats_session *ns, const char *stream)
{
	jsStreamInfo *si = NULL;
	jsOptions o;

	ns->stream_read = 1;
	jsOptions_Init(&o);
	o.Wait = ASK_MS;
	if (js_GetStreamInfo(&si, ns->js, stream, &o, NULL) == NATS_OK &&
	    si->Config != NULL) {
		if (si->Config->Duplicates > 0)
			ns->window = si->Config->Duplicates;
		/* -1 = no limit */
		ns->msg_max = si->Config->MaxMsgSize > 0 ?
		    (size_t)si->Config->MaxMsgSize :
		    0;
	}
	jsStreamInfo_Destroy(si);
}

void
nats_stream_ask(struct nats_session *ns)
{
	jsStreamNamesList *names = NULL;
	jsOptions o;

	if (ns->js == NULL)
		return;
	jsOptions_Init(&o);
	o.Wait = ASK_MS;
	o.Stream.Info.SubjectsFilter = ns->conf->subject;
	if (js_StreamNames(&names, ns->js, &o, NULL) == NATS_OK &&
	    names->Count == 1)
		ask_stream(ns, names->List[0]);
	jsStreamNamesList_Destroy(names);
}

/*
 * The broker does not permit the subject.  A question about the stream that the
 * broker does not permit says nothing about publishing.
 */
static int
is_denied(natsConnection *nc)
{
	const char *text = NULL;

	return natsConnection_GetLastError(nc, &text) == NATS_NOT_PERMITTED &&
	    (text == NULL || strstr(text, "$JS.API.") == NULL);
}

static enum nats_trouble
stream_one(struct nats_session *ns, struct nats_item *item, char *why,
    size_t size)
{
	jsErrCode code = 0;
	jsPubAck *ack = NULL;
	jsPubOptions po;
	natsStatus s;

	jsPubOptions_Init(&po);
	po.MaxWait = CONFIRM_MS;
	po.MsgId = item->id;
	s = js_Publish(&ack, ns->js, ns->conf->subject, item->bytes,
	    (int)item->len, &po, &code);
	/* See nats_ack.in_process. */
	if ((s == NATS_OK && ack != NULL && ack->Sequence == 0) ||
	    code == ACK_IN_PROCESS) {
		item_end(item, NATS_IN_PROCESS,
		    "the stream has not stored it yet");
		jsPubAck_Destroy(ack);
		return TROUBLE_NONE;
	}
	if (s == NATS_OK) {
		item_end(item, NATS_SENT, "");
		item->duplicate = ack != NULL && ack->Duplicate;
		if (!ns->stream_read && ack != NULL && ack->Stream != NULL)
			ask_stream(ns, ack->Stream);
		jsPubAck_Destroy(ack);
		return TROUBLE_NONE;
	}
	jsPubAck_Destroy(ack);
	if (s == NATS_MAX_PAYLOAD || code == JSStreamMessageExceedsMaximumErr) {
		item_end(item, NATS_TOO_LONG,
		    code != 0 ? TOO_LONG_FOR_STREAM : TOO_LONG_FOR_BROKER);
		return TROUBLE_NONE;
	}
	if (is_denied(ns->nc)) {
		nats_error_text(ns->nc, NATS_NOT_PERMITTED, why, size);
		return TROUBLE_DENIED;
	}
	if (s == NATS_NO_RESPONDERS || s == NATS_TIMEOUT) {
		snprintf(why, size, "no stream acknowledges subject %.100s%s",
		    ns->conf->subject, s == NATS_TIMEOUT ? " in time" : "");
		return s == NATS_TIMEOUT ? TROUBLE_AWAY : TROUBLE_STREAM;
	}
	nats_error_text(code != 0 ? NULL : ns->nc, s, why, size);
	return code != 0 ? TROUBLE_STREAM : TROUBLE_AWAY;
}

static enum nats_trouble
stream_batch(struct nats_session *ns, struct nats_items *batch, char *why,
    size_t size)
{
	enum nats_trouble trouble;
	struct nats_item *item;
	int exceeded = 0;

	for (item = STAILQ_FIRST(batch); item != NULL;
	     item = STAILQ_NEXT(item, link)) {
		trouble = stream_one(ns, item, why, size);
		exceeded |= item->result == NATS_TOO_LONG;
		if (trouble == TROUBLE_NONE)
			continue;
		/* The limit is read with the next connection. */
		result_replace(batch, item, NATS_TOO_LONG, NATS_AWAY, why);
		nats_items_end(item,
		    trouble == TROUBLE_DENIED ? NATS_DENIED : NATS_AWAY, why);
		return trouble;
	}
	/* max_msg_size may be lower than when the connection began. */
	if (exceeded)
		nats_stream_ask(ns);
	return TROUBLE_NONE;
}

enum nats_trouble
nats_publish(struct nats_session *ns, struct nats_items *batch, char *why,
    size_t size)
{
	if (ns->acks != NULL)
		return nats_records_publish(ns, batch, why, size);
	return ns->js != NULL ? stream_batch(ns, batch, why, size) :
				core_batch(ns, batch, why, size);
}
