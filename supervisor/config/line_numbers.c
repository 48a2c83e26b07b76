/* SPDX-License-Identifier: MIT */
/*
 * The line of each key, which jansson does not keep.  The text is valid JSON;
 * if not, the lines are incomplete.
 *
 * The lines are a flat JSON object: "key" and "key" US "inner key" to a number.
 * US is 0x1f.  The lines are used in messages only.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "supervisor/config/config_file.h"

struct scan {
	struct conf_parse *parse;
	json_t		*lines;		/* being filled */
	const char	*p;
	const char	*end;
	const char	*counted;	/* newlines before it are in line */
	int		 line;
};

static int
line_at(struct scan *s, const char *at)
{
	while (s->counted < at)
		if (*s->counted++ == '\n')
			s->line++;
	return s->line;
}

static void
skip_blank(struct scan *s)
{
	while (s->p < s->end && strchr(" \t\r\n", *s->p) != NULL && *s->p != '\0')
		s->p++;
}

/* From the opening quote to the byte after the closing one. */
static void
skip_string(struct scan *s)
{
	for (s->p++; s->p < s->end && *s->p != '"'; s->p++)
		if (*s->p == '\\')
			s->p++;
	s->p = s->p < s->end ? s->p + 1 : s->end;
}

static void
skip_value(struct scan *s)
{
	int depth = 0;

	while (s->p < s->end) {
		if (depth == 0 && (*s->p == ',' || *s->p == '}' ||
		    *s->p == ']'))
			return;
		if (*s->p == '"') {
			skip_string(s);
			continue;
		}
		if (*s->p == '{' || *s->p == '[')
			depth++;
		else if (*s->p == '}' || *s->p == ']')
			depth--;
		s->p++;
	}
}

/* The key at p without quotes and escapes; owned, NULL when it is none. */
static char *
read_key(struct scan *s)
{
	const char *start = s->p;
	json_t *text;
	char *key = NULL;

	skip_string(s);
	text = json_loadb(start, (size_t)(s->p - start), JSON_DECODE_ANY, NULL);
	if (json_is_string(text))
		key = strdup(json_string_value(text));
	json_decref(text);
	return key;
}

/* Of several, the line of the last one: its value is used. */
static int
note(struct scan *s, const char *outer, const char *key, int line)
{
	char *name = conf_line_name(outer, key);
	int first, rc;

	if (name == NULL)
		return -1;
	first = (int)json_integer_value(json_object_get(s->lines, name));
	rc = json_object_set_new(s->lines, name, json_integer(line));
	free(name);
	if (rc == 0 && first != 0)
		conf_warn(s->parse, outer != NULL ? outer : key,
		    outer != NULL ? key : NULL,
		    "given again, first on line %d; the last value is used",
		    first);
	return rc;
}

/* The objects in the list at p, as "item 1" and so on of outer. */
static int
scan_list(struct scan *s, const char *outer)
{
	char item[32];
	int n = 1, rc = 0;

	for (s->p++; rc == 0 && s->p < s->end && *s->p != ']'; ) {
		skip_blank(s);
		if (s->p < s->end && *s->p == ',') {
			s->p++;
			n++;
			continue;
		}
		if (s->p < s->end && *s->p == '{') {
			snprintf(item, sizeof(item), "item %d", n);
			rc = note(s, outer, item, line_at(s, s->p));
		}
		skip_value(s);
	}
	if (s->p < s->end)
		s->p++;
	return rc;
}

/* The members of the object at p; if outer is NULL, of its values, too. */
static int
scan_object(struct scan *s, const char *outer)
{
	char *key;
	int rc = 0;

	for (s->p++; rc == 0; ) {
		skip_blank(s);
		if (s->p < s->end && *s->p == ',') {
			s->p++;
			continue;
		}
		if (s->p >= s->end || *s->p != '"')
			break;
		rc = line_at(s, s->p);
		key = read_key(s);
		if (key == NULL)
			return -1;
		rc = note(s, outer, key, rc);
		skip_blank(s);
		if (s->p < s->end && *s->p == ':')
			s->p++;
		skip_blank(s);
		if (rc == 0 && outer == NULL && s->p < s->end && *s->p == '{')
			rc = scan_object(s, key);
		else if (rc == 0 && outer == NULL && s->p < s->end &&
		    *s->p == '[')
			rc = scan_list(s, key);
		else
			skip_value(s);
		free(key);
	}
	if (s->p < s->end)
		s->p++;
	return rc;
}

json_t *
conf_lines_new(struct conf_parse *p, const char *text, size_t len)
{
	struct scan s = { .parse = p, .p = text, .end = text + len,
	    .counted = text, .line = 1 };

	s.lines = json_object();
	if (s.lines == NULL)
		return NULL;
	/* The warnings of scan_object() need the lines. */
	p->lines = s.lines;
	skip_blank(&s);
	if (s.p < s.end && *s.p == '{')
		scan_object(&s, NULL);
	return s.lines;
}
