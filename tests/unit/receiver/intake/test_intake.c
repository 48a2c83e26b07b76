/* SPDX-License-Identifier: MIT */
/* Messages of the streams into records for the submitter. */
#include "config.h"

#include <event2/event.h>

#include "common/log.h"
#include "common/record/record_json.h"
#include "receiver/intake/intake.h"
#include "tests/unit/channel_pair.h"
#include "tests/unit/check.h"
#include "tests/unit/loop.h"

static struct event_base *base;
static struct channel_pair pair;
static struct intake *intake;

/* The last message to the submitter. */
static unsigned n_frames, type;
static uint64_t frame, identity, sequence;
static char cluster[CLUSTER_MAX];
static struct job got;
static struct {
	uint32_t n;
	struct run_key last;
} unknown;
static unsigned n_nodes;
static struct node_state node; /* the last one */

static void
nodes_read(struct reader *r)
{
	rd_name(r, cluster, sizeof(cluster));
	for (n_nodes = rd_u32(r); frame < n_nodes; frame++)
		node_read(r, &node);
	CHECK_INT(rd_end(r), 0);
}

static void
on_frame(struct channel *c, const struct msg_header *h, struct reader *r,
    int fd, void *arg)
{
	uint32_t i;

	n_frames++;
	type = h->type;
	if (type == MSG_NODES) {
		frame = 0;
		nodes_read(r);
		return;
	}
	frame = rd_u64(r);
	job_clear(&got);
	job_init(&got);
	if (type == MSG_RECORD)
		job_read(r, &got);
	else if (type == MSG_NOT_FOUND) {
		rd_name(r, cluster, sizeof(cluster));
		rd_u64(r);
		for (unknown.n = rd_u32(r), i = 0; i < unknown.n && !r->err;
		     i++)
			rd_run_key(r, &unknown.last);
	} else {
		rd_name(r, cluster, sizeof(cluster));
		identity = rd_u64(r);
		sequence = rd_u64(r);
	}
	CHECK_INT(rd_end(r), 0);
}

static const struct channel_ops channel_ops = { on_frame, channel_pair_broken,
	NULL };

static void
setup(void)
{
	channel_pair_open(&pair, base, ROLE_RECEIVER, ROLE_SUBMITTER,
	    &channel_ops);
	intake = intake_new();
	intake_peer(intake, pair.ours);
	n_frames = 0;
	job_init(&got);
}

static void
cleanup(void)
{
	channel_pair_close(&pair);
	job_clear(&got);
}

/* A record of the cluster as JSON. */
static struct writer
record(const char *of, uint32_t flags)
{
	struct writer w;
	struct job job;

	job_init(&job);
	snprintf(job.key.cluster, sizeof(job.key.cluster), "%s", of);
	job.key.job = 4711;
	job.key.start = 1790000000;
	job.flags = JOB_HAS_START | flags;
	job.user = strdup("alice");
	wr_init(&w, MSG_PAYLOAD_MAX);
	record_json_write(&w, &job, 7);
	CHECK_INT(wr_end(&w), 0);
	job_clear(&job);
	return w;
}

static enum stream_take
message(const char *subject, const char *id, const void *p, size_t n,
    uint64_t *number)
{
	struct stream_message m = { "alpha", subject, id, 99, 1, p, n };
	enum stream_take take = intake_message(intake, NULL, &m, number);

	loop_settle(base);
	return take;
}

