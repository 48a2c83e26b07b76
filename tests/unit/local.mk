# SPDX-License-Identifier: MIT
# Each test links the one module that it tests and libcommon.
EXTRA_DIST += tests/unit/check.h

check_PROGRAMS += test_common
test_common_SOURCES = tests/unit/test_common.c
test_common_LDADD = $(WORKER_LIBS)
TESTS += test_common

check_PROGRAMS += test_sandbox
TESTS += test_sandbox
test_sandbox_SOURCES = tests/unit/test_sandbox.c tests/unit/check.h
test_sandbox_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS) $(SECCOMP_CFLAGS)
test_sandbox_LDADD = $(WORKER_LIBS) -lpthread

check_PROGRAMS += test_topology
TESTS += test_topology
test_topology_SOURCES = tests/unit/test_topology.c
test_topology_LDADD = $(PAYLOAD_LIBS)
EXTRA_DIST += tests/data/cc-backend/clusters.json

check_PROGRAMS += test_conf
TESTS += test_conf
test_conf_SOURCES = tests/unit/test_conf.c
test_conf_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
test_conf_LDADD = $(CONFIG_LIBS)
EXTRA_DIST += tests/data/conf/go.json tests/data/conf/wrong.json

check_PROGRAMS += test_payload
TESTS += test_payload
test_payload_SOURCES = tests/unit/test_payload.c
test_payload_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
test_payload_LDADD = $(PAYLOAD_LIBS)

check_PROGRAMS += test_names
TESTS += test_names
test_names_SOURCES = tests/unit/test_names.c
test_names_CFLAGS = $(AM_CFLAGS) $(EVDNS_CFLAGS) $(EVENT_CFLAGS)
test_names_LDADD = $(NET_LIBS)

check_PROGRAMS += test_spool
TESTS += test_spool
test_spool_SOURCES = tests/unit/test_spool.c
test_spool_LDADD = $(SPOOL_LIBS)

check_PROGRAMS += test_export
TESTS += test_export
test_export_SOURCES = tests/unit/test_export.c
test_export_LDADD = submitter/spool/libspool.a $(SPOOL_LIBS) $(JANSSON_LIBS)

check_PROGRAMS += test_look
TESTS += test_look
test_look_SOURCES = tests/unit/test_look.c
test_look_LDADD = $(SPOOL_LIBS)

check_PROGRAMS += test_transition
TESTS += test_transition
test_transition_SOURCES = tests/unit/test_transition.c
test_transition_LDADD = $(SPOOL_LIBS)

check_PROGRAMS += test_runs
TESTS += test_runs
test_runs_SOURCES = tests/unit/test_runs.c
test_runs_LDADD = $(SPOOL_LIBS)

check_PROGRAMS += test_powercut
TESTS += test_powercut
test_powercut_SOURCES = tests/unit/test_powercut.c tests/unit/power.c \
	tests/unit/power.h
test_powercut_CFLAGS = $(AM_CFLAGS) $(SQLITE_CFLAGS)
test_powercut_LDADD = $(SPOOL_LIBS)

check_PROGRAMS += test_spool_old
TESTS += test_spool_old
test_spool_old_SOURCES = tests/unit/test_spool_old.c
test_spool_old_CFLAGS = $(AM_CFLAGS) $(SQLITE_CFLAGS)
test_spool_old_LDADD = $(SPOOL_LIBS)
EXTRA_DIST += tests/data/spool/1.sql tests/data/spool/2.sql

check_PROGRAMS += test_outcome
TESTS += test_outcome
test_outcome_SOURCES = tests/unit/test_outcome.c
test_outcome_LDADD = $(BACKEND_LIBS)

check_PROGRAMS += test_hostlist test_times test_gres test_text_reader
TESTS += test_hostlist test_times test_gres test_text_reader
test_hostlist_SOURCES = tests/unit/test_hostlist.c
test_hostlist_LDADD = $(PARSE_LIBS)
test_times_SOURCES = tests/unit/test_times.c
test_times_LDADD = $(PARSE_LIBS)
check_PROGRAMS += test_pack
TESTS += test_pack
test_pack_SOURCES = tests/unit/test_pack.c collector/details/record_pack.h collector/details/record_pack.c
test_pack_CFLAGS = $(AM_CFLAGS) $(ZLIB_CFLAGS)
test_pack_LDADD = $(ZLIB_LIBS)
test_gres_SOURCES = tests/unit/test_gres.c
test_gres_LDADD = $(PARSE_LIBS)
test_text_reader_SOURCES = tests/unit/test_text_reader.c \
	tests/unit/recording.h
