/* SPDX-License-Identifier: MIT */
/*
 * The targets that the sandbox leaves open to a process that an attacker
 * controls, because of the user that started the daemon, the kernel or the
 * configuration.  cc-slurm-adapter-security(7) has the same table.
 */
#include "config.h"

#include <sys/stat.h>

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "supervisor/system/system.h"

/* The first version of Landlock that denies this. */
#define ABI_TCP	    4 /* connections to TCP ports */
#define ABI_SIGNALS 6 /* signals and abstract sockets */

static void __attribute__((format(printf, 2, 3)))
text_add(struct not_protected *np, const char *fmt, ...)
{
	va_list ap;

	if (np->n == NOT_PROTECTED_MAX)
		return;
	va_start(ap, fmt);
	vsnprintf(np->text[np->n++], NOT_PROTECTED_TEXT, fmt, ap);
	va_end(ap);
}

/* No filter can deny connect() to one UNIX socket and allow it to others. */
static void
user_manager_find(struct not_protected *np, uid_t uid, const char *run_dir)
{
	static const char *const sockets[] = { "systemd/private", "bus" };
	char path[128];
	struct stat st;
	size_t i;

	for (i = 0; i < sizeof(sockets) / sizeof(sockets[0]); i++) {
		snprintf(path, sizeof(path), "%s/%u/%s", run_dir, (unsigned)uid,
		    sockets[i]);
		if (lstat(path, &st) == -1 || !S_ISSOCK(st.st_mode))
			continue;
		text_add(np,
		    "the runner and Slurm's commands can start programs "
		    "without a sandbox through %s: use ProtectHome=yes in the "
		    "unit, or loginctl disable-linger %u",
		    path, (unsigned)uid);
		return;
	}
}

static void
landlock_find(struct not_protected *np, int landlock)
{
	if (landlock == 0)
		text_add(np,
		    "no Landlock in this kernel: Slurm's commands can read "
		    "every file of their user");
	if (landlock < ABI_TCP)
		text_add(np,
		    "Landlock before version %d: the submitter can connect to "
		    "every TCP port",
		    ABI_TCP);
	if (landlock < ABI_SIGNALS)
		text_add(np,
		    "Landlock before version %d: the runner can send signals "
		    "to the processes of its user",
		    ABI_SIGNALS);
}

void
not_protected_find(struct not_protected *np, const struct setup *setup,
    int landlock, const char *run_dir)
{
	np->n = 0;
	if (setup->mode == SANDBOX_OFF)
		text_add(np, "sandbox off: no process is confined");
	if (setup->mode == SANDBOX_LOG)
		text_add(np, "sandbox log: no system call is denied");
	if (!setup->as_root)
		text_add(np,
		    "all processes have user %u: the runner can read the "
		    "token and the spool",
		    (unsigned)geteuid());
	if (!setup->as_root)
		user_manager_find(np, geteuid(), run_dir);
	if (setup->mode == SANDBOX_ENFORCE)
		landlock_find(np, landlock);
}
