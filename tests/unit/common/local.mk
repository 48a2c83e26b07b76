# SPDX-License-Identifier: MIT
# The boxes of common/.
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

# common/ipc
check_PROGRAMS += test_channel
TESTS += test_channel
test_channel_SOURCES = tests/unit/common/ipc/test_channel.c
test_channel_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
test_channel_LDADD = $(COMMON_LIBS)

# common/worker
check_PROGRAMS += test_sandbox test_worker
TESTS += test_sandbox test_worker
test_sandbox_SOURCES = tests/unit/common/worker/test_sandbox.c
test_sandbox_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS) $(SECCOMP_CFLAGS)
test_sandbox_LDADD = $(WORKER_LIBS) -lpthread
test_worker_SOURCES = tests/unit/common/worker/test_worker.c
test_worker_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
test_worker_LDADD = $(WORKER_LIBS)
