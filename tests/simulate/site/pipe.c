/* SPDX-License-Identifier: MIT */
/*
 * The part of the simulation that is linked with the collector's code: its
 * start, and the calls of libc with which it reads the pipes of answers, which
 * go to the simulated runner.  The header of libc that declares read() is not
 * included: its read() may be an inline function.
 */
#include "config.h"

#include <sys/types.h>

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>

#include "tests/simulate/process.h"
#include "tests/simulate/site/runner.h"

#define PIPE_BYTES 65536

ssize_t read(int fd, void *buf, size_t n);
int close(int fd);
int main(int argc, char **argv);

void
collector_begin(int fd)
{
	process_main(main, fd);
}

ssize_t
read(int fd, void *buf, size_t n)
{
	return runner_pipe_read(fd, buf, n);
}

int
close(int fd)
{
	runner_pipe_close(fd);
	return 0;
}

/* The questions of collector/slurm/runner_link.c about a descriptor. */
int
fcntl(int fd, int cmd, ...)
{
	switch (cmd) {
	case F_GETFL:
		return O_RDONLY;
	case F_GETPIPE_SZ:
		return PIPE_BYTES;
	case F_SETFL:
		runner_pipe_opened(fd, loop_fd_ready);
		return 0;
	default:
		errno = EINVAL;
		return -1;
	}
}
