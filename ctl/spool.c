/* SPDX-License-Identifier: MIT */
/*
 * spool check, export, import.  Each reply tells where the next request
 * continues, so that the daemon's other work never waits long.  The file to
 * import is copied into the spool's folder, the only one that the submitter
 * can read.  One import at a time has the lock of the copy.
 */
#include "config.h"

#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/text/text.h"
#include "ctl/ctl.h"

#define IMPORT_FILE "spool.import"
#define CHECKER	    WORKERDIR "/submitter"
#define REASON_MAX  1024
#define LOCK_TRIES  16	 /* each other import may remove the copy once */
#define PAGE_BYTES  4096 /* of the spool's file */

/* Sums over all steps. */
struct spool_counts {
	unsigned long long imported, existing, refused;
};

static int
error_print(const struct ctl_args *args, const char *text, int status)
{
	char buf[REASON_MAX];

	if (args->json && args->req.a != CTL_SPOOL_EXPORT) {
		json_begin(status == EXIT_UNREACHABLE ? "unreached" : "error",
		    text);
		printf("}\n");
	} else
		fprintf(stderr, "cc-slurm-adapterctl: %s\n",
		    text_vis(text, buf, sizeof(buf)));
	return status;
}

/*
 * A part of a line of JSON.  Text of users is escaped in it.  A submitter that an
 * attacker controls may send control bytes: a terminal gets none of them.
 */
static void
export_print(const char *text, const char *end)
{
	size_t size = strlen(text) * 4 + 1; /* "\x1b" for each byte */
	char *buf;

	if (!isatty(STDOUT_FILENO)) {
		printf("%s%s", text, end);
		return;
	}
	buf = malloc(size);
	if (buf == NULL) {
		fprintf(stderr, "cc-slurm-adapterctl: out of memory\n");
		exit(EXIT_REFUSED);
	}
	printf("%s%s", text_vis(text, buf, size), end);
	free(buf);
}

static void
line_print(const struct ctl_args *args, const struct ctl_row *row)
{
	char buf[REASON_MAX];

	if (args->req.a == CTL_SPOOL_EXPORT)
		export_print(row->fields[2],
		    strcmp(row->fields[1], "1") == 0 ? "" : "\n");
	else
		fprintf(stderr, "%s\n",
		    text_vis(row->fields[2], buf, sizeof(buf)));
}

/* Prints the lines of a step.  Returns where the next begins, -1 = the end. */
static int64_t
step_reply(const struct ctl_args *args, const struct ctl_reply *a,
    struct spool_counts *t)
{
	unsigned long long imported = 0, existing = 0, refused = 0;
	const struct ctl_row *last = NULL;
	size_t i;

	for (i = 0; i < a->n; i++) {
		if (a->rows[i].table != CTL_T_SPOOL || a->rows[i].n != 3)
			continue;
		if (last != NULL)
			line_print(args, last);
		last = &a->rows[i];
	}
	if (last == NULL)
		return -1;
	if (sscanf(last->fields[2], "%llu %llu %llu", &imported, &existing,
		&refused) != 3)
		return -1;
	t->imported += imported;
	t->existing += existing;
	t->refused += refused;
	return last->fields[0][0] != '\0' ? strtoll(last->fields[0], NULL, 10) :
					    -1;
}

static int
summary(const struct ctl_args *args, const struct spool_counts *t)
{
	char text[160];

	if (args->req.a == CTL_SPOOL_CHECK)
		snprintf(text, sizeof(text), "the spool is valid; %llu runs",
		    t->imported);
	else
		snprintf(text, sizeof(text),
		    "%llu runs imported, %llu already in the spool or done, "
		    "%llu lines refused",
		    t->imported, t->existing, t->refused);
	if (args->req.a == CTL_SPOOL_EXPORT) {
		if (t->refused > 0)
			fprintf(stderr,
			    "cc-slurm-adapterctl: %llu runs are "
			    "not exported: they have no record\n",
			    t->refused);
	} else if (args->json) {
		json_begin(t->refused > 0 ? "error" : "ok", text);
		printf("}\n");
	} else
		printf("%s\n", text);
	if (output_failed())
		return error_print(args, "cannot write to standard output",
		    EXIT_REFUSED);
	return args->req.a == CTL_SPOOL_IMPORT && t->refused > 0 ?
	    EXIT_REFUSED :
	    EXIT_DONE;
}

/* A number of the submitter's status; 0 when it is not known. */
static uint64_t
status_number(const struct ctl_args *args, const char *key)
{
	struct ctl_request req = { .magic = CTL_MAGIC,
		.version = CTL_VERSION,
		.verb = CTL_STATUS };
	char reason[REASON_MAX];
	struct ctl_reply a;
	uint64_t n = 0;
	size_t i;

	if (request_send(args->socket, &req, &a, reason, sizeof(reason)) == 0)
		for (i = 0; i < a.n; i++)
			if (a.rows[i].table == CTL_T_STATUS &&
			    a.rows[i].n == 3 &&
			    strcmp(a.rows[i].fields[0], "submitter") == 0 &&
			    strcmp(a.rows[i].fields[1], key) == 0)
				n = strtoull(a.rows[i].fields[2], NULL, 10);
	reply_clear(&a);
	return n;
}

