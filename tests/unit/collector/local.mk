# SPDX-License-Identifier: MIT
# The collector's boxes.

# collector/parse
check_PROGRAMS += test_hostlist
TESTS += test_hostlist
test_hostlist_SOURCES = tests/unit/collector/parse/test_hostlist.c
test_hostlist_LDADD = $(PARSE_LIBS)

check_PROGRAMS += test_times
TESTS += test_times
test_times_SOURCES = tests/unit/collector/parse/test_times.c
test_times_LDADD = $(PARSE_LIBS)

check_PROGRAMS += test_gres
TESTS += test_gres
test_gres_SOURCES = tests/unit/collector/parse/test_gres.c
test_gres_LDADD = $(PARSE_LIBS)

check_PROGRAMS += test_nodes
TESTS += test_nodes
test_nodes_SOURCES = tests/unit/collector/parse/test_nodes.c
test_nodes_LDADD = $(PARSE_LIBS)

check_PROGRAMS += test_words
TESTS += test_words
test_words_SOURCES = tests/unit/collector/parse/test_words.c \
	tests/unit/collector/parse/recording.h
test_words_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
test_words_LDADD = $(COLLECTOR_SLURM_LIBS)

check_PROGRAMS += test_text_reader
TESTS += test_text_reader
test_text_reader_SOURCES = tests/unit/collector/parse/test_text_reader.c \
	tests/unit/collector/parse/recording.h
test_text_reader_LDADD = $(PARSE_LIBS)

check_PROGRAMS += test_expected
TESTS += test_expected
test_expected_SOURCES = tests/unit/collector/parse/test_expected.c \
	tests/unit/collector/parse/recording.h
test_expected_LDADD = $(PARSE_LIBS)

check_PROGRAMS += test_readers
TESTS += test_readers
test_readers_SOURCES = tests/unit/collector/parse/test_readers.c \
	tests/unit/collector/parse/dump_record.h \
	tests/unit/collector/parse/recording.h
test_readers_LDADD = $(PARSE_LIBS)

# collector/slurm
check_PROGRAMS += test_plan
TESTS += test_plan
test_plan_SOURCES = tests/unit/collector/slurm/test_plan.c
test_plan_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
test_plan_LDADD = $(COLLECTOR_SLURM_LIBS)

# collector/details
check_PROGRAMS += test_pack
TESTS += test_pack
test_pack_SOURCES = tests/unit/collector/details/test_pack.c \
	collector/details/record_pack.h \
	collector/details/record_pack.c
test_pack_CFLAGS = $(AM_CFLAGS) $(ZLIB_CFLAGS)
test_pack_LDADD = $(ZLIB_LIBS)

# The collector's decisions, with a simulated clock and simulated commands:
# this object has the functions of the members of the libraries that it replaces.
simulation = tests/unit/collector/simulation.h \
	tests/unit/collector/simulation.c

# collector/track
check_PROGRAMS += test_track
TESTS += test_track
test_track_SOURCES = tests/unit/collector/track/test_track.c \
	$(simulation)
test_track_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
test_track_LDADD = $(COLLECTOR_TRACK_LIBS)

# collector/accounting
check_PROGRAMS += test_accounting
TESTS += test_accounting
test_accounting_SOURCES = \
	tests/unit/collector/accounting/test_accounting.c \
	tests/unit/collector/parse/recording.h \
	$(simulation)
test_accounting_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
test_accounting_LDADD = $(COLLECTOR_ACCOUNTING_LIBS)

# collector/query
check_PROGRAMS += test_query
TESTS += test_query
test_query_SOURCES = tests/unit/collector/query/test_query.c \
	tests/unit/collector/parse/recording.h \
	$(simulation)
test_query_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
test_query_LDADD = $(COLLECTOR_LIBS)
