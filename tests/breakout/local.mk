# SPDX-License-Identifier: MIT
# Attacks from inside the processes; tests/breakout/run builds and drives them.
# The attack code is linked into the workers only with --enable-breakout.
breakout_attempts = tests/breakout/attempts.c tests/breakout/attempts.h \
	tests/breakout/calls.c tests/breakout/calls.h \
	tests/breakout/files.c tests/breakout/limits.c tests/breakout/page.h \
	tests/breakout/processes.c tests/breakout/sockets.c

if WITH_BREAKOUT
noinst_LIBRARIES += tests/breakout/libbreakout.a
noinst_PROGRAMS += breakout_command without_landlock
endif
EXTRA_LIBRARIES += tests/breakout/libbreakout.a
tests_breakout_libbreakout_a_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
tests_breakout_libbreakout_a_SOURCES = $(breakout_attempts) \
	tests/breakout/in_worker.c

EXTRA_PROGRAMS += breakout_command without_landlock
breakout_command_SOURCES = $(breakout_attempts) tests/breakout/command.c
breakout_command_LDADD = -lpthread
without_landlock_SOURCES = tests/breakout/without_landlock.c
without_landlock_CFLAGS = $(AM_CFLAGS) $(SECCOMP_CFLAGS)
without_landlock_LDADD = $(SECCOMP_LIBS)

EXTRA_DIST += tests/breakout/run tests/breakout/page.py tests/breakout/expected
