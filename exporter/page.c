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
	    metric_is_valid((const char *const *)row.fields) &&
	    row_keep(page, &row) == 0)
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
