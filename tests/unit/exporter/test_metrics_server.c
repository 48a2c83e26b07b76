/* SPDX-License-Identifier: MIT */
/*
 * Connections to the metrics: a page, one scrape for many requests, errors, a
 * client that goes before its answer, and more clients than places.
 */
#include "config.h"

#include <sys/socket.h>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <unistd.h>

#include <event2/event.h>

#include "common/clock.h"
#include "common/ctl.h"
#include "exporter/exporter.h"
#include "tests/unit/check.h"

#define WAIT_MS 5000
#define GET	"GET /metrics HTTP/1.1\r\nHost: x\r\n"

static struct event_base *base;
static struct metrics_server *server;
static struct sockaddr_in where = { .sin_family = AF_INET };
static int scrapes, refuses;

static int
on_scrape(void *arg)
{
	scrapes++;
	return refuses ? -1 : 0;
}

static void
begin_with(int connection_ms)
{
	socklen_t len = sizeof(where);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	where.sin_port = 0;
	where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	CHECK(bind(fd, (struct sockaddr *)&where, sizeof(where)) == 0 &&
	    listen(fd, 128) == 0 &&
	    getsockname(fd, (struct sockaddr *)&where, &len) == 0);
	base = event_base_new();
	server = metrics_server_new(base, connection_ms, on_scrape, NULL);
	scrapes = refuses = 0;
	CHECK_INT(metrics_server_listen(server, fd), 0);
}

static void
begin(void)
{
	begin_with(CONNECTION_MS);
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

static void
turn(void)
{
	event_base_loop(base, EVLOOP_NONBLOCK);
	usleep(1000);
}

/* Runs the loop until the server has closed fd; what came, static memory. */
static const char *
answer(int fd)
{
	static char text[65536];
	long long until = clock_ms() + WAIT_MS;
	size_t n = 0;
	ssize_t rc = -1;

	while (rc != 0 && clock_ms() < until && n < sizeof(text) - 1) {
		turn();
		rc = read(fd, text + n, sizeof(text) - 1 - n);
		if (rc > 0)
			n += (size_t)rc;
	}
	CHECK_INT(rc, 0);
	text[n] = '\0';
	close(fd);
	return text;
}

static void
scrapes_wait(int n)
{
	long long until = clock_ms() + WAIT_MS;

	while (scrapes < n && clock_ms() < until)
		turn();
	CHECK_INT(scrapes, n);
}

static void
all_closed(void)
{
	long long until = clock_ms() + WAIT_MS;

	while (counts().open > 0 && clock_ms() < until)
		turn();
	CHECK_INT(counts().open, 0);
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
	const char *text;
	int fd, second;

	begin();
	fd = client(GET "Accept: application/openmetrics-text\r\n\r\n");
	scrapes_wait(1);
	second = client(GET "\r\n");
	turn();
	turn();
	row_give("not a name");
	page_give();
	row_give("not a name, after the scrape");
	CHECK_INT(counts().dropped, 1);
	text = answer(fd);
	CHECK(strncmp(text, "HTTP/1.1 200 ", 13) == 0);
	CHECK(strstr(text, "application/openmetrics-text") != NULL);
	CHECK(strstr(text, "\r\n\r\n# TYPE x counter\n") != NULL);
	CHECK(strstr(text, "\n# EOF\n") != NULL);
	text = answer(second);
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
	long long until = clock_ms() + WAIT_MS;
	int slow, waits;

	begin_with(300);
	slow = client("GET /metrics HTTP/1.1\r\n");
	waits = client(GET "\r\n");
	scrapes_wait(1);
	while (counts().open > 0 && clock_ms() < until) {
		(void)!send(slow, "a", 1, MSG_NOSIGNAL);
		turn();
	}
	CHECK(clock_ms() < until);
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
	for (i = 0; i < 50 && counts().open < CONNECTIONS_MAX; i++)
		turn();
	CHECK_INT(counts().open, CONNECTIONS_MAX);
	last = client(GET "\r\n");
	for (i = 0; i < 50; i++)
		turn();
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
