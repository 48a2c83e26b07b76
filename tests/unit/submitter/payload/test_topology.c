/* SPDX-License-Identifier: MIT */
/*
 * Maps Slurm's abstract thread ids to OS ids by cc-backend's topology and by
 * cpuMap.  The expected ids were written by hand from the topology of
 * tests/data/cc-backend/clusters.json: interleaved siblings, alternating
 * sockets, a subcluster with cores of different sizes.
 */
#include "config.h"

#include <sys/resource.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "submitter/payload/cpumap.h"
#include "submitter/payload/topology.h"
#include "tests/unit/check.h"

static char *
file_read(const char *name, size_t *len)
{
	char path[512], *buf = calloc(1, 1 << 20);
	const char *top = getenv("srcdir");
	FILE *f;

	snprintf(path, sizeof(path), "%s/tests/data/%s",
	    top != NULL ? top : ".", name);
	f = fopen(path, "r");
	if (f == NULL || buf == NULL) {
		perror(path);
		exit(99);
	}
	*len = fread(buf, 1, (1 << 20) - 1, f);
	fclose(f);
	return buf;
}

static void
host_make(struct job *job, const char *name, unsigned s, unsigned c, unsigned t)
{
	struct job_host *h = job_add_host(job, name);

	h->sockets = (uint16_t)s;
	h->cores = (uint16_t)c;
	h->threads = (uint16_t)t;
}

/* The OS ids of first to last on a host of that shape, as text. */
static const char *
mapped(struct topology *t, const struct cpumap *m, const char *cluster,
    const char *name, const char *shape, uint32_t first, uint32_t last)
{
	static char text[512];
	struct thread_ids out = { NULL, 0, 0 };
	unsigned s = 0, c = 0, th = 0;
	struct job job;
	size_t len = 0;
	uint32_t i;

	job_init(&job);
	sscanf(shape, "%ux%ux%u", &s, &c, &th);
	host_make(&job, name, s, c, th);
	job_host_add_cpus(&job.hosts[0], first, last);
	text[0] = '\0';
	if (topology_map(t, m, cluster, &job.hosts[0], &out) == -1)
		snprintf(text, sizeof(text), "none");
	else
		for (i = 0; i < out.n && len + 8 < sizeof(text); i++)
			len += (size_t)snprintf(text + len, sizeof(text) - len,
			    "%s%u", i ? "," : "", out.ids[i]);
	thread_ids_clear(&out);
	job_clear(&job);
	return text;
}

static void
check_map(struct topology *t)
{
	/* Siblings eight apart, two sockets of four cores. */
	CHECK_STR(mapped(t, NULL, "alpha", "n1", "2x4x2", 0, 1), "0,8");
	CHECK_STR(mapped(t, NULL, "alpha", "n1", "2x4x2", 0, 3), "0,1,8,9");
	CHECK_STR(mapped(t, NULL, "alpha", "n1", "2x4x2", 8, 9), "4,12");
	CHECK_STR(mapped(t, NULL, "alpha", "n2", "2x4x2", 0, 15),
	    "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15");
	CHECK_STR(mapped(t, NULL, "alpha", "n4", "2x4x2", 3, 3), "9");
	/* Even ids on socket 0, odd ones on socket 1, no siblings. */
	CHECK_STR(mapped(t, NULL, "alpha", "odd07", "2x4x1", 0, 3), "0,2,4,6");
	CHECK_STR(mapped(t, NULL, "alpha", "odd07", "2x4x1", 4, 5), "1,3");
	/* Slurm counts memory domains as sockets. */
	CHECK_STR(mapped(t, NULL, "alpha", "odd07", "4x2x1", 2, 3), "1,3");
	/* Cores of one and of two threads; unknown hosts, shapes, clusters. */
	CHECK_STR(mapped(t, NULL, "alpha", "mixed1", "1x3x2", 0, 3), "0,1,2,3");
	CHECK_STR(mapped(t, NULL, "alpha", "n1", "1x8x2", 0, 2), "0,1,8");
	CHECK_STR(mapped(t, NULL, "alpha", "n1", "2x8x1", 0, 2), "0,1,2");
	CHECK_STR(mapped(t, NULL, "alpha", "n1", "0x0x0", 4, 5), "4,5");
	CHECK_STR(mapped(t, NULL, "alpha", "n9", "2x4x2", 4, 5), "4,5");
	CHECK_STR(mapped(t, NULL, "gamma", "n1", "2x4x2", 4, 5), "4,5");
	CHECK_STR(mapped(NULL, NULL, "alpha", "n1", "2x4x2", 4, 5), "4,5");
	/* Not in the table: unchanged; too many: none. */
	CHECK_STR(mapped(t, NULL, "alpha", "n1", "2x4x2", 14, 17),
	    "14,15,16,17");
	CHECK_STR(mapped(t, NULL, "alpha", "n1", "2x4x2", 0, THREADS_MAX),
	    "none");
	CHECK_STR(mapped(t, NULL, "alpha", "n1", "2x4x2", 0, UINT32_MAX),
	    "none");
	CHECK_STR(mapped(t, NULL, "alpha", "n1", "2x4x2", UINT32_MAX,
		      UINT32_MAX),
	    "4294967295");
}

