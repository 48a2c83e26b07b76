# SPDX-License-Identifier: MIT
# The runner's boxes.

check_PROGRAMS += test_commands
TESTS += test_commands
test_commands_SOURCES = tests/unit/runner/test_commands.c
test_commands_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
test_commands_LDADD = $(RUNNER_LIBS)