/* The whole work, for the progress. */
struct amount {
	uint64_t runs;
	uint64_t pages;
	uint64_t file; /* bytes of the file to import */
};

static void
amount_read(const struct ctl_args *args, struct amount *all)
{
	if (!isatty(STDERR_FILENO) || args->req.a == CTL_SPOOL_IMPORT)
		return;
	all->runs = status_number(args, "spool_runs");
	all->pages = status_number(args, "spool_bytes") / PAGE_BYTES;
}

static void
step_show(const struct ctl_args *args, const struct amount *all,
    const struct spool_counts *t, int64_t next)
{
	if (next < 0)
		return;
	if (args->req.a == CTL_SPOOL_IMPORT)
		progress_show((uint64_t)next, all->file, "bytes");
	else if (args->req.a == CTL_SPOOL_CHECK && t->imported == 0)
		progress_show((uint64_t)next, all->pages, "pages");
	else
		progress_show(t->imported + t->existing + t->refused, all->runs,
		    "runs");
}

static int
steps_run(struct ctl_args *args, uint64_t file)
{
	struct amount all = { .file = file };
	struct spool_counts t = { 0, 0, 0 };
	char reason[REASON_MAX];
	struct ctl_reply a;
	int64_t next = 0;
	int status = EXIT_DONE;

	amount_read(args, &all);
	progress_begin("spool");
	while (next >= 0 && status == EXIT_DONE) {
		args->req.b = next;
		args->req.limit = (uint32_t)(t.imported + t.existing +
		    t.refused);
		if (request_send(args->socket, &args->req, &a, reason,
			sizeof(reason)) == -1)
			status = error_print(args, reason, EXIT_UNREACHABLE);
		else if (a.status == CTL_DENIED) {
			snprintf(reason, sizeof(reason), "not allowed: %s",
			    a.text);
			status = error_print(args, reason, EXIT_REFUSED);
		} else if (a.status != CTL_OK)
			status = error_print(args, a.text, EXIT_REFUSED);
		else
			next = step_reply(args, &a, &t);
		reply_clear(&a);
		step_show(args, &all, &t, next);
	}
	progress_end();
	return status == EXIT_DONE ? summary(args, &t) : status;
}

/* Opens the spool's folder.  -1 with a reason and the exit status. */
static int
folder_open(const struct ctl_args *args, int *status, char *reason, size_t size)
{
	struct ctl_request req = { .magic = CTL_MAGIC,
		.version = CTL_VERSION,
		.verb = CTL_STATUS };
	const char *dir = NULL;
	struct ctl_reply a;
	int fd = -1;
	size_t i;

	*status = EXIT_UNREACHABLE;
	if (request_send(args->socket, &req, &a, reason, size) == 0) {
		*status = EXIT_REFUSED;
		for (i = 0; i < a.n; i++)
			if (a.rows[i].table == CTL_T_STATUS &&
			    a.rows[i].n == 3 && dir == NULL &&
			    strcmp(a.rows[i].fields[0], "supervisor") == 0 &&
			    strcmp(a.rows[i].fields[1], "spool_dir") == 0)
				dir = a.rows[i].fields[2];
		if (dir == NULL)
			snprintf(reason, size,
			    "the status of the daemon has no spool_dir");
		else if ((fd = open(dir,
			      O_RDONLY | O_DIRECTORY | O_CLOEXEC |
				  O_NOFOLLOW)) == -1)
			snprintf(reason, size, "%s%s: %s",
			    errno == EACCES ? "not allowed: " : "", dir,
			    strerror(errno));
	}
	reply_clear(&a);
	return fd;
}

static int
bytes_copy(int from, int to)
{
	char buf[65536], *p;
	ssize_t n, k;

	while ((n = read(from, buf, sizeof(buf))) > 0)
		for (p = buf; n > 0; p += k, n -= k)
			if ((k = write(to, p, (size_t)n)) == -1)
				return -1;
	return n == 0 ? 0 : -1;
}

/* May the copy be written?  The submitter can make a link to another file. */
static int
copy_is_own(int dir, const struct stat *copy)
{
	struct stat st;

	return S_ISREG(copy->st_mode) && copy->st_nlink == 1 &&
	    fstat(dir, &st) == 0 &&
	    (copy->st_uid == geteuid() || copy->st_uid == st.st_uid);
}

/*
 * Opens the copy and locks it; the lock ends with the descriptor.  The daemon
 * has the lock of the folder.  An import that was killed leaves a copy without
 * a lock.  A file system without locks is used without one.  -1 with errno;
 * EWOULDBLOCK: another import has the lock.
 */
