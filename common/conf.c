/* SPDX-License-Identifier: MIT */
/* Configuration values as the processes carry them; see conf.h. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "common/conf.h"

static const struct conf_rule rules[CONF__COUNT] = {
#define KEY(id, name, type, def, min, max, roles, effect) \
	[CONF_##id] = { name, CONF_TYPE_##type, def, min, max, roles, \
	    CONF_EFFECT_##effect },
#include "common/conf_keys.h"
#undef KEY
};

const struct conf_rule *
conf_rule(enum conf_key key)
{
	return &rules[key];
}

void
conf_init(struct conf *conf)
{
	memset(conf, 0, sizeof(*conf));
}

void
conf_clear(struct conf *conf)
{
	int i;

	for (i = 0; i < CONF__COUNT; i++)
		free(conf->values[i]);
	conf_init(conf);
}

int
conf_set(struct conf *conf, enum conf_key key, const char *value)
{
	char *copy = strdup(value);

	if (copy == NULL)
		return -1;
	free(conf->values[key]);
	conf->values[key] = copy;
	return 0;
}

const char *
conf_str(const struct conf *conf, enum conf_key key)
{
	return conf->values[key] != NULL ? conf->values[key] : rules[key].def;
}

int64_t
conf_int(const struct conf *conf, enum conf_key key)
{
	return strtoll(conf_str(conf, key), NULL, 10);
}

int
conf_bool(const struct conf *conf, enum conf_key key)
{
	return strcmp(conf_str(conf, key), "true") == 0;
}

static const char *
skip_blank(const char *p)
{
	return p + strspn(p, " \t\r\n,[");
}

/* The end of the JSON string that starts behind p's quote, or NULL. */
static const char *
string_end(const char *p)
{
	for (; *p != '"'; p++) {
		if (*p == '\0' || (*p == '\\' && *++p == '\0'))
			return NULL;
	}
	return p;
}

/* The parser writes the list: only \" and \\ need undoing there. */
int
conf_list_item(const char *list, unsigned n, char *buf, size_t size)
{
	const char *p = skip_blank(list), *end;
	size_t len = 0;

	for (;; p = skip_blank(end + 1)) {
		if (*p != '"' || (end = string_end(p + 1)) == NULL)
			return 0;
		if (n-- == 0)
			break;
	}
	for (p++; p < end; p++) {
		if (*p == '\\')
			p++;
		if (len + 1 >= size)
			return -1;
		buf[len++] = *p;
	}
	buf[len] = '\0';
	return 1;
}

void
conf_read(struct reader *r, struct conf *conf)
{
	unsigned key = rd_u16(r);
	char *value = rd_strdup(r, 1024 * 1024);

	if (rd_end(r) == -1 || key >= CONF__COUNT || value == NULL) {
		rd_fail(r);
		free(value);
		return;
	}
	free(conf->values[key]);
	conf->values[key] = value;
}

void
conf_write(struct writer *w, enum conf_key key, const char *value)
{
	wr_u16(w, (uint16_t)key);
	wr_str(w, value);
}

const uint8_t *
conf_secret(const uint8_t *map, size_t len, enum conf_key key, size_t *n)
{
	struct reader r;
	const uint8_t *p;
	unsigned k;

	rd_init(&r, map, len);
	while (map != NULL && r.left > 0 && !r.err) {
		k = rd_u16(&r);
		p = rd_blob(&r, n);
		if (p != NULL && k == (unsigned)key)
			return p;
	}
	*n = 0;
	return NULL;
}
