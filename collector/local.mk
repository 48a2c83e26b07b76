# SPDX-License-Identifier: MIT
# What reads Slurm's words, apart from the worker, so that tests link it alone.
noinst_LIBRARIES += libslurmtext.a
libslurmtext_a_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
libslurmtext_a_SOURCES = \
	collector/read.h collector/number.c collector/times.c \
	collector/ranges.c collector/hostlist.c collector/gres.c \
	collector/tres.c collector/states.c collector/lines.c \
	collector/delimiter.c collector/tokens.c collector/squeue.c \
	collector/scontrol.c collector/resources.c collector/sacct.c \
	collector/words.c \
	collector/shape.c collector/node_state.c \
	collector/json.h collector/json_scan.c \
	collector/json_value.c collector/json_split.c \
	collector/json_read.h collector/json_fields.c \
	collector/json_job.c collector/json_resources.c \
	collector/json_acct.c collector/json_info.c collector/json_form.c

# Makes the configuration ready; apart, so that a test links it alone.
noinst_LIBRARIES += libcollectorconf.a
libcollectorconf_a_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS) $(JANSSON_CFLAGS) \
	$(PCRE2_CFLAGS)
libcollectorconf_a_SOURCES = \
	collector/conf.h collector/gpu.c collector/settings.c \
	collector/tables.h collector/idmap.c collector/open.c \
	collector/done.c collector/runner.h collector/runner.c \
	collector/spawn.c

worker_PROGRAMS += collector/collector
collector_collector_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS) $(ZLIB_CFLAGS)
collector_collector_SOURCES = \
	collector/collector.h collector/slurm.h \
	collector/now.c collector/limit.c collector/health.c \
	collector/slurm.c collector/ask.c \
	collector/hosts.c collector/out.c collector/runs.c \
	collector/details.h collector/details.c collector/details_text.c \
	collector/details_line.c collector/details_json.c \
	collector/pack.h collector/pack.c \
	collector/unasked.c \
	collector/exact.c collector/source.c \
	collector/cycle.c collector/ledger.h collector/ledger.c \
	collector/ledger_ids.c collector/ledger_json.c \
	collector/ledger_held.c collector/ledger_steps.c collector/witness.c \
	collector/events.c collector/asks.c \
	collector/survey.c collector/active.c \
	collector/right.c collector/startup.c \
	collector/script.c collector/held.c collector/nodes.c collector/plan.c \
	collector/resume.c collector/site.c \
	collector/status.c collector/main.c
collector_collector_LDADD = libcollectorconf.a libslurmtext.a libworker.a \
	libcommon.a $(EVENT_LIBS) $(JANSSON_LIBS) $(PCRE2_LIBS) $(ZLIB_LIBS) \
	$(CAP_LIBS) $(SECCOMP_LIBS)
