/* SPDX-License-Identifier: MIT */
/*
 * A command that was taken over: what it can and cannot do, with Landlock and
 * on a kernel without; and what was replaced a moment ago.
 */
#include "config.h"

#include <sys/stat.h>

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"
#include "common/worker/landlock.h"
#include "tests/unit/check.h"
#include "tests/unit/runner/confine/confined.h"

static struct confine *
confine_of(enum sandbox_mode mode, int landlock_max, const char *extra)
{
	char slurm_conf[PATH_MAX];
	struct confine_conf conf = { .mode = mode,
		.slurm_conf = slurm_conf,
		.extra_paths = extra,
		.landlock_max = landlock_max };
	struct confine *c;

	snprintf(slurm_conf, sizeof(slurm_conf), "%s",
	    scratch_path("slurm/etc/slurm.conf"));
	c = confine_new(&conf);
	CHECK(c != NULL);
	return c;
}

/* With every layer and without Landlock. */
static void
check_filter(void)
{
	static const char *const denied[] = { "kill", "kill-group", "kill-high",
		"tgkill", "tkill", "pidfd", "own-by-fcntl", "own-by-fcntl-ex",
		"own-by-ioctl", "ptrace", "prlimit", "priority", "setsid",
		"death-signal", "death-signal-high", "listen", "tiocsti",
		"tiocsti-high", "unshare", "clone", "mount", "bpf", "perf",
		"keyctl", "io-uring", "userfaultfd", "module", "shared-memory",
		"personality", "chmod-own", "chown-own", "truncate-own",
		"unlink-own", "rename-own", "link-own", "mkdir" };
	static const char *const no_family[] = { "packet", "raw", "raw-high",
		"ping", "seqpacket", "vsock", "netlink-other" };
	static const char *const allowed[] = { "kill-self", "tgkill-self",
		"fork", "memfd", "read-memfd", "read-passwd", "netlink-route",
		"udp", "getaddrinfo", "getpwnam", "getgrgid", "random", "end" };
	size_t i;

	for (i = 0; i < sizeof(denied) / sizeof(denied[0]); i++) {
		if (probed(denied[i]) != EPERM)
			fprintf(stderr, "%s:\n", denied[i]);
		CHECK_INT(probed(denied[i]), EPERM);
	}
	for (i = 0; i < sizeof(no_family) / sizeof(no_family[0]); i++) {
		if (probed(no_family[i]) != EAFNOSUPPORT)
			fprintf(stderr, "%s:\n", no_family[i]);
		CHECK_INT(probed(no_family[i]), EAFNOSUPPORT);
	}
	for (i = 0; i < sizeof(allowed) / sizeof(allowed[0]); i++) {
		if (probed(allowed[i]) != 0)
			fprintf(stderr, "%s:\n", allowed[i]);
		CHECK_INT(probed(allowed[i]), 0);
	}
	CHECK_INT(probed("clone3"), ENOSYS);
}

static void
check_landlock(int abi)
{
	CHECK_INT(probed("read-secret"), EACCES);
	CHECK_INT(probed("read-shadow"), EACCES);
	CHECK_INT(probed("list-etc"), EACCES);
	CHECK_INT(probed("list-root"), EACCES);
	CHECK_INT(probed("read-memory"), EACCES);
	/* The kernel lets root read it; a command has no capability. */
	if (geteuid() != 0)
		CHECK_INT(probed("read-environment"), EACCES);
	CHECK_INT(probed("write-null"), 0);
	CHECK_INT(probed("create"), EACCES);
	CHECK_INT(probed("write-own"), EACCES);
	CHECK_INT(probed("exec"), EACCES);
	CHECK_INT(probed("bind"), abi >= 4 ? EACCES : 0);
	CHECK_INT(probed("abstract"), abi >= 6 ? EPERM : 0);
}

