/* SPDX-License-Identifier: MIT */
/* Answers of streams, as nats-server 2.9 to 2.12 write them. */
#include "config.h"

#include "submitter/nats/nats_ack.h"
#include "tests/unit/check.h"

static int
read_text(const char *text, struct nats_ack *ack)
{
	return nats_ack_read(text, strlen(text), ack);
}

static void
test_stored(void)
{
	struct nats_ack ack;

	CHECK_INT(read_text("{\"stream\":\"CC_RECORD_a\", \"seq\":7}", &ack),
	    0);
	CHECK(ack.stored && !ack.duplicate && ack.code == 0);
	CHECK_STR(ack.stream, "CC_RECORD_a");
	CHECK_INT(read_text("{\"stream\":\"S\",\"domain\":\"x\",\"seq\":7,"
			    "\"duplicate\": true}",
		      &ack),
	    0);
	CHECK(ack.stored && ack.duplicate);
	CHECK_STR(ack.stream, "S");
	CHECK_INT(read_text("{\"stream\":\"S\",\"seq\":7,\"new\":{\"error\":1,"
			    "\"err_code\":10077}}",
		      &ack),
	    0);
	CHECK(ack.stored && ack.code == 0);
}

static void
test_error(void)
{
	struct nats_ack ack;

	CHECK_INT(read_text("{\"error\":{\"code\":503,\"err_code\":10077,"
			    "\"description\":\"maximum bytes exceeded\"},"
			    "\"stream\":\"S\",\"seq\":0}",
		      &ack),
	    0);
	CHECK(!ack.stored);
	CHECK_INT(ack.code, 10077);
	CHECK_STR(ack.text, "maximum bytes exceeded");
	CHECK_INT(read_text("{\"error\":{\"code\":503,\"err_code\":10054}}",
		      &ack),
	    0);
	CHECK(!ack.stored);
	CHECK_INT(ack.code, ACK_TOO_LONG);
	CHECK_STR(ack.text, "error 10054");
	CHECK_INT(read_text("{\"error\":{\"description\":\"a\\u001bb\"}}",
		      &ack),
	    0);
	CHECK(strchr(ack.text, '\033') == NULL);
}

/* nats-server 2.10, and 2.11 and later */
static void
test_in_process(void)
{
	struct nats_ack ack;

	CHECK_INT(read_text("{\"stream\":\"S\", \"seq\":0,"
			    "\"duplicate\": true}",
		      &ack),
	    0);
	CHECK(!ack.stored && ack.in_process);
	CHECK_INT(read_text("{\"error\":{\"code\":409,\"err_code\":10158,"
			    "\"description\":\"duplicate message id is in "
			    "process\"},\"stream\":\"S\",\"seq\":0}",
		      &ack),
	    0);
	CHECK(!ack.stored && ack.in_process);
	CHECK_INT(read_text("{\"error\":{\"code\":503,\"err_code\":10077}}",
		      &ack),
	    0);
	CHECK(!ack.stored && !ack.in_process);
}

static void
test_invalid(void)
{
	static const char *const texts[] = { "", "+OK", "{}", "[]",
		"{\"seq\":7}", "{\"stream\":\"\"}", "{\"stream\":7}",
		"{\"stream\":\"S\"", "{\"stream\":\"S\"} x" };
	struct nats_ack ack;
	size_t i;

	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		CHECK_INT(read_text(texts[i], &ack), -1);
		CHECK(!ack.stored);
	}
}

int
main(void)
{
	test_stored();
	test_error();
	test_in_process();
	test_invalid();
	return check_done();
}
