/* SPDX-License-Identifier: MIT */
/* SlurmUser in slurm.conf. */
#include "config.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "supervisor/system/system.h"
#include "tests/unit/check.h"

static char folder[] = "/tmp/test_slurm_user.XXXXXX";

static const char *
in_folder(const char *name)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

static void
make_file(const char *name, const char *text)
{
	int fd = open(in_folder(name), O_WRONLY | O_CREAT | O_TRUNC, 0644);

	CHECK(
	    fd != -1 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	close(fd);
}

/* The SlurmUser of a slurm.conf with this text, NULL when it has none. */
static const char *
user_of(const char *text)
{
	static char name[16];

	make_file("slurm.conf", text);
	return slurm_conf_user(in_folder("slurm.conf"), name, sizeof(name)) ?
	    name :
	    NULL;
}

int
main(void)
{
	char name[16], line[256];
	struct conf conf;

	CHECK(mkdtemp(folder) != NULL);
	CHECK_STR(user_of("ClusterName=a\nSlurmUser=hpcadm\n"), "hpcadm");
	CHECK_STR(user_of("  slurmuser = \"a b\" # text\n"), "a");
	CHECK_STR(user_of("SlurmUser=64030"), "64030");
	CHECK_STR(user_of("SlurmUser=a\nSlurmUser=b\nSlurmdUser=c\n"), "b");
	CHECK_STR(user_of("#SlurmUser=a\nSlurmUser\nSlurmUser=\n"), NULL);
	CHECK_STR(user_of("SlurmUser=longer-than-16-bytes\n"), NULL);
	CHECK_STR(user_of(""), NULL);
	make_file("users.conf", "SlurmUser=included\n");
	CHECK_STR(user_of("Include users.conf\n"), "included");
	CHECK_STR(user_of("SlurmUser=a\nInclude users.conf\nX=1\n"),
	    "included");
	snprintf(line, sizeof(line), "include %s\n", in_folder("users.conf"));
	CHECK_STR(user_of(line), "included");
	/* A circle ends. */
	CHECK_STR(user_of("Include slurm.conf\nSlurmUser=a\n"), "a");
	CHECK_INT(slurm_conf_user("/nowhere/slurm.conf", name, sizeof(name)),
	    0);
	CHECK_INT(slurm_conf_user("/dev/zero", name, sizeof(name)), 0);

	user_of("SlurmUser=named\n");
	conf_init(&conf);
	setenv("SLURM_CONF", in_folder("slurm.conf"), 1);
	CHECK_INT(slurm_user_name(&conf, name, sizeof(name)), 1);
	CHECK_STR(name, "named");
	CHECK(conf_set(&conf, CONF_SLURM_CONF, in_folder("users.conf")) == 0);
	CHECK_INT(slurm_user_name(&conf, name, sizeof(name)), 1);
	CHECK_STR(name, "included");
	conf_clear(&conf);
	unlink(in_folder("slurm.conf"));
	unlink(in_folder("users.conf"));
	CHECK(rmdir(folder) == 0);
	return check_done();
}
