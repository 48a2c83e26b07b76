/* SPDX-License-Identifier: MIT */
/*
 * The rows of one scrape; see exporter.h.  The supervisor and the workers made
 * them, but a worker may have been taken over: each field is checked, so that
 * no row can break the page or add lines to it.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "common/model/ctl.h"
#include "exporter/exporter.h"

#define FIELD_BYTES_MAX 2048

void
page_clear(struct page *page)
{
	size_t i;
	int k;

	for (i = 0; i < page->n; i++)
		for (k = 0; k < METRIC_FIELDS; k++)
			free(page->rows[i].fields[k]);
	free(page->rows);
	memset(page, 0, sizeof(*page));
}

static int
is_printable(const char *s)
{
	for (; *s != '\0'; s++)
		if ((unsigned char)*s < ' ' || (unsigned char)*s >= 0x7f)
			return 0;
	return 1;
}

static int
name_is_valid(const char *s)
{
	static const char letters[] =
	    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";

	return *s != '\0' && strspn(s, letters) > 0 &&
	    s[strspn(s,
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"
		"0123456789")] == '\0';
}

/* name="value" between commas; a value has no escapes. */
static int
labels_are_valid(const char *s)
{
	char name[64];
	size_t n;

	while (*s != '\0') {
		n = strcspn(s, "=");
		if (n == 0 || n >= sizeof(name) || s[n] == '\0' ||
		    s[n + 1] != '"')
			return 0;
		memcpy(name, s, n);
		name[n] = '\0';
		s += n + 2;
		n = strcspn(s, "\"\\");
		if (!name_is_valid(name) || s[n] != '"')
			return 0;
		s += n + 1;
		if (*s == ',' && s[1] != '\0')
			s++;
		else if (*s != '\0')
			return 0;
	}
	return 1;
}

static int
type_is_valid(const char *s)
{
	return strcmp(s, "counter") == 0 || strcmp(s, "gauge") == 0 ||
	    strcmp(s, "histogram") == 0;
}

static int
value_is_valid(const char *s)
{
	char *end;

	if (*s == '\0' || s[strspn(s, "0123456789.-")] != '\0')
		return 0;
	(void)strtod(s, &end);
	return *end == '\0';
}

static int
row_is_valid(const struct page_row *row)
{
	int k;

	for (k = 0; k < METRIC_FIELDS; k++)
		if (row->fields[k] == NULL || !is_printable(row->fields[k]))
			return 0;
	return name_is_valid(row->fields[METRIC_NAME]) &&
	    type_is_valid(row->fields[METRIC_TYPE]) &&
	    row->fields[METRIC_HELP][0] != '\0' &&
	    labels_are_valid(row->fields[METRIC_LABELS]) &&
	    value_is_valid(row->fields[METRIC_VALUE]);
}

/* 0, or -1: a limit is reached, or out of memory. */
static int
row_keep(struct page *page, const struct page_row *row)
{
	struct page_row *rows;
	size_t bytes = 0;
	int k;

	for (k = 0; k < METRIC_FIELDS; k++)
		bytes += strlen(row->fields[k]);
	if (page->n == PAGE_ROWS_MAX || page->bytes + bytes > PAGE_BYTES_MAX)
		return -1;
	rows = array_reserve(page->rows, &page->cap, page->n + 1,
	    sizeof(*rows));
	if (rows == NULL)
		return -1;
	page->rows = rows;
	page->rows[page->n++] = *row;
	page->bytes += bytes;
	return 0;
}

void
page_add(struct page *page, struct reader *r)
{
	struct page_row row = { .fields = { NULL } };
	unsigned table = rd_u8(r), n = rd_u8(r);
	int k;

	for (k = 0; k < METRIC_FIELDS && !r->err; k++)
		row.fields[k] = rd_strdup(r, FIELD_BYTES_MAX);
	if (rd_end(r) == 0 && table == CTL_T_METRIC && n == METRIC_FIELDS &&
	    row_is_valid(&row) && row_keep(page, &row) == 0)
		return;
	page->dropped++;
	for (k = 0; k < METRIC_FIELDS; k++)
		free(row.fields[k]);
}

char *
page_text(const struct page *page, enum metrics_form form, size_t *len)
{
	struct metric_row *rows = calloc(page->n + 1, sizeof(*rows));
	char *text = NULL;
	FILE *f = NULL;
	size_t i;
	int k;

	if (rows == NULL || (f = open_memstream(&text, len)) == NULL)
		goto done;
	for (i = 0; i < page->n; i++)
		for (k = 0; k < METRIC_FIELDS; k++)
			rows[i].fields[k] = page->rows[i].fields[k];
	metrics_print(f, rows, page->n, form);
done:
	free(rows);
	if (f != NULL && fclose(f) != 0) {
		free(text);
		text = NULL;
	}
	return text;
}
