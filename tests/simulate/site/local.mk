# SPDX-License-Identifier: MIT
# The collector in the simulation, with a simulated Slurm, listener and
# submitter: built by `make simulate`.

EXTRA_LIBRARIES += tests/simulate/site/libpipe.a
tests_simulate_site_libpipe_a_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
tests_simulate_site_libpipe_a_SOURCES = \
	tests/simulate/site/pipe.c

SIMULATE_COLLECTOR_BOXES = collector/query/libquery.a \
	collector/accounting/libaccounting.a collector/details/libdetails.a \
	collector/track/libtrack.a collector/slurm/libslurm.a \
	collector/base/libbase.a collector/parse/libparse.a \
	common/question/libquestion.a

tests/simulate/site/collector.o: $(collector_collector_OBJECTS) \
		$(SIMULATE_COLLECTOR_BOXES) $(SIMULATE_WORKER) \
		tests/simulate/libprocess.a tests/simulate/site/libpipe.a \
		tests/simulate/isolate
	$(SIMULATE_LINK) -o $@.all $(collector_collector_OBJECTS) \
		-Wl,--whole-archive tests/simulate/site/libpipe.a \
		tests/simulate/libprocess.a -Wl,--no-whole-archive \
		-Wl,--start-group $(SIMULATE_COLLECTOR_BOXES) \
		$(SIMULATE_WORKER) -Wl,--end-group
	$(srcdir)/tests/simulate/isolate collector $@.all $@ collector_begin

EXTRA_PROGRAMS += tests/simulate/run-collector
tests_simulate_run_collector_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
tests_simulate_run_collector_SOURCES = \
	tests/simulate/site/choices.c \
	tests/simulate/site/choices.h \
	tests/simulate/site/collector_process.c \
	tests/simulate/site/collector_process.h \
	tests/simulate/site/faults.c \
	tests/simulate/site/faults.h \
	tests/simulate/site/hooks.c \
	tests/simulate/site/hooks.h \
	tests/simulate/site/run_collector.c \
	tests/simulate/site/runner.c \
	tests/simulate/site/runner.h \
	tests/simulate/site/slurm.c \
	tests/simulate/site/slurm.h \
	tests/simulate/site/slurm_accounting.c \
	tests/simulate/site/slurm_private.h \
	tests/simulate/site/slurm_text.c \
	tests/simulate/site/store.c \
	tests/simulate/site/store.h
tests_simulate_run_collector_LDADD = tests/simulate/site/collector.o \
	tests/simulate/libworld.a common/question/libquestion.a \
	$(MODEL_LIBS) $(JANSSON_LIBS) $(PCRE2_LIBS) $(ZLIB_LIBS)
CLEANFILES += tests/simulate/run-collector tests/simulate/site/collector.o \
	tests/simulate/site/collector.o.all

simulate: tests/simulate/run-collector
.PHONY: simulate
EXTRA_DIST += tests/simulate/mutate-collector
