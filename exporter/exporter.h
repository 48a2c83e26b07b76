/* SPDX-License-Identifier: MIT */
/*
 * The exporter serves the metrics of all processes to Prometheus: GET /metrics
 * on a loopback address or a UNIX socket.  It has no secret and no user's
 * bytes, opens no file and makes no connection.  The supervisor sends the rows
 * of one scrape on request.
 */
#ifndef EXPORTER_EXPORTER_H
#define EXPORTER_EXPORTER_H

#include <stddef.h>
#include <stdint.h>

#include "common/codec.h"
#include "common/text/metrics_text.h"

struct event_base;

/* page.c: the rows of one scrape, and the page that is made of them. */

#define PAGE_ROWS_MAX  8192 /* 16 clusters have less than a third */
#define PAGE_BYTES_MAX (2u * 1024 * 1024)

struct page_row {
	char *fields[METRIC_FIELDS]; /* owned */
};

/* Zero-initialise. */
struct page {
	struct page_row *rows; /* owned */
	size_t n;
	size_t cap;
	size_t bytes;	  /* of all fields */
	uint64_t dropped; /* rows that were not valid or beyond a limit */
};

void page_clear(struct page *page);
/*
 * Adds a row of CTL_T_METRIC as the supervisor passes it on.  A row that is not
 * a valid sample, or beyond the limits, is counted as dropped.
 */
void page_add(struct page *page, struct reader *r);
/* The page in one form.  Returns owned, *len bytes; NULL when out of memory. */
char *page_text(const struct page *page, enum metrics_form form, size_t *len);

/* server.c: the connections. */

#define CONNECTIONS_MAX 32    /* at once; others wait in the kernel's queue */
#define CONNECTION_MS	20000 /* from accept to the end of the answer */
#define HEADERS_MAX	8192  /* bytes of the request line and the headers */
#define SCRAPE_MS	15000 /* a scrape without an end is answered with 503 */
#define PAGE_AGE_MS	1000  /* a page serves other requests for so long */

struct metrics_server;

struct metrics_counts {
	uint64_t connections; /* accepted */
	uint64_t pages;	      /* answered with 200 */
	uint64_t refused;     /* answered with an error, or cut off */
	uint64_t dropped;     /* rows, by page_add() */
	unsigned open;
};

/* Starts a scrape: metrics_server_row() and _end() follow.  0 or -1. */
typedef int metrics_scrape_fn(void *arg);

/*
 * connection_ms: the longest time of one connection, as CONNECTION_MS.  NULL
 * when out of memory.
 */
struct metrics_server *metrics_server_new(struct event_base *base,
    int connection_ms, metrics_scrape_fn *scrape, void *arg);
void metrics_server_free(struct metrics_server *server);
/* Takes a listening socket and accepts.  0, or -1 when out of memory. */
int metrics_server_listen(struct metrics_server *server, int fd);
/* A row of the scrape under way. */
void metrics_server_row(struct metrics_server *server, struct reader *r);
/* The scrape under way has ended: answers the requests that wait, without a
 * row with 503. */
void metrics_server_end(struct metrics_server *server);
void metrics_server_counts(const struct metrics_server *server,
    struct metrics_counts *counts);

#endif
