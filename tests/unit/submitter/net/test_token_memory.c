/* SPDX-License-Identifier: MIT */
/*
 * Copies of the token in the memory of the process that sends it: one in a
 * configuration, none more after requests, none after the configuration.  The
 * server is another process, because it gets copies too.
 */
#include "config.h"

#include <sys/random.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <event2/event.h>

#include "common/net/resolver.h"
#include "common/net/secret.h"
#include "submitter/net/http.h"
#include "tests/unit/check.h"

#define TOKEN_LEN 40
#define REQUESTS  5
#define MASK	  0x5a

/* Each byte of the token, masked: the test itself has no copy. */
static uint8_t hidden[TOKEN_LEN];

static void
token_make(void)
{
	size_t i;

	CHECK_INT(getrandom(hidden, sizeof(hidden), 0), sizeof(hidden));
	for (i = 0; i < TOKEN_LEN; i++)
		hidden[i] = (uint8_t)(('a' + hidden[i] % 26) ^ MASK);
}

#ifndef SANITIZED
static int
is_token(const uint8_t *p)
{
	size_t i;

	for (i = 0; i < TOKEN_LEN; i++)
		if (p[i] != (uint8_t)(hidden[i] ^ MASK))
			return 0;
	return 1;
}

/*
 * Copies in one mapping.  The kernel reads the memory, because most of it has
 * no defined value; the buffer itself does not count.
 */
static unsigned
copies_in(int mem, uintptr_t from, uintptr_t to)
{
	static uint8_t buf[65536];
	uintptr_t own = (uintptr_t)buf, at;
	unsigned found = 0;
	ssize_t n, i;

	for (; from + TOKEN_LEN <= to; from += (uintptr_t)n - TOKEN_LEN + 1) {
		n = pread(mem, buf,
		    to - from < sizeof(buf) ? to - from : sizeof(buf),
		    (off_t)from);
		if (n < TOKEN_LEN)
			break;
		for (i = 0; i + TOKEN_LEN <= n; i++) {
			at = from + (uintptr_t)i;
			if ((at < own || at >= own + sizeof(buf)) &&
			    is_token(buf + i))
				found++;
		}
		explicit_bzero(buf, sizeof(buf));
	}
	return found;
}

/* Copies in all memory that this process can write. */
static unsigned
copies(void)
{
	int mem = open("/proc/self/mem", O_RDONLY);
	FILE *f = fopen("/proc/self/maps", "r");
	unsigned long from, to;
	unsigned n = 0;
	char line[512], rights[8];

	CHECK(f != NULL && mem != -1);
	while (f != NULL && fgets(line, sizeof(line), f) != NULL) {
		if (sscanf(line, "%lx-%lx %7s", &from, &to, rights) == 3 &&
		    rights[0] == 'r' && rights[1] == 'w')
			n += copies_in(mem, from, to);
	}
	if (f != NULL)
		fclose(f);
	close(mem);
	return n;
}
#endif

/* The memory of a sanitizer has terabytes. */
static void
copies_check(unsigned want)
{
#ifndef SANITIZED
	/* The kernel does not read the one copy either, where it has secretmem. */
	CHECK_INT(copies(), secret_is_hidden() && want > 0 ? want - 1 : want);
#else
	(void)want;
#endif
}

static void __attribute__((noreturn)) serve(int listening)
{
	static const char answer[] = "HTTP/1.1 200 OK\r\n"
				     "Content-Length: 2\r\n\r\nok";
	char buf[8192];
	size_t n = 0;
	ssize_t got;
	int fd;

	while ((fd = accept(listening, NULL, NULL)) != -1) {
		while ((got = read(fd, buf + n, sizeof(buf) - 1 - n)) > 0) {
			n += (size_t)got;
			buf[n] = '\0';
			if (strstr(buf, "\r\n\r\n") == NULL)
				continue;
			if (strstr(buf, "X-Auth-Token: ") == NULL ||
			    write(fd, answer, sizeof(answer) - 1) == -1)
				_exit(1);
			n = 0;
		}
		close(fd);
	}
	_exit(0);
}

static pid_t
server_start(int *port)
{
	struct sockaddr_in sin = { .sin_family = AF_INET };
	socklen_t len = sizeof(sin);
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	pid_t pid;

	sin.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	CHECK_INT(bind(fd, (struct sockaddr *)&sin, sizeof(sin)), 0);
	CHECK_INT(listen(fd, 8), 0);
	CHECK_INT(getsockname(fd, (struct sockaddr *)&sin, &len), 0);
	*port = ntohs(sin.sin_port);
	fflush(NULL);
	pid = fork();
	if (pid == 0)
		serve(fd);
	close(fd);
	return pid;
}

static struct http_conf *
conf_make(int port)
{
	char url[64], why[128], token[TOKEN_LEN];
	struct http_conf *rc;
	struct conf conf;
	struct writer w;
	size_t i;

	conf_init(&conf);
	snprintf(url, sizeof(url), "http://127.0.0.1:%d", port);
	CHECK_INT(conf_set(&conf, CONF_CC_REST_URL, url), 0);
	for (i = 0; i < TOKEN_LEN; i++)
		token[i] = (char)(uint8_t)(hidden[i] ^ MASK);
	wr_init(&w, 4096);
	wr_u16(&w, CONF_CC_REST_JWT);
	wr_blob(&w, token, sizeof(token));
	rc = http_conf_new(&conf, w.buf, w.len, why, sizeof(why));
	explicit_bzero(token, sizeof(token));
	explicit_bzero(w.buf, w.len);
	wr_clear(&w);
	conf_clear(&conf);
	CHECK(rc != NULL);
	return rc;
}

static struct event_base *base;
static unsigned answers;

static void
on_done(const struct http_answer *a, void *arg)
{
	CHECK_INT(a->code, 200);
	answers++;
	event_base_loopbreak(base);
}

static void
requests(struct http_client *http)
{
	struct http_request req = { .what = REQUEST_CLUSTERS,
		.method = "GET",
		.path = "clusters/",
		.done = on_done };
	struct timeval limit = { 60, 0 };
	int i;

	answers = 0;
	/* The server has one connection at a time. */
	for (i = 0; i < REQUESTS; i++) {
		CHECK_INT(http_send(http, &req), 0);
		event_base_loopexit(base, &limit);
		event_base_dispatch(base);
	}
	CHECK_INT(answers, REQUESTS);
}

int
main(void)
{
	struct resolver *names;
	struct http_client *http;
	int port, status;
	pid_t server;

	if (check_on_valgrind()) {
		printf("skipped: valgrind keeps memory that is freed\n");
		return 77;
	}
	signal(SIGPIPE, SIG_IGN);
	server = server_start(&port);
	token_make();
	base = event_base_new();
	names = resolver_new(base);
	http_prepare();
	http = http_new(base, names);
	copies_check(0);
	http_use(http, conf_make(port));
	copies_check(1);
	requests(http);
	copies_check(1);
	requests(http);
	copies_check(1);
	/* Another address replaces the configuration. */
	http_use(http, conf_make(1));
	copies_check(1);
	secret_wipe_all();
	copies_check(0);
	http_free(http);
	resolver_free(names);
	event_base_free(base);
	kill(server, SIGKILL);
	CHECK_INT(waitpid(server, &status, 0), server);
	return check_done();
}