/* The kernel's version and each that lacks a right. */
static void
test_program(int abi)
{
	static const int tried[] = { 1, 3, 5, 0 };
	char layers[128];
	struct confine *c;
	size_t i;

	for (i = 0; i < sizeof(tried) / sizeof(tried[0]); i++) {
		int used = tried[i] == 0 || tried[i] > abi ? abi : tried[i];

		c = confine_of(SANDBOX_ENFORCE, tried[i], NULL);
		CHECK_INT(confined_probe(c, probe_path(), NULL), 0);
		check_filter();
		check_landlock(used);
		snprintf(layers, sizeof(layers), "nnp,landlock-%d,seccomp%s",
		    used,
		    used < 4	 ? "; landlock without ports and abstract "
				   "sockets" :
			used < 6 ? "; landlock without abstract sockets" :
				   "");
		CHECK_STR(confine_layers(c), layers);
		confine_free(c);
	}
}

static void
test_no_landlock(void)
{
	struct confine *c = confine_of(SANDBOX_ENFORCE, -1, NULL);

	CHECK_INT(confined_probe(c, probe_path(), NULL), 0);
	check_filter();
	/* Without the rules by path: no file is changed. */
	CHECK_INT(probed("read-secret"), 0);
	CHECK_INT(probed("create"), EPERM);
	CHECK_INT(probed("write-own"), EPERM);
	CHECK_INT(probed("exec"), 0);
	CHECK_STR(confine_layers(c), "nnp,seccomp; no landlock in this kernel");
	confine_free(c);
}

/* The probe keeps its files: in these modes it would change them. */
static void
test_modes(void)
{
	static const char script[] =
	    "cat $0.secret; kill -0 $PPID && echo killed";
	const char *argv[] = { "/bin/sh", "-c", script, NULL };
	struct confine *c = confine_of(SANDBOX_LOG, 0, NULL);
	char command[256];

	snprintf(command, sizeof(command),
	    "cat %s; kill -0 $PPID && echo killed",
	    scratch_path("config.json"));
	argv[2] = command;
	CHECK_INT(confined_run(c, argv), 0);
	CHECK_STR(confined_output, "secretkilled\n");
	CHECK_STR(confine_layers(c),
	    "nnp,seccomp-log; landlock left out in mode log");
	confine_free(c);
	c = confine_of(SANDBOX_OFF, 0, NULL);
	CHECK_INT(confined_run(c, argv), 0);
	CHECK_STR(confined_output, "secretkilled\n");
	CHECK_STR(confine_layers(c), "sandbox off");
	confine_free(c);
}

/* A site's script in place of a command runs programs of the system. */
static void
test_script(int landlock_max)
{
	static const char text[] =
	    "#!/bin/sh\n"
	    "exec 2>/dev/null\n"
	    "sleep 60 & child=$!\n"
	    "kill $child && wait $child; echo child $?\n"
	    "kill -0 $PPID; echo parent $?\n"
	    "kill -0 -$PPID; echo group $?\n"
	    "kill -0 -1; echo all $?\n"
	    "cat \"$(dirname \"$0\")\"/../../config.json; echo cat $?\n"
	    "\"$(dirname \"$0\")\"/helper\n"
	    "echo x >\"$0.log\"; echo write $?\n"
	    "echo x >/dev/null; echo null $?\n";
	struct confine *c = confine_of(SANDBOX_ENFORCE, landlock_max, NULL);
	const char *argv[] = { NULL, NULL };
	char command[PATH_MAX];

	snprintf(command, sizeof(command), "%s",
	    scratch_path("slurm/bin/squeue"));
	argv[0] = command;
	file_replace(command, text, 0755);
	file_replace(scratch_path("slurm/bin/helper"),
	    "#!/bin/sh\necho helper $?\n", 0755);
	CHECK_INT(confined_run(c, argv), 0);
	CHECK_STR(confined_output,
	    landlock_max == -1 ?
		"child 143\nparent 1\ngroup 1\nall 1\nsecretcat 0\nhelper 0\n"
		"write 0\nnull 0\n" :
		"child 143\nparent 1\ngroup 1\nall 1\ncat 1\nhelper 0\n"
		"write 2\nnull 0\n");
	confine_free(c);
}

