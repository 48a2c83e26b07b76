/* SPDX-License-Identifier: MIT */
/* Turns prepAllowedUids' names into numbers; see prep_uids.h. */
#include "config.h"

#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/conf.h"
#include "common/log.h"
#include "supervisor/prep_uids.h"

#define NAME_BYTES	256	/* of a user's name, more than useradd takes */
#define UID_BYTES	16	/* quotes, comma and ten digits */
#define OWN_UIDS	4	/* root, ourselves, slurmUser, "slurm" */

struct uids {
	uid_t	*uid;
	size_t	 n;
};

static void
uids_add(struct uids *uids, uid_t uid)
{
	size_t i;

	for (i = 0; i < uids->n; i++)
		if (uids->uid[i] == uid)
			return;
	uids->uid[uids->n++] = uid;
}

static void
uids_add_name(struct uids *uids, const char *name, int optional)
{
	const struct passwd *pw;
	unsigned long number;
	char *end;

	number = strtoul(name, &end, 10);
	if (*name >= '0' && *name <= '9' && *end == '\0' &&
	    number < (uid_t)-1)
		uids_add(uids, (uid_t)number);
	else if ((pw = getpwnam(name)) != NULL)
		uids_add(uids, pw->pw_uid);
	else if (!optional)
		log_warnx("prepAllowedUids: there is no user %s; hooks of "
		    "that user are refused", name);
}

static char *
uids_write(const struct uids *uids)
{
	size_t i, len = 1, size = uids->n * UID_BYTES + 3;
	char *out = malloc(size);

	if (out == NULL)
		return NULL;
	out[0] = '[';
	for (i = 0; i < uids->n; i++)
		len += (size_t)snprintf(out + len, size - len, "%s\"%u\"",
		    i > 0 ? "," : "", (unsigned)uids->uid[i]);
	snprintf(out + len, size - len, "]");
	return out;
}

char *
prep_uids_resolve(const char *list, uid_t slurm_uid)
{
	char name[NAME_BYTES], *out;
	struct uids uids = { NULL, 0 };
	unsigned n = 0;

	while (conf_list_item(list, n, name, sizeof(name)) != 0)
		n++;
	uids.uid = calloc(n + OWN_UIDS, sizeof(*uids.uid));
	if (uids.uid == NULL)
		return NULL;
	uids_add(&uids, 0);
	uids_add(&uids, geteuid());
	uids_add(&uids, slurm_uid);
	uids_add_name(&uids, "slurm", 1);
	for (n = 0; (conf_list_item(list, n, name, sizeof(name))) != 0; n++) {
		name[sizeof(name) - 1] = '\0';
		uids_add_name(&uids, name, 0);
	}
	out = uids_write(&uids);
	free(uids.uid);
	return out;
}
