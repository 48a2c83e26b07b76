/* SPDX-License-Identifier: MIT */
/* The record of a run: memory, encoding, merging; see job.h. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/model/job.h"
#include "common/text/time_text.h"

/*
 * Versions of the encoding; the spool keeps records.  A record without a
 * revision has version 1, which every release reads.
 */
#define RECORD_VERSION_1 1
#define RECORD_VERSION	 2 /* a revision behind the hosts */

static const char *const end_names[END__COUNT] = {
	[END_NOT] = "running",
	[END_COMPLETED] = "completed",
	[END_FAILED] = "failed",
	[END_CANCELLED] = "cancelled",
	[END_TIMEOUT] = "timeout",
	[END_OUT_OF_MEMORY] = "out_of_memory",
	[END_PREEMPTED] = "preempted",
	[END_NODE_FAIL] = "node_fail",
	[END_BOOT_FAIL] = "boot_fail",
	[END_DEADLINE] = "deadline",
	[END_REQUEUED] = "requeued",
};

static const char *const shared_names[SHARED__COUNT] = {
	[SHARED_UNKNOWN] = "multi_user",
	[SHARED_NONE] = "none",
	[SHARED_SINGLE_USER] = "single_user",
	[SHARED_MULTI_USER] = "multi_user",
};

/* The text members of a job, in the order of its bytes. */
static const struct {
	size_t at;
	size_t max;
} texts[] = {
	{ offsetof(struct job, user), TEXT_MAX },
	{ offsetof(struct job, account), TEXT_MAX },
	{ offsetof(struct job, partition), TEXT_MAX },
	{ offsetof(struct job, qos), TEXT_MAX },
	{ offsetof(struct job, reservation), TEXT_MAX },
	{ offsetof(struct job, name), TEXT_MAX },
	{ offsetof(struct job, script), SCRIPT_MAX },
	{ offsetof(struct job, slurm_info), TEXT_MAX },
	{ offsetof(struct job, reason), TEXT_MAX },
	{ offsetof(struct job, admin_comment), TEXT_MAX },
	{ offsetof(struct job, message), TEXT_MAX },
};

#define N_TEXTS (sizeof(texts) / sizeof(texts[0]))

static char **
text_at(struct job *job, size_t i)
{
	return (char **)((char *)job + texts[i].at);
}

const char *
job_end_name(enum job_end end)
{
	return (unsigned)end < END__COUNT ? end_names[end] : "?";
}

const char *
job_shared_name(enum job_shared shared)
{
	return (unsigned)shared < SHARED__COUNT ? shared_names[shared] : "?";
}

void
wr_run_key(struct writer *w, const struct run_key *key)
{
	wr_str(w, key->cluster);
	wr_u64(w, key->job);
	wr_i64(w, key->start);
}

void
rd_run_key(struct reader *r, struct run_key *key)
{
	memset(key, 0, sizeof(*key));
	rd_name(r, key->cluster, sizeof(key->cluster));
	key->job = rd_u64(r);
	key->start = rd_time(r);
}

void
wr_open_key(struct writer *w, const struct open_key *open)
{
	wr_run_key(w, &open->key);
	wr_i64(w, open->submit);
}

void
rd_open_key(struct reader *r, struct open_key *open)
{
	rd_run_key(r, &open->key);
	open->submit = rd_time(r);
}

int
run_key_equal(const struct run_key *a, const struct run_key *b)
{
	return a->job == b->job && a->start == b->start &&
	    strcmp(a->cluster, b->cluster) == 0;
}

const char *
run_key_text(const struct run_key *key)
{
	static _Thread_local char bufs[2][CLUSTER_MAX + 128];
	static _Thread_local unsigned next;
	char *buf = bufs[next++ % 2];
	const char *comma = *key->cluster != '\0' && key->start > 0 ? ", " : "";

	if (*key->cluster == '\0' && key->start <= 0)
		snprintf(buf, sizeof(bufs[0]), "job %llu",
		    (unsigned long long)key->job);
	else
		snprintf(buf, sizeof(bufs[0]), "job %llu (%s%s%s%s)",
		    (unsigned long long)key->job, key->cluster, comma,
		    key->start > 0 ? "started " : "",
		    key->start > 0 ? time_text(key->start) : "");
	return buf;
}

void
job_init(struct job *job)
{
	memset(job, 0, sizeof(*job));
	job->exit_code = -1;
}

