/* SPDX-License-Identifier: MIT */
/* The messages of the bucket about the lease, for the answers of nats-server. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <event2/event.h>

#include "common/text/base64.h"
#include "receiver/lease/bucket.h"
#include "tests/unit/check.h"

#define L 30000

static long long now = 1000;
static char token[64]; /* of the answer to the last request */
static char subject[128];

long long __wrap_clock_boot_ms(void);

long long
__wrap_clock_boot_ms(void)
{
	return now;
}

int
link_publish(struct link *l, const char *to, const char *answer,
    const void *data, size_t len)
{
	snprintf(subject, sizeof(subject), "%s", to);
	snprintf(token, sizeof(token), "%s", answer);
	return 0;
}

int
link_publish_expect(struct link *l, const char *to, const char *answer,
    const void *data, size_t len, uint64_t expect)
{
	return link_publish(l, to, answer, data, len);
}

static void
on_until(int64_t until, void *arg)
{
}

/* The answer to the last request. */
static void
answer(struct bucket *b, const char *text)
{
	struct link_message m = { .tail = token,
		.data = (const uint8_t *)text,
		.len = strlen(text) };

	CHECK_INT(bucket_message(b, &m), 1);
}

#define VALUE(state, since) \
	"{\"schema\":1,\"holder\":\"centre-b\",\"id\":\"00fe\",\"count\":9," \
	"\"leaseMs\":30000,\"since\":" since ",\"state\":\"" state "\"}"

/* The bucket is there, with an entry of another centre. */
static struct bucket *
begin(struct event_base *base, const char *value)
{
	struct bucket *b = bucket_new(base, NULL, on_until, NULL);
	char *data = base64_text(value, strlen(value)), text[1024];

	bucket_conf(b, 1, L, 1);
	bucket_link(b, 1);
	bucket_submitter(b, 1, 0, 0);
	answer(b,
	    "{\"config\":{\"name\":\"KV_CC_LEASE\",\"num_replicas\":1},"
	    "\"created\":\"2026-11-22T17:00:05.1Z\",\"state\":{}}");
	CHECK(strstr(subject, "MSG.GET") != NULL);
	snprintf(text, sizeof(text),
	    "{\"message\":{\"subject\":\"$KV.CC_LEASE.centre\",\"seq\":17,"
	    "\"data\":\"%s\"}}",
	    data);
	answer(b, text);
	free(data);
	return b;
}

static void
test_standby(struct event_base *base)
{
	struct bucket *b = begin(base, VALUE("held", "1600000000"));
	struct bucket_status st;

	now += 40000;
	bucket_status(b, &st);
	CHECK(!st.active && !st.over);
	CHECK_STR(st.holder, "centre-b");
	CHECK_INT(st.holder_since, 1600000000);
	CHECK_INT(st.unchanged, 40000);
}

/*
 * A centre that took the lease of another one and cannot renew it does not tell
 * that the other one is active.
 */
static void
test_not_renewed(struct event_base *base)
{
	struct bucket *b = begin(base, VALUE("released", "0"));
	struct bucket_status st;

	CHECK_STR(subject, "$KV.CC_LEASE.centre");
	answer(b, "{\"stream\":\"KV_CC_LEASE\",\"seq\":18}");
	bucket_status(b, &st);
	CHECK(st.active && !st.over);
	CHECK(strcmp(st.holder, "centre-b") != 0);
	CHECK(st.since != 0);
	CHECK_INT(st.holder_since, st.since);
	bucket_link(b, 0);
	now += L + 10000;
	bucket_status(b, &st);
	CHECK(!st.active && st.over);
	CHECK(strcmp(st.holder, "centre-b") != 0);
	CHECK_INT(st.unchanged, L + 10000);
}

/* The other centre has released the lease this number of seconds ago. */
static int
elsewhere(struct event_base *base, long long ago)
{
	struct bucket *b;
	char value[256];

	snprintf(value, sizeof(value),
	    "{\"schema\":1,\"holder\":\"centre-b\",\"id\":\"00fe\",\"count\":9,"
	    "\"leaseMs\":30000,\"since\":%lld,\"state\":\"released\"}",
	    (long long)time(NULL) - ago);
	b = begin(base, value);
	return bucket_elsewhere(b, 3600) + bucket_elsewhere(b, 3600);
}

/* An answer to the request before the write is not one to the write. */
static void
test_late_answer(struct event_base *base)
{
	static const char written[] = "{\"stream\":\"KV_CC_LEASE\",\"seq\":18}";
	struct bucket *b = begin(base, VALUE("released", "0"));
	struct bucket_status st;
	char last[sizeof(token)];
	unsigned serial;

	CHECK_STR(subject, "$KV.CC_LEASE.centre");
	CHECK_INT(sscanf(token, "lease.%u", &serial), 1);
	snprintf(last, sizeof(last), "%s", token);
	snprintf(token, sizeof(token), "lease.%u", serial - 1);
	answer(b, written);
	bucket_status(b, &st);
	CHECK(!st.active);
	snprintf(token, sizeof(token), "%s", last);
	answer(b, written);
	bucket_status(b, &st);
	CHECK(st.active);
}

int
main(void)
{
	struct event_base *base = event_base_new();

	test_standby(base);
	test_not_renewed(base);
	test_late_answer(base);
	CHECK_INT(elsewhere(base, 10), 1);
	/* what has expired since then was read by no centre */
	CHECK_INT(elsewhere(base, 4000), 0);
	event_base_free(base);
	return check_done();
}
