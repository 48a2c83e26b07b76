/* SPDX-License-Identifier: MIT */
/* The JSON of the lease; the answers are those of nats-server 2.9.10. */
#include "config.h"

#include "common/codec.h"
#include "receiver/lease/lease_json.h"
#include "tests/unit/check.h"

static int
answer_read(struct lease_answer *a, const char *text)
{
	return lease_json_answer(a, (const uint8_t *)text, strlen(text));
}

static void
test_bucket(void)
{
	struct writer w;

	wr_init(&w, 2048);
	lease_json_bucket(&w, 3);
	wr_u8(&w, 0);
	CHECK_INT(wr_end(&w), 0);
	CHECK(strstr((char *)w.buf,
		  "{\"name\":\"KV_CC_LEASE\",\"subjects\":[\"$KV.CC_LEASE."
		  "centre\"],") == (char *)w.buf);
	CHECK(strstr((char *)w.buf, "\"num_replicas\":3,") != NULL);
	CHECK(strstr((char *)w.buf, "\"deny_purge\":true") != NULL);
	CHECK(strstr((char *)w.buf, "\"max_msgs_per_subject\":1,") != NULL);
	wr_clear(&w);
}

static void
test_value(void)
{
	const struct lease_value v = { .id = 0xfe,
		.count = 12,
		.ms = 30000,
		.since = 1700000000,
		.state = LEASE_CLAIMED,
		.holder = "centre\"1" };
	struct writer w;

	wr_init(&w, 2048);
	lease_json_value(&w, &v);
	wr_u8(&w, 0);
	CHECK_INT(wr_end(&w), 0);
	CHECK_STR((char *)w.buf,
	    "{\"schema\":1,\"holder\":\"centre\\\"1\",\"id\":"
	    "\"00000000000000fe\",\"count\":12,\"leaseMs\":30000,"
	    "\"since\":1700000000,\"state\":\"claimed\"}");
	wr_clear(&w);
}

#define MESSAGE(data) \
	"{\"type\":\"io.nats.jetstream.api.v1.stream_msg_get_response\"," \
	"\"message\":{\"subject\":\"$KV.CC_LEASE.centre\",\"seq\":17," \
	"\"hdrs\":\"TkFUUy8xLjANCg==\",\"data\":\"" data "\"," \
	"\"time\":\"2026-11-22T17:00:05.1Z\"}}"
/* {"schema":1,"holder":"c1","id":"00fe","count":9,"leaseMs":3000,"since":5} */
#define VALUE \
	"eyJzY2hlbWEiOjEsImhvbGRlciI6ImMxIiwiaWQiOiIwMGZlIiwiY291bnQiOjksImxl" \
	"YXNlTXMiOjMwMDAsInNpbmNlIjo1fQ=="
/* {"schema":1,"id":"00fe","state":"claimed"} */
#define CLAIMED "eyJzY2hlbWEiOjEsImlkIjoiMDBmZSIsInN0YXRlIjoiY2xhaW1lZCJ9"
/* {"schema":1,"id":"00fe","state":"later"} */
#define UNKNOWN "eyJzY2hlbWEiOjEsImlkIjoiMDBmZSIsInN0YXRlIjoibGF0ZXIifQ=="
/* {"schema":2,"id":"00fe"} */
#define NEWER "eyJzY2hlbWEiOjIsImlkIjoiMDBmZSJ9"

static void
test_entry(void)
{
	struct lease_answer a;

	CHECK_INT(answer_read(&a, MESSAGE(VALUE)), 0);
	CHECK_INT(a.error, LEASE_OK);
	CHECK_INT(a.entry.seq, 17);
	CHECK_INT(a.entry.value.id, 0xfe);
	CHECK_INT(a.entry.value.count, 9);
	CHECK_INT(a.entry.value.ms, 3000);
	CHECK_INT(a.entry.value.since, 5);
	CHECK_STR(a.entry.value.holder, "c1");
	CHECK_INT(a.entry.value.state, LEASE_HELD);
	CHECK_INT(answer_read(&a, MESSAGE(CLAIMED)), 0);
	CHECK_INT(a.entry.value.state, LEASE_CLAIMED);
	CHECK_INT(answer_read(&a, MESSAGE(UNKNOWN)), 0);
	CHECK_INT(a.entry.value.id, 0xfe);
	CHECK_INT(a.entry.value.state, LEASE_HELD);
	/* another schema, or no JSON: the sequence counts, nothing else */
	CHECK_INT(answer_read(&a, MESSAGE(NEWER)), 0);
	CHECK_INT(a.entry.seq, 17);
	CHECK_INT(a.entry.value.id, 0);
	CHECK_INT(answer_read(&a, MESSAGE("eHh4")), 0);
	CHECK_INT(a.entry.value.id, 0);
	CHECK_INT(answer_read(&a, MESSAGE("*")), 0);
	CHECK_INT(a.entry.seq, 17);
}

static void
test_answers(void)
{
	struct lease_answer a;

	CHECK_INT(answer_read(&a, "{\"stream\":\"KV_CC_LEASE\",\"seq\":18}"),
	    0);
	CHECK_INT(a.error, LEASE_OK);
	CHECK_INT(a.seq, 18);
	CHECK_INT(answer_read(&a,
		      "{\"error\":{\"code\":400,\"err_code\":10071,"
		      "\"description\":\"wrong last sequence: 18\"},"
		      "\"stream\":\"KV_CC_LEASE\",\"seq\":0}"),
	    0);
	CHECK_INT(a.error, LEASE_CHANGED);
	CHECK_INT(answer_read(&a,
		      "{\"type\":\"x\",\"error\":{\"code\":404,\"err_code\":"
		      "10037,\"description\":\"no message found\"}}"),
	    0);
	CHECK_INT(a.error, LEASE_NO_ENTRY);
	CHECK_INT(answer_read(&a,
		      "{\"type\":\"x\",\"error\":{\"code\":404,\"err_code\":"
		      "10059,\"description\":\"stream not found\"}}"),
	    0);
	CHECK_INT(a.error, LEASE_NO_STREAM);
	CHECK_INT(answer_read(&a,
		      "{\"error\":{\"code\":503,\"err_code\":10008,"
		      "\"description\":\"JetStream system temporarily "
		      "unavailable\"}}"),
	    0);
	CHECK_INT(a.error, LEASE_ERROR);
	CHECK(strstr(a.why, "temporarily") != NULL);
	CHECK_INT(answer_read(&a, "{\"config\":{\"name\":\"KV_CC_LEASE\"}}"),
	    0);
	CHECK_INT(a.error, LEASE_OK);
	CHECK(a.has_config);
	CHECK_INT(answer_read(&a, "{}"), 0);
	CHECK_INT(a.seq + a.entry.seq, 0);
	CHECK_INT(answer_read(&a, "[]"), -1);
	CHECK_INT(answer_read(&a, "{\"seq\":"), -1);
}

int
main(void)
{
	test_bucket();
	test_value();
	test_entry();
	test_answers();
	return check_done();
}
