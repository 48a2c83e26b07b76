# SPDX-License-Identifier: MIT
# Tests of hook/: its box links libc alone.
check_PROGRAMS += test_hook_client_message
TESTS += test_hook_client_message
test_hook_client_message_SOURCES = tests/unit/hook/test_message.c
test_hook_client_message_LDADD = hook/libhook.a

check_PROGRAMS += test_hook_address
TESTS += test_hook_address
test_hook_address_SOURCES = tests/unit/hook/test_address.c
test_hook_address_LDADD = hook/libhook.a

check_PROGRAMS += test_hook_deliver
TESTS += test_hook_deliver
test_hook_deliver_SOURCES = tests/unit/hook/test_deliver.c \
	tests/unit/hook/hook_clock.h
test_hook_deliver_LDADD = hook/libhook.a $(NO_LTO)
HOOK_CLOCK = -Wl,--wrap=clock_gettime,--wrap=poll
test_hook_deliver_LDFLAGS = $(AM_LDFLAGS) $(HOOK_CLOCK)

check_PROGRAMS += test_hook_helper
TESTS += test_hook_helper
test_hook_helper_SOURCES = tests/unit/hook/test_credential.c \
	tests/unit/hook/hook_clock.h
test_hook_helper_LDADD = hook/libhook.a $(NO_LTO)
test_hook_helper_LDFLAGS = $(AM_LDFLAGS) $(HOOK_CLOCK)
