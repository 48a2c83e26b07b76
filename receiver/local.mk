# SPDX-License-Identifier: MIT
# The receiver: records of other hosts from NATS, at the centre of a fan-in.
# A build without NATS does not have it.  A box calls only the boxes above it
# in this file.

if WITH_NATS
# Which messages were taken, and how many may be on their way.
noinst_LIBRARIES += receiver/base/libbase.a
# The connection to NATS.
noinst_LIBRARIES += receiver/link/liblink.a
# Streams, consumers, pull requests.
noinst_LIBRARIES += receiver/streams/libstreams.a
# Questions to the clusters about their runs.
noinst_LIBRARIES += receiver/asks/libasks.a
# Messages into records for the submitter.
noinst_LIBRARIES += receiver/intake/libintake.a
# Which of two centres is active.
noinst_LIBRARIES += receiver/lease/liblease.a
# Status, metrics, -test, requests that a cluster answers.
noinst_LIBRARIES += receiver/libreceiver.a

worker_PROGRAMS += receiver/receiver
endif
receiver_base_libbase_a_CFLAGS = $(AM_CFLAGS)
receiver_base_libbase_a_SOURCES = \
	receiver/base/budget.c \
	receiver/base/budget.h \
	receiver/base/window.c \
	receiver/base/window.h

receiver_link_liblink_a_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS) $(NATS_CFLAGS)
receiver_link_liblink_a_SOURCES = \
	receiver/link/link.c \
	receiver/link/link.h \
	receiver/link/link_thread.c \
	receiver/link/link_thread.h

receiver_streams_libstreams_a_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
receiver_streams_libstreams_a_SOURCES = \
	receiver/streams/api.c \
	receiver/streams/api.h \
	receiver/streams/fetch.c \
	receiver/streams/limits.c \
	receiver/streams/request.c \
	receiver/streams/step.c \
	receiver/streams/streams.c \
	receiver/streams/streams.h \
	receiver/streams/streams_private.h

receiver_asks_libasks_a_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
receiver_asks_libasks_a_SOURCES = \
	receiver/asks/asks.c \
	receiver/asks/asks.h

receiver_intake_libintake_a_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
receiver_intake_libintake_a_SOURCES = \
	receiver/intake/intake.c \
	receiver/intake/intake.h

receiver_lease_liblease_a_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
receiver_lease_liblease_a_SOURCES = \
	receiver/lease/bucket.c \
	receiver/lease/bucket.h \
	receiver/lease/lease.c \
	receiver/lease/lease.h \
	receiver/lease/lease_json.c \
	receiver/lease/lease_json.h

receiver_libreceiver_a_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
receiver_libreceiver_a_SOURCES = \
	receiver/check.c \
	receiver/check.h \
	receiver/check_lease.c \
	receiver/check_lease.h \
	receiver/receiver.h \
	receiver/orders.c \
	receiver/orders.h \
	receiver/release.c \
	receiver/release.h \
	receiver/report.c \
	receiver/report.h

RECEIVER_LIBS = receiver/libreceiver.a receiver/lease/liblease.a receiver/intake/libintake.a \
	receiver/asks/libasks.a receiver/streams/libstreams.a receiver/link/liblink.a receiver/base/libbase.a \
	common/record/librecord.a $(WORKER_LIBS) $(COMMON_NATS_LIBS)
receiver_receiver_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
receiver_receiver_SOURCES = receiver/main.c
receiver_receiver_LDADD = $(RECEIVER_LIBS)
