/* SPDX-License-Identifier: MIT */
/*
 * Resolves names with a name server of the test on loopback, in the same event
 * loop: answers, failures, timeouts, cancelled queries.
 */
#include "config.h"

#include <sys/socket.h>

#include <arpa/inet.h>
#include <stdlib.h>
#include <strings.h>
#include <unistd.h>

#include <event2/dns.h>
#include <event2/dns_struct.h>
#include <event2/event.h>
#include <event2/util.h>

#include "common/net/resolver.h"
#include "tests/unit/check.h"

#define TIMEOUT_S 5 /* for the answers; on a busy machine, too */

static struct event_base *base;
static unsigned asked; /* DNS queries that the server received */
static int silent;
static char given[512]; /* the last answer */
static unsigned answers;

/* More than 512 bytes: the server truncates the answer. */
static void
many_reply(struct evdns_server_request *req,
    const struct evdns_server_question *q)
{
	in_addr_t v4[40];
	unsigned char v6[40 * 16] = { 0 };
	int i, n = *q->name == 'm' ? 40 : 1;

	for (i = 0; i < 40; i++) {
		v4[i] = htonl(0x7f000100 + (unsigned)i);
		v6[16 * i] = 0xfd;
		v6[16 * i + 15] = (unsigned char)i;
	}
	if (q->type == EVDNS_TYPE_A)
		evdns_server_request_add_a_reply(req, q->name, 40, v4, 1);
	else
		evdns_server_request_add_aaaa_reply(req, q->name, n, v6, 1);
	evdns_server_request_respond(req, 0);
}

/* An answer of the server: an address of one family, or an error. */
static const struct row {
	const char *name;
	const char *v4, *v6;
	int error;
} rows[] = {
	{ "cc.one.example", "127.0.0.4", NULL, 0 },
	{ "cc.two.example", "127.0.0.5", NULL, 0 },
	{ "a.b", "127.0.0.7", NULL, 0 },
	{ "a.b.one.example", "127.0.0.4", NULL, 0 },
	{ "mon.example", "127.0.0.6", NULL, 0 },
	{ "mon.example.one.example", NULL, "fd00::6", 0 },
	{ "six.example", NULL, "fd00::7", 0 },
	{ "six.example.one.example", "127.0.0.6", NULL, 0 },
	{ "text.one.example", NULL, NULL, 0 },
	{ "text.two.example", "127.0.0.8", NULL, 0 },
	{ "bad.one.example", NULL, NULL, 2 },
	{ "bad.two.example", "127.0.0.9", NULL, 0 },
	{ "far.off", NULL, NULL, 5 },
	{ "far.off.one.example", "127.0.0.9", NULL, 0 },
	{ "lame.example", NULL, NULL, 2 },
	{ "refused.example", NULL, NULL, 5 },
	{ "v4.half", "127.0.0.12", NULL, 0 },
};

/* The second server does not know the names of the site. */
static const struct row public_rows[] = {
	{ "public.example", "127.0.0.10", NULL, 0 },
	{ "lame.example", "127.0.0.10", NULL, 0 },
	{ "refused.example", "127.0.0.10", NULL, 0 },
	{ "deep.two.example", "127.0.0.10", NULL, 0 },
	{ "cc.other.example", "127.0.0.11", NULL, 0 },
};
#define ROWS(rows) rows, sizeof(rows) / sizeof(rows[0])
static unsigned public_asked;

static void
row_reply(struct evdns_server_request *req,
    const struct evdns_server_question *q, const struct row *row)
{
	unsigned char address[16];

	if (q->type == EVDNS_TYPE_A && row->v4 != NULL) {
		inet_pton(AF_INET, row->v4, address);
		evdns_server_request_add_a_reply(req, q->name, 1, address, 1);
	} else if (q->type == EVDNS_TYPE_AAAA && row->v6 != NULL) {
		inet_pton(AF_INET6, row->v6, address);
		evdns_server_request_add_aaaa_reply(req, q->name, 1, address,
		    1);
	}
	evdns_server_request_respond(req, row->error);
}

static const struct row *
row_find(const struct row *row, size_t n, const char *name)
{
	for (; n > 0; n--, row++)
		if (strcasecmp(name, row->name) == 0)
			return row;
	return NULL;
}

static void
on_public(struct evdns_server_request *req, void *arg)
{
	struct evdns_server_question *q = req->questions[0];
	const struct row *row = row_find(ROWS(public_rows), q->name);

	(void)arg;
	public_asked++;
	if (row != NULL)
		row_reply(req, q, row);
	else
		evdns_server_request_respond(req, 3);
}

