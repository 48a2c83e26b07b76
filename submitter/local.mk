# SPDX-License-Identifier: MIT
# The submitter.  A box calls only the boxes above it in this file.

# Timers, sets, back-off.
noinst_LIBRARIES += submitter/base/libbase.a
submitter_base_libbase_a_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS) $(JANSSON_CFLAGS)
submitter_base_libbase_a_SOURCES = \
	submitter/base/cluster_names.c \
	submitter/base/cluster_names.h \
	submitter/base/context.h \
	submitter/base/diff_row.c \
	submitter/base/diff_row.h \
	submitter/base/feeder.c \
	submitter/base/jitter.c \
	submitter/base/reject.c \
	submitter/base/reject.h \
	submitter/base/role.c \
	submitter/base/role.h \
	submitter/base/sets.c \
	submitter/base/sets.h \
	submitter/base/timer.c \
	submitter/base/timer.h \
	submitter/base/tomb_age.c \
	submitter/base/tomb_age.h \
	submitter/base/wake.c \
	submitter/base/wake.h

# The history of runs and the counters of the last month.
noinst_LIBRARIES += submitter/history/libhistory.a
submitter_history_libhistory_a_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS) $(SQLITE_CFLAGS)
submitter_history_libhistory_a_SOURCES = \
	submitter/history/counters.c \
	submitter/history/counters.h \
	submitter/history/events.c \
	submitter/history/events.h \
	submitter/history/file.c \
	submitter/history/file.h \
	submitter/history/history.c \
	submitter/history/history.h \
	submitter/history/hooks.c \
	submitter/history/hooks.h \
	submitter/history/slurm_times.c

# JSON and line-protocol bodies; mapping of thread ids.
noinst_LIBRARIES += submitter/payload/libpayload.a
submitter_payload_libpayload_a_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS) $(PCRE2_CFLAGS)
submitter_payload_libpayload_a_SOURCES = \
	submitter/payload/backend_version.h \
	submitter/payload/cpumap.c \
	submitter/payload/cpumap.h \
	submitter/payload/nats_message.c \
	submitter/payload/nats_message.h \
	submitter/payload/payload.c \
	submitter/payload/payload.h \
	submitter/payload/payload_conf.c \
	submitter/payload/payload_conf.h \
	submitter/payload/payload_meta.c \
	submitter/payload/record_message.c \
	submitter/payload/record_message.h \
	submitter/payload/slurm_info.c \
	submitter/payload/slurm_info.h \
	submitter/payload/tags.c \
	submitter/payload/tags.h \
	submitter/payload/thread_table.c \
	submitter/payload/thread_table.h \
	submitter/payload/topology.c \
	submitter/payload/topology.h

# SQLite store: group commit, recovery, export.
noinst_LIBRARIES += submitter/spool/libspool.a
submitter_spool_libspool_a_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS) $(SQLITE_CFLAGS) \
	$(ZLIB_CFLAGS)
submitter_spool_libspool_a_SOURCES = \
	submitter/spool/check_file.c \
	submitter/spool/checksum_vfs.c \
	submitter/spool/clock.c \
	submitter/spool/commit.c \
	submitter/spool/commit.h \
	submitter/spool/db.c \
	submitter/spool/destinations.c \
	submitter/spool/evict.c \
	submitter/spool/export.c \
	submitter/spool/export.h \
	submitter/spool/find_run.c \
	submitter/spool/job_order.c \
	submitter/spool/meta_update.c \
	submitter/spool/open.c \
	submitter/spool/put.c \
	submitter/spool/recover.c \
	submitter/spool/resource_stub.c \
	submitter/spool/resource_v1.c \
	submitter/spool/run.c \
	submitter/spool/scan.c \
	submitter/spool/share.c \
	submitter/spool/spool.h \
	submitter/spool/spool_private.h \
	submitter/spool/sql.c \
	submitter/spool/to_stream.c \
	submitter/spool/stream.c \
	submitter/spool/transition.c \
	submitter/spool/transition.h

# HTTP, and the expiry of the token.
noinst_LIBRARIES += submitter/net/libnet.a
submitter_net_libnet_a_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS) $(CURL_CFLAGS)
submitter_net_libnet_a_SOURCES = \
	submitter/net/http.c \
	submitter/net/http.h \
	submitter/net/http_call.c \
	submitter/net/http_conf.c \
	submitter/net/http_private.h \
	submitter/net/token_expiry.c \
	submitter/net/token_expiry.h

# NATS, core and JetStream.
noinst_LIBRARIES += submitter/nats/libnats.a
submitter_nats_libnats_a_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
if WITH_NATS
submitter_nats_libnats_a_CFLAGS += $(NATS_CFLAGS) $(CRYPTO_CFLAGS)
submitter_nats_libnats_a_SOURCES = \
	submitter/nats/nats.c \
	submitter/nats/nats.h \
	submitter/nats/nats_ack.c \
	submitter/nats/nats_asks.c \
	submitter/nats/nats_asks.h \
	submitter/nats/nats_ack.h \
	submitter/nats/nats_publish.c \
	submitter/nats/nats_publish.h \
	submitter/nats/nats_records.c \
	submitter/nats/nats_records.h \
	submitter/nats/nats_thread.c \
	submitter/nats/nats_thread.h
else
submitter_nats_libnats_a_SOURCES = submitter/nats/nats.h \
	submitter/nats/nats_none.c
endif
EXTRA_DIST += submitter/nats/nats_none.c

