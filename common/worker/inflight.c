/* SPDX-License-Identifier: MIT */
/*
 * The shared page; see inflight.h.  A worker may crash during a write: the flag
 * is set last and cleared first, and the supervisor checks what it reads.
 */
#include "config.h"

#include <sys/mman.h>

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/codec.h"
#include "common/crash_point.h"
#include "common/worker/inflight.h"

struct inflight_page {
	atomic_uint full;
	struct run_key key;
};

struct inflight {
	struct inflight_page *page;
};

static struct inflight *
map_page(int fd, int protection)
{
	struct inflight *s = calloc(1, sizeof(*s));

	if (s == NULL)
		return NULL;
	s->page = mmap(NULL, sizeof(*s->page), protection, MAP_SHARED, fd, 0);
	if (s->page == MAP_FAILED) {
		free(s);
		return NULL;
	}
	return s;
}

struct inflight *
inflight_new(int *fd)
{
	struct inflight *s;

	*fd = memfd_create("inflight", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (*fd == -1)
		return NULL;
	if (ftruncate(*fd, (off_t)sizeof(struct inflight_page)) == -1 ||
	    (s = map_page(*fd, PROT_READ)) == NULL) {
		close(*fd);
		*fd = -1;
		return NULL;
	}
	return s;
}

struct inflight *
inflight_map(int fd)
{
	struct inflight *s = map_page(fd, PROT_READ | PROT_WRITE);
	int saved = errno;

	close(fd);
	errno = saved;
	return s;
}

void
inflight_free(struct inflight *inflight)
{
	if (inflight == NULL)
		return;
	munmap(inflight->page, sizeof(*inflight->page));
	free(inflight);
}

void
inflight_set(struct inflight *inflight, const struct run_key *key)
{
	if (inflight == NULL)
		return;
	atomic_store(&inflight->page->full, 0);
	inflight->page->key = *key;
	atomic_store(&inflight->page->full, 1);
	crash_inflight(key->job);
}

void
inflight_clear(struct inflight *inflight)
{
	if (inflight != NULL)
		atomic_store(&inflight->page->full, 0);
}

int
inflight_read(const struct inflight *inflight, struct run_key *key)
{
	if (inflight == NULL || atomic_load(&inflight->page->full) != 1)
		return 0;
	*key = inflight->page->key;
	key->cluster[sizeof(key->cluster) - 1] = '\0';
	/* Readers of the key refuse another time, and the whole message with it. */
	return key->job != 0 && key->start >= 0 && key->start <= TIME_S_MAX;
}
