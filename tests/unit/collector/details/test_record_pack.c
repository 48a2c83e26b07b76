/* SPDX-License-Identifier: MIT */
/* Packed lines: what is read is what was kept, and damage is no line. */
#include "config.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "collector/details/record_pack.h"
#include "tests/unit/check.h"

#define LINES_MAX 200
#define LONG	  300000 /* beyond what a reference reaches */

struct kept {
	char *line;
	char *packed;
	size_t n;
	size_t size;
};

static uint32_t seed = 1;

static uint32_t
next(void)
{
	seed = seed * 1103515245u + 12345u;
	return seed >> 8;
}

static int
is_same(struct pack *p, const struct kept *k)
{
	const char *line = pack_read(p, k->packed, k->size, k->n);

	return line != NULL && memcmp(line, k->line, k->n) == 0;
}

/* A record as scontrol prints it, of one of a few users. */
static int
record(char *buf, size_t size, unsigned k)
{
	unsigned user = k % 7, t = 1763700000 + k * 13;

	return snprintf(buf, size,
	    "JobId=%u JobName=run-%u.sh UserId=user%u"
	    "(10%u) GroupId=users(100) MCS_label=N/A Priority=42949%u Nice=0 "
	    "Account=proj%u QOS=normal JobState=RUNNING Reason=None "
	    "Dependency=(null) Requeue=1 Restarts=0 BatchFlag=1 Reboot=0 "
	    "ExitCode=0:0 DerivedExitCode=0:0 RunTime=00:%02u:%02u "
	    "TimeLimit=1-00:00:00 TimeMin=N/A SubmitTime=%u EligibleTime=%u "
	    "AccrueTime=%u StartTime=%u EndTime=%u Deadline=N/A "
	    "SuspendTime=None SecsPreSuspend=0 LastSchedEval=%u Partition=main "
	    "AllocNode:Sid=login1:%u ReqNodeList=(null) ExcNodeList=(null) "
	    "NodeList=n%u BatchHost=n%u NumNodes=1 NumCPUs=16 "
	    "Nodes=n%u CPU_IDs=%u-%u Mem=4000 GRES= Command=/home/user%u/p%u/"
	    "run.sh WorkDir=/home/user%u/p%u StdErr=/home/user%u/p%u/slurm-%u"
	    ".out StdIn=/dev/null StdOut=/home/user%u/p%u/slurm-%u.out Power=",
	    1000 + k, k, user, user, next() % 100000, user, next() % 60,
	    next() % 60, t, t, t, t + 5, t + 86405, t + 5, next() % 100000,
	    k % 512, k % 512, k % 512, k % 8 * 16, k % 8 * 16 + 15, user, k,
	    user, k, user, k, 1000 + k, user, k, 1000 + k);
}

static void
test_records(void)
{
	struct pack *p = pack_new();
	struct kept kept[LINES_MAX];
	size_t plain = 0, packed = 0;
	char buf[4096];
	unsigned k, bad = 0;

	for (k = 0; k < LINES_MAX; k++) {
		kept[k].n = (size_t)record(buf, sizeof(buf), k);
		kept[k].line = strdup(buf);
		kept[k].packed = pack_line(p, buf, kept[k].n, &kept[k].size);
		plain += kept[k].n;
		packed += kept[k].size;
	}
	for (k = LINES_MAX; k-- > 0;)
		bad += !is_same(p, &kept[k]);
	CHECK_INT(bad, 0);
	/* A quarter, with the first lines, which have nothing before them. */
	CHECK(packed * 4 < plain);
	printf("a record of %zu bytes takes %zu\n", plain / LINES_MAX,
	    packed / LINES_MAX);
	for (k = 0; k < LINES_MAX; k++) {
		free(kept[k].line);
		free(kept[k].packed);
	}
	pack_free(p);
}

static void
test_one(struct pack *p, const char *line, size_t n)
{
	struct kept k = { .line = malloc(n + 1), .n = n };

	memcpy(k.line, line, n);
	k.packed = pack_line(p, line, n, &k.size);
	CHECK(k.packed != NULL && is_same(p, &k));
	CHECK(k.size <= n + n / 128 + 16);
	/* Not one byte more or less than was kept. */
	CHECK(pack_read(p, k.packed, k.size, n + 1) == NULL);
	if (n > 0)
		CHECK(pack_read(p, k.packed, k.size, n - 1) == NULL);
	free(k.line);
	free(k.packed);
}

static void
test_shapes(void)
{
	struct pack *p = pack_new();
	char *many = malloc(LONG);
	size_t i;

	test_one(p, "", 0);
	test_one(p, "a", 1);
	test_one(p, "abcd", 4);
	test_one(p, "abcdabcdabcdabcd", 16);
	for (i = 0; i < LONG; i++)
		many[i] = (char)next();
	test_one(p, many, LONG);
	test_one(p, many, 128);
	test_one(p, many, 129);
	for (i = 0; i < LONG; i++)
		many[i] = "Nodes=n[1-9] "[i % 13];
	test_one(p, many, LONG);
	memset(many, 'x', LONG);
	test_one(p, many, LONG);
	free(many);
	pack_free(p);
}

/* Whatever the bytes are, what is read stays within what is there. */
static void
test_damage(void)
{
	struct pack *p = pack_new();
	char buf[4096], *packed = NULL;
	size_t n = 0, size = 0, at;
	unsigned k;

	for (k = 0; k < 20; k++) {
		n = (size_t)record(buf, sizeof(buf), k);
		free(packed);
		packed = pack_line(p, buf, n, &size);
	}
	for (k = 0; k < 20000; k++) {
		at = next() % size;
		packed[at] = (char)next();
		(void)pack_read(p, packed,
		    size - (k % 3 == 0 ? next() % size : 0), n);
	}
	check_passed++;
	free(packed);
	pack_free(p);
}

int
main(void)
{
	test_records();
	test_shapes();
	test_damage();
	return check_done();
}
