/* SPDX-License-Identifier: MIT */
/*
 * Bodies and messages of any record: jansson takes them, they say of the run
 * what the record says, and a line for NATS holds one body whole.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>

#include "common/text/text.h"
#include "submitter/payload/nats_message.h"
#include "submitter/payload/payload.h"
#include "submitter/payload/topology.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/twin.h"

#define THREADS_SHOWN 200000 /* of one record: more only takes long */

static const char clusters[] =
    "{\"clusters\":[{\"name\":\"beta\","
    "\"subClusters\":[{\"name\":\"main\",\"nodes\":\"n[1-4]\",\"topology\":"
    "{\"socket\":[[0,1,4,5],[2,3,6,7]],\"core\":[[0,4],[1,5],[2,6],[3,7]],"
    "\"accelerators\":[{\"id\":\"00000000:00:00.0\"}]}}]}]}";

static const char tags[] =
    "[{\"type\":\"queue\",\"name\":\"gpu\",\"when\":{\"partition\":\"^g.u\","
    "\"account\":\"(a|b)*c\"}},{\"type\":\"x\",\"name\":\"y\",\"scope\":"
    "\"private\",\"when\":{\"qos\":\"n(o|r)+\",\"reservation\":\"^$\"}},"
    "{\"type\":\"all\",\"name\":\"jobs\"}]";
#define N_TAGS 3

static struct payload *payload;
static struct topology *topology;

static void
setup(void)
{
	char reason[256];
	struct conf conf;

	conf_init(&conf);
	HOLDS(conf_set(&conf, CONF_CLUSTER_NAMES, "{\"alpha\":\"beta\"}") == 0);
	HOLDS(conf_set(&conf, CONF_CPU_MAP,
		  "{\"^n3\":\"interleaved\","
		  "\"^n1\":[3,2,1,0]}") == 0);
	HOLDS(conf_set(&conf, CONF_TAGS, tags) == 0);
	payload = payload_new(&conf, reason, sizeof(reason));
	HOLDS(payload != NULL);
	conf_clear(&conf);
	topology = topology_new();
	HOLDS(topology != NULL &&
	    topology_load(topology, clusters, sizeof(clusters) - 1, reason,
		sizeof(reason)) == 0);
}

static int64_t
integer_of(const struct twin *o, const char *key)
{
	const struct twin *v = twin_member(o, key);

	HOLDS(v != NULL && twin_kind(v) == TWIN_INTEGER);
	return twin_integer(v);
}

/* The string is the text, made fit where it is no UTF-8. */
static void
string_is(const struct twin *o, const char *key, const char *text)
{
	const struct twin *v = twin_member(o, key);
	char *clean = text_clean(text, strlen(text), SIZE_MAX / 8);
	const char *s;
	size_t n;

	HOLDS(v != NULL && twin_kind(v) == TWIN_STRING && clean != NULL);
	s = twin_text(v, &n);
	HOLDS(strcmp(s, text) == 0 || strcmp(s, clean) == 0);
	free(clean);
}

static void
key_holds(const struct twin *body, const struct run_key *key)
{
	HOLDS(twin_kind(body) == TWIN_OBJECT);
	HOLDS(integer_of(body, "jobId") == (int64_t)key->job);
	HOLDS(integer_of(body, "startTime") == key->start);
	string_is(body, "cluster", payload_cluster(payload, key->cluster));
}

static void
resources_hold(const struct twin *list, const struct job *job)
{
	const struct twin *host, *ids;
	uint32_t i;
	size_t k;

	HOLDS(list != NULL && twin_kind(list) == TWIN_ARRAY);
	HOLDS(twin_size(list) == job->n_hosts);
	for (i = 0; i < job->n_hosts; i++) {
		host = twin_item(list, i);
		string_is(host, "hostname", job->hosts[i].name);
		ids = twin_member(host, "hwthreads");
		if (ids == NULL)
			continue;
		HOLDS((job->flags & JOB_HAS_THREADS) != 0);
		HOLDS(twin_kind(ids) == TWIN_ARRAY && twin_size(ids) > 0);
		for (k = 1; k < twin_size(ids); k++)
			HOLDS(twin_integer(twin_item(ids, k)) >
			    twin_integer(twin_item(ids, k - 1)));
	}
}

