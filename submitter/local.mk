# SPDX-License-Identifier: MIT

# Bodies and what carries them: apart, so that a test links only what it tests.
noinst_LIBRARIES += libbodies.a
libbodies_a_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS) $(PCRE2_CFLAGS)
libbodies_a_SOURCES = \
	submitter/payload.c submitter/payload.h \
	submitter/payload_conf.c submitter/payload_conf.h \
	submitter/topology.c submitter/topology.h \
	submitter/topology_shape.c submitter/topology_shape.h \
	submitter/nodelist.c submitter/nodelist.h \
	submitter/cpumap.c submitter/cpumap.h \
	submitter/message.c submitter/message.h
BODIES_LIBS = libbodies.a libcommon.a $(JANSSON_LIBS) $(PCRE2_LIBS)

noinst_LIBRARIES += libnames.a
libnames_a_CFLAGS = $(AM_CFLAGS) $(EVDNS_CFLAGS) $(EVENT_CFLAGS)
libnames_a_SOURCES = \
	submitter/names.c submitter/names.h \
	submitter/names_hosts.c submitter/names_hosts.h \
	submitter/names_resolv.c submitter/names_resolv.h
NAMES_LIBS = libnames.a libcommon.a $(EVDNS_LIBS) $(EVENT_LIBS)
