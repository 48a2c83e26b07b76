/* SPDX-License-Identifier: MIT */
/*
 * Users that may connect to the sockets of the hooks and of the admin tool, by
 * number.  The parser has replaced the names in the configuration by numbers,
 * so that the supervisor asks no name service, which may not answer.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "supervisor/system/system.h"

#define NUMBER_BYTES 32 /* of one item: ten digits */
#define UID_BYTES    16 /* quotes, comma and ten digits */
#define OWN_UIDS     4	/* root, ourselves, slurmUser, SlurmUser */

/* The n-th number of a list: 1, or 0 at its end. */
static int
uid_item(const char *list, unsigned n, uid_t *uid)
{
	char number[NUMBER_BYTES];

	if (conf_list_item(list, n, number, sizeof(number)) != 1)
		return 0;
	*uid = (uid_t)strtoul(number, NULL, 10);
	return 1;
}

static void
uid_add(uid_t *uids, size_t *n, uid_t uid)
{
	size_t i;

	for (i = 0; i < *n; i++)
		if (uids[i] == uid)
			return;
	uids[(*n)++] = uid;
}

static char *
list_write(const uid_t *uids, size_t n)
{
	size_t i, len = 1, size = n * UID_BYTES + 3;
	char *out = malloc(size);

	if (out == NULL)
		return NULL;
	out[0] = '[';
	for (i = 0; i < n; i++)
		len += (size_t)snprintf(out + len, size - len, "%s\"%u\"",
		    i > 0 ? "," : "", (unsigned)uids[i]);
	snprintf(out + len, size - len, "]");
	return out;
}

char *
hook_uids_complete(const char *list, const struct setup *setup)
{
	uid_t uids[USERS_MAX + OWN_UIDS] = { 0 }, uid; /* root is the first */
	size_t n = 1;
	unsigned i;

	uid_add(uids, &n, geteuid());
	uid_add(uids, &n, setup->identity[ROLE_RUNNER].uid);
	if (setup->has_slurm_user)
		uid_add(uids, &n, setup->slurm_user.uid);
	/* The parser may have added SlurmUser. */
	for (i = 0; i < USERS_MAX + 1 && uid_item(list, i, &uid); i++)
		uid_add(uids, &n, uid);
	return list_write(uids, n);
}

void
ctl_users_read(struct ctl_users *users, const char *list)
{
	for (users->n = 0; users->n < USERS_MAX &&
	     uid_item(list, users->n, &users->uid[users->n]);
	     users->n++)
		continue;
}

int
ctl_user_allowed(const struct ctl_users *users, uid_t uid, int is_destructive)
{
	unsigned i;

	if (uid == 0)
		return 1;
	/* Without root, the workers and Slurm's commands have our uid, too. */
	if (is_destructive)
		return 0;
	if (uid == geteuid())
		return 1;
	for (i = 0; i < users->n; i++) {
		if (users->uid[i] == uid)
			return 1;
	}
	return 0;
}
