/* SPDX-License-Identifier: MIT */
/*
 * Memory of secrets; see secret.h.  Each secret has pages of its own, with a
 * header in front of the text.
 */
#include "config.h"

#include <sys/mman.h>
#include <sys/syscall.h>

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/net/secret.h"

struct header {
	struct header *next, **prev;
	size_t mapped; /* bytes of the pages */
	size_t size;   /* bytes of the text */
	alignas(16) char text[];
};

/* The thread of NATS frees secrets, too. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct header *all;
/* Both threads set them. */
static atomic_int unlocked;
static atomic_int readable;

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

/*
 * Pages that are not in the kernel's own map of the memory: root cannot read them
 * with /proc/PID/mem or ptrace(2).  They are locked and in no dump.  NULL
 * before Linux 5.14, or when the limit of locked memory is too low.
 */
static void *
pages_hidden(size_t n)
{
#ifdef SYS_memfd_secret
	int fd = (int)syscall(SYS_memfd_secret, O_CLOEXEC);
	void *p = MAP_FAILED;

	if (fd == -1)
		return NULL;
	if (ftruncate(fd, (off_t)n) == 0)
		p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	return p != MAP_FAILED ? p : NULL;
#else
	(void)n;
	return NULL;
#endif
}

static void *
pages_locked(size_t n)
{
	void *p = mmap(NULL, n, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return NULL;
	if (mlock(p, n) == -1)
		unlocked = 1;
	(void)madvise(p, n, MADV_DONTDUMP);
	readable = 1;
	return p;
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
	if ((h = pages_hidden(n)) == NULL && (h = pages_locked(n)) == NULL)
		return NULL;
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

int
secret_is_hidden(void)
{
	return !readable;
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
