# SPDX-License-Identifier: MIT
# Tests of common/: each links libcommon alone.
check_PROGRAMS += test_time_text test_backoff test_hash test_log \
	test_json_scan
TESTS += test_time_text test_backoff test_hash test_log \
	test_json_scan
test_time_text_SOURCES = tests/unit/common/test_time_text.c
test_time_text_LDADD = common/libcommon.a
test_backoff_SOURCES = tests/unit/common/test_backoff.c
test_backoff_LDADD = common/libcommon.a
test_hash_SOURCES = tests/unit/common/test_hash.c
test_hash_LDADD = common/libcommon.a
test_log_SOURCES = tests/unit/common/test_log.c
test_log_LDADD = common/libcommon.a
test_json_scan_SOURCES = tests/unit/common/test_json_scan.c
test_json_scan_LDADD = common/libcommon.a
