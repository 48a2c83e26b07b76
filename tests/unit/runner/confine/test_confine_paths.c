/* SPDX-License-Identifier: MIT */
/*
 * What slurm.conf names and includes: as the files are at the start of each
 * command, bounded, and nothing beside them.
 */
#include "config.h"

#include <sys/mount.h>
#include <sys/stat.h>

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"
#include "common/worker/landlock.h"
#include "runner/confine/confine_private.h"
#include "tests/unit/check.h"
#include "tests/unit/runner/confine/confined.h"

static struct confine *c;

/* Whether a command can read the file of scratch. */
static int
is_readable(const char *name)
{
	const char *files[] = { scratch_path(name), NULL };
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s", files[0]);
	files[0] = path;
	CHECK_INT(confined_probe(c, probe_path(), files), 0);
	if (probed(path) != 0)
		CHECK_INT(probed(path), EACCES);
	return probed(path) == 0;
}

/* The text with @ for scratch. */
static void
conf_write(const char *name, const char *text)
{
	char out[16384];
	size_t n = 0;

	for (; *text != '\0' && n < sizeof(out) - PLACES_MAX - 1; text++)
		if (*text == '@')
			n += (size_t)sprintf(out + n, "%s", scratch);
		else
			out[n++] = *text;
	out[n] = '\0';
	file_replace(scratch_path(name), out, 0644);
}

static void
confine_renew(const char *slurm_conf)
{
	struct confine_conf conf = { .mode = SANDBOX_ENFORCE,
		.slurm_conf = slurm_conf };

	confine_free(c);
	c = confine_new(&conf);
	CHECK(c != NULL);
}

static void
test_includes(void)
{
	conf_write("a/slurm.conf",
	    "Include nodes.conf\ninclude @/b/one.conf\n"
	    "PlugStackConfig=@/b/plugstack.conf\nPluginDir=@/b/lib:@/b/lib2\n"
	    "AuthInfo=socket=@/b/munge/socket\n");
	conf_write("a/nodes.conf", "Include @/b/nodes.conf\n");
	conf_write("b/one.conf",
	    "Include @/b/two.conf\nInclude @/b/one.conf\n");
	conf_write("b/two.conf", "Include ../b/three.conf\n");
	confine_renew(scratch_path("a/slurm.conf"));
	CHECK(is_readable("a/slurm.conf"));
	CHECK(is_readable("a/nodes.conf"));
	CHECK(is_readable("b/one.conf"));
	CHECK(is_readable("b/two.conf"));
	CHECK(is_readable("b/three.conf"));
	CHECK(is_readable("b/nodes.conf"));
	CHECK(is_readable("b/plugstack.conf"));
	CHECK(is_readable("b/lib/plugin.so"));
	/* Not the rest of the directory, and not the key beside a socket. */
	CHECK(!is_readable("b/other.conf"));
	CHECK(!is_readable("b/munge/key"));
	CHECK(!is_readable("config.json"));
}

/* Replaced, changed in place, removed: the next command sees it. */
static void
test_changes(void)
{
	FILE *f;

	conf_write("b/two.conf", "Include @/b/other.conf\n");
	CHECK(is_readable("b/other.conf"));
	CHECK(!is_readable("b/three.conf"));
	/* The included file itself has a new inode. */
	conf_write("b/other.conf", "# new\n");
	CHECK(is_readable("b/other.conf"));
	f = fopen(scratch_path("b/two.conf"), "w");
	CHECK(f != NULL && fprintf(f, "# nothing\n") > 0);
	fclose(f);
	CHECK(!is_readable("b/other.conf"));
	CHECK_INT(unlink(scratch_path("b/one.conf")), 0);
	CHECK(!is_readable("b/two.conf"));
	CHECK(is_readable("b/nodes.conf"));
	CHECK_INT(rename(scratch_path("a/slurm.conf"),
		      scratch_path("a/slurm.conf.away")),
	    0);
	CHECK(!is_readable("b/nodes.conf"));
	CHECK_INT(rename(scratch_path("a/slurm.conf.away"),
		      scratch_path("a/slurm.conf")),
	    0);
	CHECK(is_readable("b/nodes.conf"));
}

