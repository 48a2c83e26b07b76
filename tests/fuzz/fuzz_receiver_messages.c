/* SPDX-License-Identifier: MIT */
/*
 * The messages of a compromised submitter to the receiver, through the real dispatch
 * and the real boxes, in sequences: the time passes, the broker answers and sends
 * messages of the streams, and the submitter is replaced.  The first byte selects the
 * configuration.  Exactly the messages whose payload is malformed break the channel.
 * A centre without a lease reads no stream, and no lease lasts longer than one may.
 */
#include "config.h"

#include <inttypes.h>

#include "common/clock.h"
#include "common/nats/nats_broker.h"
#include "common/record/stream_name.h"
#include "receiver/lease/lease.h"
#include "tests/fuzz/lifetime.h"
#include "tests/fuzz/neighbour.h"

/* on_neighbour() and the callbacks of the boxes */
int receiver_main(int argc, char **argv);
#define main receiver_main
#include "receiver/main.c"
#undef main

#define FRAMES_MAX    64 /* of one input */
#define ANSWERS_MAX   16 /* requests that may be answered */
#define TURNS	      8	 /* of the loop, until the channel is empty */
#define PAYLOAD_LIMIT (1024u * 1024)

#define ACTIVE_ONLY 1u
#define UP	    2u /* the broker is connected at the start */

static struct receiver receiver;
static struct worker worker;
static int far;

long long
clock_boot_ms(void)
{
	return lifetime_clock_ms();
}

/* --- the broker, in place of the link --- */

static const struct link_ops *ops_of_link;
static int link_up;
/* the reply subjects of the last requests, behind the inbox */
static char answers[ANSWERS_MAX][64];
static unsigned n_answers;

struct link *
link_new(struct event_base *base, struct resolver *names,
    const struct link_ops *to, void *arg)
{
	static char link;

	HOLDS(arg == &receiver);
	ops_of_link = to;
	return (struct link *)&link;
}

void
link_use(struct link *l, struct nats_conf *nc)
{
	nats_conf_free(nc);
}

int
link_is_up(const struct link *l)
{
	return link_up;
}

size_t
link_max_payload(const struct link *l)
{
	return PAYLOAD_LIMIT;
}

int
link_publish(struct link *l, const char *subject, const char *answer,
    const void *data, size_t len)
{
	HOLDS(*subject != '\0' && strlen(subject) < API_SUBJECT_MAX);
	HOLDS(len <= PAYLOAD_LIMIT);
	if (!link_up)
		return -1;
	if (answer != NULL) {
		HOLDS(strlen(answer) < sizeof(answers[0]));
		snprintf(answers[n_answers++ % ANSWERS_MAX], sizeof(answers[0]),
		    "%s", answer);
	}
	return 0;
}

int
link_publish_expect(struct link *l, const char *subject, const char *answer,
    const void *data, size_t len, uint64_t expect)
{
	return link_publish(l, subject, answer, data, len);
}

void
link_worked(struct link *l)
{
}

void
link_status(const struct link *l, struct nats_broker_status *st)
{
	memset(st, 0, sizeof(*st));
}

static void
link_set(int up)
{
	if (link_up == up)
		return;
	link_up = up;
	ops_of_link->changed(up, &receiver);
}

static void
message_pass(const struct link_message *m)
{
	if (!link_up)
		return;
	ops_of_link->message(m, &receiver);
	ops_of_link->turn(&receiver);
}

/* The first byte selects the request, the second one a status without data. */
static void
answer_apply(const char *payload, size_t n)
{
	static const unsigned status[] = { 0, 0, 0, 404, 408, 409, 503, 100 };
	struct link_message m = { .subject = "_INBOX_centre.x",
		.reply = "",
		.status_text = "",
		.id = "" };
	unsigned known = n_answers < ANSWERS_MAX ? n_answers : ANSWERS_MAX;

	if (n < 2 || known == 0)
		return;
	m.tail = answers[((unsigned char)payload[0] + n_answers) % known];
	m.status = status[(unsigned char)payload[1] % 8];
	m.left = (unsigned char)payload[1] / 8;
	m.data = (const uint8_t *)payload + 2;
	m.len = m.status == 0 ? n - 2 : 0;
	message_pass(&m);
}

