/* SPDX-License-Identifier: MIT */
/*
 * Every path of every recorded JSON document is deleted once, and given values
 * of every other type: that costs at most what stood there, of that job alone,
 * and the reader says which field it lacks.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "collector/parse/json_read.h"
#include "tests/unit/check.h"
#include "tests/unit/dump_record.h"
#include "tests/unit/recording.h"

#define PATHS_MAX	4096
#define PATH_BYTES	256
#define DEPTH_MAX	12
#define ELEMENTS_MAX	256
/* Lines of the record that one field may change, but for those in `wide`. */
#define LINES_MAX	2

struct kind {
	const char	*file;
	enum record_verdict (*read)(struct span, const struct json_reading *,
	    struct job_snapshot *);
};

/* What a job cannot do without: it is left to the text reader, which is said. */
static const char *const needed[] = { "job_id", "job_state", "start_time",
	"end_time", "state", "time", "job_resources", NULL };
/* One field is many lines: the state decides what is read at all. */
static const char *const wide[] = { "job_state", "state", "job_resources",
	"tres", "tres_alloc_str", "gres_detail", "array", "het", NULL };
/* Their absence is no fault in some version, and changes nothing there. */
static const char *const may_lack[] = { "restart_cnt", NULL };

static struct recorded_hosts hosts;
static char		paths[PATHS_MAX][PATH_BYTES];
static size_t		n_paths;
static char		named[128];	/* what the reader lacks */
static unsigned		n_named, mutants, lost;
static const char	*version;
static const struct kind *now;

/* The document, and its elements therein. */
static char		*doc;
static size_t		doc_len;
static struct span	elements[ELEMENTS_MAX];
static size_t		n_elements;

static void
on_lack(uint64_t job, const char *field, void *arg)
{
	n_named++;
	snprintf(named, sizeof(named), "%s", field);
}

static struct gres_names gpus;
static struct read_options how = { .gpus = &gpus, .opt_out_word = "keep_away",
	.device = recording_device };
static struct json_reading json_how = { .how = &how, .shape = recording_shape,
	.lacks = on_lack, .arg = &hosts };

/* Is path one of these, or inside it? */
static int
is_one_of(const char *path, const char *const *list)
{
	size_t n;

	for (; *list != NULL; list++) {
		n = strlen(*list);
		if (strncmp(path, *list, n) == 0 && (path[n] == '\0' ||
		    path[n] == '.' || path[n] == '['))
			return 1;
	}
	return 0;
}

/* How many lines of two records differ. */
static unsigned
lines_changed(const char *a, const char *b)
{
	unsigned n = 0;
	size_t la, lb;

	while (*a != '\0' || *b != '\0') {
		la = strcspn(a, "\n");
		lb = strcspn(b, "\n");
		if (la != lb || memcmp(a, b, la) != 0)
			n++;
		a += la + (a[la] != '\0');
		b += lb + (b[lb] != '\0');
	}
	return n;
}

static enum record_verdict
read_into(struct dump *d, const char *p, size_t n)
{
	/* Of its exact size, so that a read beyond it is found. */
	char *copy = malloc(n);
	struct job_snapshot s;
	enum record_verdict verdict;

	memcpy(copy, p, n);
	n_named = 0;
	snapshot_init(&s);
	verdict = now->read((struct span){ copy, n }, &json_how, &s);
	d->text[0] = '\0';
	if (verdict == RECORD_GOOD)
		dump_record(d, &s, 0);
	snapshot_clear(&s);
	free(copy);
	return verdict;
}

static void
complain(const char *what, const char *path, const char *with,
    const struct dump *was, const struct dump *is)
{
	fprintf(stderr, "%s %s: %s = %s: %s (%u named, last %s)\n", version,
	    now->file, path, with, what, n_named, n_named > 0 ? named : "-");
	if (getenv("VERBOSE") != NULL)
		fprintf(stderr, "--- was\n%s--- is\n%s", was->text, is->text);
	CHECK(0);
}

/*
 * May it be absent, or unset, without a word?  Null is how some write "none",
 * an empty array how others say that nobody shares a node, 0 is the name of
 * no reservation in 22.05.
 */
