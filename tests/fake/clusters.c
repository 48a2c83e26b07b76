/* SPDX-License-Identifier: MIT */
/*
 * The clusters that are configured, their hosts, and the answer of
 * /api/clusters/.  Every cluster has one subcluster, "main", of nodes with
 * two sockets, four cores each, two threads a core, and four GPUs.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake.h"

#define CLUSTERS_MAX 256
#define HOSTS_MAX    100000
#define THREADS	     16
#define GPUS	     4

struct cluster {
	char *name;
	char *nodes;
	char **hosts;
	size_t nhosts;
};

static struct cluster clusters[CLUSTERS_MAX];
static size_t nclusters;

static const char sub_main[] = "main";

static int
host_add(struct cluster *c, const char *pre, size_t prelen, long n, int width)
{
	char host[256];

	if (c->nhosts >= HOSTS_MAX)
		return -1;
	if (n < 0)
		snprintf(host, sizeof(host), "%.*s", (int)prelen, pre);
	else
		snprintf(host, sizeof(host), "%.*s%0*ld", (int)prelen, pre,
		    width, n);
	if (c->nhosts % 64 == 0) {
		c->hosts = realloc(c->hosts,
		    (c->nhosts + 64) * sizeof(*c->hosts));
		if (c->hosts == NULL)
			abort();
	}
	c->hosts[c->nhosts++] = xstrdup(host);
	return 0;
}

/* prefix[1-4,7]: p is behind the bracket; returns behind the other. */
static const char *
range_read(struct cluster *c, const char *pre, size_t prelen, const char *p)
{
	char *end;
	long a, b;
	int width;

	for (;;) {
		a = b = strtol(p, &end, 10);
		if (end == p || a < 0)
			return NULL;
		width = (int)(end - p);
		if (*end == '-') {
			p = end + 1;
			b = strtol(p, &end, 10);
			if (end == p || b - a > HOSTS_MAX)
				return NULL;
		}
		for (; a <= b; a++)
			if (host_add(c, pre, prelen, a, width) == -1)
				return NULL;
		if (*end == ']')
			return end + 1;
		if (*end != ',')
			return NULL;
		p = end + 1;
	}
}

static int
nodes_read(struct cluster *c)
{
	const char *p = c->nodes;
	size_t n;

	if (strcmp(p, "*") == 0)
		return 0;
	while (*p != '\0') {
		n = strcspn(p, "[,");
		if (p[n] == '[') {
			p = range_read(c, p, n, p + n + 1);
			if (p == NULL)
				return -1;
		} else {
			if (host_add(c, p, n, -1, 0) == -1)
				return -1;
			p += n;
		}
		if (*p == ',')
			p++;
		else if (*p != '\0')
			return -1;
	}
	return 0;
}

/* The comma that starts the next "name=", or the end. */
static const char *
spec_end(const char *p)
{
	bool inside = false;
	const char *q;

	for (; *p != '\0'; p++) {
		if (*p == '[')
			inside = true;
		else if (*p == ']')
			inside = false;
		else if (*p == ',' && !inside) {
			q = p + 1 + strcspn(p + 1, "=[,");
			if (*q == '=')
				return p;
		}
	}
	return p;
}

int
clusters_init(const struct options *o)
{
	const char *p = o->clusters, *end, *eq;
	struct cluster *c;

	while (*p != '\0') {
		end = spec_end(p);
		eq = strchr(p, '=');
		if (eq == NULL || eq > end || nclusters == CLUSTERS_MAX)
			return -1;
		c = &clusters[nclusters++];
		c->name = xstrndup(p, (size_t)(eq - p));
		c->nodes = xstrndup(eq + 1, (size_t)(end - eq - 1));
		if (nodes_read(c) == -1)
			return -1;
		p = *end == ',' ? end + 1 : end;
	}
	return nclusters > 0 ? 0 : -1;
}

static const struct cluster *
cluster_find(const char *name)
{
	size_t i;

	for (i = 0; i < nclusters; i++)
		if (strcmp(clusters[i].name, name) == 0)
			return &clusters[i];
	return NULL;
}

bool
cluster_exists(const char *name)
{
	return cluster_find(name) != NULL;
}

bool
cluster_host(const char *cluster, const char *host)
{
	const struct cluster *c = cluster_find(cluster);
	size_t i;

	for (i = 0; c != NULL && i < c->nhosts; i++)
		if (strcmp(c->hosts[i], host) == 0)
			return true;
	return false;
}

const char *
cluster_sub(const char *cluster, const char *host)
{
	const struct cluster *c = cluster_find(cluster);

	if (c == NULL)
		return NULL;
	if (host == NULL || strcmp(c->nodes, "*") == 0 ||
	    cluster_host(cluster, host))
		return sub_main;
	return NULL;
}

