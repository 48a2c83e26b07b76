/* SPDX-License-Identifier: MIT */
/*
 * Crash points; see crash_point.h.  The file named by CSA_CRASH is opened and
 * mapped before the sandbox closes.  It contains "name count", NUL-terminated,
 * and all processes of the suite share it.  Each pass of the point reduces the
 * count by one; at 0 the process is killed.
 */
#include "config.h"

#ifdef CRASH_POINTS

#include <sys/mman.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/crash_point.h"

struct crash_page {
	char name[56];	 /* NUL-terminated */
	atomic_int left; /* passes until the kill */
	atomic_int hits; /* processes killed */
};

static struct crash_page *page;

void
crash_init(void)
{
	const char *path = getenv("CSA_CRASH");
	int fd = path != NULL ? open(path, O_RDWR | O_CLOEXEC) : -1;
	void *p;

	if (fd == -1)
		return;
	p = mmap(NULL, sizeof(*page), PROT_READ | PROT_WRITE, MAP_SHARED, fd,
	    0);
	if (p != MAP_FAILED)
		page = p;
	close(fd);
}

void
crash_point(const char *name)
{
	if (page == NULL || strncmp(page->name, name, sizeof(page->name)) != 0)
		return;
	if (atomic_fetch_sub(&page->left, 1) == 1) {
		atomic_fetch_add(&page->hits, 1);
		kill(getpid(), SIGKILL);
	}
}

void
crash_inflight(uint64_t job)
{
	char name[sizeof(page->name)];

	if (page == NULL)
		return;
	snprintf(name, sizeof(name), "%s.inflight:%llu",
	    program_invocation_short_name, (unsigned long long)job);
	if (strncmp(page->name, name, sizeof(name)) != 0 ||
	    atomic_fetch_sub(&page->left, 1) < 1)
		return;
	atomic_fetch_add(&page->hits, 1);
	abort();
}

#else
typedef int crash_points_are_not_built; /* ISO C requires a declaration */
#endif
