# SPDX-License-Identifier: MIT
# A fan-in in one program: built by `make simulate` when the build has NATS.

if WITH_NATS
EXTRA_LIBRARIES += tests/simulate/fanin/liblink.a
tests_simulate_fanin_liblink_a_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
tests_simulate_fanin_liblink_a_SOURCES = \
	tests/simulate/fanin/receiver_link.c \
	tests/simulate/process_net.c

# The submitter once more, with other static data.
tests/simulate/fanin/cluster-side.o: tests/simulate/submitter-side.o
	$(AM_V_GEN)$(srcdir)/tests/simulate/isolate cluster \
	    tests/simulate/submitter-side.o.all $@

SIMULATE_RECEIVER = $(receiver_receiver_OBJECTS) \
	tests/simulate/libprocess.a tests/simulate/fanin/liblink.a
SIMULATE_RECEIVER_BOXES = receiver/libreceiver.a receiver/lease/liblease.a receiver/intake/libintake.a \
	receiver/asks/libasks.a receiver/streams/libstreams.a receiver/base/libbase.a \
	common/record/librecord.a common/net/libnet.a $(SIMULATE_WORKER)
tests/simulate/fanin/receiver-side.o: $(SIMULATE_RECEIVER) \
		$(SIMULATE_RECEIVER_BOXES) tests/simulate/isolate
	$(AM_V_GEN)$(SIMULATE_LINK) -o $@.all \
	    -Wl,--whole-archive $(SIMULATE_RECEIVER) -Wl,--no-whole-archive \
	    -Wl,--start-group $(SIMULATE_RECEIVER_BOXES) -Wl,--end-group
	$(AM_V_at)$(srcdir)/tests/simulate/isolate receiver $@.all $@

EXTRA_PROGRAMS += tests/simulate/fanin/fanin
tests_simulate_fanin_fanin_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS) \
	$(SQLITE_CFLAGS) $(JANSSON_CFLAGS)
tests_simulate_fanin_fanin_SOURCES = \
	tests/simulate/backend.c \
	tests/simulate/book.c \
	tests/simulate/check.c \
	tests/simulate/collector_side.c \
	tests/simulate/coverage.c \
	tests/simulate/disk.c \
	tests/simulate/fanin/fanin.c \
	tests/simulate/fanin/workers.c \
	tests/simulate/fanin/workers.h \
	tests/simulate/faults.c \
	tests/simulate/host.c \
	tests/simulate/network.c \
	tests/simulate/others.c \
	tests/simulate/refusals.c \
	tests/simulate/submitter.c \
	tests/simulate/truth.c
tests_simulate_fanin_fanin_LDADD = tests/simulate/submitter-side.o \
	tests/simulate/fanin/cluster-side.o \
	tests/simulate/fanin/receiver-side.o tests/simulate/cc-side.o \
	tests/simulate/libworld.a $(COMMON_LIBS) $(SQLITE_LIBS) \
	$(JANSSON_LIBS) $(PCRE2_LIBS) $(ZLIB_LIBS) -lm

SIMULATE_FANIN = tests/simulate/fanin/fanin
CLEANFILES += tests/simulate/fanin/fanin \
	tests/simulate/fanin/cluster-side.o \
	tests/simulate/fanin/receiver-side.o \
	tests/simulate/fanin/receiver-side.o.all
endif
simulate: $(SIMULATE_FANIN)
EXTRA_DIST += tests/simulate/mutate-fanin
