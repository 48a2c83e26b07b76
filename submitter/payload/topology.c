/* SPDX-License-Identifier: MIT */
/*
 * cc-backend's clusters: per subcluster the node list as text, one table from
 * abstract id to OS id, and the devices.  Slurm numbers the threads of a host
 * by socket, core and sibling.  Sockets are sorted by their lowest OS id, cores
 * within a socket by their lowest OS id, siblings by OS id.
 */
#include "config.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "common/array.h"
#include "common/hash.h"
#include "common/log.h"
#include "submitter/payload/cpumap.h"
#include "common/text/nodelist.h"
#include "submitter/payload/thread_table.h"
#include "submitter/payload/topology.h"

/* Warnings that are logged once; further ones are not logged. */
#define LOGGED_MAX 1024
/* Limits of a list of clusters; sites have about ten. */
#define CLUSTERS_MAX 256
#define KINDS_MAX    1024
/* Bytes of the node lists of a cluster: each host of a run is searched in them. */
#define NODES_MAX (512 * 1024)
/*
 * Of the whole text, before jansson builds a tree that needs up to 75 times
 * the memory of the text: about 100 MiB in all.  KINDS_MAX kinds of hosts with
 * 128 cores have 140,000 arrays and a million numbers.
 */
#define CONTAINERS_MAX 200000  /* objects and arrays */
#define MEMBERS_MAX    200000  /* of all objects */
#define VALUES_MAX     2000000 /* members and elements */

struct kind {
	char *name;		     /* owned; of the subcluster */
	char *nodes;		     /* owned; node list */
	struct thread_shape sockets; /* by socket; no ids = not valid */
	struct thread_shape domains; /* by memory domain */
	char **accels;		     /* owned */
	size_t n_accels;
};

struct cluster {
	char *name;	    /* owned */
	struct kind *kinds; /* owned */
	size_t n;
};

struct topology {
	struct cluster *clusters; /* owned */
	size_t n;
	uint64_t digest;  /* of the last answer */
	unsigned devices; /* not listed by cc-backend */
	unsigned hosts;	  /* with such devices */
	size_t n_logged;
	uint64_t logged[LOGGED_MAX];
};

/* 1 when it is called first with these texts, ended by NULL. */
static int
first_time(struct topology *t, ...)
{
	uint64_t h = HASH_START;
	const char *s;
	va_list ap;
	size_t i;

	va_start(ap, t);
	while ((s = va_arg(ap, const char *)) != NULL)
		h = hash_bytes(h, s, strlen(s) + 1);
	va_end(ap);
	for (i = 0; i < t->n_logged; i++)
		if (t->logged[i] == h)
			return 0;
	if (t->n_logged == LOGGED_MAX)
		return 0;
	t->logged[t->n_logged++] = h;
	return 1;
}

void
thread_ids_clear(struct thread_ids *ids)
{
	free(ids->ids);
	memset(ids, 0, sizeof(*ids));
}

static int
ids_add(struct thread_ids *ids, uint32_t id)
{
	uint32_t *more;

	if (ids->n >= THREADS_MAX)
		return -1;
	more = array_reserve(ids->ids, &ids->cap, ids->n + 1, sizeof(*more));
	if (more == NULL)
		return -1;
	ids->ids = more;
	ids->ids[ids->n++] = id;
	return 0;
}

struct topology *
topology_new(void)
{
	return calloc(1, sizeof(struct topology));
}

static void
kind_clear(struct kind *k)
{
	size_t i;

	free(k->name);
	free(k->nodes);
	shape_clear(&k->sockets);
	shape_clear(&k->domains);
	for (i = 0; i < k->n_accels; i++)
		free(k->accels[i]);
	free(k->accels);
}

static void
clusters_free(struct cluster *clusters, size_t n)
{
	size_t i, k;

	for (i = 0; i < n; i++) {
		for (k = 0; k < clusters[i].n; k++)
			kind_clear(&clusters[i].kinds[k]);
		free(clusters[i].kinds);
		free(clusters[i].name);
	}
	free(clusters);
}

void
topology_free(struct topology *t)
{
	if (t == NULL)
		return;
	clusters_free(t->clusters, t->n);
	free(t);
}

