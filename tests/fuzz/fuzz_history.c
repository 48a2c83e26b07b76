/* SPDX-License-Identifier: MIT */
/*
 * The history of runs: the bytes of a run's events and of a minute's counters, and a
 * damaged file.  The first byte selects one of the three.  A reader ends and keeps
 * its bounds, bytes that are valid are written back the same, and a damaged file
 * gives an error or rows within their bounds.
 */
#include "config.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <sqlite3.h>

#include "submitter/history/counters.h"
#include "submitter/history/events.h"
#include "submitter/history/file.h"
#include "tests/fuzz/fuzz.h"

#define T0	  INT64_C(1763733600000) /* ms */
#define RUNS	  8
#define ROWS_MAX  10000 /* of a damaged file */
#define GOOD_MAX  (256u * 1024)
#define MAX_BYTES (1024 * 1024)

static char dir[] = "/dev/shm/csa-fuzz-history.XXXXXX";
static char path[sizeof(dir) + 16];
static uint8_t good[GOOD_MAX];
static size_t good_len;

/* Returns 0, or -1 when the bytes are not valid. */
static int
events_hold(const struct history_events *e)
{
	struct history_item item = { .ms = 0 };
	size_t at = 0, before = 0;
	int rc;

	HOLDS(e->len <= sizeof(e->bytes));
	while ((rc = history_events_next(e, &at, &item)) == 1) {
		HOLDS(at > before && at <= e->len);
		HOLDS(item.event > HISTORY_NONE && item.event < HISTORY__COUNT);
		HOLDS(item.ms >= 0);
		before = at;
	}
	return rc;
}

/* An event that was added to any bytes: all bytes are valid then. */
static void
bytes_hold(const uint8_t *p, size_t n)
{
	struct history_events e = { .len = 0 };
	struct history_item item = { .ms = T0 };
	size_t len = n < sizeof(e.bytes) ? n : sizeof(e.bytes), i;

	memcpy(e.bytes, p, len);
	e.len = len;
	events_hold(&e);
	for (i = 0; i + 2 < n; i += 3) {
		item.event = (enum history_event)(
		    1 + p[i] % (HISTORY__COUNT - 1));
		item.ms += p[i + 1] - 128;
		item.a = p[i + 2];
		if (history_events_add(&e, &item))
			HOLDS(events_hold(&e) == 0);
	}
}

static void
counts_hold(const uint8_t *p, size_t n)
{
	struct history_counts c = { { 0 } }, again = { { 0 } };
	uint8_t buf[COUNTS_BYTES_MAX];
	char *copy = exact(p, n);
	size_t len;

	if (counts_read(&c, (const uint8_t *)copy, n) == 0) {
		len = counts_write(&c, buf);
		HOLDS(len <= sizeof(buf));
		HOLDS(counts_read(&again, buf, len) == 0);
		HOLDS(memcmp(&c, &again, sizeof(c)) == 0);
	}
	free(copy);
}

static void
key_make(struct run_key *key, uint64_t job)
{
	memset(key, 0, sizeof(*key));
	strcpy(key->cluster, "alpha");
	key->job = job;
	key->start = T0 / 1000;
}

static int
run_add(struct history_file *f, uint64_t job)
{
	const struct history_item items[] = {
		{ T0 + (int64_t)job, HISTORY_STORED, STORED_RUNNING, 2 },
		{ T0 + 1000, HISTORY_RETRY, 503, 1 },
		{ T0 + 2000, HISTORY_START_TAKEN, 0, 0 },
	};
	struct run_key key;

	key_make(&key, job);
	return history_file_add(f, &key, items,
	    sizeof(items) / sizeof(items[0]));
}

static int
minute_add(struct history_file *f, int64_t t)
{
	struct history_counts c = { { 0 } };

	counts_add(&c, COUNT_JOBS_IN, 7);
	counts_add(&c, COUNT_HOOK_MS_MAX, 300);
	return history_file_count(f, SPAN_MINUTE, t, &c);
}

