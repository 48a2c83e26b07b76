# SPDX-License-Identifier: MIT
# Tests of the whole on a real Slurm; tests/check runs them, not `make check`.
# Folders are distributed as they are; dist-hook takes out what a build leaves.
EXTRA_DIST += .ci/run .clang-tidy tests/callgraph tests/check tests/coverage \
	tests/crash tests/demo tests/fanin tests/html tests/lab tests/layers tests/matrix tests/packaging \
	tests/reproducible tests/soak tests/system tests/valgrind.supp tests/vm tests/year

# Plays the other processes to a collector; made by `make collector_drive`.
EXTRA_PROGRAMS += collector_drive
collector_drive_SOURCES = tests/system/lib/collector_drive.c
collector_drive_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS) $(JANSSON_CFLAGS)
collector_drive_LDADD = $(WORKER_LIBS) $(JANSSON_LIBS) -lpthread

# The submitter alone, driven by lines.
check_PROGRAMS += submitter_drive
submitter_drive_SOURCES = tests/system/lib/submitter_drive.c
submitter_drive_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
submitter_drive_LDADD = $(WORKER_LIBS)

# Publishes to a real broker by hand; tests/lab/nats builds and drives it.
if WITH_NATS
EXTRA_PROGRAMS += nats-live
endif
nats_live_SOURCES = tests/lab/nats_live.c
nats_live_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
nats_live_LDADD = $(NATS_BOX_LIBS)

dist-hook:
	cd $(distdir)/tests && find . \( -name __pycache__ -o -name .deps \
	    -o -name .dirstamp -o -name '*.o' \) -prune -exec rm -rf {} +
	$(srcdir)/etc/make-sbom $(distdir) $(VERSION) $(dist_epoch) \
	    >$(distdir)/cc-slurm-adapter.spdx.json
