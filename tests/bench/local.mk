# SPDX-License-Identifier: MIT
# Programs that print figures beside a baseline; none of them passes or fails.
EXTRA_PROGRAMS += spawn_cost
spawn_cost_SOURCES = tests/bench/spawn_cost.c

# Records a second into the spool; a million rows waiting.
EXTRA_PROGRAMS += tests/bench/spool
tests_bench_spool_SOURCES = tests/bench/spool.c
tests_bench_spool_LDADD = $(SPOOL_LIBS)
CLEANFILES += tests/bench/spool
EXTRA_DIST += tests/bench/suite tests/bench/latency.py tests/bench/compare

# What it costs to confine a command at its start.
EXTRA_PROGRAMS += tests/bench/confine
tests_bench_confine_SOURCES = tests/bench/confine.c
tests_bench_confine_LDADD = $(CONFINE_LIBS)
CLEANFILES += tests/bench/confine

# Slurm's words.
EXTRA_PROGRAMS += tests/bench/readers
tests_bench_readers_SOURCES = tests/bench/readers.c tests/bench/stream.h \
	tests/bench/stream.c
tests_bench_readers_LDADD = $(PARSE_LIBS)
CLEANFILES += tests/bench/readers

# Drain of a spool beside the same bodies fed as fast as they are answered.
EXTRA_PROGRAMS += tests/bench/feed
tests_bench_feed_SOURCES = tests/bench/feed.c
tests_bench_feed_LDADD = -lpthread
CLEANFILES += tests/bench/feed
EXTRA_DIST += tests/bench/drain

# Very many jobs and their hooks, in place of Slurm's commands.
EXTRA_PROGRAMS += tests/bench/many
tests_bench_many_SOURCES = tests/bench/many.c
CLEANFILES += tests/bench/many
EXTRA_DIST += tests/bench/events tests/bench/idle tests/bench/load \
	tests/bench/slurm-load tests/bench/go_commands.py tests/bench/all
