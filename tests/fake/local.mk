# SPDX-License-Identifier: MIT
# The strict stand-in for cc-backend that the tests and the demo talk to.
if WITH_FAKE
check_PROGRAMS += tests/fake/fake-cc-backend
endif
tests_fake_fake_cc_backend_SOURCES = \
	tests/fake/admin.c \
	tests/fake/api.c \
	tests/fake/auth.c \
	tests/fake/clusters.c \
	tests/fake/conn.h \
	tests/fake/edit.c \
	tests/fake/fake.h \
	tests/fake/fault.c \
	tests/fake/go_json.c \
	tests/fake/go_scan.c \
	tests/fake/go_write.c \
	tests/fake/gzip.c \
	tests/fake/http.c \
	tests/fake/jwt.c \
	tests/fake/ledger.c \
	tests/fake/line.c \
	tests/fake/list.c \
	tests/fake/main.c \
	tests/fake/nats.c \
	tests/fake/parse.c \
	tests/fake/play.c \
	tests/fake/render.c \
	tests/fake/reply.c \
	tests/fake/restore.c \
	tests/fake/schema.c \
	tests/fake/start.c \
	tests/fake/stop.c \
	tests/fake/store.c \
	tests/fake/text.c
tests_fake_fake_cc_backend_CPPFLAGS = $(AM_CPPFLAGS) $(EVENT_CFLAGS) \
	$(EVSSL_CFLAGS) $(JANSSON_CFLAGS)
tests_fake_fake_cc_backend_LDADD = $(EVSSL_LIBS) $(EVENT_LIBS) \
	$(JANSSON_LIBS)
EXTRA_DIST += tests/fake/faults.py tests/fake/replay.py \
	tests/fake/replay.sh tests/fake/slurm1905.py
