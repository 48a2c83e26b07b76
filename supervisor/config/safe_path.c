/* SPDX-License-Identifier: MIT */
/* Files that other users can change; see safe_path.h. */
#include "config.h"

#include <sys/stat.h>

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "supervisor/config/safe_path.h"

#define SHOWN_MAX 200 /* bytes of a path in a message */

static int
is_trusted(uid_t owner, uid_t self)
{
	return owner == 0 || owner == self;
}

/* The argument of chown. */
static const char *
owner_text(uid_t self)
{
	static char number[16];

	if (self == 0)
		return "root";
	snprintf(number, sizeof(number), "%u", (unsigned)self);
	return number;
}

static const char *
writers(mode_t mode)
{
	return mode & S_IWOTH ? "all users" : "its group";
}

static int
file_is_unsafe(const char *path, uid_t self, char *text, size_t size)
{
	struct stat st;

	if (stat(path, &st) == -1)
		return 0;
	if (!is_trusted(st.st_uid, self))
		snprintf(text, size,
		    "belongs to user %u, who can change it: chown %s %.*s",
		    (unsigned)st.st_uid, owner_text(self), SHOWN_MAX, path);
	else if (st.st_mode & (S_IWGRP | S_IWOTH))
		snprintf(text, size,
		    "%s can change it (mode %04o): chmod go-w %.*s",
		    writers(st.st_mode), (unsigned)st.st_mode & 07777,
		    SHOWN_MAX, path);
	else
		return 0;
	return 1;
}

/* In a sticky directory, only the owner of a file can replace it. */
static int
directory_is_unsafe(const char *dir, uid_t self, char *text, size_t size)
{
	struct stat st;

	if (stat(dir, &st) == -1)
		return 0;
	if (!is_trusted(st.st_uid, self))
		snprintf(text, size,
		    "user %u, the owner of %.*s, can replace it: chown %s %.*s",
		    (unsigned)st.st_uid, SHOWN_MAX, dir, owner_text(self),
		    SHOWN_MAX, dir);
	else if ((st.st_mode & (S_IWGRP | S_IWOTH)) &&
	    (st.st_mode & S_ISVTX) == 0)
		snprintf(text, size,
		    "%s of %.*s can replace it (mode %04o): chmod go-w %.*s",
		    st.st_mode & S_IWOTH ? "all users" : "the group", SHOWN_MAX,
		    dir, (unsigned)st.st_mode & 07777, SHOWN_MAX, dir);
	else
		return 0;
	return 1;
}

/* All directories above an absolute path. */
static int
parents_are_unsafe(const char *path, uid_t self, char *text, size_t size)
{
	char dir[PATH_MAX], *slash;

	if (path[0] != '/' || strlen(path) >= sizeof(dir))
		return 0;
	strcpy(dir, path);
	while ((slash = strrchr(dir, '/')) != NULL && slash != dir) {
		*slash = '\0';
		if (directory_is_unsafe(dir, self, text, size))
			return 1;
	}
	return directory_is_unsafe("/", self, text, size);
}

/*
 * 1 when another user than root and self can change the file, with a sentence
 * in text that contains the command to repair it; 0 when not, or when the file
 * does not exist.
 */
static int
path_is_unsafe(const char *path, uid_t self, char *text, size_t size)
{
	char real[PATH_MAX];

	if (realpath(path, real) == NULL)
		return 0;
	/* The named path may contain links in other directories. */
	return file_is_unsafe(real, self, text, size) ||
	    parents_are_unsafe(real, self, text, size) ||
	    parents_are_unsafe(path, self, text, size);
}

int
unsafe_path_next(const struct conf *conf, const char *config_path,
    struct unsafe_path *u)
{
	/* The files of authorities decide which server gets the secrets. */
	static const enum conf_key keys[] = { CONF__COUNT,
		CONF_CC_REST_JWT_FILE, CONF_CC_REST_CA_FILE,
		CONF_NATS_CREDS_FILE, CONF_NATS_NKEY_SEED_FILE,
		CONF_NATS_KEY_FILE, CONF_NATS_CA_FILE };
	const char *path;
	int n;

	while (u->next < sizeof(keys) / sizeof(keys[0])) {
		u->key = keys[u->next++];
		path = u->key == CONF__COUNT ? config_path :
					       conf_str(conf, u->key);
		n = snprintf(u->text, sizeof(u->text), "%.*s: ", SHOWN_MAX,
		    path);
		if (*path != '\0' &&
		    path_is_unsafe(path, geteuid(), u->text + n,
			sizeof(u->text) - (size_t)n))
			return 1;
	}
	return 0;
}
