/* SPDX-License-Identifier: MIT */
/*
 * Errors and warnings about config.json.  Each is logged with the line of its
 * key and counted; the first error is the reason that the supervisor gets.
 */
#include "config.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "common/text/text.h"
#include "supervisor/config/config_file.h"

#define KEY_SHOWN_MAX 128    /* bytes of an unknown key in a message */
#define SEPARATOR     '\x1f' /* see line_numbers.c */

char *
conf_line_name(const char *outer, const char *key)
{
	size_t n = strlen(key) + 1, o = outer != NULL ? strlen(outer) : 0;
	char *name = malloc(o + 1 + n);

	if (name == NULL)
		return NULL;
	if (outer != NULL) {
		memcpy(name, outer, o);
		name[o++] = SEPARATOR;
	}
	memcpy(name + o, key, n);
	return name;
}

int
conf_lines_find(const json_t *lines, const char *key, const char *sub)
{
	char *name;
	int line;

	if (lines == NULL || key == NULL)
		return 0;
	if (sub == NULL)
		return (int)json_integer_value(json_object_get(lines, key));
	name = conf_line_name(key, sub);
	if (name == NULL)
		return 0;
	line = (int)json_integer_value(json_object_get(lines, name));
	free(name);
	return line;
}

/* "PATH:LINE: key: inner: text", as compilers print errors. */
static void __attribute__((format(printf, 6, 0)))
message_format(const struct conf_parse *p, char *buf, size_t size,
    const char *key, const char *sub, const char *fmt, va_list ap)
{
	char shown[KEY_SHOWN_MAX];
	int line = conf_lines_find(p->lines, key, sub);
	size_t n;

	if (line == 0)
		line = conf_lines_find(p->lines, key, NULL);
	n = (size_t)snprintf(buf, size, "%.512s", p->path);
	if (line != 0)
		n += (size_t)snprintf(buf + n, size - n, ":%d", line);
	if (key != NULL)
		n += (size_t)snprintf(buf + n, size - n, ": %s",
		    text_vis(key, shown, sizeof(shown)));
	if (sub != NULL)
		n += (size_t)snprintf(buf + n, size - n, ": %s",
		    text_vis(sub, shown, sizeof(shown)));
	n += (size_t)snprintf(buf + n, size - n, ": ");
	vsnprintf(buf + n, size - n, fmt, ap);
}

static int
log_permitted(const struct conf_parse *p)
{
	unsigned n = p->errors + p->warnings;

	if (n == CONF_MESSAGES_MAX)
		log_warnx("%s: more errors or warnings are not listed",
		    p->path);
	return n < CONF_MESSAGES_MAX;
}

void
conf_error(struct conf_parse *p, const char *key, const char *sub,
    const char *fmt, ...)
{
	char text[CONF_REASON_MAX];
	va_list ap;

	va_start(ap, fmt);
	message_format(p, text, sizeof(text), key, sub, fmt, ap);
	va_end(ap);
	if (log_permitted(p))
		log_errorx("%s", text);
	if (p->errors++ == 0)
		memcpy(p->reason, text, sizeof(p->reason));
}

void
conf_warn(struct conf_parse *p, const char *key, const char *sub,
    const char *fmt, ...)
{
	char text[CONF_REASON_MAX];
	va_list ap;

	va_start(ap, fmt);
	message_format(p, text, sizeof(text), key, sub, fmt, ap);
	va_end(ap);
	if (log_permitted(p))
		log_warnx("%s", text);
	p->warnings++;
}

const char *
conf_value_text(const json_t *value, char *buf, size_t size)
{
	char text[CONF_VALUE_TEXT_MAX - 2];

	switch (json_typeof(value)) {
	case JSON_STRING:
		snprintf(buf, size, "\"%s\"",
		    text_vis(json_string_value(value), text, sizeof(text)));
		break;
	case JSON_INTEGER:
		snprintf(buf, size, "%" JSON_INTEGER_FORMAT,
		    json_integer_value(value));
		break;
	case JSON_REAL:
		snprintf(buf, size, "%g", json_real_value(value));
		break;
	case JSON_OBJECT:
		snprintf(buf, size, "an object");
		break;
	case JSON_ARRAY:
		snprintf(buf, size, "a list");
		break;
	case JSON_TRUE:
		snprintf(buf, size, "true");
		break;
	case JSON_FALSE:
		snprintf(buf, size, "false");
		break;
	default:
		snprintf(buf, size, "null");
		break;
	}
	return buf;
}
