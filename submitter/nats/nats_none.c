/* SPDX-License-Identifier: MIT */
/* NATS in a build without libnats. */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "submitter/nats/nats.h"

/* An object without content, because NULL would mean an error. */
struct nats {
	int none;
};

struct nats *
nats_new(struct event_base *base, struct resolver *names, nats_done_fn *done,
    nats_up_fn *up, void *arg)
{
	return calloc(1, sizeof(struct nats));
}

void
nats_free(struct nats *n)
{
	free(n);
}

void
nats_use(struct nats *n, struct nats_conf *nc)
{
	nats_conf_free(nc);
}

int
nats_is_up(const struct nats *n)
{
	return 0;
}

int
nats_send(struct nats *n, const struct payload *p,
    const struct payload_how *how, const struct job *job, enum message kind,
    int64_t again, uint64_t token, const char **why)
{
	*why = NULL;
	errno = ENOTCONN;
	return -1;
}

int
nats_send_record(struct nats *n, struct job *job, int64_t again, uint64_t token,
    const char **why)
{
	*why = NULL;
	errno = ENOTCONN;
	return -1;
}

void
nats_on_ask(struct nats *n, nats_ask_fn *fn, void *arg)
{
}

void
nats_asks_again(struct nats *n)
{
}

int
nats_answer(struct nats *n, const char *reply, const void *data, size_t len)
{
	errno = ENOTCONN;
	return -1;
}

int
nats_send_nodes(struct nats *n, const char *cluster, unsigned group,
    struct writer *body, uint64_t token)
{
	errno = ENOTCONN;
	return -1;
}

size_t
nats_payload_max(const struct nats *n)
{
	return 0;
}

int
nats_has_room(const struct nats *n)
{
	return 1;
}

void
nats_status(const struct nats *n, struct nats_status *st)
{
	memset(st, 0, sizeof(*st));
	snprintf(st->broker.text, sizeof(st->broker.text), "not built in");
}
