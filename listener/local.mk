# SPDX-License-Identifier: MIT
# The hooks' door: no TLS, no HTTP, no JSON library, no database.
worker_PROGRAMS += listener/listener
listener_listener_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
listener_listener_SOURCES = listener/main.c listener/accept.c listener/prep.c \
	listener/limit.c listener/events.c listener/listener.h
listener_listener_LDADD = libworker.a libcommon.a $(EVENT_LIBS) $(CAP_LIBS) \
	$(SECCOMP_LIBS)
