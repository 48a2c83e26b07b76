# SPDX-License-Identifier: MIT
# Tests of common/ and its boxes.
check_PROGRAMS += test_time_text
TESTS += test_time_text
test_time_text_SOURCES = tests/unit/common/text/test_time_text.c
test_time_text_LDADD = $(MODEL_LIBS)

check_PROGRAMS += test_summary
TESTS += test_summary
test_summary_SOURCES = tests/unit/common/model/test_summary.c
test_summary_LDADD = $(MODEL_LIBS)

check_PROGRAMS += test_array
TESTS += test_array
test_array_SOURCES = tests/unit/common/test_array.c
test_array_LDADD = $(MODEL_LIBS)

check_PROGRAMS += test_backoff
TESTS += test_backoff
test_backoff_SOURCES = tests/unit/common/test_backoff.c
test_backoff_LDADD = $(MODEL_LIBS)

check_PROGRAMS += test_hash
TESTS += test_hash
test_hash_SOURCES = tests/unit/common/test_hash.c
test_hash_LDADD = $(MODEL_LIBS)

check_PROGRAMS += test_histogram
TESTS += test_histogram
test_histogram_SOURCES = tests/unit/common/test_histogram.c
test_histogram_LDADD = $(MODEL_LIBS)

check_PROGRAMS += test_log
TESTS += test_log
test_log_SOURCES = tests/unit/common/test_log.c
test_log_LDADD = $(MODEL_LIBS)

check_PROGRAMS += test_slurm_conf
TESTS += test_slurm_conf
test_slurm_conf_SOURCES = tests/unit/common/text/test_slurm_conf.c
test_slurm_conf_LDADD = $(MODEL_LIBS)

check_PROGRAMS += test_config_key
TESTS += test_config_key
test_config_key_SOURCES = tests/unit/common/model/test_config_key.c
test_config_key_LDADD = $(MODEL_LIBS)

check_PROGRAMS += test_json_scan
TESTS += test_json_scan
test_json_scan_SOURCES = tests/unit/common/text/test_json_scan.c
test_json_scan_LDADD = $(MODEL_LIBS)

check_PROGRAMS += test_destination
TESTS += test_destination
test_destination_SOURCES = tests/unit/common/model/test_destination.c
test_destination_LDADD = $(MODEL_LIBS)
check_PROGRAMS += test_codec
TESTS += test_codec
test_codec_SOURCES = tests/unit/common/test_codec.c
test_codec_LDADD = $(MODEL_LIBS)

check_PROGRAMS += test_msg
TESTS += test_msg
test_msg_SOURCES = tests/unit/common/model/test_msg.c
test_msg_LDADD = $(MODEL_LIBS)

check_PROGRAMS += test_nodelist
TESTS += test_nodelist
test_nodelist_SOURCES = tests/unit/common/text/test_nodelist.c
test_nodelist_LDADD = $(MODEL_LIBS)

check_PROGRAMS += test_job
TESTS += test_job
test_job_SOURCES = tests/unit/common/model/test_job.c
test_job_LDADD = $(MODEL_LIBS)

check_PROGRAMS += test_text
TESTS += test_text
test_text_SOURCES = tests/unit/common/text/test_text.c
test_text_LDADD = $(MODEL_LIBS)

check_PROGRAMS += test_common_conf
TESTS += test_common_conf
test_common_conf_SOURCES = tests/unit/common/model/test_conf.c
test_common_conf_LDADD = $(MODEL_LIBS)

check_PROGRAMS += test_common_ctl
TESTS += test_common_ctl
test_common_ctl_SOURCES = tests/unit/common/model/test_ctl.c
test_common_ctl_LDADD = $(MODEL_LIBS)

check_PROGRAMS += test_channel test_passing
TESTS += test_channel test_passing
test_channel_SOURCES = tests/unit/common/ipc/test_channel.c
test_channel_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
test_channel_LDADD = $(COMMON_LIBS)
test_passing_SOURCES = tests/unit/common/ipc/test_passing.c
test_passing_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
test_passing_LDADD = $(COMMON_LIBS)

