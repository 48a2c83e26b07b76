/* SPDX-License-Identifier: MIT */
/* The form of a munge credential and the payload of a hook. */
#include "config.h"

#include "common/model/hook_credential.h"
#include "common/model/msg.h"
#include "tests/unit/check.h"

/* A credential of n characters. */
static const char *
credential_of(size_t n)
{
	static char text[HOOK_CREDENTIAL_MAX + 8];

	memset(text, 'A', n);
	memcpy(text, "MUNGE:", 6);
	text[n - 1] = ':';
	text[n] = '\0';
	return text;
}

static void
test_form(void)
{
	static const char *const wrong[] = { "", "MUNGE",
		"MUNGE:", "MUNGE::", "MUNGE:A", "MUNGE:A:x", "MUNGE:A:\n",
		"MUNGE:A A:", "munge:A:", "MUNGE:A\"A:", " MUNGE:A:",
		"MUNGE:A:A:", "MUNGE:\xc3\xa4:" };
	size_t i;

	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		CHECK_INT(hook_credential_check(wrong[i]), -1);
	CHECK_INT(hook_credential_check("MUNGE:AZaz09+/=:"), 0);
	CHECK_INT(hook_credential_check(credential_of(HOOK_CREDENTIAL_MAX - 1)),
	    0);
	CHECK_INT(hook_credential_check(credential_of(HOOK_CREDENTIAL_MAX)),
	    -1);
}

static void
test_kind(void)
{
	CHECK_INT(hook_kind(NULL), EVENT_UNKNOWN);
	CHECK_INT(hook_kind(""), EVENT_UNKNOWN);
	CHECK_INT(hook_kind("prolog_slurmd"), EVENT_UNKNOWN);
	CHECK_INT(hook_kind("prolog_slurmctld"), EVENT_START);
	CHECK_INT(hook_kind("epilog_slurmctld"), EVENT_END);
}

static void
test_payload(void)
{
	char buf[HOOK_PAYLOAD_MAX], cluster[65];

	CHECK_INT(hook_payload(buf, sizeof(buf), "alpha", 17, EVENT_START), 36);
	CHECK_STR(buf, "cc-slurm-adapter-hook alpha 17 start");
	CHECK(hook_payload(buf, sizeof(buf), "b", UINT32_MAX, EVENT_END) > 0);
	CHECK_STR(buf, "cc-slurm-adapter-hook b 4294967295 end");
	CHECK(hook_payload(buf, sizeof(buf), "b", 1, EVENT_UNKNOWN) > 0);
	CHECK_STR(buf, "cc-slurm-adapter-hook b 1 hook");
	CHECK_INT(hook_payload(buf, sizeof(buf), "b", 0, EVENT_END), 0);
	CHECK_INT(hook_payload(buf, sizeof(buf), "b", 1ull << 32, EVENT_END),
	    0);
	CHECK_INT(hook_payload(buf, sizeof(buf), "b", 1, EVENT_END + 1), 0);
	CHECK_INT(hook_payload(buf, 30, "b", 1, EVENT_UNKNOWN), 0);
	CHECK_INT(hook_payload(buf, 31, "b", 1, EVENT_UNKNOWN), 30);
	/* The longest name of a cluster has room. */
	memset(cluster, 'c', sizeof(cluster) - 1);
	cluster[sizeof(cluster) - 1] = '\0';
	CHECK(hook_payload(buf, sizeof(buf), cluster, UINT32_MAX, EVENT_START) >
	    0);
}

int
main(void)
{
	test_form();
	test_kind();
	test_payload();
	return check_done();
}
