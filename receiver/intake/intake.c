/* SPDX-License-Identifier: MIT */
/*
 * Decodes the messages of the streams.  A cluster's user may publish anything
 * to its own subject.  A message that is no record of that cluster changes
 * nothing and is never sent again.
 *
 * The key of the run is read from the message id before the message is decoded,
 * so that a message that ends this process twice is known.
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "common/permanent.h"
#include "common/record/node_json.h"
#include "common/record/record_json.h"
#include "common/record/stream_name.h"
#include "receiver/intake/intake.h"

#define SAMPLE 200 /* bytes of an invalid message in the log */
/* Flags that only this host's collector may set. */
#define FLAGS_LOCAL (JOB_DRY_RUN | JOB_BACKFILL)

struct intake {
	struct channel *submitter; /* borrowed; NULL = none */
	uint64_t frame;		   /* number of the last message to it */
	struct intake_counts n;
	struct run_key quarantined[QUARANTINE_MAX];
	unsigned n_quarantined;
	struct log_limit foreign;
	struct log_limit invalid;
	struct log_limit newer;
	struct log_limit skipped;
	struct log_limit states;
	int no_memory; /* for the message in work */
};

/*
 * The key in the message id "CLUSTER:JOB:START:...".  Without one, the number
 * of the message has its place: the key is then only used for quarantine.
 * Returns 1 when the id has the key.
 */
static int
key_of(const struct stream_message *m, struct run_key *key)
{
	size_t n = strlen(m->cluster);
	int end = 0;

	memset(key, 0, sizeof(*key));
	snprintf(key->cluster, sizeof(key->cluster), "%s", m->cluster);
	if (strlen(m->id) > n && m->id[n] == ':' &&
	    sscanf(m->id + n, ":%" SCNu64 ":%" SCNd64 ":%n", &key->job,
		&key->start, &end) == 2 &&
	    end > 0 && key->job != 0 && key->start > 0 &&
	    key->start <= TIME_S_MAX)
		return 1;
	key->job = m->sequence;
	key->start = 1;
	return 0;
}

static int
is_quarantined(const struct intake *b, const struct run_key *key)
{
	unsigned i;

	for (i = 0; i < b->n_quarantined; i++)
		if (run_key_equal(&b->quarantined[i], key))
			return 1;
	return 0;
}

static enum stream_take
record_send(struct intake *b, const struct job *job, uint64_t *frame)
{
	enum stream_take take = STREAM_SENT;
	struct writer w;

	wr_init(&w, MSG_PAYLOAD_MAX);
	wr_u64(&w, b->frame + 1);
	job_write(&w, job);
	if (wr_end(&w) == -1 && wr_no_memory(&w))
		b->no_memory = 1;
	else if (wr_end(&w) == -1) {
		b->n.invalid++;
		log_limited(&b->invalid, log_warnx,
		    "%s: the record is too long and is refused",
		    run_key_text(&job->key));
		take = STREAM_DONE;
	} else {
		*frame = ++b->frame;
		b->n.records++;
		/* If the channel is broken, the stream is read again later. */
		channel_send(b->submitter, MSG_RECORD, 0, &w, -1);
	}
	wr_clear(&w);
	return take;
}

/* The submitter stores the key and the reason of a run in quarantine. */
static enum stream_take
quarantined(struct intake *b, const struct stream_message *m,
    const struct run_key *key, int has_key, uint64_t *frame)
{
	enum stream_take take = STREAM_DONE;
	struct job job;

	b->n.quarantined++;
	log_limited(&b->skipped, log_errorx,
	    "message %llu of cluster %s is not decoded: a worker died twice on "
	    "it",
	    (unsigned long long)m->sequence, m->cluster);
	if (!has_key)
		return STREAM_DONE;
	job_init(&job);
	job.key = *key;
	take = record_send(b, &job, frame);
	job_clear(&job);
	return take;
}

