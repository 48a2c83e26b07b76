/* SPDX-License-Identifier: MIT */
/*
 * Memory of secrets; see secret.h.  Each secret has pages of its own, with a
 * header in front of the text.
 */
#include "config.h"

#include <sys/mman.h>

#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "submitter/net/secret.h"

struct header {
	struct header *next, **prev;
	size_t mapped; /* bytes of the pages */
	size_t size;   /* bytes of the text */
	alignas(16) char text[];
};

/* The thread of NATS frees secrets, too. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct header *all;
static atomic_int unlocked; /* both threads set it */

static void
header_link(struct header *h)
{
	pthread_mutex_lock(&lock);
	h->next = all;
	h->prev = &all;
	if (all != NULL)
		all->prev = &h->next;
	all = h;
	pthread_mutex_unlock(&lock);
}

static void
header_unlink(struct header *h)
{
	pthread_mutex_lock(&lock);
	*h->prev = h->next;
	if (h->next != NULL)
		h->next->prev = h->prev;
	pthread_mutex_unlock(&lock);
}

char *
secret_alloc(size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), n;
	struct header *h;

	if (size > SIZE_MAX / 2) {
		errno = ENOMEM;
		return NULL;
	}
	n = (sizeof(*h) + size + page - 1) / page * page;
	h = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
	    -1, 0);
	if (h == MAP_FAILED)
		return NULL;
	if (mlock(h, n) == -1)
		unlocked = 1;
	(void)madvise(h, n, MADV_DONTDUMP);
	h->mapped = n;
	h->size = size;
	header_link(h);
	return h->text;
}

char *
secret_copy(const void *p, size_t len)
{
	char *s;

	if (memchr(p, '\0', len) != NULL)
		return NULL;
	s = secret_alloc(len + 1);
	if (s != NULL)
		memcpy(s, p, len);
	return s;
}

void
secret_free(char *secret)
{
	struct header *h;

	if (secret == NULL)
		return;
	h = (struct header *)(void *)(secret - offsetof(struct header, text));
	header_unlink(h);
	explicit_bzero(h->text, h->size);
	munmap(h, h->mapped);
}

void
secret_wipe_all(void)
{
	struct header *h;

	pthread_mutex_lock(&lock);
	for (h = all; h != NULL; h = h->next)
		explicit_bzero(h->text, h->size);
	pthread_mutex_unlock(&lock);
}

int
secret_is_unlocked(void)
{
	return unlocked;
}

void
wiping_free(void *p)
{
	if (p == NULL)
		return;
	explicit_bzero(p, malloc_usable_size(p));
	free(p);
}

/* realloc() leaves the old bytes where they were. */
void *
wiping_realloc(void *p, size_t size)
{
	size_t old = p != NULL ? malloc_usable_size(p) : 0;
	void *next;

	if (size == 0) {
		wiping_free(p);
		return NULL;
	}
	if ((next = malloc(size)) == NULL)
		return NULL;
	if (p != NULL)
		memcpy(next, p, old < size ? old : size);
	wiping_free(p);
	return next;
}