static void
check_cpumap(struct topology *t)
{
	char why[256];
	struct cpumap *m =
	    cpumap_new("{\"^n1$\":\"block\",\"^n\":"
		       "\"interleaved\",\"^x\":[7,6,5,4],\"x1\":\"block\"}",
		why, sizeof(why));

	CHECK(m != NULL);
	CHECK_STR(mapped(t, m, "alpha", "n1", "2x4x2", 0, 1), "0,1");
	CHECK_STR(mapped(t, m, "alpha", "n77", "2x4x2", 0, 2), "0,1,8");
	CHECK_STR(mapped(t, m, "alpha", "n77", "0x0x0", 0, 2), "0,1,2");
	CHECK_STR(mapped(t, m, "alpha", "x1", "2x4x2", 0, 2), "5,6,7");
	CHECK_STR(mapped(t, m, "alpha", "x1", "2x4x2", 2, 4), "2,3,4");
	CHECK_STR(mapped(NULL, m, "alpha", "x1", "2x4x2", 3, 3), "4");
	CHECK_STR(mapped(t, m, "alpha", "odd01", "2x4x1", 1, 1), "2");
	cpumap_free(m);
	CHECK(cpumap_new("{\"(\":\"block\"}", why, sizeof(why)) == NULL);
	CHECK(strstr(why, "\"(\"") != NULL);
	CHECK(cpumap_new("{\"a\":\"blocks\"}", why, sizeof(why)) == NULL);
	CHECK(cpumap_new("{\"a\":[]}", why, sizeof(why)) == NULL);
	CHECK(cpumap_new("{\"a\":[-1]}", why, sizeof(why)) == NULL);
	CHECK(cpumap_new("{\"a\":[1.5]}", why, sizeof(why)) == NULL);
	CHECK(cpumap_new("[]", why, sizeof(why)) == NULL);
	CHECK(cpumap_new("", why, sizeof(why)) == NULL);
	m = cpumap_new("{}", why, sizeof(why));
	CHECK(m != NULL);
	CHECK_INT(cpumap_rule(m, "n1"), -1);
	cpumap_free(m);
	CHECK_INT(cpumap_rule(NULL, "n1"), -1);
}

static void
check_accels(struct topology *t)
{
	unsigned devices, hosts;
	struct job job;
	struct job_host *h;

	job_init(&job);
	h = job_add_host(&job, "n1");
	job_host_add_accel(h, "00000000:01:00.0");
	topology_check_accels(t, "alpha", h);
	topology_unlisted(t, &devices, &hosts);
	CHECK_INT(devices, 0);
	job_host_add_accel(h, "00000000:C1:00.0");
	topology_check_accels(t, "alpha", h);
	topology_check_accels(t, "alpha", h);
	topology_unlisted(t, &devices, &hosts);
	CHECK_INT(devices, 1);
	CHECK_INT(hosts, 1);
	job_clear(&job);
}

static void
check_refused(struct topology *t)
{
	static const char *const bad[] = { "", "{", "[]", "{}",
		"{\"clusters\":{}}", "<html>captive</html>",
		"{\"clusters\":[{\"name\":\"a\"" };
	static const char *const odd[] = {
		"{\"clusters\":[]}",
		"{\"clusters\":[null,1,{\"name\":3,\"subClusters\":[null]}]}",
		"{\"clusters\":[{\"name\":\"a\",\"subClusters\":[{\"nodes\":"
		"\"n1\",\"topology\":{\"socket\":[[0,0]],\"core\":[[0,1]]}}]}]}",
		"{\"clusters\":[{\"name\":\"a\",\"subClusters\":[{\"nodes\":"
		"\"n1\",\"topology\":{\"socket\":[[0,1e9]],\"core\":[[99999999]"
		"]}}]}]}",
		"{\"clusters\":[{\"name\":\"a\",\"subClusters\":[{\"nodes\":"
		"\"n1\",\"topology\":{\"socket\":[[]],\"core\":[[],[0]]}}]}]}",
	};
	char why[256];
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		why[0] = '\0';
		CHECK_INT(topology_load(t, bad[i], strlen(bad[i]), why,
			      sizeof(why)),
		    -1);
		CHECK(why[0] != '\0');
		CHECK_STR(mapped(t, NULL, "alpha", "n1", "2x4x2", 8, 9),
		    "4,12");
	}
	for (i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
		CHECK_INT(topology_load(t, odd[i], strlen(odd[i]), why,
			      sizeof(why)),
		    0);
		CHECK_STR(mapped(t, NULL, "a", "n1", "1x1x2", 0, 1), "0,1");
	}
	CHECK_STR(mapped(t, NULL, "alpha", "n1", "2x4x2", 8, 9), "8,9");
}

static long
peak_kib(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_maxrss;
}

