# SPDX-License-Identifier: MIT
# Tests of ctl/.
check_PROGRAMS += test_ctl_options
TESTS += test_ctl_options
test_ctl_options_SOURCES = tests/unit/ctl/test_options.c
test_ctl_options_LDADD = ctl/libctl.a $(MODEL_LIBS)

check_PROGRAMS += test_ctl_print
TESTS += test_ctl_print
test_ctl_print_SOURCES = tests/unit/ctl/test_print.c
test_ctl_print_LDADD = ctl/libctl.a $(MODEL_LIBS)

check_PROGRAMS += test_ctl_gpus
TESTS += test_ctl_gpus
test_ctl_gpus_SOURCES = tests/unit/ctl/test_gpus.c
test_ctl_gpus_LDADD = ctl/libctl.a $(MODEL_LIBS)

check_PROGRAMS += test_ctl_watch
TESTS += test_ctl_watch
test_ctl_watch_SOURCES = tests/unit/ctl/test_watch.c
test_ctl_watch_LDADD = ctl/libctl.a $(MODEL_LIBS)

dist_check_SCRIPTS += tests/unit/ctl/test_completion tests/unit/ctl/test_schema \
	tests/unit/ctl/test_manual tests/unit/ctl/test_terminal \
	tests/unit/ctl/test_import tests/unit/ctl/test_exit_status
TESTS += tests/unit/ctl/test_completion tests/unit/ctl/test_schema \
	tests/unit/ctl/test_manual tests/unit/ctl/test_terminal \
	tests/unit/ctl/test_import tests/unit/ctl/test_exit_status

check_PROGRAMS += test_ctl_report
TESTS += test_ctl_report
test_ctl_report_SOURCES = tests/unit/ctl/test_report.c
test_ctl_report_LDADD = ctl/libctl.a $(MODEL_LIBS)

# poll(2) returns at once, so that no test waits.
check_PROGRAMS += test_ctl_client
TESTS += test_ctl_client
test_ctl_client_SOURCES = tests/unit/ctl/test_client.c
test_ctl_client_LDFLAGS = -Wl,--wrap,poll -Wl,--wrap,__poll_chk
test_ctl_client_LDADD = ctl/libctl.a $(MODEL_LIBS)