/* A message of a stream: the first bytes have the stream and the sequence. */
static void
record_apply(const char *payload, size_t n)
{
	unsigned which;
	char stream[STREAM_NAME_MAX], reply[API_SUBJECT_MAX], id[64];
	struct link_message m = { .subject = "cc.records.alpha",
		.reply = reply,
		.status_text = "",
		.id = id };
	uint64_t sequence;

	if (n < 10)
		return;
	which = (unsigned char)payload[0];
	memcpy(&sequence, payload + 1, sizeof(sequence));
	HOLDS(stream_name(which & 1 ? STREAM_OF_NODES : STREAM_OF_RECORDS,
		  which & 2 ? "beta" : "alpha", stream, sizeof(stream)) == 0);
	snprintf(reply, sizeof(reply),
	    "$JS.ACK.%s." API_CONSUMER ".%u.%" PRIu64 ".1.1795212354000000000."
	    "%u",
	    stream, 1 + which / 64, sequence, which / 4 % 4);
	snprintf(id, sizeof(id), "%s:%u:1795212354:x",
	    which & 2 ? "beta" : "alpha", which);
	m.data = (const uint8_t *)payload + 9;
	m.len = n - 9;
	message_pass(&m);
}

/* --- the receiver --- */

static void
receiver_begin(unsigned choice)
{
	struct conf *conf = &worker.conf;
	char reason[512];

	memset(&receiver, 0, sizeof(receiver));
	link_up = (choice & UP) != 0;
	n_answers = 0;
	conf_init(conf);
	HOLDS(conf_set(conf, CONF_CLUSTERS, "[\"alpha\",\"beta\"]") == 0);
	HOLDS(conf_set(conf, CONF_SOURCE, "stream") == 0);
	HOLDS(conf_set(conf, CONF_ACTIVE_ONLY,
		  choice & ACTIVE_ONLY ? "true" : "false") == 0);
	on_init(&worker);
	HOLDS(
	    on_conf_check(&worker, conf, NULL, 0, reason, sizeof(reason)) == 0);
	on_conf_commit(&worker);
	if (link_up)
		ops_of_link->changed(1, &receiver);
}

static void
receiver_holds(void)
{
	int64_t until = bucket_until(receiver.lease);
	struct stream_status st;
	unsigned i;

	HOLDS(until <= clock_boot_ms() + LEASE_MS_MAX);
	HOLDS(!receiver.reads ||
	    (link_up && (until != 0 || !receiver.active_only)));
	HOLDS((unsigned)receiver.release <= RELEASE_OVER);
	for (i = 0; streams_status(receiver.streams, i, &st); i++)
		HOLDS(!st.ready || receiver.reads);
	HOLDS(i == 2);
}

/* --- the submitter --- */

static void
submitter_begin(void)
{
	struct channel *old = worker.peers[ROLE_SUBMITTER];

	if (old != NULL)
		close(far);
	worker.peers[ROLE_SUBMITTER] = neighbour_open(worker.base,
	    ROLE_RECEIVER, ROLE_SUBMITTER, &far);
	on_peer(&worker, ROLE_SUBMITTER, worker.peers[ROLE_SUBMITTER]);
	channel_free(old);
}

static void
submitter_end(void)
{
	struct channel *c = worker.peers[ROLE_SUBMITTER];

	worker.peers[ROLE_SUBMITTER] = NULL;
	on_peer(&worker, ROLE_SUBMITTER, NULL);
	channel_free(c);
	close(far);
}

