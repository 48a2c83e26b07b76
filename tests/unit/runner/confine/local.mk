# SPDX-License-Identifier: MIT
# Tests of runner/confine.
check_PROGRAMS += confine_probe
confine_probe_SOURCES = tests/unit/runner/confine/confine_probe.c

check_PROGRAMS += test_confine test_confine_paths
TESTS += test_confine test_confine_paths
test_confine_SOURCES = tests/unit/runner/confine/test_confine.c \
	tests/unit/runner/confine/confined.c tests/unit/runner/confine/confined.h
test_confine_LDADD = $(CONFINE_LIBS)
test_confine_paths_SOURCES = tests/unit/runner/confine/test_confine_paths.c \
	tests/unit/runner/confine/confined.c tests/unit/runner/confine/confined.h
test_confine_paths_LDADD = $(CONFINE_LIBS)