/* A link: siblings of the link and of the file. */
static void
test_link(void)
{
	CHECK_INT(mkdir(scratch_path("link"), 0755), 0);
	CHECK_INT(mkdir(scratch_path("link/etc"), 0755), 0);
	conf_write("link/etc/gres.conf", "");
	conf_write("link/etc/nodes.conf", "Include @/b/nodes.conf\n");
	CHECK_INT(symlink(scratch_path("a/slurm.conf"),
		      scratch_path("link/etc/slurm.conf")),
	    0);
	confine_renew(scratch_path("link/etc/slurm.conf"));
	CHECK(is_readable("link/etc/gres.conf"));
	CHECK(is_readable("a/nodes.conf"));
	CHECK(is_readable("link/etc/slurm.conf"));
	CHECK(is_readable("b/nodes.conf"));
}

/* The same for PREFIX/etc/slurm.conf of PREFIX/bin/squeue. */
static void
test_prefix_link(void)
{
	char command[PATH_MAX], sibling[PATH_MAX], other[PATH_MAX];
	const char *files[] = { sibling, other, NULL };

	snprintf(command, sizeof(command), "%s/p/bin/probe", scratch);
	snprintf(sibling, sizeof(sibling), "%s/a/gres.conf", scratch);
	snprintf(other, sizeof(other), "%s/b/three.conf", scratch);
	CHECK_INT(mkdir(scratch_path("p"), 0755), 0);
	CHECK_INT(mkdir(scratch_path("p/bin"), 0755), 0);
	CHECK_INT(mkdir(scratch_path("p/etc"), 0755), 0);
	file_copy(probe_path(), command);
	CHECK_INT(symlink(scratch_path("a/slurm.conf"),
		      scratch_path("p/etc/slurm.conf")),
	    0);
	confine_renew(NULL);
	CHECK_INT(confined_probe(c, command, files), 0);
	CHECK_INT(probed(sibling), 0);
	CHECK_INT(probed(other), EACCES);
}

/* An included file that is a link. */
static void
test_include_link(void)
{
	conf_write("a/slurm.conf", "Include linked.conf\n");
	conf_write("b/target.conf", "Include @/b/other.conf\n");
	CHECK_INT(symlink(scratch_path("b/target.conf"),
		      scratch_path("a/linked.conf")),
	    0);
	confine_renew(scratch_path("a/slurm.conf"));
	CHECK(is_readable("a/linked.conf"));
	CHECK(is_readable("b/other.conf"));
	CHECK(!is_readable("b/nodes.conf"));
}

/*
 * A link at one of Slurm's usual places, which no key names: Slurm reads the
 * file.  The place is a directory of this process alone.
 */
static void
test_usual_link(void)
{
	conf_write("a/slurm.conf", "Include @/b/other.conf\n");
	if (unshare(CLONE_NEWNS) == -1 ||
	    mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL) == -1 ||
	    mount("tmpfs", "/usr/local/etc", "tmpfs", 0, NULL) == -1) {
		printf("no right to mount: the usual places are not tested\n");
		return;
	}
	CHECK_INT(symlink(scratch_path("a/slurm.conf"),
		      "/usr/local/etc/slurm.conf"),
	    0);
	confine_renew(NULL);
	CHECK(is_readable("a/slurm.conf"));
	CHECK(is_readable("a/gres.conf"));
	CHECK(is_readable("b/other.conf"));
	CHECK(!is_readable("b/nodes.conf"));
	CHECK(!is_readable("config.json"));
}

/* %c is the name of the cluster. */
static void
test_cluster_name(void)
{
	conf_write("a/slurm.conf", "Include @/b/%c/nodes.conf\n");
	confine_renew(scratch_path("a/slurm.conf"));
	CHECK(is_readable("b/other.conf"));
	conf_write("a/slurm.conf", "Include /%c\nInclude /tmp/%c\n");
	CHECK(!is_readable("b/other.conf"));
}