static enum stream_take
invalid(struct intake *b, const struct stream_message *m, const char *why)
{
	b->n.invalid++;
	log_limited(&b->invalid, log_warnx,
	    "message %llu of cluster %s is no record and is dropped: %s; it "
	    "begins with \"%.*s\"",
	    (unsigned long long)m->sequence, m->cluster, why,
	    m->len < SAMPLE ? (int)m->len : SAMPLE,
	    m->data != NULL ? (const char *)m->data : "");
	return STREAM_DONE;
}

static enum stream_take
newer(struct intake *b, const struct stream_message *m, const char *why)
{
	b->n.newer++;
	log_limited(&b->newer, log_errorx,
	    "message %llu of cluster %s stays at the broker: %s; upgrade this "
	    "host",
	    (unsigned long long)m->sequence, m->cluster, why);
	return STREAM_HELD;
}

static enum stream_take
foreign(struct intake *b, const struct stream_message *m, const char *of)
{
	b->n.foreign++;
	log_limited(&b->foreign, log_errorx,
	    "message %llu of cluster %s is refused: it is of %s; check who has "
	    "the NATS credentials of cluster %s",
	    (unsigned long long)m->sequence, m->cluster, of, m->cluster);
	return STREAM_DONE;
}

/*
 * Has the message the subject of its cluster?  The broker permits each cluster
 * only its own subject.
 */
static int
subject_is_own(const struct stream_message *m)
{
	char subject[STREAM_NAME_MAX];

	return stream_name(SUBJECT_OF_RECORDS, m->cluster, subject,
		   sizeof(subject)) == 0 &&
	    strcmp(subject, m->subject) == 0;
}

static enum stream_take
record_take(struct intake *b, const struct stream_message *m, struct job *job,
    uint64_t *frame)
{
	char why[RECORD_WHY_MAX], of[sizeof(why)];
	uint64_t revision;

	switch (record_json_read(job, &revision, (const char *)m->data, m->len,
	    why, sizeof(why))) {
	case RECORD_JSON_OK:
		break;
	case RECORD_JSON_NEWER:
		return newer(b, m, why);
	case RECORD_JSON_NO_MEMORY:
		b->no_memory = 1;
		return STREAM_HELD;
	case RECORD_JSON_INVALID:
	default:
		return invalid(b, m, why);
	}
	if (strcmp(job->key.cluster, m->cluster) != 0) {
		snprintf(of, sizeof(of), "cluster %s", job->key.cluster);
		return foreign(b, m, of);
	}
	job->flags &= ~FLAGS_LOCAL;
	return record_send(b, job, frame);
}

enum stream_take
intake_message(struct intake *b, struct inflight *inflight,
    const struct stream_message *m, uint64_t *frame)
{
	enum stream_take take;
	struct run_key key;
	struct job job;
	int has_key;

	if (!subject_is_own(m))
		return foreign(b, m, "another subject");
	has_key = key_of(m, &key);
	if (is_quarantined(b, &key))
		take = quarantined(b, m, &key, has_key, frame);
	else {
		job_init(&job);
		inflight_set(inflight, &key);
		take = record_take(b, m, &job, frame);
		inflight_clear(inflight);
		job_clear(&job);
	}
	/*
	 * The broker sends the message again after the restart.  The run is not in
	 * flight: it must not be quarantined because memory was short twice.
	 */
	if (b->no_memory)
		fatalx("out of memory");
	return take;
}

/* --- states of nodes --- */

/* The group of the subject "cc.nodes.CLUSTER.GROUP"; -1: it is another subject. */
static int
group_of(const struct stream_message *m)
{
	char subject[STREAM_NAME_MAX + 8];
	size_t n;
	int g;

	if (stream_name(SUBJECT_OF_NODES, m->cluster, subject,
		STREAM_NAME_MAX) == -1)
		return -1;
	n = strlen(subject);
	if (strncmp(m->subject, subject, n) != 0 ||
	    sscanf(m->subject + n, ".%4d", &g) != 1 || g < 0 ||
	    g >= NODE_GROUPS_MAX)
		return -1;
	/* "007" is refused: a group has only one subject. */
	snprintf(subject + n, sizeof(subject) - n, ".%d", g);
	return strcmp(subject, m->subject) == 0 ? g : -1;
}

