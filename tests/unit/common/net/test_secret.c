/* SPDX-License-Identifier: MIT */
/* Copies of secrets: locked, in no dump, wiped. */
#include "config.h"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/net/secret.h"
#include "tests/unit/check.h"

/* The flags of the mapping of p in /proc/self/smaps: 1 when it has them. */
static int
has_flags(const void *p, const char *a, const char *b)
{
	FILE *f = fopen("/proc/self/smaps", "r");
	unsigned long from = 0, to = 0, first, last;
	char line[512];
	int found = 0;

	CHECK(f != NULL);
	while (f != NULL && fgets(line, sizeof(line), f) != NULL) {
		if (sscanf(line, "%lx-%lx ", &first, &last) == 2) {
			from = first;
			to = last;
		} else if (strncmp(line, "VmFlags:", 8) == 0 &&
		    from <= (uintptr_t)p && (uintptr_t)p < to)
			found = strstr(line, a) != NULL &&
			    strstr(line, b) != NULL;
	}
	if (f != NULL)
		fclose(f);
	return found;
}

static void
test_copies(void)
{
	char *copy = secret_copy("geheim?", 6);

	CHECK_STR(copy, "geheim");
	/* A sanitizer ignores mlock(). */
#ifdef SANITIZED
	CHECK(has_flags(copy, " dd", " dd"));
#else
	if (!secret_is_unlocked())
		CHECK(has_flags(copy, " lo", " dd"));
#endif
	secret_free(copy);
	copy = secret_copy("", 0);
	CHECK_STR(copy, "");
	secret_free(copy);
	CHECK(secret_copy("a\0b", 3) == NULL);
	secret_free(NULL);
	CHECK(secret_alloc(SIZE_MAX) == NULL);
}

#ifndef SANITIZED
/* 1 when this process can read p as another process does. */
static int
is_readable(const void *p)
{
	int mem = open("/proc/self/mem", O_RDONLY);
	char buf[4];
	ssize_t n;

	CHECK(mem != -1);
	n = pread(mem, buf, sizeof(buf), (off_t)(uintptr_t)p);
	close(mem);
	return n == (ssize_t)sizeof(buf);
}

/* Where the kernel has it. */
static void
test_hidden(void)
{
	char plain[] = "offen", *copy = secret_copy("geheim", 6);

	CHECK(is_readable(plain));
#ifdef SYS_memfd_secret
	int fd = (int)syscall(SYS_memfd_secret, 0u);

	CHECK_INT(secret_is_hidden(), fd != -1);
	CHECK_INT(is_readable(copy), fd == -1);
	if (fd != -1)
		close(fd);
#endif
	CHECK_STR(copy, "geheim");
	secret_free(copy);
}

/* Without room for locked memory the secret is there all the same. */
static void
test_unlocked(void)
{
	const struct rlimit none = { 0, 0 };
	char *copy;
	int status;
	pid_t pid;

	fflush(NULL);
	if ((pid = fork()) == 0) {
		/* Root's limit does not count. */
		if (setrlimit(RLIMIT_MEMLOCK, &none) == -1 ||
		    (geteuid() == 0 && setuid(65534) == -1))
			_exit(2);
		copy = secret_copy("geheim", 6);
		_exit(copy == NULL || strcmp(copy, "geheim") != 0 ||
		    !secret_is_unlocked() || secret_is_hidden());
	}
	CHECK_INT(waitpid(pid, &status, 0), pid);
	CHECK_INT(status, 0);
}
#endif

/* In any order of the list. */
static void
test_wipe(void)
{
	char *a = secret_copy("one", 3), *b = secret_copy("two", 3),
	     *c = secret_copy("three", 5);

	secret_free(b);
	secret_wipe_all();
	CHECK_STR(a, "");
	CHECK_STR(c, "");
	secret_free(c);
	secret_free(a);
	secret_wipe_all();
}

static void
test_allocator(void)
{
	char *p = wiping_realloc(NULL, 8);

	memcpy(p, "geheim", 7);
	p = wiping_realloc(p, 4096);
	CHECK_STR(p, "geheim");
	p = wiping_realloc(p, 4);
	CHECK(memcmp(p, "gehe", 4) == 0);
	CHECK(wiping_realloc(p, 0) == NULL);
	wiping_free(NULL);
}

int
main(void)
{
#ifndef SANITIZED
	test_unlocked();
	test_hidden();
#endif
	test_copies();
	test_wipe();
	test_allocator();
	return check_done();
}
