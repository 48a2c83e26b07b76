/* SPDX-License-Identifier: MIT */
/*
 * cc-backend's clusters: the first line is a node list, the second a host,
 * the rest the body of an answer, whose tables then map threads.
 */
#include "config.h"

#include "common/text/nodelist.h"
#include "submitter/payload/topology.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/twin.h"

static const char known[] =
    "{\"clusters\":[{\"name\":\"known\","
    "\"subClusters\":[{\"name\":\"main\",\"nodes\":\"k[1-4]\",\"topology\":"
    "{\"socket\":[[0,1,4,5],[2,3,6,7]],\"core\":[[0,4],[1,5],[2,6],[3,7]],"
    "\"accelerators\":[{\"id\":\"00000000:00:00.0\"}]}}]}]}";

static void
ids_hold(struct topology *t, const char *cluster, struct job_host *host)
{
	static const struct cpu_range ranges[] = { { 0, 1 }, { 3, 3 }, { 2, 6 },
		{ 0, 255 }, { UINT32_MAX, UINT32_MAX }, { 0, THREADS_MAX },
		{ 0, UINT32_MAX } };
	struct cpu_range one;
	struct thread_ids ids = { NULL, 0, 0 };
	uint32_t i, n;

	for (n = 0; n < sizeof(ranges) / sizeof(ranges[0]); n++) {
		one = ranges[n];
		host->cpus = &one;
		host->n_cpus = 1;
		if (topology_map(t, NULL, cluster, host, &ids) == -1) {
			HOLDS(one.last - one.first >= THREADS_MAX);
			continue;
		}
		HOLDS(ids.n == one.last - one.first + 1);
		for (i = 0; i < ids.n; i++) {
			HOLDS(i == 0 || ids.ids[i] > ids.ids[i - 1]);
			HOLDS(ids.ids[i] < THREADS_MAX ||
			    ids.ids[i] == one.first);
		}
	}
	thread_ids_clear(&ids);
}

static void
hosts_hold(struct topology *t, const char *cluster, char *name)
{
	static const uint16_t shapes[][3] = { { 2, 2, 2 }, { 2, 4, 2 },
		{ 1, 4, 1 }, { 0, 0, 0 }, { 1, 1, 1 },
		{ 65535, 65535, 65535 } };
	char address[] = "00000000:00:00.0", *accels[] = { address };
	struct job_host host = { .name = name,
		.accels = accels,
		.n_accels = 1 };
	unsigned devices, hosts;
	size_t i;

	for (i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		host.sockets = shapes[i][0];
		host.cores = shapes[i][1];
		host.threads = shapes[i][2];
		ids_hold(t, cluster, &host);
	}
	topology_check_accels(t, cluster, &host);
	topology_unlisted(t, &devices, &hosts);
	HOLDS(devices >= hosts);
}

/* The first core's second thread on a host of the table above. */
static int
is_known(struct topology *t)
{
	struct cpu_range second = { 1, 1 };
	struct thread_ids ids = { NULL, 0, 0 };
	char name[] = "k4";
	struct job_host host = { .name = name,
		.sockets = 2,
		.cores = 2,
		.threads = 2,
		.cpus = &second,
		.n_cpus = 1 };
	int rc = topology_map(t, NULL, "known", &host, &ids) == 0 &&
	    ids.n == 1 && ids.ids[0] == 4;

	thread_ids_clear(&ids);
	return rc;
}

static void
on_accel(const char *cluster, const char *nodes, char *const *ids, size_t n,
    void *arg)
{
	size_t *sum = arg, i;

	HOLDS(n > 0);
	*sum += strlen(cluster) + strlen(nodes);
	for (i = 0; i < n; i++)
		*sum += strlen(ids[i]);
}

/* The text for an admin ends within any buffer. */
static void
texts_hold(const struct topology *t, size_t size)
{
	size_t sum = 0;
	char *buf;

	size = 8 + size % 64;
	buf = malloc(size);
	HOLDS(buf != NULL);
	topology_names(t, buf, size);
	HOLDS(memchr(buf, '\0', size) != NULL);
	free(buf);
	topology_each_accel(t, on_accel, &sum);
}

/* As many clusters as jansson counts. */
static void
clusters_hold(const struct topology *t, const char *json, size_t n)
{
	struct twin *root = twin_load(json, n);
	const struct twin *list;

	list = root != NULL && twin_kind(root) == TWIN_OBJECT ?
	    twin_member(root, "clusters") :
	    NULL;
	if (list != NULL) {
		HOLDS(twin_kind(list) == TWIN_ARRAY);
		HOLDS(topology_clusters(t) == twin_size(list));
	}
	twin_free(root);
}

static void
answer_holds(const char *json, size_t n, char *host)
{
	struct topology *t = topology_new();
	char reason[128] = "", first[] = "k1";

	HOLDS(t != NULL && topology_clusters(t) == 0);
	hosts_hold(t, "known", host);
	HOLDS(topology_load(t, known, sizeof(known) - 1, reason,
		  sizeof(reason)) == 0);
	HOLDS(is_known(t));
	if (topology_load(t, json, n, reason, sizeof(reason)) == 0)
		clusters_hold(t, json, n);
	else {
		HOLDS(*reason != '\0');
		HOLDS(memchr(reason, '\0', sizeof(reason)) != NULL);
		/* The topology that was known stays. */
		HOLDS(is_known(t));
	}
	hosts_hold(t, "known", first);
	hosts_hold(t, "alpha", host);
	texts_hold(t, n);
	topology_free(t);
}

/* A name alone in a list is itself; a list matches with more behind it. */
static void
list_holds(const char *list, const char *host)
{
	char *more;
	int has = nodelist_has(list, host);

	HOLDS(has == 0 || has == 1);
	HOLDS(!nodelist_has(list, ""));
	if (*host != '\0' && strpbrk(host, "[],*") == NULL)
		HOLDS(nodelist_has(host, host));
	more = malloc(strlen(list) + 16);
	HOLDS(more != NULL);
	strcpy(more, list);
	strcat(more, ",zz[01-03]");
	if (has && strcmp(list, "*") != 0)
		HOLDS(nodelist_has(more, host));
	/* An open bracket swallows what follows. */
	if (strpbrk(list, "[]") == NULL)
		HOLDS(nodelist_has(more, "zz02"));
	free(more);
}

static size_t
line_take(const uint8_t *p, size_t n, char **line)
{
	const uint8_t *nl = n > 0 ? memchr(p, '\n', n) : NULL;
	size_t len = nl != NULL ? (size_t)(nl - p) : n;

	*line = exact_string(p, len);
	return len + (nl != NULL);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	char *list, *host, *json;
	size_t used;

	fuzz_quiet();
	used = line_take(bytes, n, &list);
	used += line_take(bytes + used, n - used, &host);
	list_holds(list, host);
	json = exact(bytes + used, n - used);
	answer_holds(json, n - used, host);
	free(list);
	free(host);
	free(json);
	return 0;
}
