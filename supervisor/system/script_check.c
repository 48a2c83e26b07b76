/* SPDX-License-Identifier: MIT */
/*
 * The check of -test on the scripts of slurmctld: do PrologSlurmctld and
 * EpilogSlurmctld call the hook, and can slurmctld execute them, as far as this
 * host shows it?  If it cannot execute PrologSlurmctld, slurmctld 20.11 requeues
 * each job, 22.05 runs the job without the hook, and 24.11 refuses to reconfigure.
 */
#include "config.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/text/text.h"
#include "supervisor/system/script_read.h"

#define LINE_BYTES 2048

/* The key, the value and the names of files may contain control characters. */
static void __attribute__((format(printf, 2, 3)))
line_write(FILE *out, const char *fmt, ...)
{
	char text[LINE_BYTES], shown[LINE_BYTES];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	fprintf(out, "%s\n", text_vis(text, shown, sizeof(shown)));
}

static void
script_check(const struct setup *setup, FILE *out, const char *key,
    const char *value)
{
	struct scripts s;

	if (*value == '\0')
		line_write(out,
		    "warn %s is not set: short jobs are found later, without "
		    "threads and GPUs; in slurm.conf, set %s=%s/prep-hook.sh, "
		    "then run: scontrol reconfigure",
		    key, key, setup->program_dir);
	else if (scripts_read(setup, value, &s) == -1)
		line_write(out,
		    "warn %s=%s was not read: this takes more than %d s or %u "
		    "MiB; in slurm.conf, set %s=%s/prep-hook.sh, or run this "
		    "test on the host of slurmctld",
		    key, value, SCRIPT_READ_S, SCRIPT_READ_BYTES >> 20, key,
		    setup->program_dir);
	else if (s.closed[0] != '\0')
		line_write(out,
		    "warn %s: user %u, who runs slurmctld, cannot execute %s: "
		    "no hook message is sent, and slurmctld 20.11 requeues "
		    "each job; run: namei -l %s, and permit this user to read "
		    "and execute the file and to enter each directory",
		    key, (unsigned)setup->slurm_user.uid, s.closed, s.closed);
	else if (s.calls)
		line_write(out, "ok %s calls this hook (%s)", key, value);
	else if (s.special)
		line_write(out,
		    "warn %s=%s is not a regular file; in slurm.conf, set "
		    "%s=%s/prep-hook.sh, then run: scontrol reconfigure",
		    key, value, key, setup->program_dir);
	else if (s.error != 0)
		line_write(out,
		    "warn %s=%s cannot be read on this host: %s; run this test "
		    "on the host of slurmctld",
		    key, value, strerror(s.error));
	else
		line_write(out,
		    "warn %s=%s does not call " HOOK_NAME
		    "; add this line to the script: %s/prep-hook.sh",
		    key, value, setup->program_dir);
}

static void
plugin_check(FILE *out, const char *value)
{
	if (strstr(value, "script") == NULL)
		line_write(out,
		    "warn PrEpPlugins=%s: slurmctld runs no scripts; in "
		    "slurm.conf, add prep/script to PrEpPlugins, then run: "
		    "scontrol reconfigure",
		    value);
}

void
scripts_check(const struct setup *setup, const char *hook, FILE *out)
{
	const char *equals = strchr(hook, '=');
	char key[64];

	if (equals == NULL || equals - hook >= (int)sizeof(key))
		return;
	snprintf(key, sizeof(key), "%.*s", (int)(equals - hook), hook);
	if (strcmp(key, "PrEpPlugins") == 0)
		plugin_check(out, equals + 1);
	else
		script_check(setup, out, key, equals + 1);
}