static void
on_question(struct evdns_server_request *req, void *arg)
{
	struct evdns_server_question *q = req->questions[0];
	unsigned char v6[16] = { 0xfd };
	in_addr_t v4[2] = { htonl(0x7f000002), htonl(0x7f000003) };

	(void)arg;
	asked++;
	v6[15] = 9;
	if (silent ||
	    (q->type == EVDNS_TYPE_AAAA &&
		strcasecmp(q->name, "v4.half") == 0)) {
		evdns_server_request_drop(req);
		return;
	}
	if (strcasecmp(q->name, "both.example") == 0 ||
	    strcasecmp(q->name, "short.lab.example") == 0) {
		if (q->type == EVDNS_TYPE_A)
			evdns_server_request_add_a_reply(req, q->name, 2, v4,
			    1);
		else
			evdns_server_request_add_aaaa_reply(req, q->name, 1, v6,
			    1);
		evdns_server_request_respond(req, 0);
	} else if (strcasecmp(q->name, "many.example") == 0 ||
	    strcasecmp(q->name, "half.example") == 0) {
		many_reply(req, q);
	} else if (row_find(ROWS(rows), q->name) != NULL) {
		row_reply(req, q, row_find(ROWS(rows), q->name));
	} else if (strcasecmp(q->name, "broken.example") == 0)
		evdns_server_request_respond(req, 2);
	else
		evdns_server_request_respond(req, 3);
}

static void
on_name(const struct resolver_answer *a, void *arg)
{
	size_t len = 0;
	unsigned i;

	answers++;
	snprintf(given, sizeof(given), "%s", a->why != NULL ? a->why : "");
	for (i = 0; i < a->n; i++)
		len += (size_t)snprintf(given + len, sizeof(given) - len,
		    "%s%s", i != 0 ? " " : "", a->addrs[i]);
	if (arg != NULL)
		event_base_loopbreak(base);
}

/* The answer as text. */
static const char *
asked_for(struct resolver *n, const char *host)
{
	struct timeval tv = { 20, 0 };

	given[0] = '\0';
	if (resolver_resolve(n, host, on_name, n) != NULL) {
		event_base_loopexit(base, &tv);
		event_base_dispatch(base);
	}
	return given;
}

static int
server_start(struct evdns_server_port **port, evdns_request_callback_fn_type fn)
{
	struct sockaddr_in sin;
	socklen_t len = sizeof(sin);
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0);

	memset(&sin, 0, sizeof(sin));
	sin.sin_family = AF_INET;
	sin.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (fd == -1 || bind(fd, (struct sockaddr *)&sin, sizeof(sin)) == -1 ||
	    getsockname(fd, (struct sockaddr *)&sin, &len) == -1)
		return -1;
	*port = evdns_add_server_port_with_base(base, fd, 0, fn, NULL);
	return ntohs(sin.sin_port);
}

static void
use(struct resolver *n, const char *text)
{
	resolver_file(n, MSG_FILE_RESOLV_CONF, (const uint8_t *)text,
	    strlen(text));
}

static void
check_local(struct resolver *n)
{
	static const char hosts[] =
	    "# comment\n127.0.0.1 localhost\n"
	    "::1 localhost ip6-localhost\n10.0.0.7\tbackend.example backend # x"
	    "\n10.0.0.8 other backend\nfd00::7 backend\nnonsense bad\n"
	    "10.1.1.1 last";

	CHECK_STR(asked_for(n, "192.0.2.1"), "192.0.2.1");
	CHECK_STR(asked_for(n, "::1"), "::1");
	CHECK_STR(asked_for(n, "[fd00::0001]"), "fd00::1");
	CHECK_STR(asked_for(n, "localhost"), "127.0.0.1 ::1");
	CHECK_STR(asked_for(n, "backend"), "resolv.conf was not received yet");
	CHECK_STR(asked_for(n, ""), "not a host name");
	CHECK_STR(asked_for(n, "a b"), "not a host name");
	CHECK_STR(asked_for(n, "a%s\n"), "not a host name");
	resolver_file(n, MSG_FILE_HOSTS, (const uint8_t *)hosts,
	    sizeof(hosts) - 1);
	CHECK_STR(asked_for(n, "Backend"), "10.0.0.7 10.0.0.8 fd00::7");
	CHECK_STR(asked_for(n, "backend"), "10.0.0.7 10.0.0.8 fd00::7");
	CHECK_STR(asked_for(n, "last"), "10.1.1.1");
	CHECK_STR(asked_for(n, "bad"), "resolv.conf was not received yet");
	CHECK_STR(asked_for(n, "x"), "resolv.conf was not received yet");
	resolver_file(n, MSG_FILE_HOSTS, (const uint8_t *)"10.0.0.9 backend",
	    16);
	CHECK_STR(asked_for(n, "backend"), "10.0.0.9");
}

