/* SPDX-License-Identifier: MIT */
/*
 * -migrate: a configuration of the Go adapter or of cc-slurm-sync.  A result is one
 * that the daemon accepts, and its own migration changes nothing.  What is printed for
 * the admin has no control character of the file.
 */
#include "config.h"

#include <stdio.h>

#include "tests/fuzz/fuzz.h"

#include "supervisor/config/config_file.h"

static const uint8_t *file; /* the bytes in place of the file */
static size_t file_len;
static FILE *result, *notes; /* in place of standard output and error */

static char *
file_text(const char *path, size_t max, size_t *len, unsigned *mode,
    unsigned *owner, const char **why)
{
	*len = file_len;
	*mode = *owner = 0;
	*why = "";
	return exact_string(file, file_len);
}

/* What migrate.c reads and writes. */
#undef stdout
#undef stderr
#define stdout				 result
#define stderr				 notes
#define printf(...)			 fprintf(result, __VA_ARGS__)
#define conf_file_read(p, m, l, o, w, y) file_text(p, m, l, o, w, y)
#define parser_limits()			 (void)0
#include "supervisor/config/migrate.c"
#undef printf
#undef stderr
#define stderr stderr

/* The texts are owned by the caller. */
static int
migrate(const void *p, size_t n, char **text, size_t *len, char **told)
{
	size_t told_len;
	int rc;

	file = p;
	file_len = n;
	result = open_memstream(text, len);
	notes = open_memstream(told, &told_len);
	HOLDS(result != NULL && notes != NULL);
	rc = migrate_run("config.json");
	HOLDS(fclose(result) == 0 && fclose(notes) == 0);
	return rc;
}

static void
notes_hold(const char *told)
{
	for (; *told != '\0'; told++)
		HOLDS((unsigned char)*told >= 0x20 || *told == '\n');
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	char *text, *told, *again, *told_again;
	size_t len, len_again;

	fuzz_quiet();
	if (migrate(bytes, n, &text, &len, &told) == 0) {
		HOLDS(migrate(text, len, &again, &len_again, &told_again) == 0);
		HOLDS(len == len_again && memcmp(text, again, len) == 0);
		HOLDS(strstr(told_again, "config.json: 0 keys changed\n") !=
		    NULL);
		notes_hold(told_again);
		free(again);
		free(told_again);
	} else
		HOLDS(len == 0);
	notes_hold(told);
	free(text);
	free(told);
	return 0;
}
