/* SPDX-License-Identifier: MIT */
/*
 * Connections to the metrics: a page, one scrape for many requests, errors, a
 * client that goes before its answer, and more clients than places.  The
 * linker puts the test's clock_ms() into the server: the page stays young and
 * a connection stays open for as long as the machine needs.
 */
#include "config.h"

#include <sys/socket.h>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <unistd.h>

#include <event2/event.h>

#include "common/model/ctl.h"
#include "exporter/exporter.h"
#include "tests/unit/check.h"
#include "tests/unit/loop.h"

#define SWEEP_MS 300 /* more than between two checks of the connections */
#define GET	 "GET /metrics HTTP/1.1\r\nHost: x\r\n"

static struct event_base *base;
static struct metrics_server *server;
static struct sockaddr_in where = { .sin_family = AF_INET };
static int scrapes, refuses;
static long long now_ms = 1; /* the server's clock */

long long __wrap_clock_ms(void);

long long
__wrap_clock_ms(void)
{
	return now_ms;
}

static int
on_scrape(void *arg)
{
	scrapes++;
	return refuses ? -1 : 0;
}

static void
begin(void)
{
	socklen_t len = sizeof(where);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	where.sin_port = 0;
	where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	CHECK(bind(fd, (struct sockaddr *)&where, sizeof(where)) == 0 &&
	    listen(fd, 128) == 0 &&
	    getsockname(fd, (struct sockaddr *)&where, &len) == 0);
	base = event_base_new();
	server = metrics_server_new(base, CONNECTION_MS, on_scrape, NULL);
	scrapes = refuses = 0;
	CHECK_INT(metrics_server_listen(server, fd), 0);
}

static void
end(void)
{
	metrics_server_free(server);
	event_base_free(base);
}

static struct metrics_counts
counts(void)
{
	struct metrics_counts n;

	metrics_server_counts(server, &n);
	return n;
}

static int
client(const char *request)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	CHECK_INT(connect(fd, (struct sockaddr *)&where, sizeof(where)), 0);
	CHECK_INT(write(fd, request, strlen(request)), (int)strlen(request));
	CHECK(fcntl(fd, F_SETFL, O_NONBLOCK) == 0);
	return fd;
}

static char text[65536];
static size_t text_len;

/* Reads what has come into text; 1 when the server has closed fd. */
static int
is_complete(int fd)
{
	ssize_t n = read(fd, text + text_len, sizeof(text) - 1 - text_len);

	if (n > 0)
		text_len += (size_t)n;
	text[text_len] = '\0';
	return n == 0;
}

/* Runs the loop until the server has closed fd; all that came, in text. */
static const char *
answer(int fd)
{
	text_len = 0;
	LOOP_UNTIL(base, is_complete(fd));
	close(fd);
	return text;
}

static void
scrapes_wait(int n)
{
	LOOP_UNTIL(base, scrapes == n);
}

static void
all_closed(void)
{
	LOOP_UNTIL(base, counts().open == 0);
}

static void
row_give(const char *name)
{
	struct writer w;
	struct reader r;

	wr_init(&w, 65536);
	ctl_row(&w, CTL_T_METRIC, name, "counter", "X.", "", "3", NULL);
	rd_init(&r, w.buf, w.len);
	metrics_server_row(server, &r);
	wr_clear(&w);
}

static void
page_give(void)
{
	row_give("x_total");
	metrics_server_end(server);
}

/* Both forms; a second request within a second gets the same page. */
static void
test_page(void)
{
	int fd, second;

	begin();
	fd = client(GET "Accept: application/openmetrics-text\r\n\r\n");
	scrapes_wait(1);
	second = client(GET "\r\n");
	loop_settle(base);
	row_give("not a name");
	page_give();
	row_give("not a name, after the scrape");
	CHECK_INT(counts().dropped, 1);
	answer(fd);
	CHECK(strncmp(text, "HTTP/1.1 200 ", 13) == 0);
	CHECK(strstr(text, "application/openmetrics-text") != NULL);
	CHECK(strstr(text, "\r\n\r\n# TYPE x counter\n") != NULL);
	CHECK(strstr(text, "\n# EOF\n") != NULL);
	answer(second);
	CHECK(strstr(text, "text/plain; version=0.0.4") != NULL);
	CHECK(strstr(text, "# TYPE x_total counter\n") != NULL);
	CHECK(strstr(text, "EOF") == NULL);
	fd = client(GET "\r\n");
	CHECK(strstr(answer(fd), "x_total 3\n") != NULL);
	CHECK_INT(scrapes, 1);
	CHECK_INT(counts().pages, 3);
	all_closed();
	end();
}

