/* SPDX-License-Identifier: MIT */
/* Which directory is the spool when spoolDir is empty. */
#include "config.h"

#include <sys/stat.h>

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "supervisor/system/system.h"
#include "tests/unit/check.h"

static char folder[] = "/tmp/test_spool_path.XXXXXX";

static const char *
in_folder(const char *name)
{
	static char path[2][128];
	static int turn;

	turn = !turn;
	snprintf(path[turn], sizeof(path[turn]), "%s/%s", folder, name);
	return path[turn];
}

/* The name of the directory that is chosen, "" when none is. */
static const char *
chosen(const char *last_run, int is_first_start)
{
	static char name[128];
	char *path = spool_path_choose(in_folder(last_run), is_first_start);

	snprintf(name, sizeof(name), "%s",
	    path != NULL ? strrchr(path, '/') + 1 : "");
	CHECK(path == NULL || strncmp(path, folder, strlen(folder)) == 0);
	free(path);
	return name;
}

static void
make_file(const char *name, const char *text)
{
	int fd = open(in_folder(name), O_WRONLY | O_CREAT | O_TRUNC, 0644);

	CHECK(
	    fd != -1 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	close(fd);
}

/* The spool of version 0.1.0 has the name "spool" for every daemon. */
static void
test_old_spool(void)
{
	char owner[32] = "";
	int fd;

	CHECK(mkdir(in_folder("spool"), 0700) == 0);
	/* A daemon that never ran cannot be its owner. */
	CHECK_STR(chosen("b", 1), "b.spool");
	CHECK(access(in_folder("spool.owner"), F_OK) == -1);
	CHECK_STR(chosen("a", 0), "spool");
	fd = open(in_folder("spool.owner"), O_RDONLY);
	CHECK(fd != -1 && read(fd, owner, sizeof(owner) - 1) == 2);
	close(fd);
	CHECK_STR(owner, "a\n");
	/* From now on it is the spool of a, and of nobody else. */
	CHECK_STR(chosen("a", 0), "spool");
	CHECK_STR(chosen("b", 0), "b.spool");
	CHECK_STR(chosen("lastrun", 0), "");
	CHECK_STR(chosen("last_run", 1), "");
	make_file("spool.owner", "lastrun");
	CHECK_STR(chosen("lastrun", 0), "spool");
	CHECK_STR(chosen("a", 0), "a.spool");
	/* A spool of its own comes first. */
	make_file("spool.owner", "a\n");
	CHECK(mkdir(in_folder("a.spool"), 0700) == 0);
	CHECK_STR(chosen("a", 0), "a.spool");
	CHECK(rmdir(in_folder("a.spool")) == 0);
	CHECK(unlink(in_folder("spool.owner")) == 0);
	/* Beside lastrun, it is the spool of the daemon of lastrun. */
	make_file("lastrun", "");
	CHECK_STR(chosen("a", 0), "a.spool");
	CHECK_STR(chosen("lastrun", 0), "spool");
	CHECK(access(in_folder("spool.owner"), F_OK) == -1);
	CHECK(unlink(in_folder("lastrun")) == 0);
	/* A file or a link is no spool. */
	CHECK(rmdir(in_folder("spool")) == 0);
	CHECK(symlink("/tmp", in_folder("spool")) == 0);
	CHECK_STR(chosen("a", 0), "a.spool");
	CHECK(unlink(in_folder("spool")) == 0);
}

int
main(void)
{
	log_init("test", LOG_LEVEL_FATAL);
	CHECK(mkdtemp(folder) != NULL);
	CHECK_STR(chosen("lastrun", 1), "spool");
	CHECK_STR(chosen("last_run", 0), "spool");
	CHECK_STR(chosen("a", 0), "a.spool");
	CHECK_STR(chosen("nowhere/a", 0), "");
	test_old_spool();
	CHECK(rmdir(folder) == 0);
	return check_done();
}
