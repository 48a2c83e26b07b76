/* SPDX-License-Identifier: MIT */
/*
 * Where the commands are, and which of them are missing.  This test is built
 * with a directory of unmunge that does not exist.
 */
#include "config.h"

#include <sys/stat.h>

#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "runner/runner.h"
#include "tests/unit/check.h"

static struct slurm_site site;

static void
command_create(enum slurm_command cmd)
{
	char path[1100];
	int fd;

	slurm_site_path(&site, cmd, path, sizeof(path));
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0700);
	CHECK(fd != -1);
	close(fd);
}

static void
command_remove(enum slurm_command cmd)
{
	char path[1100];

	unlink(slurm_site_path(&site, cmd, path, sizeof(path)));
}

/* Without unmunge, jobs are collected all the same. */
static void
test_missing(void)
{
	char path[1100];
	int cmd;

	CHECK_STR(slurm_site_path(&site, CMD_UNMUNGE, path, sizeof(path)),
	    "/nonexistent/unmunge");
	CHECK_INT(slurm_site_check(&site), 1);
	CHECK_STR(site.missing, "squeue scontrol sacct sacctmgr sdiag");
	for (cmd = 0; cmd < CMD_UNMUNGE; cmd++)
		command_create((enum slurm_command)cmd);
	CHECK_INT(slurm_site_check(&site), 1);
	CHECK_STR(site.missing, "");
	CHECK_INT(slurm_site_check(&site), 0);
	command_remove(CMD_SACCT);
	CHECK_INT(slurm_site_check(&site), 1);
	CHECK_STR(site.missing, "sacct");
	for (cmd = 0; cmd < CMD_UNMUNGE; cmd++)
		command_remove((enum slurm_command)cmd);
}

/* The value of the variable for Slurm's commands, NULL without it. */
static const char *
of_commands(const char *name)
{
	size_t n = strlen(name);
	char **p;

	for (p = site.env; *p != NULL; p++)
		if (strncmp(*p, name, n) == 0 && (*p)[n] == '=')
			return *p + n + 1;
	return NULL;
}

/* A reload can set slurmConf and remove it, for a configless Slurm. */
static void
test_slurm_conf(void)
{
	struct conf conf;

	unsetenv("SLURM_CONF");
	unsetenv("SLURM_CONF_SERVER");
	conf_init(&conf);
	CHECK_INT(slurm_site_conf(&site, &conf), 0);
	CHECK_STR(of_commands("SLURM_CONF"), NULL);
	CHECK(conf_set(&conf, CONF_SLURM_CONF, "/a/slurm.conf") == 0);
	CHECK_INT(slurm_site_conf(&site, &conf), 0);
	CHECK_STR(of_commands("SLURM_CONF"), "/a/slurm.conf");
	CHECK(conf_set(&conf, CONF_SLURM_CONF, "") == 0);
	CHECK_INT(slurm_site_conf(&site, &conf), 0);
	CHECK_STR(of_commands("SLURM_CONF"), NULL);
	CHECK_STR(of_commands("SLURM_CONF_SERVER"), NULL);
	setenv("SLURM_CONF_SERVER", "ctl1:6817", 1);
	CHECK_INT(slurm_site_conf(&site, &conf), 0);
	CHECK_STR(of_commands("SLURM_CONF_SERVER"), "ctl1:6817");
	setenv("SLURM_CONF", "/of/the/service", 1);
	CHECK_INT(slurm_site_conf(&site, &conf), 0);
	CHECK_STR(of_commands("SLURM_CONF_SERVER"), NULL);
	CHECK_STR(of_commands("SLURM_CONF"), "/of/the/service");
	conf_clear(&conf);
}

static int named; /* the name service knows the uid */

/* Instead of that of the C library. */
struct passwd *
getpwuid(uid_t uid)
{
	static char name[] = "slurm";
	static struct passwd pw = { .pw_name = name };

	CHECK_INT(uid, geteuid());
	return named ? &pw : NULL;
}

/* While the name service does not answer, the name that was found stays. */
static void
test_user(void)
{
	static struct slurm_site s;
	struct conf conf;
	uint64_t replaced;
	char number[16];

	snprintf(number, sizeof(number), "%u", (unsigned)geteuid());
	conf_init(&conf);
	CHECK(conf_set(&conf, CONF_SLURM_BIN_DIR, "/nonexistent") == 0);
	CHECK_INT(slurm_site_conf(&s, &conf), 0);
	CHECK_STR(s.user, number);
	CHECK_INT(slurm_site_check(&s), 1);
	CHECK_INT(slurm_site_check(&s), 0);
	CHECK_STR(s.user, number);
	named = 1;
	replaced = s.replaced;
	CHECK_INT(slurm_site_check(&s), 1);
	CHECK_STR(s.user, "slurm");
	CHECK_INT(s.replaced, replaced + 1);
	named = 0;
	CHECK_INT(slurm_site_check(&s), 0);
	CHECK_INT(slurm_site_conf(&s, &conf), 0);
	CHECK_STR(s.user, "slurm");
	CHECK_INT(s.replaced, replaced + 1);
	conf_clear(&conf);
}

int
main(void)
{
	snprintf(site.bin_dir, sizeof(site.bin_dir),
	    "/tmp/test_slurm_site.XXXXXX");
	if (mkdtemp(site.bin_dir) == NULL)
		return 1;
	test_missing();
	rmdir(site.bin_dir);
	test_slurm_conf();
	test_user();
	return check_done();
}
