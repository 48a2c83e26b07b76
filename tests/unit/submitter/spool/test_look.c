/* SPDX-License-Identifier: MIT */
/* A spool whose daemon does not run, looked at: read to its end, and left as it is. */
#include "config.h"

#include <sys/stat.h>
#include <sys/wait.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "submitter/spool/spool.h"
#include "tests/unit/check.h"

static char dir[] = "/tmp/test_look.XXXXXX";
#define OWNER 65533 /* of copies/ */

static char path[64], copy[64];

/* In a process of its own, which can open nothing for writing afterwards. */
static int
look(const char *file, char *text, size_t size)
{
	int fds[2], status = -1;
	ssize_t n;
	pid_t pid;

	CHECK_INT(pipe(fds), 0);
	pid = fork();
	if (pid == 0) {
		status = spool_check_file(file, text, size);
		n = write(fds[1], text, strlen(text));
		_exit(n < 0 ? 9 : status);
	}
	close(fds[1]);
	n = read(fds[0], text, size - 1);
	text[n > 0 ? n : 0] = '\0';
	close(fds[0]);
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* In the folder, where `spool` and `copy` are files. */
static void
shell(const char *words)
{
	char cmd[512];

	snprintf(cmd, sizeof(cmd), "cd %s && %s", dir, words);
	CHECK_INT(system(cmd), 0);
}

/* 300 runs, some of them ended; most of it is in the log yet. */
static struct spool *
spool_make(void)
{
	char reason[256] = "";
	struct spool *sp = spool_open(path, 64 << 20, 604800, reason,
	    sizeof(reason));
	struct job job;
	int64_t row;
	int i;

	CHECK_STR(reason, "");
	if (sp == NULL)
		exit(1);
	spool_policy(sp)->to[DEST_REST] = 1;
	for (i = 1; i <= 300; i++) {
		job_init(&job);
		snprintf(job.key.cluster, sizeof(job.key.cluster), "alpha");
		job.key.job = (uint64_t)i;
		job.key.start = 1000 + i;
		job.flags = JOB_HAS_START;
		job.end = i % 3 == 0 ? 5000 : 0;
		job.state = i % 3 == 0 ? END_COMPLETED : END_NOT;
		job.user = strdup("u1");
		job.nodes = 1;
		job_add_host(&job, "n1");
		CHECK_INT(spool_put(sp, &job, &row), PUT_NEW);
		job_clear(&job);
	}
	CHECK_INT(spool_commit(sp), 0);
	return sp;
}

static void
test_whole(void)
{
	struct spool *sp = spool_make();
	char text[512];
	struct stat st;

	CHECK_INT(look(path, text, sizeof(text)), 1);
	CHECK(strstr(text, "is in use by process") != NULL);
	/* As after a crash: with its log, which stays. */
	shell(
	    "cp spool copy && cp spool-wal copy-wal && sha256sum copy* >sums");
	CHECK_INT(look(copy, text, sizeof(text)), 0);
	CHECK(strstr(text,
		  "is valid: 300 runs, 200 of them without an end, "
		  "0 rejected") != NULL);
	shell("sha256sum --quiet -c sums && [ $(ls | grep -c copy) = 2 ]");
	/* Without, and none is made. */
	spool_close(sp);
	shell("rm -f copy* spool-wal && cp spool copy");
	CHECK_INT(look(copy, text, sizeof(text)), 0);
	CHECK(strstr(text, "300 runs") != NULL);
	shell("[ $(ls | grep -c copy) = 1 ]");
	CHECK(stat("/dev/null", &st) == 0 && st.st_uid == 0);
}

static const struct {
	const char *how;
	const char *says;
} wrongs[] = {
	{ "printf xxxx | dd of=copy bs=1 seek=9000 conv=notrunc status=none",
	    "copy: the checksum of page 3 is wrong" },
	{ "truncate -s 20000 copy", "copy" },
	{ "yes damage | head -c 9000 >copy", "file is not a database" },
	{ ": >copy", "copy is empty" },
	{ "rm copy", "No such file" },
	{ "rm copy && mkdir copy", "is no regular file" },
	{ "printf '\\0\\0\\0\\1' | dd of=copy bs=1 seek=68 conv=notrunc "
	  "status=none",
	    "another program" },
	{ "printf '\\0\\0\\1\\1' | dd of=copy bs=1 seek=60 conv=notrunc "
	  "status=none",
	    "newer version" },
};

/* A look reports a damage and changes nothing. */
static void
test_wrong(void)
{
	char text[512];
	size_t i;

	for (i = 0; i < sizeof(wrongs) / sizeof(wrongs[0]); i++) {
		shell("rm -rf copy* && cp spool copy");
		shell(wrongs[i].how);
		shell("tar cf before copy 2>/dev/null || :");
		CHECK_INT(look(copy, text, sizeof(text)), 1);
		if (strstr(text, wrongs[i].says) == NULL)
			CHECK_STR(text, wrongs[i].says);
		shell("tar cf after copy 2>/dev/null; cmp before after && "
		      "[ $(ls | grep -c copy) -le 1 ]");
	}
}

/*
 * As root: SQLite reads the file as its owner, who may not enter the
 * directories above.
 */
static void
test_owner(void)
{
	char text[1024] = "", below[80];
	int status = -1;
	pid_t pid;

	if (geteuid() != 0)
		return;
	snprintf(below, sizeof(below), "%s/copies/spool", dir);
	shell("mkdir copies && cp spool copies/ && chmod 600 copies/spool && "
	      "chmod 700 . copies && chown -R 65533:65533 copies");
	fflush(NULL);
	if ((pid = fork()) == 0) {
		if (spool_check_file(below, text, sizeof(text)) != 0)
			_exit(1);
		_exit(geteuid() == OWNER && getuid() == OWNER &&
			    getegid() == OWNER && getgroups(0, NULL) == 0 ?
			0 :
			2);
	}
	CHECK_INT(waitpid(pid, &status, 0), pid);
	CHECK_INT(status, 0);
	shell("rm -rf copies");
}

int
main(void)
{
	if (mkdtemp(dir) == NULL)
		return 1;
	snprintf(path, sizeof(path), "%s/spool", dir);
	snprintf(copy, sizeof(copy), "%s/copy", dir);
	spool_prepare();
	test_whole();
	test_owner();
	test_wrong();
	shell("rm -rf copy* spool* sums before after");
	rmdir(dir);
	return check_done();
}
