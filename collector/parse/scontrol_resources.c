/* SPDX-License-Identifier: MIT */
/*
 * The resources in a record of `scontrol show job -d -o`: nodes, CPU ids,
 * devices, memory, and whether the job shares its nodes; see parse.h.
 */
#include "config.h"

#include <string.h>

#include "collector/parse/parse.h"

/*
 * Bytes of the longest "CPU_IDs=" list: scontrol has a buffer of 128 bytes for the
 * list of one node, and cuts a longer one without a sign.
 */
#define CPU_IDS_LEN 127

/*
 * Limit of the CPU ranges and devices of one record, with the comparisons of
 * their addresses: 100,000 hosts with 8 devices need 4 million.  A record with
 * more is malformed; the limit is reached within a fraction of a second.
 */
#define WORK_MAX 8000000

/* One "Nodes=L CPU_IDs=R Mem=M GRES=G" group. */
struct group {
	const struct read_options *how;
	struct job *job;
	struct job_host *host;
	struct span cpus;
	uint32_t indices[ACCELS_MAX]; /* of the devices on each host */
	uint32_t n_indices;
	uint32_t per_host; /* devices, also without an index */
	uint32_t devices;  /* of all hosts so far */
	uint32_t work;
	int unread; /* a GRES list is malformed */
	int cut;    /* a list of CPUs may be cut */
};

static int
on_cpus(uint32_t first, uint32_t last, void *arg)
{
	struct group *g = arg;

	if (++g->work > WORK_MAX)
		return -1;
	return job_host_add_cpus(g->host, first, last);
}

static int
has_accel(const struct job_host *host, const char *address)
{
	uint32_t i;

	for (i = 0; i < host->n_accels; i++)
		if (strcmp(host->accels[i], address) == 0)
			return 1;
	return 0;
}

static int
on_index(uint32_t index, void *arg)
{
	struct group *g = arg;

	if (g->n_indices == ACCELS_MAX)
		return -1;
	g->indices[g->n_indices++] = index;
	return 0;
}

/* A list is read once, and not for each host. */
static void
gres_read(struct group *g, struct span gres)
{
	g->n_indices = 0;
	if (gres_each(gres, g->how->gpus, on_index, g, &g->per_host) == -1)
		g->unread = 1;
}

/* Adds the devices of the host, each once, also when two have one address. */
static int
devices_add(struct group *g)
{
	char address[ACCEL_MAX];
	uint32_t i;

	for (i = 0; i < g->n_indices; i++) {
		g->work += 1 + g->host->n_accels;
		if (g->work > WORK_MAX)
			return -1;
		if (g->how->device == NULL ||
		    g->how->device(g->host->name, g->indices[i], address,
			g->how->arg) == -1 ||
		    has_accel(g->host, address))
			continue;
		if (job_host_add_accel(g->host, address) == -1) {
			g->unread = 1;
			break;
		}
	}
	g->devices += g->per_host;
	return 0;
}

static int
on_host(const char *name, void *arg)
{
	struct group *g = arg;

	g->host = job_add_host(g->job, name);
	if (g->host == NULL || ranges_each(g->cpus, on_cpus, g) == -1)
		return -1;
	return devices_add(g);
}

/* Reads every group in s; *groups becomes their number. */
static int
groups_parse(struct span s, struct group *g, uint32_t *groups)
{
	struct span nodes, gres;

	*groups = 0;
	while ((nodes = token_value(&s, " Nodes=")).p != NULL) {
		/* Each is the next one: a search would read the rest each time. */
		g->cpus = token_next(&s, " CPU_IDs=");
		token_next(&s, " Mem=");
		gres = token_next(&s, " GRES_IDX=");
		if (gres.p == NULL)
			gres = token_next(&s, " GRES=");
		gres_read(g, gres);
		if (g->cpus.n == 0)
			return -1;
		if (g->cpus.n == CPU_IDS_LEN) {
			g->cut = 1;
			g->cpus.n = 0;
		}
		if (hostlist_each(nodes, on_host, g) < 1)
			return -1;
		(*groups)++;
	}
	return 0;
}

/* The values of OverSubscribe= and, since 25.11, of Exclusive=. */
static const struct sharing {
	const char *exclusive;	   /* NULL = the record has no Exclusive= */
	const char *oversubscribe; /* NULL = any */
	enum job_shared shared;
	int whole_is_none;
} sharings[] = {
	{ NULL, "NO", SHARED_NONE, 0 },
	{ NULL, "USER", SHARED_SINGLE_USER, 0 },
	{ NULL, "MCS", SHARED_MULTI_USER, 0 },
	{ NULL, "TOPO", SHARED_NONE, 0 },
	{ NULL, "YES", SHARED_MULTI_USER, 0 },
	{ NULL, "FORCE", SHARED_MULTI_USER, 0 },
	{ NULL, "OK", SHARED_MULTI_USER, 1 },
	{ "NODE", NULL, SHARED_NONE, 0 },
	{ "USER", NULL, SHARED_SINGLE_USER, 0 },
	{ "MCS", NULL, SHARED_MULTI_USER, 0 },
	{ "TOPO", NULL, SHARED_NONE, 0 },
	{ "NO", "YES", SHARED_MULTI_USER, 0 },
	{ "NO", "FORCE", SHARED_MULTI_USER, 0 },
	{ "NO", "NO", SHARED_MULTI_USER, 1 },
};

