/* SPDX-License-Identifier: MIT */
/* The lease's part of -test with the answers of nats-server. */
#include "config.h"

#include "receiver/check_lease.h"
#include "tests/unit/check.h"

static struct {
	unsigned n;
	char subject[128], answer[64], data[128];
	int fails;
} asked;

int
link_publish(struct link *l, const char *subject, const char *answer,
    const void *data, size_t len)
{
	asked.n++;
	snprintf(asked.subject, sizeof(asked.subject), "%s", subject);
	snprintf(asked.answer, sizeof(asked.answer), "%s", answer);
	snprintf(asked.data, sizeof(asked.data), "%.*s", (int)len,
	    len > 0 ? (const char *)data : "");
	return asked.fails ? -1 : 0;
}

static struct check_lease_line line;

/* The answer to the last question. */
static int
answer(const char *text, unsigned status)
{
	struct link_message m = { .tail = asked.answer,
		.status = status,
		.data = (const uint8_t *)text,
		.len = strlen(text) };

	memset(&line, 0, sizeof(line));
	return check_lease_message(NULL, &m, &line);
}

#define BUCKET(replicas) \
	"{\"config\":{\"name\":\"KV_CC_LEASE\",\"num_replicas\":" replicas \
	"},\"created\":\"2026-11-22T17:00:05.1Z\",\"state\":{}}"
#define ENTRY(data) \
	"{\"message\":{\"subject\":\"$KV.CC_LEASE.centre\",\"seq\":17," \
	"\"data\":\"" data "\"}}"
/* {"schema":1,"holder":"c1","id":"00fe","count":9,"leaseMs":3000,"since":5} */
#define HELD \
	"eyJzY2hlbWEiOjEsImhvbGRlciI6ImMxIiwiaWQiOiIwMGZlIiwiY291bnQiOjksImxl" \
	"YXNlTXMiOjMwMDAsInNpbmNlIjo1fQ=="
/* {"schema":1,"id":"00fe","state":"claimed"} */
#define CLAIMED "eyJzY2hlbWEiOjEsImlkIjoiMDBmZSIsInN0YXRlIjoiY2xhaW1lZCJ9"
#define ERROR(code, err, text) \
	"{\"error\":{\"code\":" code ",\"err_code\":" err \
	",\"description\":\"" text "\"}}"

static void
ask(void)
{
	CHECK_INT(check_lease_ask(NULL), 0);
	CHECK_STR(asked.subject, "$JS.API.STREAM.INFO.KV_CC_LEASE");
}

static void
test_bucket(void)
{
	struct link_message other = { .tail = "check.7" };

	ask();
	CHECK_INT(check_lease_message(NULL, &other, &line), 0);
	CHECK_INT(answer(ERROR("404", "10059", "stream not found"), 0), 1);
	CHECK_STR(line.kind, "ok");
	CHECK(strstr(line.text, "the daemon makes it at the start") != NULL);
	ask();
	CHECK_INT(answer(ERROR("503", "10008", "not available"), 0), 1);
	CHECK_STR(line.kind, "warn");
	CHECK(strstr(line.text, "not available") != NULL);
	ask();
	CHECK_INT(answer("{", 0), 1);
	CHECK_STR(line.kind, "warn");
	ask();
	CHECK_INT(answer("", 503), 1);
	CHECK(strstr(line.text, "not permitted") != NULL);
}

static void
entry_ask(const char *bucket)
{
	ask();
	CHECK_INT(answer(bucket, 0), 0);
	CHECK_STR(asked.subject, "$JS.API.STREAM.MSG.GET.KV_CC_LEASE");
	CHECK_STR(asked.data, "{\"last_by_subj\":\"$KV.CC_LEASE.centre\"}");
}

static void
test_entry(void)
{
	entry_ask(BUCKET("3"));
	CHECK_INT(answer(ENTRY(HELD), 0), 1);
	CHECK_STR(line.kind, "ok");
	CHECK(strncmp(line.text, "c1 has it since 1970-01-01T", 27) == 0);
	entry_ask(BUCKET("3"));
	CHECK_INT(answer(ENTRY(CLAIMED), 0), 1);
	CHECK_STR(line.kind, "ok");
	CHECK_STR(line.text, "no centre has it");
	entry_ask(BUCKET("3"));
	CHECK_INT(answer(ERROR("404", "10037", "no message found"), 0), 1);
	CHECK_STR(line.text, "no centre has it");
	entry_ask(BUCKET("1"));
	CHECK_INT(answer(ENTRY(HELD), 0), 1);
	CHECK_STR(line.kind, "warn");
	CHECK(strstr(line.text, "1 replica; run: nats stream edit") != NULL);
	entry_ask(BUCKET("3"));
	CHECK_INT(answer(ENTRY("eHh4"), 0), 1);
	CHECK_STR(line.kind, "warn");
	entry_ask(BUCKET("3"));
	CHECK_INT(answer(ERROR("403", "1", "not yours"), 0), 1);
	CHECK_STR(line.kind, "warn");
	CHECK(strstr(line.text, "not yours") != NULL);
}

/* Only what reads is asked. */
static void
test_fails(void)
{
	ask();
	asked.fails = 1;
	CHECK_INT(answer(BUCKET("3"), 0), 1);
	CHECK_STR(line.kind, "warn");
	CHECK_INT(check_lease_ask(NULL), -1);
}

int
main(void)
{
	test_bucket();
	test_entry();
	test_fails();
	return check_done();
}
