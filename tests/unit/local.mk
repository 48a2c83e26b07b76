# SPDX-License-Identifier: MIT
# Each test links the box that it tests and nothing above.  The folders have
# the names of the product's; a program has one list.
include tests/unit/common/local.mk
include tests/unit/listener/local.mk
include tests/unit/hook/local.mk
include tests/unit/ctl/local.mk
include tests/unit/collector/local.mk
include tests/unit/submitter/local.mk

# All of a folder that only holds data is in the tarball.
EXTRA_DIST += tests/unit/check.h tests/data

dist_check_SCRIPTS += tests/unit/test_docs
TESTS += tests/unit/test_docs

check_PROGRAMS += test_wire
TESTS += test_wire
test_wire_SOURCES = tests/wire/test_wire.c
test_wire_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
test_wire_LDADD = $(COMMON_LIBS)
EXTRA_DIST += tests/wire/frames.txt

check_PROGRAMS += test_conf
TESTS += test_conf
test_conf_SOURCES = tests/unit/test_conf.c
test_conf_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
test_conf_LDADD = $(CONFIG_LIBS)

check_PROGRAMS += test_flags
TESTS += test_flags
test_flags_SOURCES = tests/unit/test_flags.c
test_flags_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
test_flags_LDADD = $(SUPERVISOR_LIBS)

check_PROGRAMS += test_pidfile
TESTS += test_pidfile
test_pidfile_SOURCES = tests/unit/test_pidfile.c
test_pidfile_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
test_pidfile_LDADD = $(SYSTEM_LIBS)

check_PROGRAMS += test_reload
TESTS += test_reload
test_reload_SOURCES = tests/unit/test_reload.c
test_reload_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
test_reload_LDADD = $(SUPERVISOR_LIBS)

check_PROGRAMS += test_slurmconf
TESTS += test_slurmconf
test_slurmconf_SOURCES = tests/unit/test_slurmconf.c
test_slurmconf_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
test_slurmconf_LDADD = $(SYSTEM_LIBS)

check_PROGRAMS += test_access
TESTS += test_access
test_access_SOURCES = tests/unit/test_access.c
test_access_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
test_access_LDADD = $(SYSTEM_LIBS)

check_PROGRAMS += test_poison
TESTS += test_poison
test_poison_SOURCES = tests/unit/test_poison.c
test_poison_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
test_poison_LDADD = $(WORKERS_LIBS)