/* A command replaced by rename works, and its kind is seen again. */
static void
test_replaced_command(void)
{
	struct confine *c = confine_of(SANDBOX_ENFORCE, 0, NULL);
	const char *argv[] = { NULL, NULL };
	struct confine_rules old;
	char command[PATH_MAX];

	snprintf(command, sizeof(command), "%s",
	    scratch_path("slurm/bin/sacct"));
	argv[0] = command;
	file_copy(probe_path(), command);
	CHECK_INT(confined_probe(c, command, NULL), 0);
	CHECK_INT(probed("end"), 0);
	CHECK_INT(confine_prepare(c, command, &old), 0);
	CHECK_INT(old.is_script, 0);
	file_copy(probe_path(), command);
	/* Rules of the replaced file do not fit: the runner prepares again. */
	CHECK_INT(confined_start(&old, argv), -2);
	confine_release(&old);
	CHECK_INT(confined_probe(c, command, NULL), 0);
	CHECK_INT(probed("end"), 0);
	file_replace(command, "#!/bin/sh\necho script\n", 0755);
	CHECK_INT(confined_run(c, argv), 0);
	CHECK_STR(confined_output, "script\n");
	file_copy(probe_path(), command);
	CHECK_INT(confined_probe(c, command, NULL), 0);
	CHECK_INT(probed("exec"), EACCES);
	CHECK_INT(unlink(command), 0);
	CHECK_INT(confined_run(c, argv), -3);
	CHECK_INT(errno, ENOENT);
	confine_free(c);
}

/* A command that is a link into the prefix of another Slurm. */
static void
test_prefix(void)
{
	struct confine *c = confine_of(SANDBOX_ENFORCE, 0, NULL);
	char lib[PATH_MAX], conf[PATH_MAX], private[PATH_MAX],
	    command[PATH_MAX];
	const char *const files[] = { lib, conf, private, NULL };

	snprintf(lib, sizeof(lib), "%s", scratch_path("2/lib/slurm.so"));
	snprintf(conf, sizeof(conf), "%s", scratch_path("2/etc/slurm.conf"));
	snprintf(private, sizeof(private), "%s",
	    scratch_path("2/etc/private.json"));
	snprintf(command, sizeof(command), "%s",
	    scratch_path("current/squeue"));
	file_copy(probe_path(), scratch_path("2/bin/squeue"));
	file_replace(lib, "", 0644);
	file_replace(conf, "", 0644);
	file_replace(private, "", 0644);
	CHECK_INT(symlink(scratch_path("2/bin"), scratch_path("current")), 0);
	CHECK_INT(confined_probe(c, command, files), 0);
	CHECK_INT(probed(lib), 0);
	CHECK_INT(probed(conf), 0);
	CHECK_INT(probed(private), EACCES);
	confine_free(c);
}

static void
test_too_many(void)
{
	char extra[4096] = "[", file[64], *path;
	const char *files[2] = { NULL, NULL };
	struct confine *c;
	int i;

	for (i = 0; i < 40; i++) {
		snprintf(file, sizeof(file), "extra%d", i);
		path = scratch_path(file);
		file_replace(path, "", 0644);
		snprintf(extra + strlen(extra), sizeof(extra) - strlen(extra),
		    "%s\"%s\"", i > 0 ? "," : "", path);
	}
	snprintf(extra + strlen(extra), sizeof(extra) - strlen(extra), "]");
	files[0] = scratch_path("extra0");
	c = confine_of(SANDBOX_ENFORCE, 0, extra);
	CHECK(strstr(confine_layers(c), "left out") == NULL);
	CHECK_INT(confined_probe(c, probe_path(), files), 0);
	CHECK_INT(probed(files[0]), 0);
	CHECK(strstr(confine_layers(c), " paths left out") != NULL);
	confine_free(c);
}

int
main(void)
{
	static const char *const folders[] = { "slurm", "slurm/bin",
		"slurm/etc", "2", "2/bin", "2/lib", "2/etc" };
	int abi = landlock_abi();
	size_t i;

	if (check_on_valgrind())
		return 77;
	log_init("test", LOG_LEVEL_FATAL);
	scratch_make();
	for (i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		CHECK_INT(mkdir(scratch_path(folders[i]), 0755), 0);
	file_replace(scratch_path("slurm/etc/slurm.conf"), "", 0644);
	test_no_landlock();
	test_modes();
	test_script(-1);
	if (abi > 0) {
		test_program(abi);
		test_script(0);
		test_replaced_command();
		test_prefix();
		test_too_many();
	} else
		printf("no Landlock in this kernel: its part is not tested\n");
	scratch_remove();
	return check_done();
}