# cc-backend as a peer: is it reachable, what does an answer mean, what does it list.
noinst_LIBRARIES += submitter/backend/libbackend.a
submitter_backend_libbackend_a_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS) $(JANSSON_CFLAGS)
submitter_backend_libbackend_a_SOURCES = \
	submitter/backend/breaker.c \
	submitter/backend/breaker.h \
	submitter/backend/job_list.c \
	submitter/backend/job_list.h \
	submitter/backend/job_list_parser.c \
	submitter/backend/job_list_parser.h \
	submitter/backend/response.c \
	submitter/backend/response.h \
	submitter/backend/token_watch.c \
	submitter/backend/token_watch.h \
	submitter/backend/topology_cache.c

# Records from the collector into the spool; space control.
noinst_LIBRARIES += submitter/intake/libintake.a
submitter_intake_libintake_a_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
submitter_intake_libintake_a_SOURCES = \
	submitter/intake/apply.c \
	submitter/intake/intake.c \
	submitter/intake/intake.h \
	submitter/intake/intake_private.h \
	submitter/intake/share.c \
	submitter/intake/snapshot.c \
	submitter/intake/space.c

# Sends what is due and applies the answers.
noinst_LIBRARIES += submitter/delivery/libdelivery.a
submitter_delivery_libdelivery_a_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS) $(JANSSON_CFLAGS)
submitter_delivery_libdelivery_a_SOURCES = \
	submitter/delivery/answer.c \
	submitter/delivery/commit_check.c \
	submitter/delivery/conflict.c \
	submitter/delivery/delivery.h \
	submitter/delivery/delivery_times.c \
	submitter/delivery/end_compare.c \
	submitter/delivery/foreign_stop.c \
	submitter/delivery/meta_delivery.c \
	submitter/delivery/nats_delivery.c \
	submitter/delivery/node_states.c \
	submitter/delivery/rest_delivery.c \
	submitter/delivery/stream_hold.c \
	submitter/delivery/stream_update.c

# Compares cc-backend with Slurm; backfill; active and standby.
noinst_LIBRARIES += submitter/reconcile/libreconcile.a
submitter_reconcile_libreconcile_a_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS) $(JANSSON_CFLAGS)
submitter_reconcile_libreconcile_a_SOURCES = \
	submitter/reconcile/backfill.c \
	submitter/reconcile/backfill.h \
	submitter/reconcile/backfill_dryrun.c \
	submitter/reconcile/backfill_private.h \
	submitter/reconcile/backfill_nats.c \
	submitter/reconcile/backfill_release.c \
	submitter/reconcile/backfill_state.c \
	submitter/reconcile/backfill_window.c \
	submitter/reconcile/centre_asks.c \
	submitter/reconcile/centre_asks.h \
	submitter/reconcile/destinations.c \
	submitter/reconcile/destinations.h \
	submitter/reconcile/failover.c \
	submitter/reconcile/failover.h \
	submitter/reconcile/first_list.c \
	submitter/reconcile/first_list.h \
	submitter/reconcile/missing_runs.c \
	submitter/reconcile/reconcile.c \
	submitter/reconcile/reconcile.h \
	submitter/reconcile/renamed.c \
	submitter/reconcile/slurm_lookup.c \
	submitter/reconcile/sync_command.c \
	submitter/reconcile/sync_command.h

# What the admin tool asks.
noinst_LIBRARIES += submitter/libsubmitter.a
submitter_libsubmitter_a_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS) $(CURL_CFLAGS)
submitter_libsubmitter_a_SOURCES = \
	submitter/check.c \
	submitter/check.h \
	submitter/ctl.c \
	submitter/ctl.h \
	submitter/ctl_gpus.c \
	submitter/ctl_spool.c \
	submitter/metrics.c \
	submitter/summary.c \
	submitter/explain.c \
	submitter/explain.h \
	submitter/explain_text.c \
	submitter/memory.c \
	submitter/memory.h \
	submitter/run_history.c \
	submitter/run_history.h

PAYLOAD_LIBS = submitter/payload/libpayload.a \
	common/record/librecord.a $(COMMON_LIBS) $(JANSSON_LIBS) \
	$(PCRE2_LIBS)
HISTORY_LIBS = submitter/history/libhistory.a submitter/base/libbase.a \
	$(COMMON_LIBS) $(SQLITE_LIBS)
SPOOL_LIBS = submitter/spool/libspool.a submitter/base/libbase.a \
	common/worker/libworker.a $(COMMON_LIBS) $(SQLITE_LIBS) $(ZLIB_LIBS)
NET_LIBS = submitter/net/libnet.a $(CURL_LIBS) $(COMMON_NET_LIBS)
NATS_BOX_LIBS = submitter/nats/libnats.a $(PAYLOAD_LIBS) $(COMMON_NATS_LIBS)
BACKEND_LIBS = submitter/backend/libbackend.a $(COMMON_LIBS)
SUBMITTER_LIBS = submitter/libsubmitter.a submitter/reconcile/libreconcile.a \
	submitter/delivery/libdelivery.a submitter/intake/libintake.a \
	submitter/backend/libbackend.a submitter/nats/libnats.a \
	submitter/net/libnet.a submitter/spool/libspool.a \
	submitter/payload/libpayload.a submitter/history/libhistory.a \
	submitter/base/libbase.a \
	$(WORKER_LIBS) $(CURL_LIBS) $(SQLITE_LIBS) $(ZLIB_LIBS) $(NATS_BOX_LIBS)

worker_PROGRAMS += submitter/submitter
submitter_submitter_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS) $(CURL_CFLAGS)
submitter_submitter_SOURCES = submitter/main.c
submitter_submitter_LDADD = $(SUBMITTER_LIBS)