static void
start_holds(const char *p, size_t n, const struct job *job)
{
	struct twin *body = twin_load(p, n);
	const struct twin *meta, *given;

	HOLDS(body != NULL);
	key_holds(body, &job->key);
	string_is(body, "user", job->user);
	HOLDS(job->key.job != 0 && job->key.start > 0 && job->n_hosts != 0);
	resources_hold(twin_member(body, "resources"), job);
	meta = twin_member(body, "metaData");
	HOLDS(meta == NULL || twin_kind(meta) == TWIN_OBJECT);
	given = twin_member(body, "tags");
	HOLDS(given == NULL ||
	    (twin_kind(given) == TWIN_ARRAY && twin_size(given) <= N_TAGS));
	twin_free(body);
}

static void
stop_holds(const char *p, size_t n, const struct job *job)
{
	struct twin *body = twin_load(p, n);

	HOLDS(body != NULL);
	key_holds(body, &job->key);
	HOLDS(integer_of(body, "stopTime") >= job->key.start);
	HOLDS(job->state != END_NOT);
	twin_free(body);
}

/* A line's body out of its quotes; the rest of the line must be as it should. */
static char *
line_body(const char *p, size_t n, size_t *len)
{
	static const char field[] = " event=\"", end[] = "\" ";
	const char *at = memmem(p, n, field, sizeof(field) - 1), *q;
	char *body = malloc(n + 1), *out = body;
	size_t i;

	HOLDS(body != NULL && at != NULL && n > 0 && p[n - 1] == '\n');
	for (q = p; q < at; q++)
		HOLDS((unsigned char)*q >= ' ' && *q != 0x7f);
	for (q = at + sizeof(field) - 1; q < p + n && *q != '"'; q++) {
		HOLDS(*q != '\n');
		if (*q == '\\') {
			q++;
			HOLDS(q < p + n && (*q == '"' || *q == '\\'));
		}
		*out++ = *q;
	}
	HOLDS((size_t)(p + n - q) > sizeof(end) &&
	    memcmp(q, end, sizeof(end) - 1) == 0);
	q += sizeof(end) - 1;
	for (i = 0; q + i < p + n - 1; i++)
		HOLDS((q[i] >= '0' && q[i] <= '9') || (i == 0 && q[i] == '-'));
	HOLDS(i > 0);
	*len = (size_t)(out - body);
	return body;
}

static void
message_holds(const struct payload_how *how, const struct job *job,
    enum message kind, enum message_format format, size_t max)
{
	struct message_how mh = { format, "host,=\" \\\x01\xff", max };
	struct writer w;
	const char *why;
	struct twin *twin;
	size_t len;
	char *body;
	int rc;

	wr_init(&w, PAYLOAD_MAX);
	rc = message_make(payload, how, &mh, job, kind, &w, &why);
	if (rc == -1) {
		HOLDS(why != NULL && (errno == E2BIG || errno == EINVAL));
		wr_clear(&w);
		return;
	}
	HOLDS(w.len <= max);
	if (format == MESSAGE_LINE) {
		body = line_body((const char *)w.buf, w.len, &len);
		if (kind == MESSAGE_START)
			start_holds(body, len, job);
		else
			stop_holds(body, len, job);
		free(body);
	} else {
		twin = twin_load(w.buf, w.len);
		HOLDS(twin != NULL);
		key_holds(twin_member(twin, "body"), &job->key);
		twin_free(twin);
	}
	wr_clear(&w);
}

static void
bodies_hold(const struct payload_how *how, const struct job *job)
{
	struct writer w;
	const char *why;

	wr_init(&w, PAYLOAD_MAX);
	if (payload_start(payload, how, job, &w, &why) == 0)
		start_holds((const char *)w.buf, w.len, job);
	else
		HOLDS(why != NULL);
	wr_reset(&w);
	if (payload_stop(payload, how->backend, job, &w, &why) == 0)
		stop_holds((const char *)w.buf, w.len, job);
	else
		HOLDS(why != NULL);
	wr_clear(&w);
}