static char *
copy_of(const json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));

	return strdup(s != NULL ? s : "");
}

static int
read_accels(struct kind *k, const json_t *list)
{
	size_t i, n = json_array_size(list);
	const json_t *id;

	if (n == 0)
		return 0;
	if (n > ACCELS_MAX)
		n = ACCELS_MAX;
	k->accels = calloc(n, sizeof(*k->accels));
	if (k->accels == NULL)
		return -1;
	for (i = 0; i < n; i++) {
		id = json_object_get(json_array_get(list, i), "id");
		if (!json_is_string(id))
			continue;
		k->accels[k->n_accels] = strdup(json_string_value(id));
		if (k->accels[k->n_accels] == NULL)
			return -1;
		k->n_accels++;
	}
	return 0;
}

static int
read_kind(struct kind *k, const json_t *o)
{
	const json_t *top = json_object_get(o, "topology");
	const json_t *cores = json_object_get(top, "core");

	k->name = copy_of(o, "name");
	k->nodes = copy_of(o, "nodes");
	if (k->name == NULL || k->nodes == NULL)
		return -1;
	shape_read(&k->sockets, json_object_get(top, "socket"), cores);
	shape_read(&k->domains, json_object_get(top, "memoryDomain"), cores);
	return read_accels(k, json_object_get(top, "accelerators"));
}

static int
read_cluster(struct cluster *c, const json_t *o)
{
	const json_t *list = json_object_get(o, "subClusters");
	size_t i, n = json_array_size(list), nodes = 0;

	c->name = copy_of(o, "name");
	c->kinds = calloc(n + 1, sizeof(*c->kinds));
	if (c->name == NULL || c->kinds == NULL || n > KINDS_MAX)
		return -1;
	for (i = 0; i < n; i++, c->n++) {
		if (read_kind(&c->kinds[i], json_array_get(list, i)) == -1 ||
		    (nodes += strlen(c->kinds[i].nodes)) > NODES_MAX) {
			kind_clear(&c->kinds[i]);
			return -1;
		}
	}
	return 0;
}

/* Logs once the subclusters that have no table. */
static void
report_shapeless(struct topology *t, const struct cluster *c)
{
	size_t i;

	for (i = 0; i < c->n; i++)
		if (c->kinds[i].sockets.ids == NULL &&
		    first_time(t, "shapeless", c->name, c->kinds[i].name, NULL))
			log_warnx(
			    "cc-backend's topology of %s, subcluster %s, "
			    "does not have sockets and cores of equal size: "
			    "Slurm's thread ids are sent unchanged; set cpuMap "
			    "if they are wrong",
			    c->name, c->kinds[i].name);
}

static struct cluster *
read_clusters(const json_t *list, size_t *n)
{
	struct cluster *clusters;
	size_t i;

	*n = json_array_size(list);
	clusters = calloc(*n + 1, sizeof(*clusters));
	if (clusters == NULL)
		return NULL;
	for (i = 0; i < *n; i++)
		if (read_cluster(&clusters[i], json_array_get(list, i)) == -1) {
			clusters_free(clusters, i + 1);
			return NULL;
		}
	return clusters;
}

/* Counts outside of strings; the text need not be JSON. */
static int
size_is_usual(const char *json, size_t len)
{
	size_t i, containers = 0, members = 0, values = 0;
	int in_string = 0;

	for (i = 0; i < len; i++) {
		if (in_string && json[i] == '\\')
			i++;
		else if (json[i] == '"')
			in_string = !in_string;
		else if (in_string)
			continue;
		else if (json[i] == '{' || json[i] == '[')
			containers++;
		else if (json[i] == ':')
			members++;
		else if (json[i] == ',')
			values++;
	}
	return containers <= CONTAINERS_MAX && members <= MEMBERS_MAX &&
	    values <= VALUES_MAX;
}

