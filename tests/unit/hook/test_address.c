/* SPDX-License-Identifier: MIT */
/* The forms of prepSockConnectPath. */
#include "config.h"

#include <arpa/inet.h>

#include "hook/hook.h"
#include "tests/unit/check.h"

/* The k-th address. */
static void
check_at(const struct address_list *list, unsigned k, const char *want,
    int port)
{
	const struct address *a = &list->at[k];
	char buf[64] = "";

	CHECK(k < list->n);
	if (a->to.sa.sa_family == AF_INET) {
		CHECK_INT(ntohs(a->to.in.sin_port), port);
		CHECK_INT(a->len, sizeof(struct sockaddr_in));
		inet_ntop(AF_INET, &a->to.in.sin_addr, buf, sizeof(buf));
	} else {
		CHECK_INT(a->to.sa.sa_family, AF_INET6);
		CHECK_INT(ntohs(a->to.in6.sin6_port), port);
		CHECK_INT(a->len, sizeof(struct sockaddr_in6));
		inet_ntop(AF_INET6, &a->to.in6.sin6_addr, buf, sizeof(buf));
	}
	CHECK_STR(buf, want);
}

static void
check_tcp(const char *text, const char *want, int port)
{
	struct address_list list;

	CHECK_STR(address_parse(text, &list), NULL);
	CHECK_INT(list.n, 1);
	check_at(&list, 0, want, port);
}

/* This host has two addresses. */
static void
check_this_host(const char *text, int port)
{
	struct address_list list;

	CHECK_STR(address_parse(text, &list), NULL);
	CHECK_INT(list.n, 2);
	check_at(&list, 0, "127.0.0.1", port);
	check_at(&list, 1, "::1", port);
}

static void
test_addresses(void)
{
	static const char *const bad[] = { "", "unix:", "tcp:", "tcp:5",
		"tcp::", "tcp::0", "tcp::65536", "tcp:127.0.0.1:5x",
		"tcp:::1:5", "tcp:[::1]", "tcp:[nonsense]:5", "tcp4:[::1]:5",
		"tcp6:1.2.3.4:5", "tcp4:" };
	struct address_list a;
	char path[200];
	size_t i;

	check_tcp("tcp:1.2.3.4:5", "1.2.3.4", 5);
	check_tcp("TCP:1.2.3.4:5", "1.2.3.4", 5);
	check_tcp("tcp:[::1]:65535", "::1", 65535);
	check_tcp("tcp:[::]:8260", "::", 8260);
	check_this_host("tcp::8260", 8260);
	check_this_host("tcp:localhost:8260", 8260);
	check_tcp("tcp4:1.2.3.4:5", "1.2.3.4", 5);
	check_tcp("TCP6:[::1]:5", "::1", 5);
	check_tcp("tcp4::8260", "127.0.0.1", 8260);
	check_tcp("tcp6::8260", "::1", 8260);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CHECK(address_parse(bad[i], &a) != NULL);
	CHECK_STR(address_parse("UNIX:/run/x", &a), NULL);
	CHECK_STR(a.at[0].to.un.sun_path, "/run/x");
	CHECK_STR(address_parse("unix:/run/x", &a), NULL);
	CHECK_STR(a.at[0].to.un.sun_path, "/run/x");
	CHECK_STR(address_parse("/run/y", &a), NULL);
	CHECK_STR(a.at[0].to.un.sun_path, "/run/y");
	CHECK_STR(address_parse("@z", &a), NULL);
	CHECK(a.at[0].to.un.sun_path[0] == '\0' &&
	    a.at[0].to.un.sun_path[1] == 'z');
	CHECK_INT(a.n, 1);
	CHECK_INT(a.at[0].len, offsetof(struct sockaddr_un, sun_path) + 2);
	memset(path, 'a', sizeof(path) - 1);
	path[sizeof(path) - 1] = '\0';
	CHECK(address_parse(path, &a) != NULL);
}

int
main(void)
{
	test_addresses();
	return check_done();
}
