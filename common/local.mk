# SPDX-License-Identifier: MIT
# What all programs share.  A box calls only the boxes above it in this file.

# Basics and the shared model: log, text, clock, codec, job record, messages.
noinst_LIBRARIES += common/libcommon.a
common_libcommon_a_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
common_libcommon_a_SOURCES = \
	common/array.c \
	common/array.h \
	common/backoff.c \
	common/backoff.h \
	common/base64.c \
	common/base64.h \
	common/clock.c \
	common/clock.h \
	common/codec.c \
	common/codec.h \
	common/conf.c \
	common/conf.h \
	common/conf_keys.h \
	common/conf_paths.c \
	common/config_key.c \
	common/config_key.h \
	common/crash_point.c \
	common/crash_point.h \
	common/ctl.c \
	common/ctl.h \
	common/destination.c \
	common/destination.h \
	common/hash.c \
	common/hash.h \
	common/histogram.c \
	common/histogram.h \
	common/hook_credential.c \
	common/hook_credential.h \
	common/job.c \
	common/job.h \
	common/json_scan.c \
	common/json_scan.h \
	common/log.c \
	common/log.h \
	common/metrics_text.c \
	common/metrics_text.h \
	common/log_ids.h \
	common/log_line.c \
	common/log_line.h \
	common/msg.c \
	common/msg.h \
	common/nodelist.c \
	common/nodelist.h \
	common/permanent.c \
	common/permanent.h \
	common/slurm_conf.c \
	common/slurm_conf.h \
	common/summary.c \
	common/summary.h \
	common/text.c \
	common/text.h \
	common/time_text.c \
	common/time_text.h

# Frames and channels between processes.
noinst_LIBRARIES += common/ipc/libipc.a
common_ipc_libipc_a_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
common_ipc_libipc_a_SOURCES = \
	common/ipc/channel.c \
	common/ipc/channel.h \
	common/ipc/frame.c \
	common/ipc/frame.h \
	common/ipc/pace.c \
	common/ipc/pace.h

# The questions to Slurm: what the collector asks, what the runner executes.
noinst_LIBRARIES += common/question/libquestion.a
common_question_libquestion_a_CFLAGS = $(AM_CFLAGS)
common_question_libquestion_a_SOURCES = \
	common/question/delimiter.c \
	common/question/question.c \
	common/question/question.h

# What the main() of every worker does: sandbox, configuration, channels.
noinst_LIBRARIES += common/worker/libworker.a
common_worker_libworker_a_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS) $(CAP_CFLAGS) $(SECCOMP_CFLAGS)
common_worker_libworker_a_SOURCES = \
	common/worker/breakout.h \
	common/worker/inflight.c \
	common/worker/inflight.h \
	common/worker/landlock.c \
	common/worker/landlock.h \
	common/worker/landlock_abi.h \
	common/worker/metric_rows.c \
	common/worker/sandbox.c \
	common/worker/sandbox.h \
	common/worker/seccomp.c \
	common/worker/seccomp.h \
	common/worker/worker.c \
	common/worker/worker.h \
	common/worker/worker_conf.c \
	common/worker/worker_conf.h \
	common/worker/worker_summary.c \
	common/worker/worker_summary.h

# The lists name the box of the program first and what it calls after it.
COMMON_LIBS = common/ipc/libipc.a common/libcommon.a $(EVENT_LIBS)
QUESTION_LIBS = common/question/libquestion.a $(COMMON_LIBS)
WORKER_LIBS = common/worker/libworker.a $(BREAKOUT_LIBS) $(COMMON_LIBS) \
	$(CAP_LIBS) $(SECCOMP_LIBS)
# The hole of --enable-breakout; empty in every other build.
if WITH_BREAKOUT
BREAKOUT_LIBS = tests/breakout/libbreakout.a
else
BREAKOUT_LIBS =
endif
