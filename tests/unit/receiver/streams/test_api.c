/* SPDX-License-Identifier: MIT */
/* The texts of JetStream's API; the answers are those of nats-server 2.9.10. */
#include "config.h"

#include "receiver/base/budget.h"
#include "receiver/streams/api.h"
#include "tests/unit/check.h"

static const struct api_limits limits = { 3, 1209600, 10737418240, 0 };

static const char info[] =
    "{\"type\":\"io.nats.jetstream.api.v1.stream_info_response\",\"total\":0,"
    "\"offset\":0,\"limit\":0,\"config\":{\"name\":\"CC_RECORD_alpha\","
    "\"subjects\":[\"cc.record.alpha\"],\"retention\":\"limits\","
    "\"max_consumers\":-1,\"max_msgs\":-1,\"max_bytes\":10737418240,"
    "\"max_age\":1209600000000000,\"max_msgs_per_subject\":-1,"
    "\"max_msg_size\":16711680,\"discard\":\"new\",\"storage\":\"file\","
    "\"num_replicas\":3,\"duplicate_window\":120000000000,"
    "\"allow_direct\":false,\"mirror_direct\":false,\"sealed\":false,"
    "\"deny_delete\":true,\"deny_purge\":true,\"allow_rollup_hdrs\":false},"
    "\"created\":\"2026-11-22T17:00:05.123456789Z\","
    "\"state\":{\"messages\":7,\"bytes\":1000,\"first_seq\":4,"
    "\"first_ts\":\"2026-11-22T17:00:06Z\",\"last_seq\":10,"
    "\"last_ts\":\"2026-11-22T17:00:07Z\",\"consumer_count\":0},"
    "\"cluster\":{\"leader\":\"b1\",\"replicas\":[{\"name\":\"b2\","
    "\"current\":true,\"active\":1},{\"name\":\"b3\",\"current\":true,"
    "\"active\":1}]}}";

static int
answer_read(struct api_answer *a, const char *text)
{
	return api_answer_read(a, (const uint8_t *)text, strlen(text));
}

static void
test_info(void)
{
	struct api_limits other = limits;
	struct api_answer a;

	CHECK_INT(answer_read(&a, info), 0);
	CHECK_INT(a.code, 0);
	CHECK_INT(a.created, 1795366805123456789LL);
	CHECK_INT(a.first, 4);
	CHECK_INT(a.last, 10);
	CHECK_INT(a.messages, 7);
	CHECK_INT(a.subjects, 1);
	CHECK_STR(a.subject, "cc.record.alpha");
	CHECK_STR(a.retention, "limits");
	CHECK_STR(a.storage, "file");
	CHECK_INT(a.sealed, 0);
	CHECK_INT(a.foreign, 0);
	CHECK_INT(BUDGET_LONGEST, 16711680);
	CHECK(!api_stream_differs(&a, "cc.record.alpha", &limits));
	CHECK(api_stream_differs(&a, "cc.record.beta", &limits));
	other.replicas = 1;
	CHECK(api_stream_differs(&a, "cc.record.alpha", &other));
	other = limits;
	other.max_age++;
	CHECK(api_stream_differs(&a, "cc.record.alpha", &other));
	other = limits;
	other.max_bytes++;
	CHECK(api_stream_differs(&a, "cc.record.alpha", &other));
}

static void
test_errors(void)
{
	struct api_answer a;

	CHECK_INT(answer_read(&a,
		      "{\"type\":\"io.nats.jetstream.api.v1.stream_info_"
		      "response\",\"error\":{\"code\":404,\"err_code\":10059,"
		      "\"description\":\"stream not found\"}}"),
	    0);
	CHECK_INT(a.code, 404);
	CHECK_STR(a.error, "stream not found");
	CHECK_INT(a.created, 0);
	CHECK_INT(answer_read(&a, "{\"error\":{\"description\":\"x\"}}"), 0);
	CHECK_INT(a.code, 500);
	CHECK_INT(answer_read(&a, "{\"config\":{\"mirror\":{\"name\":\"X\"}}}"),
	    0);
	CHECK_INT(a.foreign, 1);
	CHECK_INT(answer_read(&a, "{\"created\":\"yesterday\"}"), 0);
	CHECK_INT(a.created, 0);
	CHECK_INT(answer_read(&a, "{\"created\":"), -1);
	CHECK_INT(answer_read(&a, "-ERR"), -1);
	CHECK_INT(answer_read(&a, ""), -1);
	/* members of other objects */
	CHECK_INT(answer_read(&a,
		      "{\"config\":{\"a\":{\"max_age\":5}},\"x\":"
		      "{\"first_seq\":9}}"),
	    0);
	CHECK_INT(a.max_age, 0);
	CHECK_INT(a.first, 0);
}