struct node_frame {
	struct writer nodes;
	uint32_t n;
};

static void
on_node(const struct node_state *node, void *arg)
{
	struct node_frame *f = arg;

	node_write(&f->nodes, node);
	f->n++;
}

static void
nodes_send(struct intake *b, const char *cluster, const struct node_frame *f)
{
	struct writer w;

	if (b->submitter == NULL || f->n == 0)
		return;
	wr_init(&w, MSG_PAYLOAD_MAX);
	wr_str(&w, cluster);
	wr_u32(&w, f->n);
	wr_mem(&w, f->nodes.buf, f->nodes.len);
	if (wr_end(&w) == 0)
		channel_send(b->submitter, MSG_NODES, 0, &w, -1);
	wr_clear(&w);
}

static void
states_dropped(struct intake *b, const struct stream_message *m,
    const char *why)
{
	log_limited(&b->states, log_warnx,
	    "states of nodes of cluster %s are dropped: %s", m->cluster, why);
}

enum stream_take
intake_states(struct intake *b, const struct stream_message *m)
{
	char cluster[CLUSTER_MAX], why[RECORD_WHY_MAX] = "";
	struct node_frame f = { .n = 0 };
	enum record_json rc;

	wr_init(&f.nodes, MSG_PAYLOAD_MAX / 2);
	rc = node_json_read((const char *)m->data, m->len, cluster, on_node, &f,
	    why, sizeof(why));
	if (group_of(m) == -1 ||
	    (rc == RECORD_JSON_OK && strcmp(cluster, m->cluster) != 0)) {
		b->n.foreign++;
		states_dropped(b, m, "they are of another cluster or subject");
	} else if (rc != RECORD_JSON_OK) {
		b->n.invalid++;
		states_dropped(b, m, why);
	} else if (wr_end(&f.nodes) == 0) {
		b->n.states++;
		nodes_send(b, cluster, &f);
	}
	wr_clear(&f.nodes);
	return STREAM_DONE;
}

void
intake_position(struct intake *b, const char *cluster, uint64_t identity,
    uint64_t sequence)
{
	struct writer w;

	if (b->submitter == NULL)
		return;
	wr_init(&w, 256);
	wr_u64(&w, ++b->frame);
	wr_str(&w, cluster);
	wr_u64(&w, identity);
	wr_u64(&w, sequence);
	channel_send(b->submitter, MSG_STREAM_POSITION, 0, &w, -1);
	wr_clear(&w);
}

void
intake_not_found(struct intake *b, const char *cluster,
    const struct ask_run *runs, unsigned n)
{
	struct run_key key;
	struct writer w;
	unsigned i;

	if (b->submitter == NULL)
		return;
	memset(&key, 0, sizeof(key));
	snprintf(key.cluster, sizeof(key.cluster), "%s", cluster);
	wr_init(&w, MSG_PAYLOAD_MAX);
	wr_u64(&w, ++b->frame);
	wr_str(&w, cluster);
	wr_u64(&w, 0);
	wr_u32(&w, n);
	for (i = 0; i < n; i++) {
		key.job = runs[i].job;
		key.start = runs[i].start;
		wr_run_key(&w, &key);
	}
	channel_send(b->submitter, MSG_NOT_FOUND, 0, &w, -1);
	wr_clear(&w);
}

void
intake_peer(struct intake *b, struct channel *submitter)
{
	b->submitter = submitter;
	b->frame = 0;
}

void
intake_quarantine(struct intake *b, const struct run_key *key)
{
	if (is_quarantined(b, key))
		return;
	log_errorx("%s is in quarantine: a worker died twice on its record",
	    run_key_text(key));
	if (b->n_quarantined < QUARANTINE_MAX)
		b->quarantined[b->n_quarantined++] = *key;
}

unsigned
intake_quarantine_size(const struct intake *b)
{
	return b->n_quarantined;
}

const struct intake_counts *
intake_counts(const struct intake *b)
{
	return &b->n;
}

struct intake *
intake_new(void)
{
	return permanent_new(sizeof(struct intake));
}
