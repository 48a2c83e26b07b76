/* SPDX-License-Identifier: MIT */
/*
 * What a changed value takes: nothing but the switch, the restart of some
 * workers, or a restart of the service.
 */
#include "config.h"

#include <string.h>

#include "supervisor/system/supervisor.h"

#define WORKER_ROLES	(1u << ROLE_LISTENER | 1u << ROLE_COLLECTOR | \
			1u << ROLE_SUBMITTER)

/*
 * A value that takes a restart is a worker's sandbox or environment.  One
 * that no worker reads itself is the paths that the collector may open.
 */
static unsigned
restart_roles(const struct conf_rule *rule)
{
	unsigned roles = rule->roles & WORKER_ROLES;

	return roles != 0 ? roles : 1u << ROLE_COLLECTOR;
}

/* The old value stays: what was set up with it cannot be changed under way. */
static int
value_keep(const struct conf *old, struct conf *next, enum conf_key key)
{
	log_warnx("%s takes a restart of the service; it stays %s",
	    conf_rule(key)->name, conf_str(old, key));
	return conf_set(next, key, conf_str(old, key));
}

unsigned
conf_diff(const struct conf *old, struct conf *next, unsigned *restarts)
{
	const struct conf_rule *rule;
	unsigned changed = 0;
	int key;

	*restarts = 0;
	for (key = 0; key < CONF__COUNT; key++) {
		rule = conf_rule(key);
		if (strcmp(conf_str(old, key), conf_str(next, key)) == 0)
			continue;
		if (rule->effect == CONF_EFFECT_SERVICE) {
			if (value_keep(old, next, key) == -1)
				log_warn("%s", rule->name);
			continue;
		}
		changed++;
		if (rule->effect == CONF_EFFECT_RESTART)
			*restarts |= restart_roles(rule);
		log_info("%s has changed", rule->name);
	}
	return changed;
}