int
topology_load(struct topology *t, const char *json, size_t len, char *reason,
    size_t size)
{
	uint64_t digest = hash_bytes(HASH_START, json, len);
	struct cluster *clusters = NULL;
	const json_t *list;
	json_error_t err;
	json_t *root;
	size_t i, n = 0;

	if (t->clusters != NULL && digest == t->digest)
		return 0;
	if (!size_is_usual(json, len)) {
		snprintf(reason, size,
		    "more objects, members or values than any list of clusters "
		    "has");
		return -1;
	}
	root = json_loadb(json, len, JSON_DISABLE_EOF_CHECK, &err);
	list = json_object_get(root, "clusters");
	if (root == NULL)
		snprintf(reason, size, "not JSON: %s", err.text);
	else if (!json_is_array(list) || json_array_size(list) > CLUSTERS_MAX)
		snprintf(reason, size, "no list of clusters");
	else {
		clusters = read_clusters(list, &n);
		if (clusters == NULL)
			snprintf(reason, size,
			    "too many subclusters, node lists that are too "
			    "long, or out of memory");
	}
	json_decref(root);
	if (clusters == NULL)
		return -1;
	clusters_free(t->clusters, t->n);
	t->clusters = clusters;
	t->n = n;
	t->digest = digest;
	t->n_logged = 0;
	t->devices = t->hosts = 0;
	for (i = 0; i < n; i++)
		report_shapeless(t, &clusters[i]);
	return 0;
}

unsigned
topology_clusters(const struct topology *t)
{
	return (unsigned)t->n;
}

static const struct cluster *
cluster_of(const struct topology *t, const char *name)
{
	size_t i;

	for (i = 0; i < t->n; i++)
		if (strcmp(t->clusters[i].name, name) == 0)
			return &t->clusters[i];
	return NULL;
}

int
topology_has(const struct topology *t, const char *cluster)
{
	return cluster_of(t, cluster) != NULL;
}

void
topology_names(const struct topology *t, char *buf, size_t size)
{
	const char *name;
	size_t i, used = 0;

	snprintf(buf, size, "none");
	for (i = 0; i < t->n; i++) {
		name = t->clusters[i].name;
		if (used + 2 + strlen(name) + sizeof(", ...") > size)
			name = "...";
		used += (size_t)snprintf(buf + used, size - used, "%s%s",
		    i > 0 ? ", " : "", name);
		if (name != t->clusters[i].name)
			return;
	}
}

void
topology_each_accel(const struct topology *t, topology_accel_fn *fn, void *arg)
{
	const struct kind *k;
	size_t i, j;

	for (i = 0; i < t->n; i++)
		for (j = 0; j < t->clusters[i].n; j++) {
			k = &t->clusters[i].kinds[j];
			if (k->n_accels > 0)
				fn(t->clusters[i].name, k->nodes, k->accels,
				    k->n_accels, arg);
		}
}

static const struct kind *
kind_of(const struct topology *t, const char *cluster, const char *host)
{
	const struct cluster *c = cluster_of(t, cluster);
	size_t i;

	for (i = 0; c != NULL && i < c->n; i++)
		if (nodelist_has(c->kinds[i].nodes, host))
			return &c->kinds[i];
	return NULL;
}

/* How abstract ids become OS ids: by cpuMap, by topology or unchanged. */
struct way {
	const struct cpumap *map;
	int rule;			  /* -1 = not by cpuMap */
	const struct thread_shape *shape; /* NULL = not by topology */
};

/* The table for the host's shape in Slurm; NULL with one log line. */
static const struct thread_shape *
shape_for(struct topology *t, const char *cluster, const struct job_host *host)
{
	const struct kind *k = kind_of(t, cluster, host->name);
	char shape[32];

	if (t->n == 0)
		return NULL;
	if (k == NULL) {
		if (first_time(t, "host", cluster, NULL))
			log_warnx(
			    "cc-backend does not list host %s in cluster "
			    "%s: thread ids of such hosts are sent unchanged",
			    host->name, cluster);
		return NULL;
	}
	if (shape_fits(&k->sockets, host))
		return &k->sockets;
	if (shape_fits(&k->domains, host))
		return &k->domains;
	if (host->sockets == 0 || host->cores == 0 || host->threads == 0)
		snprintf(shape, sizeof(shape), "an unknown number of");
	else
		snprintf(shape, sizeof(shape), "%ux%ux%u", host->sockets,
		    host->cores, host->threads);
	if (k->sockets.ids != NULL &&
	    first_time(t, "shape", cluster, k->name, shape, NULL))
		log_warnx(
		    "%s, subcluster %s: host %s has %s sockets x cores x "
		    "threads in Slurm and %ux%ux%u in cc-backend: thread ids "
		    "of such hosts are sent unchanged; set cpuMap if they are "
		    "wrong",
		    cluster, k->name, host->name, shape, k->sockets.sockets,
		    k->sockets.cores, k->sockets.threads);
	return NULL;
}