static void
test_errors(void)
{
	static char big[HEADERS_MAX * 2];
	static const char *const requests[] = {
		"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET /metrics/../etc/passwd HTTP/1.1\r\nHost: x\r\n\r\n",
		"POST /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n",
		"DELETE /metrics HTTP/1.1\r\nHost: x\r\n\r\n",
		GET "Content-Length: 10\r\n\r\n0123456789",
		GET "Content-Length: 99999999999999\r\n\r\n",
		"\x16\x03\x01\x02\r\n\r\n",
		"GET\r\n\r\n",
	};
	size_t i;
	int fd;

	begin();
	for (i = 0; i < sizeof(requests) / sizeof(requests[0]); i++)
		CHECK(strstr(answer(client(requests[i])), " 200 ") == NULL);
	memset(big, 'a', sizeof(big) - 1);
	memcpy(big, "GET /", 5);
	CHECK(strstr(answer(client(big)), " 200 ") == NULL);
	CHECK_INT(scrapes, 0);
	refuses = 1;
	fd = client(GET "\r\n");
	CHECK(strstr(answer(fd), " 503 ") != NULL);
	refuses = 0;
	/* a scrape without rows: the daemon is ending */
	fd = client(GET "\r\n");
	scrapes_wait(2);
	metrics_server_end(server);
	CHECK(strstr(answer(fd), " 503 ") != NULL);
	CHECK_INT(counts().pages, 0);
	all_closed();
	end();
}

/* Its request is freed with the answer, and its place is free again. */
static void
test_client_goes(void)
{
	int fd;

	begin();
	fd = client(GET "\r\n");
	scrapes_wait(1);
	close(fd);
	page_give();
	all_closed();
	fd = client(GET "\r\n");
	CHECK(strstr(answer(fd), " 200 ") != NULL);
	end();
}

/* A client that sends a byte now and then, and one whose scrape never ends. */
static void
test_time_over(void)
{
	int slow, waits, i;

	begin();
	slow = client("GET /metrics HTTP/1.1\r\n");
	waits = client(GET "\r\n");
	scrapes_wait(1);
	LOOP_UNTIL(base, counts().open == 2);
	now_ms += CONNECTION_MS - 1;
	for (i = 0; i < SWEEP_MS; i++) {
		CHECK_INT(send(slow, "a", 1, MSG_NOSIGNAL), 1);
		loop_turn(base);
	}
	CHECK_INT(counts().open, 2);
	now_ms++;
	all_closed();
	CHECK_STR(answer(slow), "");
	CHECK_STR(answer(waits), "");
	CHECK_INT(counts().refused, 2);
	page_give();
	waits = client(GET "\r\n");
	CHECK(strstr(answer(waits), " 200 ") != NULL);
	end();
}

/* The first ones are silent; the last one waits until there is a place. */
static void
test_many(void)
{
	int fds[CONNECTIONS_MAX], i, last;

	begin();
	for (i = 0; i < CONNECTIONS_MAX; i++)
		fds[i] = client("G");
	LOOP_UNTIL(base, counts().open == CONNECTIONS_MAX);
	last = client(GET "\r\n");
	loop_settle(base);
	CHECK_INT(counts().connections, CONNECTIONS_MAX);
	CHECK_INT(scrapes, 0);
	close(fds[0]);
	scrapes_wait(1);
	page_give();
	CHECK(strstr(answer(last), " 200 ") != NULL);
	for (i = 1; i < CONNECTIONS_MAX; i++)
		close(fds[i]);
	end();
}

int
main(void)
{
	test_page();
	test_errors();
	test_client_goes();
	test_time_over();
	test_many();
	return check_done();
}
