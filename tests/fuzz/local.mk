# SPDX-License-Identifier: MIT

if WITH_FUZZING
noinst_PROGRAMS += fuzz_conf
fuzz_conf_SOURCES = tests/fuzz/fuzz_conf.c
fuzz_conf_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
fuzz_conf_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
fuzz_conf_LDADD = libconf.a libcommon.a $(JANSSON_LIBS) $(EVENT_LIBS)
endif
