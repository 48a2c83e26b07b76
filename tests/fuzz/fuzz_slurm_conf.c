/* SPDX-License-Identifier: MIT */
/*
 * The bytes of a slurm.conf or of a file that it includes.  Each path comes from
 * the file, and lines before and behind the input are read.
 */
#include "config.h"

#include <sys/mman.h>

#include <limits.h>
#include <unistd.h>

#include "common/text/slurm_conf.h"
#include "tests/fuzz/fuzz.h"

#define FOUND_MAX 32 /* as slurm_conf.h says */

#define BEFORE "Include before.conf\n"
#define BEHIND "\nPlugStackConfig=/behind.conf"

struct paths {
	const char *text; /* the file */
	size_t len;
	unsigned n;
	int before, behind;
};

static void
on_found(enum slurm_conf_path kind, const char *path, void *arg)
{
	struct paths *p = arg;
	size_t n = strlen(path);

	HOLDS(++p->n <= FOUND_MAX);
	HOLDS(kind <= SLURM_CONF_INCLUDE);
	HOLDS(n > 0 && n < PATH_MAX);
	HOLDS(path[0] == '/' || kind == SLURM_CONF_INCLUDE);
	HOLDS(strcspn(path, " \t\r\n\"#") == n);
	HOLDS(memmem(p->text, p->len, path, n) != NULL);
	if (p->n == 1)
		p->before = kind == SLURM_CONF_INCLUDE &&
		    strcmp(path, "before.conf") == 0;
	p->behind = kind == SLURM_CONF_FILE &&
	    strcmp(path, "/behind.conf") == 0;
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	static int fd = -1;
	struct paths p = { .len = strlen(BEFORE) + n + strlen(BEHIND) };
	char *text = malloc(p.len), path[64];

	HOLDS(text != NULL);
	memcpy(text, BEFORE, strlen(BEFORE));
	if (n > 0)
		memcpy(text + strlen(BEFORE), bytes, n);
	memcpy(text + strlen(BEFORE) + n, BEHIND, strlen(BEHIND));
	p.text = text;
	if (fd == -1)
		fd = memfd_create("slurm.conf", MFD_CLOEXEC);
	HOLDS(fd != -1 && ftruncate(fd, 0) == 0);
	HOLDS(pwrite(fd, text, p.len, 0) == (ssize_t)p.len);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	slurm_conf_scan(path, on_found, &p);
	HOLDS(p.before);
	HOLDS(p.behind || p.n == FOUND_MAX);
	free(text);
	return 0;
}
