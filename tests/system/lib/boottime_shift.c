/* SPDX-License-Identifier: MIT */
/*
 * For LD_PRELOAD: the boot clock, ahead by as many seconds as the first
 * number in the file BOOTTIME_SHIFT says, now.  The file is mapped at the start,
 * so it works within a sandbox, and time passes in jumps while the program runs.
 */
#define _GNU_SOURCE
#include <sys/mman.h>

#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static const volatile int64_t *ahead;
static int (*real)(clockid_t id, struct timespec *ts);

__attribute__((constructor)) static void
shift_begin(void)
{
	const char *path = getenv("BOOTTIME_SHIFT");
	int fd = path != NULL ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	void *p;

	real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT,
	    "clock_gettime");
	if (fd == -1)
		return;
	p = mmap(NULL, sizeof(*ahead), PROT_READ, MAP_SHARED, fd, 0);
	if (p != MAP_FAILED)
		ahead = p;
	close(fd);
}

int
clock_gettime(clockid_t id, struct timespec *ts)
{
	int rc = real(id, ts);

	if (rc == 0 && id == CLOCK_BOOTTIME && ahead != NULL)
		ts->tv_sec += *ahead;
	return rc;
}
