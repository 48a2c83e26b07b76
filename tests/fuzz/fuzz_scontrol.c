/* SPDX-License-Identifier: MIT */
/*
 * The output of scontrol and squeue.  Every reader gets each line.  Then the
 * whole input is each text of the user in a record whose true values are known: it
 * can make the record ambiguous, but must not change a value.
 */
#include "config.h"

#include "tests/fuzz/snapshot.h"

#define HEAD	"JobId=77 ArrayJobId=70 ArrayTaskId=7 JobName="
#define OWNER	" UserId=alice(1001) GroupId=staff(100) MCS_label="
#define ACCOUNT " Priority=1 Nice=0 Account=phys QOS="
#define BODY \
	" JobState=RUNNING Reason=None Dependency=(null) Requeue=1 Restarts=2 BatchFlag=1" \
	" Reboot=0 ExitCode=0:0 RunTime=00:00:32 TimeLimit=00:05:00" \
	" SubmitTime=1700000000 StartTime=1700000100 EndTime=1700000400" \
	" Partition=main AllocNode:Sid=localhost:2989 NodeList=n[1-2]" \
	" BatchHost=n1 NumNodes=2 NumCPUs=4 NumTasks=1 CPUs/Task=1" \
	" TRES=cpu=4,mem=200M,node=2,gres/gpu=1 Socks/Node=* CoreSpec=*" \
	" JOB_GRES=gpu:1   Nodes=n1 CPU_IDs=0-1 Mem=100 GRES=gpu:1(IDX:1)" \
	"   Nodes=n2 CPU_IDs=4,6 Mem=100 GRES= MinCPUsNode=1" \
	" MinMemoryNode=100M MinTmpDiskNode=0 Features=(null)" \
	" DelayBoot=00:00:00"
#define END \
	" OverSubscribe=OK Contiguous=0 Licenses=(null)" \
	" Network=(null) Command="
#define TAIL " WorkDir=/home/alice Power="

/* A digest of the lines, to compare input in one piece with input in many. */
struct seen {
	struct lines lines;
	uint64_t digest;
	int last; /* the readers get the lines */
};

static void
record_read(struct span line, const struct record_texts *exact)
{
	struct job_snapshot s;

	snapshot_init(&s);
	if (scontrol_record(line, exact, fuzz_reading(), &s) == RECORD_GOOD)
		snapshot_holds(&s);
	snapshot_clear(&s);
}

static void
line_read(struct span line)
{
	static const char key[] = " JobName=";
	struct node_shape shape;
	struct squeue_job row;
	struct record_texts exact = { .label = { "(null)", 6 },
		.qos = { "normal", 6 } };
	struct span name;
	char host[HOST_MAX];
	const char *at, *end;

	record_read(line, NULL);
	/* Every name can be the exact one. */
	at = token_find(line, key);
	if (at != NULL) {
		name = span_from(line, at + sizeof(key) - 1);
		exact.name = name;
		record_read(line, &exact);
		end = token_find(name, " UserId=");
		if (end != NULL)
			exact.name.n = (size_t)(end - name.p);
		record_read(line, &exact);
	}
	if (node_record(line, host, &shape) == 0)
		HOLDS(memchr(host, '\0', sizeof(host)) != NULL);
	if (squeue_row(line, &row) == 0) {
		HOLDS(row.job != 0 && row.state != NULL);
		HOLDS(row.start >= 0 && row.start <= YEAR_9999);
	}
}

static int
on_line(struct span line, void *arg)
{
	struct seen *seen = arg;
	char *copy;

	HOLDS(line.n == 0 || memchr(line.p, '\n', line.n) == NULL);
	seen->digest = digest(seen->digest, line.p, line.n);
	seen->digest = digest(seen->digest, "\n", 1);
	if (seen->last) {
		copy = exact(line.p, line.n);
		line_read((struct span) { copy, line.n });
		free(copy);
	}
	return 0;
}

static int
feed(const char *p, size_t n, void *arg)
{
	struct seen *seen = arg;

	return lines_feed(&seen->lines, p, n, on_line, seen);
}

static void
lines_hold(const uint8_t *bytes, size_t n)
{
	struct seen whole, pieces;

	memset(&whole, 0, sizeof(whole));
	memset(&pieces, 0, sizeof(pieces));
	whole.last = 1;
	HOLDS(feed((const char *)bytes, n, &whole) == 0);
	HOLDS(lines_end(&whole.lines, on_line, &whole) == 0);
	HOLDS(fuzz_pieces(bytes, n, feed, &pieces) == 0);
	HOLDS(lines_end(&pieces.lines, on_line, &pieces) == 0);
	HOLDS(whole.digest == pieces.digest);
	lines_clear(&whole.lines);
	lines_clear(&pieces.lines);
}

