# SPDX-License-Identifier: MIT
# Landlock rules and seccomp filter of one Slurm command.
noinst_LIBRARIES += runner/confine/libconfine.a
runner_confine_libconfine_a_CFLAGS = $(AM_CFLAGS) $(SECCOMP_CFLAGS)
runner_confine_libconfine_a_SOURCES = \
	runner/confine/command.c \
	runner/confine/confine.c \
	runner/confine/confine.h \
	runner/confine/confine_private.h \
	runner/confine/filter.c \
	runner/confine/includes.c \
	runner/confine/paths.c \
	runner/confine/ruleset.c \
	runner/confine/stamp.c

CONFINE_LIBS = runner/confine/libconfine.a $(WORKER_LIBS)
