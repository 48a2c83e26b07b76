/* SPDX-License-Identifier: MIT */
/*
 * One string out of config.json, without a JSON library.  The file often is
 * not readable for SlurmUser, for it may hold the token: then the default
 * stands, without a word.  What is wrong in it is the daemon's to say.
 */
#include "config.h"

#include <sys/stat.h>

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "hook/hook.h"

#define KEY_NAME	"prepSockConnectPath"
#define FILE_MAX	(2u * 1024 * 1024)	/* the longest lists of GPUs fit */

struct scan {
	const char *p;
	const char *end;
};

static char
peek(struct scan *s)
{
	while (s->p < s->end && (*s->p == ' ' || *s->p == '\t' ||
	    *s->p == '\n' || *s->p == '\r'))
		s->p++;
	return s->p < s->end ? *s->p : '\0';
}

/*
 * Behind the opening quote to behind the closing one.  buf gets the string,
 * or "" when it does not fit or holds an escape other than of quote, slash
 * and backslash, which no path needs.  -1 when there is no end.
 */
static int
take_string(struct scan *s, char *buf, size_t size)
{
	size_t len = 0;
	int bad = 0;
	char c;

	for (s->p++; s->p < s->end && (c = *s->p) != '"'; s->p++) {
		if (c == '\\') {
			if (++s->p == s->end)
				return -1;
			c = *s->p;
			bad |= strchr("\"\\/", c) == NULL || c == '\0';
		}
		if (len + 1 < size)
			buf[len++] = c;
		else
			bad = 1;
	}
	if (s->p == s->end)
		return -1;
	s->p++;
	buf[bad ? 0 : len] = '\0';
	return 0;
}

/* From one value's first byte to the comma or brace behind it. */
static int
skip_value(struct scan *s)
{
	char none[1];
	int depth = 0;

	for (;;) {
		switch (peek(s)) {
		case '\0':
			return -1;
		case '"':
			if (take_string(s, none, sizeof(none)) == -1)
				return -1;
			continue;
		case '{':
		case '[':
			depth++;
			break;
		case '}':
		case ']':
			if (depth-- == 0)
				return 0;
			break;
		case ',':
			if (depth == 0)
				return 0;
			break;
		default:
			break;
		}
		s->p++;
	}
}

int
config_find_socket(const char *p, size_t len, char *buf, size_t size)
{
	struct scan s = { p, p + len };
	char key[64];
	int found = 0;

	if (peek(&s) != '{')
		return 0;
	do {
		s.p++;
		if (peek(&s) != '"' || take_string(&s, key, sizeof(key)) == -1 ||
		    peek(&s) != ':')
			return found;
		s.p++;
		if (strcmp(key, KEY_NAME) == 0 && peek(&s) == '"') {
			/* The last one counts, as everywhere in JSON. */
			if (take_string(&s, buf, size) == -1)
				return 0;
			found = buf[0] != '\0';
		}
		if (skip_value(&s) == -1)
			return found;
	} while (peek(&s) == ',');
	return found;
}

int
config_read_socket(const char *path, char *buf, size_t size)
{
	static char file[FILE_MAX];	/* pages that are not read into cost nothing */
	size_t len = 0;
	struct stat st;
	ssize_t n;
	int fd;

	/* Non-blocking: it might be a pipe. */
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
