# SPDX-License-Identifier: MIT
# The collector.  A box calls only the boxes above it in this file.

# Pure readers of Slurm output: bytes in, snapshot out.
noinst_LIBRARIES += collector/parse/libparse.a
collector_parse_libparse_a_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
collector_parse_libparse_a_SOURCES = \
	collector/parse/admin_output.c \
	collector/parse/gres.c \
	collector/parse/hostlist.c \
	collector/parse/job_state.c \
	collector/parse/node.c \
	collector/parse/parse.h \
	collector/parse/sacct.c \
	collector/parse/scontrol_job.c \
	collector/parse/scontrol_resources.c \
	collector/parse/snapshot.c \
	collector/parse/snapshot.h \
	collector/parse/span.c \
	collector/parse/span.h \
	collector/parse/split.c \
	collector/parse/squeue.c \
	collector/parse/time.c \
	collector/parse/tres.c \
	collector/parse/unmunge.c

# State of one cluster: tables of runs, clock, settings.
noinst_LIBRARIES += collector/base/libbase.a
collector_base_libbase_a_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS) $(JANSSON_CFLAGS) $(PCRE2_CFLAGS)
collector_base_libbase_a_SOURCES = \
	collector/base/clock.c \
	collector/base/cluster.c \
	collector/base/cluster.h \
	collector/base/gpu_map.c \
	collector/base/health.c \
	collector/base/settings.c \
	collector/base/settings.h \
	collector/base/slurm_clock.c \
	collector/base/tables.c \
	collector/base/tables.h \
	collector/base/wake.c \
	collector/base/wake.h \
	collector/base/worklist.c \
	collector/base/worklist.h

# Asks the runner, and gets the answer.
noinst_LIBRARIES += collector/slurm/libslurm.a
collector_slurm_libslurm_a_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
collector_slurm_libslurm_a_SOURCES = \
	collector/slurm/command_times.c \
	collector/slurm/command_times.h \
	collector/slurm/node_shapes.c \
	collector/slurm/permission.c \
	collector/slurm/query.c \
	collector/slurm/query.h \
	collector/slurm/runner_link.c \
	collector/slurm/runner_link.h \
	collector/slurm/slurm.h \
	collector/slurm/slurm_config.c \
	collector/slurm/slurm_info.c

# Decides what a snapshot means; the only writer of records and of the tables.
noinst_LIBRARIES += collector/track/libtrack.a
collector_track_libtrack_a_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
collector_track_libtrack_a_SOURCES = \
	collector/track/lookup.c \
	collector/track/outbox.c \
	collector/track/outbox.h \
	collector/track/resume.c \
	collector/track/track.c \
	collector/track/track.h \
	collector/track/track_accounting.c \
	collector/track/track_private.h

# scontrol and squeue: resources of runs.
noinst_LIBRARIES += collector/details/libdetails.a
collector_details_libdetails_a_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS) $(ZLIB_CFLAGS)
collector_details_libdetails_a_SOURCES = \
	collector/details/details.c \
	collector/details/details.h \
	collector/details/details_ambiguous.c \
	collector/details/details_private.h \
	collector/details/details_text.c \
	collector/details/record_pack.c \
	collector/details/record_pack.h \
	collector/details/results.c

# sacct by range, by id, by step.
noinst_LIBRARIES += collector/accounting/libaccounting.a
collector_accounting_libaccounting_a_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
collector_accounting_libaccounting_a_SOURCES = \
	collector/accounting/accounting.c \
	collector/accounting/accounting.h \
	collector/accounting/accounting_private.h \
	collector/accounting/by_id.c \
	collector/accounting/parts.c \
	collector/accounting/pending.c \
	collector/accounting/range.c \
	collector/accounting/steps.c

# Poll, hook events, start confirmation, scripts, node states, controller role,
# times of Slurm.
noinst_LIBRARIES += collector/query/libquery.a
collector_query_libquery_a_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
collector_query_libquery_a_SOURCES = \
	collector/query/confirm_start.c \
	collector/query/controller_role.c \
	collector/query/hook_auth.c \
	collector/query/hook_events.c \
	collector/query/job_script.c \
	collector/query/node_states.c \
	collector/query/poll.c \
	collector/query/query_lanes.h \
	collector/query/slurm_times.c

PARSE_LIBS = collector/parse/libparse.a $(QUESTION_LIBS)
# A test of a box links that box and those below it.
COLLECTOR_BASE_LIBS = collector/base/libbase.a collector/parse/libparse.a \
	common/question/libquestion.a $(WORKER_LIBS) $(JANSSON_LIBS) $(PCRE2_LIBS) $(ZLIB_LIBS)
COLLECTOR_SLURM_LIBS = collector/slurm/libslurm.a $(COLLECTOR_BASE_LIBS)
COLLECTOR_TRACK_LIBS = collector/track/libtrack.a $(COLLECTOR_SLURM_LIBS)
COLLECTOR_DETAILS_LIBS = collector/details/libdetails.a $(COLLECTOR_TRACK_LIBS)
COLLECTOR_ACCOUNTING_LIBS = collector/accounting/libaccounting.a \
	$(COLLECTOR_DETAILS_LIBS)
COLLECTOR_LIBS = collector/query/libquery.a $(COLLECTOR_ACCOUNTING_LIBS)

# What binds the boxes; a fuzz target has it too, with its own main().
collector_files = \
	collector/check.c \
	collector/clusters.c \
	collector/collector.h \
	collector/ctl_cluster.c \
	collector/ctl_explain.c \
	collector/ctl_job_part.c \
	collector/ctl_sync.c \
	collector/gpu_rows.c \
	collector/explain_reason.c \
	collector/explain_reason.h \
	collector/job_part.c \
	collector/job_part.h \
	collector/metrics.c \
	collector/oldest_job.c \
	collector/oldest_job.h \
	collector/scheduler.c \
	collector/startup.c \
	collector/status.c \
	collector/summary.c

worker_PROGRAMS += collector/collector
collector_collector_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
collector_collector_SOURCES = $(collector_files) collector/main.c
collector_collector_LDADD = $(COLLECTOR_LIBS)
