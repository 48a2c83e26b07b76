/* SPDX-License-Identifier: MIT */
/* Requests and rows of the admin tool's protocol. */
#include "config.h"

#include "common/model/ctl.h"
#include "tests/unit/check.h"

static void
test_ctl(void)
{
	struct ctl_request q = { .magic = CTL_MAGIC, .version = CTL_VERSION };
	struct writer w;

	CHECK(ctl_request_check(&q) == NULL);
	memset(q.text, 'x', sizeof(q.text));
	CHECK(ctl_request_check(&q) != NULL);
	q.text[0] = '\0';
	q.verb = CTL__COUNT;
	CHECK(ctl_request_check(&q) != NULL);
	wr_init(&w, 100);
	ctl_row(&w, CTL_T_STATUS, "collector", "pid", "1", NULL);
	CHECK_INT(w.len, 2 + 3 * 4 + 9 + 3 + 1);
	wr_clear(&w);
	CHECK(ctl_columns(CTL_T__COUNT) == NULL);
}

int
main(void)
{
	test_ctl();
	return check_done();
}