/* Of the most that cc-backend may send: n times the text, after begin. */
static int
repeated_load(const char *begin, const char *text, size_t n, const char *end)
{
	struct topology *t = topology_new();
	size_t i, len, one = strlen(text);
	char *json = malloc(strlen(begin) + n * one + strlen(end) + 1), *p;
	char why[256];
	int rc;

	p = stpcpy(json, begin);
	for (i = 0; i < n; i++, p += one)
		memcpy(p, text, one);
	len = (size_t)(stpcpy(p, end) - json);
	rc = topology_load(t, json, len, why, sizeof(why));
	free(json);
	topology_free(t);
	return rc;
}

/* Short texts that need a large tree are refused before there is a tree. */
static void
check_large(void)
{
	static const char begin[] = "{\"clusters\":[],\"x\":[";
	long before;

	CHECK_INT(repeated_load(begin, "{},", 1000, "1]}"), 0);
	before = peak_kib();
	CHECK_INT(repeated_load(begin, "{},", 2500000, "1]}"), -1);
	CHECK_INT(repeated_load(begin, "[],", 2500000, "1]}"), -1);
	CHECK_INT(repeated_load(begin, "1,", 4000000, "1]}"), -1);
	CHECK_INT(repeated_load(begin, "{\"a\":1},", 800000, "1]}"), -1);
#ifndef SANITIZED
	CHECK(peak_kib() - before < 32 * 1024);
#else
	(void)before;
#endif
	/* Brackets and commas in a string are no values. */
	CHECK_INT(repeated_load(begin, "\"[{,:\\\"[[[{{{,,,,::::\",", 100000,
		      "1]}"),
	    0);
	/* 1,000 subclusters with 128 cores of two threads. */
	CHECK_INT(repeated_load("{\"clusters\":[],\"x\":[",
		      "[[0,1],[2,3],[4,5],[6,7]],", 32000, "1]}"),
	    0);
}

static void
on_accel(const char *cluster, const char *nodes, char *const *ids, size_t n,
    void *arg)
{
	unsigned *calls = arg;

	(*calls)++;
	CHECK_STR(cluster, "alpha");
	CHECK_STR(nodes, "n[1-4]");
	CHECK_INT(n, 4);
	CHECK_STR(ids[3], "00000000:03:00.0");
}

static void
check_names(const struct topology *t)
{
	unsigned calls = 0;
	char names[32];

	CHECK(topology_has(t, "alpha") && !topology_has(t, "Alpha"));
	topology_names(t, names, sizeof(names));
	CHECK_STR(names, "alpha, beta");
	topology_names(t, names, 14);
	CHECK_STR(names, "alpha, ...");
	topology_each_accel(t, on_accel, &calls);
	CHECK_INT(calls, 1);
}

/* A list that is cut ends with "...", whatever the size is. */
static void
check_names_cut(void)
{
	static const char json[] = "{\"clusters\":[{\"name\":\"alpha\"},"
				   "{\"name\":\"beta\"},{\"name\":\"c\"}]}";
	static const char whole[] = "alpha, beta, c";
	struct topology *t = topology_new();
	char why[256], names[40];
	size_t size, n;

	CHECK_INT(topology_load(t, json, strlen(json), why, sizeof(why)), 0);
	topology_names(t, names, sizeof(names));
	CHECK_STR(names, whole);
	for (size = 4; size < sizeof(names); size++) {
		topology_names(t, names, size);
		n = strlen(names);
		CHECK(strcmp(names, whole) == 0 ||
		    (n >= 3 && strcmp(names + n - 3, "...") == 0));
	}
	topology_free(t);
}

/* Each host of a run is searched in the lists of nodes. */
static void
check_node_lists(void)
{
	static const char head[] =
	    "{\"clusters\":[{\"name\":\"a\","
	    "\"subClusters\":[{\"name\":\"s\",\"nodes\":\"";
	static char text[520 * 1024 + sizeof(head) + 64];
	struct topology *t = topology_new();
	char why[256];
	size_t n, len;
	int i;

	for (i = 0; i < 2; i++) {
		n = (i == 0 ? 511 : 513) * 1024;
		len = (size_t)sprintf(text, "%s", head);
		memset(text + len, 'n', n);
		len += n;
		len += (size_t)sprintf(text + len, "\"}]}]}");
		CHECK_INT(topology_load(t, text, len, why, sizeof(why)), -i);
	}
	CHECK(strstr(why, "node lists that are too long") != NULL);
	topology_free(t);
}

int
main(void)
{
	struct topology *t = topology_new();
	char why[256], *json;
	size_t len;

	json = file_read("cc-backend/clusters.json", &len);
	CHECK_INT(topology_clusters(t), 0);
	topology_names(t, why, sizeof(why));
	CHECK_STR(why, "none");
	CHECK_STR(mapped(t, NULL, "alpha", "n1", "2x4x2", 4, 5), "4,5");
	CHECK_INT(topology_load(t, json, len, why, sizeof(why)), 0);
	CHECK_INT(topology_clusters(t), 2);
	check_names(t);
	check_names_cut();
	check_map(t);
	check_cpumap(t);
	check_accels(t);
	CHECK_INT(topology_load(t, json, len, why, sizeof(why)), 0);
	check_refused(t);
	check_large();
	check_node_lists();
	topology_free(t);
	topology_free(NULL);
	free(json);
	return check_done();
}
