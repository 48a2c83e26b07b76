/* SPDX-License-Identifier: MIT */
/*
 * For LD_PRELOAD: the wall clock, ahead by as many seconds as the first number
 * in the file WALLTIME_SHIFT says, now: it is set forward and back while a
 * program runs, and nobody else on the machine notices.  The file is mapped at
 * the start, so that it works within a sandbox.  Waits until a wall-clock time
 * end as if the kernel's clock were this one; the other clocks are untouched.
 */
#define _GNU_SOURCE
#include <sys/mman.h>
#include <sys/time.h>

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* The file of a process whose environment names none. */
#ifndef WALLTIME_DEFAULT
#define WALLTIME_DEFAULT NULL
#endif

#define YEAR_2001 1000000000 /* no monotonic clock shows so much */

static const volatile int64_t *ahead;
static int (*real_clock)(clockid_t id, struct timespec *ts);
static int (*real_wait)(pthread_cond_t *cond, pthread_mutex_t *mutex,
    const struct timespec *until);

__attribute__((constructor)) static void
shift_begin(void)
{
	const char *named = getenv("WALLTIME_SHIFT");
	const char *path = named != NULL ? named : WALLTIME_DEFAULT;
	int fd = path != NULL ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	void *p;

	real_clock = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT,
	    "clock_gettime");
	real_wait = (int (*)(pthread_cond_t *, pthread_mutex_t *,
	    const struct timespec *))dlsym(RTLD_NEXT, "pthread_cond_timedwait");
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
	int rc;

	if (real_clock == NULL)
		shift_begin();
	rc = real_clock(id, ts);
	if (rc == 0 && ahead != NULL &&
	    (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE))
		ts->tv_sec += *ahead;
	return rc;
}

time_t
time(time_t *t)
{
	struct timespec ts = { 0, 0 };

	/* As the kernel has it: the clock of the last tick. */
	clock_gettime(CLOCK_REALTIME_COARSE, &ts);
	if (t != NULL)
		*t = ts.tv_sec;
	return ts.tv_sec;
}

int
gettimeofday(struct timeval *restrict tv, void *restrict zone)
{
	struct timespec ts = { 0, 0 };

	(void)zone;
	clock_gettime(CLOCK_REALTIME, &ts);
	tv->tv_sec = ts.tv_sec;
	tv->tv_usec = ts.tv_nsec / 1000;
	return 0;
}

int
pthread_cond_timedwait(pthread_cond_t *restrict cond,
    pthread_mutex_t *restrict mutex, const struct timespec *restrict until)
{
	struct timespec ts = *until;

	if (ahead != NULL && ts.tv_sec > YEAR_2001)
		ts.tv_sec -= *ahead;
	return real_wait(cond, mutex, &ts);
}
