# SPDX-License-Identifier: MIT
# The simulation: built by `make simulate`, not by `make check`.  Its parts are
# the frame (libworld.a) and, for each process, the product's code on the
# replaced operating system (libprocess.a), in one relocatable file with local
# symbols.

EXTRA_LIBRARIES += tests/simulate/libworld.a
tests_simulate_libworld_a_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS) \
	$(SQLITE_CFLAGS) $(JANSSON_CFLAGS)
tests_simulate_libworld_a_SOURCES = \
	tests/simulate/link.c \
	tests/simulate/link.h \
	tests/simulate/supervisor.c \
	tests/simulate/supervisor.h \
	tests/simulate/trace.c \
	tests/simulate/world.c \
	tests/simulate/world.h

EXTRA_LIBRARIES += tests/simulate/libprocess.a
tests_simulate_libprocess_a_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
tests_simulate_libprocess_a_SOURCES = \
	tests/simulate/channel.c \
	tests/simulate/loop.c \
	tests/simulate/process.c \
	tests/simulate/process.h

# The replaced functions come first and win.
SIMULATE_LINK = $(CC) -r -nostdlib -Wl,-z,muldefs
SIMULATE_WORKER = common/worker/libworker.a common/ipc/libipc.a \
	common/libcommon.a

EXTRA_DIST += tests/simulate/isolate
