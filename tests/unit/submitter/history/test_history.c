/* SPDX-License-Identifier: MIT */
/*
 * The history of runs: the form of its events, its file, its size for a
 * realistic mix of runs, its limits, and damage.
 */
#include "config.h"

#include <sys/stat.h>

#include <fcntl.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <event2/event.h>
#include <sqlite3.h>

#include "common/log.h"
#include "common/model/msg.h"
#include "submitter/base/context.h"
#include "submitter/history/file.h"
#include "submitter/history/history.h"
#include "submitter/history/hooks.h"
#include "tests/unit/check.h"

#define FILE_NAME "history.db"
#define T0	  INT64_C(1763733600000) /* ms */

static struct worker worker;
static struct submitter submitter;
static char told[4096];

static void
events_text(const struct history_events *e, char *buf, size_t size)
{
	struct history_item item = { .ms = 0 };
	size_t at = 0, len = 0;
	int rc;

	buf[0] = '\0';
	while ((rc = history_events_next(e, &at, &item)) == 1)
		len += (size_t)snprintf(buf + len, size - len,
		    "%d@%lld(%llu,%llu) ", item.event,
		    (long long)(item.ms - T0), (unsigned long long)item.a,
		    (unsigned long long)item.b);
	if (rc == -1)
		snprintf(buf + len, size - len, "invalid");
}

static void
add(struct history_events *e, int64_t ms, enum history_event event, uint64_t a,
    uint64_t b)
{
	const struct history_item item = { ms, event, a, b };

	history_events_add(e, &item);
}

static void
test_events(void)
{
	struct history_events e = { .len = 0 };
	char text[2048];
	int i;

	add(&e, T0, HISTORY_STORED, STORED_RUNNING, 2);
	add(&e, T0 + 7, HISTORY_START_SENT, 0, 0);
	add(&e, T0 - 5, HISTORY_HOOK, EVENT_START, 0);
	add(&e, T0 + 90, HISTORY_STORED, STORED_ENDED, 3); /* once */
	events_text(&e, text, sizeof(text));
	CHECK_STR(text, "2@0(0,2) 5@7(0,0) 1@-5(1,0) ");

	/* a time that is not valid does not damage the other events */
	add(&e, INT64_MAX, HISTORY_HOOK, EVENT_END, 0);
	add(&e, -1, HISTORY_HOOK, EVENT_END, 0);
	add(&e, T0 + 91, HISTORY_START_TAKEN, 0, 0);
	events_text(&e, text, sizeof(text));
	CHECK_STR(text, "2@0(0,2) 5@7(0,0) 1@-5(1,0) 6@91(0,0) ");

	/* failures are counted, and their repetitions add nothing */
	e.len = 0;
	add(&e, T0, HISTORY_START_SENT, 0, 0);
	for (i = 1; i <= 1000; i++) {
		add(&e, T0 + i * 10, HISTORY_RETRY, 503, 1);
		add(&e, T0 + i * 10 + 5, HISTORY_START_SENT, 0, 0);
	}
	add(&e, T0 + 20000, HISTORY_START_TAKEN, 0, 0);
	events_text(&e, text, sizeof(text));
	CHECK_STR(text, "5@0(0,0) 12@10000(503,1000) 6@20000(0,0) ");
	CHECK(e.len < 24);

	/* the bytes are bounded */
	e.len = 0;
	for (i = 0; i < 10000; i++)
		add(&e, T0 + i * 60000,
		    i % 2 ? HISTORY_RETRIED : HISTORY_REJECTED, 1, 0);
	CHECK(e.len <= HISTORY_BYTES_MAX);
	CHECK_INT(e.bytes[e.len - 4] == HISTORY_MORE ||
		e.bytes[e.len - 5] == HISTORY_MORE,
	    1);
}