/* Truncated answers: the other family's is used, else the reason. */
static void
check_long(struct resolver *n)
{
	const char *text = asked_for(n, "half.example");

	if (strcmp(text, "fd00::") == 0) {
		CHECK(strstr(asked_for(n, "many.example"), "one datagram") !=
		    NULL);
	} else /* libevent 2.2 repeats by TCP and gets no answer here */
		CHECK(*text != '\0');
}

/* The time that the server has for an answer, in seconds. */
static void
use_server(struct resolver *n, int port, int timeout)
{
	char text[256];

	snprintf(text, sizeof(text),
	    "search lab.example\n"
	    "nameserver 127.0.0.1:%d\noptions timeout:%d attempts:1\n",
	    port, timeout);
	use(n, text);
}

static void
check_asked(struct resolver *n, int port)
{
	struct resolver_query *a, *b;
	unsigned i;

	use_server(n, port, TIMEOUT_S);
	CHECK_STR(asked_for(n, "both.example"), "127.0.0.2 127.0.0.3 fd00::9");
	CHECK_INT(asked, 2);
	CHECK_STR(asked_for(n, "both.example"), "127.0.0.2 127.0.0.3 fd00::9");
	CHECK_INT(asked, 2); /* cached longer than 1 s */
	CHECK_STR(asked_for(n, "both.example."), "127.0.0.2 127.0.0.3 fd00::9");
	CHECK_STR(asked_for(n, "short"), "127.0.0.2 127.0.0.3 fd00::9");
	CHECK(strcmp(asked_for(n, "none.example"), "") != 0);
	i = asked;
	CHECK(strcmp(asked_for(n, "none.example"), "") != 0);
	CHECK_INT(asked, i); /* a failure is cached, too */
	CHECK(strcmp(asked_for(n, "broken.example"), "") != 0);
	check_long(n);
	/* Two queries for one name, one is cancelled. */
	resolver_forget(n, "both.example");
	i = asked;
	answers = 0;
	a = resolver_resolve(n, "both.example", on_name, NULL);
	b = resolver_resolve(n, "both.example", on_name, n);
	CHECK(a != NULL && b != NULL);
	resolver_cancel(a);
	event_base_dispatch(base);
	CHECK_INT(answers, 1);
	CHECK_INT(asked, i + 2);
}

/* The search list, asked for both address families of one name at a time. */
static void
check_search(struct resolver *n, int port)
{
	char text[256];

	snprintf(text, sizeof(text),
	    "search one.example. two.example\nnameserver 127.0.0.1:%d\n"
	    "options timeout:%d attempts:1\n",
	    port, TIMEOUT_S);
	use(n, text);
	CHECK_STR(asked_for(n, "cc"), "127.0.0.4");
	CHECK_STR(asked_for(n, "cc.two.example"), "127.0.0.5");
	CHECK_STR(asked_for(n, "a.b"), "127.0.0.7");
	/* The other family of the name has an address in the search list. */
	CHECK_STR(asked_for(n, "mon.example"), "127.0.0.6");
	CHECK_STR(asked_for(n, "six.example"), "fd00::7");
	/* The name exists without an address. */
	CHECK_STR(asked_for(n, "text"), "127.0.0.8");
	/* After a failure, the next name could be another host. */
	CHECK(strstr(asked_for(n, "bad"), "127.") == NULL);
	CHECK_STR(asked_for(n, "far.off"), "127.0.0.9");
	CHECK_STR(asked_for(n, "cc."), "name does not exist");
	/* options before search */
	snprintf(text, sizeof(text),
	    "options ndots:2\nsearch one.example two.example\n"
	    "nameserver 127.0.0.1:%d\n",
	    port);
	use(n, text);
	CHECK_STR(asked_for(n, "a.b"), "127.0.0.4");
	CHECK_STR(asked_for(n, "a.b."), "127.0.0.7");
	CHECK_STR(asked_for(n, "cc.two.example"), "127.0.0.5");
	/* A later search list replaces the first one; the root is a domain. */
	snprintf(text, sizeof(text),
	    "search one.example\nsearch . two.example\n"
	    "nameserver 127.0.0.1:%d\n",
	    port);
	use(n, text);
	CHECK_STR(asked_for(n, "cc"), "127.0.0.5");
	/* The seventh domain is ignored. */
	snprintf(text, sizeof(text),
	    "search a b c d e two.example one.example\n"
	    "nameserver 127.0.0.1:%d\n",
	    port);
	use(n, text);
	CHECK_STR(asked_for(n, "cc"), "127.0.0.5");
}

static void
use_two(struct resolver *n, const char *search, int port, int port2,
    int timeout)
{
	char text[256];

	snprintf(text, sizeof(text),
	    "search %s\nnameserver 127.0.0.1:%d\nnameserver 127.0.0.1:%d\n"
	    "options timeout:%d attempts:1\n",
	    search, port, port2, timeout);
	use(n, text);
}

