# SPDX-License-Identifier: MIT
# The collector's boxes.

# collector/parse
check_PROGRAMS += test_admin_output
TESTS += test_admin_output
test_admin_output_SOURCES = tests/unit/collector/parse/test_admin_output.c \
	tests/unit/collector/parse/recording.h
test_admin_output_LDADD = $(PARSE_LIBS)

check_PROGRAMS += test_unmunge
TESTS += test_unmunge
test_unmunge_SOURCES = tests/unit/collector/parse/test_unmunge.c
test_unmunge_LDADD = $(PARSE_LIBS)

check_PROGRAMS += test_gres
TESTS += test_gres
test_gres_SOURCES = tests/unit/collector/parse/test_gres.c
test_gres_LDADD = $(PARSE_LIBS)

check_PROGRAMS += test_hostlist
TESTS += test_hostlist
test_hostlist_SOURCES = tests/unit/collector/parse/test_hostlist.c
test_hostlist_LDADD = $(PARSE_LIBS)

check_PROGRAMS += test_node
TESTS += test_node
test_node_SOURCES = tests/unit/collector/parse/test_node.c \
	tests/unit/collector/parse/recording.h
test_node_LDADD = $(PARSE_LIBS)

check_PROGRAMS += test_records
TESTS += test_records
test_records_SOURCES = tests/unit/collector/parse/test_records.c \
	tests/unit/collector/parse/dump_record.h \
	tests/unit/collector/parse/recording.h
test_records_LDADD = $(PARSE_LIBS)

check_PROGRAMS += test_sacct
TESTS += test_sacct
test_sacct_SOURCES = tests/unit/collector/parse/test_sacct.c \
	tests/unit/collector/parse/dump_record.h \
	tests/unit/collector/parse/recording.h
test_sacct_LDADD = $(PARSE_LIBS)

check_PROGRAMS += test_scontrol
TESTS += test_scontrol
test_scontrol_SOURCES = tests/unit/collector/parse/test_scontrol.c \
	tests/unit/collector/parse/recording.h
test_scontrol_LDADD = $(PARSE_LIBS)

check_PROGRAMS += test_scontrol_expected
TESTS += test_scontrol_expected
test_scontrol_expected_SOURCES = tests/unit/collector/parse/test_scontrol_expected.c \
	tests/unit/collector/parse/recording.h
test_scontrol_expected_LDADD = $(PARSE_LIBS)

check_PROGRAMS += test_snapshot
TESTS += test_snapshot
test_snapshot_SOURCES = tests/unit/collector/parse/test_snapshot.c
test_snapshot_LDADD = $(PARSE_LIBS)

check_PROGRAMS += test_span
TESTS += test_span
test_span_SOURCES = tests/unit/collector/parse/test_span.c
test_span_LDADD = $(PARSE_LIBS)

check_PROGRAMS += test_split
TESTS += test_split
test_split_SOURCES = tests/unit/collector/parse/test_split.c
test_split_LDADD = $(PARSE_LIBS)

check_PROGRAMS += test_squeue
TESTS += test_squeue
test_squeue_SOURCES = tests/unit/collector/parse/test_squeue.c \
	tests/unit/collector/parse/recording.h
test_squeue_LDADD = $(PARSE_LIBS)

check_PROGRAMS += test_time
TESTS += test_time
test_time_SOURCES = tests/unit/collector/parse/test_time.c
test_time_LDADD = $(PARSE_LIBS)

# collector/base
check_PROGRAMS += test_gpu_map
TESTS += test_gpu_map
test_gpu_map_SOURCES = tests/unit/collector/base/test_gpu_map.c
test_gpu_map_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
test_gpu_map_LDADD = $(COLLECTOR_BASE_LIBS)

check_PROGRAMS += test_settings
TESTS += test_settings
test_settings_SOURCES = tests/unit/collector/base/test_settings.c
test_settings_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
test_settings_LDADD = $(COLLECTOR_BASE_LIBS)

check_PROGRAMS += test_health
TESTS += test_health
test_health_SOURCES = tests/unit/collector/base/test_health.c
test_health_LDADD = $(COLLECTOR_BASE_LIBS)

check_PROGRAMS += test_slurm_clock
TESTS += test_slurm_clock
test_slurm_clock_SOURCES = tests/unit/collector/base/test_slurm_clock.c
test_slurm_clock_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
test_slurm_clock_LDADD = $(COLLECTOR_BASE_LIBS)

check_PROGRAMS += test_tables
TESTS += test_tables
test_tables_SOURCES = tests/unit/collector/base/test_tables.c
test_tables_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
test_tables_LDADD = $(COLLECTOR_BASE_LIBS)

# collector/slurm
check_PROGRAMS += test_runner_link
TESTS += test_runner_link
test_runner_link_SOURCES = tests/unit/collector/slurm/test_runner_link.c
test_runner_link_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
test_runner_link_LDADD = $(COLLECTOR_SLURM_LIBS)

check_PROGRAMS += test_slurm_config
TESTS += test_slurm_config
test_slurm_config_SOURCES = tests/unit/collector/slurm/test_slurm_config.c \
	tests/unit/collector/parse/recording.h
test_slurm_config_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
test_slurm_config_LDADD = $(COLLECTOR_SLURM_LIBS)