static void
test_record(void)
{
	struct writer w = record("alpha", JOB_DRY_RUN | JOB_BACKFILL);
	uint64_t number = 0;

	setup();
	CHECK_INT(message("cc.record.alpha", "alpha:4711:1790000000:record:7",
		      w.buf, w.len, &number),
	    STREAM_SENT);
	CHECK_INT(number, 1);
	CHECK_INT(n_frames, 1);
	CHECK_INT(type, MSG_RECORD);
	CHECK_INT(frame, 1);
	CHECK_INT(got.key.job, 4711);
	CHECK_INT(got.revision, 7);
	CHECK_STR(got.user, "alice");
	/* a cluster cannot prevent that its record is stored */
	CHECK_INT(got.flags, JOB_HAS_START);
	intake_position(intake, "alpha", 1234, 99);
	loop_settle(base);
	CHECK_INT(type, MSG_STREAM_POSITION);
	CHECK_INT(frame, 2);
	CHECK_STR(cluster, "alpha");
	CHECK_INT(identity, 1234);
	CHECK_INT(sequence, 99);
	/* the numbers are those of a channel */
	intake_peer(intake, pair.ours);
	CHECK_INT(message("cc.record.alpha", "", w.buf, w.len, &number),
	    STREAM_SENT);
	CHECK_INT(number, 1);
	wr_clear(&w);
	cleanup();
}

/* The answer of a cluster is one message behind the records. */
static void
test_not_found(void)
{
	static const struct ask_run runs[] = { { 7, 1000 }, { 8, 2000 } };
	struct writer w = record("alpha", 0);
	uint64_t number = 0;

	setup();
	message("cc.record.alpha", "", w.buf, w.len, &number);
	intake_not_found(intake, "alpha", runs, 2);
	loop_settle(base);
	CHECK_INT(n_frames, 2);
	CHECK_INT(type, MSG_NOT_FOUND);
	CHECK_INT(frame, 2);
	CHECK_STR(cluster, "alpha");
	CHECK_INT(unknown.n, 2);
	CHECK_STR(unknown.last.cluster, "alpha");
	CHECK_INT(unknown.last.job, 8);
	CHECK_INT(unknown.last.start, 2000);
	/* without a submitter it is dropped: the next one asks again */
	intake_peer(intake, NULL);
	intake_not_found(intake, "alpha", runs, 2);
	loop_settle(base);
	CHECK_INT(n_frames, 2);
	wr_clear(&w);
	cleanup();
}

/* Nothing of another cluster reaches the spool. */
static void
test_authority(void)
{
	struct writer own = record("alpha", 0), other = record("beta", 0);
	uint64_t number = 0;

	setup();
	CHECK_INT(message("cc.record.alpha", "alpha:4711:1790000000:record:7",
		      other.buf, other.len, &number),
	    STREAM_DONE);
	CHECK_INT(message("cc.record.beta", "alpha:4711:1790000000:record:7",
		      own.buf, own.len, &number),
	    STREAM_DONE);
	CHECK_INT(message("cc.record.beta", "", other.buf, other.len, &number),
	    STREAM_DONE);
	CHECK_INT(n_frames, 0);
	CHECK_INT(intake_counts(intake)->foreign, 3);
	CHECK_INT(intake_counts(intake)->records, 0);
	wr_clear(&own);
	wr_clear(&other);
	cleanup();
}

static void
test_invalid(void)
{
	static const char newer[] =
	    "{\"schema\":2,\"anything\":[1,2,{\"new\":true}]}";
	uint64_t number = 0;

	setup();
	CHECK_INT(message("cc.record.alpha", "", "{}", 2, &number),
	    STREAM_DONE);
	CHECK_INT(message("cc.record.alpha", "", "\001\377", 2, &number),
	    STREAM_DONE);
	CHECK_INT(message("cc.record.alpha", "", NULL, 0, &number),
	    STREAM_DONE);
	CHECK_INT(intake_counts(intake)->invalid, 3);
	CHECK_INT(message("cc.record.alpha", "", newer, sizeof(newer) - 1,
		      &number),
	    STREAM_HELD);
	CHECK_INT(intake_counts(intake)->newer, 1);
	CHECK_INT(n_frames, 0);
	cleanup();
}

/*
 * The key of the message id decides; the message itself is not read.  The
 * submitter stores the run as quarantined by its key.
 */
