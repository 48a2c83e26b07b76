# SPDX-License-Identifier: MIT
# The submitter's boxes.

# submitter/base
check_PROGRAMS += test_reject
TESTS += test_reject
test_reject_SOURCES = tests/unit/submitter/test_reject.c
test_reject_LDADD = submitter/base/libbase.a $(COMMON_LIBS)

check_PROGRAMS += test_explain
TESTS += test_explain
test_explain_SOURCES = tests/unit/submitter/test_explain.c \
	$(SUBMITTER_SIMULATION)
test_explain_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS) $(SQLITE_CFLAGS)
test_explain_LDADD = submitter/libsubmitter.a $(SUBMITTER_LIBS)

check_PROGRAMS += test_drop
TESTS += test_drop
test_drop_SOURCES = tests/unit/submitter/test_drop.c \
	$(SUBMITTER_SIMULATION)
test_drop_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS) $(SQLITE_CFLAGS)
test_drop_LDADD = submitter/libsubmitter.a $(SUBMITTER_LIBS)

check_PROGRAMS += test_import
TESTS += test_import
test_import_SOURCES = tests/unit/submitter/test_import.c \
	$(SUBMITTER_SIMULATION)
test_import_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS) $(SQLITE_CFLAGS)
test_import_LDADD = submitter/libsubmitter.a $(SUBMITTER_LIBS)

check_PROGRAMS += test_stops_due
TESTS += test_stops_due
test_stops_due_SOURCES = tests/unit/submitter/test_stops_due.c \
	$(SUBMITTER_SIMULATION)
test_stops_due_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS) $(SQLITE_CFLAGS)
test_stops_due_LDADD = submitter/libsubmitter.a $(SUBMITTER_LIBS)

check_PROGRAMS += test_tomb_age
TESTS += test_tomb_age
test_tomb_age_SOURCES = tests/unit/submitter/test_tomb_age.c \
	$(SUBMITTER_SIMULATION)
test_tomb_age_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS) $(SQLITE_CFLAGS)
test_tomb_age_LDADD = submitter/libsubmitter.a $(SUBMITTER_LIBS)

# submitter/payload
check_PROGRAMS += test_nats_message
TESTS += test_nats_message
test_nats_message_SOURCES = tests/unit/submitter/payload/test_nats_message.c \
	tests/unit/submitter/payload/sample.h
test_nats_message_LDADD = $(PAYLOAD_LIBS)

check_PROGRAMS += test_record_message
TESTS += test_record_message
test_record_message_SOURCES = \
	tests/unit/submitter/payload/test_record_message.c
test_record_message_LDADD = $(PAYLOAD_LIBS)

check_PROGRAMS += test_payload
TESTS += test_payload
test_payload_SOURCES = tests/unit/submitter/payload/test_payload.c \
	tests/unit/submitter/payload/sample.h
test_payload_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
test_payload_LDADD = $(PAYLOAD_LIBS)

check_PROGRAMS += test_slurm_info
TESTS += test_slurm_info
test_slurm_info_SOURCES = tests/unit/submitter/payload/test_slurm_info.c
test_slurm_info_LDADD = $(PAYLOAD_LIBS)

check_PROGRAMS += test_topology
TESTS += test_topology
test_topology_SOURCES = tests/unit/submitter/payload/test_topology.c
test_topology_LDADD = $(PAYLOAD_LIBS)

# submitter/history
check_PROGRAMS += test_history
TESTS += test_history
test_history_SOURCES = tests/unit/submitter/history/test_history.c
test_history_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS) $(SQLITE_CFLAGS)
test_history_LDADD = $(HISTORY_LIBS) $(EVENT_LIBS)

# submitter/spool
check_PROGRAMS += test_spool
TESTS += test_spool
test_spool_SOURCES = tests/unit/submitter/spool/test_spool.c
test_spool_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=job_read
test_spool_LDADD = $(SPOOL_LIBS) $(NO_LTO)

check_PROGRAMS += test_spool_old
TESTS += test_spool_old
test_spool_old_SOURCES = tests/unit/submitter/spool/test_spool_old.c
test_spool_old_CFLAGS = $(AM_CFLAGS) $(SQLITE_CFLAGS)
test_spool_old_LDADD = $(SPOOL_LIBS)

check_PROGRAMS += test_transition
TESTS += test_transition
test_transition_SOURCES = tests/unit/submitter/spool/test_transition.c
test_transition_LDADD = $(SPOOL_LIBS)

