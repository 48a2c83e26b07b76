/* SPDX-License-Identifier: MIT */
/*
 * A batch of messages and what became of them.  Each is confirmed by the
 * connection that took it: by a flush, in which the broker answers behind
 * whatever it refused, or by the stream's acknowledgements.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "submitter/nats/nats_private.h"

/* A flush or an acknowledgement that takes longer does not come. */
#define CONFIRM_MS	5000

static natsStatus
last_error(natsConnection *nc)
{
	const char *text;	/* libnats writes it without asking */

	return natsConnection_GetLastError(nc, &text);
}

void
nats_last_words(natsConnection *nc, natsStatus s, char *buf, size_t size)
{
	const char *text = NULL;

	if (nc != NULL)
		natsConnection_GetLastError(nc, &text);
	if (text == NULL || *text == '\0')
		text = nats_GetLastError(NULL);
	if (text == NULL || *text == '\0')
		text = natsStatus_GetText(s);
	/* "(conn.c:2088): " says nothing to an admin. */
	if (strncmp(text, "(conn.c:", 8) == 0 && strstr(text, "): ") != NULL)
		text = strstr(text, "): ") + 3;
	snprintf(buf, size, "%s", text);
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
 * Gives the batch to the connection.  Returns the first item that it did not
 * take (and those behind it were not tried), NULL when it took all.
 */
static struct nats_item *
core_publish(struct nats_thread *l, struct nats_items *batch, natsStatus *s)
{
	struct nats_item *item;

	*s = NATS_OK;
	for (item = STAILQ_FIRST(batch); item != NULL;
	    item = STAILQ_NEXT(item, link)) {
		*s = natsConnection_Publish(l->nc, l->conf->subject,
		    item->bytes, (int)item->len);
		if (*s == NATS_MAX_PAYLOAD)
			item_end(item, NATS_TOO_LONG,
			    "longer than the broker takes");
		else if (*s == NATS_OK)
			item_end(item, NATS_SENT, "");
		else
			return item;
	}
	*s = NATS_OK;
	return NULL;
}

/* What was given to the connection is not confirmed. */
static void
core_undo(struct nats_items *batch, const struct nats_item *end,
    enum nats_result result, const char *why)
{
	struct nats_item *item;

	for (item = STAILQ_FIRST(batch); item != NULL;
	    item = STAILQ_NEXT(item, link)) {
		if (item == end)
			break;
		if (item->result == NATS_SENT)
			item_end(item, result, why);
	}
}

static enum nats_trouble
core_batch(struct nats_thread *l, struct nats_items *batch, char *why,
    size_t size)
{
	struct nats_item *rest;
	natsStatus s, flushed, not_found_at;

	rest = core_publish(l, batch, &s);
	flushed = natsConnection_FlushTimeout(l->nc, CONFIRM_MS);
	/* Set before the flush was answered, when it was set by this batch. */
	not_found_at = last_error(l->nc);
	if (not_found_at == NATS_NOT_PERMITTED) {
		nats_last_words(l->nc, not_found_at, why, size);
		nats_items_end(STAILQ_FIRST(batch), NATS_DENIED, why);
		return TROUBLE_DENIED;
	}
	if (rest == NULL && flushed == NATS_OK)
		return TROUBLE_NONE;
	nats_last_words(l->nc, s != NATS_OK ? s : flushed, why, size);
	if (flushed != NATS_OK)
		core_undo(batch, rest, NATS_UNSURE, why);
	if (rest != NULL) {
		nats_items_end(rest, NATS_AWAY, why);
		/* It may have gone out in part, or whole. */
		if (s != NATS_CONNECTION_CLOSED)
			item_end(rest, NATS_UNSURE, why);
	}
	return TROUBLE_AWAY;
}

/* How long the stream drops doubles: asked once, where we may ask. */
static void
ask_window(struct nats_thread *l, const char *stream)
{
	jsStreamInfo *si = NULL;
	int64_t window = 0;

	l->window_asked = 1;
	if (js_GetStreamInfo(&si, l->js, stream, NULL, NULL) == NATS_OK &&
	    si->Config != NULL)
		window = si->Config->Duplicates;
	jsStreamInfo_Destroy(si);
	if (window <= 0)
		return;
	pthread_mutex_lock(&l->lock);
	l->state.window = window;
	l->state.serial++;
	pthread_mutex_unlock(&l->lock);
}

static enum nats_trouble
stream_one(struct nats_thread *l, struct nats_item *item, char *why,
    size_t size)
{
	jsErrCode code = 0;
	jsPubAck *ack = NULL;
	jsPubOptions po;
	natsStatus s;

	jsPubOptions_Init(&po);
	po.MaxWait = CONFIRM_MS;
	po.MsgId = item->id;
	s = js_Publish(&ack, l->js, l->conf->subject, item->bytes,
	    (int)item->len, &po, &code);
	if (s == NATS_OK) {
		item_end(item, NATS_SENT, "");
		item->duplicate = ack != NULL && ack->Duplicate;
		if (!l->window_asked && ack != NULL && ack->Stream != NULL)
			ask_window(l, ack->Stream);
		jsPubAck_Destroy(ack);
		return TROUBLE_NONE;
	}
	jsPubAck_Destroy(ack);
	if (s == NATS_MAX_PAYLOAD || code == JSStreamMessageExceedsMaximumErr) {
		item_end(item, NATS_TOO_LONG, "longer than the stream takes");
		return TROUBLE_NONE;
	}
	if (last_error(l->nc) == NATS_NOT_PERMITTED) {
		nats_last_words(l->nc, NATS_NOT_PERMITTED, why, size);
		return TROUBLE_DENIED;
	}
	if (s == NATS_NO_RESPONDERS || s == NATS_TIMEOUT) {
		snprintf(why, size, "no stream acknowledges subject %.100s%s",
		    l->conf->subject, s == NATS_TIMEOUT ? " in time" : "");
		return s == NATS_TIMEOUT ? TROUBLE_AWAY : TROUBLE_STREAM;
	}
	nats_last_words(code != 0 ? NULL : l->nc, s, why, size);
	return code != 0 ? TROUBLE_STREAM : TROUBLE_AWAY;
}

static enum nats_trouble
stream_batch(struct nats_thread *l, struct nats_items *batch, char *why,
    size_t size)
{
	enum nats_trouble trouble;
	struct nats_item *item;

	for (item = STAILQ_FIRST(batch); item != NULL;
	    item = STAILQ_NEXT(item, link)) {
		trouble = stream_one(l, item, why, size);
		if (trouble == TROUBLE_NONE)
			continue;
		nats_items_end(item, trouble == TROUBLE_DENIED ? NATS_DENIED :
		    NATS_AWAY, why);
		return trouble;
	}
	return TROUBLE_NONE;
}

enum nats_trouble
nats_publish(struct nats_thread *l, struct nats_items *batch, char *why,
    size_t size)
{
	return l->js != NULL ? stream_batch(l, batch, why, size) :
	    core_batch(l, batch, why, size);
}