# collector/details
check_PROGRAMS += test_record_pack
TESTS += test_record_pack
test_record_pack_SOURCES = tests/unit/collector/details/test_record_pack.c \
	collector/details/record_pack.h \
	collector/details/record_pack.c
test_record_pack_CFLAGS = $(AM_CFLAGS) $(ZLIB_CFLAGS)
test_record_pack_LDADD = $(ZLIB_LIBS)

check_PROGRAMS += test_details_text
TESTS += test_details_text
test_details_text_SOURCES = tests/unit/collector/details/test_details_text.c \
	tests/unit/collector/parse/recording.h
test_details_text_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
test_details_text_LDADD = $(COLLECTOR_DETAILS_LIBS)

# Decisions, with a simulated clock, runner and channels: this object has the
# functions of the members of the libraries that it replaces.
simulation = tests/unit/collector/simulation.c \
	tests/unit/collector/simulation.h

# collector/track
check_PROGRAMS += test_track
TESTS += test_track
test_track_SOURCES = tests/unit/collector/track/test_track.c $(simulation)
test_track_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
test_track_LDADD = $(COLLECTOR_TRACK_LIBS)

check_PROGRAMS += test_resume
TESTS += test_resume
test_resume_SOURCES = tests/unit/collector/track/test_resume.c $(simulation)
test_resume_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
test_resume_LDADD = $(COLLECTOR_TRACK_LIBS)

# collector/accounting
check_PROGRAMS += test_accounting
TESTS += test_accounting
test_accounting_SOURCES = \
	tests/unit/collector/accounting/test_accounting.c \
	tests/unit/collector/parse/recording.h $(simulation)
test_accounting_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
test_accounting_LDADD = $(COLLECTOR_ACCOUNTING_LIBS)

# collector/query
check_PROGRAMS += test_query
TESTS += test_query
test_query_SOURCES = tests/unit/collector/query/test_query.c \
	tests/unit/collector/parse/recording.h $(simulation)
test_query_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
test_query_LDADD = $(COLLECTOR_LIBS)

check_PROGRAMS += test_hook_auth
TESTS += test_hook_auth
test_hook_auth_SOURCES = tests/unit/collector/query/test_hook_auth.c \
	$(simulation)
test_hook_auth_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
test_hook_auth_LDADD = $(COLLECTOR_LIBS)

check_PROGRAMS += test_job_script
TESTS += test_job_script
test_job_script_SOURCES = tests/unit/collector/query/test_job_script.c \
	tests/unit/collector/parse/recording.h $(simulation)
test_job_script_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
test_job_script_LDADD = $(COLLECTOR_LIBS)

check_PROGRAMS += test_node_states
TESTS += test_node_states
test_node_states_SOURCES = tests/unit/collector/query/test_node_states.c $(simulation)
test_node_states_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
test_node_states_LDADD = $(COLLECTOR_LIBS)

check_PROGRAMS += test_controller_role
TESTS += test_controller_role
test_controller_role_SOURCES = tests/unit/collector/query/test_controller_role.c $(simulation)
test_controller_role_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
test_controller_role_LDADD = $(COLLECTOR_LIBS)

check_PROGRAMS += test_slurm_times
TESTS += test_slurm_times
test_slurm_times_SOURCES = tests/unit/collector/query/test_slurm_times.c $(simulation)
test_slurm_times_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
test_slurm_times_LDADD = $(COLLECTOR_LIBS)

# collector
check_PROGRAMS += test_explain_reason
TESTS += test_explain_reason
test_explain_reason_SOURCES = tests/unit/collector/test_explain_reason.c \
	collector/explain_reason.c collector/explain_reason.h $(simulation)
test_explain_reason_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
test_explain_reason_LDADD = $(COLLECTOR_TRACK_LIBS)

# Commands with a cluster that is not read; the test has the lanes.
check_PROGRAMS += test_ctl_cluster
TESTS += test_ctl_cluster
test_ctl_cluster_SOURCES = tests/unit/collector/test_ctl_cluster.c \
	collector/ctl_cluster.c collector/ctl_sync.c $(simulation)
test_ctl_cluster_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
test_ctl_cluster_LDADD = $(COLLECTOR_TRACK_LIBS)

# The name of the cluster, which may change.
check_PROGRAMS += test_startup
TESTS += test_startup
test_startup_SOURCES = tests/unit/collector/test_startup.c \
	collector/startup.c $(simulation)
test_startup_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
test_startup_LDADD = $(COLLECTOR_LIBS)

check_PROGRAMS += test_job_part
TESTS += test_job_part
test_job_part_SOURCES = tests/unit/collector/test_job_part.c \
	collector/job_part.c collector/job_part.h
test_job_part_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
test_job_part_LDADD = $(COLLECTOR_TRACK_LIBS)

check_PROGRAMS += test_oldest_job
TESTS += test_oldest_job
test_oldest_job_SOURCES = tests/unit/collector/test_oldest_job.c \
	collector/oldest_job.c collector/oldest_job.h $(simulation)
test_oldest_job_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
test_oldest_job_LDADD = $(COLLECTOR_LIBS)

# The rows and the problems of `status`; the test has the lanes and the runner.
check_PROGRAMS += test_status
TESTS += test_status
test_status_SOURCES = tests/unit/collector/test_status.c \
	collector/status.c collector/summary.c $(simulation)
test_status_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
test_status_LDADD = $(COLLECTOR_TRACK_LIBS)