/* No byte string may be read outside its length, or without an end. */
static void
test_invalid_events(void)
{
	struct history_events e;
	struct history_item item;
	unsigned seed = 1, i, k;
	size_t at;
	int rc = 0, bad = 0;

	for (i = 0; i < 20000; i++) {
		e.len = i % 40;
		for (k = 0; k < e.len; k++) {
			seed = seed * 1103515245 + 12345;
			e.bytes[k] = (uint8_t)(seed >> 16);
			if (k == 0)
				e.bytes[k] %= HISTORY__COUNT + 1;
		}
		item.ms = 0;
		for (at = 0; (rc = history_events_next(&e, &at, &item)) == 1;)
			CHECK(at <= e.len && item.event < HISTORY__COUNT);
		bad += rc == -1;
		/* an event is added in any case */
		add(&e, T0, HISTORY_START_SENT, 0, 0);
		CHECK(e.len > 0 && e.len <= HISTORY_BYTES_MAX);
	}
	CHECK(bad > 1000);
}

static void
test_counters(void)
{
	struct history_counts a = { .n = { 0 } }, b;
	uint8_t buf[COUNTS_BYTES_MAX];
	size_t n;
	unsigned i;

	counts_add(&a, COUNT_JOBS_IN, 3);
	counts_add(&a, COUNT_JOBS_IN, 4);
	counts_add(&a, COUNT_WAITING_MAX, 9);
	counts_add(&a, COUNT_WAITING_MAX, 5);
	counts_add(&a, COUNT_HOOK_MS, UINT64_MAX / 2);
	n = counts_write(&a, buf);
	CHECK_INT(counts_read(&b, buf, n), 0);
	CHECK_INT(b.n[COUNT_JOBS_IN], 7);
	CHECK_INT(b.n[COUNT_WAITING_MAX], 9);
	CHECK(memcmp(&a, &b, sizeof(a)) == 0);
	CHECK_INT(counts_read(&b, buf, n - 1), -1);
	counts_merge(&a, &b);
	for (i = 0; i < COUNT__COUNT; i++) {
		CHECK(counter_name((enum history_counter)i) != NULL);
		a.n[i] = UINT64_MAX;
	}
	n = counts_write(&a, buf);
	CHECK(n <= sizeof(buf));
	CHECK_INT(counts_read(&b, buf, n), 0);
	CHECK(memcmp(&a, &b, sizeof(a)) == 0);
}

static void
test_hooks(void)
{
	static struct hook_table t;
	unsigned at = 0, i;

	hook_put(&t, 1, 10, EVENT_START, 1000);
	hook_put(&t, 1, 10, EVENT_START, 1900); /* the same one, repeated */
	hook_put(&t, 1, 10, EVENT_END, 9000);
	hook_put(&t, 2, 10, EVENT_START, 3000);
	CHECK_INT(hook_find(&t, 1, 10, 1)->ms, 1000);
	CHECK_INT(hook_find(&t, 1, 10, 0)->ms, 9000);
	CHECK(hook_find(&t, 1, 11, 1) == NULL);
	hook_find(&t, 1, 10, 1)->start = 7;
	CHECK(hook_find(&t, 1, 10, 1) == NULL);
	CHECK_INT(hook_of_run(&t, 1, 10, 7)->ms, 1000);
	CHECK_INT(hook_next(&t, 1, 10, &at)->ms, 9000);
	CHECK(hook_next(&t, 1, 10, &at) == NULL);
	for (i = 0; i < 100000; i++)
		hook_put(&t, 1, i, EVENT_START, 10000 + i);
	CHECK(hook_find(&t, 1, 99999, 1) != NULL);
}

/* --- the file --- */

static void
begin(int64_t days, int64_t bytes)
{
	submitter.w = &worker;
	submitter.history = history_new(&submitter, FILE_NAME);
	history_conf(submitter.history, days, bytes);
}

static void
end(void)
{
	history_close(submitter.history);
	submitter.history = NULL;
}

