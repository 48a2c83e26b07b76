# SPDX-License-Identifier: MIT
# Each test links the box that it tests and nothing above.  The folders have
# the names of the product's; a program has one list.
include tests/unit/collector/local.mk
include tests/unit/submitter/local.mk
include tests/unit/supervisor/local.mk

# All of a folder that only holds data is in the tarball.
EXTRA_DIST += tests/unit/check.h tests/data

dist_check_SCRIPTS += tests/unit/test_docs
TESTS += tests/unit/test_docs

check_PROGRAMS += test_common
TESTS += test_common
test_common_SOURCES = tests/unit/test_common.c
test_common_LDADD = $(WORKER_LIBS)

check_PROGRAMS += test_wire
TESTS += test_wire
test_wire_SOURCES = tests/wire/test_wire.c
test_wire_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
test_wire_LDADD = $(COMMON_LIBS)
EXTRA_DIST += tests/wire/frames.txt

check_PROGRAMS += test_hook
TESTS += test_hook
test_hook_SOURCES = tests/unit/test_hook.c hook/message.c hook/address.c \
	hook/conf.c hook/deliver.c
test_hook_LDADD = $(COMMON_LIBS)

check_PROGRAMS += test_prep
TESTS += test_prep
test_prep_SOURCES = tests/unit/test_prep.c listener/hook_message.c \
	listener/access.c
test_prep_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
test_prep_LDADD = $(COMMON_LIBS)

check_PROGRAMS += test_door
TESTS += test_door
test_door_SOURCES = tests/unit/test_door.c listener/server.c \
	listener/hook_message.c listener/access.c listener/event_queue.c
test_door_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
test_door_LDADD = $(COMMON_LIBS)

check_PROGRAMS += test_ctl
TESTS += test_ctl
test_ctl_SOURCES = tests/unit/test_ctl.c ctl/options.c ctl/client.c \
	ctl/print_text.c ctl/print_json.c ctl/print_metrics.c
test_ctl_LDADD = $(COMMON_LIBS)
