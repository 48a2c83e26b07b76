/* SPDX-License-Identifier: MIT */
/*
 * The names in the lists of the filters, and the filters of each role for x86-64
 * and for aarch64, whichever of them this machine is.  libseccomp leaves out a
 * name that it does not know; a misspelled one would be missing without an error.
 */
#include "common/worker/seccomp.c" /* its lists are static */

#include "tests/unit/check.h"

/* Calls that libseccomp 2.5.4 does not know; their filters have no rule then. */
static const char *const newer[] = { "fchmodat2", "setxattrat", "removexattrat",
	"file_setattr" };
/* Of architectures with 32 bits, or of x86 alone: nothing stands for them. */
static const char *const elsewhere[] = { "futex_time64", "clock_gettime64",
	"clock_nanosleep_time64", "sigreturn", "ppoll_time64", "_newselect",
	"fstat64", "recvmmsg_time64", "stat64", "lstat64", "fstatat64",
	"statfs64", "fstatfs64", "_llseek", "ftruncate64", "fchown32",
	"clock_settime64", "clock_adjtime64", "chown32", "lchown32", "stime",
	"create_module", "iopl", "ioperm", "modify_ldt", "_sysctl", "uselib",
	"umount", "time" };
/* The C library of an architecture without the first uses the second. */
static const char *const instead[][2] = {
	{ "open", "openat" },
	{ "stat", "newfstatat" },
	{ "lstat", "newfstatat" },
	{ "access", "faccessat" },
	{ "readlink", "readlinkat" },
	{ "getdents", "getdents64" },
	{ "rename", "renameat" },
	{ "unlink", "unlinkat" },
	{ "mkdir", "mkdirat" },
	{ "rmdir", "unlinkat" },
	{ "mknod", "mknodat" },
	{ "chmod", "fchmodat" },
	{ "chown", "fchownat" },
	{ "lchown", "fchownat" },
	{ "poll", "ppoll" },
	{ "select", "pselect6" },
	{ "epoll_create", "epoll_create1" },
	{ "epoll_wait", "epoll_pwait" },
	{ "pipe", "pipe2" },
	{ "dup2", "dup3" },
	/* denied by a rule of its own */
	{ "utime", "utimensat" },
	{ "utimes", "utimensat" },
	{ "futimesat", "utimensat" },
};

#define LIST(a) \
	{ \
		a, COUNT(a) \
	}
static const struct list {
	const char *const *names;
	size_t n;
} lists[] = { LIST(basic), LIST(looping), LIST(listening), LIST(connecting),
	LIST(filing), LIST(parsing), LIST(threading), LIST(executing) };

static int
is_one_of(const char *name, const char *const *names, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (names[i] != NULL && strcmp(names[i], name) == 0)
			return 1;
	return 0;
}

static int
on_aarch64(const char *name)
{
	return seccomp_syscall_resolve_name_arch(SCMP_ARCH_AARCH64, name) >= 0;
}

/* The call that stands for name there is known, and in the list. */
static int
is_replaced(const char *name, const struct list *list)
{
	size_t i;

	for (i = 0; i < COUNT(instead); i++)
		if (strcmp(instead[i][0], name) == 0)
			return on_aarch64(instead[i][1]) &&
			    (is_one_of(instead[i][1], list->names, list->n) ||
				/* these have rules with arguments */
				strcmp(instead[i][1], "openat") == 0 ||
				strcmp(instead[i][1], "utimensat") == 0);
	return 0;
}

static void
list_check(const struct list *list)
{
	const char *name;
	size_t i;
	int ok;

	for (i = 0; i < list->n; i++) {
		if ((name = list->names[i]) == NULL)
			continue;
		ok = is_one_of(name, newer, COUNT(newer)) ||
		    seccomp_syscall_resolve_name(name) != __NR_SCMP_ERROR;
		CHECK(ok);
		if (ok && !is_one_of(name, newer, COUNT(newer)))
			ok = on_aarch64(name) ||
			    is_one_of(name, elsewhere, COUNT(elsewhere)) ||
			    is_replaced(name, list);
		CHECK(ok);
		if (!ok)
			fprintf(stderr, "    %s\n", name);
	}
}

static size_t
length(const char *const *names)
{
	size_t n = 0;

	while (names[n] != NULL)
		n++;
	return n;
}

/* The filter of a role for an architecture; it is not loaded. */
static void
filter_check(enum role role, uint32_t arch)
{
	struct filter f = { .kill = kill_action(role, SANDBOX_ENFORCE) };
	FILE *out = tmpfile();

	CHECK(out != NULL);
	CHECK_INT(filter_begin(&f, default_action(role, SANDBOX_ENFORCE),
		      SANDBOX_ENFORCE),
	    0);
	if (seccomp_arch_exist(f.ctx, arch) != 0) {
		CHECK_INT(seccomp_arch_add(f.ctx, arch), 0);
		CHECK_INT(seccomp_arch_remove(f.ctx, SCMP_ARCH_NATIVE), 0);
	}
	filter_fill(&f, role);
	CHECK_INT(f.err, 0);
	CHECK_INT(seccomp_export_bpf(f.ctx, fileno(out)), 0);
	/* Instructions of 8 bytes; the kernel takes 4096. */
	CHECK(lseek(fileno(out), 0, SEEK_CUR) > (LENIENT ? 80 : 400) &&
	    lseek(fileno(out), 0, SEEK_CUR) <= 4096 * 8);
	fclose(out);
	seccomp_release(f.ctx);
}

int
main(void)
{
	static const enum role roles[] = { ROLE_LISTENER, ROLE_COLLECTOR,
		ROLE_RUNNER, ROLE_SUBMITTER, ROLE_EXPORTER, ROLE_RECEIVER,
		ROLE_PARSER };
	const struct list dangerous = { seccomp_dangerous,
		length(seccomp_dangerous) };
	const struct list no_command = { seccomp_no_command,
		length(seccomp_no_command) };
	size_t i;

	for (i = 0; i < COUNT(lists); i++)
		list_check(&lists[i]);
	list_check(&dangerous);
	list_check(&no_command);
	if (check_on_valgrind()) {
		printf("filters are not checked: valgrind has no seccomp(2)\n");
		return check_done();
	}
	for (i = 0; i < COUNT(roles); i++) {
		filter_check(roles[i], SCMP_ARCH_X86_64);
		filter_check(roles[i], SCMP_ARCH_AARCH64);
	}
	return check_done();
}
