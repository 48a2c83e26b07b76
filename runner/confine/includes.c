/* SPDX-License-Identifier: MIT */
/*
 * slurm.conf, the files that it includes, and the paths that all of them name.
 * A file is read again when its inode or its ctime has changed.
 */
#include "config.h"

#include <sys/stat.h>

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/text/slurm_conf.h"
#include "runner/confine/confine_private.h"

#define FILES_MAX 16 /* slurm.conf and includes; sites have less than 10 */
#define FOUND_MAX 32 /* paths of one file, as in slurm_conf_scan() */
#define DEPTH_MAX 4  /* of includes in includes; Slurm itself has no limit */

struct found {
	enum slurm_conf_path kind;
	char *path; /* owned */
};

/* One file as it was when it was read. */
struct scanned {
	char *path; /* owned; NULL = free */
	struct file_stamp stamp;
	unsigned walk; /* number of the last walk that came here */
	unsigned n;
	struct found found[FOUND_MAX];
};

struct includes {
	char *main; /* the configured slurm.conf, owned; NULL = usual places */
	unsigned walk;
	uint64_t changes; /* of files that were read */
	struct scanned files[FILES_MAX];
};

/* Slurm's defaults, and the file that slurmd or sackd keeps without one. */
static const char *const usual[] = {
	"/etc/slurm/slurm.conf",
	"/etc/slurm-llnl/slurm.conf",
	"/usr/local/etc/slurm.conf",
	"/run/slurm/conf/slurm.conf",
};

struct includes *
includes_new(const char *file)
{
	struct includes *in = calloc(1, sizeof(*in));

	if (in != NULL && file != NULL && (in->main = strdup(file)) == NULL) {
		free(in);
		return NULL;
	}
	return in;
}

static void
scanned_clear(struct scanned *s)
{
	unsigned i;

	for (i = 0; i < s->n; i++)
		free(s->found[i].path);
	free(s->path);
	memset(s, 0, sizeof(*s));
}

void
includes_free(struct includes *in)
{
	unsigned i;

	if (in == NULL)
		return;
	for (i = 0; i < FILES_MAX; i++)
		scanned_clear(&in->files[i]);
	free(in->main);
	free(in);
}

static void
on_found(enum slurm_conf_path kind, const char *path, void *arg)
{
	struct scanned *s = arg;

	/* connect() needs no rule. */
	if (kind == SLURM_CONF_SOCKET || s->n == FOUND_MAX)
		return;
	s->found[s->n].kind = kind;
	if ((s->found[s->n].path = strdup(path)) != NULL)
		s->n++;
}

/* The entry of the file, else a free one or one that this walk has not used. */
static struct scanned *
place_of(struct includes *in, const char *path)
{
	struct scanned *unused = NULL;
	unsigned i;

	for (i = 0; i < FILES_MAX; i++) {
		struct scanned *s = &in->files[i];

		if (s->path != NULL && strcmp(s->path, path) == 0)
			return s;
		if (s->path == NULL || (unused == NULL && s->walk != in->walk))
			unused = s;
	}
	return unused;
}

/*
 * Counts the change of a file that was read.  Its stamp then equals no other
 * one, so that the file is read again.
 */
static void
change_note(struct includes *in, struct scanned *s,
    const struct file_stamp *stamp)
{
	struct file_stamp old = s->stamp;

	old.is_fresh = 0;
	if (file_stamp_equal(&old, stamp))
		return;
	in->changes++;
	s->stamp = *stamp;
	s->stamp.is_fresh = 1;
}

uint64_t
includes_changes(struct includes *in)
{
	struct file_stamp stamp;
	unsigned i;

	for (i = 0; i < FILES_MAX; i++)
		if (in->files[i].path != NULL &&
		    file_stamp(in->files[i].path, &stamp) == 0)
			change_note(in, &in->files[i], &stamp);
	return in->changes;
}

/* The file as it is now, or NULL. */
static struct scanned *
file_read(struct includes *in, const char *path)
{
	struct scanned *s = place_of(in, path);
	struct file_stamp stamp;

	if (s == NULL || file_stamp(path, &stamp) == -1)
		return NULL;
	if (s->path != NULL && strcmp(s->path, path) == 0) {
		if (file_stamp_equal(&s->stamp, &stamp))
			return s;
		change_note(in, s, &stamp);
	}
	scanned_clear(s);
	if ((s->path = strdup(path)) == NULL)
		return NULL;
	s->stamp = stamp;
	slurm_conf_scan(path, on_found, s);
	return s;
}

