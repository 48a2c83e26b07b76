/* SPDX-License-Identifier: MIT */
/* Attempts to use up what all processes of the machine share. */
#include "config.h"

#include <sys/mman.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/breakout/attempts.h"

#define MIB	    (1024l * 1024)
#define STEP	    (32 * MIB)
#define STEPS_MAX   512 /* 16 GiB of addresses: no limit is higher */
#define THREADS_MAX 256
#define DISK_STEP   (64 * 1024)
#define DISK_MAX    (8 * MIB)

/* Of addresses, which cost nothing until they are used.  MiB. */
static int64_t
map_all(int prot, int flags)
{
	static void *parts[STEPS_MAX];
	int64_t reached;
	int i, n;

	for (n = 0; n < STEPS_MAX; n++) {
		parts[n] = mmap(NULL, STEP, prot, MAP_ANONYMOUS | flags, -1, 0);
		if (parts[n] == MAP_FAILED)
			break;
	}
	reached = n * (STEP / MIB);
	for (i = 0; i < n; i++)
		munmap(parts[i], STEP);
	return reached > 0 ? reached : -1;
}

static int64_t
map_private(void)
{
	return map_all(PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE);
}

static int64_t
map_shared(void)
{
	return map_all(PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE);
}

/* Pages of a stack are not in RLIMIT_DATA. */
static int64_t
map_stack(void)
{
	return map_all(PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_NORESERVE | MAP_GROWSDOWN);
}

/* RLIMIT_DATA counts writable pages. */
static int64_t
map_later(void)
{
	static void *parts[STEPS_MAX];
	int64_t reached;
	int i, n;

	for (n = 0; n < STEPS_MAX; n++) {
		parts[n] = mmap(NULL, STEP, PROT_READ,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (parts[n] == MAP_FAILED)
			break;
		if (mprotect(parts[n], STEP, PROT_READ | PROT_WRITE) == 0)
			continue;
		munmap(parts[n], STEP);
		break;
	}
	reached = n * (STEP / MIB);
	for (i = 0; i < n; i++)
		munmap(parts[i], STEP);
	return reached > 0 ? reached : -1;
}

static int64_t
open_all(void)
{
	int fds[8192], n, i;

	for (n = 0; n < 8192; n++)
		if ((fds[n] = dup(2)) == -1)
			break;
	for (i = 0; i < n; i++)
		close(fds[i]);
	return n > 0 ? n : -1;
}

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

static void *
thread_main(void *arg)
{
	pthread_mutex_lock(&gate);
	pthread_mutex_unlock(&gate);
	return arg;
}

static int64_t
start_threads(void)
{
	pthread_t threads[THREADS_MAX];
	int i, n, error = 0;

	pthread_mutex_lock(&gate);
	for (n = 0; n < THREADS_MAX; n++)
		if ((error = pthread_create(&threads[n], NULL, thread_main,
			 NULL)) != 0)
			break;
	pthread_mutex_unlock(&gate);
	for (i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	errno = error;
	return n > 0 ? n : -1;
}

/* In the directory of the process; it is removed.  KiB. */
static int64_t
fill_disk(void)
{
	static char bytes[DISK_STEP];
	int fd = open("breakout.fill", O_WRONLY | O_CREAT | O_TRUNC, 0600);
	int64_t all = 0;
	ssize_t n = -1;

	if (fd == -1)
		return -1;
	while (all < DISK_MAX && (n = write(fd, bytes, sizeof(bytes))) > 0)
		all += n;
	close(fd);
	unlink("breakout.fill");
	return all > 0 ? all / 1024 : -1;
}

const struct attempt attempts_limits[] = {
	{ "memory", map_private },
	{ "memory-shared", map_shared },
	{ "memory-stack", map_stack },
	{ "memory-later", map_later },
	{ "descriptors", open_all },
	{ "threads", start_threads },
	{ "fill-disk", fill_disk },
	{ NULL, NULL },
};
