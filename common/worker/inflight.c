/* SPDX-License-Identifier: MIT */
/*
 * The shared page; see slate.h.  A worker may die in the middle of a write:
 * the flag is set last and cleared first, and the reader checks every byte.
 */
#include "config.h"

#include <sys/mman.h>

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/worker/inflight.h"

struct slate_page {
	atomic_uint	full;
	struct run_key	key;
};

struct slate {
	struct slate_page *page;
};

static struct slate *
map_page(int fd, int protection)
{
	struct slate *s = calloc(1, sizeof(*s));

	if (s == NULL)
		return NULL;
	s->page = mmap(NULL, sizeof(*s->page), protection, MAP_SHARED, fd, 0);
	if (s->page == MAP_FAILED) {
		free(s);
		return NULL;
	}
	return s;
}

struct slate *
slate_new(int *fd)
{
	struct slate *s;

	*fd = memfd_create("slate", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (*fd == -1)
		return NULL;
	if (ftruncate(*fd, (off_t)sizeof(struct slate_page)) == -1 ||
	    (s = map_page(*fd, PROT_READ)) == NULL) {
		close(*fd);
		*fd = -1;
		return NULL;
	}
	return s;
}

struct slate *
slate_map(int fd)
{
	struct slate *s = map_page(fd, PROT_READ | PROT_WRITE);
	int saved = errno;

	close(fd);
	errno = saved;
	return s;
}

void
slate_free(struct slate *slate)
{
	if (slate == NULL)
		return;
	munmap(slate->page, sizeof(*slate->page));
	free(slate);
}

void
slate_write(struct slate *slate, const struct run_key *key)
{
	if (slate == NULL)
		return;
	atomic_store(&slate->page->full, 0);
	slate->page->key = *key;
	atomic_store(&slate->page->full, 1);
}

void
slate_wipe(struct slate *slate)
{
	if (slate != NULL)
		atomic_store(&slate->page->full, 0);
}

int
slate_read(const struct slate *slate, struct run_key *key)
{
	if (slate == NULL || atomic_load(&slate->page->full) != 1)
		return 0;
	*key = slate->page->key;
	key->cluster[sizeof(key->cluster) - 1] = '\0';
	return key->job != 0;
}
