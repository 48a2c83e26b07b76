/* SPDX-License-Identifier: MIT */
/* Hostlists, compared with the output of `scontrol show hostnames`. */
#include "config.h"

#include "collector/parse/parse.h"
#include "tests/unit/check.h"

static char got[4096];
static int limit;

static int
on_name(const char *name, void *arg)
{
	size_t len = strlen(got);

	(void)arg;
	if (limit > 0 && --limit == 0)
		return -1;
	snprintf(got + len, sizeof(got) - len, "%s%s", len ? " " : "", name);
	return 0;
}

static int
on_count(const char *name, void *arg)
{
	(void)name;
	(void)arg;
	return 0;
}

static const struct {
	const char *list;
	const char *names; /* NULL = malformed */
} cases[] = {
	{ "", "" },
	{ "n1", "n1" },
	{ "n1,n2", "n1 n2" },
	{ "n[1-3]", "n1 n2 n3" },
	{ "n[1,3-4,10]", "n1 n3 n4 n10" },
	{ "n[08-11]", "n08 n09 n10 n11" },
	{ "n[001-003,7]", "n001 n002 n003 n7" },
	{ "n[1-2]-ib", "n1-ib n2-ib" },
	{ "r[0-1]n[1-2]", "r0n1 r0n2 r1n1 r1n2" },
	{ "a[1-2]b[3]c[4-5],x", "a1b3c4 a1b3c5 a2b3c4 a2b3c5 x" },
	{ "tux[0-1],login-1.example", "tux0 tux1 login-1.example" },
	{ "n[5]", "n5" },
	{ "n[1-", NULL },
	{ "n[1", NULL },
	{ "n]1", NULL },
	{ "n[]", NULL },
	{ "][3]", NULL },
	{ "n[2-1]", NULL },
	{ "n[1,]", NULL },
	{ "n[a-b]", NULL },
	{ "n[-1]", NULL },
	{ "n[1-2-3]", NULL },
	{ "n[[1-2]]", NULL },
	{ "n][1-2]", NULL },
	{ "n[1-2]x][3]", NULL },
	{ "n1,", NULL },
	{ ",n1", NULL },
	{ "n1 n2", NULL },
	{ "(null)", NULL },
	{ "None assigned", NULL },
	{ "n[0-4294967295]", NULL },
	{ "n[99999999999999999999]", NULL },
	{ "a[1-1000]b[1-1000]", NULL },
	{ "a[1]b[1]c[1]d[1]e[1]f[1]g[1]h[1]i[1]", NULL },
};

int
main(void)
{
	struct span s;
	char longest[600];
	size_t i;
	int n;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		s = (struct span) { cases[i].list, strlen(cases[i].list) };
		got[0] = '\0';
		n = hostlist_each(s,
		    strlen(cases[i].list) > 12 && cases[i].names == NULL ?
			on_count :
			on_name,
		    NULL);
		if (cases[i].names == NULL) {
			CHECK_INT(n, -1);
			if (n != -1)
				fprintf(stderr, "    %s\n", cases[i].list);
		} else {
			CHECK(n >= 0);
			CHECK_STR(got, cases[i].names);
		}
	}
	s = (struct span) { "n[1-100000]", 11 };
	CHECK_INT(hostlist_each(s, on_count, NULL), 100000);
	s = (struct span) { "n[0-100000]", 11 };
	CHECK_INT(hostlist_each(s, on_count, NULL), -1);
	limit = 3;
	s = (struct span) { "n[1-9]", 6 };
	CHECK_INT(hostlist_each(s, on_name, NULL), -1);
	limit = 0;
	memset(longest, 'n', sizeof(longest));
	s = (struct span) { longest, 255 };
	CHECK_INT(hostlist_each(s, on_count, NULL), 1);
	s.n = 256;
	CHECK_INT(hostlist_each(s, on_count, NULL), -1);
	return check_done();
}