/* The true values of the record above. */
static void
truth_holds(const struct job_snapshot *s)
{
	const struct job *j = &s->job;

	snapshot_holds(s);
	HOLDS(j->key.job == 77 && j->array_job == 70 && j->array_task == 7);
	HOLDS(j->key.start == 1700000100 && j->submit == 1700000000);
	HOLDS(strcmp(j->user, "alice") == 0);
	HOLDS(strcmp(j->account, "phys") == 0);
	HOLDS(strcmp(j->partition, "main") == 0);
	HOLDS(j->reservation == NULL);
	HOLDS(s->state->phase == PHASE_RUNNING && s->batch);
	HOLDS(j->restarts == 2 && j->walltime == 300);
	HOLDS(j->n_hosts == 2 && j->cpus == 4 && j->accels == 1);
	HOLDS(strcmp(j->hosts[0].name, "n1") == 0);
	HOLDS(strcmp(j->hosts[1].name, "n2") == 0);
	HOLDS(j->hosts[0].n_cpus == 1 && j->hosts[0].cpus[0].last == 1);
	HOLDS(j->hosts[1].n_cpus == 2 && j->hosts[1].cpus[1].first == 6);
	HOLDS(j->hosts[0].n_accels == 1 && j->hosts[1].n_accels == 0);
	HOLDS((j->flags & (JOB_HAS_THREADS | JOB_HAS_ACCELS)) ==
	    (JOB_HAS_THREADS | JOB_HAS_ACCELS));
}

/* The texts of a user in one record. */
struct texts {
	struct span name;
	struct span label;
	struct span qos;
	struct span cluster_features; /* n = 0: without the token */
	struct span command;
};

static void
put(char **p, const char *s, struct span text)
{
	*p = mempcpy(*p, s, strlen(s));
	*p = mempcpy(*p, text.p, text.n);
}

static void
hostile(const struct texts *t)
{
	static const char cluster[] = " ClusterFeatures=";
	const struct record_texts exact = { t->name, t->label, t->qos };
	size_t n = sizeof(HEAD OWNER ACCOUNT BODY END TAIL) + sizeof(cluster) +
	    t->name.n + t->label.n + t->qos.n + t->cluster_features.n +
	    t->command.n;
	char *text = malloc(n), *p = text;
	enum record_verdict verdict;
	struct job_snapshot s;
	struct span record;

	HOLDS(text != NULL);
	put(&p, HEAD, t->name);
	put(&p, OWNER, t->label);
	put(&p, ACCOUNT, t->qos);
	put(&p, BODY, (struct span) { "", 0 });
	if (t->cluster_features.n > 0)
		put(&p, cluster, t->cluster_features);
	put(&p, END, t->command);
	put(&p, TAIL, (struct span) { "", 0 });
	record = (struct span) { text, (size_t)(p - text) };
	HOLDS(record.n < n && scontrol_id(record) == 77);

	snapshot_init(&s);
	verdict = scontrol_record(record, NULL, fuzz_reading(), &s);
	HOLDS(verdict == RECORD_GOOD || verdict == RECORD_AMBIGUOUS ||
	    (verdict == RECORD_BAD && t->name.n > 4096));
	if (verdict == RECORD_GOOD) {
		truth_holds(&s);
		HOLDS(s.job.shared == SHARED_MULTI_USER);
	}
	snapshot_clear(&s);

	snapshot_init(&s);
	verdict = scontrol_record(record, &exact, fuzz_reading(), &s);
	HOLDS(verdict == RECORD_GOOD || t->name.n > 4096);
	if (verdict == RECORD_GOOD) {
		truth_holds(&s);
		HOLDS(s.job.shared == SHARED_MULTI_USER ||
		    (s.job.shared == SHARED_UNKNOWN &&
			t->cluster_features.n > 0));
	}
	snapshot_clear(&s);
	free(text);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	const struct span plain = { "train", 5 }, none = { "", 0 };
	struct span text = { (const char *)bytes, n };

	fuzz_quiet();
	lines_hold(bytes, n);
	/* A newline in a name ends the line; fuzz_details tests that. */
	if (n > 0 && memchr(bytes, '\n', n) == NULL) {
		hostile(&(struct texts) { text, plain, plain, none, plain });
		hostile(&(struct texts) { plain, text, plain, none, plain });
		hostile(&(struct texts) { plain, plain, text, none, plain });
		hostile(&(struct texts) { plain, plain, plain, text, plain });
		hostile(&(struct texts) { plain, plain, plain, none, text });
		hostile(&(struct texts) { text, text, text, text, text });
	}
	return 0;
}
