# SPDX-License-Identifier: MIT
# The hook socket server, without TLS, HTTP, JSON library and database.

# Everything except main(), for the tests.
noinst_LIBRARIES += listener/liblistener.a
listener_liblistener_a_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
listener_liblistener_a_SOURCES = \
	listener/access.c \
	listener/event_queue.c \
	listener/hook_message.c \
	listener/listener.h \
	listener/server.c

worker_PROGRAMS += listener/listener
listener_listener_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
listener_listener_SOURCES = listener/main.c
listener_listener_LDADD = listener/liblistener.a $(WORKER_LIBS)
