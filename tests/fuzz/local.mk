# SPDX-License-Identifier: MIT
# libFuzzer targets, one for each kind of bytes that come from outside; each
# holds what it reads against a promise or another reader.  tests/fuzz/run
# builds and runs them; corpus/NAME is where fuzz_NAME begins.
EXTRA_DIST += tests/fuzz/run tests/fuzz/corpus

if WITH_FUZZING
noinst_PROGRAMS += fuzz_clean fuzz_conf fuzz_export fuzz_frames fuzz_gres \
	fuzz_hostlist fuzz_job fuzz_json fuzz_listing fuzz_names fuzz_outcome \
	fuzz_payload fuzz_prep fuzz_sacct fuzz_spool fuzz_text fuzz_times \
	fuzz_topology fuzz_tres fuzz_words
endif

fuzz_link = $(AM_LDFLAGS) -fsanitize=fuzzer
fuzz_twin = tests/fuzz/fuzz.h tests/fuzz/twin.h tests/fuzz/twin.c

fuzz_clean_SOURCES = tests/fuzz/fuzz_clean.c $(fuzz_twin)
fuzz_clean_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
fuzz_clean_LDFLAGS = $(fuzz_link)
fuzz_clean_LDADD = $(COMMON_LIBS) $(JANSSON_LIBS)

fuzz_conf_SOURCES = tests/fuzz/fuzz_conf.c
fuzz_conf_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
fuzz_conf_LDFLAGS = $(fuzz_link)
fuzz_conf_LDADD = $(CONFIG_LIBS)

fuzz_export_SOURCES = tests/fuzz/fuzz_export.c tests/fuzz/fuzz.h
fuzz_export_LDFLAGS = $(fuzz_link)
fuzz_export_LDADD = submitter/spool/libspool.a $(SPOOL_LIBS) $(JANSSON_LIBS)

fuzz_frames_SOURCES = tests/fuzz/fuzz_frames.c tests/fuzz/fuzz.h
fuzz_frames_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
fuzz_frames_LDFLAGS = $(fuzz_link)
fuzz_frames_LDADD = $(COMMON_LIBS)

fuzz_gres_SOURCES = tests/fuzz/fuzz_gres.c tests/fuzz/fuzz.h
fuzz_gres_LDFLAGS = $(fuzz_link)
fuzz_gres_LDADD = $(PARSE_LIBS)

fuzz_hostlist_SOURCES = tests/fuzz/fuzz_hostlist.c tests/fuzz/fuzz.h
fuzz_hostlist_LDFLAGS = $(fuzz_link)
fuzz_hostlist_LDADD = $(PARSE_LIBS)

fuzz_job_SOURCES = tests/fuzz/fuzz_job.c tests/fuzz/fuzz.h
fuzz_job_LDFLAGS = $(fuzz_link)
fuzz_job_LDADD = $(COMMON_LIBS)

fuzz_json_SOURCES = tests/fuzz/fuzz_json.c $(fuzz_twin)
fuzz_json_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
fuzz_json_LDFLAGS = $(fuzz_link)
fuzz_json_LDADD = $(COMMON_LIBS) $(JANSSON_LIBS)

fuzz_listing_SOURCES = tests/fuzz/fuzz_listing.c $(fuzz_twin)
fuzz_listing_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
fuzz_listing_LDFLAGS = $(fuzz_link)
fuzz_listing_LDADD = $(BACKEND_LIBS) $(JANSSON_LIBS)

fuzz_names_SOURCES = tests/fuzz/fuzz_names.c tests/fuzz/fuzz.h
fuzz_names_CFLAGS = $(AM_CFLAGS) $(EVDNS_CFLAGS) $(EVENT_CFLAGS)
fuzz_names_LDFLAGS = $(fuzz_link)
fuzz_names_LDADD = $(NET_LIBS)

fuzz_outcome_SOURCES = tests/fuzz/fuzz_outcome.c tests/fuzz/fuzz.h
fuzz_outcome_LDFLAGS = $(fuzz_link)
fuzz_outcome_LDADD = $(BACKEND_LIBS)

fuzz_payload_SOURCES = tests/fuzz/fuzz_payload.c $(fuzz_twin)
fuzz_payload_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
fuzz_payload_LDFLAGS = $(fuzz_link)
fuzz_payload_LDADD = $(PAYLOAD_LIBS)

fuzz_prep_SOURCES = tests/fuzz/fuzz_prep.c
fuzz_prep_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
fuzz_prep_LDFLAGS = $(fuzz_link)
fuzz_prep_LDADD = listener/liblistener.a $(COMMON_LIBS)

fuzz_sacct_SOURCES = tests/fuzz/fuzz_sacct.c tests/fuzz/fuzz.h \
	tests/fuzz/sighting.h
fuzz_sacct_LDFLAGS = $(fuzz_link)
fuzz_sacct_LDADD = $(PARSE_LIBS)

fuzz_spool_SOURCES = tests/fuzz/fuzz_spool.c tests/fuzz/fuzz.h
fuzz_spool_CFLAGS = $(AM_CFLAGS) $(SQLITE_CFLAGS)
fuzz_spool_LDFLAGS = $(fuzz_link) -Wl,--wrap=fatalx,--wrap=sqlite3_open_v2
fuzz_spool_LDADD = $(SPOOL_LIBS)

fuzz_text_SOURCES = tests/fuzz/fuzz_text.c tests/fuzz/fuzz.h \
	tests/fuzz/sighting.h
fuzz_text_LDFLAGS = $(fuzz_link)
fuzz_text_LDADD = $(PARSE_LIBS)

fuzz_times_SOURCES = tests/fuzz/fuzz_times.c tests/fuzz/fuzz.h
fuzz_times_LDFLAGS = $(fuzz_link)
fuzz_times_LDADD = $(PARSE_LIBS)

fuzz_topology_SOURCES = tests/fuzz/fuzz_topology.c $(fuzz_twin)
fuzz_topology_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
fuzz_topology_LDFLAGS = $(fuzz_link)
fuzz_topology_LDADD = $(PAYLOAD_LIBS)

fuzz_tres_SOURCES = tests/fuzz/fuzz_tres.c tests/fuzz/fuzz.h \
	tests/fuzz/sighting.h
fuzz_tres_LDFLAGS = $(fuzz_link)
fuzz_tres_LDADD = $(PARSE_LIBS)

fuzz_words_SOURCES = tests/fuzz/fuzz_words.c tests/fuzz/fuzz.h
fuzz_words_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
fuzz_words_LDFLAGS = $(fuzz_link)
fuzz_words_LDADD = $(COLLECTOR_SLURM_LIBS)