static void
test_quarantine(void)
{
	struct run_key key = { "alpha", 4711, 1790000000 };
	struct run_key number_key = { "alpha", 99, 1 };
	struct writer w = record("alpha", 0);
	uint64_t number = 0;

	setup();
	intake_quarantine(intake, &key);
	intake_quarantine(intake, &key);
	CHECK_INT(intake_quarantine_size(intake), 1);
	CHECK_INT(message("cc.record.alpha", "alpha:4711:1790000000:record:7",
		      "{", 1, &number),
	    STREAM_SENT);
	CHECK_INT(n_frames, 1);
	CHECK(run_key_equal(&got.key, &key));
	CHECK(got.user == NULL);
	CHECK_INT(message("cc.record.alpha", "alpha:4712:1790000000:record:7",
		      w.buf, w.len, &number),
	    STREAM_SENT);
	CHECK_STR(got.user, "alice");
	/* without a key in the id the number of the message counts */
	intake_quarantine(intake, &number_key);
	CHECK_INT(message("cc.record.alpha", "x", w.buf, w.len, &number),
	    STREAM_DONE);
	CHECK_INT(n_frames, 2);
	CHECK_INT(intake_counts(intake)->quarantined, 2);
	wr_clear(&w);
	cleanup();
}

static enum stream_take
states(const char *subject, const char *text)
{
	struct stream_message m = { "al pha", subject, "", 99, 1,
		(const uint8_t *)text, strlen(text) };
	enum stream_take take = intake_states(intake, &m);

	loop_settle(base);
	return take;
}

#define STATES(of) \
	"{\"schema\":1,\"cluster\":\"" of \
	"\",\"nodes\":[{\"name\":\"n1\",\"state\":\"idle\"}," \
	"{\"name\":\"n2\",\"state\":\"mixed\",\"jobsRunning\":2}]}"

/* States of nodes are sent on, and those of another cluster are not. */
static void
test_states(void)
{
	setup();
	CHECK_INT(states("cc.nodes.al=20pha.4095", STATES("al pha")),
	    STREAM_DONE);
	CHECK_INT(n_frames, 1);
	CHECK_INT(type, MSG_NODES);
	CHECK_STR(cluster, "al pha");
	CHECK_INT(n_nodes, 2);
	CHECK_STR(node.host, "n2");
	CHECK_STR(node.states, "mixed");
	CHECK_INT(node.jobs, 2);
	CHECK_INT(intake_counts(intake)->states, 1);
	states("cc.nodes.al=20pha.0", STATES("beta"));
	states("cc.nodes.beta.0", STATES("al pha"));
	states("cc.nodes.al=20pha.4096", STATES("al pha"));
	states("cc.nodes.al=20pha.40000", STATES("al pha"));
	states("cc.nodes.al=20pha.-1", STATES("al pha"));
	states("cc.nodes.al=20pha.+1", STATES("al pha"));
	states("cc.nodes.al=20pha.7x", STATES("al pha"));
	states("cc.nodes.al=20pha.07", STATES("al pha"));
	states("cc.nodes.al=20pha", STATES("al pha"));
	CHECK_INT(intake_counts(intake)->foreign, 9);
	states("cc.nodes.al=20pha.0", "{\"schema\":1}");
	states("cc.nodes.al=20pha.0", "");
	states("cc.nodes.al=20pha.0", "{\"schema\":2}");
	CHECK_INT(intake_counts(intake)->invalid, 3);
	/* a group without nodes is nothing to send */
	states("cc.nodes.al=20pha.0",
	    "{\"schema\":1,\"cluster\":\"al pha\",\"nodes\":[]}");
	CHECK_INT(n_frames, 1);
	intake_peer(intake, NULL);
	CHECK_INT(states("cc.nodes.al=20pha.1", STATES("al pha")), STREAM_DONE);
	cleanup();
}

int
main(void)
{
	log_init("test", LOG_LEVEL_FATAL);
	base = event_base_new();
	test_record();
	test_not_found();
	test_authority();
	test_invalid();
	test_quarantine();
	test_states();
	event_base_free(base);
	return check_done();
}
