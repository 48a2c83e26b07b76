# SPDX-License-Identifier: MIT
# Each test links the one module that it tests and libcommon.
EXTRA_DIST += tests/unit/check.h

check_PROGRAMS += test_common
test_common_SOURCES = tests/unit/test_common.c
test_common_LDADD = libcommon.a $(EVENT_LIBS)
TESTS += test_common
