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

#include "common/text/json_scan.h"
#include "supervisor/config/config_file.h"

struct line_scan {
	struct conf_parse *parse;
	json_t *lines; /* being filled */
	const char *text;
	size_t counted; /* newlines before this byte are in line */
	int line;
	char *outer; /* owned; name of the outermost member */
	int items;   /* of the array that is its value */
};

static int
line_at(struct line_scan *l, size_t offset)
{
	while (l->counted < offset)
		if (l->text[l->counted++] == '\n')
			l->line++;
	return l->line;
}

/* Of several, the line of the last one: its value is used. */
static int
note(struct line_scan *l, const char *outer, const char *key, int line)
{
	char *name = conf_line_name(outer, key);
	int first, rc;

	if (name == NULL)
		return -1;
	first = (int)json_integer_value(json_object_get(l->lines, name));
	rc = json_object_set_new(l->lines, name, json_integer(line));
	free(name);
	if (rc == 0 && first != 0)
		conf_warn(l->parse, outer != NULL ? outer : key,
		    outer != NULL ? key : NULL,
		    "given again, first on line %d; the last value is used",
		    first);
	return rc;
}

/* A value in the array of an outermost member: an object is "item 1" etc. */
static int
on_item(struct line_scan *l, const struct json_scan *s, enum json_event event)
{
	char item[32];

	l->items++;
	if (event != JSON_EV_OBJECT)
		return 0;
	snprintf(item, sizeof(item), "item %d", l->items);
	return note(l, l->outer, item, line_at(l, s->offset));
}

static int
on_outer_name(struct line_scan *l, const struct json_scan *s)
{
	free(l->outer);
	l->items = 0;
	l->outer = strdup(s->text);
	if (l->outer == NULL)
		return -1;
	return note(l, NULL, l->outer, line_at(l, s->offset));
}

static const char *
on_event(struct json_scan *s, enum json_event event, void *arg)
{
	struct line_scan *l = arg;
	int rc = 0;

	if (s->depth == 1 && event == JSON_EV_NAME)
		rc = on_outer_name(l, s);
	else if (s->depth == 2 && event == JSON_EV_NAME)
		rc = note(l, l->outer, s->text, line_at(l, s->offset));
	else if (s->depth == 2 && json_scan_in_array(s) &&
	    event != JSON_EV_OBJECT_END && event != JSON_EV_ARRAY_END)
		rc = on_item(l, s, event);
	return rc == -1 ? "out of memory" : NULL;
}

json_t *
conf_lines_new(struct conf_parse *p, const char *text, size_t len)
{
	struct line_scan l = { .parse = p, .text = text, .line = 1 };
	char *buf = malloc(len + 1);
	struct json_scan s;

	if (buf == NULL || (l.lines = json_object()) == NULL)
		goto done;
	/* The warnings of note() need the lines. */
	p->lines = l.lines;
	json_scan_init(&s, '{', buf, len + 1, on_event, &l);
	(void)json_scan_feed(&s, text, len);
done:
	free(l.outer);
	free(buf);
	return l.lines;
}
