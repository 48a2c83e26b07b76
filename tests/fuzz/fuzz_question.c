/* SPDX-License-Identifier: MIT */
/*
 * What the collector sends to the runner.  A question that the runner accepts
 * gives the words of its kind: each argument is matched with its word again, so
 * that no other byte of the collector reaches a command.
 */
#include "config.h"

#include "common/question/question.h"
#include "tests/fuzz/fuzz.h"

#define PROGRAM	   "/opt/slurm/bin/command"
#define CLUSTER	   "beta"
#define USER	   "operator"
#define SOCKET	   "/run/munge/munge.socket.2"
#define ONE_ARG	   131072 /* bytes that the kernel allows, with the NUL */
#define DIGITS	   "0123456789"
#define DIGITS_MAX 12 /* of a time until 9999 */
#define ID_DIGITS  10

static size_t
digits_match(const char *arg, size_t most)
{
	size_t n = strspn(arg, DIGITS);

	HOLDS(n > 0 && n <= most && (arg[0] != '0' || n == 1));
	return n;
}

/* Job ids with commas between them. */
static size_t
ids_match(const char *arg, const struct id_list *list)
{
	const char *p = arg;
	size_t i;

	for (i = 0; i < list->n; i++) {
		if (i > 0)
			HOLDS(*p++ == ',');
		HOLDS(*p != '0');
		HOLDS(strtoull(p, NULL, 10) == list->ids[i]);
		p += digits_match(p, ID_DIGITS);
	}
	return (size_t)(p - arg);
}

static size_t
columns_match(const char *arg, uint32_t lacking)
{
	const char *p = arg, *name;
	int i;

	for (i = 0; i < SACCT__COUNT; i++) {
		if (i > 0)
			HOLDS(*p++ == ',');
		name = sacct_column_name(
		    lacking >> i & 1 ? SACCT_JOB_ID_RAW : i);
		HOLDS(strncmp(p, name, strlen(name)) == 0);
		p += strlen(name);
	}
	return (size_t)(p - arg);
}

static size_t
text_match(const char *arg, const char *text)
{
	HOLDS(strncmp(arg, text, strlen(text)) == 0);
	return strlen(text);
}

/* The value of one name at the start of arg.  Returns its length. */
static size_t
value_match(const struct question *q, const char *name, size_t len,
    const char *arg)
{
	static const struct {
		const char *name;
		enum {
			ID,
			IDS,
			TIME,
			COLUMNS,
			DELIMITER,
			WHO,
			WHERE
		} type;
	} values[] = { { "id", ID }, { "ids", IDS }, { "from", TIME },
		{ "to", TIME }, { "columns", COLUMNS },
		{ "delimiter", DELIMITER }, { "user", WHO },
		{ "socket", WHERE } };
	size_t i = 0;

	while (strlen(values[i].name) != len ||
	    strncmp(values[i].name, name, len) != 0)
		HOLDS(++i < sizeof(values) / sizeof(values[0]));
	switch (values[i].type) {
	case ID:
		HOLDS(q->ids.n == 1);
		return ids_match(arg, &q->ids);
	case IDS:
		HOLDS(q->ids.n >= 1 && q->ids.n <= ID_LIST_MAX);
		return ids_match(arg, &q->ids);
	case TIME:
		HOLDS(strtoll(arg, NULL, 10) ==
		    (name[0] == 'f' ? q->from : q->to));
		return digits_match(arg, DIGITS_MAX);
	case COLUMNS:
		return columns_match(arg, q->lacking);
	case DELIMITER:
		HOLDS(delimiter_check(q->delimiter) == 0);
		return text_match(arg, q->delimiter);
	case WHO:
		return text_match(arg, USER);
	case WHERE:
		break;
	}
	return text_match(arg, SOCKET);
}

static void
word_match(const struct question *q, const char *word, const char *arg)
{
	size_t n;

	HOLDS(strlen(arg) < ONE_ARG);
	while (*word != '\0') {
		n = strcspn(word, "{");
		HOLDS(strncmp(arg, word, n) == 0);
		word += n;
		arg += n;
		if (*word == '\0')
			break;
		n = strcspn(++word, "}");
		HOLDS(word[n] == '}');
		arg += value_match(q, word, n, arg);
		word += n + 1;
	}
	HOLDS(*arg == '\0');
}

static void
args_hold(const struct question *q, const char *cluster)
{
	const struct question_type *type = question_type(q->kind);
	const struct question_site site = { PROGRAM, cluster, USER, SOCKET };
	struct question_args args;
	size_t n = 0, i;

	HOLDS(type->command < CMD__COUNT && type->deadline_ms > 0);
	HOLDS(question_args(q, &site, &args) == 0);
	HOLDS(strcmp(args.argv[n++], PROGRAM) == 0);
	HOLDS(strcmp(args.input, q->credential) == 0);
	HOLDS((q->kind == QUESTION_UNMUNGE) ==
	    (hook_credential_check(args.input) == 0));
	if (cluster != NULL && type->command != CMD_SACCTMGR &&
	    type->command != CMD_UNMUNGE) {
		HOLDS(strcmp(args.argv[n++], "-M") == 0);
		HOLDS(strcmp(args.argv[n++], cluster) == 0);
	}
	for (i = 0; type->words[i] != NULL; i++) {
		HOLDS(n < QUESTION_ARGS_MAX && args.argv[n] != NULL);
		word_match(q, type->words[i], args.argv[n++]);
	}
	HOLDS(args.argv[n] == NULL);
	question_args_clear(&args);
}

/* One question has one form on the channel. */
static void
bytes_hold(const struct question *q, const uint8_t *bytes, size_t n)
{
	struct writer w;

	wr_init(&w, QUESTION_BYTES_MAX);
	question_write(&w, q);
	HOLDS(wr_end(&w) == 0);
	HOLDS(w.len == n && memcmp(w.buf, bytes, n) == 0);
	wr_clear(&w);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct reader r;
	struct question q;
	char *text;

	fuzz_quiet();
	text = exact(bytes, n);
	rd_init(&r, text, n);
	question_read(&r, &q);
	if (rd_end(&r) == 0) {
		HOLDS(q.kind < QUESTION__COUNT);
		args_hold(&q, NULL);
		args_hold(&q, CLUSTER);
		bytes_hold(&q, bytes, n);
	}
	question_clear(&q);
	free(text);
	return 0;
}