test_text_reader_LDADD = $(PARSE_LIBS)

check_PROGRAMS += test_words
TESTS += test_words
test_words_SOURCES = tests/unit/test_words.c tests/unit/recording.h
test_words_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
test_words_LDADD = $(PARSE_LIBS)
EXTRA_DIST += \
	tests/data/slurm/20.11/config.txt tests/data/slurm/20.11/ping.txt \
	tests/data/slurm/20.11/sdiag.txt tests/data/slurm/20.11/squeue.txt \
	tests/data/slurm/20.11/steps.txt tests/data/slurm/20.11/users.txt \
	tests/data/slurm/22.05/config.txt tests/data/slurm/22.05/ping.txt \
	tests/data/slurm/22.05/sdiag.txt tests/data/slurm/22.05/squeue.txt \
	tests/data/slurm/22.05/dbd.txt \
	tests/data/slurm/22.05/steps.txt tests/data/slurm/22.05/users.txt \
	tests/data/slurm/24.11/config.txt tests/data/slurm/24.11/ping.txt \
	tests/data/slurm/24.11/sdiag.txt tests/data/slurm/24.11/squeue.txt \
	tests/data/slurm/24.11/steps.txt tests/data/slurm/24.11/users.txt

check_PROGRAMS += test_prep
TESTS += test_prep
test_prep_SOURCES = tests/unit/test_prep.c listener/hook_message.c listener/access.c
test_prep_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
test_prep_LDADD = $(COMMON_LIBS)
EXTRA_DIST += tests/data/hook/quote.json tests/data/hook/odd.json \
	tests/data/hook/prolog.json

check_PROGRAMS += test_door
TESTS += test_door
test_door_SOURCES = tests/unit/test_door.c listener/server.c listener/hook_message.c \
	listener/access.c listener/event_queue.c
test_door_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
test_door_LDADD = $(COMMON_LIBS)

check_PROGRAMS += test_hook
TESTS += test_hook
test_hook_SOURCES = tests/unit/test_hook.c hook/message.c hook/address.c \
	hook/conf.c hook/deliver.c
test_hook_LDADD = $(COMMON_LIBS)

check_PROGRAMS += test_ctl
TESTS += test_ctl
test_ctl_SOURCES = tests/unit/test_ctl.c ctl/options.c ctl/client.c ctl/print_text.c \
	ctl/print_json.c ctl/print_metrics.c
test_ctl_LDADD = $(COMMON_LIBS)
EXTRA_DIST += tests/data/slurm/20.11/scontrol-job-d-o.txt \
	tests/data/slurm/22.05/sacct.txt \
	tests/data/slurm/22.05/scontrol-configuring.txt \
	tests/data/slurm/22.05/scontrol-job-d-o-later.txt \
	tests/data/slurm/22.05/scontrol-job-d-o.txt \
	tests/data/slurm/22.05/scontrol-node-o.txt \
	tests/data/slurm/24.11/scontrol-job-d-o.txt \
	tests/data/slurm/26.05/scontrol-job-d-o.txt

check_PROGRAMS += test_nodes
TESTS += test_nodes
test_nodes_SOURCES = tests/unit/test_nodes.c
test_nodes_LDADD = $(PARSE_LIBS)
EXTRA_DIST += tests/data/slurm/20.11/node-use.txt \
	tests/data/slurm/22.05/node-use.txt \
	tests/data/slurm/24.11/node-use.txt \
	tests/data/slurm/26.05/node-use.txt

check_PROGRAMS += test_json
TESTS += test_json
test_json_SOURCES = tests/unit/test_json.c
test_json_LDADD = $(PARSE_LIBS)

if WITH_NATS
check_PROGRAMS += test_nats
TESTS += test_nats
endif
test_nats_SOURCES = tests/unit/test_nats.c
test_nats_CFLAGS = $(AM_CFLAGS) $(NATS_CFLAGS)
test_nats_LDADD = $(NATS_BOX_LIBS)

# Publishes to a real broker by hand; tests/lab/nats builds and drives it.
if WITH_NATS
EXTRA_PROGRAMS += nats-live
endif
nats_live_SOURCES = tests/lab/nats_live.c
nats_live_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
nats_live_LDADD = $(NATS_BOX_LIBS)
EXTRA_DIST += tests/lab/nats

