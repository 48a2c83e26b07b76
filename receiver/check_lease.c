/* SPDX-License-Identifier: MIT */
/* See check_lease.h. */
#include "config.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/text/time_text.h"
#include "receiver/check_lease.h"
#include "receiver/lease/lease_json.h"
#include "receiver/streams/api.h"

#define REPLICAS    3 /* fewer can lose a write that was acknowledged */
#define REQUEST_MAX 256
#define NOT_FOUND   404 /* JetStream: no such stream */

static long long replicas;

int
check_lease_ask(struct link *link)
{
	return link_publish(link, "$JS.API.STREAM.INFO." LEASE_STREAM,
	    "check.lease.bucket", NULL, 0);
}

static int __attribute__((format(printf, 3, 4)))
line_set(struct check_lease_line *line, const char *kind, const char *fmt, ...)
{
	va_list ap;

	line->kind = kind;
	va_start(ap, fmt);
	vsnprintf(line->text, sizeof(line->text), fmt, ap);
	va_end(ap);
	return 1;
}

static int
bucket_answer(struct link *link, const struct link_message *m,
    struct check_lease_line *line)
{
	struct api_answer a;
	struct writer w;
	int rc;

	if (api_answer_read(&a, m->data, m->len) == -1)
		return line_set(line, "warn", "the answer is invalid");
	if (a.code == NOT_FOUND)
		return line_set(line, "ok",
		    "there is no bucket; the daemon makes it at the start");
	if (a.code != 0)
		return line_set(line, "warn", "%s", a.error);
	replicas = (long long)a.replicas;
	wr_init(&w, REQUEST_MAX);
	lease_json_read_request(&w);
	rc = wr_end(&w) == -1 ?
	    -1 :
	    link_publish(link, "$JS.API.STREAM.MSG.GET." LEASE_STREAM,
		"check.lease.entry", w.buf, w.len);
	wr_clear(&w);
	return rc == -1 ?
	    line_set(line, "warn", "the question cannot be sent") :
	    0;
}

static int
holder_line(const struct lease_answer *a, struct check_lease_line *line)
{
	const struct lease_value *v = &a->entry.value;
	char few[128] = "";

	if (replicas < REPLICAS)
		snprintf(few, sizeof(few),
		    "; its bucket has %lld replica%s; run: nats stream edit " LEASE_STREAM
		    " --replicas=3",
		    replicas, replicas == 1 ? "" : "s");
	if (a->error == LEASE_NO_ENTRY || v->state != LEASE_HELD)
		return line_set(line, few[0] != '\0' ? "warn" : "ok",
		    "no centre has it%s", few);
	return line_set(line, few[0] != '\0' ? "warn" : "ok",
	    "%s has it since %s%s", v->holder, time_text(v->since), few);
}

static int
entry_answer(const struct link_message *m, struct check_lease_line *line)
{
	struct lease_answer a;

	if (lease_json_answer(&a, m->data, m->len) == -1)
		return line_set(line, "warn", "the answer is invalid");
	if (a.error != LEASE_OK && a.error != LEASE_NO_ENTRY)
		return line_set(line, "warn", "%s", a.why);
	if (a.error == LEASE_OK && a.entry.value.id == 0)
		return line_set(line, "warn",
		    "the entry is invalid or of a newer version");
	return holder_line(&a, line);
}

int
check_lease_message(struct link *link, const struct link_message *m,
    struct check_lease_line *line)
{
	int bucket = m->tail != NULL &&
	    strcmp(m->tail, "check.lease.bucket") == 0;

	if (!bucket &&
	    (m->tail == NULL || strcmp(m->tail, "check.lease.entry") != 0))
		return 0;
	if (m->status != 0)
		return line_set(line, "warn",
		    "JetStream is not enabled for this login, or the question "
		    "is not permitted");
	return bucket ? bucket_answer(link, m, line) : entry_answer(m, line);
}
