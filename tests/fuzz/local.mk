# SPDX-License-Identifier: MIT

if WITH_FUZZING
noinst_PROGRAMS += fuzz_conf
fuzz_conf_SOURCES = tests/fuzz/fuzz_conf.c
fuzz_conf_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
fuzz_conf_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
fuzz_conf_LDADD = libconf.a libcommon.a $(JANSSON_LIBS) $(EVENT_LIBS) $(CONF_LIBS)

noinst_PROGRAMS += fuzz_prep
fuzz_prep_SOURCES = tests/fuzz/fuzz_prep.c listener/prep.c
fuzz_prep_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
fuzz_prep_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
fuzz_prep_LDADD = libcommon.a
endif
