/* SPDX-License-Identifier: MIT */
/*
 * What a job's JSON says, as text for people (metaData.slurmInfo); see
 * json_read.h.  Members that are neither texts nor numbers nor lists of such,
 * or that are empty or unset, are left out: nobody reads them.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector/parse/json_read.h"

#define VALUE_MAX	1024	/* of one member; a script is shown elsewhere */

struct info {
	char	*text;		/* TEXT_MAX + 1 bytes, owned */
	size_t	 len;
};

static void
info_add(struct info *info, const char *p, size_t n)
{
	if (n > TEXT_MAX - info->len)
		n = TEXT_MAX - info->len;
	memcpy(info->text + info->len, p, n);
	info->len += n;
}

/* 1 when something was added. */
static int
add_scalar(struct info *info, struct span v)
{
	char number[24], *text;
	int64_t n;
	int len;

	if (json_kind(v) == JSON_STRING) {
		text = json_text(v, VALUE_MAX);
		if (text == NULL)
			return 0;
		info_add(info, text, strlen(text));
		free(text);
		return 1;
	}
	if (json_kind(v) == JSON_BOOL) {
		info_add(info, v.p, v.n);
		return 1;
	}
	switch (json_number(v, &n)) {
	case JSON_NUMBER_SET:
		len = snprintf(number, sizeof(number), "%lld", (long long)n);
		info_add(info, number, (size_t)len);
		return 1;
	case JSON_NUMBER_INFINITE:
		info_add(info, "UNLIMITED", 9);
		return 1;
	default:
		return 0;
	}
}

static int
add_value(struct info *info, struct span v)
{
	struct json_iter it;
	struct span item;
	int any = 0;
	size_t before;

	if (json_kind(v) != JSON_ARRAY)
		return add_scalar(info, v);
	json_iter_array(&it, v);
	while (json_item(&it, &item)) {
		before = info->len;
		if (any)
			info_add(info, ",", 1);
		if (add_scalar(info, item))
			any = 1;
		else
			info->len = before;
	}
	return any;
}

char *
json_info(struct span element)
{
	struct info info = { malloc(TEXT_MAX + 1), 0 };
	struct json_iter it;
	struct span key, value;
	size_t before;
	char *text;

	if (info.text == NULL)
		return NULL;
	json_iter_object(&it, element);
	while (json_member(&it, &key, &value)) {
		before = info.len;
		if (before > 0)
			info_add(&info, "\n", 1);
		info_add(&info, key.p, key.n);
		info_add(&info, "=", 1);
		if (!add_value(&info, value))
			info.len = before;
	}
	/* Keys are Slurm's, but nobody vouches for that. */
	text = span_text((struct span){ info.text, info.len }, TEXT_MAX);
	free(info.text);
	return text;
}
