# SPDX-License-Identifier: MIT
# Tests of exporter/.
check_PROGRAMS += test_page
TESTS += test_page
test_page_SOURCES = tests/unit/exporter/test_page.c
test_page_LDADD = $(EXPORTER_LIBS)

check_PROGRAMS += test_metrics_server
TESTS += test_metrics_server
test_metrics_server_SOURCES = tests/unit/exporter/test_metrics_server.c
test_metrics_server_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
test_metrics_server_LDADD = $(EXPORTER_LIBS) $(NO_LTO)
test_metrics_server_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=clock_ms
