# SPDX-License-Identifier: MIT
# The receiver: records of other hosts from NATS, at the centre of a fan-in.
# A build without NATS does not have it.
RECEIVER_LIBS = $(COMMON_NATS_LIBS) $(WORKER_LIBS)

if WITH_NATS
worker_PROGRAMS += receiver/receiver
endif
EXTRA_DIST += receiver/receiver.h
receiver_receiver_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
receiver_receiver_SOURCES = receiver/main.c
receiver_receiver_LDADD = $(RECEIVER_LIBS)