check_PROGRAMS += test_pace
TESTS += test_pace
test_pace_SOURCES = tests/unit/common/ipc/test_pace.c
test_pace_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
test_pace_LDADD = $(COMMON_LIBS)

check_PROGRAMS += test_inflight
TESTS += test_inflight
test_inflight_SOURCES = tests/unit/common/worker/test_inflight.c
test_inflight_LDADD = $(WORKER_LIBS)

check_PROGRAMS += test_sandbox
TESTS += test_sandbox
test_sandbox_SOURCES = tests/unit/common/worker/test_sandbox.c
test_sandbox_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS) $(SECCOMP_CFLAGS)
test_sandbox_LDADD = $(WORKER_LIBS) -lpthread

check_PROGRAMS += test_seccomp_names
TESTS += test_seccomp_names
test_seccomp_names_SOURCES = tests/unit/common/worker/test_seccomp_names.c
test_seccomp_names_CFLAGS = $(AM_CFLAGS) $(SECCOMP_CFLAGS)
test_seccomp_names_LDADD = $(COMMON_LIBS) $(SECCOMP_LIBS)

check_PROGRAMS += test_worker
TESTS += test_worker
test_worker_SOURCES = tests/unit/common/worker/test_worker.c
test_worker_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
test_worker_LDADD = $(WORKER_LIBS)

check_PROGRAMS += test_question
TESTS += test_question
test_question_SOURCES = tests/unit/common/question/test_question.c
test_question_LDADD = $(QUESTION_LIBS)

check_PROGRAMS += test_hook_credential
TESTS += test_hook_credential
test_hook_credential_SOURCES = tests/unit/common/model/test_hook_credential.c
test_hook_credential_LDADD = $(MODEL_LIBS)

check_PROGRAMS += test_resolver
TESTS += test_resolver
test_resolver_SOURCES = tests/unit/common/net/test_resolver.c
test_resolver_CFLAGS = $(AM_CFLAGS) $(EVDNS_CFLAGS) $(EVENT_CFLAGS)
test_resolver_LDADD = $(COMMON_NET_LIBS)

check_PROGRAMS += test_secret
TESTS += test_secret
test_secret_SOURCES = tests/unit/common/net/test_secret.c
test_secret_LDADD = $(COMMON_NET_LIBS)

if WITH_NATS
check_PROGRAMS += test_nats_broker test_nats_conf test_nkey
TESTS += test_nats_broker test_nats_conf test_nkey
endif
test_nats_broker_SOURCES = tests/unit/common/nats/test_nats_broker.c
test_nats_broker_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
test_nats_broker_LDADD = $(COMMON_NATS_LIBS)

test_nats_conf_SOURCES = tests/unit/common/nats/test_nats_conf.c
test_nats_conf_CFLAGS = $(AM_CFLAGS) $(NATS_CFLAGS)
test_nats_conf_LDADD = $(COMMON_NATS_LIBS)

test_nkey_SOURCES = tests/unit/common/nats/test_nkey.c
test_nkey_LDADD = $(COMMON_NATS_LIBS)

check_PROGRAMS += test_node_json
TESTS += test_node_json
test_node_json_SOURCES = tests/unit/common/record/test_node_json.c
test_node_json_LDADD = $(RECORD_LIBS)

check_PROGRAMS += test_record_json
TESTS += test_record_json
test_record_json_SOURCES = tests/unit/common/record/test_record_json.c
test_record_json_LDADD = $(RECORD_LIBS)

check_PROGRAMS += test_ask_json
TESTS += test_ask_json
test_ask_json_SOURCES = tests/unit/common/record/test_ask_json.c
test_ask_json_LDADD = $(RECORD_LIBS)

check_PROGRAMS += test_stream_name
TESTS += test_stream_name
test_stream_name_SOURCES = tests/unit/common/record/test_stream_name.c
test_stream_name_LDADD = $(RECORD_LIBS)