check_PROGRAMS += test_runs
TESTS += test_runs
test_runs_SOURCES = tests/unit/submitter/spool/test_runs.c
test_runs_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=array_reserve
test_runs_LDADD = $(SPOOL_LIBS) $(NO_LTO)

check_PROGRAMS += test_share
TESTS += test_share
test_share_SOURCES = tests/unit/submitter/spool/test_share.c
test_share_LDADD = $(SPOOL_LIBS)

check_PROGRAMS += test_whole
TESTS += test_whole
test_whole_SOURCES = tests/unit/submitter/spool/test_whole.c
test_whole_LDADD = $(SPOOL_LIBS)

check_PROGRAMS += test_destinations
TESTS += test_destinations
test_destinations_SOURCES = \
	tests/unit/submitter/spool/test_destinations.c
test_destinations_LDADD = $(SPOOL_LIBS)

check_PROGRAMS += test_look
TESTS += test_look
test_look_SOURCES = tests/unit/submitter/spool/test_look.c
test_look_LDADD = $(SPOOL_LIBS)

check_PROGRAMS += test_export
TESTS += test_export
test_export_SOURCES = tests/unit/submitter/spool/test_export.c
test_export_LDADD = submitter/spool/libspool.a $(SPOOL_LIBS) $(JANSSON_LIBS)

check_PROGRAMS += test_powercut
TESTS += test_powercut
test_powercut_SOURCES = tests/unit/submitter/spool/test_powercut.c \
	tests/unit/submitter/spool/power.c \
	tests/unit/submitter/spool/power.h
test_powercut_CFLAGS = $(AM_CFLAGS) $(SQLITE_CFLAGS)
test_powercut_LDADD = $(SPOOL_LIBS)

# submitter/net
check_PROGRAMS += test_http
TESTS += test_http
test_http_SOURCES = tests/unit/submitter/net/test_http.c
test_http_CFLAGS = $(AM_CFLAGS) $(EVDNS_CFLAGS) $(EVENT_CFLAGS)
test_http_LDADD = $(NET_LIBS)

check_PROGRAMS += test_token_memory
TESTS += test_token_memory
test_token_memory_SOURCES = tests/unit/submitter/net/test_token_memory.c
test_token_memory_CFLAGS = $(AM_CFLAGS) $(EVDNS_CFLAGS) $(EVENT_CFLAGS)
test_token_memory_LDADD = $(NET_LIBS)

check_PROGRAMS += test_token_expiry
TESTS += test_token_expiry
test_token_expiry_SOURCES = tests/unit/submitter/net/test_token_expiry.c
test_token_expiry_LDADD = $(NET_LIBS)

# submitter/nats
if WITH_NATS
check_PROGRAMS += test_nats test_nats_ack
TESTS += test_nats test_nats_ack
endif
test_nats_SOURCES = tests/unit/submitter/nats/test_nats.c
test_nats_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
test_nats_LDADD = $(NATS_BOX_LIBS)

test_nats_ack_SOURCES = tests/unit/submitter/nats/test_nats_ack.c
test_nats_ack_LDADD = $(NATS_BOX_LIBS)

# submitter/backend
check_PROGRAMS += test_outcome
TESTS += test_outcome
test_outcome_SOURCES = tests/unit/submitter/backend/test_outcome.c
test_outcome_LDADD = $(BACKEND_LIBS)

check_PROGRAMS += test_token_watch
TESTS += test_token_watch
test_token_watch_SOURCES = \
	tests/unit/submitter/backend/test_token_watch.c
test_token_watch_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
test_token_watch_LDADD = submitter/backend/libbackend.a $(NET_LIBS)

# submitter/intake
check_PROGRAMS += test_intake
TESTS += test_intake
test_intake_SOURCES = tests/unit/submitter/intake/test_intake.c
test_intake_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS) $(SQLITE_CFLAGS)
test_intake_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=history_note_at
test_intake_LDADD = $(SUBMITTER_LIBS) $(NO_LTO)

# submitter/delivery
SUBMITTER_BOXES = tests/unit/submitter/sim_boxes.c \
	tests/unit/submitter/sim_boxes.h \
	tests/unit/submitter/sim_clock.c \
	tests/unit/submitter/sim_clock.h

check_PROGRAMS += test_rest_delivery
TESTS += test_rest_delivery
test_rest_delivery_SOURCES = tests/unit/submitter/delivery/test_rest_delivery.c \
	$(SUBMITTER_BOXES)