static int
copy_lock(int dir)
{
	struct stat st, named;
	int fd, tries;

	for (tries = 0; tries < LOCK_TRIES; tries++) {
		fd = openat(dir, IMPORT_FILE,
		    O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC,
		    0600);
		if (fd == -1 && errno != ELOOP && errno != ENXIO)
			return -1;
		if (fd != -1 && flock(fd, LOCK_EX | LOCK_NB) == -1 &&
		    errno == EWOULDBLOCK) {
			close(fd);
			errno = EWOULDBLOCK;
			return -1;
		}
		if (fd == -1)
			unlinkat(dir, IMPORT_FILE, 0); /* a link or a socket */
		else if (fstat(fd, &st) == 0 &&
		    fstatat(dir, IMPORT_FILE, &named, AT_SYMLINK_NOFOLLOW) ==
			0 &&
		    st.st_ino == named.st_ino && st.st_dev == named.st_dev) {
			if (copy_is_own(dir, &st))
				return fd;
			unlinkat(dir, IMPORT_FILE, 0);
		}
		if (fd != -1)
			close(fd);
	}
	errno = EAGAIN;
	return -1;
}

/*
 * Copies the file into the folder.  The folder belongs to the submitter: links
 * in it are not followed, and only its owner can read the copy.
 */
static int
import_copy(int dir, int to, const char *name, uint64_t *bytes, char *reason,
    size_t size)
{
	int from = strcmp(name, "-") == 0 ? dup(STDIN_FILENO) :
					    open(name, O_RDONLY | O_CLOEXEC),
	    rc = -1;
	struct stat st;

	if (from == -1) {
		snprintf(reason, size, "%s: %s", name, strerror(errno));
		return -1;
	}
	if (ftruncate(to, 0) == 0 && fchmod(to, 0600) == 0 &&
	    fstat(dir, &st) == 0 && bytes_copy(from, to) == 0 &&
	    (geteuid() != 0 || fchown(to, st.st_uid, st.st_gid) == 0))
		rc = fstat(to, &st);
	*bytes = rc == 0 ? (uint64_t)st.st_size : 0;
	if (rc == -1)
		snprintf(reason, size,
		    "cannot copy %s into the spool's folder: %s", name,
		    strerror(errno));
	close(from);
	return rc;
}

/* Imports the file by a copy in the folder.  Returns the exit status. */
static int
import_run(struct ctl_args *args, int dir)
{
	char reason[REASON_MAX];
	uint64_t bytes;
	int copy, status;

	copy = copy_lock(dir);
	if (copy == -1) {
		if (errno == EWOULDBLOCK)
			snprintf(reason, sizeof(reason),
			    "an import is under way; import again after it");
		else
			snprintf(reason, sizeof(reason),
			    "cannot write into the spool's folder: %s",
			    strerror(errno));
		return error_print(args, reason, EXIT_REFUSED);
	}
	if (import_copy(dir, copy, args->file, &bytes, reason,
		sizeof(reason)) == -1)
		status = error_print(args, reason, EXIT_REFUSED);
	else
		status = steps_run(args, bytes);
	unlinkat(dir, IMPORT_FILE, 0);
	close(copy);
	return status;
}

/* Runs the submitter's program on the file and reads its output. */
static int
checker_exec(const char *file, char *text, size_t size)
{
	size_t n = 0;
	ssize_t k;
	int fds[2], status = -1;
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC) == -1 || (pid = fork()) == -1) {
		snprintf(text, size, "%s", strerror(errno));
		return -1;
	}
	if (pid == 0) {
		dup2(fds[1], STDOUT_FILENO);
		execl(CHECKER, "submitter", "-check", file, (char *)NULL);
		dprintf(STDOUT_FILENO, CHECKER ": %s\n", strerror(errno));
		_exit(1);
	}
	close(fds[1]);
	while (n < size - 1 && (k = read(fds[0], text + n, size - 1 - n)) > 0)
		n += (size_t)k;
	close(fds[0]);
	text[n] = '\0';
	text[strcspn(text, "\n")] = '\0';
	while (waitpid(pid, &status, 0) == -1 && errno == EINTR)
		continue;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Checks a spool file that no daemon uses. */
static int
file_check(const struct ctl_args *args)
{
	char text[REASON_MAX] = "", vis[REASON_MAX];

	if (checker_exec(args->file, text, sizeof(text)) != 0)
		return error_print(args,
		    *text != '\0' ? text : "the submitter's program was killed",
		    EXIT_REFUSED);
	if (args->json) {
		json_begin("ok", text);
		printf("}\n");
	} else
		printf("%s\n", text_vis(text, vis, sizeof(vis)));
	return output_failed() ?
	    error_print(args, "cannot write to standard output", EXIT_REFUSED) :
	    EXIT_DONE;
}

int
spool_run(struct ctl_args *args)
{
	char reason[REASON_MAX];
	int dir, status;

	if (args->req.a == CTL_SPOOL_CHECK && args->file != NULL)
		return file_check(args);
	if (args->req.a != CTL_SPOOL_IMPORT)
		return steps_run(args, 0);
	dir = folder_open(args, &status, reason, sizeof(reason));
	if (dir == -1)
		return error_print(args, reason, status);
	status = import_run(args, dir);
	close(dir);
	return status;
}
