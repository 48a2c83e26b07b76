# SPDX-License-Identifier: MIT
# The code that all programs share.  A box calls only the boxes above it in this file.

# Texts: JSON, node lists, times, slurm.conf.
noinst_LIBRARIES += common/text/libtext.a
common_text_libtext_a_SOURCES = \
	common/text/base64.c \
	common/text/base64.h \
	common/text/json_scan.c \
	common/text/json_scan.h \
	common/text/metrics_check.c \
	common/text/metrics_text.c \
	common/text/metrics_text.h \
	common/text/nodelist.c \
	common/text/nodelist.h \
	common/text/slurm_conf.c \
	common/text/slurm_conf.h \
	common/text/text.c \
	common/text/text.h \
	common/text/time_text.c \
	common/text/time_text.h

# Basics: log, clock, codec, histogram.
noinst_LIBRARIES += common/libcommon.a
common_libcommon_a_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
common_libcommon_a_SOURCES = \
	common/array.c \
	common/array.h \
	common/backoff.c \
	common/backoff.h \
	common/clock.c \
	common/clock_boot.c \
	common/clock.h \
	common/codec.c \
	common/codec.h \
	common/crash_point.c \
	common/crash_point.h \
	common/hash.c \
	common/hash.h \
	common/histogram.c \
	common/histogram.h \
	common/json_write.c \
	common/json_write.h \
	common/log.c \
	common/log.h \
	common/log_ids.h \
	common/log_line.c \
	common/log_line.h \
	common/permanent.c \
	common/permanent.h

# The shared model: job record, messages, configuration.
noinst_LIBRARIES += common/model/libmodel.a
common_model_libmodel_a_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
common_model_libmodel_a_SOURCES = \
	common/model/conf.c \
	common/model/conf.h \
	common/model/conf_keys.h \
	common/model/conf_paths.c \
	common/model/config_key.c \
	common/model/config_key.h \
	common/model/ctl.c \
	common/model/ctl.h \
	common/model/destination.c \
	common/model/destination.h \
	common/model/hook_credential.c \
	common/model/hook_credential.h \
	common/model/job.c \
	common/model/job.h \
	common/model/msg.c \
	common/model/msg.h \
	common/model/summary.c \
	common/model/summary.h

# The record of a run as JSON, between the submitter of a cluster and the centre.
noinst_LIBRARIES += common/record/librecord.a
common_record_librecord_a_CFLAGS = $(AM_CFLAGS)
common_record_librecord_a_SOURCES = \
	common/record/ask_json.c \
	common/record/ask_json.h \
	common/record/node_json.c \
	common/record/node_json.h \
	common/record/record_json.c \
	common/record/record_json.h \
	common/record/record_members.c \
	common/record/record_members.h \
	common/record/record_write.c \
	common/record/stream_name.c \
	common/record/stream_name.h

# Frames and channels between processes.
noinst_LIBRARIES += common/ipc/libipc.a
common_ipc_libipc_a_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
common_ipc_libipc_a_SOURCES = \
	common/ipc/channel.c \
	common/ipc/channel.h \
	common/ipc/frame.c \
	common/ipc/frame.h \
	common/ipc/pace.c \
	common/ipc/pace.h \
	common/ipc/passing.c \
	common/ipc/passing.h

# The questions to Slurm: what the collector asks, what the runner executes.
noinst_LIBRARIES += common/question/libquestion.a
common_question_libquestion_a_CFLAGS = $(AM_CFLAGS)
common_question_libquestion_a_SOURCES = \
	common/question/delimiter.c \
	common/question/question.c \
	common/question/question.h

# Name resolution, memory of secrets, the system's certificates.
noinst_LIBRARIES += common/net/libnet.a
common_net_libnet_a_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS) $(EVDNS_CFLAGS)
common_net_libnet_a_SOURCES = \
	common/net/hosts_file.c \
	common/net/hosts_file.h \
	common/net/resolv_conf.c \
	common/net/resolv_conf.h \
	common/net/resolver.c \
	common/net/resolver.h \
	common/net/secret.c \
	common/net/secret.h \
	common/net/system_ca.c \
	common/net/system_ca.h

# NATS: servers, login, certificates.
noinst_LIBRARIES += common/nats/libnats.a
common_nats_libnats_a_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
if WITH_NATS
common_nats_libnats_a_CFLAGS += $(NATS_CFLAGS) $(CRYPTO_CFLAGS)
common_nats_libnats_a_SOURCES = \
	common/nats/nats_broker.c \
	common/nats/nats_broker.h \
	common/nats/nats_conf.c \
	common/nats/nats_conf.h \
	common/nats/nats_dial.c \
	common/nats/nats_dial.h \
	common/nats/nats_options.h \
	common/nats/nkey.c \
	common/nats/nkey.h
else
common_nats_libnats_a_SOURCES = common/nats/nats_conf.h \
	common/nats/nats_none.c
endif
EXTRA_DIST += common/nats/nats_none.c

# The work of main() in every worker: sandbox, configuration, channels.
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
MODEL_LIBS = common/model/libmodel.a common/libcommon.a common/text/libtext.a
RECORD_LIBS = common/record/librecord.a $(MODEL_LIBS)
COMMON_LIBS = common/ipc/libipc.a $(MODEL_LIBS) $(EVENT_LIBS)
COMMON_NET_LIBS = common/net/libnet.a $(COMMON_LIBS) $(EVDNS_LIBS) $(EVENT_LIBS)
COMMON_NATS_LIBS = common/nats/libnats.a common/record/librecord.a \
	$(COMMON_NET_LIBS) $(NATS_LIBS) \
	$(CRYPTO_LIBS) -lpthread
QUESTION_LIBS = common/question/libquestion.a $(COMMON_LIBS)
WORKER_LIBS = common/worker/libworker.a $(BREAKOUT_LIBS) $(COMMON_LIBS) \
	$(CAP_LIBS) $(SECCOMP_LIBS)
# The attack code of --enable-breakout; empty in every other build.
if WITH_BREAKOUT
BREAKOUT_LIBS = tests/breakout/libbreakout.a
else
BREAKOUT_LIBS =
endif
