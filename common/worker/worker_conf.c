/* SPDX-License-Identifier: MIT */
/*
 * The configuration of a worker in two steps: received and checked until
 * conf-end, put into force at conf-commit.  Secrets are mapped for the check
 * only.
 */
#include "config.h"

#include <sys/mman.h>

#include <fcntl.h>
#include <malloc.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"
#include "common/worker/worker_conf.h"
#include "common/worker/worker_summary.h"

#define REASON_MAX    1024 /* bytes of a conf-bad */
#define SECRETS_SEALS (F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE)

/* The next configuration: received, checked, then put into force. */
static struct {
	struct conf conf;
	int secrets; /* -1, or the sealed memfd */
	int open;    /* values are being received */
	int checked; /* conf-ok was sent */
} next = { .secrets = -1 };

static void
conf_answer(struct worker *w, enum msg_type type, uint32_t v, const char *text)
{
	struct writer out;

	wr_init(&out, 2 * REASON_MAX);
	wr_u32(&out, v);
	if (text != NULL)
		wr_str(&out, text);
	channel_send(w->supervisor, type, 0, &out, -1);
	wr_clear(&out);
}

static void
next_drop(void)
{
	conf_clear(&next.conf);
	if (next.secrets != -1)
		close(next.secrets);
	next.secrets = -1;
	next.open = 0;
	next.checked = 0;
}

/* The first value drops the configuration of a refused reload. */
static void
next_begin(void)
{
	if (next.open)
		return;
	next_drop();
	next.open = 1;
}

/*
 * Maps the secrets: *map is NULL when there are none.  Accepts only a memfd
 * that cannot change any more.  NULL, or what is wrong.
 */
static const char *
secrets_map(const uint8_t **map, size_t *len)
{
	off_t size;
	void *p;
	int seals;

	*map = NULL;
	*len = 0;
	if (next.secrets == -1)
		return NULL;
	seals = fcntl(next.secrets, F_GET_SEALS);
	if (seals == -1 || (seals & SECRETS_SEALS) != SECRETS_SEALS)
		return "the secrets are not sealed";
	/* No fstat(): the receiver's filter denies calls that look at files. */
	size = lseek(next.secrets, 0, SEEK_END);
	if (size < 0 || size > (off_t)CONF_SECRETS_MAX)
		return "the secrets are too long";
	if (size == 0)
		return NULL;
	p = mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, next.secrets, 0);
	if (p == MAP_FAILED)
		return "the secrets cannot be mapped";
	*map = p;
	*len = (size_t)size;
	return NULL;
}

static void
secrets_unmap(const uint8_t *map, size_t len)
{
	uintptr_t p = (uintptr_t)map;

	if (map != NULL)
		munmap((void *)p, len);
	if (next.secrets != -1)
		close(next.secrets);
	next.secrets = -1;
}

static void
on_conf_end(struct worker *w, struct reader *r)
{
	char reason[REASON_MAX] = "";
	const char *wrong;
	const uint8_t *map;
	uint32_t generation = rd_u32(r);
	size_t len;

	if (rd_end(r) == -1) {
		channel_broken(w->supervisor, "conf-end");
		return;
	}
	next_begin();
	next.open = 0;
	next.conf.generation = generation;
	wrong = secrets_map(&map, &len);
	if (wrong == NULL && w->ops->conf_check != NULL &&
	    w->ops->conf_check(w, &next.conf, map, len, reason,
		sizeof(reason)) == -1)
		wrong = reason[0] != '\0' ? reason : "no reason given";
	secrets_unmap(map, len);
	next.checked = wrong == NULL;
	conf_answer(w, wrong == NULL ? MSG_CONF_OK : MSG_CONF_BAD, generation,
	    wrong);
}

static void
on_conf_commit(struct worker *w, struct reader *r)
{
	uint32_t generation = rd_u32(r);

	if (rd_end(r) == -1 || !next.checked ||
	    next.conf.generation != generation) {
		channel_broken(w->supervisor, "conf-commit");
		return;
	}
	conf_clear(&w->conf);
	w->conf = next.conf;
	conf_init(&next.conf);
	next_drop();
	if (w->ops->conf_commit != NULL)
		w->ops->conf_commit(w);
	log_debug("configuration %u is in force", generation);
	if (w->serving)
		return;
	w->serving = 1;
	if (w->ops->start != NULL)
		w->ops->start(w);
	channel_send(w->supervisor, MSG_READY, 0, NULL, -1);
	worker_summary_begin(w);
	/* libseccomp has needed much memory once. */
	malloc_trim(0);
}

/* Takes fd. */
static void
on_secrets(struct worker *w, struct reader *r, int fd)
{
	next_begin();
	if (next.secrets != -1)
		close(next.secrets);
	next.secrets = fd;
	if (rd_end(r) == -1)
		channel_broken(w->supervisor, "secrets");
}

static void
on_conf_item(struct worker *w, struct reader *r)
{
	next_begin();
	conf_read(r, &next.conf);
	if (rd_end(r) == -1)
		channel_broken(w->supervisor, "conf");
}

void
worker_conf_frame(struct worker *w, unsigned type, struct reader *r, int fd)
{
	switch (type) {
	case MSG_CONF:
		on_conf_item(w, r);
		break;
	case MSG_SECRETS:
		on_secrets(w, r, fd);
		break;
	case MSG_CONF_END:
		on_conf_end(w, r);
		break;
	default:
		on_conf_commit(w, r);
	}
}
