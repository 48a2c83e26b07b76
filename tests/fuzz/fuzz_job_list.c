/* SPDX-License-Identifier: MIT */
/* Listings of cc-backend: whole, in pieces, and as jansson reads them. */
#include "config.h"

#include "submitter/backend/job_list_parser.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/twin.h"

struct rows {
	struct job_list_parser parser;
	uint64_t digest;
	unsigned good;
	const struct twin *twin; /* jobs[] as jansson has it, or NULL */
};

/* The member as text, when it is one that a row can hold. */
static int
text_of(const struct twin *row, const char *key, size_t max, const char **s)
{
	const struct twin *v = twin_member(row, key);
	size_t n;

	if (v == NULL || twin_kind(v) != TWIN_STRING)
		return 0;
	*s = twin_text(v, &n);
	return n < max && strlen(*s) == n;
}

static int
number_of(const struct twin *row, const char *key, int64_t *n)
{
	const struct twin *v = twin_member(row, key);

	if (v == NULL || twin_kind(v) != TWIN_INTEGER)
		return 0;
	*n = twin_integer(v);
	return *n >= 0;
}

static void
row_same(const struct backend_job *row, const struct twin *twin)
{
	const char *s;
	int64_t n;

	HOLDS(twin != NULL);
	if (number_of(twin, "jobId", &n))
		HOLDS(row->key.job == (uint64_t)n);
	if (number_of(twin, "startTime", &n))
		HOLDS(row->key.start == n);
	if (number_of(twin, "id", &n))
		HOLDS(row->id == n);
	if (text_of(twin, "cluster", sizeof(row->key.cluster), &s))
		HOLDS(strcmp(s, row->key.cluster) == 0);
	if (text_of(twin, "jobState", sizeof(row->state), &s))
		HOLDS(strcmp(s, row->state) == 0);
}

/* Would a strict reader find job, start and cluster in it? */
static int
is_whole(const struct twin *row)
{
	const char *s;
	int64_t n;

	return twin_kind(row) == TWIN_OBJECT && number_of(row, "jobId", &n) &&
	    number_of(row, "startTime", &n) &&
	    text_of(row, "cluster", CLUSTER_MAX, &s);
}

static void
on_row(const struct backend_job *row, void *arg)
{
	struct rows *rows = arg;

	HOLDS(memchr(row->key.cluster, '\0', CLUSTER_MAX) != NULL);
	HOLDS(memchr(row->state, '\0', sizeof(row->state)) != NULL);
	HOLDS(row->key.start >= 0 && row->id >= 0);
	rows->digest = digest(rows->digest, row, sizeof(*row));
	rows->good++;
}

/* The i-th object of an array; NULL when there are fewer. */
static const struct twin *
object_at(const struct twin *array, size_t i)
{
	size_t k;

	for (k = 0; k < twin_size(array); k++)
		if (twin_kind(twin_item(array, k)) == TWIN_OBJECT && i-- == 0)
			return twin_item(array, k);
	return NULL;
}

static void
on_twin_row(const struct backend_job *row, void *arg)
{
	struct rows *rows = arg;

	rows->good++;
	HOLDS(rows->parser.rows > 0);
	row_same(row, object_at(rows->twin, rows->parser.rows - 1));
}

static int
feed(const char *p, size_t n, void *arg)
{
	struct rows *rows = arg;

	return job_list_parser_feed(&rows->parser, p, n);
}

static void
rows_init(struct rows *rows, job_list_row_fn *fn)
{
	memset(rows, 0, sizeof(*rows));
	job_list_parser_init(&rows->parser, fn, rows);
}

static void
pieces_hold(const uint8_t *bytes, size_t n)
{
	struct rows whole, pieces;
	int rc;

	rows_init(&whole, on_row);
	rows_init(&pieces, on_row);
	rc = feed((const char *)bytes, n, &whole);
	HOLDS(fuzz_pieces(bytes, n, feed, &pieces) == rc);
	HOLDS(job_list_parser_end(&whole.parser) ==
	    job_list_parser_end(&pieces.parser));
	HOLDS(whole.digest == pieces.digest && whole.good == pieces.good);
	HOLDS(whole.parser.rows == whole.good + whole.parser.bad);
	HOLDS(whole.parser.rows == pieces.parser.rows);
}

/* Objects of an array, or only those that are rows to a strict reader. */
static size_t
objects(const struct twin *array, int whole)
{
	size_t i, n = 0;

	for (i = 0; i < twin_size(array); i++)
		n += whole ? is_whole(twin_item(array, i)) :
			     twin_kind(twin_item(array, i)) == TWIN_OBJECT;
	return n;
}

static void
twin_holds(const uint8_t *bytes, size_t n)
{
	struct twin *root = twin_load(bytes, n);
	struct rows rows;

	if (root == NULL)
		return;
	rows_init(&rows, on_twin_row);
	if (twin_kind(root) != TWIN_OBJECT ||
	    twin_depth(root) > JOB_LIST_DEPTH_MAX ||
	    (rows.twin = twin_member(root, "jobs")) == NULL ||
	    twin_kind(rows.twin) != TWIN_ARRAY ||
	    /* jansson overlooks a NUL behind a number. */
	    memchr(bytes, '\0', n) != NULL)
		goto done;
	HOLDS(feed((const char *)bytes, n, &rows) == 0);
	HOLDS(job_list_parser_end(&rows.parser) == 0);
	HOLDS(rows.parser.rows == objects(rows.twin, 0));
	HOLDS(rows.good >= objects(rows.twin, 1));
done:
	twin_free(root);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	fuzz_quiet();
	pieces_hold(bytes, n);
	twin_holds(bytes, n);
	return 0;
}