static void
on_run(const struct run_key *key, const struct history_events *events,
    void *arg)
{
	char text[1024];
	size_t len = strlen(told);
	struct history_item item = { .ms = 0 };
	size_t at = 0, n = 0;

	text[0] = '\0';
	while (history_events_next(events, &at, &item) == 1)
		n += (size_t)snprintf(text + n, sizeof(text) - n, " %d",
		    item.event);
	snprintf(told + len, sizeof(told) - len, "%s/%llu/%lld:%s\n",
	    key->cluster, (unsigned long long)key->job, (long long)key->start,
	    text);
}

static const char *
ask(const char *cluster, uint64_t job)
{
	told[0] = '\0';
	history_job(submitter.history, cluster, job, on_run, NULL, 64);
	return told;
}

static struct run_key
key_of(const char *cluster, uint64_t job, int64_t start)
{
	struct run_key key = { .job = job, .start = start };

	snprintf(key.cluster, sizeof(key.cluster), "%s", cluster);
	return key;
}

static void
test_file(void)
{
	int64_t now = history_now(), s = now / 1000;
	struct run_key one = key_of("alpha", 4711, s),
		       two = key_of("alpha", 4711, s + 100),
		       other = key_of("beta", 4711, s), moved;
	struct stat st;

	begin(30, 1 << 26);
	history_hook(submitter.history, "alpha", 4711, EVENT_START, now - 20);
	history_note(submitter.history, &one, HISTORY_STORED, STORED_RUNNING,
	    1);
	history_note(submitter.history, &one, HISTORY_START_SENT, 0, 0);
	history_note(submitter.history, &other, HISTORY_STORED, 0, 1);
	history_note(submitter.history, &two, HISTORY_STORED, 0, 1);
	ask("", 4711);
	CHECK(strstr(told, ": 1 2 5\n") != NULL);
	CHECK(strstr(told, "beta/4711/") != NULL);
	history_note(submitter.history, &one, HISTORY_START_TAKEN, 0, 0);
	ask("alpha", 4711);
	CHECK(strstr(told, ": 1 2 5 6\n") != NULL);
	CHECK(strstr(told, "beta") == NULL);
	ask("beta", 4711);
	CHECK(strncmp(told, "beta/4711/", 10) == 0);
	CHECK_STR(ask("", 4712), "");

	/* the start moves: one run, before and after a write */
	moved = key_of("alpha", 4713, s);
	history_note(submitter.history, &moved, HISTORY_STORED, 1, 1);
	history_moved(submitter.history, &moved, s - 5);
	moved.start = s - 5;
	history_note(submitter.history, &moved, HISTORY_START_SENT, 0, 0);
	ask("", 4713);
	CHECK(strstr(told, ": 2 5\n") != NULL);
	CHECK(strchr(told, '\n') == strrchr(told, '\n'));
	history_moved(submitter.history, &moved, s + 5);
	moved.start = s + 5;
	history_note(submitter.history, &moved, HISTORY_START_TAKEN, 0, 0);
	ask("", 4713);
	CHECK(strstr(told, ": 2 5 6\n") != NULL);

	/* a hook without a run */
	history_hook(submitter.history, "alpha", 4714, EVENT_START, now);
	CHECK_STR(ask("alpha", 4714), "alpha/4714/0: 1\n");
	end();
	CHECK_INT(stat(FILE_NAME, &st), 0);
	CHECK_INT(st.st_mode & 077, 0);

	/* it is there after a restart, and removed with historyDays 0 */
	begin(30, 1 << 26);
	ask("alpha", 4711);
	CHECK(strstr(told, ": 1 2 5 6\n") != NULL);
	history_conf(submitter.history, 0, 1 << 26);
	CHECK_STR(ask("alpha", 4711), "");
	history_note(submitter.history, &one, HISTORY_STORED, 0, 1);
	CHECK_INT(access(FILE_NAME, F_OK), -1);
	end();
	CHECK_INT(access(FILE_NAME, F_OK), -1);
}