dist_check_SCRIPTS += tests/unit/test_docs
TESTS += tests/unit/test_docs

check_PROGRAMS += test_channel test_wire test_flags test_pidfile test_reload \
	test_slurmconf
TESTS += test_channel test_wire test_flags test_pidfile test_reload \
	test_slurmconf
EXTRA_DIST += tests/wire/frames.txt
test_channel_SOURCES = tests/unit/test_channel.c
test_channel_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
test_channel_LDADD = $(COMMON_LIBS)
test_wire_SOURCES = tests/wire/test_wire.c
test_wire_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
test_wire_LDADD = $(COMMON_LIBS)
test_flags_SOURCES = tests/unit/test_flags.c supervisor/options.c
test_flags_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
test_flags_LDADD = $(COMMON_LIBS)
test_pidfile_SOURCES = tests/unit/test_pidfile.c supervisor/system/pidfile.c
test_pidfile_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
test_pidfile_LDADD = $(COMMON_LIBS)
test_reload_SOURCES = tests/unit/test_reload.c supervisor/reload.c \
	supervisor/conf_diff.c
test_reload_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
test_reload_LDADD = $(COMMON_LIBS)
test_slurmconf_SOURCES = tests/unit/test_slurmconf.c supervisor/system/slurm_conf.c
test_slurmconf_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
test_slurmconf_LDADD = $(COMMON_LIBS)

check_PROGRAMS += test_expected
TESTS += test_expected
test_expected_SOURCES = tests/unit/test_expected.c tests/unit/recording.h
test_expected_LDADD = $(PARSE_LIBS)
EXTRA_DIST += tests/data/slurm/expected.py \
	tests/data/slurm/20.11/job.expected \
	tests/data/slurm/22.05/job.expected \
	tests/data/slurm/24.11/job.expected \
	tests/data/slurm/26.05/job.expected

check_PROGRAMS += test_json_paths
TESTS += test_json_paths
test_json_paths_SOURCES = tests/unit/test_json_paths.c tests/unit/dump_record.h \
	tests/unit/recording.h
test_json_paths_LDADD = $(PARSE_LIBS)

check_PROGRAMS += test_readers
TESTS += test_readers
test_readers_SOURCES = tests/unit/test_readers.c tests/unit/dump_record.h \
	tests/unit/recording.h
test_readers_LDADD = $(PARSE_LIBS)
EXTRA_DIST += \
	tests/data/slurm/22.05/job.txt \
	tests/data/slurm/22.05/job.json \
	tests/data/slurm/22.05/node.txt \
	tests/data/slurm/22.05/acct.txt \
	tests/data/slurm/22.05/acct.json \
	tests/data/slurm/24.11/job.txt \
	tests/data/slurm/24.11/job.json \
	tests/data/slurm/24.11/node.txt \
	tests/data/slurm/24.11/acct.txt \
	tests/data/slurm/24.11/acct.json \
	tests/data/slurm/26.05/job.txt \
	tests/data/slurm/26.05/job.json \
	tests/data/slurm/26.05/node.txt \
	tests/data/slurm/26.05/acct.txt \
	tests/data/slurm/26.05/acct.json

check_PROGRAMS += test_access
TESTS += test_access
test_access_SOURCES = tests/unit/test_access.c supervisor/system/sandbox_paths.c \
	supervisor/system/slurm_conf.c
test_access_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
test_access_LDADD = $(WORKER_LIBS)

# The submitter alone, driven by lines: tests/system/submitter_drive.c.
check_PROGRAMS += submitter_drive
submitter_drive_SOURCES = tests/system/submitter_drive.c
submitter_drive_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
submitter_drive_LDADD = $(WORKER_LIBS)

check_PROGRAMS += test_poison
TESTS += test_poison
test_poison_SOURCES = tests/unit/test_poison.c supervisor/workers/quarantine.c
test_poison_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
test_poison_LDADD = $(WORKER_LIBS)

check_PROGRAMS += test_plan
TESTS += test_plan
test_plan_SOURCES = tests/unit/test_plan.c collector/base/clock.c
test_plan_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
test_plan_LDADD = $(COLLECTOR_LIBS)

check_PROGRAMS += test_relay
TESTS += test_relay
test_relay_SOURCES = tests/unit/test_relay.c
test_relay_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
test_relay_LDADD = $(SUBMITTER_LIBS)