static int
is_quiet(const char *path, const char *with)
{
	return strcmp(with, "null") == 0 || is_one_of(path, may_lack) ||
	    (strcmp(with, "[]") == 0 && strcmp(path, "shared") == 0) ||
	    (strcmp(with, "\"text\"") == 0 &&
	    strcmp(path, "reservation.name") == 0);
}

static void
judge(const char *path, const char *with, enum record_verdict verdict,
    const struct dump *was, const struct dump *is)
{
	unsigned changed;

	if (verdict != RECORD_GOOD) {
		lost++;
		if (!is_one_of(path, needed))
			complain("costs the job", path, with, was, is);
		else if (n_named == 0)
			complain("costs the job, silently", path, with, was, is);
		return;
	}
	changed = lines_changed(was->text, is->text);
	if (changed > 0 && n_named == 0 && !is_quiet(path, with))
		complain("changes the record, silently", path, with, was, is);
	if (changed > LINES_MAX && !is_one_of(path, wide))
		complain("changes more than its field", path, with, was, is);
}

struct others {
	size_t	at;
	size_t	changed;	/* the place of the element that may differ */
	int	wrong;
};

static int
on_beside(struct span element, void *arg)
{
	struct others *o = arg;

	if (o->at >= n_elements || (o->at != o->changed &&
	    (element.n != elements[o->at].n ||
	    memcmp(element.p, elements[o->at].p, element.n) != 0)))
		o->wrong = 1;
	o->at++;
	return 0;
}

/* The other elements of a document with this mutant in it are what they were. */
static void
check_others(const char *path, size_t which, const char *mutant, size_t n)
{
	static const struct json_split_ops ops = { on_beside, NULL, NULL };
	struct others o = { .changed = which };
	struct json_split *split = json_split_new("jobs", 1024 * 1024, &ops,
	    &o);
	const char *at = elements[which].p, *end = at + elements[which].n;

	CHECK_INT(json_split_feed(split, doc, (size_t)(at - doc)), 0);
	CHECK_INT(json_split_feed(split, mutant, n), 0);
	CHECK_INT(json_split_feed(split, end, (size_t)(doc + doc_len - end)),
	    0);
	CHECK_INT(json_split_end(split), 0);
	json_split_free(split);
	if (o.wrong || o.at != n_elements)
		fprintf(stderr, "%s %s: %s changes other jobs\n", version,
		    now->file, path);
	CHECK(!o.wrong);
	CHECK_INT(o.at, n_elements);
}

/* Puts `with` in the place of [at, at + len) of the element. */
static void
mutate(size_t which, const char *path, const char *at, size_t len,
    const char *with, const struct dump *was, int whole)
{
	static struct dump is;
	struct span element = elements[which];
	size_t head = (size_t)(at - element.p), n = strlen(with);
	size_t tail = element.n - head - len;
	char *buf = malloc(element.n + n + 1);
	enum record_verdict verdict;

	memcpy(buf, element.p, head);
	memcpy(buf + head, with, n);
	memcpy(buf + head + n, at + len, tail);
	verdict = read_into(&is, buf, head + n + tail);
	judge(path, with, verdict, was, &is);
	if (whole)
		check_others(path, which, buf, head + n + tail);
	free(buf);
	mutants++;
}

/* 1 the first time that a path is met with a value of this kind. */
static int
path_new(const char *path, enum json_kind kind)
{
	char text[PATH_BYTES];
	size_t i;

	snprintf(text, sizeof(text), "%s %d", path, (int)kind);
	for (i = 0; i < n_paths; i++)
		if (strcmp(paths[i], text) == 0)
			return 0;
	CHECK(n_paths < PATHS_MAX);
	if (n_paths < PATHS_MAX)
		memcpy(paths[n_paths++], text, sizeof(text));
	return 1;
}