/* The events of a run as a site sees them: most runs have nine. */
static size_t
mix(struct history_item *items, unsigned i, int64_t at)
{
	unsigned long_run = i % 3 == 0 ? 36000000u : 90000u;
	size_t n = 0;

	items[n++] = (struct history_item) { at, HISTORY_HOOK, EVENT_START, 0 };
	items[n++] = (struct history_item) { at + 40, HISTORY_STORED,
		STORED_UNCONFIRMED, 1 + i % 7 };
	items[n++] = (struct history_item) { at + 1100, HISTORY_RUNNING, 0, 0 };
	items[n++] = (struct history_item) { at + 1150, HISTORY_START_SENT, 0,
		0 };
	if (i % 20 == 0)
		items[n++] = (struct history_item) { at + 6000, HISTORY_RETRY,
			503, 1 + i % 9 };
	items[n++] = (struct history_item) { at + 6100, HISTORY_START_TAKEN, 0,
		0 };
	items[n++] = (struct history_item) { at + 121000, HISTORY_COMMITTED, 0,
		0 };
	at += long_run + i % 1000;
	items[n++] = (struct history_item) { at, HISTORY_HOOK, EVENT_END, 0 };
	items[n++] = (struct history_item) { at + 900, HISTORY_ENDED,
		END_COMPLETED, long_run / 1000 };
	items[n++] = (struct history_item) { at + 950, HISTORY_STOP_SENT, 0,
		0 };
	items[n++] = (struct history_item) { at + 990, HISTORY_STOP_TAKEN, 0,
		0 };
	if (i % 2)
		items[n++] = (struct history_item) { at + 1200,
			HISTORY_META_SENT, 0, 0 };
	return n;
}

#define RUNS  (check_on_valgrind() ? 2000u : 20000u)
#define LIMIT 120 /* bytes of a run on average */

/* Starts and ends of many runs alternate, as in a cluster that is in use. */
static void
test_size(void)
{
	struct history_item items[16];
	struct history_file *f;
	struct run_key key;
	char why[160] = "";
	uint64_t bytes;
	unsigned i, k;
	size_t n;

	history_file_remove(FILE_NAME);
	f = history_file_open(FILE_NAME, 1 << 28, why, sizeof(why));
	CHECK_STR(why, "");
	CHECK_INT(history_file_begin(f), 0);
	for (i = 0; i < RUNS + 500; i++) {
		if (i < RUNS) {
			key = key_of("alpha", 9000000 + i, T0 / 1000 + i / 4);
			n = mix(items, i, T0 + i * 250);
			CHECK_INT(history_file_add(f, &key, items, n / 2), 0);
		}
		if (i >= 500) {
			k = i - 500;
			key = key_of("alpha", 9000000 + k, T0 / 1000 + k / 4);
			n = mix(items, k, T0 + k * 250);
			CHECK_INT(history_file_add(f, &key, items + n / 2,
				      n - n / 2),
			    0);
		}
	}
	CHECK_INT(history_file_commit(f), 0);
	bytes = history_file_bytes(f);
	printf("%u runs: %.1f bytes each\n", RUNS, (double)bytes / RUNS);
	CHECK(check_on_valgrind() || bytes / RUNS <= LIMIT);
	CHECK_INT(history_file_runs(f), RUNS);
	history_file_close(f);
}

static int64_t
count_runs(struct history_file *f)
{
	return (int64_t)history_file_runs(f);
}

