/* SPDX-License-Identifier: MIT */
/*
 * Rows of a compromised worker that the admin tool prints for root.  The first byte
 * selects the form of the output.  Then follow rows, one in a line: a byte selects
 * the table, a byte 0x1f separates the fields.  The same bytes are also one row as
 * it arrives.  The text has no control character, the JSON is valid, the metrics have
 * one sample in a line, and the page has no markup of a worker.
 */
#include "config.h"

#include "common/text/json_scan.h"
#include "ctl/report.h"
#include "ctl/watch.h"
#include "exporter/exporter.h"
#include "tests/fuzz/fuzz.h"

#define NOW INT64_C(1764000000)

enum form {
	FORM_TEXT,
	FORM_TEXT_VERBOSE,
	FORM_JSON,
	FORM_OPENMETRICS,
	FORM_PROMETHEUS,
	FORM_GPUS,
	FORM_EXPLAIN,
	FORM_PAGE,
	FORM_WATCH,
	FORM_SCRAPE,
	FORM__COUNT
};

/* A worker of the old or of a future version sends more or fewer fields. */
static void
row_line(struct ctl_reply *a, const uint8_t *p, size_t n)
{
	const uint8_t *end = p + n, *q;
	struct writer w;
	char *field;
	unsigned fields = 0;

	if (n == 0)
		return;
	wr_init(&w, CTL_REPLY_MAX);
	wr_u8(&w, *p % (CTL_T__COUNT + 1));
	wr_u8(&w, 0);
	for (p++; p <= end && fields <= CTL_COLUMNS_MAX; p = q + 1, fields++) {
		q = p < end ? memchr(p, 0x1f, (size_t)(end - p)) : NULL;
		if (q == NULL)
			q = end;
		field = exact_string(p, (size_t)(q - p));
		wr_str(&w, field);
		free(field);
	}
	if (wr_end(&w) == 0) {
		w.buf[1] = (uint8_t)fields;
		HOLDS((reply_add(a, w.buf, w.len) == 0) ==
		    (fields <= CTL_COLUMNS_MAX));
	}
	wr_clear(&w);
}

static void
reply_make(struct ctl_reply *a, const uint8_t *p, size_t n)
{
	const uint8_t *nl;
	size_t len;

	memset(a, 0, sizeof(*a));
	a->text = exact_string("", 0);
	for (; n > 0; p += len, n -= len) {
		nl = memchr(p, '\n', n);
		len = nl != NULL ? (size_t)(nl - p) : n;
		row_line(a, p, len);
		len += nl != NULL;
	}
}

static void
page_print(const struct ctl_reply *a)
{
	unsigned table;

	for (table = 0; table < CTL_T__COUNT; table++)
		report_table(stdout, table % 2, a, table);
	report_plots(stdout, a, NOW);
}

static void
watch_print(const struct ctl_reply *a)
{
	static struct view view;
	struct sample now = { .at_ms = 2000, .now = NOW, .ok = 1 };
	struct sample before = { .at_ms = 1000, .now = NOW - 1, .ok = 1 };
	int i;

	now.status = now.metrics = now.queue = *a;
	before.status = before.metrics = before.queue = *a;
	memset(&view, 0, sizeof(view));
	view.rows = 40;
	view.columns = 80;
	view_make(&view, &now, &before, 0);
	HOLDS(view.n >= 0 && view.n <= view.rows);
	for (i = 0; i < view.n; i++)
		printf("%s\n", view.lines[i]);
}

/* The same rows at the exporter. */
static void
scrape_print(const struct ctl_reply *a, enum metrics_form form)
{
	struct page page = { .n = 0 };
	struct writer w;
	struct reader r;
	char *text;
	size_t i, len;
	unsigned k;

	for (i = 0; i < a->n; i++) {
		wr_init(&w, CTL_REPLY_MAX);
		wr_u8(&w, (uint8_t)a->rows[i].table);
		wr_u8(&w, (uint8_t)a->rows[i].n);
		for (k = 0; k < a->rows[i].n; k++)
			wr_str(&w, a->rows[i].fields[k]);
		HOLDS(wr_end(&w) == 0);
		rd_init(&r, w.buf, w.len);
		page_add(&page, &r);
		wr_clear(&w);
	}
	HOLDS(page.n + page.dropped == a->n);
	text = page_text(&page, form, &len);
	HOLDS(text != NULL && strlen(text) == len);
	printf("%s", text);
	free(text);
	page_clear(&page);
}

static void
reply_print(const struct ctl_reply *a, enum form form, unsigned verb)
{
	static const struct style plain;

	switch (form) {
	case FORM_TEXT:
	case FORM_TEXT_VERBOSE:
		print_text(a, &plain, form == FORM_TEXT_VERBOSE);
		break;
	case FORM_JSON:
		print_json(a, verb);
		break;
	case FORM_OPENMETRICS:
		print_metrics(a, METRICS_OPEN);
		break;
	case FORM_PROMETHEUS:
		print_metrics(a, METRICS_PROMETHEUS);
		break;
	case FORM_GPUS:
		print_gpus(a);
		break;
	case FORM_EXPLAIN:
		print_explain(a);
		break;
	case FORM_PAGE:
		page_print(a);
		break;
	case FORM_WATCH:
		watch_print(a);
		break;
	case FORM_SCRAPE:
	default:
		scrape_print(a, verb % 2 ? METRICS_OPEN : METRICS_PROMETHEUS);
	}
}