/* A value of each other type, and of its own that nobody has seen. */
static void
mutate_value(size_t which, const char *path, struct span value,
    const struct dump *was)
{
	static const struct {
		const char	*text;
		enum json_kind	 kind;
	} values[] = {
		{ "null", JSON_NULL }, { "true", JSON_BOOL },
		{ "-1", JSON_NUMBER }, { "\"text\"", JSON_STRING },
		{ "[]", JSON_ARRAY }, { "{}", JSON_OBJECT },
		{ "99999999999999999999", JSON_NUMBER },
		{ "[[[]]]", JSON_ARRAY },
		{ "{\"set\":true,\"infinite\":false,\"number\":\"x\"}",
		    JSON_OBJECT },
	};
	enum json_kind kind = json_kind(value);
	size_t i;

	for (i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		/* Another value of the same type, or a text for none, is no fault. */
		if (values[i].kind != kind && (kind != JSON_NULL ||
		    values[i].kind != JSON_STRING))
			mutate(which, path, value.p, value.n, values[i].text,
			    was, i == 4);
}

static void walk(size_t which, const char *path, struct span value,
    const struct dump *was, int depth);

static void
walk_object(size_t which, const char *path, struct span object,
    const struct dump *was, int depth)
{
	struct json_iter it;
	struct span key, value, raw;
	char inner[PATH_BYTES];

	json_iter_object(&it, object);
	while (json_member(&it, &key, &value)) {
		raw = key;
		if (raw.n > 0 && raw.p[0] >= '0' && raw.p[0] <= '9')
			raw = (struct span){ "#", 1 };	/* 22.05's sockets */
		snprintf(inner, sizeof(inner), "%s%s%.*s", path,
		    *path != '\0' ? "." : "", (int)raw.n, raw.p);
		/* Another name is as good as none. */
		if (path_new(inner, json_kind(value))) {
			mutate(which, inner, key.p, key.n, "renamed", was, 1);
			mutate_value(which, inner, value, was);
		}
		walk(which, inner, value, was, depth + 1);
	}
}

static void
walk(size_t which, const char *path, struct span value,
    const struct dump *was, int depth)
{
	struct json_iter it;
	struct span item;
	char inner[PATH_BYTES];

	if (depth > DEPTH_MAX)
		return;
	if (json_kind(value) == JSON_OBJECT)
		walk_object(which, path, value, was, depth);
	if (json_kind(value) != JSON_ARRAY)
		return;
	snprintf(inner, sizeof(inner), "%s[]", path);
	json_iter_array(&it, value);
	while (json_item(&it, &item)) {
		if (path_new(inner, json_kind(item)))
			mutate_value(which, inner, item, was);
		walk(which, inner, item, was, depth + 1);
	}
}

static int
on_element(struct span element, void *arg)
{
	/* It lies in the splitter's buffer: find it in the document. */
	const char *from = n_elements > 0 ? elements[n_elements - 1].p +
	    elements[n_elements - 1].n : doc;
	const char *at = memmem(from, (size_t)(doc + doc_len - from),
	    element.p, element.n);

	CHECK(at != NULL && n_elements < ELEMENTS_MAX);
	if (at != NULL && n_elements < ELEMENTS_MAX)
		elements[n_elements++] = (struct span){ at, element.n };
	return 0;
}

static void
test_file(const struct kind *r)
{
	static const struct json_split_ops ops = { on_element, NULL, NULL };
	static struct dump was;
	struct json_split *split = json_split_new("jobs", 1024 * 1024, &ops,
	    NULL);
	size_t i, cut;

	now = r;
	n_paths = n_elements = 0;
	mutants = lost = 0;
	doc = recording_read(version, r->file, &doc_len);
	CHECK_INT(json_split_feed(split, doc, doc_len), 0);
	json_split_free(split);
	for (i = 0; i < n_elements; i++) {
		CHECK_INT(read_into(&was, elements[i].p, elements[i].n),
		    RECORD_GOOD);
		CHECK_INT(n_named, 0);
		walk(i, "", elements[i], &was, 0);
	}
	/* And cut off anywhere. */
	for (cut = 1; cut < elements[0].n; cut += 7)
		CHECK(read_into(&was, elements[0].p, cut) != RECORD_GOOD);
	printf("%s %s: %zu jobs, %zu paths, %u mutants, %u no job any more\n",
	    version, r->file, n_elements, n_paths, mutants, lost);
	CHECK(n_paths > 50);
	free(doc);
}

int
main(void)
{
	static const char *const versions[] = { "22.05", "24.11", "26.05" };
	static const struct kind readers[] = {
		{ "job.json", json_job }, { "acct.json", json_acct },
	};
	size_t i, k;

	gres_names_set(&gpus, "[\"gpu\"]");
	for (i = 0; i < 3; i++) {
		version = versions[i];
		recording_hosts(version, "node.txt", &hosts);
		for (k = 0; k < 2; k++)
			test_file(&readers[k]);
	}
	return check_done();
}
