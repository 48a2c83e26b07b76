/* SPDX-License-Identifier: MIT */
/* Configuration values; see conf.h. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "common/model/conf.h"
#include "common/text/json_scan.h"

static const struct conf_rule rules[CONF__COUNT] = {
#define KEY(id, name, type, def, min, max, roles, effect) \
	[CONF_##id] = { name, CONF_TYPE_##type, def, min, max, roles, \
		CONF_EFFECT_##effect },
#include "common/model/conf_keys.h"
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

int
conf_delivers_to_stream(const struct conf *conf)
{
	return strcmp(conf_str(conf, CONF_DELIVER), "stream") == 0;
}

int
conf_sends_rest(const struct conf *conf)
{
	return conf_bool(conf, CONF_CC_REST_SUBMIT) &&
	    !conf_delivers_to_stream(conf);
}

int
conf_reads_stream(const struct conf *conf)
{
	return strcmp(conf_str(conf, CONF_SOURCE), "stream") == 0;
}

/* How to connect to NATS. */
static int
is_of_connection(enum conf_key key)
{
	static const enum conf_key keys[] = { CONF_NATS_SERVER, CONF_NATS_PORT,
		CONF_NATS_USER, CONF_NATS_PASSWORD, CONF_NATS_TOKEN,
		CONF_NATS_CREDS_FILE, CONF_NATS_NKEY_SEED_FILE, CONF_NATS_TLS,
		CONF_NATS_CA_FILE, CONF_NATS_CERT_FILE, CONF_NATS_KEY_FILE };
	size_t i;

	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (keys[i] == key)
			return 1;
	return 0;
}

int
conf_is_for(const struct conf *conf, enum conf_key key, enum role role)
{
	if ((rules[key].roles & (1u << role)) == 0)
		return 0;
	if (!is_of_connection(key))
		return 1;
	return role ==
	    (conf_reads_stream(conf) ? ROLE_RECEIVER : ROLE_SUBMITTER);
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

struct list_item {
	unsigned skip; /* strings before the one that is wanted */
	int found;
};

static const char *
on_list_item(struct json_scan *s, enum json_event event, void *arg)
{
	struct list_item *item = arg;

	if (event != JSON_EV_STRING || item->skip-- > 0)
		return NULL;
	item->found = s->cut ? -1 : 1;
	return "found";
}

int
conf_list_item(const char *list, unsigned n, char *buf, size_t size)
{
	struct list_item item = { .skip = n };
	struct json_scan s;

	json_scan_init(&s, '[', buf, size, on_list_item, &item);
	(void)json_scan_feed(&s, list, strlen(list));
	return item.found;
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
