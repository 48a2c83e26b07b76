/* SPDX-License-Identifier: MIT */
/* See supervisor.h. */
#include "config.h"

#include <string.h>

#include "tests/simulate/supervisor.h"

#define PAYLOAD_MAX (1u << 20)

struct supervised {
	enum process_id id;
	enum role role;
	const struct supervisor_ops *ops;
	struct conf conf;
	struct link *link; /* end 0 is the supervisor's */
	uint32_t generation;
	int serves;
};

struct supervised *
supervised_new(enum process_id id, enum role role,
    const struct supervisor_ops *ops)
{
	struct supervised *sv = world_alloc(sizeof(*sv));

	sv->id = id;
	sv->role = role;
	sv->ops = ops;
	conf_init(&sv->conf);
	return sv;
}

void
supervised_conf(struct supervised *sv, enum conf_key key, const char *value)
{
	conf_set(&sv->conf, key, value);
}

const struct conf *
supervised_conf_get(const struct supervised *sv)
{
	return &sv->conf;
}

enum process_id
supervised_process(const struct supervised *sv)
{
	return sv->id;
}

int
supervised_fd(const struct supervised *sv)
{
	return link_fd(sv->link, 1);
}

int
supervised_serves(const struct supervised *sv)
{
	return sv->serves;
}

/* Takes w. */
static void
frame_send(struct supervised *sv, enum msg_type type, uint64_t id,
    struct writer *w, int fd)
{
	struct msg_header h = { .type = (uint16_t)type,
		.flags = fd != -1 ? MSG_FLAG_FD : 0,
		.length = w != NULL ? (uint32_t)w->len : 0,
		.id = id };
	const char *wrong = msg_check(&h, ROLE_SUPERVISOR, sv->role);

	invariant(wrong == NULL, "%s of the supervisor: %s", msg_name(type),
	    wrong);
	link_send(sv->link, 0, &h, w != NULL ? w->buf : NULL, fd);
	if (w != NULL)
		wr_clear(w);
}

static void
generation_send(struct supervised *sv, enum msg_type type)
{
	struct writer w;

	wr_init(&w, PAYLOAD_MAX);
	wr_u32(&w, sv->generation);
	frame_send(sv, type, 0, &w, -1);
}

static void
conf_send(struct supervised *sv)
{
	struct writer w;
	unsigned key;

	sv->generation++;
	for (key = 0; key < CONF__COUNT; key++) {
		if (sv->conf.values[key] == NULL ||
		    (conf_rule(key)->roles & (1u << sv->role)) == 0)
			continue;
		wr_init(&w, PAYLOAD_MAX);
		conf_write(&w, key, sv->conf.values[key]);
		frame_send(sv, MSG_CONF, 0, &w, -1);
	}
	generation_send(sv, MSG_CONF_END);
}

static void
on_bad(struct supervised *sv, const uint8_t *payload, size_t n)
{
	char reason[1024];
	struct reader r;

	rd_init(&r, payload, n);
	rd_u32(&r);
	rd_name(&r, reason, sizeof(reason));
	invariant(rd_end(&r) == 0, "malformed conf-bad");
	trace("the configuration is refused: %s", reason);
	if (sv->ops->reloaded != NULL)
		sv->ops->reloaded(sv, reason);
}

static void
on_frame(void *arg, const struct msg_header *h, const uint8_t *payload, int fd)
{
	struct supervised *sv = arg;
	const char *wrong = msg_check(h, sv->role, ROLE_SUPERVISOR);

	(void)fd;
	invariant(wrong == NULL, "%s to the supervisor: %s", msg_name(h->type),
	    wrong);
	switch (h->type) {
	case MSG_CONF_OK:
		generation_send(sv, MSG_CONF_COMMIT);
		if (sv->serves && sv->ops->reloaded != NULL)
			sv->ops->reloaded(sv, NULL);
		break;
	case MSG_CONF_BAD:
		on_bad(sv, payload, h->length);
		break;
	case MSG_READY:
		sv->serves = 1;
		if (sv->ops->ready != NULL)
			sv->ops->ready(sv);
		break;
	default:
		if (sv->ops->frame != NULL)
			sv->ops->frame(sv, h, payload);
	}
}

/* process_ops.ended decides what follows. */
static void
on_broken(void *arg, const char *why)
{
	(void)arg;
	(void)why;
}

static const struct link_ops ops_of_link = {
	.frame = on_frame,
	.broken = on_broken,
};

void
supervised_start(struct supervised *sv)
{
	process_start(sv->id);
	sv->link = link_new(PROCESS_NONE, sv->id);
	link_attach(sv->link, 0, &ops_of_link, sv);
	conf_send(sv);
}

void
supervised_reload(struct supervised *sv)
{
	if (sv->serves)
		conf_send(sv);
}

void
supervised_peer(struct supervised *sv, enum role peer, struct link *l, int end)
{
	static uint64_t id;
	struct writer w;

	wr_init(&w, PAYLOAD_MAX);
	wr_u8(&w, (uint8_t)peer);
	frame_send(sv, MSG_PEER, ++id, &w, link_fd(l, end));
}

void
supervised_stop(struct supervised *sv, uint32_t grace_ms)
{
	struct writer w;

	if (!sv->serves)
		return;
	wr_init(&w, PAYLOAD_MAX);
	wr_u32(&w, grace_ms);
	frame_send(sv, MSG_STOP, 0, &w, -1);
}

void
supervised_ended(struct supervised *sv)
{
	sv->serves = 0;
	if (sv->link != NULL)
		link_close(sv->link, 0);
}
