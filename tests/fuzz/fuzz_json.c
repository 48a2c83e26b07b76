/* SPDX-License-Identifier: MIT */
/*
 * Slurm's JSON: split in pieces as whole, every element through both readers,
 * and where jansson takes the document too, both must see the same in it.
 */
#include "config.h"

#include "collector/parse/json_read.h"
#include "tests/fuzz/sighting.h"
#include "tests/fuzz/twin.h"

#define ELEMENT_MAX	(64u * 1024)
#define NUMBER_SURE	INT64_C(900000000000000000)	/* digits that fit for sure */

struct document {
	struct json_split *split;
	uint64_t	 digest;
	size_t		 elements;
	const struct twin *twin;	/* jobs[] as jansson has it, or NULL */
	int		 read;		/* every element goes through the readers */
};

static int
shape_of(const char *host, struct node_shape *shape, void *arg)
{
	size_t n = strlen(host);

	shape->sockets = (uint16_t)(1 + n % 3);
	shape->cores = 8;
	shape->threads = (uint16_t)(1 + n % 2);
	return n % 7 == 6 ? -1 : 0;
}

static void
on_lack(uint64_t job, const char *field, void *arg)
{
	HOLDS(field != NULL && *field != '\0');
}

static const struct json_reading *
reading(void)
{
	static struct json_reading how = { .shape = shape_of,
		.lacks = on_lack };

	how.how = fuzz_reading();
	return &how;
}

static void
element_read(struct span element)
{
	char *copy = exact(element.p, element.n);
	struct span own = { copy, element.n };
	struct job_snapshot s;

	snapshot_init(&s);
	if (json_job(own, reading(), &s) == RECORD_GOOD)
		sighting_holds(&s);
	snapshot_clear(&s);
	snapshot_init(&s);
	if (json_acct(own, reading(), &s) == RECORD_GOOD)
		sighting_holds(&s);
	snapshot_clear(&s);
	free(copy);
}

static void
string_same(struct span value, const struct twin *twin)
{
	char *ours = json_text(value, ELEMENT_MAX), *theirs = NULL;
	const char *text;
	size_t n;

	text = twin_text(twin, &n);
	if (n > 0)
		theirs = text_clean(text, n, ELEMENT_MAX);
	HOLDS((ours == NULL) == (theirs == NULL));
	HOLDS(ours == NULL || strcmp(ours, theirs) == 0);
	free(ours);
	free(theirs);
}

static void value_same(struct span value, const struct twin *twin);

static void
object_same(struct span value, const struct twin *twin)
{
	struct json_iter it;
	struct span key, member, again;
	char name[128];
	size_t n = 0;

	json_iter_object(&it, value);
	while (json_member(&it, &key, &member)) {
		n++;
		if (memchr(key.p, '\\', key.n) != NULL ||
		    key.n >= sizeof(name))
			continue;
		memcpy(name, key.p, key.n);
		name[key.n] = '\0';
		HOLDS(json_get(value, name, &again) == json_kind(member));
		HOLDS(again.p == member.p && again.n == member.n);
		value_same(member, twin_member(twin, name));
	}
	HOLDS(!it.err && n == twin_size(twin));
}

static void
array_same(struct span value, const struct twin *twin)
{
	struct json_iter it;
	struct span item;
	size_t n = 0;

	json_iter_array(&it, value);
	while (json_item(&it, &item))
		value_same(item, twin_item(twin, n++));
	HOLDS(!it.err && n == twin_size(twin));
}

static void
integer_same(struct span value, int64_t n)
{
	int64_t v;

	if (n > -NUMBER_SURE && n < NUMBER_SURE)
		HOLDS(json_number(value, &v) == JSON_NUMBER_SET && v == n);
}

