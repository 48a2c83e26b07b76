# SPDX-License-Identifier: MIT
# The runner's boxes.

check_PROGRAMS += test_commands test_lastrun
TESTS += test_commands test_lastrun
test_lastrun_SOURCES = tests/unit/runner/test_lastrun.c
test_lastrun_LDADD = $(RUNNER_LIBS)
test_commands_SOURCES = tests/unit/runner/test_commands.c
test_commands_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
test_commands_LDADD = $(RUNNER_LIBS)
