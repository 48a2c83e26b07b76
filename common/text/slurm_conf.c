/* SPDX-License-Identifier: MIT */
/*
 * The paths in slurm.conf that Slurm's commands open: plugin directories, the
 * socket of munge or of auth/slurm, included files; and single values.  See
 * slurm_conf.h.
 */
#include "config.h"

#include <sys/stat.h>

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "common/text/slurm_conf.h"

#define CONF_BYTES_MAX	(4u * 1024 * 1024) /* the longest seen has 1 MiB */
#define FOUND_MAX	32		   /* paths of one file */
#define DIRECTORIES_MAX 8 /* of one PluginDir, colon between them */

struct conf_scan {
	void (*found)(enum slurm_conf_path kind, const char *path, void *arg);
	void *arg;
	unsigned n;
};

static void
path_found(struct conf_scan *s, enum slurm_conf_path kind, const char *path,
    size_t len)
{
	char copy[PATH_MAX];

	if (len == 0 || len >= sizeof(copy) ||
	    (path[0] != '/' && kind != SLURM_CONF_INCLUDE) ||
	    s->n++ >= FOUND_MAX)
		return;
	memcpy(copy, path, len);
	copy[len] = '\0';
	s->found(kind, copy, s->arg);
}

static void
on_directories(struct conf_scan *s, const char *value, size_t len)
{
	size_t n, i;

	for (i = 0; i < DIRECTORIES_MAX && len > 0; i++) {
		n = strcspn(value, ":");
		if (n > len)
			n = len;
		path_found(s, SLURM_CONF_DIRECTORY, value, n);
		if (n == len)
			break;
		value += n + 1;
		len -= n + 1;
	}
}

/* AuthInfo=socket=/run/munge/munge.socket.2,ttl=60: the directory of the socket. */
static void
on_auth_info(struct conf_scan *s, const char *value, size_t len)
{
	static const char key[] = "socket=";
	size_t n;

	for (; len > strlen(key); value++, len--) {
		if (strncasecmp(value, key, strlen(key)) != 0)
			continue;
		value += strlen(key);
		len -= strlen(key);
		n = strcspn(value, ",");
		if (n > len)
			n = len;
		while (n > 1 && value[n - 1] != '/')
			n--;
		path_found(s, SLURM_CONF_SOCKET, value, n > 1 ? n - 1 : 0);
		return;
	}
}

static void
on_file(struct conf_scan *s, const char *value, size_t len)
{
	path_found(s, SLURM_CONF_FILE, value, len);
}

static void
on_include(struct conf_scan *s, const char *value, size_t len)
{
	path_found(s, SLURM_CONF_INCLUDE, value, len);
}

static const struct {
	const char *key;
	int spaced; /* "Include PATH", no equals sign */
	void (*on)(struct conf_scan *s, const char *value, size_t len);
} keys[] = {
	{ "PluginDir", 0, on_directories },
	{ "AuthInfo", 0, on_auth_info },
	{ "AuthAltParameters", 0, on_auth_info },
	{ "PlugStackConfig", 0, on_file },
	{ "Include", 1, on_include },
};

const char *
slurm_conf_value(const char *line, const char *key, int is_spaced, size_t *len)
{
	size_t n = strlen(key);
	const char *value;

	line += strspn(line, " \t");
	if (strncasecmp(line, key, n) != 0)
		return NULL;
	value = line + n + strspn(line + n, " \t");
	if (is_spaced ? value == line + n : *value != '=')
		return NULL;
	value += !is_spaced;
	value += strspn(value, " \t\"");
	*len = strcspn(value, " \t\r\n\"#");
	return *len > 0 ? value : NULL;
}

void
slurm_conf_lines(const char *path, void (*on_line)(const char *line, void *arg),
    void *arg)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char *line = NULL;
	size_t cap = 0, total = 0;
	struct stat st;
	ssize_t n;
	FILE *f;

	if (fd == -1)
		return;
	if (fstat(fd, &st) == -1 || !S_ISREG(st.st_mode) ||
	    st.st_size > (off_t)CONF_BYTES_MAX ||
	    (f = fdopen(fd, "r")) == NULL) {
		close(fd);
		return;
	}
	while (total < CONF_BYTES_MAX && (n = getline(&line, &cap, f)) > 0) {
		total += (size_t)n;
		on_line(line, arg);
	}
	free(line);
	fclose(f);
}

static void
on_scan_line(const char *line, void *arg)
{
	struct conf_scan *s = arg;
	const char *value;
	size_t i, len;

	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		value = slurm_conf_value(line, keys[i].key, keys[i].spaced,
		    &len);
		if (value == NULL)
			continue;
		keys[i].on(s, value, len);
		return;
	}
}

void
slurm_conf_scan(const char *path,
    void (*found)(enum slurm_conf_path kind, const char *path, void *arg),
    void *arg)
{
	struct conf_scan s = { .found = found, .arg = arg };

	slurm_conf_lines(path, on_scan_line, &s);
}