/* The oldest runs are removed first, by their age and by the size. */
static void
test_limits(void)
{
	struct history_item item = { T0, HISTORY_STORED, 0, 1 };
	struct history_file *f;
	struct run_key key;
	struct history_events events;
	char why[160] = "";
	int64_t after = -1;
	unsigned i, many = check_on_valgrind() ? 6000 : 60000;

	history_file_remove(FILE_NAME);
	f = history_file_open(FILE_NAME, 1 << 20, why, sizeof(why));
	CHECK(f != NULL);
	for (i = 0; i < 40; i++) {
		key = key_of("alpha", 100 + i, T0 / 1000);
		item.ms = T0 + i * 1000;
		CHECK_INT(history_file_add(f, &key, &item, 1), 0);
	}
	CHECK_INT(history_file_age(f, T0 + 10000), 0);
	CHECK_INT(count_runs(f), 30);
	CHECK_INT(history_file_next(f, "", 109, &after, &key, &events), 0);
	CHECK_INT(history_file_next(f, "", 110, &after, &key, &events), 1);
	after = -1;
	/* the file stays below its limit, the newest runs stay */
	for (i = 0; i < many; i++) {
		if (i % 1000 == 0)
			CHECK_INT(history_file_begin(f), 0);
		key = key_of("alpha", 1000 + i, T0 / 1000);
		CHECK_INT(history_file_add(f, &key, &item, 1), 0);
		if (i % 100 == 99)
			CHECK_INT(history_file_age(f, 0), 0);
		if (i % 1000 == 999)
			CHECK_INT(history_file_commit(f), 0);
	}
	CHECK(history_file_bytes(f) <= 1 << 20);
	CHECK_INT(history_file_next(f, "", 1000 + many - 1, &after, &key,
		      &events),
	    1);
	after = -1;
	if (many > 20000)
		CHECK_INT(history_file_next(f, "", 1000, &after, &key, &events),
		    0);
	CHECK(count_runs(f) > (many > 20000 ? 5000 : 1000));
	history_file_close(f);
}