static void
metric_write(struct text *t, const char *name, const char *scope)
{
	switch (api_options()->version) {
	case V154:
		text_fmt(t,
		    "{\"name\":\"%s\",\"unit\":{\"base\":\"F/s\"},"
		    "\"peak\":100,\"normal\":50,\"caution\":20,\"alert\":10,"
		    "\"energy\":\"\",\"scope\":\"%s\",\"aggregation\":\"sum\","
		    "\"timestep\":60,\"restrict\":false,"
		    "\"lowerIsBetter\":false}",
		    name, scope);
		break;
	case V131:
		text_fmt(t,
		    "{\"name\":\"%s\",\"unit\":{\"base\":\"F/s\"},"
		    "\"scope\":\"%s\",\"aggregation\":\"sum\",\"timestep\":60,"
		    "\"peak\":100,\"normal\":50,\"caution\":20,\"alert\":10}",
		    name, scope);
		break;
	default:
		text_fmt(t,
		    "{\"unit\":{\"base\":\"F/s\"},\"energy\":\"\","
		    "\"name\":\"%s\",\"scope\":\"%s\",\"aggregation\":\"sum\","
		    "\"peak\":100,\"caution\":20,\"alert\":10,\"timestep\":60,"
		    "\"normal\":50,\"lowerIsBetter\":false}",
		    name, scope);
		break;
	}
}

static void
metrics_write(struct text *t)
{
	text_str(t, "\"metricConfig\":[");
	metric_write(t, "cpu_load", "node");
	text_str(t, ",");
	metric_write(t, "flops_any", "hwthread");
	text_str(t, "]");
}

static int
int_compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

static void
ids_write(struct text *t, int *ids, size_t n)
{
	size_t i;

	qsort(ids, n, sizeof(*ids), int_compare);
	text_str(t, "[");
	for (i = 0; i < n; i++)
		text_fmt(t, "%s%d", i > 0 ? "," : "", ids[i]);
	text_str(t, "]");
}

/* The system's ids of the core that Slurm counts as the i-th: two siblings. */
static void
core_ids(int i, int ids[2])
{
	int core = i;

	if (api_options()->crossed)
		core = i % 4 * 2 + i / 4;
	if (api_options()->interleaved) {
		ids[0] = core;
		ids[1] = core + THREADS / 2;
	} else {
		ids[0] = 2 * core;
		ids[1] = 2 * core + 1;
	}
}

static void
topology_write(struct text *t)
{
	int ids[THREADS], cores[THREADS / 2][2], i;

	for (i = 0; i < THREADS; i++)
		ids[i] = i;
	for (i = 0; i < THREADS / 2; i++)
		core_ids(i, cores[i]);
	text_str(t, "\"topology\":{\"node\":");
	ids_write(t, ids, THREADS);
	text_str(t, ",\"socket\":[");
	for (i = 0; i < 2; i++) {
		memcpy(ids, cores[4 * i], 8 * sizeof(*ids));
		ids_write(t, ids, 8);
		text_str(t, i == 0 ? "," : "],\"memoryDomain\":[");
	}
	for (i = 0; i < THREADS; i++)
		ids[i] = i;
	ids_write(t, ids, THREADS);
	text_str(t, "],\"core\":[");
	for (i = 0; i < THREADS / 2; i++) {
		if (i > 0)
			text_str(t, ",");
		ids_write(t, cores[i], 2);
	}
	text_str(t, "],\"accelerators\":[");
	for (i = 0; i < GPUS; i++)
		text_fmt(t,
		    "%s{\"id\":\"00000000:0%d:00.0\",\"type\":"
		    "\"Nvidia GPU\",\"model\":\"A100\"}",
		    i > 0 ? "," : "", i);
	text_str(t, "]}");
}

static void
cluster_write(struct text *t, const struct cluster *c)
{
	static const char threads[] =
	    ",\"socketsPerNode\":2,"
	    "\"coresPerSocket\":4,\"threadsPerCore\":2";
	bool old = api_options()->version == V131;

	text_str(t, "{\"name\":");
	go_cstring(t, c->name);
	text_str(t, ",");
	metrics_write(t);
	text_str(t, ",\"subClusters\":[{\"name\":\"main\",\"nodes\":");
	go_cstring(t, c->nodes);
	text_str(t, ",\"processorType\":\"x\"");
	if (old)
		text_str(t, threads);
	else {
		text_str(t, ",");
		topology_write(t);
	}
	text_str(t,
	    ",\"flopRateScalar\":{\"unit\":{\"base\":\"F/s\","
	    "\"prefix\":\"G\"},\"value\":1},\"flopRateSimd\":{\"unit\":"
	    "{\"base\":\"F/s\",\"prefix\":\"G\"},\"value\":1},"
	    "\"memoryBandwidth\":{\"unit\":{\"base\":\"B/s\","
	    "\"prefix\":\"G\"},\"value\":1},");
	if (old)
		topology_write(t);
	else {
		metrics_write(t);
		text_str(t, threads);
	}
	text_str(t, "}]}");
}

void
clusters_write(struct text *t, const char *only)
{
	bool first = true;
	size_t i;

	text_str(t, "{\"clusters\":[");
	for (i = 0; i < nclusters; i++) {
		if (only != NULL && strcmp(only, clusters[i].name) != 0)
			continue;
		if (!first)
			text_str(t, ",");
		first = false;
		cluster_write(t, &clusters[i]);
	}
	text_str(t, "]}\n");
}
