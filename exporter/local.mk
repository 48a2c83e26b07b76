# SPDX-License-Identifier: MIT
# The HTTP server of the metrics, without TLS, JSON library and database.

# Everything except main(), for the tests.
noinst_LIBRARIES += exporter/libexporter.a
exporter_libexporter_a_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS) $(EVDNS_CFLAGS)
exporter_libexporter_a_SOURCES = \
	exporter/exporter.h \
	exporter/page.c \
	exporter/server.c

EXPORTER_LIBS = exporter/libexporter.a $(EVDNS_LIBS) $(WORKER_LIBS)

worker_PROGRAMS += exporter/exporter
exporter_exporter_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
exporter_exporter_SOURCES = exporter/main.c
exporter_exporter_LDADD = $(EXPORTER_LIBS)