static void
test_ack(void)
{
	struct api_ack ack;

	CHECK_INT(api_ack_read(&ack,
		      "$JS.ACK.CC_RECORD_a=2Eb.centre.2.4711.9.1795366805"
		      "000000000.17"),
	    0);
	CHECK_INT(ack.stream_len, 15);
	CHECK(strncmp(ack.stream, "CC_RECORD_a=2Eb", 15) == 0);
	CHECK_INT(ack.delivered, 2);
	CHECK_INT(ack.sequence, 4711);
	CHECK_INT(ack.pending, 17);
	CHECK_INT(ack.time, 1795366805000000000LL);
	/* with domain and account, and a random token */
	CHECK_INT(api_ack_read(&ack,
		      "$JS.ACK._.ACCHASH.CC_RECORD_a.centre.1.5.6.7.8.rand"),
	    0);
	CHECK_INT(ack.sequence, 5);
	CHECK_INT(ack.pending, 8);
	CHECK(strncmp(ack.stream, "CC_RECORD_a", ack.stream_len) == 0);
	CHECK_INT(api_ack_read(&ack, ""), -1);
	CHECK_INT(api_ack_read(&ack, "$JS.ACK."), -1);
	CHECK_INT(api_ack_read(&ack, "$JS.ACK.S.other.1.2.3.4.5"), -1);
	CHECK_INT(api_ack_read(&ack, "$JS.ACK.S.centre.1.x.3.4.5"), -1);
	CHECK_INT(api_ack_read(&ack, "$JS.ACK.S.centre.1..3.4.5"), -1);
	CHECK_INT(api_ack_read(&ack, "$JS.ACK.S.centre.1.2.3.4"), -1);
	CHECK_INT(api_ack_read(&ack, "$JS.ACK.a.b.c.d.e.f.g.h.i.j.k.l.m"), -1);
	CHECK_INT(api_ack_read(&ack,
		      "$JS.ACK.S.centre.1.99999999999999999999.3.4.5"),
	    -1);
}

static void
check_text(struct writer *w, const char *want)
{
	CHECK_INT(wr_end(w), 0);
	wr_u8(w, 0);
	CHECK_STR((const char *)w->buf, want);
	wr_reset(w);
}

static void
test_requests(void)
{
	struct writer w;

	wr_init(&w, 4096);
	api_stream_config(&w, "CC_RECORD_alpha", "cc.record.alpha", &limits);
	check_text(&w,
	    "{\"name\":\"CC_RECORD_alpha\",\"subjects\":[\"cc.record.alpha\"],"
	    "\"retention\":\"limits\",\"discard\":\"new\",\"storage\":\"file\","
	    "\"num_replicas\":3,\"max_age\":1209600000000000,"
	    "\"max_bytes\":10737418240,\"max_msg_size\":16711680,"
	    "\"max_msgs\":-1,\"max_consumers\":-1,\"max_msgs_per_subject\":-1,"
	    "\"duplicate_window\":120000000000,\"deny_delete\":true,"
	    "\"deny_purge\":true,\"allow_rollup_hdrs\":false,"
	    "\"allow_direct\":false}");
	api_consumer_config(&w, "CC_RECORD_alpha", 4712, 256, 150);
	check_text(&w,
	    "{\"stream_name\":\"CC_RECORD_alpha\",\"config\":{"
	    "\"durable_name\":\"centre\","
	    "\"deliver_policy\":\"by_start_sequence\",\"opt_start_seq\":4712,"
	    "\"ack_policy\":\"explicit\",\"ack_wait\":150000000000,"
	    "\"max_deliver\":-1,\"max_ack_pending\":256,\"max_waiting\":16,"
	    "\"replay_policy\":\"instant\"}}");
	api_pull(&w, 5, 65536, 20000);
	check_text(&w,
	    "{\"batch\":5,\"max_bytes\":65536,\"expires\":20000000000}");
	wr_clear(&w);
}

int
main(void)
{
	test_info();
	test_errors();
	test_ack();
	test_requests();
	return check_done();
}