static void
sent_read(void)
{
	struct msg_header h;
	uint8_t *payload;
	int fd;

	while (frame_read(far, ROLE_SUBMITTER, ROLE_RECEIVER, &h, &payload, &fd,
		   0) == 0)
		free(payload);
}

/* The table has checked the length of messages of one length. */
static int
is_valid(unsigned type, struct reader r)
{
	char cluster[CLUSTER_MAX];
	struct run_key key;
	uint32_t n;

	switch (type) {
	case MSG_STREAM_POSITION:
		rd_u64(&r);
		rd_name(&r, cluster, sizeof(cluster));
		rd_u64(&r);
		rd_u64(&r);
		return rd_end(&r) == 0;
	case MSG_LOOKUP:
		rd_name(&r, cluster, sizeof(cluster));
		rd_u64(&r);
		for (n = rd_u32(&r); n > 0 && !r.err; n--)
			rd_run_key(&r, &key);
		return rd_end(&r) == 0;
	case MSG_STREAM_HOLD:
		rd_name(&r, cluster, sizeof(cluster));
		rd_u8(&r);
		return rd_end(&r) == 0;
	default:
		return 1;
	}
}

static void
message_holds(const struct msg_header *h, const char *payload)
{
	struct reader r;
	int i, valid;

	if (msg_check(h, ROLE_SUBMITTER, ROLE_RECEIVER) != NULL)
		return;
	rd_init(&r, payload, h->length);
	valid = is_valid(h->type, r);
	on_neighbour(&worker, worker.peers[ROLE_SUBMITTER], h, &r, -1);
	for (i = 0; i < TURNS; i++)
		event_base_loop(worker.base, EVLOOP_NONBLOCK);
	HOLDS(broken == !valid);
}

static void
frame_apply(const struct msg_header *h, const char *payload)
{
	switch (h->type) {
	case MSG_PING:
		lifetime_pass(worker.base, frame_ms(payload, h->length, 3));
		break;
	case MSG_PONG:
		answer_apply(payload, h->length);
		break;
	case MSG_RECORD:
		record_apply(payload, h->length);
		break;
	case MSG_PEER:
		submitter_begin();
		break;
	case MSG_PEER_LOST:
		link_set((int)(h->id & 1));
		break;
	case MSG_ENDING:
		release_begin(&receiver);
		break;
	default:
		message_holds(h, payload);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	/*
	 * MSG_PING: time passes; MSG_PONG: the broker answers; MSG_RECORD: it
	 * sends a message of a stream; MSG_PEER: a new submitter;
	 * MSG_PEER_LOST: the connection ends or is made; MSG_ENDING: the daemon
	 * ends
	 */
	static const enum msg_type types[] = { MSG_RECORD_ACK,
		MSG_STREAM_POSITION, MSG_OPEN_RUNS, MSG_FLOW, MSG_LOOKUP,
		MSG_ACTIVE_UNTIL, MSG_DRAINED, MSG_STREAM_HOLD, MSG_POLL_NOW,
		MSG_PING, MSG_PONG, MSG_RECORD, MSG_PEER, MSG_PEER_LOST,
		MSG_ENDING };
	struct frames f = { bytes + 1, n - 1, types,
		sizeof(types) / sizeof(types[0]) };
	struct msg_header h;
	char *payload;
	int i;

	fuzz_quiet();
	if (n < 1)
		return 0;
	if (worker.base == NULL)
		worker.base = event_base_new();
	HOLDS(worker.base != NULL);
	worker.ops = &ops;
	worker.arg = &receiver;
	broken = 0;
	lifetime_begin();
	receiver_begin(bytes[0]);
	submitter_begin();
	for (i = 0; i < FRAMES_MAX && !broken && frames_next(&f, &h, &payload);
	     i++) {
		frame_apply(&h, payload);
		free(payload);
		sent_read();
		receiver_holds();
	}
	submitter_end();
	conf_clear(&worker.conf);
	lifetime_end();
	return 0;
}