/* Hostile files: many includes, deep includes, a file that is no file. */
static void
test_bounds(void)
{
	struct confine_conf conf = { .mode = SANDBOX_ENFORCE };
	char text[16384] = "", name[32], extra[PLACES_MAX + 16];
	unsigned i;

	for (i = 0; i < 100; i++) {
		snprintf(text + strlen(text), sizeof(text) - strlen(text),
		    "Include @/b/many%u.conf\n", i);
		snprintf(name, sizeof(name), "b/many%u.conf", i);
		conf_write(name, "Include @/b/other.conf\n");
	}
	conf_write("a/slurm.conf", text);
	confine_renew(scratch_path("a/slurm.conf"));
	/* Rules for as many as there may be; the limit is in confined_run(). */
	CHECK(is_readable("b/many0.conf"));
	CHECK(!is_readable("b/many99.conf"));
	CHECK(strstr(confine_layers(c), " paths left out") != NULL);
	/* The remedy of the log. */
	conf.extra_paths = extra;
	conf.slurm_conf = scratch_path("a/slurm.conf");
	snprintf(extra, sizeof(extra), "[\"%s/b\"]", scratch);
	confine_free(c);
	c = confine_new(&conf);
	CHECK(is_readable("b/many99.conf"));
	CHECK(strstr(confine_layers(c), "left out") == NULL);
	confine_renew(scratch_path("a/slurm.conf"));
	conf_write("a/slurm.conf",
	    "Include /dev/zero\nInclude /dev/stdin\n"
	    "Include @/b\n");
	CHECK(is_readable("a/slurm.conf"));
	CHECK(strstr(confine_layers(c), "left out") == NULL);
}

/* A file that was written now may change again with the same ctime. */
static void
test_stamp(void)
{
	struct file_stamp old, fresh;

	CHECK_INT(file_stamp("/bin/sh", &old), 0);
	CHECK(file_stamp_equal(&old, &old));
	file_replace(scratch_path("stamp"), "", 0644);
	CHECK_INT(file_stamp(scratch_path("stamp"), &fresh), 0);
	CHECK(!file_stamp_equal(&fresh, &fresh));
	CHECK(!file_stamp_equal(&old, &fresh));
	CHECK_INT(file_stamp(scratch_path("none"), &fresh), -1);
}

/* SLURM_CONF of the runner, when the configuration names no file. */
static void
test_environment(void)
{
	conf_write("a/slurm.conf", "Include @/b/other.conf\n");
	setenv("SLURM_CONF", scratch_path("a/slurm.conf"), 1);
	confine_renew(NULL);
	CHECK(is_readable("b/other.conf"));
	confine_renew("");
	CHECK(is_readable("b/other.conf"));
	setenv("SLURM_CONF", "relative", 1);
	confine_renew(NULL);
	CHECK(!is_readable("b/other.conf"));
	unsetenv("SLURM_CONF");
}

int
main(void)
{
	static const char *const folders[] = { "a", "b", "b/lib", "b/munge" };
	static const char *const files[] = { "a/gres.conf", "b/three.conf",
		"b/nodes.conf", "b/plugstack.conf", "b/lib/plugin.so",
		"b/other.conf", "b/munge/key" };
	size_t i;

	if (check_on_valgrind() || landlock_abi() == 0) {
		printf("no Landlock in this kernel: not tested\n");
		return 77;
	}
	log_init("test", LOG_LEVEL_FATAL);
	scratch_make();
	for (i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		CHECK_INT(mkdir(scratch_path(folders[i]), 0755), 0);
	for (i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		conf_write(files[i], "");
	test_includes();
	test_changes();
	test_link();
	test_prefix_link();
	test_cluster_name();
	test_bounds();
	test_environment();
	test_stamp();
	test_include_link();
	test_usual_link();
	confine_free(c);
	scratch_remove();
	return check_done();
}
