/* SPDX-License-Identifier: MIT */
/* The table of messages. */
#include "config.h"

#include "common/model/msg.h"
#include "tests/unit/check.h"

static void
test_table(void)
{
	struct msg_header h = { MSG_EVENT, 0, 40, 0 };
	unsigned type;

	CHECK(msg_check(&h, ROLE_LISTENER, ROLE_COLLECTOR) == NULL);
	CHECK(msg_check(&h, ROLE_COLLECTOR, ROLE_LISTENER) != NULL);
	CHECK(msg_check(&h, ROLE_LISTENER, ROLE_SUBMITTER) != NULL);
	h.length = 32;
	CHECK(msg_check(&h, ROLE_LISTENER, ROLE_COLLECTOR) != NULL);
	h.length = 10000;
	CHECK(msg_check(&h, ROLE_LISTENER, ROLE_COLLECTOR) != NULL);
	h.length = 40;
	h.flags = MSG_FLAG_FD;
	CHECK(msg_check(&h, ROLE_LISTENER, ROLE_COLLECTOR) != NULL);
	h.type = MSG__COUNT;
	CHECK(msg_check(&h, ROLE_LISTENER, ROLE_COLLECTOR) != NULL);
	/* The receiver has records and answers of clusters only. */
	h = (struct msg_header) { MSG_NOT_FOUND, 0, 64, 0 };
	CHECK(msg_check(&h, ROLE_COLLECTOR, ROLE_SUBMITTER) == NULL);
	CHECK(msg_check(&h, ROLE_RECEIVER, ROLE_SUBMITTER) == NULL);
	CHECK(msg_check(&h, ROLE_LISTENER, ROLE_SUBMITTER) != NULL);
	h = (struct msg_header) { MSG_WATERMARK, 0, 64, 0 };
	CHECK(msg_check(&h, ROLE_COLLECTOR, ROLE_SUBMITTER) == NULL);
	CHECK(msg_check(&h, ROLE_RECEIVER, ROLE_SUBMITTER) != NULL);
	h = (struct msg_header) { MSG_NODES, 0, 64, 0 };
	CHECK(msg_check(&h, ROLE_COLLECTOR, ROLE_SUBMITTER) == NULL);
	CHECK(msg_check(&h, ROLE_RECEIVER, ROLE_SUBMITTER) == NULL);
	CHECK(msg_check(&h, ROLE_LISTENER, ROLE_SUBMITTER) != NULL);
	/* resolv.conf and hosts: a kind, a length, at most 4 MiB. */
	h = (struct msg_header) { MSG_FILE, 0, 5 + (4u << 20), 0 };
	CHECK(msg_check(&h, ROLE_SUPERVISOR, ROLE_SUBMITTER) == NULL);
	CHECK(msg_check(&h, ROLE_SUPERVISOR, ROLE_RECEIVER) == NULL);
	h.length++;
	CHECK(msg_check(&h, ROLE_SUPERVISOR, ROLE_SUBMITTER) != NULL);
	/* Every message has its row. */
	for (type = 0; type < MSG__COUNT; type++)
		CHECK(msg_name(type) != NULL);
}

int
main(void)
{
	test_table();
	return check_done();
}
