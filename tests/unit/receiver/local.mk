# SPDX-License-Identifier: MIT
# The receiver's boxes.
if WITH_NATS
check_PROGRAMS += test_window test_budget test_api test_streams \
	test_receiver_intake test_asks test_lease test_lease_json \
	test_bucket test_check_lease test_orders test_release test_report \
	test_active test_link
TESTS += test_window test_budget test_api test_streams test_receiver_intake \
	test_asks test_lease test_lease_json test_bucket test_check_lease \
	test_orders test_release test_report \
	test_active test_link
endif
test_window_SOURCES = tests/unit/receiver/base/test_window.c
test_window_LDADD = receiver/base/libbase.a

test_budget_SOURCES = tests/unit/receiver/base/test_budget.c
test_budget_LDADD = receiver/base/libbase.a

test_api_SOURCES = tests/unit/receiver/streams/test_api.c
test_api_LDADD = receiver/streams/libstreams.a $(MODEL_LIBS)

test_link_SOURCES = tests/unit/receiver/link/test_link.c
test_link_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
test_link_LDADD = receiver/link/liblink.a $(COMMON_NATS_LIBS)

# The functions of the box below are the simulated broker.
test_streams_SOURCES = tests/unit/receiver/streams/test_streams.c
test_streams_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
test_streams_LDADD = receiver/streams/libstreams.a receiver/base/libbase.a \
	common/record/librecord.a $(COMMON_LIBS)

test_receiver_intake_SOURCES = tests/unit/receiver/intake/test_intake.c
test_receiver_intake_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
test_receiver_intake_LDADD = receiver/intake/libintake.a \
	common/record/librecord.a common/worker/libworker.a $(COMMON_LIBS)

# The functions of the box below are the simulated broker.
test_asks_SOURCES = tests/unit/receiver/asks/test_asks.c
test_asks_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
test_asks_LDADD = receiver/asks/libasks.a common/record/librecord.a \
	$(COMMON_LIBS)

# The test has the box below.
test_orders_SOURCES = tests/unit/receiver/test_orders.c receiver/orders.c
test_orders_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
test_orders_LDADD = $(COMMON_LIBS)

test_lease_SOURCES = tests/unit/receiver/lease/test_lease.c
test_lease_LDADD = receiver/lease/liblease.a

test_lease_json_SOURCES = tests/unit/receiver/lease/test_lease_json.c
test_lease_json_LDADD = receiver/lease/liblease.a $(MODEL_LIBS)

# The link of the test is the broker, its clock that of the test.
test_bucket_SOURCES = tests/unit/receiver/lease/test_bucket.c
test_bucket_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
test_bucket_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=clock_boot_ms
test_bucket_LDADD = receiver/lease/liblease.a $(COMMON_LIBS) $(NO_LTO)

# The link of the test is the broker.
test_check_lease_SOURCES = tests/unit/receiver/test_check_lease.c
test_check_lease_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
test_check_lease_LDADD = receiver/libreceiver.a receiver/lease/liblease.a \
	receiver/streams/libstreams.a common/record/librecord.a $(COMMON_LIBS)

# The lease and the end of the process are those of the test.
test_release_SOURCES = tests/unit/receiver/test_release.c
test_release_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
test_release_LDADD = receiver/libreceiver.a $(COMMON_LIBS)

# The boxes of which the report tells are those of the test.
test_report_SOURCES = tests/unit/receiver/test_report.c
test_report_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
test_report_LDADD = receiver/libreceiver.a $(COMMON_LIBS)

# It includes receiver/main.c, and has its own link to NATS.
test_active_SOURCES = tests/unit/receiver/test_active.c
test_active_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
test_active_LDADD = receiver/libreceiver.a receiver/intake/libintake.a \
	receiver/asks/libasks.a receiver/streams/libstreams.a \
	receiver/lease/liblease.a receiver/base/libbase.a $(WORKER_LIBS) \
	$(COMMON_NATS_LIBS)