static void
on_late(const char *field, const char *value, void *arg)
{
	unsigned *n = arg;

	HOLDS(*field != '\0' && *value != '\0');
	++*n;
}

/* The smaller bodies: any text as field and value, any node's state. */
static void
others_hold(const struct job *job, const uint8_t *bytes, size_t n)
{
	struct node_state nodes[2];
	char *text = exact_string(bytes, n);
	struct writer w;
	struct reader r;
	struct twin *twin;

	wr_init(&w, PAYLOAD_MAX);
	payload_edit_meta(payload, &job->key, "slurmInfo", text, &w);
	twin = twin_load(w.buf, w.len);
	HOLDS(twin != NULL);
	string_is(twin_member(twin, "payload"), "value", text);
	twin_free(twin);
	wr_reset(&w);
	payload_delete(payload, &job->key, &w);
	twin = twin_load(w.buf, w.len);
	HOLDS(twin != NULL);
	key_holds(twin, &job->key);
	twin_free(twin);
	wr_reset(&w);
	memset(nodes, 0, sizeof(nodes));
	rd_init(&r, bytes, n);
	node_read(&r, &nodes[0]);
	node_read(&r, &nodes[1]);
	payload_nodes(payload, job->key.cluster, nodes, 2, &w);
	twin = twin_load(w.buf, w.len);
	HOLDS(twin != NULL && twin_size(twin_member(twin, "nodes")) == 2);
	twin_free(twin);
	wr_clear(&w);
	free(text);
}

static uint64_t
threads_of(const struct job *job)
{
	uint64_t sum = 0;
	uint32_t i, k;

	for (i = 0; i < job->n_hosts; i++)
		for (k = 0; k < job->hosts[i].n_cpus; k++)
			sum += (uint64_t)job->hosts[i].cpus[k].last -
			    job->hosts[i].cpus[k].first + 1;
	return sum;
}

static void
job_holds(const struct job *job, const uint8_t *bytes, size_t n)
{
	uint64_t state = digest(DIGEST_START, bytes, n);
	struct payload_how how;
	unsigned late = 0;

	payload_how_init(&how, (enum backend)dice(&state, BACKEND_1_5 + 1),
	    dice(&state, 4) != 0 ? topology : NULL);
	bodies_hold(&how, job);
	message_holds(&how, job, MESSAGE_START, MESSAGE_LINE, PAYLOAD_MAX);
	message_holds(&how, job, MESSAGE_START, MESSAGE_LINE,
	    dice(&state, 2000));
	message_holds(&how, job, MESSAGE_START, MESSAGE_JSON,
	    dice(&state, 4000));
	message_holds(&how, job, MESSAGE_STOP, MESSAGE_LINE, PAYLOAD_MAX);
	message_holds(&how, job, MESSAGE_STOP, MESSAGE_JSON, PAYLOAD_MAX);
	how.script_max = dice(&state, 100);
	how.info_max = dice(&state, 100);
	how.bare = dice(&state, 8) == 0;
	how.tags = 1;
	bodies_hold(&how, job);
	HOLDS(payload_tags(payload) && payload_tagged(payload, job));
	payload_meta_late(payload, job, on_late, &late);
	HOLDS(late <= 3);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	char id[MESSAGE_ID_MAX];
	struct reader r;
	struct job job;

	fuzz_quiet();
	if (payload == NULL)
		setup();
	rd_init(&r, bytes, n);
	job_init(&job);
	job_read(&r, &job);
	if (r.err == 0 && threads_of(&job) <= THREADS_SHOWN)
		job_holds(&job, bytes, n);
	message_id(&job.key, MESSAGE_START, 0, id, sizeof(id));
	HOLDS(strpbrk(id, " \r\n\t") == NULL && strlen(id) < sizeof(id) - 1);
	others_hold(&job, bytes, n);
	job_clear(&job);
	return 0;
}