/*
 * An include is relative to the directory of slurm.conf, and may have the name
 * of the cluster in it as %c: then it is the directory above.  0, or -1 when
 * there is no useful path.
 */
static int
path_resolve(const char *main, const char *name, char *path, size_t size)
{
	const char *slash = strrchr(main, '/');
	char *cut;
	int n;

	if (*name == '/')
		n = snprintf(path, size, "%s", name);
	else
		n = snprintf(path, size, "%.*s/%s", (int)(slash - main), main,
		    name);
	if (n < 0 || (size_t)n >= size)
		return -1;
	if ((cut = strchr(path, '%')) == NULL)
		return 0;
	*cut = '\0';
	if ((cut = strrchr(path, '/')) == NULL)
		return -1;
	*cut = '\0';
	/* Never / or a directory directly below it. */
	return *path != '\0' && strchr(path + 1, '/') != NULL ? 0 : -1;
}

/* This walk has seen the file: a file may include itself. */
static int
is_walked(const struct includes *in, const char *path)
{
	unsigned i;

	for (i = 0; i < FILES_MAX; i++)
		if (in->files[i].path != NULL &&
		    in->files[i].walk == in->walk &&
		    strcmp(in->files[i].path, path) == 0)
			return 1;
	return 0;
}

/* rs is NULL when the files are only read. */
static void
named_allow(struct ruleset *rs, const char *path)
{
	if (rs != NULL)
		ruleset_allow_named(rs, path);
}

static void
walk(struct includes *in, const char *main, const char *file,
    struct ruleset *rs, unsigned depth)
{
	struct scanned *s = file_read(in, file);
	char path[PATH_MAX];
	unsigned i;

	if (s == NULL)
		return;
	s->walk = in->walk;
	for (i = 0; i < s->n; i++) {
		if (path_resolve(main, s->found[i].path, path, sizeof(path)) ==
			-1 ||
		    is_walked(in, path))
			continue;
		named_allow(rs, path);
		if (s->found[i].kind == SLURM_CONF_INCLUDE && depth < DEPTH_MAX)
			walk(in, main, path, rs, depth + 1);
	}
}

/*
 * The directory of a slurm.conf: Slurm opens other files in it by their names.
 * Directly below /, /etc or the like, only the file is allowed.
 */
static void
directory_allow(struct ruleset *rs, const char *file)
{
	char directory[PATH_MAX], *slash;

	if (snprintf(directory, sizeof(directory), "%s", file) >=
	    (int)sizeof(directory))
		return;
	slash = strrchr(directory, '/');
	if (slash == NULL)
		return;
	*slash = '\0';
	if (directory[0] == '\0' || strchr(directory + 1, '/') == NULL)
		*slash = '/';
	named_allow(rs, directory);
}

/*
 * A file that is a symbolic link: its siblings are often links to the same
 * directory.  If only a directory above is a link, paths.c has decided what is
 * allowed in that directory.
 */
static void
target_allow(struct ruleset *rs, const char *file)
{
	char real[PATH_MAX];
	struct stat st;

	if (lstat(file, &st) == 0 && S_ISLNK(st.st_mode) &&
	    realpath(file, real) != NULL)
		directory_allow(rs, real);
}

void
includes_allow_file(struct includes *in, const char *file, struct ruleset *rs)
{
	if (is_walked(in, file))
		return;
	target_allow(rs, file);
	walk(in, file, file, rs, 0);
}

void
includes_allow(struct includes *in, struct ruleset *rs)
{
	char real[PATH_MAX];
	unsigned i;

	in->walk++;
	if (in->main == NULL) {
		/* paths.c allows the directories. */
		for (i = 0; i < sizeof(usual) / sizeof(usual[0]); i++)
			includes_allow_file(in, usual[i], rs);
		return;
	}
	/* A symbolic link: siblings are searched beside the link. */
	directory_allow(rs, in->main);
	if (realpath(in->main, real) != NULL && strcmp(real, in->main) != 0)
		directory_allow(rs, real);
	includes_allow_file(in, in->main, rs);
}