static void
host_clear(struct job_host *h)
{
	uint32_t i;

	free(h->name);
	free(h->cpus);
	for (i = 0; i < h->n_accels; i++)
		free(h->accels[i]);
	free(h->accels);
}

static void
hosts_clear(struct job *job)
{
	uint32_t i;

	for (i = 0; i < job->n_hosts; i++)
		host_clear(&job->hosts[i]);
	free(job->hosts);
	job->hosts = NULL;
	job->n_hosts = 0;
}

void
job_clear(struct job *job)
{
	size_t i;

	for (i = 0; i < N_TEXTS; i++)
		free(*text_at(job, i));
	hosts_clear(job);
	job_init(job);
}

/*
 * Makes room for one more element.  The array is full at each power of two and
 * then doubles.  Returns the array, or NULL with the old array unchanged.
 */
static void *
array_more(void *array, uint32_t n, size_t size)
{
	size_t room;

	if (n != 0 && (n & (n - 1)) != 0)
		return array;
	room = n != 0 ? 2 * (size_t)n : 1;
	return realloc(array, room * size);
}

struct job_host *
job_add_host(struct job *job, const char *name)
{
	struct job_host *hosts, *h;
	char *copy;

	if (job->n_hosts >= HOSTS_MAX || (copy = strdup(name)) == NULL)
		return NULL;
	hosts = array_more(job->hosts, job->n_hosts, sizeof(*hosts));
	if (hosts == NULL) {
		free(copy);
		return NULL;
	}
	job->hosts = hosts;
	h = &hosts[job->n_hosts++];
	memset(h, 0, sizeof(*h));
	h->name = copy;
	return h;
}

int
job_host_add_cpus(struct job_host *host, uint32_t first, uint32_t last)
{
	struct cpu_range *cpus;

	if (last < first || host->n_cpus >= RANGES_MAX)
		return -1;
	cpus = array_more(host->cpus, host->n_cpus, sizeof(*cpus));
	if (cpus == NULL)
		return -1;
	host->cpus = cpus;
	cpus[host->n_cpus].first = first;
	cpus[host->n_cpus].last = last;
	host->n_cpus++;
	return 0;
}

int
job_host_add_accel(struct job_host *host, const char *address)
{
	char **accels;

	if (host->n_accels >= ACCELS_MAX || strlen(address) >= ACCEL_MAX)
		return -1;
	accels = array_more(host->accels, host->n_accels, sizeof(*accels));
	if (accels == NULL)
		return -1;
	host->accels = accels;
	accels[host->n_accels] = strdup(address);
	if (accels[host->n_accels] == NULL)
		return -1;
	host->n_accels++;
	return 0;
}

static void
host_write(struct writer *w, const struct job_host *h)
{
	uint32_t i;

	wr_str(w, h->name);
	wr_u16(w, h->sockets);
	wr_u16(w, h->cores);
	wr_u16(w, h->threads);
	wr_u32(w, h->n_cpus);
	for (i = 0; i < h->n_cpus; i++) {
		wr_u32(w, h->cpus[i].first);
		wr_u32(w, h->cpus[i].last);
	}
	wr_u32(w, h->n_accels);
	for (i = 0; i < h->n_accels; i++)
		wr_str(w, h->accels[i]);
}

static void
host_read(struct reader *r, struct job *job)
{
	char text[HOST_MAX];
	struct job_host *h;
	uint32_t i, n, first, last;

	rd_name(r, text, sizeof(text));
	h = r->err ? NULL : job_add_host(job, text);
	if (h == NULL) {
		rd_fail(r);
		return;
	}
	h->sockets = rd_u16(r);
	h->cores = rd_u16(r);
	h->threads = rd_u16(r);
	n = rd_u32(r);
	for (i = 0; i < n && !r->err; i++) {
		first = rd_u32(r);
		last = rd_u32(r);
		if (!r->err && job_host_add_cpus(h, first, last) == -1)
			rd_fail(r);
	}
	n = rd_u32(r);
	for (i = 0; i < n && !r->err; i++) {
		rd_name(r, text, ACCEL_MAX);
		if (!r->err && job_host_add_accel(h, text) == -1)
			rd_fail(r);
	}
}

