/* SPDX-License-Identifier: MIT */
/*
 * feed PORT TOKENFILE CONNECTIONS FILE: POSTs the requests of FILE (one a line:
 * path, tab, JSON) to 127.0.0.1:PORT as fast as they are answered, over some
 * kept-alive connections with a thread each.  It understands what cc-backend
 * and its stand-in answer, and no more.  Prints requests, seconds and how many
 * answers were not 2xx: the baseline of tests/bench/drain.
 */
#include "config.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define CONNECTIONS_MAX 64
#define ANSWER_MAX	65536 /* bytes of an answer: a job's record */

static char **lines;
static size_t n_lines;
static atomic_size_t next_line;
static atomic_size_t refused;
static char token[4096];
static int port;

static void
die(const char *what)
{
	perror(what);
	exit(1);
}

static int
connect_to(void)
{
	struct sockaddr_in sin = { .sin_family = AF_INET,
		.sin_port = htons((uint16_t)port),
		.sin_addr = { htonl(INADDR_LOOPBACK) } };
	int one = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd == -1 || connect(fd, (struct sockaddr *)&sin, sizeof(sin)) == -1)
		die("connect");
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	return fd;
}

static void
write_all(int fd, const char *p, size_t n)
{
	ssize_t k;

	for (; n > 0; p += k, n -= (size_t)k) {
		k = write(fd, p, n);
		if (k <= 0)
			die("write");
	}
}

/* Reads until the answer's end; its status. */
static int
answer_read(int fd, char *buf)
{
	size_t n = 0, want = 0;
	char *body = NULL, *p;
	ssize_t k;

	for (;;) {
		k = read(fd, buf + n, ANSWER_MAX - n);
		if (k <= 0)
			die("read");
		n += (size_t)k;
		buf[n] = '\0';
		if (body == NULL && (body = strstr(buf, "\r\n\r\n")) != NULL) {
			body += 4;
			p = strcasestr(buf, "\r\ncontent-length:");
			want = p != NULL && p < body ?
			    (size_t)(body - buf) + strtoul(p + 17, NULL, 10) :
			    0;
		}
		if (body != NULL &&
		    (want != 0 ?
			    n >= want :
			    n >= 5 && memcmp(buf + n - 5, "0\r\n\r\n", 5) == 0))
			return atoi(buf + 9);
	}
}

static void *
feed(void *arg)
{
	char *buf = malloc(ANSWER_MAX + 1), head[8192], *body;
	int fd = connect_to(), n, status;
	size_t i;

	(void)arg;
	if (buf == NULL)
		die("malloc");
	while ((i = atomic_fetch_add(&next_line, 1)) < n_lines) {
		body = strchr(lines[i], '\t') + 1;
		n = snprintf(head, sizeof(head),
		    "POST %.*s HTTP/1.1\r\n"
		    "Host: 127.0.0.1:%d\r\nContent-Type: application/json\r\n"
		    "X-Auth-Token: %s\r\nContent-Length: %zu\r\n\r\n",
		    (int)(body - 1 - lines[i]), lines[i], port, token,
		    strlen(body));
		write_all(fd, head, (size_t)n);
		write_all(fd, body, strlen(body));
		status = answer_read(fd, buf);
		if (status < 200 || status > 299)
			atomic_fetch_add(&refused, 1);
	}
	close(fd);
	free(buf);
	return NULL;
}

static void
lines_read(const char *path)
{
	FILE *f = fopen(path, "re");
	char *line = NULL;
	size_t cap = 0, room = 0;
	ssize_t n;

	if (f == NULL)
		die(path);
	while ((n = getline(&line, &cap, f)) > 0) {
		line[n - 1] = '\0';
		if (strchr(line, '\t') == NULL)
			continue;
		if (n_lines == room) {
			room = room * 2 + 1024;
			lines = realloc(lines, room * sizeof(*lines));
			if (lines == NULL)
				die("realloc");
		}
		lines[n_lines++] = line;
		line = NULL;
		cap = 0;
	}
	free(line);
	fclose(f);
}

static void
token_read(const char *path)
{
	FILE *f = fopen(path, "re");

	if (f == NULL || fscanf(f, "%4095s", token) != 1)
		die(path);
	fclose(f);
}

static double
now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

int
main(int argc, char **argv)
{
	pthread_t threads[CONNECTIONS_MAX];
	int n, i;
	double began;

	n = argc == 5 ? atoi(argv[3]) : 0;
	if (n < 1 || n > CONNECTIONS_MAX) {
		fprintf(stderr,
		    "usage: feed PORT TOKENFILE CONNECTIONS FILE\n");
		return 2;
	}
	port = atoi(argv[1]);
	token_read(argv[2]);
	lines_read(argv[4]);
	began = now();
	for (i = 0; i < n; i++)
		if (pthread_create(&threads[i], NULL, feed, NULL) != 0)
			die("pthread_create");
	for (i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	printf("%zu %.3f %zu\n", n_lines, now() - began, atomic_load(&refused));
	return 0;
}