/* Nothing that a terminal executes: no C0 but the end of a line, no DEL, no C1. */
static void
text_holds(const char *s, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		HOLDS((unsigned char)s[i] >= ' ' || s[i] == '\n');
		HOLDS(s[i] != 0x7f);
		HOLDS(i == 0 || (unsigned char)s[i - 1] != 0xc2 ||
		    ((unsigned char)s[i] & 0xe0) != 0x80);
	}
}

/* Each line is a comment or a sample of the suite. */
static void
metrics_hold(const char *s, size_t n)
{
	const char *end = s + n, *nl;

	for (; s < end; s = nl + 1) {
		nl = memchr(s, '\n', (size_t)(end - s));
		HOLDS(nl != NULL && nl > s);
		HOLDS(*s == '#' || (*s >= 'a' && *s <= 'z') ||
		    (*s >= 'A' && *s <= 'Z') || *s == '_' || *s == ':');
	}
}

/* The tags are those of the report. */
static void
page_holds(const char *s)
{
	static const char *const tags[] = { "h2", "/h2", "table", "/table",
		"tr", "/tr", "th", "/th", "td", "/td", "p", "/p", "figure",
		"/figure", "figcaption", "/figcaption", "svg", "/svg", "title",
		"/title", "path", "span", "/span" };
	size_t i, n;

	while ((s = strchr(s, '<')) != NULL) {
		s++;
		n = *s == '/' ? 1 + strcspn(s + 1, " >") : strcspn(s, " />");
		for (i = 0; i < sizeof(tags) / sizeof(tags[0]); i++)
			if (strlen(tags[i]) == n && memcmp(tags[i], s, n) == 0)
				break;
		HOLDS(i < sizeof(tags) / sizeof(tags[0]));
	}
}

/* "-12" or "0.250" */
static int
is_number(const char *s)
{
	s += *s == '-';
	if (strspn(s, "0123456789") == 0 || (*s == '0' && s[1] >= '0'))
		return 0;
	s += strspn(s, "0123456789");
	if (*s == '.' && strspn(s + 1, "0123456789") > 0)
		s += 1 + strspn(s + 1, "0123456789");
	return *s == '\0';
}

static const char *
on_json(struct json_scan *scan, enum json_event event, void *arg)
{
	HOLDS(!scan->cut);
	if (event == JSON_EV_SCALAR)
		HOLDS(is_number(scan->text) ||
		    strcmp(scan->text, "true") == 0 ||
		    strcmp(scan->text, "false") == 0 ||
		    strcmp(scan->text, "null") == 0);
	return NULL;
}

static void
json_holds(const char *s, size_t n)
{
	static char text[64 * 1024];
	struct json_scan scan;

	json_scan_init(&scan, '{', text, sizeof(text), on_json, NULL);
	HOLDS(json_scan_feed(&scan, s, n) == NULL);
	HOLDS(json_scan_end(&scan) == NULL);
}

static void
output_holds(enum form form, const char *s, size_t n)
{
	text_holds(s, n);
	if (form == FORM_JSON) {
		json_holds(s, n);
	} else if (form == FORM_OPENMETRICS || form == FORM_PROMETHEUS ||
	    form == FORM_SCRAPE)
		metrics_hold(s, n);
	else if (form == FORM_PAGE)
		page_holds(s);
}

static FILE *null;

static void
reply_holds(enum form form, unsigned verb, const uint8_t *bytes, size_t n)
{
	FILE *real = stdout, *error = stderr, *memory;
	struct ctl_reply a;
	char *out = NULL;
	size_t len = 0;

	reply_make(&a, bytes, n);
	memory = open_memstream(&out, &len);
	if (null == NULL)
		null = fopen("/dev/null", "w");
	HOLDS(memory != NULL && null != NULL);
	stdout = memory;
	stderr = null;
	reply_print(&a, form, verb);
	stdout = real;
	stderr = error;
	HOLDS(fclose(memory) == 0 && strlen(out) == len);
	output_holds(form, out, len);
	free(out);
	reply_clear(&a);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct ctl_reply raw = { .n = 0 };
	char *copy;

	fuzz_quiet();
	if (n < 2)
		return 0;
	reply_holds((enum form)(bytes[0] % FORM__COUNT),
	    bytes[1] % (unsigned)CTL__COUNT, bytes + 2, n - 2);
	copy = exact(bytes, n);
	reply_add(&raw, (const uint8_t *)copy, n);
	reply_clear(&raw);
	free(copy);
	return 0;
}
