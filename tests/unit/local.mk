# SPDX-License-Identifier: MIT
# Each test links the box that it tests and nothing above.  The folders have
# the names of the product's; a program has one list.
include tests/unit/common/local.mk
include tests/unit/listener/local.mk
include tests/unit/exporter/local.mk
include tests/unit/hook/local.mk
include tests/unit/ctl/local.mk
include tests/unit/collector/local.mk
include tests/unit/runner/local.mk
include tests/unit/submitter/local.mk
include tests/unit/supervisor/local.mk
include tests/unit/receiver/local.mk
include tests/unit/runner/confine/local.mk

# All of a folder that only holds data is in the tarball.
EXTRA_DIST += tests/unit/channel_pair.h tests/unit/check.h \
	tests/unit/lingering_socket.h tests/unit/loop.h tests/data

dist_check_SCRIPTS += tests/unit/test_docs tests/unit/test_messages \
	tests/unit/test_installed
TESTS += tests/unit/test_docs tests/unit/test_messages tests/unit/test_installed

dist_check_SCRIPTS += tests/prometheus/test_alerts
TESTS += tests/prometheus/test_alerts
EXTRA_DIST += tests/prometheus/alerts.yml tests/prometheus/board

check_PROGRAMS += test_wire
TESTS += test_wire
test_wire_SOURCES = tests/wire/test_wire.c
test_wire_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
test_wire_LDADD = $(COMMON_LIBS)
EXTRA_DIST += tests/wire/frames.txt
