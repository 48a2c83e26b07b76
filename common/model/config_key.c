/* SPDX-License-Identifier: MIT */
/* One string of config.json; see config_key.h. */
#include "config.h"

#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "common/model/config_key.h"
#include "common/text/json_scan.h"

#define TEXT_BYTES 4096		      /* of a name or value, with the NUL */
#define FILE_MAX   (2u * 1024 * 1024) /* bytes of config.json */

struct key_search {
	const char *key;
	char *buf; /* of the caller */
	size_t size;
	int is_wanted; /* the next value belongs to the key */
	int is_exact;  /* the correct spelling was seen */
	int found;
};

static void
on_name(struct key_search *search, const struct json_scan *s)
{
	int exact = !s->cut && strcmp(s->text, search->key) == 0;

	search->is_wanted = exact ||
	    (!search->is_exact && !s->cut &&
		strcasecmp(s->text, search->key) == 0);
	if (exact && !search->is_exact)
		search->found = 0;
	search->is_exact |= exact;
}

static const char *
on_event(struct json_scan *s, enum json_event event, void *arg)
{
	struct key_search *search = arg;

	if (s->depth != 1)
		return NULL;
	if (event == JSON_EV_NAME) {
		on_name(search, s);
		return NULL;
	}
	if (event == JSON_EV_STRING && search->is_wanted) {
		search->found = !s->cut && s->len > 0 && s->len < search->size;
		if (search->found)
			memcpy(search->buf, s->text, s->len + 1);
	}
	search->is_wanted = 0;
	return NULL;
}

int
config_key_find(const char *p, size_t len, const char *key, char *buf,
    size_t size)
{
	struct key_search search = { .key = key, .buf = buf, .size = size };
	static char text[TEXT_BYTES];
	struct json_scan s;

	json_scan_init(&s, '{', text, sizeof(text), on_event, &search);
	/* The daemon reports what is wrong in the file. */
	(void)json_scan_feed(&s, p, len);
	explicit_bzero(text, sizeof(text));
	return search.found;
}

int
config_key_read(const char *path, const char *key, char *buf, size_t size)
{
	static char file[FILE_MAX]; /* a page costs memory when used */
	size_t len = 0;
	struct stat st;
	ssize_t n;
	int fd, rc;

	/* Non-blocking: the path may name a pipe. */
	if ((fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)) == -1)
		return -1;
	if (fstat(fd, &st) == -1 || !S_ISREG(st.st_mode)) {
		close(fd);
		errno = EINVAL;
		return -1;
	}
	while (len < sizeof(file) &&
	    (n = read(fd, file + len, sizeof(file) - len)) > 0)
		len += (size_t)n;
	close(fd);
	rc = config_key_find(file, len, key, buf, size);
	explicit_bzero(file, len);
	return rc;
}
