/* SPDX-License-Identifier: MIT */
/*
 * Reads one string of config.json.  SlurmUser often cannot read the file,
 * because it may contain the token; the caller then uses the default.  The
 * daemon reports faults of the file.
 */
#include "config.h"

#include <sys/stat.h>

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "common/json_scan.h"
#include "hook/hook.h"

#define KEY_NAME   "prepSockConnectPath"
#define TEXT_BYTES 4096		      /* of a name or value, with the NUL */
#define FILE_MAX   (2u * 1024 * 1024) /* bytes of config.json */

struct socket_search {
	char *buf; /* of the caller */
	size_t size;
	int is_wanted; /* the member under way has the wanted name */
	int found;
};

/* Of two values the last one counts, as for the daemon. */
static const char *
on_event(struct json_scan *s, enum json_event event, void *arg)
{
	struct socket_search *search = arg;

	if (s->depth != 1)
		return NULL;
	if (event == JSON_EV_STRING && search->is_wanted) {
		search->found = !s->cut && s->len > 0 && s->len < search->size;
		if (search->found)
			memcpy(search->buf, s->text, s->len + 1);
	}
	search->is_wanted = event == JSON_EV_NAME && !s->cut &&
	    strcmp(s->text, KEY_NAME) == 0;
	return NULL;
}

int
config_find_socket(const char *p, size_t len, char *buf, size_t size)
{
	struct socket_search search = { .buf = buf, .size = size };
	static char text[TEXT_BYTES];
	struct json_scan s;

	json_scan_init(&s, '{', text, sizeof(text), on_event, &search);
	/* The daemon reports what is wrong in the file. */
	(void)json_scan_feed(&s, p, len);
	return search.found;
}

int
config_read_socket(const char *path, char *buf, size_t size)
{
	static char file[FILE_MAX]; /* a page costs memory when used */
	size_t len = 0;
	struct stat st;
	ssize_t n;
	int fd;

	/* Non-blocking: the path may name a pipe. */
	if ((fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)) == -1)
		return 0;
	if (fstat(fd, &st) == -1 || !S_ISREG(st.st_mode)) {
		close(fd);
		return 0;
	}
	while (len < sizeof(file) &&
	    (n = read(fd, file + len, sizeof(file) - len)) > 0)
		len += (size_t)n;
	close(fd);
	return config_find_socket(file, len, buf, size);
}
