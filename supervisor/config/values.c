/* SPDX-License-Identifier: MIT */
/* Values that the parser has read. */
#include "config.h"

#include "supervisor/config/config_file.h"

int
conf_is_set(const struct conf_parse *p, enum conf_key key)
{
	return conf_rule(key)->type == CONF_TYPE_SECRET ?
	    p->secret[key] != NULL && *p->secret[key] != '\0' :
	    *conf_str(&p->conf, key) != '\0';
}
