/* SPDX-License-Identifier: MIT */
/* Hosts and ports of ccRestUrl and natsServer. */
#include "config.h"

#include "common/model/destination.h"
#include "tests/unit/check.h"

static void
check_url(const char *url, const char *host, unsigned port, int tls)
{
	struct destination d;

	CHECK_INT(destination_parse_url(&d, url), 0);
	CHECK_STR(d.host, host);
	CHECK_INT(d.port, port);
	CHECK_INT(d.tls, tls);
}

static void
test_url(void)
{
	static const char *const bad[] = { "ftp://a", "http://", "https://:1",
		"http://a:0", "http://a:70000", "http://[::1", "" };
	struct destination d;
	size_t i;

	check_url("http://cc", "cc", 80, 0);
	check_url("HTTPS://cc/x:9/", "cc", 443, 1);
	check_url("https://cc:8080/x", "cc", 8080, 1);
	check_url("https://u:p@cc:8080", "cc", 8080, 1);
	check_url("http://[::1]:81/", "::1", 81, 0);
	check_url("http://[2001:db8::1]/", "2001:db8::1", 80, 0);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CHECK_INT(destination_parse_url(&d, bad[i]), -1);
}

static void
check_server(const char *text, const char *host, unsigned port, int tls)
{
	struct destination d;

	CHECK_INT(destination_parse(&d, text, 4222, 0), 0);
	CHECK_STR(d.host, host);
	CHECK_INT(d.port, port);
	CHECK_INT(d.tls, tls);
}

static void
test_server(void)
{
	struct destination d;

	check_server("n1", "n1", 4222, 0);
	check_server("n1:1", "n1", 1, 0);
	check_server("tls://[::1]:5/", "::1", 5, 1);
	check_server("nats://n1", "n1", 4222, 0);
	CHECK_INT(destination_parse(&d, "n1:0", 4222, 0), -1);
	CHECK_INT(destination_parse(&d, "u@n1", 4222, 0), -1);
	CHECK_INT(destination_in_clear(&d, "n1", 4222, 1), 0);
	CHECK_INT(destination_in_clear(&d, "127.0.0.1, tls://n1", 4222, 0), 0);
	CHECK_INT(destination_in_clear(&d, "tls://n1, n2", 4222, 0), 1);
	CHECK_STR(d.host, "n2");
	CHECK_INT(destination_in_clear(&d, "", 4222, 0), 0);
}

static void
test_local(void)
{
	CHECK_INT(host_is_local("localhost"), 1);
	CHECK_INT(host_is_local("127.8.9.1"), 1);
	CHECK_INT(host_is_local("::1"), 1);
	CHECK_INT(host_is_local("::"), 0);
	CHECK_INT(host_is_local(""), 0);
	CHECK_INT(host_is_local("128.0.0.1"), 0);
}

int
main(void)
{
	test_url();
	test_server();
	test_local();
	return check_done();
}
