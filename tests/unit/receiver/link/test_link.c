/* SPDX-License-Identifier: MIT */
/*
 * The receiver's connection to a broker of the test on loopback, which speaks as
 * much of NATS' protocol as libnats needs.  The broker denies the subscription to
 * the inbox, and ends it later.
 */
#include "config.h"

#include <sys/socket.h>

#include <netinet/in.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/listener.h>

#include "common/nats/nats_broker.h"
#include "common/net/resolver.h"
#include "receiver/link/link.h"
#include "tests/unit/check.h"
#include "tests/unit/loop.h"

#define DENIED "the broker does not permit the subscription to _INBOX_centre.>"

static struct event_base *base;
static struct link *receiver;
static int port;

/* The broker. */
static int denies; /* the subscription to the inbox */
static unsigned subs;
static struct bufferevent *peer; /* the last connection */
static char inbox[128], sid[16]; /* of the last subscription */

/* The owner of the link. */
static int up;
static unsigned ups, downs, messages;
static char tail[64];

static void
violation(const char *what, const char *subject)
{
	evbuffer_add_printf(bufferevent_get_output(peer),
	    "-ERR 'Permissions Violation for %s to \"%s\"'\r\n", what, subject);
}

/* A message to publish comes as two lines; its bytes are no command. */
static void
on_line(const char *line)
{
	struct evbuffer *out = bufferevent_get_output(peer);
	char subject[64], to[128];

	if (strcmp(line, "PING") == 0)
		evbuffer_add_printf(out, "PONG\r\n");
	else if (sscanf(line, "SUB %127s %15s", inbox, sid) == 2) {
		subs++;
		if (denies)
			violation("Subscription", inbox);
	} else if (sscanf(line, "PUB %63s %127s %*u", subject, to) == 2 &&
	    strncmp(to, "_INBOX_centre.", 14) == 0)
		evbuffer_add_printf(out, "MSG %s %s 2\r\nok\r\n", to, sid);
}

static void
on_read(struct bufferevent *bev, void *arg)
{
	struct evbuffer *in = bufferevent_get_input(bev);
	char *line;

	(void)arg;
	while ((line = evbuffer_readln(in, NULL, EVBUFFER_EOL_CRLF)) != NULL) {
		on_line(line);
		free(line);
	}
}

static void
on_event(struct bufferevent *bev, short what, void *arg)
{
	(void)arg;
	if (what & (BEV_EVENT_EOF | BEV_EVENT_ERROR))
		bufferevent_free(bev);
}

static void
on_accept(struct evconnlistener *l, evutil_socket_t fd, struct sockaddr *sa,
    int len, void *arg)
{
	(void)l;
	(void)sa;
	(void)len;
	(void)arg;
	peer = bufferevent_socket_new(base, fd, BEV_OPT_CLOSE_ON_FREE);
	bufferevent_setcb(peer, on_read, NULL, on_event, NULL);
	bufferevent_enable(peer, EV_READ | EV_WRITE);
	evbuffer_add_printf(bufferevent_get_output(peer),
	    "INFO {\"server_id\":\"test\",\"version\":\"2.9.0\",\"proto\":1,"
	    "\"headers\":true,\"max_payload\":2048}\r\n");
}

static void
on_message(const struct link_message *m, void *arg)
{
	(void)arg;
	messages++;
	snprintf(tail, sizeof(tail), "%s", m->tail != NULL ? m->tail : "");
}

static void
on_turn(void *arg)
{
	(void)arg;
}

static void
on_changed(int is_up, void *arg)
{
	(void)arg;
	CHECK(is_up != up);
	up = is_up;
	ups += is_up != 0;
	downs += is_up == 0;
}

static const struct link_ops ops = {
	.message = on_message,
	.turn = on_turn,
	.changed = on_changed,
};

static void
use(void)
{
	char reason[256], server[64];
	struct nats_conf *nc;
	struct conf conf;

	conf_init(&conf);
	snprintf(server, sizeof(server), "127.0.0.1:%d", port);
	conf_set(&conf, CONF_NATS_SERVER, server);
	nc = nats_conf_new(&conf, NULL, 0, reason, sizeof(reason));
	CHECK(nc != NULL);
	link_use(receiver, nc);
	conf_clear(&conf);
}

static const char *
status(void)
{
	static struct nats_broker_status st;

	link_status(receiver, &st);
	return st.text;
}

/* A request gets its answer. */
static void
check_request(void)
{
	unsigned before = messages;

	CHECK_INT(link_publish(receiver, "$JS.API.INFO", "1.7", "x", 1), 0);
	LOOP_UNTIL(base, messages >= before + 1);
	CHECK_STR(tail, "1.7");
}

/* Without its subscription no request is answered: a new connection makes it. */
static void
check_denied(void)
{
	denies = 1;
	use();
	LOOP_UNTIL(base, subs >= 1);
	/* The broker gets the permission. */
	denies = 0;
	LOOP_UNTIL(base, ups >= 1);
	CHECK_INT(subs, 2);
	CHECK_INT(downs, 0);
	check_request();
}

/* A subject that is not permitted says nothing about the inbox. */
static void
check_other_subject(void)
{
	violation("Publish", "cc.ask.beta");
	check_request();
	check_request();
	CHECK_INT(downs, 0);
}

/*
 * A reload of the broker takes the permission away, and gives it back.  A later
 * violation does not hide that of the inbox.
 */
static void
check_ended(void)
{
	link_worked(receiver);
	denies = 1;
	violation("Subscription", inbox);
	violation("Publish", "cc.ask.beta");
	LOOP_UNTIL(base, downs >= 1);
	CHECK(strstr(status(), DENIED) != NULL);
	LOOP_UNTIL(base, subs >= 3);
	denies = 0;
	LOOP_UNTIL(base, ups >= 2);
	CHECK_INT(subs, 4);
	CHECK_INT(downs, 1);
	check_request();
}

int
main(void)
{
	struct sockaddr_in sin = { .sin_family = AF_INET };
	socklen_t len = sizeof(sin);
	struct evconnlistener *listener;
	struct resolver *names;
	int rc;

	signal(SIGPIPE, SIG_IGN);
	alarm(300); /* only a failure reaches it */
	sin.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	nats_prepare();
	base = event_base_new();
	names = resolver_new(base);
	receiver = link_new(base, names, &ops, NULL);
	listener = evconnlistener_new_bind(base, on_accept, NULL,
	    LEV_OPT_CLOSE_ON_FREE, 8, (struct sockaddr *)&sin, sizeof(sin));
	CHECK(names != NULL && receiver != NULL && listener != NULL);
	CHECK(getsockname(evconnlistener_get_fd(listener),
		  (struct sockaddr *)&sin, &len) == 0);
	port = ntohs(sin.sin_port);
	check_denied();
	check_other_subject();
	check_ended();
	link_free(receiver);
	resolver_free(names);
	rc = check_done();
	fflush(stdout);
	/* libnats and OpenSSL must not run their exit functions together. */
	_exit(rc);
}