static int64_t
way_id(const struct way *way, const struct job_host *host, uint32_t abstract)
{
	if (way->rule != -1)
		return cpumap_id(way->map, way->rule, host, abstract);
	if (way->shape == NULL)
		return abstract;
	return abstract < way->shape->n ? (int64_t)way->shape->ids[abstract] :
					  -1;
}

/* 0; 1 when an abstract id has no OS id; -1 when there are too many. */
static int
map_ranges(const struct way *way, const struct job_host *host,
    struct thread_ids *out)
{
	uint32_t i, a;
	int64_t id;

	out->n = 0;
	for (i = 0; i < host->n_cpus; i++) {
		if (host->cpus[i].last - host->cpus[i].first >= THREADS_MAX)
			return -1;
		for (a = host->cpus[i].first; a <= host->cpus[i].last; a++) {
			id = way_id(way, host, a);
			if (id == -1)
				return 1;
			if (ids_add(out, (uint32_t)id) == -1)
				return -1;
			if (a == UINT32_MAX)
				break;
		}
	}
	return 0;
}

static int
id_order(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* Sorts the ids and removes duplicates. */
static void
ids_tidy(struct thread_ids *ids)
{
	uint32_t i, n = 0;
	int sorted = 1;

	for (i = 1; i < ids->n && sorted; i++)
		sorted = ids->ids[i - 1] < ids->ids[i];
	if (sorted)
		return;
	qsort(ids->ids, ids->n, sizeof(*ids->ids), id_order);
	for (i = 0; i < ids->n; i++)
		if (n == 0 || ids->ids[n - 1] != ids->ids[i])
			ids->ids[n++] = ids->ids[i];
	ids->n = n;
}

int
topology_map(struct topology *t, const struct cpumap *map, const char *cluster,
    const struct job_host *host, struct thread_ids *out)
{
	struct way way = { map, cpumap_rule(map, host->name), NULL };
	int rc;

	if (way.rule == -1 && t != NULL)
		way.shape = shape_for(t, cluster, host);
	rc = map_ranges(&way, host, out);
	if (rc == 1) {
		if (t != NULL && first_time(t, "id", cluster, host->name, NULL))
			log_warnx("%s: thread ids of host %s are not in %s: "
				  "they are sent unchanged",
			    cluster, host->name,
			    way.rule != -1 ? "cpuMap" : "its topology");
		way.rule = -1;
		way.shape = NULL;
		rc = map_ranges(&way, host, out);
	}
	if (rc == 0)
		ids_tidy(out);
	return rc;
}

static int
kind_has_accel(const struct kind *k, const char *id)
{
	size_t i;

	for (i = 0; i < k->n_accels; i++)
		if (strcmp(k->accels[i], id) == 0)
			return 1;
	return 0;
}

void
topology_check_accels(struct topology *t, const char *cluster,
    const struct job_host *host)
{
	const struct kind *k = kind_of(t, cluster, host->name);
	const char *example = NULL;
	unsigned missing = 0;
	uint32_t i;

	if (k == NULL)
		return;
	for (i = 0; i < host->n_accels; i++)
		if (!kind_has_accel(k, host->accels[i])) {
			example = host->accels[i];
			missing++;
		}
	if (missing == 0 || !first_time(t, "accels", cluster, host->name, NULL))
		return;
	t->devices += missing;
	t->hosts++;
	log_warnx(
	    "cc-backend's topology of %s, subcluster %s, does not list "
	    "%u device%s of host %s, such as %s: cc-backend does not show "
	    "their metrics; check gpuPciAddrs",
	    cluster, k->name, missing, missing == 1 ? "" : "s", host->name,
	    example);
}

void
topology_unlisted(const struct topology *t, unsigned *devices, unsigned *hosts)
{
	*devices = t->devices;
	*hosts = t->hosts;
}