/* The second server is asked only when the first one fails. */
static void
check_servers(struct resolver *n, int port, int port2)
{
	use_two(n, "one.example", port, port2, TIMEOUT_S);
	CHECK_STR(asked_for(n, "cc"), "127.0.0.4");
	CHECK_STR(asked_for(n, "cc.two.example"), "127.0.0.5");
	CHECK_STR(asked_for(n, "six.example"), "fd00::7");
	CHECK_STR(asked_for(n, "public.example"), "name does not exist");
	CHECK_INT(public_asked, 0);
	CHECK_STR(asked_for(n, "lame.example"), "127.0.0.10");
	CHECK_STR(asked_for(n, "refused.example"), "127.0.0.10");
	CHECK_INT(public_asked, 4);
	CHECK_STR(asked_for(n, "mon.example"), "127.0.0.6");
	CHECK_INT(public_asked, 4);
	/* The first server fails: the second one denies a known name. */
	silent = 1;
	use_two(n, "one.example other.example", port, port2, 1);
	CHECK_STR(asked_for(n, "cc"), "127.0.0.4");
	CHECK_STR(asked_for(n, "nowhere.example"), "name does not exist");
	/* A timeout for the first of three names only. */
	asked = 0;
	use_two(n, "a one.example two.example", port, port2, 1);
	CHECK_STR(asked_for(n, "deep"), "127.0.0.10");
	CHECK_INT(asked, 2);
	silent = 0;
	CHECK_STR(asked_for(n, "a.b"), "127.0.0.7");
}

/* No answer for one family: the next lookup begins after its time. */
static void
check_late(struct resolver *n, int port)
{
	use_server(n, port, 2);
	CHECK_STR(asked_for(n, "v4.half"), "127.0.0.12");
	resolver_forget(n, "v4.half");
	asked = 0;
	CHECK_STR(asked_for(n, "v4.half"), "127.0.0.12");
	CHECK_INT(asked, 2);
}

/* A changed resolv.conf: a lookup that runs asks the new server. */
static void
check_changed(struct resolver *n, int port)
{
	use(n, "nameserver 192.0.2.1\n");
	answers = 0;
	CHECK(resolver_resolve(n, "cc.one.example", on_name, n) != NULL);
	use_server(n, port, TIMEOUT_S);
	event_base_dispatch(base);
	CHECK_INT(answers, 1);
	CHECK_STR(given, "127.0.0.4");
}

/* A server without answers: the last good answer stays valid. */
static void
check_silent(struct resolver *n, int port)
{
	char name[32];
	int i;

	use_server(n, port, 1);
	silent = 1;
	resolver_forget(n, "both.example");
	CHECK_STR(asked_for(n, "both.example"), "127.0.0.2 127.0.0.3 fd00::9");
	CHECK_STR(asked_for(n, "unknown.example"), "no name server answers");
	/* A new hosts file answers a query that waits for the server. */
	answers = 0;
	CHECK(resolver_resolve(n, "moved.example", on_name, NULL) != NULL);
	CHECK(resolver_resolve(n, "stays.example", on_name, NULL) != NULL);
	resolver_file(n, MSG_FILE_HOSTS,
	    (const uint8_t *)"10.0.0.7 moved.example", 22);
	CHECK_INT(answers, 1);
	CHECK_STR(given, "10.0.0.7");
	CHECK_STR(asked_for(n, "moved.example"), "10.0.0.7");
	CHECK_STR(asked_for(n, "stays.example"), "no name server answers");
	silent = 0;
	use_server(n, port, TIMEOUT_S);
	/* More names than entries. */
	for (i = 0; i < 100; i++) {
		snprintf(name, sizeof(name), "h%d.example", i);
		CHECK(strcmp(asked_for(n, name), "") != 0);
	}
	resolver_forget(n, "both.example");
	CHECK_STR(asked_for(n, "both.example"), "127.0.0.2 127.0.0.3 fd00::9");
	/* A query that runs while the resolver is freed. */
	silent = 1;
	resolver_resolve(n, "late.example", on_name, NULL);
}

int
main(void)
{
	struct evdns_server_port *server = NULL, *server2 = NULL;
	struct resolver *n;
	int port, port2;

	resolver_prepare();
	base = event_base_new();
	n = resolver_new(base);
	port = server_start(&server, on_question);
	port2 = server_start(&server2, on_public);
	CHECK(port > 0 && port2 > 0 && n != NULL);
	check_local(n);
	check_asked(n, port);
	use(n, "nonsense\nnameserver not-an-address\n");
	asked = 0;
	check_asked(n, port);
	check_search(n, port);
	check_servers(n, port, port2);
	check_late(n, port);
	check_changed(n, port);
	check_silent(n, port);
	resolver_free(n);
	resolver_free(NULL);
	evdns_close_server_port(server);
	evdns_close_server_port(server2);
	event_base_free(base);
	return check_done();
}
