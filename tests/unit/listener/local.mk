# SPDX-License-Identifier: MIT
# Tests of listener/.
check_PROGRAMS += test_hook_message
TESTS += test_hook_message
test_hook_message_SOURCES = tests/unit/listener/test_hook_message.c
test_hook_message_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
test_hook_message_LDADD = listener/liblistener.a $(COMMON_LIBS)

check_PROGRAMS += test_listener_access
TESTS += test_listener_access
test_listener_access_SOURCES = tests/unit/listener/test_access.c
test_listener_access_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
test_listener_access_LDADD = listener/liblistener.a $(COMMON_LIBS)

check_PROGRAMS += test_event_queue
TESTS += test_event_queue
test_event_queue_SOURCES = tests/unit/listener/test_event_queue.c
test_event_queue_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
test_event_queue_LDADD = listener/liblistener.a $(COMMON_LIBS)

check_PROGRAMS += test_server
TESTS += test_server
test_server_SOURCES = tests/unit/listener/test_server.c
test_server_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
test_server_LDADD = listener/liblistener.a $(COMMON_LIBS)