static void
value_same(struct span value, const struct twin *twin)
{
	HOLDS(twin != NULL);
	switch (twin_kind(twin)) {
	case TWIN_NULL:
		HOLDS(json_kind(value) == JSON_NULL);
		break;
	case TWIN_BOOL:
		HOLDS(json_kind(value) == JSON_BOOL && json_truth(value) != -1);
		break;
	case TWIN_INTEGER:
		integer_same(value, twin_integer(twin));
		break;
	case TWIN_REAL:
		HOLDS(json_kind(value) == JSON_NUMBER);
		break;
	case TWIN_STRING:
		HOLDS(json_kind(value) == JSON_STRING);
		string_same(value, twin);
		break;
	case TWIN_ARRAY:
		array_same(value, twin);
		break;
	case TWIN_OBJECT:
		object_same(value, twin);
		break;
	}
}

static int
on_element(struct span element, void *arg)
{
	struct document *d = arg;

	d->digest = digest(d->digest, element.p, element.n);
	d->digest = digest(d->digest, ",", 1);
	if (d->read)
		element_read(element);
	if (d->twin != NULL)
		value_same(element, twin_item(d->twin, d->elements));
	d->elements++;
	return 0;
}

static void
on_member(struct span key, struct span value, void *arg)
{
	struct document *d = arg;

	d->digest = digest(d->digest, key.p, key.n);
	d->digest = digest(d->digest, value.p, value.n);
}

static void
on_too_long(size_t n, void *arg)
{
	struct document *d = arg;

	d->digest = digest(d->digest, &n, sizeof(n));
}

static int
feed(const char *p, size_t n, void *arg)
{
	struct document *d = arg;

	return json_split_feed(d->split, p, n);
}

static void
document_init(struct document *d, size_t max)
{
	static const struct json_split_ops ops = { on_element, on_member,
		on_too_long };

	memset(d, 0, sizeof(*d));
	d->split = json_split_new("jobs", max, &ops, d);
	HOLDS(d->split != NULL);
}

/* Whole and in pieces it is the same, also when elements are too long. */
static void
pieces_hold(const uint8_t *bytes, size_t n, size_t max)
{
	struct document whole, pieces;
	int rc;

	document_init(&whole, max);
	document_init(&pieces, max);
	whole.read = 1;
	rc = feed((const char *)bytes, n, &whole);
	HOLDS(fuzz_pieces(bytes, n, feed, &pieces) == rc);
	HOLDS(whole.digest == pieces.digest);
	HOLDS(whole.elements == pieces.elements);
	HOLDS(json_split_end(whole.split) == json_split_end(pieces.split));
	json_split_free(whole.split);
	json_split_free(pieces.split);
}

static void
twin_holds(const uint8_t *bytes, size_t n)
{
	struct twin *root;
	struct document d;

	/* jansson overlooks a NUL behind a number. */
	if (n == 0 || memchr(bytes, '\0', n) != NULL ||
	    (root = twin_load(bytes, n)) == NULL)
		return;
	/* Ours takes a document, and no other value, no deeper than it says. */
	if (twin_kind(root) != TWIN_OBJECT || twin_depth(root) > JSON_DEPTH_MAX)
		goto done;
	document_init(&d, ELEMENT_MAX);
	d.twin = twin_member(root, "jobs");
	/* No key of Slurm's is written with escapes: such a one is not seen. */
	if (d.twin != NULL && memmem(bytes, n, "\"jobs\"", 6) == NULL)
		d.twin = NULL;
	if (d.twin != NULL && twin_kind(d.twin) != TWIN_ARRAY)
		d.twin = NULL;
	HOLDS(feed((const char *)bytes, n, &d) == 0);
	if (d.twin != NULL) {
		HOLDS(json_split_end(d.split) == 0);
		HOLDS(d.elements == twin_size(d.twin));
	}
	json_split_free(d.split);
done:
	twin_free(root);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	fuzz_quiet();
	pieces_hold(bytes, n, ELEMENT_MAX);
	pieces_hold(bytes, n, 100);
	twin_holds(bytes, n);
	return 0;
}