static void
file_write(const char *text, size_t n)
{
	int fd = open(FILE_NAME, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	CHECK_INT(write(fd, text, n), (long long)n);
	close(fd);
}

/* Damage, another program's file, no directory: the history begins anew. */
static void
test_damage(void)
{
	static char noise[65536];
	struct run_key key = key_of("alpha", 1, history_now() / 1000);
	struct history_status st;
	size_t i;
	int fd;

	for (i = 0; i < sizeof(noise); i++)
		noise[i] = (char)(i * 7919 >> 3);
	history_file_remove(FILE_NAME);
	file_write(noise, sizeof(noise));
	begin(30, 1 << 26);
	history_note(submitter.history, &key, HISTORY_STORED, 0, 1);
	CHECK(strstr(ask("", 1), ": 2\n") != NULL);
	history_status(submitter.history, &st);
	CHECK_INT(st.begun_anew, 1);
	CHECK(st.error[0] != '\0');
	CHECK_INT(st.lost, 0);
	end();

	/* the first page is valid, the others are not */
	fd = open(FILE_NAME, O_WRONLY);
	CHECK_INT(pwrite(fd, noise, 16384, 4096), 16384);
	close(fd);
	begin(30, 1 << 26);
	history_note(submitter.history, &key, HISTORY_START_SENT, 0, 0);
	ask("", 1);
	history_status(submitter.history, &st);
	CHECK_INT(st.begun_anew, 1);
	end();
	history_file_remove(FILE_NAME);

	/* a path that cannot be made: events are counted as lost */
	submitter.w = &worker;
	submitter.history = history_new(&submitter, "absent/history.db");
	history_conf(submitter.history, 30, 1 << 26);
	for (i = 0; i < 5000; i++)
		history_note(submitter.history, &key, HISTORY_START_SENT, 0, 0);
	CHECK_STR(ask("", 1), "");
	history_status(submitter.history, &st);
	CHECK_INT(st.lost, 5000);
	end();
}

static void
on_count(enum history_span span, int64_t t, const struct history_counts *c,
    void *arg)
{
	unsigned *n = arg;

	if (++*n > 1000) {
		CHECK(0); /* the walk does not end */
		exit(check_done());
	}
}

/*
 * A damaged byte can make a text of a time.  SQLite sorts a text behind each number,
 * and as a number it is 0: the row is behind itself.
 */
static void
test_damaged_time(void)
{
	struct history_status st;
	unsigned n = 0;
	sqlite3 *db;

	history_file_remove(FILE_NAME);
	begin(30, 1 << 26);
	history_count(submitter.history, COUNT_JOBS_IN, 1);
	end();
	CHECK_INT(sqlite3_open(FILE_NAME, &db), SQLITE_OK);
	CHECK_INT(sqlite3_exec(db, "INSERT INTO count VALUES (0, 'x', x'')",
		      NULL, NULL, NULL),
	    SQLITE_OK);
	sqlite3_close(db);
	begin(30, 1 << 26);
	history_counts_each(submitter.history, on_count, &n);
	CHECK(n >= 1);
	history_status(submitter.history, &st);
	CHECK_INT(st.begun_anew, 1);
	CHECK(strstr(st.error, "not in order") != NULL);
	end();
	history_file_remove(FILE_NAME);
}

static unsigned counted;
static uint64_t jobs_in, hook_n, end_n, starts, stops, rejected;

static void
on_counts(enum history_span span, int64_t t, const struct history_counts *c,
    void *arg)
{
	counted++;
	if (span == SPAN_HOUR) {
		jobs_in += c->n[COUNT_JOBS_IN];
		starts += c->n[COUNT_STARTS];
		stops += c->n[COUNT_STOPS];
		rejected += c->n[COUNT_REJECTED];
		hook_n += c->n[COUNT_HOOK_N];
		end_n += c->n[COUNT_END_N];
	}
	CHECK_INT(t % (span == SPAN_HOUR ? 3600 : 60), 0);
}

static void
test_counts(void)
{
	int64_t s = history_now() / 1000;
	struct run_key key = key_of("alpha", 5, s);
	unsigned i;

	history_file_remove(FILE_NAME);
	begin(30, 1 << 26);
	for (i = 0; i < 3; i++) {
		history_note(submitter.history, &key, HISTORY_STORED, 0, 1);
		key.job++;
	}
	history_counts_each(submitter.history, on_counts, NULL);
	CHECK(counted >= 2);
	CHECK_INT(jobs_in, 3);
	end();
	/* no history: nothing is kept, and no call fails */
	history_note(NULL, &key, HISTORY_STORED, 0, 1);
	history_count(NULL, COUNT_STARTS, 1);
	CHECK_INT(history_job(NULL, "", 5, on_run, NULL, 1), 0);
}

/* A start that is accepted twice has one latency. */
static void
test_latency(void)
{
	int64_t now = history_now();
	struct run_key key = key_of("alpha", 8, now / 1000);
	struct history *h;

	history_file_remove(FILE_NAME);
	begin(30, 1 << 26);
	h = submitter.history;
	hook_n = end_n = 0;
	history_hook(h, "alpha", 8, EVENT_START, now - 20);
	history_note(h, &key, HISTORY_STORED, STORED_RUNNING, 1);
	history_note(h, &key, HISTORY_START_TAKEN, 0, 0);
	history_note(h, &key, HISTORY_REPEATED, 0, 0);
	history_note(h, &key, HISTORY_START_TAKEN, 0, 0);
	history_note(h, &key, HISTORY_STOP_TAKEN, (uint64_t)key.start, 0);
	history_counts_each(h, on_counts, NULL);
	CHECK_INT(hook_n, 1);
	CHECK_INT(end_n, 1);
	end();
}

/* NATS counts where it is the only destination: a is not 0. */
static void
test_nats_counts(void)
{
	int64_t now = history_now();
	struct run_key key = key_of("alpha", 8, now / 1000);
	struct history *h;
	uint64_t both, only;

	history_file_remove(FILE_NAME);
	begin(30, 1 << 26);
	h = submitter.history;
	starts = stops = rejected = end_n = 0;
	history_note(h, &key, HISTORY_NATS_START, 0, 0);
	history_note(h, &key, HISTORY_NATS_STOP, 0, 0);
	history_note(h, &key, HISTORY_NATS_REJECTED, 0, 0);
	history_counts_each(h, on_counts, NULL);
	both = starts + stops + rejected;
	history_note(h, &key, HISTORY_NATS_START, 1, 0);
	history_note(h, &key, HISTORY_NATS_STOP, (uint64_t)key.start, 0);
	history_note(h, &key, HISTORY_NATS_REJECTED, 1, 0);
	history_counts_each(h, on_counts, NULL);
	only = starts + stops + rejected;
	CHECK_INT(both, 0);
	CHECK_INT(only, 3);
	CHECK_INT(end_n, 1);
	end();
}

/*
 * The poll has found a run and its end before the hooks were called.  The hooks
 * belong to the run; those of the next run do not.
 */
static void
test_late_hooks(void)
{
	int64_t now = history_now(), s = now / 1000 - 100;
	struct run_key key = key_of("alpha", 4715, s);

	begin(30, 1 << 26);
	history_note(submitter.history, &key, HISTORY_STORED, 0, 1);
	history_note(submitter.history, &key, HISTORY_ENDED, 0, 90);
	ask("alpha", 4715);
	CHECK(strstr(told, ": 2 4\n") != NULL);
	history_hook(submitter.history, "alpha", 4715, EVENT_START,
	    (s + 1) * 1000);
	history_hook(submitter.history, "alpha", 4715, EVENT_END,
	    (s + 91) * 1000);
	history_hook(submitter.history, "beta", 4715, EVENT_END,
	    (s + 91) * 1000);
	ask("alpha", 4715);
	CHECK(strstr(told, ": 2 4 1 1\n") != NULL);
	CHECK(strchr(told, '\n') == strrchr(told, '\n'));
	history_hook(submitter.history, "alpha", 4715, EVENT_START,
	    (s + 95) * 1000);
	ask("alpha", 4715);
	CHECK(strstr(told, "alpha/4715/0: 1\n") != NULL);
	key.start = s + 94;
	history_note(submitter.history, &key, HISTORY_STORED, 0, 1);
	ask("alpha", 4715);
	CHECK(strstr(told, "/0:") == NULL);
	CHECK(strstr(told, ": 1 2\n") != NULL);
	end();
}

/* The start is that of a record: the lowest 32 bits of it may be 0. */
static void
test_late_start(void)
{
	struct run_key key = key_of("alpha", 9, INT64_C(1) << 32);

	history_file_remove(FILE_NAME);
	begin(30, 1 << 26);
	history_hook(submitter.history, "alpha", 9, EVENT_START, history_now());
	alarm(60);
	history_note(submitter.history, &key, HISTORY_STORED, 0, 1);
	alarm(0);
	CHECK_STR(ask("alpha", 9), "alpha/9/4294967296: 2\n");
	end();
}

static struct history_counts hour;

static void
on_hour(enum history_span span, int64_t t, const struct history_counts *c,
    void *arg)
{
	if (span == SPAN_HOUR)
		counts_merge(&hour, c);
}

/* Writes the message and counts it. */
static int
slurm_times(const uint32_t *values, unsigned n)
{
	struct writer w;
	struct reader r;
	unsigned i;
	int rc;

	wr_init(&w, 64);
	for (i = 0; i < n; i++)
		wr_u32(&w, values[i]);
	rd_init(&r, w.buf, w.len);
	rc = history_slurm_times(submitter.history, &r);
	wr_clear(&w);
	return rc;
}

static void
test_slurm_times(void)
{
	uint32_t v[9] = { 60, 2, 530, 500, 180, 1, 7000, 7000, 0 };

	history_file_remove(FILE_NAME);
	begin(30, 1 << 26);
	CHECK_INT(slurm_times(v, 8), 0);
	v[2] = 10;
	v[3] = 10;
	CHECK_INT(slurm_times(v, 8), 0);
	/* Not counted: too short, too long, more seconds than can have passed */
	CHECK_INT(slurm_times(v, 7), -1);
	CHECK_INT(slurm_times(v, 9), -1);
	v[4] = SLURM_TIMES_AWAY_MAX + 1;
	CHECK_INT(slurm_times(v, 8), -1);
	history_counts_each(submitter.history, on_hour, NULL);
	CHECK_INT(hour.n[COUNT_CTLD_AWAY], 120);
	CHECK_INT(hour.n[COUNT_CTLD_N], 4);
	CHECK_INT(hour.n[COUNT_CTLD_MS], 540);
	CHECK_INT(hour.n[COUNT_CTLD_MS_MAX], 500);
	CHECK_INT(hour.n[COUNT_DBD_AWAY], 360);
	CHECK_INT(hour.n[COUNT_DBD_N], 2);
	CHECK_INT(hour.n[COUNT_DBD_MS], 14000);
	CHECK_INT(hour.n[COUNT_DBD_MS_MAX], 7000);
	end();
}

static int
timers(void)
{
	return event_base_get_num_events(worker.base, EVENT_BASE_COUNT_ADDED);
}

/* Without events no timer wakes the process. */
static void
test_idle(void)
{
	struct run_key key = key_of("alpha", 1, history_now() / 1000);

	begin(30, 1 << 26);
	CHECK_INT(timers(), 0);
	history_note(submitter.history, &key, HISTORY_STORED, STORED_RUNNING,
	    1);
	history_note(submitter.history, &key, HISTORY_START_SENT, 0, 0);
	CHECK_INT(timers(), 1);
	CHECK_INT(event_base_loop(worker.base, EVLOOP_ONCE), 0);
	CHECK_INT(timers(), 0);
	ask("alpha", 1);
	CHECK(strstr(told, ": 2 5\n") != NULL);
	end();
	history_file_remove(FILE_NAME);
}

/* A lower historyMaxBytes removes the oldest runs, and no other. */
static void
test_lower_limit(void)
{
	struct history_item item = { history_now(), HISTORY_STORED, 0, 1 };
	struct run_key key;
	struct history_file *f;
	char why[160] = "";
	unsigned i, many = 30000;

	f = history_file_open(FILE_NAME, 1 << 26, why, sizeof(why));
	CHECK(f != NULL);
	CHECK_INT(history_file_begin(f), 0);
	for (i = 0; i < many; i++) {
		key = key_of("alpha", 1000 + i, item.ms / 1000);
		CHECK_INT(history_file_add(f, &key, &item, 1), 0);
	}
	CHECK_INT(history_file_commit(f), 0);
	CHECK(history_file_bytes(f) > 3 << 19);
	history_file_close(f);
	begin(30, 1 << 20);
	for (i = 0; i < 200; i++) {
		key = key_of("beta", 1 + i, item.ms / 1000);
		history_note(submitter.history, &key, HISTORY_STORED, 0, 1);
	}
	CHECK(*ask("beta", 200) != '\0');
	CHECK(*ask("alpha", 1000 + many - 1) != '\0');
	CHECK_STR(ask("alpha", 1000), "");
	end();
	history_file_remove(FILE_NAME);
}

int
main(void)
{
	char dir[] = "/tmp/test_history.XXXXXX";

	log_init("test", LOG_LEVEL_FATAL);
	worker.base = event_base_new();
	umask(077);
	if (mkdtemp(dir) == NULL || chdir(dir) == -1)
		return 1;
	test_events();
	test_invalid_events();
	test_counters();
	test_hooks();
	test_idle();
	test_file();
	test_size();
	test_limits();
	test_damage();
	test_damaged_time();
	test_counts();
	test_latency();
	test_nats_counts();
	test_late_hooks();
	test_late_start();
	test_slurm_times();
	history_file_remove(FILE_NAME);
	test_lower_limit();
	history_file_remove(FILE_NAME);
	rmdir(dir);
	event_base_free(worker.base);
	libevent_global_shutdown();
	return check_done();
}
