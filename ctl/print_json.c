/* SPDX-License-Identifier: MIT */
/*
 * The reply as one JSON object: "result", "text" and a member for each table
 * with rows.  A table is an array of objects.  The status is an object with a
 * member for each process, whose value is an object with a member for each key.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "common/text/text.h"
#include "ctl/ctl.h"

#define INTEGER_DIGITS 15 /* exact in every JSON reader */

/* Length of the UTF-8 character at p, at most left bytes; 0: invalid. */
static size_t
character_length(const char *p, size_t left)
{
	size_t n;

	for (n = 1; n <= 4 && n <= left; n++)
		if (text_is_clean(p, n))
			return n;
	return 0;
}

void
json_string(const char *s)
{
	size_t n, left = strlen(s);

	putchar('"');
	for (; left > 0; s += n, left -= n) {
		n = 1;
		if (*s == '"' || *s == '\\')
			printf("\\%c", *s);
		else if ((unsigned char)*s < ' ' || *s == 0x7f)
			printf("\\u%04x", (unsigned)*s);
		else if ((n = character_length(s, left)) == 0) {
			n = 1;
			printf("\\ufffd");
		} else
			printf("%.*s", (int)n, s);
	}
	putchar('"');
}

void
json_begin(const char *result, const char *text)
{
	printf("{\"version\":%d,\"result\":\"%s\",\"text\":", CTL_JSON_VERSION,
	    result);
	json_string(text);
}

static int
is_integer(const char *s)
{
	size_t n;

	if (*s == '-')
		s++;
	n = strspn(s, "0123456789");
	return n > 0 && n <= INTEGER_DIGITS && s[n] == '\0' &&
	    (n == 1 || s[0] != '0');
}

/* A number as JSON defines it; NaN and infinity are none. */
static int
is_number(const char *s)
{
	size_t n;

	if (is_integer(s))
		return 1;
	if (*s == '-')
		s++;
	n = strspn(s, "0123456789");
	if (n == 0 || (n > 1 && s[0] == '0') || s[n] != '.')
		return 0;
	s += n + 1;
	n = strspn(s, "0123456789");
	return n > 0 && s[n] == '\0';
}

static void
json_value(const char *s, int numeric)
{
	if (numeric && is_number(s))
		printf("%s", s);
	else if (numeric && *s == '\0')
		printf("null");
	else
		json_string(s);
}

static void
json_row(const struct ctl_row *row, const struct ctl_column *columns)
{
	unsigned i;

	putchar('{');
	for (i = 0; i < row->n && columns[i].name != NULL; i++) {
		if (i > 0)
			putchar(',');
		json_string(columns[i].name);
		putchar(':');
		json_value(row->fields[i], columns[i].numeric);
	}
	putchar('}');
}

static void
json_table(const struct ctl_reply *a, unsigned table)
{
	const struct ctl_column *columns = ctl_columns(table);
	const char *before = "";
	size_t i;

	putchar(',');
	json_string(ctl_table_name(table));
	printf(":[");
	for (i = 0; i < a->n; i++) {
		if (a->rows[i].table != table)
			continue;
		printf("%s", before);
		json_row(&a->rows[i], columns);
		before = ",";
	}
	putchar(']');
}

/* A table with one row. */
static void
json_object(const struct ctl_reply *a, unsigned table)
{
	size_t i;

	for (i = 0; a->rows[i].table != table; i++)
		continue;
	putchar(',');
	json_string(ctl_table_name(table));
	putchar(':');
	json_row(&a->rows[i], ctl_columns(table));
}

static int
is_status(const struct ctl_row *row)
{
	return row->table == CTL_T_STATUS && row->n == 3;
}

/* Do row i and another row k agree in the first fields? */
static int
row_same_status(const struct ctl_reply *a, size_t i, size_t k, unsigned fields)
{
	unsigned f;

	if (k == i || !is_status(&a->rows[k]))
		return 0;
	for (f = 0; f < fields; f++)
		if (strcmp(a->rows[k].fields[f], a->rows[i].fields[f]) != 0)
			return 0;
	return 1;
}

static int
rows_any_same(const struct ctl_reply *a, size_t i, size_t from, size_t to,
    unsigned fields)
{
	size_t k;

	for (k = from; k < to; k++)
		if (row_same_status(a, i, k, fields))
			return 1;
	return 0;
}

/* A key with several rows becomes an array. */
static void
json_status_value(const struct ctl_reply *a, size_t i)
{
	size_t k;

	if (!rows_any_same(a, i, i + 1, a->n, 2)) {
		json_value(a->rows[i].fields[2],
		    is_integer(a->rows[i].fields[2]));
		return;
	}
	putchar('[');
	for (k = i; k < a->n; k++) {
		if (k != i && !row_same_status(a, i, k, 2))
			continue;
		if (k != i)
			putchar(',');
		json_value(a->rows[k].fields[2],
		    is_integer(a->rows[k].fields[2]));
	}
	putchar(']');
}

static void
json_status_process(const struct ctl_reply *a, size_t first)
{
	const char *before = "";
	size_t i;

	json_string(a->rows[first].fields[0]);
	printf(":{");
	for (i = first; i < a->n; i++) {
		if (i != first && !row_same_status(a, first, i, 1))
			continue;
		if (rows_any_same(a, i, first, i, 2))
			continue;
		printf("%s", before);
		json_string(a->rows[i].fields[1]);
		putchar(':');
		json_status_value(a, i);
		before = ",";
	}
	putchar('}');
}

static void
json_status(const struct ctl_reply *a)
{
	const char *before = "";
	size_t i;

	printf(",\"status\":{");
	for (i = 0; i < a->n; i++) {
		if (!is_status(&a->rows[i]) || rows_any_same(a, i, 0, i, 1))
			continue;
		printf("%s", before);
		json_status_process(a, i);
		before = ",";
	}
	putchar('}');
}

/* The table that is printed even without rows. */
static unsigned
verb_table(unsigned verb)
{
	if (verb == CTL_QUEUE)
		return CTL_T_QUEUE;
	if (verb == CTL_STATUS)
		return CTL_T_PROBLEM;
	if (verb == CTL_EXPLAIN)
		return CTL_T_EXPLAIN;
	if (verb == CTL_HISTORY)
		return CTL_T_HISTORY;
	if (verb == CTL_WARNINGS)
		return CTL_T_WARNING;
	return verb == CTL_SYNC ? CTL_T_DIFF : CTL_T__COUNT;
}

void
print_json(const struct ctl_reply *a, unsigned verb)
{
	static const char *const results[] = { [CTL_OK] = "ok",
		[CTL_ERROR] = "error",
		[CTL_DENIED] = "denied" };
	unsigned table;
	size_t i;

	json_begin(results[a->status], a->text != NULL ? a->text : "");
	for (table = 0; table < CTL_T__COUNT; table++) {
		for (i = 0; i < a->n && a->rows[i].table != table; i++)
			continue;
		if (i == a->n && table != verb_table(verb))
			continue;
		if (table == CTL_T_STATUS)
			json_status(a);
		else if (table == CTL_T_SUMMARY)
			json_object(a, table);
		else
			json_table(a, table);
	}
	printf("}\n");
}