void
job_write(struct writer *w, const struct job *job)
{
	struct job *j;
	size_t i;

	memcpy(&j, &job, sizeof(j)); /* text_at() needs a writable job */
	wr_u8(w, job->revision != 0 ? RECORD_VERSION : RECORD_VERSION_1);
	wr_run_key(w, &job->key);
	wr_u32(w, job->flags);
	wr_i64(w, job->submit);
	wr_i64(w, job->end);
	wr_u8(w, (uint8_t)job->state);
	wr_u8(w, (uint8_t)job->shared);
	wr_u32(w, job->restarts);
	wr_u64(w, job->array_job);
	wr_u32(w, job->array_task);
	wr_u64(w, job->het_job);
	wr_u32(w, job->het_offset);
	wr_u32(w, job->nodes);
	wr_u32(w, job->cpus);
	wr_u32(w, job->accels);
	wr_i64(w, job->walltime);
	wr_u64(w, job->memory);
	wr_u32(w, (uint32_t)job->exit_code);
	for (i = 0; i < N_TEXTS; i++)
		wr_str(w, *text_at(j, i));
	wr_u32(w, job->n_hosts);
	for (i = 0; i < job->n_hosts; i++)
		host_write(w, &job->hosts[i]);
	if (job->revision != 0)
		wr_u64(w, job->revision);
}

/* An empty text is a missing text. */
static void
text_read(struct reader *r, char **text, size_t max)
{
	*text = rd_strdup(r, max);
	if (*text != NULL && **text == '\0') {
		free(*text);
		*text = NULL;
	}
}

void
job_read(struct reader *r, struct job *job)
{
	uint32_t i, n;
	unsigned state, shared, version = rd_u8(r);

	if (version != RECORD_VERSION && version != RECORD_VERSION_1)
		rd_fail(r);
	rd_run_key(r, &job->key);
	job->flags = rd_u32(r);
	job->submit = rd_time(r);
	job->end = rd_time(r);
	state = rd_u8(r);
	shared = rd_u8(r);
	job->restarts = rd_u32(r);
	job->array_job = rd_u64(r);
	job->array_task = rd_u32(r);
	job->het_job = rd_u64(r);
	job->het_offset = rd_u32(r);
	job->nodes = rd_u32(r);
	job->cpus = rd_u32(r);
	job->accels = rd_u32(r);
	job->walltime = rd_time(r);
	job->memory = rd_u64(r);
	job->exit_code = (int32_t)rd_u32(r);
	for (i = 0; i < N_TEXTS; i++)
		text_read(r, text_at(job, i), texts[i].max);
	n = rd_u32(r);
	if (n > HOSTS_MAX || state >= END__COUNT || shared >= SHARED__COUNT)
		rd_fail(r);
	for (i = 0; i < n && !r->err; i++)
		host_read(r, job);
	if (version == RECORD_VERSION) {
		job->revision = rd_u64(r);
		if (job->revision == 0) /* it has one encoding only */
			rd_fail(r);
	}
	if (r->err)
		return;
	job->state = (enum job_end)state;
	job->shared = (enum job_shared)shared;
}

#define TAKE_IF_NONE(member) \
	do { \
		if (into->member == 0 && from->member != 0) { \
			into->member = from->member; \
			changed = 1; \
		} \
	} while (0)

/*
 * Does `into`, with the merged hosts, keep threads or devices that `from` lacks?
 * A record that is read after the end of the run has neither: its message says
 * that they are not known, which is false for the merged record.  If `into` has
 * only threads or only devices, its own message names the others.
 */
static int
message_is_false(const struct job *into, const struct job *from)
{
	return (into->flags & ~from->flags &
		   (JOB_HAS_THREADS | JOB_HAS_ACCELS)) != 0;
}

/*
 * Is text i of `from` taken?  A record with a higher revision has the newer
 * texts; one with a lower revision adds what is missing, except the message,
 * which the newer record may have removed.  Without revisions, texts of `into`
 * stay, except the reason and Slurm's description of the job, which an end
 * replaces.
 */
static int
text_is_taken(const struct job *into, const struct job *from, size_t i,
    int is_missing)
{
	size_t at = texts[i].at;

	if (at == offsetof(struct job, message) && message_is_false(into, from))
		return 0;
	if (into->revision != 0 && from->revision != 0 &&
	    into->revision != from->revision)
		return from->revision > into->revision ||
		    (is_missing && at != offsetof(struct job, message));
	return is_missing ||
	    (from->end != 0 && into->end == 0 &&
		(at == offsetof(struct job, reason) ||
		    at == offsetof(struct job, slurm_info)));
}

