/* SPDX-License-Identifier: MIT */
/*
 * The sandbox of the parser, entered before it reads the file.  The file names
 * the other files that it reads, so that no list of paths is possible: the
 * parser may read each file that its user may read, as root each file of the
 * machine, and can write none, open no socket and start no program.  The filter
 * does not depend on the key "sandbox", which the parser reads.
 */
#include "config.h"

#include <sys/capability.h>
#include <sys/prctl.h>

#include <errno.h>
#include <unistd.h>

#include "common/log.h"
#include "common/worker/seccomp.h"
#include "supervisor/config/config_file.h"

/* Files that belong to another user than root. */
static const cap_value_t kept[] = { CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH };

#define KEPT (sizeof(kept) / sizeof(kept[0]))

static int
caps_keep(cap_t next)
{
	cap_t now = cap_get_proc();
	cap_flag_value_t has;
	size_t i;
	int rc = 0;

	for (i = 0; now != NULL && i < KEPT; i++)
		if (cap_get_flag(now, kept[i], CAP_PERMITTED, &has) == 0 &&
		    has == CAP_SET)
			rc |= cap_set_flag(next, CAP_PERMITTED, 1, &kept[i],
				  CAP_SET) |
			    cap_set_flag(next, CAP_EFFECTIVE, 1, &kept[i],
				CAP_SET);
	cap_free(now);
	return now != NULL ? rc : -1;
}

static int
caps_equal(cap_t want)
{
	cap_t have = cap_get_proc();
	int equal = have != NULL && cap_compare(have, want) == 0;

	cap_free(have);
	return equal;
}

/* The filter of a unit with User= refuses to set capabilities that are empty. */
static void
caps_reduce(void)
{
	cap_t next = cap_init();

	if (next == NULL || caps_keep(next) == -1 ||
	    (cap_set_proc(next) == -1 && !caps_equal(next)))
		fatal("cannot give up capabilities");
	cap_free(next);
}

void
parser_confine(int channel)
{
	parser_limits();
	conf_regex_prepare();
	if (name_service_start(channel) == -1)
		fatal("the parser of the configuration cannot be started");
	caps_reduce();
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == -1)
		fatal("cannot set no_new_privs");
	/* A kernel without seccomp; the workers report it. */
	if (seccomp_enter(ROLE_PARSER, SANDBOX_ENFORCE) == -1 &&
	    errno != ENOSYS && errno != EINVAL)
		fatal("cannot load the system call filter");
}
