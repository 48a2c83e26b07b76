/* SPDX-License-Identifier: MIT */
/*
 * Who may send which request.  Without root, a worker that an attacker controls
 * has the user of the daemon: this user gets no request that destroys data.
 */
#include "config.h"

#include <stdlib.h>
#include <unistd.h>

#include "supervisor/system/system.h"
#include "tests/unit/check.h"

#define DAEMON 65534
#define ADMIN  65533

static void
check_user(const struct ctl_users *users, uid_t uid, int any, int destructive)
{
	CHECK_INT(ctl_user_allowed(users, uid, 0), any);
	CHECK_INT(ctl_user_allowed(users, uid, 1), destructive);
}

/* A full list, and the SlurmUser that the parser has added. */
static void
test_full(void)
{
	char list[1024] = "[", *uids;
	struct setup setup;
	size_t n = 1;
	unsigned i;

	setup_init(&setup);
	for (i = 0; i < USERS_MAX + 1; i++)
		n += (size_t)snprintf(list + n, sizeof(list) - n, "%s\"%u\"",
		    i > 0 ? "," : "", 4000 + i);
	snprintf(list + n, sizeof(list) - n, "]");
	uids = hook_uids_complete(list, &setup);
	CHECK(uids != NULL && strstr(uids, "\"4000\"") != NULL);
	CHECK(uids != NULL && strstr(uids, "\"4064\"") != NULL);
	free(uids);
}

int
main(void)
{
	struct ctl_users users;

	test_full();

	ctl_users_read(&users, "[\"65533\"]");
	CHECK_INT(users.n, 1);
	if (geteuid() == 0)
		CHECK_INT(seteuid(DAEMON), 0);
	check_user(&users, 0, 1, 1);
	check_user(&users, geteuid(), 1, 0);
	check_user(&users, ADMIN, 1, 0);
	check_user(&users, 65532, 0, 0);
	/* The leak sanitizer needs the rights of the start. */
	CHECK_INT(seteuid(getuid()), 0);
	return check_done();
}
