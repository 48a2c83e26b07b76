/* SPDX-License-Identifier: MIT */
/* Who may connect, and how often. */
#include "config.h"

#include <arpa/inet.h>

#include "listener/listener.h"
#include "tests/unit/check.h"

static struct peer
host(const char *text)
{
	struct peer peer = { .local = 0 };
	struct in_addr v4;

	if (inet_pton(AF_INET, text, &v4) == 1) {
		peer.addr[10] = peer.addr[11] = 0xff;
		memcpy(peer.addr + 12, &v4, 4);
	} else
		CHECK_INT(inet_pton(AF_INET6, text, peer.addr), 1);
	return peer;
}

static int
is_allowed(const struct access_list *access, const char *text)
{
	struct peer peer = host(text);

	return access_allows(access, &peer);
}

static void
test_lists(void)
{
	static const char *const bad[] = { "[\"10.1.2\"]", "[\"10.0.0.0/33\"]",
		"[\"::/129\"]", "[\"10.0.0.0/\"]", "[\"10.0.0.0/x\"]",
		"[\"example.org\"]", "[\"\"]", "[\"10.0.0.0/-1\"]" };
	struct peer peer = { .local = 1, .uid = 64030 };
	struct access_list access;
	char reason[256];
	size_t i;

	CHECK_INT(access_init(&access, "[\"0\",\"64030\"]",
		      "[\"10.1.0.0/16\",\"192.0.2.7\",\"2001:db8::/33\"]",
		      reason, sizeof(reason)),
	    0);
	CHECK_INT(access_allows(&access, &peer), 1);
	peer.uid = 1000;
	CHECK_INT(access_allows(&access, &peer), 0);
	CHECK_INT(is_allowed(&access, "127.0.0.1"), 1);
	CHECK_INT(is_allowed(&access, "127.200.0.1"), 1);
	CHECK_INT(is_allowed(&access, "::1"), 1);
	CHECK_INT(is_allowed(&access, "10.1.255.255"), 1);
	CHECK_INT(is_allowed(&access, "10.2.0.0"), 0);
	CHECK_INT(is_allowed(&access, "192.0.2.7"), 1);
	CHECK_INT(is_allowed(&access, "192.0.2.6"), 0);
	CHECK_INT(is_allowed(&access, "2001:db8:7fff::1"), 1);
	CHECK_INT(is_allowed(&access, "2001:db8:8000::1"), 0);
	CHECK_INT(is_allowed(&access, "::"), 0);
	peer = host("198.51.100.9");
	CHECK_INT(access_allows(&access, &peer), 0);
	peer.own_host = 1;
	CHECK_INT(access_allows(&access, &peer), 1);
	access_clear(&access);
	CHECK_INT(is_allowed(&access, "10.1.0.1"), 0);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		CHECK_INT(access_init(&access, "[]", bad[i], reason,
			      sizeof(reason)),
		    -1);
		CHECK(strstr(reason, "prepAllowedHosts") != NULL);
	}
	CHECK_INT(access_init(&access, "[\"slurm\"]", "[]", reason,
		      sizeof(reason)),
	    -1);
	CHECK(strstr(reason, "slurm") != NULL);
	CHECK_INT(access_init(&access, "[]", "[\"0.0.0.0/0\"]", reason,
		      sizeof(reason)),
	    0);
	CHECK_INT(is_allowed(&access, "203.0.113.9"), 1);
	CHECK_INT(is_allowed(&access, "2001:db8::1"), 0);
	access_clear(&access);
}

static int
take_many(struct rate_table *rate, const struct peer *peer, int64_t now, int n)
{
	int taken = 0;

	while (n-- > 0)
		taken += rate_take(rate, peer, now);
	return taken;
}

static void
test_rate(void)
{
	static struct rate_table rate;
	struct peer peer = { .local = 1, .uid = 1 }, other = { .local = 1 };
	uid_t uid;

	CHECK_INT(take_many(&rate, &peer, 1, RATE_BURST + 500), RATE_BURST);
	CHECK_INT(take_many(&rate, &peer, 11, 500),
	    10 * RATE_PER_SECOND / 1000);
	CHECK_INT(take_many(&rate, &other, 11, 500), 500);
	/* After a long pause the burst is allowed again, and no more. */
	CHECK_INT(take_many(&rate, &peer, 1 << 30, RATE_BURST + 500),
	    RATE_BURST);
	/* The peer whose last message is the oldest makes room. */
	for (uid = 100; uid < 100 + 3 * RATE_PEERS; uid++) {
		other.uid = uid;
		CHECK_INT(rate_take(&rate, &other, (1 << 30) + uid), 1);
	}
}

/* A local user has all addresses of the host, but one rate. */
static void
test_rate_of_host(void)
{
	static struct rate_table rate;
	struct peer own = host("198.51.100.9"), remote = host("198.51.100.7");
	struct peer a = host("127.0.0.1"), b = host("127.9.9.9");

	own.own_host = 1;
	CHECK_INT(take_many(&rate, &a, 1, RATE_BURST), RATE_BURST);
	CHECK_INT(take_many(&rate, &b, 1, 500), 0);
	CHECK_INT(take_many(&rate, &own, 1, 500), 0);
	CHECK_INT(take_many(&rate, &remote, 1, 500), 500);
}

int
main(void)
{
	test_rate_of_host();
	test_lists();
	test_rate();
	return check_done();
}
