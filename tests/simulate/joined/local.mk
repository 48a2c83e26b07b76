# SPDX-License-Identifier: MIT
# Both sides in one program: built by `make simulate`.

EXTRA_PROGRAMS += tests/simulate/joined/joined
tests_simulate_joined_joined_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS) \
	$(SQLITE_CFLAGS) $(JANSSON_CFLAGS)
tests_simulate_joined_joined_SOURCES = \
	tests/simulate/backend.c \
	tests/simulate/book.c \
	tests/simulate/check.c \
	tests/simulate/coverage.c \
	tests/simulate/disk.c \
	tests/simulate/faults.c \
	tests/simulate/host.c \
	tests/simulate/joined/joined.c \
	tests/simulate/joined/truth.c \
	tests/simulate/network.c \
	tests/simulate/others.c \
	tests/simulate/refusals.c \
	tests/simulate/site/choices.c \
	tests/simulate/site/collector_process.c \
	tests/simulate/site/faults.c \
	tests/simulate/site/hooks.c \
	tests/simulate/site/runner.c \
	tests/simulate/site/slurm.c \
	tests/simulate/site/slurm_accounting.c \
	tests/simulate/site/slurm_text.c \
	tests/simulate/submitter.c
tests_simulate_joined_joined_LDADD = tests/simulate/site/collector.o \
	tests/simulate/submitter-side.o tests/simulate/cc-side.o \
	tests/simulate/libworld.a common/question/libquestion.a \
	$(COMMON_LIBS) $(SQLITE_LIBS) $(JANSSON_LIBS) $(PCRE2_LIBS) \
	$(ZLIB_LIBS) -lm

simulate: tests/simulate/joined/joined
CLEANFILES += tests/simulate/joined/joined
