/* SPDX-License-Identifier: MIT */
/*
 * Counts the rows of the table that classifies cc-backend's answers.  The table
 * is static, so its file is part of this one.  The linker puts
 * __wrap_response_classify() in front of response_classify().
 */
#include "submitter/backend/response.c"

#include "tests/simulate/coverage.h"

void __real_response_classify(const struct http_answer *a, struct result *v);
void __wrap_response_classify(const struct http_answer *a, struct result *v);

void
__wrap_response_classify(const struct http_answer *a, struct result *v)
{
	char words[WORDS_MAX];
	const struct rule *rule;

	__real_response_classify(a, v);
	if (a->error != NULL || a->code == 0)
		return;
	words_take(a, words, sizeof(words));
	rule = rule_find(a, words);
	if (rule != NULL)
		coverage_rule((unsigned)(rule - rules));
}

int
submitter_rule(unsigned i, char *text, size_t size)
{
	const struct rule *r = &rules[i];
	unsigned k;
	size_t n = 0;

	if (i >= sizeof(rules) / sizeof(rules[0]))
		return -1;
	text[0] = '\0';
	if (r->what == ANY)
		n += (size_t)snprintf(text, size, "any request");
	else
		for (k = 0; k < REQUEST__COUNT && n < size; k++)
			if (r->what & (1u << k))
				n += (size_t)snprintf(text + n, size - n,
				    "%s%s", n > 0 ? "|" : "",
				    request_kind_name((enum request_kind)k));
	if (n < size)
		snprintf(text + n, size - n, " %d-%d%s%s%s: %s", r->from, r->to,
		    r->text != NULL ? " \"" : "",
		    r->text != NULL ? r->text : "", r->text != NULL ? "\"" : "",
		    result_name(r->code));
	return 0;
}
