/* SPDX-License-Identifier: MIT */
/*
 * The paths that the workers may open.  Landlock has no rule that denies, so
 * that one directory too many would allow access to the secrets.
 */
#include "config.h"

#include <sys/stat.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "supervisor/system/system.h"
#include "tests/unit/check.h"

static struct setup setup;
static struct conf conf;
static struct sandbox sb;
static char spool[] = "/var/lib/x/spool", empty[] = "/var/lib/x/empty";

static void
fill(enum role role)
{
	sandbox_clear(&sb);
	sandbox_init(&sb, role);
	sandbox_paths_fill(&setup, &conf, &sb);
}

/* The rights that the list allows on path. */
static unsigned
rights(const char *path)
{
	unsigned access = 0;
	size_t n;
	int i;

	for (i = 0; i < sb.n_paths; i++) {
		n = strlen(sb.paths[i].path);
		if (strncmp(sb.paths[i].path, path, n) == 0 &&
		    (path[n] == '/' || path[n] == '\0'))
			access |= sb.paths[i].access;
	}
	return access;
}

static void
test_collector(void)
{
	unsetenv("SLURM_CONF");
	fill(ROLE_COLLECTOR);
	CHECK(sb.root == NULL);
	CHECK_INT(rights("/etc/cc-slurm-adapter/config.json"), 0);
	CHECK_INT(rights("/etc/shadow"), 0);
	CHECK_INT(rights("/var/lib/x/spool/spool.db"), 0);
	CHECK_INT(rights("/run/credentials/x/ccRestJwt"), 0);
	CHECK_INT(rights("/run/cc-slurm-adapter/ctl.sock"), 0);
	CHECK_INT(rights("/home/x/.ssh/id_rsa"), 0);
	CHECK_INT(rights("/root/x"), 0);
	CHECK_INT(rights("/usr/lib/libc.so.6"), SANDBOX_READ);
	CHECK_INT(rights("/etc/passwd"), SANDBOX_READ);
	CHECK_INT(rights("/usr/bin/id") & SANDBOX_EXEC, 0);
}

/* A slurm.conf directly in /etc must not allow all of /etc. */
static void
test_slurm_conf(void)
{
	CHECK_INT(conf_set(&conf, CONF_SLURM_CONF, "/etc/slurm.conf"), 0);
	fill(ROLE_COLLECTOR);
	CHECK_INT(rights("/etc/slurm.conf"), SANDBOX_READ);
	CHECK_INT(rights("/etc/cc-slurm-adapter/config.json"), 0);
	CHECK_INT(conf_set(&conf, CONF_SLURM_CONF,
		      "/srv/site/slurm/slurm.conf"),
	    0);
	fill(ROLE_COLLECTOR);
	CHECK_INT(rights("/srv/site/slurm/gres.conf"), SANDBOX_READ);
	CHECK_INT(rights("/srv/site/other"), 0);
	CHECK_INT(conf_set(&conf, CONF_SLURM_CONF, "/slurm.conf"), 0);
	fill(ROLE_COLLECTOR);
	CHECK_INT(rights("/etc/cc-slurm-adapter/config.json"), 0);
}

/* Slurm in a prefix with other programs: these are not allowed. */
static void
test_prefix(void)
{
	static const char *const directories[] = { "slurm", "slurm/bin",
		"slurm/lib", "slurm/lib64", "slurm/etc", "slurm/etc/cc",
		"slurm/var" };
	char top[] = "/tmp/test-sandbox-paths.XXXXXX", path[256];
	FILE *f;
	size_t i;

	if (mkdtemp(top) == NULL)
		abort();
	for (i = 0; i < sizeof(directories) / sizeof(directories[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", top, directories[i]);
		CHECK_INT(mkdir(path, 0755), 0);
	}
	snprintf(path, sizeof(path), "%s/slurm/etc/slurm.conf", top);
	f = fopen(path, "w");
	CHECK(f != NULL && fputs("PluginDir=/sw/plugins\n", f) >= 0 &&
	    fclose(f) == 0);
	snprintf(path, sizeof(path), "%s/slurm/bin", top);
	CHECK_INT(conf_set(&conf, CONF_SLURM_CONF, ""), 0);
	CHECK_INT(conf_set(&conf, CONF_SLURM_BIN_DIR, path), 0);
	fill(ROLE_COLLECTOR);
	for (i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), "%s/%s/x", top,
		    directories[1 + i]);
		CHECK_INT(rights(path), SANDBOX_READ);
	}
	snprintf(path, sizeof(path), "%s/slurm/etc/slurm.conf", top);
	CHECK_INT(rights(path), SANDBOX_READ);
	CHECK_INT(rights("/sw/plugins/x.so"), SANDBOX_READ);
	snprintf(path, sizeof(path), "%s/slurm/etc/cc/config.json", top);
	CHECK_INT(rights(path), 0);
	snprintf(path, sizeof(path), "%s/slurm/var/spool.db", top);
	CHECK_INT(rights(path), 0);
	CHECK_INT(conf_set(&conf, CONF_SLURM_BIN_DIR, ""), 0);
	snprintf(path, sizeof(path), "%s/slurm/etc/slurm.conf", top);
	CHECK_INT(unlink(path), 0);
	for (i = sizeof(directories) / sizeof(directories[0]); i-- > 0;) {
		snprintf(path, sizeof(path), "%s/%s", top, directories[i]);
		CHECK_INT(rmdir(path), 0);
	}
	CHECK_INT(rmdir(top), 0);
}

static void
test_extra(void)
{
	CHECK_INT(conf_set(&conf, CONF_SLURM_EXTRA_PATHS,
		      "[\"/opt/pmix\",\"/sw\"]"),
	    0);
	fill(ROLE_COLLECTOR);
	CHECK_INT(rights("/opt/pmix/lib/libpmix.so"),
	    SANDBOX_READ | SANDBOX_EXEC);
	CHECK_INT(rights("/sw/bin/sacct"), SANDBOX_READ | SANDBOX_EXEC);
}

static void
test_others(void)
{
	fill(ROLE_LISTENER);
	CHECK_INT(sb.n_paths, 0);
	CHECK_STR(sb.root, empty);
	CHECK_INT(sb.nproc, 0);
	fill(ROLE_SUBMITTER);
	CHECK_STR(sb.root, spool);
	CHECK_INT(sb.n_paths, 1);
	CHECK_INT(rights("/var/lib/x/spool/spool.db"),
	    SANDBOX_READ | SANDBOX_WRITE);
	CHECK_INT(rights("/var/lib/x/lastrun"), 0);
}

int
main(void)
{
	log_init("test", LOG_LEVEL_FATAL);
	conf_init(&conf);
	setup.config_path = "/etc/cc-slurm-adapter/config.json";
	setup.spool_dir = spool;
	setup.empty_dir = empty;
	sandbox_init(&sb, ROLE_LISTENER);
	test_collector();
	test_slurm_conf();
	test_prefix();
	test_extra();
	test_others();
	sandbox_clear(&sb);
	conf_clear(&conf);
	return check_done();
}
