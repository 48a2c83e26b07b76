/* SPDX-License-Identifier: MIT */
/* Who may use the admin tool's door, by number. */
#include "config.h"

#include <pwd.h>
#include <unistd.h>

#include "supervisor/supervisor.h"

void
ctl_users_read(struct ctl_users *users, const char *list)
{
	const struct passwd *pw;
	char name[256];
	unsigned n;

	users->n = 0;
	for (n = 0; n < CTL_USERS_MAX && conf_list_item(list, n, name,
	    sizeof(name)) == 1; n++) {
		pw = getpwnam(name);
		if (pw != NULL)
			users->uid[users->n++] = pw->pw_uid;
		else
			log_warnx("ctlUsers: there is no user %s", name);
	}
}

int
ctl_users_may(const struct ctl_users *users, uid_t uid, int destroys)
{
	unsigned i;

	if (uid == 0 || uid == geteuid())
		return 1;
	for (i = 0; !destroys && i < users->n; i++) {
		if (users->uid[i] == uid)
			return 1;
	}
	return 0;
}
