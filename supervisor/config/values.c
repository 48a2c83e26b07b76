/* SPDX-License-Identifier: MIT */
/* Values that the parser has read. */
#include "config.h"

#include <string.h>

#include "supervisor/config/config_file.h"

int
conf_is_set(const struct conf_parse *p, enum conf_key key)
{
	return conf_rule(key)->type == CONF_TYPE_SECRET ?
	    p->secret[key] != NULL && *p->secret[key] != '\0' :
	    *conf_str(&p->conf, key) != '\0';
}

int
conf_is_kept(const struct conf_parse *p, enum conf_key key)
{
	return p->in_force != NULL &&
	    strcmp(conf_str(&p->conf, key),
		conf_str(&p->in_force->conf, key)) != 0;
}

static void
value_swap(struct conf_parse *p, enum conf_key key)
{
	char **other = &p->in_force->conf.values[key];
	char *value = p->conf.values[key];

	p->conf.values[key] = *other;
	*other = value;
}

void
conf_kept_swap(struct conf_parse *p)
{
	if (p->in_force == NULL)
		return;
	value_swap(p, CONF_DELIVER);
	value_swap(p, CONF_SOURCE);
}
