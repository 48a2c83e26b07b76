# SPDX-License-Identifier: MIT

# Bodies and what carries them: apart, so that a test links only what it tests.
noinst_LIBRARIES += libbodies.a
libbodies_a_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS) $(PCRE2_CFLAGS)
libbodies_a_SOURCES = \
	submitter/payload.c submitter/payload.h submitter/payload_json.c \
	submitter/payload_conf.c submitter/payload_conf.h \
	submitter/payload_meta.c \
	submitter/topology.c submitter/topology.h \
	submitter/topology_shape.c submitter/topology_shape.h \
	submitter/nodelist.c submitter/nodelist.h \
	submitter/cpumap.c submitter/cpumap.h \
	submitter/tags.c submitter/tags.h \
	submitter/message.c submitter/message.h
BODIES_LIBS = libbodies.a libcommon.a $(JANSSON_LIBS) $(PCRE2_LIBS)

noinst_LIBRARIES += libnames.a
libnames_a_CFLAGS = $(AM_CFLAGS) $(EVDNS_CFLAGS) $(EVENT_CFLAGS)
libnames_a_SOURCES = \
	submitter/names.c submitter/names.h submitter/names_int.h \
	submitter/names_entry.c \
	submitter/names_hosts.c submitter/names_hosts.h \
	submitter/names_resolv.c submitter/names_resolv.h
NAMES_LIBS = libnames.a libcommon.a $(EVDNS_LIBS) $(EVENT_LIBS)

noinst_LIBRARIES += libbroker.a
libbroker_a_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
libbroker_a_SOURCES = submitter/nats.h
if WITH_NATS
libbroker_a_CFLAGS += $(NATS_CFLAGS) $(CRYPTO_CFLAGS)
libbroker_a_SOURCES += \
	submitter/nats.c \
	submitter/nats_conf.c submitter/nats_conf.h \
	submitter/nats_options.c \
	submitter/nats_link.c submitter/nats_link.h \
	submitter/nats_publish.c submitter/nats_thread.h \
	submitter/nats_keys.c submitter/nats_keys.h \
	submitter/nats_cert.c submitter/nats_cert.h
else
libbroker_a_SOURCES += submitter/nats_none.c
endif
EXTRA_DIST += submitter/nats_none.c
BROKER_LIBS = libbroker.a libbodies.a $(NAMES_LIBS) $(JANSSON_LIBS) \
	$(PCRE2_LIBS) $(NATS_LIBS) $(CRYPTO_LIBS) -lpthread

noinst_LIBRARIES += libspool.a
libspool_a_CFLAGS = $(AM_CFLAGS) $(SQLITE_CFLAGS)
libspool_a_SOURCES = \
	submitter/spool.c submitter/spool.h submitter/spool_int.h \
	submitter/spool_sql.c submitter/spool_run.c submitter/spool_put.c \
	submitter/spool_list.c submitter/spool_open.c submitter/spool_salvage.c \
	submitter/spool_order.c submitter/spool_late.c \
	submitter/spool_sum.c submitter/spool_migrate.c submitter/spool_stub.c \
	submitter/spool_evict.c submitter/spool_look.c
SPOOL_LIBS = libspool.a libcommon.a $(SQLITE_LIBS)

noinst_LIBRARIES += libjudge.a
libjudge_a_SOURCES = \
	submitter/outcome.c submitter/outcome.h \
	submitter/listing.c submitter/listing.h
JUDGE_LIBS = libjudge.a libcommon.a

noinst_LIBRARIES += librest.a
librest_a_CFLAGS = $(AM_CFLAGS) $(CURL_CFLAGS) $(EVENT_CFLAGS)
librest_a_SOURCES = \
	submitter/rest.c submitter/rest.h submitter/rest_int.h \
	submitter/rest_call.c submitter/rest_conf.c
REST_LIBS = librest.a $(JUDGE_LIBS) $(CURL_LIBS)

# What decides, without HTTP: a test plays cc-backend in its place.
noinst_LIBRARIES += librelay.a
librelay_a_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS) $(JANSSON_CFLAGS)
librelay_a_SOURCES = \
	submitter/submitter.h \
	submitter/backlog.c submitter/backlog_open.c submitter/backlog_apply.c \
	submitter/backlog_room.c submitter/backlog_int.h \
	submitter/relay.c submitter/relay_answer.c submitter/relay_nats.c submitter/relay_int.h \
	submitter/gate.c submitter/timers.c \
	submitter/paging.c submitter/paging.h \
	submitter/seen.c submitter/ask.c submitter/closed.c submitter/late.c \
	submitter/sets.h submitter/sets.c submitter/resync.c \
	submitter/denial.c \
	submitter/resync_ask.c submitter/resync_topology.c \
	submitter/nodes.c submitter/verbs.c

# A round on request.
libspool_a_SOURCES += submitter/spool_job.c
librelay_a_SOURCES += submitter/sync.c submitter/sync.h submitter/verbs_spool.c \
	submitter/export_line.c submitter/export_line.h

# Two controllers.
librelay_a_SOURCES += submitter/standby.c submitter/standby.h

# Past ranges.
librelay_a_SOURCES += submitter/backfill.c submitter/backfill.h \
	submitter/backfill_int.h submitter/backfill_hold.c \
	submitter/backfill_look.c

worker_PROGRAMS += submitter/submitter
submitter_submitter_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS) $(CURL_CFLAGS)
submitter_submitter_SOURCES = submitter/main.c
submitter_submitter_LDADD = librelay.a libworker.a $(REST_LIBS) \
	$(SPOOL_LIBS) $(BROKER_LIBS) $(CAP_LIBS) $(SECCOMP_LIBS)