static void
sharing_parse(struct span *s, struct job_snapshot *out)
{
	struct span over = token_value(s, " OverSubscribe=");
	struct span excl;
	const char *colon = over.n > 0 ? memchr(over.p, ':', over.n) : NULL;
	const struct sharing *row;
	size_t i;

	if (colon != NULL)
		over.n = (size_t)(colon - over.p);
	excl = token_next(s, " Exclusive=");
	for (i = 0; i < sizeof(sharings) / sizeof(sharings[0]); i++) {
		row = &sharings[i];
		if ((row->exclusive == NULL) != (excl.p == NULL))
			continue;
		if ((row->exclusive == NULL || span_is(excl, row->exclusive)) &&
		    (row->oversubscribe == NULL ||
			span_is(over, row->oversubscribe))) {
			out->job.shared = row->shared;
			out->whole_is_none = row->whole_is_none;
			return;
		}
	}
}

/* The requested memory of the whole job: --mem is per node, --mem-per-cpu per CPU. */
static void
memory_parse(struct span s, uint64_t tasks, uint64_t per_task, struct job *job)
{
	const char *end = token_find(s, " Features="); /* a text of the user */
	uint64_t mb, n = tasks * per_task;
	struct span v;

	if (end != NULL)
		s.n = (size_t)(end - s.p);
	v = token_value(&s, " MinMemoryCPU=");
	if (v.p != NULL) {
		if (n < job->nodes)
			n = job->nodes;
	} else {
		v = token_value(&s, " MinMemoryNode=");
		n = job->nodes;
	}
	if (v.p != NULL && number_memory(v, &mb, NULL) == 0 && mb != 0 &&
	    n != 0 && mb < UINT64_MAX / n)
		job->memory = mb * n;
}

static void
tres_take(struct span *s, const struct read_options *how, struct job *job)
{
	struct span v;
	struct tres tres;

	v = token_value(s, " AllocTRES=");
	if (v.p == NULL)
		v = token_value(s, " TRES=");
	tres_parse(v, how->gpus, &tres);
	job->accels = tres.gpus;
	job->memory = tres.memory;
	if (tres.cpus != 0)
		job->cpus = tres.cpus;
}

enum record_verdict
scontrol_resources(struct span s, const struct read_options *how,
    struct job_snapshot *out)
{
	struct group g = { .how = how, .job = &out->job };
	struct job *job = &out->job;
	struct span nodes, behind = { NULL, 0 };
	uint64_t tasks = 1, per_task = 1;
	const char *end = token_find(s, " MinCPUsNode=");

	/* Texts of the user are behind it. */
	if (end != NULL) {
		behind = span_from(s, end);
		s.n = (size_t)(end - s.p);
	}
	nodes = token_value(&s, " NodeList=");
	out->no_nodes = nodes.n == 0 || span_is(nodes, "(null)");
	number_u32(token_value(&s, " NumNodes="), &job->nodes);
	number_u32(token_value(&s, " NumCPUs="), &job->cpus);
	number_u64(token_value(&s, " NumTasks="), &tasks);
	number_u64(token_value(&s, " CPUs/Task="), &per_task);
	if (tasks > UINT32_MAX || per_task > UINT32_MAX)
		tasks = per_task = 1;
	tres_take(&s, how, job);
	token_value(&s, " CoreSpec=");
	if (groups_parse(s, &g, &out->groups) == -1)
		return RECORD_BAD;
	if (end != NULL)
		s = behind;
	memory_parse(s, tasks, per_task, job);
	token_value(&s, " DelayBoot=");
	job->reservation = span_text(token_value(&s, " Reservation="),
	    TEXT_MAX);
	sharing_parse(&s, out);
	if (out->groups != 0) {
		if (!g.cut)
			job->flags |= JOB_HAS_THREADS;
		job->nodes = job->n_hosts;
	} else if (!out->no_nodes) {
		g.cpus.n = 0;
		gres_read(&g, (struct span) { NULL, 0 });
		if (hostlist_each(nodes, on_host, &g) == -1)
			return RECORD_BAD;
	}
	/* Slurm prints device indices only while the job runs. */
	if (!g.unread && out->groups != 0 &&
	    (phase_has_devices(out->state->phase) || job->accels == 0) &&
	    (g.devices > 0 || job->accels == 0)) {
		job->flags |= JOB_HAS_ACCELS;
		job->accels = g.devices;
	}
	return RECORD_GOOD;
}
