/* SPDX-License-Identifier: MIT */
/* Requests of JetStream's API about one stream. */
#include "config.h"

#include <stdio.h>

#include "receiver/streams/streams_private.h"

int
stream_request(struct stream *st, const char *what, const char *consumer,
    const struct writer *w, const char *token)
{
	char subject[API_SUBJECT_MAX + 64];

	snprintf(subject, sizeof(subject), "$JS.API.%s.%s%s%s", what, st->name,
	    consumer != NULL ? "." : "", consumer != NULL ? consumer : "");
	if (w != NULL && wr_end(w) == -1)
		return -1;
	return link_publish(st->t->link, subject, token,
	    w != NULL ? w->buf : NULL, w != NULL ? w->len : 0);
}

int
stream_request_config(struct stream *st, const char *what, const char *token)
{
	struct writer w;
	int rc;

	wr_init(&w, API_REQUEST_MAX);
	api_stream_config(&w, st->name, st->subject, &st->t->limits);
	rc = stream_request(st, what, NULL, &w, token);
	wr_clear(&w);
	return rc;
}