static void
files_remove(void)
{
	history_file_remove(path);
}

static void
dir_remove(void)
{
	files_remove();
	rmdir(dir);
}

static void
prepare(void)
{
	struct history_file *f;
	char reason[256];
	uint64_t i;
	ssize_t n;
	int fd;

	HOLDS(mkdtemp(dir) != NULL);
	atexit(dir_remove);
	snprintf(path, sizeof(path), "%s/history.db", dir);
	f = history_file_open(path, MAX_BYTES, reason, sizeof(reason));
	HOLDS(f != NULL && history_file_begin(f) == 0);
	for (i = 1; i <= RUNS; i++)
		HOLDS(run_add(f, i) == 0 &&
		    minute_add(f, T0 / 1000 + (int64_t)i * 60) == 0);
	HOLDS(history_file_commit(f) == 0);
	history_file_close(f);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = read(fd, good, sizeof(good));
	HOLDS(n > 0 && (size_t)n < sizeof(good));
	good_len = (size_t)n;
	close(fd);
}

/* 24 bits of offset, a length, the bytes; over and over. */
static void
file_write(const uint8_t *p, size_t n)
{
	static uint8_t file[GOOD_MAX];
	size_t at, len;
	int fd;

	memcpy(file, good, good_len);
	while (n > 4) {
		at = ((size_t)p[0] << 16 | (size_t)p[1] << 8 | p[2]) % good_len;
		len = 1 + p[3] % 16;
		p += 4;
		n -= 4;
		for (; len > 0 && n > 0 && at < good_len; len--, n--)
			file[at++] = *p++;
	}
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	HOLDS(fd != -1 && write(fd, file, good_len) == (ssize_t)good_len);
	close(fd);
}

static void
runs_read(struct history_file *f, uint64_t job)
{
	struct history_events e = { .len = 0 };
	struct run_key key;
	int64_t after = -1;
	unsigned n = 0;

	while (history_file_next(f, "", job, &after, &key, &e) == 1) {
		HOLDS(++n <= ROWS_MAX);
		HOLDS(memchr(key.cluster, '\0', sizeof(key.cluster)) != NULL);
		HOLDS(key.job == job);
		events_hold(&e);
	}
}

static void
counts_each(struct history_file *f)
{
	struct history_counts c;
	int64_t t = -1;
	unsigned n = 0;

	while (history_file_count_next(f, SPAN_MINUTE, &t, &c) == 1)
		HOLDS(++n <= ROWS_MAX);
}

static void
file_holds(void)
{
	struct history_file *f;
	struct run_key key;
	char reason[256] = "";
	uint64_t i;

	f = history_file_open(path, MAX_BYTES, reason, sizeof(reason));
	if (f == NULL) {
		HOLDS(*reason != '\0');
		return;
	}
	for (i = 1; i <= RUNS; i++)
		runs_read(f, i);
	counts_each(f);
	key_make(&key, 1);
	/* As the history does: after an error the file is not used. */
	if (history_file_begin(f) == 0 && run_add(f, 2) == 0 &&
	    minute_add(f, T0 / 1000 + 60) == 0 &&
	    history_file_move(f, &key, key.start + 1) == 0 &&
	    history_file_age(f, T0 + 3) == 0)
		(void)history_file_commit(f);
	HOLDS(history_file_error(f) != NULL);
	(void)history_file_bytes(f);
	(void)history_file_runs(f);
	history_file_close(f);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	fuzz_quiet();
	if (good_len == 0)
		prepare();
	if (n < 1)
		return 0;
	if (bytes[0] % 3 == 0)
		bytes_hold(bytes + 1, n - 1);
	else if (bytes[0] % 3 == 1)
		counts_hold(bytes + 1, n - 1);
	else {
		files_remove();
		file_write(bytes + 1, n - 1);
		file_holds();
	}
	return 0;
}
