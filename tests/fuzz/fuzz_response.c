/* SPDX-License-Identifier: MIT */
/*
 * What an answer of cc-backend, or of whoever stands in its place, becomes:
 * the first line says what was asked, of which version, with which code; the
 * rest is the body.
 */
#include "config.h"

#include "common/text/text.h"
#include "submitter/backend/response.h"
#include "tests/fuzz/fuzz.h"

#define TAG_REFUSED "adding tag to new job"

static int
is_object(const char *p, size_t n)
{
	while (n > 0 && strchr(" \n\r\t", *p) != NULL && *p != '\0') {
		p++;
		n--;
	}
	return n > 0 && *p == '{';
}

/* A run is called delivered, or given up, only on the word of cc-backend. */
static void
final_holds(const struct http_answer *a, enum result_code code)
{
	int object = a->body != NULL && is_object(a->body, a->len);

	switch (code) {
	case RESULT_DONE:
		HOLDS(a->code >= 200 && a->code <= 500);
		/* 1.4 puts a line before what it says of a refused tag. */
		if (a->what == REQUEST_START && a->code == 500)
			HOLDS(a->body != NULL &&
			    memmem(a->body, a->len, TAG_REFUSED,
				strlen(TAG_REFUSED)) != NULL);
		else if (a->what == REQUEST_START || a->what == REQUEST_STOP)
			HOLDS(object);
		if (a->what == REQUEST_STOP)
			HOLDS(a->code == 200);
		if (a->what == REQUEST_START)
			HOLDS(a->code == 201 || a->code == 500);
		break;
	case RESULT_REJECTED:
		HOLDS(a->code >= 400 && a->code <= 500);
		if (a->what == REQUEST_START || a->what == REQUEST_STOP)
			HOLDS(object || a->code == 413);
		break;
	case RESULT_ALREADY_STOPPED:
	case RESULT_NO_RUN:
		HOLDS(object &&
		    (a->what == REQUEST_STOP || a->what == REQUEST_META ||
			a->what == REQUEST_DELETE));
		break;
	case RESULT_ACCEPTED_BEFORE:
	case RESULT_CHECK:
		HOLDS(object && a->what == REQUEST_START);
		break;
	default:
		break;
	}
}

static void
verdict_holds(const struct http_answer *a)
{
	struct result once, twice;
	size_t n;

	response_classify(a, &once);
	response_classify(a, &twice);
	HOLDS(memcmp(&once, &twice, sizeof(once)) == 0);
	HOLDS((unsigned)once.code < RESULT__COUNT);
	HOLDS(strcmp(result_name(once.code), "?") != 0);
	HOLDS(once.backend <= BACKEND_1_5);
	HOLDS(!once.told || a->what == REQUEST_PROBE || a->code == 400);
	n = strnlen(once.text, sizeof(once.text));
	HOLDS(n < sizeof(once.text) && text_is_clean(once.text, n));
	HOLDS(strpbrk(once.text, "\n\t") == NULL);
	if (a->code == 0 || a->error != NULL)
		HOLDS(once.code == RESULT_UNREACHABLE);
	else
		final_holds(a, once.code);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	const uint8_t *nl = n > 0 ? memchr(bytes, '\n', n) : NULL;
	unsigned what = 0, backend = 0, code = 0;
	struct http_answer a;
	char *line, *body;
	size_t len;
	int other;

	fuzz_quiet();
	if (nl == NULL)
		return 0;
	line = exact_string(bytes, (size_t)(nl - bytes));
	(void)sscanf(line, "%3u %3u %3u", &what, &backend, &code);
	free(line);
	len = n - (size_t)(nl - bytes) - 1;
	body = exact(nl + 1, len);
	memset(&a, 0, sizeof(a));
	a.what = (enum request_kind)(what % REQUEST__COUNT);
	a.backend = (enum backend)(backend % (BACKEND_1_5 + 1));
	a.code = code;
	a.body = body;
	a.len = len;
	verdict_holds(&a);
	other = response_names_other(body, len, 77, 1700000000);
	HOLDS(other == 0 || other == 1);
	HOLDS(other == 0 || memmem(body, len, "\"jobId\"", 7) != NULL ||
	    memchr(body, '\\', len) != NULL);
	free(body);

	a.body = NULL;
	a.len = 0;
	verdict_holds(&a);
	HOLDS(response_names_other(NULL, 0, 77, 1700000000) == 0);
	a.error = body = exact_string(nl + 1, len);
	verdict_holds(&a);
	free(body);
	return 0;
}
