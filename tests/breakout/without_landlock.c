/* SPDX-License-Identifier: MIT */
/*
 * Executes a program as on a kernel without Landlock:
 *
 *	without_landlock PROGRAM [ARGUMENT...]
 */
#include "config.h"

#include <errno.h>
#include <seccomp.h>
#include <stdio.h>
#include <unistd.h>

int
main(int argc, char **argv)
{
	scmp_filter_ctx f = seccomp_init(SCMP_ACT_ALLOW);

	if (argc < 2 || f == NULL)
		return 2;
	if (seccomp_rule_add(f, SCMP_ACT_ERRNO(ENOSYS),
		SCMP_SYS(landlock_create_ruleset), 0) != 0 ||
	    seccomp_load(f) != 0) {
		fprintf(stderr, "without_landlock: no filter\n");
		return 2;
	}
	execv(argv[1], argv + 1);
	perror(argv[1]);
	return 2;
}
