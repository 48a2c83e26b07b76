# SPDX-License-Identifier: MIT
# The runner of Slurm's commands.  A box calls only the boxes above it in this
# file, and those of common/.

# Everything except main(), for the tests.
noinst_LIBRARIES += runner/librunner.a
runner_librunner_a_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
runner_librunner_a_SOURCES = \
	runner/commands.c \
	runner/lastrun.c \
	runner/runner.h \
	runner/slurm.c \
	runner/spawn.c

RUNNER_LIBS = runner/librunner.a runner/confine/libconfine.a \
	common/question/libquestion.a $(WORKER_LIBS)

worker_PROGRAMS += runner/runner
runner_runner_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
runner_runner_SOURCES = runner/main.c
runner_runner_LDADD = $(RUNNER_LIBS)
