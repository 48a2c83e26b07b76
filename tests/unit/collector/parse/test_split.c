/* SPDX-License-Identifier: MIT */
/* Cutting output into lines and rows into fields. */
#include "config.h"

#include <stdlib.h>

#include "collector/parse/parse.h"
#include "tests/unit/check.h"

#define S(text) ((struct span) { text, strlen(text) })

static char got[256];

static int
on_line(struct span line, void *arg)
{
	char *stop_at = arg;
	size_t len = strlen(got);

	snprintf(got + len, sizeof(got) - len, "[%.*s]",
	    line.n > 20 ? 20 : (int)line.n, line.n > 0 ? line.p : "");
	return stop_at != NULL && span_is(line, stop_at) ? -1 : 0;
}

static void
feed(struct lines *l, const char *text)
{
	CHECK_INT(lines_feed(l, text, strlen(text), on_line, NULL), 0);
}

static void
test_lines(void)
{
	struct lines l = { 0 };
	char stop_at[] = "b";

	feed(&l, "a\n\nb");
	feed(&l, "c");
	feed(&l, "\nd");
	CHECK_STR(got, "[a][][bc]");
	CHECK_INT(lines_end(&l, on_line, NULL), 0);
	CHECK_STR(got, "[a][][bc][d]");
	CHECK_INT(lines_end(&l, on_line, NULL), 0);
	CHECK_STR(got, "[a][][bc][d]");
	got[0] = '\0';
	CHECK_INT(lines_feed(&l, "a\nb\nc\n", 6, on_line, stop_at), -1);
	CHECK_STR(got, "[a][b]");
	lines_clear(&l);
}

/* A line that is too long is skipped, whether or not it ends within a piece. */
static void
test_long_lines(void)
{
	struct lines l = { 0 };
	size_t i, piece = 1024 * 1024;
	char *text = malloc(piece + 1);

	memset(text, 'x', piece);
	text[piece] = '\0';
	got[0] = '\0';
	for (i = 0; i < LINE_BYTES_MAX / piece; i++)
		feed(&l, text);
	CHECK_INT(l.skipped, 0);
	feed(&l, "\n");
	CHECK_STR(got, "[xxxxxxxxxxxxxxxxxxxx]");
	got[0] = '\0';
	for (i = 0; i < LINE_BYTES_MAX / piece; i++)
		feed(&l, text);
	feed(&l, "x\nb\n");
	CHECK_INT(l.skipped, 1);
	for (i = 0; i <= LINE_BYTES_MAX / piece; i++)
		feed(&l, text);
	feed(&l, "x\nc\n");
	CHECK_INT(l.skipped, 2);
	CHECK_STR(got, "[b][c]");
	CHECK_INT(lines_end(&l, on_line, NULL), 0);
	CHECK_STR(got, "[b][c]");
	lines_clear(&l);
	free(text);
}

static void
test_delimiters(void)
{
	char a[DELIMITER_LEN + 1], b[DELIMITER_LEN + 1];
	struct span f[3];

	delimiter_new(a);
	delimiter_new(b);
	CHECK(strlen(a) == DELIMITER_LEN && strcmp(a, b) != 0);
	CHECK_INT(delimiter_split(S("aWXYZbWXYZc"), "WXYZ", f, 3), 3);
	CHECK(f[2].n == 1 && f[2].p[0] == 'c');
	CHECK_INT(delimiter_split(S("aWXYZbWXYZcWXYZ"), "WXYZ", f, 3), 4);
	CHECK_INT(delimiter_split(S(""), "WXYZ", f, 3), 1);
}

int
main(void)
{
	test_lines();
	test_long_lines();
	test_delimiters();
	return check_done();
}
