# SPDX-License-Identifier: MIT
# The hook socket server: no TLS, no HTTP, no JSON library, no database.

# All but main(), so that tests link it.
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