static int
merge_texts(struct job *into, struct job *from)
{
	char **old, **new;
	size_t i;
	int changed = 0;

	for (i = 0; i < N_TEXTS; i++) {
		old = text_at(into, i);
		new = text_at(from, i);
		if (*new == NULL ||
		    !text_is_taken(into, from, i, *old == NULL) ||
		    (*old != NULL && strcmp(*old, *new) == 0))
			continue;
		free(*old);
		*old = *new;
		*new = NULL;
		changed = 1;
	}
	return changed;
}

/* Hosts with threads replace hosts without; devices are kept. */
static int
merge_hosts(struct job *into, struct job *from)
{
	unsigned had = into->flags & (JOB_HAS_THREADS | JOB_HAS_ACCELS);
	unsigned has = from->flags & (JOB_HAS_THREADS | JOB_HAS_ACCELS);

	if (from->n_hosts == 0 || (into->n_hosts != 0 && (has & ~had) == 0))
		return 0;
	if ((had & ~has) != 0)
		return 0;
	hosts_clear(into);
	into->hosts = from->hosts;
	into->n_hosts = from->n_hosts;
	from->hosts = NULL;
	from->n_hosts = 0;
	into->flags |= has;
	if (from->shared != SHARED_UNKNOWN)
		into->shared = from->shared;
	/* The message named an unknown value that is known now. */
	free(into->message);
	into->message = from->message;
	from->message = NULL;
	return 1;
}

static int
merge_numbers(struct job *into, const struct job *from)
{
	int changed = 0;

	TAKE_IF_NONE(submit);
	TAKE_IF_NONE(restarts);
	TAKE_IF_NONE(array_task);
	TAKE_IF_NONE(array_job);
	TAKE_IF_NONE(het_job);
	TAKE_IF_NONE(het_offset);
	TAKE_IF_NONE(nodes);
	TAKE_IF_NONE(cpus);
	TAKE_IF_NONE(accels);
	TAKE_IF_NONE(walltime);
	TAKE_IF_NONE(memory);
	TAKE_IF_NONE(shared);
	return changed;
}

int
job_merge(struct job *into, struct job *from)
{
	int changed = 0;
	unsigned sticky = from->flags &
	    (JOB_HAS_START | JOB_OPTED_OUT | JOB_NEVER_RAN);

	changed |= merge_hosts(into, from);
	changed |= merge_texts(into, from);
	changed |= merge_numbers(into, from);
	if (into->end == 0 && from->end != 0 && from->state != END_NOT) {
		into->end = from->end;
		into->state = from->state;
		into->exit_code = from->exit_code;
		into->flags &= ~JOB_LIVE;
		changed = 1;
	}
	if ((into->flags & sticky) != sticky) {
		into->flags |= sticky;
		changed = 1;
	}
	/* A record of the end does not tell whether a script follows. */
	if ((into->flags & JOB_MORE) && !(from->flags & JOB_MORE) &&
	    (from->end == 0 || into->script != NULL)) {
		into->flags &= ~JOB_MORE;
		changed = 1;
	}
	if ((into->flags & JOB_UNCONFIRMED) &&
	    !(from->flags & JOB_UNCONFIRMED) &&
	    ((from->flags & JOB_LIVE) || from->end != 0)) {
		into->flags &= ~JOB_UNCONFIRMED;
		changed = 1;
	}
	if (from->revision > into->revision) {
		into->revision = from->revision;
		changed = 1;
	}
	return changed;
}

/* After such an end the job may run again, with the same submission. */
static int
may_run_again(enum job_end end)
{
	return end == END_NOT || end == END_REQUEUED || end == END_PREEMPTED ||
	    end == END_NODE_FAIL || end == END_BOOT_FAIL;
}

int
job_is_set_back(const struct job *job, int64_t start)
{
	/* No run begins before its submission. */
	if (job->key.start < job->submit)
		return 1;
	return job->end == job->key.start && job->key.start < start &&
	    !may_run_again(job->state);
}

void
node_write(struct writer *w, const struct node_state *node)
{
	wr_str(w, node->host);
	wr_str(w, node->states);
	wr_u32(w, node->cpus);
	wr_u64(w, node->memory);
	wr_u32(w, node->gpus);
	wr_u32(w, node->jobs);
}

void
node_read(struct reader *r, struct node_state *node)
{
	rd_name(r, node->host, sizeof(node->host));
	rd_name(r, node->states, sizeof(node->states));
	node->cpus = rd_u32(r);
	node->memory = rd_u64(r);
	node->gpus = rd_u32(r);
	node->jobs = rd_u32(r);
}
