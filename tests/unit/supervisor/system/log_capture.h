/* SPDX-License-Identifier: MIT */
/* Standard error in a file, to read the lines that a test has logged. */
#ifndef TESTS_UNIT_SUPERVISOR_SYSTEM_LOG_CAPTURE_H
#define TESTS_UNIT_SUPERVISOR_SYSTEM_LOG_CAPTURE_H

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char captured[4 << 20];
static int capture_fd, capture_saved;

/* Standard error becomes fd until capture_end(). */
static inline void
capture_into(int fd)
{
	capture_fd = fd;
	capture_saved = dup(STDERR_FILENO);
	dup2(fd, STDERR_FILENO);
}

static inline void
capture_begin(void)
{
	char name[] = "/tmp/test_log.XXXXXX";
	int fd = mkstemp(name);

	unlink(name);
	capture_into(fd);
}

/* What was written, with a NUL. */
static inline const char *
capture_end(void)
{
	ssize_t n = pread(capture_fd, captured, sizeof(captured) - 1, 0);

	captured[n > 0 ? n : 0] = '\0';
	dup2(capture_saved, STDERR_FILENO);
	close(capture_saved);
	close(capture_fd);
	return captured;
}

#endif
