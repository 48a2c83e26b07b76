/* SPDX-License-Identifier: MIT */
/* What a row of CTL_T_METRIC may contain; see metrics_text.h. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "common/text/metrics_text.h"

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

int
metric_is_valid(const char *const fields[METRIC_FIELDS])
{
	int k;

	for (k = 0; k < METRIC_FIELDS; k++)
		if (fields[k] == NULL || !is_printable(fields[k]))
			return 0;
	return name_is_valid(fields[METRIC_NAME]) &&
	    type_is_valid(fields[METRIC_TYPE]) &&
	    fields[METRIC_HELP][0] != '\0' &&
	    labels_are_valid(fields[METRIC_LABELS]) &&
	    value_is_valid(fields[METRIC_VALUE]);
}
