# SPDX-License-Identifier: MIT
# The runner's boxes.

check_PROGRAMS += test_commands test_lastrun
TESTS += test_commands test_lastrun
test_lastrun_SOURCES = tests/unit/runner/test_lastrun.c
test_lastrun_LDADD = $(RUNNER_LIBS)
test_commands_SOURCES = tests/unit/runner/test_commands.c
test_commands_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
test_commands_LDADD = $(RUNNER_LIBS)

check_PROGRAMS += test_slurm_site
TESTS += test_slurm_site
test_slurm_site_SOURCES = tests/unit/runner/test_slurm_site.c runner/slurm.c
test_slurm_site_CPPFLAGS = $(AM_CPPFLAGS) -UMUNGEBINDIR \
	-DMUNGEBINDIR='"/nonexistent"'
test_slurm_site_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
test_slurm_site_LDADD = common/question/libquestion.a $(WORKER_LIBS)
