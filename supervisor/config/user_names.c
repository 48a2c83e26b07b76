/* SPDX-License-Identifier: MIT */
/*
 * Replaces the names of users in the configuration by numbers.  A name service
 * may be slow or may not answer; this process has a deadline, the supervisor
 * has none.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "supervisor/config/config_file.h"

#define NAME_BYTES (NAME_SERVICE_MAX + 1)
#define LIST_BYTES 2048 /* 64 numbers in quotes, comma between them */

/* 0, or -1 when there is no such user or no answer: NSS does not tell which. */
static int
uid_find(const char *name, unsigned *uid)
{
	unsigned long number;
	char *end;

	number = strtoul(name, &end, 10);
	if (*name >= '0' && *name <= '9' && *end == '\0' &&
	    number < (uid_t)-1) {
		*uid = (unsigned)number;
		return 0;
	}
	return name_service_find(name, uid);
}

static void
list_resolve(struct conf_parse *p, enum conf_key key, const char *what)
{
	const char *list = conf_str(&p->conf, key);
	char name[NAME_BYTES], out[LIST_BYTES] = "[";
	size_t len = 1;
	unsigned i, uid;

	for (i = 0; conf_list_item(list, i, name, sizeof(name)) == 1; i++) {
		if (uid_find(name, &uid) == -1)
			conf_warn(p, conf_rule(key)->name, NULL,
			    "user %s is not found: the user does not exist, or "
			    "the name service does not answer; %s until a "
			    "reload finds the user",
			    name, what);
		else if (len + 16 < sizeof(out))
			len += (size_t)snprintf(out + len, sizeof(out) - len,
			    "%s\"%u\"", len > 1 ? "," : "", uid);
	}
	snprintf(out + len, sizeof(out) - len, "]");
	if (i > 0 && conf_set(&p->conf, key, out) == -1)
		conf_error(p, conf_rule(key)->name, NULL, "out of memory");
}

/*
 * The supervisor asks no name service after the start.  The number is the first
 * in the list, because the list may be full.
 */
static void
missing_user_add(struct conf_parse *p)
{
	const char *list = conf_str(&p->conf, CONF_PREP_ALLOWED_UIDS);
	const char *name = p->in_force->missing_user;
	char out[LIST_BYTES];
	unsigned uid;

	if (uid_find(name, &uid) == -1) {
		log_warnx("SlurmUser %s of slurm.conf is not found: the user "
			  "does not exist, or the name service does not "
			  "answer; its hooks are refused until a reload finds "
			  "the user",
		    name);
		return;
	}
	snprintf(out, sizeof(out), "[\"%u\"%s%s", uid,
	    strcmp(list, "[]") == 0 ? "" : ",", list + 1);
	if (conf_set(&p->conf, CONF_PREP_ALLOWED_UIDS, out) == -1)
		conf_error(p, conf_rule(CONF_PREP_ALLOWED_UIDS)->name, NULL,
		    "out of memory");
}

void
conf_users_resolve(struct conf_parse *p)
{
	list_resolve(p, CONF_CTL_USERS, "the name is ignored");
	list_resolve(p, CONF_PREP_ALLOWED_UIDS,
	    "hooks of this user are refused");
	if (p->in_force != NULL && p->in_force->missing_user != NULL)
		missing_user_add(p);
}
