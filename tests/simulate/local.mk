# SPDX-License-Identifier: MIT
# The simulation: built by `make simulate`, not by `make check`.  Its parts are
# the frame (libworld.a) and, for each process, the product's code on the
# replaced operating system (libprocess.a), in one relocatable file with local
# symbols.

EXTRA_LIBRARIES += tests/simulate/libworld.a
tests_simulate_libworld_a_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS) \
	$(SQLITE_CFLAGS) $(JANSSON_CFLAGS)
tests_simulate_libworld_a_SOURCES = \
	tests/simulate/broker.c \
	tests/simulate/broker.h \
	tests/simulate/broker_faults.c \
	tests/simulate/broker_private.h \
	tests/simulate/broker_stream.c \
	tests/simulate/link.c \
	tests/simulate/link.h \
	tests/simulate/reduce.c \
	tests/simulate/reduce.h \
	tests/simulate/rest.c \
	tests/simulate/rest.h \
	tests/simulate/seeds.c \
	tests/simulate/seeds.h \
	tests/simulate/supervisor.c \
	tests/simulate/supervisor.h \
	tests/simulate/trace.c \
	tests/simulate/world.c \
	tests/simulate/world.h

EXTRA_LIBRARIES += tests/simulate/libprocess.a
tests_simulate_libprocess_a_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
tests_simulate_libprocess_a_SOURCES = \
	tests/simulate/channel.c \
	tests/simulate/loop.c \
	tests/simulate/process.c \
	tests/simulate/process.h

# The replaced functions come first and win.
SIMULATE_LINK = $(CC) -r -nostdlib -Wl,-z,muldefs
SIMULATE_WORKER = common/worker/libworker.a common/ipc/libipc.a \
	$(MODEL_LIBS)

# The submitter.
EXTRA_LIBRARIES += tests/simulate/libsubmitter-side.a
tests_simulate_libsubmitter_side_a_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS) \
	$(CURL_CFLAGS) $(SQLITE_CFLAGS) -U_FORTIFY_SOURCE
tests_simulate_libsubmitter_side_a_SOURCES = \
	submitter/nats/nats_ack.c \
	submitter/nats/nats_ack.h \
	tests/simulate/process_net.c \
	tests/simulate/submitter_answers.c \
	tests/simulate/submitter_files.c \
	tests/simulate/submitter_http.c \
	tests/simulate/submitter_nats.c \
	tests/simulate/submitter_states.c
SIMULATE_SUBMITTER = $(submitter_submitter_OBJECTS) \
	tests/simulate/libprocess.a tests/simulate/libsubmitter-side.a
SIMULATE_WRAP = -Wl,--wrap=run_move -Wl,--wrap=response_classify \
	-Wl,--wrap=sqlite3_vfs_register
SIMULATE_KEEP = submitter_transition submitter_rule
SIMULATE_SUBMITTER_BOXES = submitter/libsubmitter.a \
	submitter/reconcile/libreconcile.a submitter/delivery/libdelivery.a \
	submitter/intake/libintake.a submitter/backend/libbackend.a \
	submitter/net/libnet.a submitter/spool/libspool.a \
	common/net/libnet.a common/record/librecord.a \
	submitter/payload/libpayload.a submitter/history/libhistory.a \
	submitter/base/libbase.a $(SIMULATE_WORKER)
tests/simulate/submitter-side.o: $(SIMULATE_SUBMITTER) \
		$(SIMULATE_SUBMITTER_BOXES) tests/simulate/isolate
	$(AM_V_GEN)$(SIMULATE_LINK) $(SIMULATE_WRAP) -o $@.all \
	    -Wl,--whole-archive $(SIMULATE_SUBMITTER) -Wl,--no-whole-archive \
	    -Wl,--start-group $(SIMULATE_SUBMITTER_BOXES) -Wl,--end-group
	$(AM_V_at)$(srcdir)/tests/simulate/isolate submitter $@.all $@ \
	    $(SIMULATE_KEEP)

# cc-backend: the stand-in without its network.
EXTRA_LIBRARIES += tests/simulate/libcc.a
tests_simulate_libcc_a_CPPFLAGS = $(AM_CPPFLAGS) $(EVENT_CFLAGS) \
	$(JANSSON_CFLAGS) -U_FORTIFY_SOURCE
tests_simulate_libcc_a_SOURCES = \
	tests/fake/api.c \
	tests/fake/clusters.c \
	tests/fake/edit.c \
	tests/fake/go_json.c \
	tests/fake/go_scan.c \
	tests/fake/go_write.c \
	tests/fake/gzip.c \
	tests/fake/ledger.c \
	tests/fake/list.c \
	tests/fake/render.c \
	tests/fake/reply.c \
	tests/fake/restore.c \
	tests/fake/schema.c \
	tests/fake/start.c \
	tests/fake/stop.c \
	tests/fake/store.c \
	tests/fake/text.c \
	tests/simulate/cc_box.c \
	tests/simulate/cc_box.h
tests/simulate/cc-side.o: tests/simulate/libcc.a tests/simulate/isolate
	$(AM_V_GEN)$(SIMULATE_LINK) -o $@.all -Wl,--whole-archive \
	    tests/simulate/libcc.a
	$(AM_V_at)$(srcdir)/tests/simulate/isolate cc $@.all $@ \
	    cc_box_begin cc_box_request cc_box_commit cc_box_race cc_box_rows

EXTRA_PROGRAMS += tests/simulate/simulate
tests_simulate_simulate_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS) \
	$(SQLITE_CFLAGS) $(JANSSON_CFLAGS)
tests_simulate_simulate_SOURCES = \
	tests/simulate/backend.c \
	tests/simulate/backend.h \
	tests/simulate/backend_private.h \
	tests/simulate/book.c \
	tests/simulate/book.h \
	tests/simulate/check.c \
	tests/simulate/check.h \
	tests/simulate/collector_side.c \
	tests/simulate/collector_side.h \
	tests/simulate/coverage.c \
	tests/simulate/coverage.h \
	tests/simulate/disk.c \
	tests/simulate/disk.h \
	tests/simulate/faults.c \
	tests/simulate/faults.h \
	tests/simulate/host.c \
	tests/simulate/host.h \
	tests/simulate/main.c \
	tests/simulate/network.c \
	tests/simulate/others.c \
	tests/simulate/refusals.c \
	tests/simulate/others.h \
	tests/simulate/refusals.h \
	tests/simulate/submitter.c \
	tests/simulate/submitter.h \
	tests/simulate/truth.c \
	tests/simulate/truth.h \
	tests/simulate/twin.c \
	tests/simulate/twin.h
tests_simulate_simulate_LDADD = tests/simulate/submitter-side.o \
	tests/simulate/cc-side.o tests/simulate/libworld.a \
	$(COMMON_LIBS) $(SQLITE_LIBS) $(JANSSON_LIBS) $(PCRE2_LIBS) \
	$(ZLIB_LIBS) -lm

simulate: tests/simulate/simulate
.PHONY: simulate
CLEANFILES += tests/simulate/submitter-side.o \
	tests/simulate/submitter-side.o.all tests/simulate/cc-side.o \
	tests/simulate/cc-side.o.all

EXTRA_DIST += tests/simulate/isolate tests/simulate/mutate-submitter \
	tests/simulate/soak \
	tests/simulate/run
