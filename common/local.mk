# SPDX-License-Identifier: MIT
# What two programs must agree on, and what every worker does alike.
noinst_LIBRARIES += libcommon.a
libcommon_a_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
libcommon_a_SOURCES = \
	common/log.c common/log.h \
	common/codec.c common/codec.h \
	common/msg.c common/msg.h \
	common/clock.c common/clock.h \
	common/frame.c common/frame.h \
	common/channel.c common/channel.h \
	common/conf.c common/conf.h common/conf_keys.h \
	common/job.c common/job.h \
	common/ctl.c common/ctl.h \
	common/slate.c common/slate.h \
	common/text.c common/text.h common/base64.c common/base64.h \
	common/crash.c common/crash.h common/sandbox.h common/worker.h

# Sandbox and life of a worker: what is linked only by the three workers.
noinst_LIBRARIES += libworker.a
libworker_a_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS) $(CAP_CFLAGS) $(SECCOMP_CFLAGS)
libworker_a_SOURCES = \
	common/sandbox.c common/landlock.c common/landlock.h \
	common/seccomp.c common/seccomp.h common/worker.c common/worker_conf.c \
	common/worker_conf.h
