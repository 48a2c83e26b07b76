/* SPDX-License-Identifier: MIT */
/*
 * The answer of `scontrol show job` about two jobs, one of which has the input
 * as its name, its MCS label or its QOS, newlines included.  A record that is kept
 * for a job must be the record that slurmctld printed for it.  The first byte
 * chooses the text, the order of the jobs and the kind of query.
 */
#include "config.h"

#include "collector/details/details_private.h"
#include "tests/fuzz/snapshot.h"

#define TEXT_BYTES_MAX 1024 /* slurmctld's limit */
#define N_JOBS	       2
#define N_TEXTS	       3 /* name, MCS label, QOS */

#define OWNER	" UserId=alice(1001) GroupId=staff(100) MCS_label="
#define ACCOUNT " Priority=1 Nice=0 Account=phys QOS="
#define TAIL \
	" JobState=RUNNING Reason=None Restarts=0" \
	" BatchFlag=1 ExitCode=0:0 TimeLimit=00:05:00 SubmitTime=1700000000" \
	" StartTime=1700000100 EndTime=1700000400 Partition=main NodeList=n1" \
	" NumNodes=1 NumCPUs=2 NumTasks=1 CPUs/Task=1 TRES=cpu=2,node=1" \
	" CoreSpec=* JOB_GRES=(null)   Nodes=n1 CPU_IDs=0-1 Mem=100 GRES=" \
	" MinCPUsNode=1 MinMemoryNode=100M DelayBoot=00:00:00" \
	" OverSubscribe=OK Licenses=(null) Network=(null) Command=/x\n"

struct answer {
	struct lines lines;
	struct details *d;
};

static const uint64_t jobs[N_JOBS] = { 77, 78 };
static struct site site;
static struct settings settings;
static struct cluster cluster = { .site = &site, .set = &settings };

/* Returns owned: what slurmctld prints for a job, with its newline. */
static char *
record_new(uint64_t job, const struct span texts[N_TEXTS], struct span *record)
{
	static const char *const behind[N_TEXTS] = { OWNER, ACCOUNT, TAIL };
	char head[64], *text, *p;
	int i,
	    n = snprintf(head, sizeof(head),
		"JobId=%llu JobName=", (unsigned long long)job);
	size_t size = (size_t)n;

	for (i = 0; i < N_TEXTS; i++)
		size += texts[i].n + strlen(behind[i]);
	text = malloc(size);
	HOLDS(text != NULL);
	p = mempcpy(text, head, (size_t)n);
	for (i = 0; i < N_TEXTS; i++) {
		p = mempcpy(p, texts[i].p, texts[i].n);
		p = mempcpy(p, behind[i], strlen(behind[i]));
	}
	*record = (struct span) { text, (size_t)(p - text) };
	return text;
}

static int
feed(const char *p, size_t n, void *arg)
{
	struct answer *a = arg;

	return lines_feed(&a->lines, p, n, details_text_line, a->d);
}

static void
result_holds(const struct details *d, uint64_t job, struct span record)
{
	const struct detail_result *r = details_result(d, job);
	struct span line;

	HOLDS(r != NULL);
	/* An answer about one job tells nothing about another one. */
	HOLDS((r->verdict == DETAIL_UNSEEN) ==
	    (!d->all && r != &d->results[d->at]));
	if (r->verdict != DETAIL_GOOD)
		return;
	line = details_line(d, r);
	HOLDS(line.n == record.n - 1);
	HOLDS(memcmp(line.p, record.p, line.n) == 0);
}

/* One answer, whole or in pieces; the verdicts go to verdicts. */
static void
answer_read(struct details *d, const struct span records[N_JOBS],
    unsigned first, int pieces, enum detail verdicts[N_JOBS])
{
	struct answer a = { .d = d };
	struct span s;
	unsigned i;

	for (i = 0; i < N_JOBS; i++)
		HOLDS(details_want_run(d, jobs[i], 1700000100) == 0);
	details_text_begin(d);
	for (i = 0; i < N_JOBS; i++) {
		s = records[(first + i) % N_JOBS];
		if (pieces)
			HOLDS(fuzz_pieces((const uint8_t *)s.p, s.n, feed,
				  &a) == 0);
		else
			HOLDS(feed(s.p, s.n, &a) == 0);
	}
	HOLDS(lines_end(&a.lines, details_text_line, d) == 0);
	for (i = 0; i < N_JOBS; i++) {
		result_holds(d, jobs[i], records[i]);
		verdicts[i] = details_verdict(d, jobs[i]);
	}
	lines_clear(&a.lines);
	details_forget(d);
}

/* Two answers in turn: the second may settle what the first left open. */
static void
answers_hold(const struct span records[N_JOBS], unsigned choice)
{
	struct details *whole = details_new(&cluster, NULL, NULL);
	struct details *pieces = details_new(&cluster, NULL, NULL);
	enum detail a[N_JOBS], b[N_JOBS];
	int i;

	whole->all = pieces->all = (choice & 2) != 0;
	for (i = 0; i < 2; i++) {
		answer_read(whole, records, choice & 1, 0, a);
		answer_read(pieces, records, choice & 1, 1, b);
		HOLDS(memcmp(a, b, sizeof(a)) == 0);
	}
	idmap_clear(&whole->suspects);
	idmap_clear(&pieces->suspects);
	free(whole);
	free(pieces);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	static const struct span plain = { "train", 5 };
	struct span texts[N_TEXTS] = { plain, plain, plain };
	struct span input, records[N_JOBS];
	char *text[N_JOBS];
	unsigned choice;

	fuzz_quiet();
	if (n == 0)
		return 0;
	choice = *bytes;
	input = (struct span) { (const char *)bytes + 1,
		strnlen((const char *)bytes + 1, n - 1) };
	if (input.n > TEXT_BYTES_MAX)
		input.n = TEXT_BYTES_MAX;
	settings.how = *fuzz_reading();
	cluster.slurm.accounting = (choice & 4) != 0;
	text[1] = record_new(jobs[1], texts, &records[1]);
	texts[choice / 8 % N_TEXTS] = input;
	text[0] = record_new(jobs[0], texts, &records[0]);
	answers_hold(records, choice);
	free(text[0]);
	free(text[1]);
	return 0;
}