test_rest_delivery_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS) $(SQLITE_CFLAGS)
test_rest_delivery_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=job_read \
	-Wl,--wrap=payload_start
test_rest_delivery_LDADD = $(SUBMITTER_LIBS) $(NO_LTO)

SUBMITTER_SIMULATION = tests/unit/submitter/simulation.c \
	tests/unit/submitter/simulation.h $(SUBMITTER_BOXES)

check_PROGRAMS += test_job_order
TESTS += test_job_order
test_job_order_SOURCES = tests/unit/submitter/delivery/test_job_order.c \
	$(SUBMITTER_SIMULATION)
test_job_order_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS) $(SQLITE_CFLAGS)
test_job_order_LDADD = $(SUBMITTER_LIBS)

check_PROGRAMS += test_outage
TESTS += test_outage
test_outage_SOURCES = tests/unit/submitter/delivery/test_outage.c \
	$(SUBMITTER_SIMULATION)
test_outage_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS) $(SQLITE_CFLAGS)
test_outage_LDADD = $(SUBMITTER_LIBS)

check_PROGRAMS += test_start_stop
TESTS += test_start_stop
test_start_stop_SOURCES = tests/unit/submitter/delivery/test_start_stop.c \
	$(SUBMITTER_SIMULATION)
test_start_stop_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS) $(SQLITE_CFLAGS)
test_start_stop_LDADD = $(SUBMITTER_LIBS)

check_PROGRAMS += test_stream_delivery
TESTS += test_stream_delivery
test_stream_delivery_SOURCES = \
	tests/unit/submitter/delivery/test_stream_delivery.c \
	$(SUBMITTER_SIMULATION)
test_stream_delivery_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS) $(SQLITE_CFLAGS)
test_stream_delivery_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=job_read
test_stream_delivery_LDADD = $(SUBMITTER_LIBS) $(NO_LTO)

# submitter/reconcile
check_PROGRAMS += test_backfill
TESTS += test_backfill
test_backfill_SOURCES = tests/unit/submitter/reconcile/test_backfill.c \
	$(SUBMITTER_SIMULATION)
test_backfill_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS) $(SQLITE_CFLAGS)
test_backfill_LDADD = $(SUBMITTER_LIBS)

check_PROGRAMS += test_missing_runs
TESTS += test_missing_runs
test_missing_runs_SOURCES = \
	tests/unit/submitter/reconcile/test_missing_runs.c \
	$(SUBMITTER_SIMULATION)
test_missing_runs_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS) $(SQLITE_CFLAGS)
test_missing_runs_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=job_read
test_missing_runs_LDADD = $(SUBMITTER_LIBS)

check_PROGRAMS += test_slurm_lookup
TESTS += test_slurm_lookup
test_slurm_lookup_SOURCES = \
	tests/unit/submitter/reconcile/test_slurm_lookup.c \
	$(SUBMITTER_SIMULATION)
test_slurm_lookup_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS) $(SQLITE_CFLAGS)
test_slurm_lookup_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=spool_each
test_slurm_lookup_LDADD = $(SUBMITTER_LIBS) $(NO_LTO)

check_PROGRAMS += test_sync_command
TESTS += test_sync_command
test_sync_command_SOURCES = \
	tests/unit/submitter/reconcile/test_sync_command.c \
	$(SUBMITTER_SIMULATION)
test_sync_command_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS) $(SQLITE_CFLAGS)
test_sync_command_LDADD = $(SUBMITTER_LIBS)

check_PROGRAMS += test_first_list
TESTS += test_first_list
test_first_list_SOURCES = tests/unit/submitter/reconcile/test_first_list.c \
	$(SUBMITTER_SIMULATION)
test_first_list_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS) $(SQLITE_CFLAGS)
test_first_list_LDADD = $(SUBMITTER_LIBS)

check_PROGRAMS += test_failover
TESTS += test_failover
test_failover_SOURCES = tests/unit/submitter/reconcile/test_failover.c \
	$(SUBMITTER_SIMULATION)
test_failover_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS) $(SQLITE_CFLAGS)
test_failover_LDADD = submitter/libsubmitter.a $(SUBMITTER_LIBS)

check_PROGRAMS += test_centre_asks
TESTS += test_centre_asks
test_centre_asks_SOURCES = \
	tests/unit/submitter/reconcile/test_centre_asks.c \
	$(SUBMITTER_SIMULATION)
test_centre_asks_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS) $(SQLITE_CFLAGS)
test_centre_asks_LDADD = $(SUBMITTER_LIBS)
