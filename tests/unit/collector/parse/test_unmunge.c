/* SPDX-License-Identifier: MIT */
/* The output of unmunge 0.5.15, and outputs that are none. */
#include "config.h"

#include <stdlib.h>

#include "collector/parse/parse.h"
#include "tests/unit/check.h"

#define TIMES \
	"ENCODE_TIME:     2026-11-22 13:07:46 +0000 (1795352866)\n" \
	"DECODE_TIME:     2026-11-22 13:07:49 +0000 (1795352869)\n" \
	"TTL:             300\n"
#define UID "UID:             slurm (64030)\n"
#define END "LENGTH:          9\n\ncc hook 1"

/* Reads a copy without a NUL, so that valgrind sees a read behind the end. */
static int
read_text(const char *text, size_t n, struct munge_answer *a, char **copy)
{
	*copy = malloc(n + (n == 0));
	memcpy(*copy, text, n);
	return unmunge_read((struct span) { *copy, n }, a);
}

static int
is_read(const char *text)
{
	struct munge_answer a;
	char *copy;
	int rc = read_text(text, strlen(text), &a, &copy);

	free(copy);
	return rc == 0;
}

static void
test_good(void)
{
	static const char text[] = "STATUS:          Success (0)\n" TIMES UID
	    END;
	struct munge_answer a;
	char *copy;

	CHECK_INT(read_text(text, sizeof(text) - 1, &a, &copy), 0);
	CHECK_INT(a.status, MUNGE_STATUS_OK);
	CHECK_INT(a.uid, 64030);
	CHECK_INT(a.encoded, 1795352866);
	CHECK_INT(a.decoded, 1795352869);
	CHECK_INT(a.payload.n, 9);
	CHECK(memcmp(a.payload.p, "cc hook 1", 9) == 0);
	free(copy);
}

/* A payload may look like the lines before it. */
static void
test_payload(void)
{
	static const char text[] = "STATUS: Success (0)\n" TIMES
				   "UID: nobody (65534)\nLENGTH: 21\n\n"
				   "\nUID: root (0)\nLENG\nT";
	struct munge_answer a;
	char *copy;

	CHECK_INT(read_text(text, sizeof(text) - 1, &a, &copy), 0);
	CHECK_INT(a.uid, 65534);
	CHECK_INT(a.payload.n, 21);
	free(copy);
}

static void
test_status(void)
{
	struct munge_answer a;
	char *copy;
	static const char text[] = "STATUS: Expired credential (15)\n" TIMES UID
	    END;

	CHECK_INT(read_text(text, sizeof(text) - 1, &a, &copy), 0);
	CHECK_INT(a.status, MUNGE_STATUS_EXPIRED);
	free(copy);
}

/* unmunge -N prints numbers alone; a user may have no name. */
static void
test_numbers(void)
{
	CHECK(is_read("STATUS: 0\nENCODE_TIME: 1\nDECODE_TIME: 2\nTTL: 3\n"
		      "UID: 4294967295\nLENGTH: 0\n\n"));
	CHECK(is_read("STATUS: 0\n" TIMES "UID: ??? (64030)\n" END));
	CHECK(is_read("STATUS: 0\n" TIMES "UID: a(b) (64030)\n" END));
}

static void
test_wrong(void)
{
	static const char *const wrong[] = { "", "\n", "\n\n", "STATUS: 0",
		"STATUS: 0\n\n", "STATUS: 0\n" TIMES UID "LENGTH: 9",
		"STATUS: 0\n" TIMES UID "LENGTH: 9\n",
		"STATUS: 0\n" TIMES UID "LENGTH: 9\n\ncc hook",
		"STATUS: 0\n" TIMES UID "LENGTH: 9\n\ncc hook 1\n",
		"STATUS: 0\n" TIMES END, "STATUS: 0\n" TIMES UID UID END,
		"STATUS: 0\nSTATUS: 0\n" TIMES UID END,
		"STATUS: 65536\n" TIMES UID END, "STATUS: -1\n" TIMES UID END,
		"STATUS: (0\n" TIMES UID END, "STATUS: ()\n" TIMES UID END,
		"STATUS:\n" TIMES UID END, "STATUS 0\n" TIMES UID END,
		"STATUS: 0\n" TIMES "UID: 4294967296\n" END,
		"STATUS: 0\n" TIMES "UID: root\n" END,
		"STATUS: 0\n" TIMES UID "GID: 0\n" END,
		" STATUS: 0\n" TIMES UID END };
	size_t i;

	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		if (is_read(wrong[i]))
			CHECK_STR(wrong[i], "refused");
}

int
main(void)
{
	test_good();
	test_payload();
	test_status();
	test_numbers();
	test_wrong();
	return check_done();
}
