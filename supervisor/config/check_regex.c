/* SPDX-License-Identifier: MIT */
/*
 * Checks that patterns are valid regular expressions.  The workers check them
 * again, but only this process knows their lines.  The library is loaded when
 * there is a pattern to check, so that the supervisor is not linked to it; if
 * the library cannot be loaded, the check is left to the workers.
 */
#include "config.h"

#define PCRE2_CODE_UNIT_WIDTH 8

#include <dlfcn.h>
#include <pcre2.h>
#include <string.h>

#include "supervisor/config/config_file.h"

#define LIBRARY "libpcre2-8.so.0"

static struct {
	int tried;
	__typeof__(pcre2_compile) *compile;
	__typeof__(pcre2_code_free) *code_free;
	__typeof__(pcre2_get_error_message) *error_message;
} pcre2;

/* dlsym() returns an object's pointer; C has no cast to a function's. */
static void *
symbol(void *library, const char *name, void *into)
{
	void *p = dlsym(library, name);

	memcpy(into, &p, sizeof(p));
	return p;
}

static int
library_load(void)
{
	void *library;

	if (pcre2.tried)
		return pcre2.compile != NULL;
	pcre2.tried = 1;
	library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	if (library == NULL ||
	    symbol(library, "pcre2_code_free_8", &pcre2.code_free) == NULL ||
	    symbol(library, "pcre2_get_error_message_8",
		&pcre2.error_message) == NULL)
		return 0;
	return symbol(library, "pcre2_compile_8", &pcre2.compile) != NULL;
}

void
conf_regex_prepare(void)
{
	(void)library_load();
}

void
conf_check_regex(struct conf_parse *p, const char *key, const char *sub,
    const char *pattern)
{
	char text[128] = "";
	PCRE2_SIZE at = 0;
	pcre2_code *code;
	int error = 0;

	if (*pattern == '\0' || !library_load())
		return;
	/* Without options, as in the workers. */
	code = pcre2.compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED, 0,
	    &error, &at, NULL);
	if (code != NULL) {
		pcre2.code_free(code);
		return;
	}
	pcre2.error_message(error, (PCRE2_UCHAR *)text, sizeof(text));
	conf_error(p, key, sub, "is not a valid pattern: %s (at byte %zu)",
	    text, (size_t)at);
}
