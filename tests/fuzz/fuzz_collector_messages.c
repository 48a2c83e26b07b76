/* SPDX-License-Identifier: MIT */
/*
 * The messages of a compromised listener or submitter to the collector, through the
 * real dispatch and the real lanes, in sequences: the time passes, Slurm answers, and
 * the sender is replaced.  The first byte selects the configuration and how far the
 * start has come.  Exactly the messages whose payload is malformed break the channel.
 * What the collector keeps is bounded, it acknowledges only events that it got, and
 * each message to the submitter is one that the table allows.
 */
#include "config.h"

#include <zlib.h>

#include "tests/fuzz/lifetime.h"
#include "tests/fuzz/neighbour.h"

/* on_neighbour() and the callbacks of the boxes; the tree of nodes */
int collector_main(int argc, char **argv);
#define main collector_main
#include "collector/main.c"
#undef main
#include "collector/query/node_states.c"

#define FRAMES_MAX     64 /* of one input */
#define COMMANDS_MAX   64
#define EVENTS_MAX     FRAMES_MAX
#define TURNS	       8 /* of the loop, until the channel is empty */
#define EPOCH	       INT64_C(1795212354) /* of the seeds */
#define DATA_DELIMITER "<~!>"		   /* of the recordings */

#define SEVERAL 1u /* clusters are configured */
#define MUNGE	2u
#define READY	4u  /* Slurm's configuration is known */
#define SYNCED	8u  /* the submitter has sent its open runs */
#define DRY	16u /* there is no accounting */

static struct collector col;
static struct worker worker;

/* --- the clocks --- */

int64_t
now_ms(void)
{
	return lifetime_clock_ms();
}

int64_t
now_s(void)
{
	return now_ms() / 1000;
}

int64_t
now_wall_ms(void)
{
	return EPOCH * 1000 + lifetime_ms();
}

int64_t
now_wall(void)
{
	return now_wall_ms() / 1000;
}

/* --- zlib: lifetime.c sees only the memory that this program allocates --- */

int __real_deflateInit2_(z_streamp z, int level, int method, int bits, int mem,
    int strategy, const char *version, int size);
int __wrap_deflateInit2_(z_streamp z, int level, int method, int bits, int mem,
    int strategy, const char *version, int size);
int __real_inflateInit2_(z_streamp z, int bits, const char *version, int size);
int __wrap_inflateInit2_(z_streamp z, int bits, const char *version, int size);

static void *
zlib_alloc(void *arg, unsigned n, unsigned size)
{
	return calloc(n, size);
}

static void
zlib_free(void *arg, void *p)
{
	free(p);
}

int
__wrap_deflateInit2_(z_streamp z, int level, int method, int bits, int mem,
    int strategy, const char *version, int size)
{
	z->zalloc = zlib_alloc;
	z->zfree = zlib_free;
	return __real_deflateInit2_(z, level, method, bits, mem, strategy,
	    version, size);
}

int
__wrap_inflateInit2_(z_streamp z, int bits, const char *version, int size)
{
	z->zalloc = zlib_alloc;
	z->zfree = zlib_free;
	return __real_inflateInit2_(z, bits, version, size);
}

/* --- Slurm, in place of the runner --- */

struct command {
	struct command_spec spec;
	int paused;
};

void __wrap_delimiter_new(char delimiter[DELIMITER_LEN + 1]);

/* A random one is in no input. */
void
__wrap_delimiter_new(char delimiter[DELIMITER_LEN + 1])
{
	memcpy(delimiter, DATA_DELIMITER, sizeof(DATA_DELIMITER));
}

static struct command *commands[COMMANDS_MAX]; /* oldest first */
static unsigned n_commands;
static struct command_times times;
static int64_t lastrun;

struct runner_link *
runner_new(struct event_base *base, void (*changed)(void *arg), void *arg)
{
	static char link;

	return (struct runner_link *)&link;
}

struct command *
runner_start(struct runner_link *r, const struct command_spec *spec)
{
	struct command *cmd;

	HOLDS(spec->on_end != NULL);
	HOLDS((unsigned)spec->question->kind < QUESTION__COUNT);
	if (n_commands == COMMANDS_MAX ||
	    (cmd = calloc(1, sizeof(*cmd))) == NULL)
		return NULL;
	cmd->spec = *spec;
	return commands[n_commands++] = cmd;
}

/* The n-th command ends. */
static void
command_answer(unsigned n, unsigned how, const char *text, size_t len)
{
	struct command_end end = { .outcome = (enum command_outcome)(
				       how % COMMAND_OUTCOMES),
		.status = how >= 128 ? 256 : 0,
		.ms = how,
		.bytes = len,
		.err = how & 64 ? "slurm_load_jobs error" : "" };
	struct command *cmd = commands[n];

	n_commands--;
	memmove(&commands[n], &commands[n + 1],
	    (n_commands - n) * sizeof(*commands));
	if (len > 0 && cmd->spec.on_output != NULL &&
	    cmd->spec.on_output(text, len, cmd->spec.arg) == -1)
		end.outcome = COMMAND_REFUSED;
	cmd->spec.on_end(&end, cmd->spec.arg);
	free(cmd);
}

const struct runner_info *
runner_info(const struct runner_link *r)
{
	static struct runner_info info = { .known = 1, .user = "slurm" };

	info.lastrun = lastrun;
	return &info;
}

void
runner_resume_time(struct runner_link *r, int64_t epoch)
{
	HOLDS(epoch > 0 && epoch <= TIME_S_MAX);
	lastrun = epoch;
}

void
command_pause(struct command *cmd, int pause)
{
	cmd->paused = pause;
}

unsigned
runner_running(const struct runner_link *r)
{
	return n_commands;
}

struct command_times *
runner_times(struct runner_link *r)
{
	return &times;
}

void
runner_clusters(struct runner_link *r, unsigned clusters)
{
}

void
runner_peer(struct runner_link *r, struct channel *c)
{
}

void
runner_frame(struct runner_link *r, struct channel *c,
    const struct msg_header *h, struct reader *rd, int fd)
{
	HOLDS(0); /* fuzz_runner_messages has its messages */
}

int64_t
runner_oldest_ms(const struct runner_link *r, int daemon)
{
	return 0;
}

uint64_t
runner_total(const struct runner_link *r)
{
	return 0;
}

uint64_t
runner_peak(const struct runner_link *r, const char **name)
{
	*name = "none";
	return 0;
}

/* --- the collector --- */

static void
conf_make(unsigned choice)
{
	struct conf *conf = &worker.conf;
	char reason[512];

	conf_init(conf);
	HOLDS(conf_set(conf, CONF_CLUSTERS,
		  choice & SEVERAL ? "[\"alpha\",\"beta\"]" : "[]") == 0);
	HOLDS(conf_set(conf, CONF_PREP_AUTH,
		  choice & MUNGE ? "munge" : "none") == 0);
	HOLDS(
	    on_conf_check(&worker, conf, NULL, 0, reason, sizeof(reason)) == 0);
}

/* As after Slurm's answers about its configuration and its nodes. */
static void
slurm_fill(struct cluster *c, const char *name, unsigned choice)
{
	struct slurm *slurm = &c->slurm;

	slurm->version = 2205;
	snprintf(slurm->version_text, sizeof(slurm->version_text), "22.05.8");
	snprintf(slurm->cluster, sizeof(slurm->cluster), "%s", name);
	snprintf(slurm->slurm_user, sizeof(slurm->slurm_user), "slurm");
	snprintf(slurm->user, sizeof(slurm->user), "slurm");
	slurm->accounting = (choice & DRY) == 0;
	slurm->min_job_age = 300;
	slurm->known = 1;
	c->hosts = hosts_new();
	HOLDS(c->hosts != NULL);
	c->hosts_at = now_s();
	c->ready = 1;
	slurm_clock_set(&c->clock, now_wall(), now_s());
}

static void
collector_begin(unsigned choice)
{
	static const char *const names[] = { "alpha", "beta" };
	unsigned i;

	memset(&col, 0, sizeof(col));
	memset(&times, 0, sizeof(times));
	n_commands = 0;
	lastrun = 0;
	on_init(&worker);
	conf_make(choice);
	on_conf_commit(&worker);
	on_start(&worker);
	HOLDS(col.site.n == (choice & SEVERAL ? 2 : 1));
	for (i = 0; (choice & READY) && i < col.site.n; i++)
		slurm_fill(col.site.clusters[i], names[i], choice);
	if (choice & SYNCED)
		resume_synced(&col.site);
	lifetime_pass(worker.base, 0);
}

static void
node_keep(void *node)
{
}

/* The C library allocates the tree, and lifetime.c frees the nodes. */
static void
collector_end(void)
{
	unsigned i;

	for (i = 0; i < col.site.n; i++)
		tdestroy(col.lanes[i].node_states->tree, node_keep);
	conf_clear(&worker.conf);
}

static void
collector_holds(void)
{
	unsigned i;

	HOLDS(col.site.n_resume_points <= RESUME_POINTS_MAX);
	HOLDS(outbox_durable(col.outbox) <= outbox_order(col.outbox));
	for (i = 0; i < col.site.n; i++)
		HOLDS(hook_events_waiting(col.lanes[i].hook_events) <= 65536);
	HOLDS(col.site.wake_at == 0 || col.site.timer != NULL);
}

/* --- the senders --- */

/* A channel, whose other end is read here, and the events that were sent on it. */
static struct sender {
	enum role role;
	struct channel *channel;
	int far;
	uint64_t events[EVENTS_MAX];
	unsigned n_events;
} senders[] = { { .role = ROLE_LISTENER }, { .role = ROLE_SUBMITTER } };

static void
sender_open(struct sender *s)
{
	s->n_events = 0;
	s->channel = neighbour_open(worker.base, ROLE_COLLECTOR, s->role,
	    &s->far);
	worker.peers[s->role] = s->channel;
}

static void
sender_close(struct sender *s)
{
	worker.peers[s->role] = NULL;
	channel_free(s->channel);
	close(s->far);
}

static void
event_ack_holds(const struct sender *s, const uint8_t *payload)
{
	uint64_t id;
	unsigned i;

	memcpy(&id, payload, sizeof(id));
	for (i = 0; i < s->n_events && s->events[i] != id; i++)
		continue;
	HOLDS(i < s->n_events);
}

static void
sent_read(const struct sender *s)
{
	struct msg_header h;
	uint8_t *payload;
	int fd;

	while (frame_read(s->far, s->role, ROLE_COLLECTOR, &h, &payload, &fd,
		   0) == 0) {
		if (h.type == MSG_EVENT_ACK)
			event_ack_holds(s, payload);
		free(payload);
	}
}

static void
sender_renew(struct sender *s)
{
	struct sender old = *s;

	sent_read(s);
	sender_open(s);
	on_peer(&worker, s->role, s->channel);
	channel_free(old.channel);
	close(old.far);
}

/* --- the messages --- */

static int
keys_are_valid(struct reader *r, int with_submit)
{
	struct open_key open;
	struct run_key key;
	uint32_t n;

	for (n = rd_u32(r); n > 0 && !r->err; n--)
		if (with_submit)
			rd_open_key(r, &open);
		else
			rd_run_key(r, &key);
	return rd_end(r) == 0;
}

static int
event_is_valid(struct reader *r)
{
	char cluster[CLUSTER_MAX], credential[HOOK_CREDENTIAL_MAX];

	rd_u64(r);
	rd_name(r, cluster, sizeof(cluster));
	rd_u64(r);
	rd_u8(r);
	rd_i64(r);
	rd_name(r, credential, sizeof(credential));
	return rd_end(r) == 0;
}

static int
resume_is_valid(struct reader *r)
{
	char cluster[CLUSTER_MAX];
	int64_t until;

	rd_name(r, cluster, sizeof(cluster));
	until = rd_i64(r);
	return rd_end(r) == 0 && until >= RESUME_LOST;
}

static int
range_is_valid(struct reader *r)
{
	char cluster[CLUSTER_MAX];
	int64_t from, to;

	rd_name(r, cluster, sizeof(cluster));
	from = rd_i64(r);
	to = rd_i64(r);
	rd_u8(r);
	return rd_end(r) == 0 && from >= 0 && from <= TIME_S_MAX && to >= 0 &&
	    to <= TIME_S_MAX;
}

/* The table has checked the length of messages of one length. */
static int
is_valid(unsigned type, struct reader r)
{
	char cluster[CLUSTER_MAX];

	switch (type) {
	case MSG_EVENT:
		return event_is_valid(&r);
	case MSG_RESUME_FROM:
		return resume_is_valid(&r);
	case MSG_OPEN_RUNS:
		rd_u8(&r);
		return keys_are_valid(&r, 1);
	case MSG_LOOKUP:
		rd_name(&r, cluster, sizeof(cluster));
		rd_u64(&r);
		return keys_are_valid(&r, 0);
	case MSG_BACKFILL_RANGE:
		return range_is_valid(&r);
	default:
		return 1;
	}
}

static void
message_holds(const struct msg_header *h, const char *payload)
{
	struct sender *s = &senders[h->type == MSG_EVENT ? 0 : 1];
	struct reader r;
	int i, valid;

	if (msg_check(h, s->role, ROLE_COLLECTOR) != NULL)
		return;
	rd_init(&r, payload, h->length);
	valid = is_valid(h->type, r);
	if (h->type == MSG_EVENT)
		memcpy(&s->events[s->n_events++], payload, sizeof(uint64_t));
	on_neighbour(&worker, s->channel, h, &r, -1);
	for (i = 0; i < TURNS; i++)
		event_base_loop(worker.base, EVLOOP_NONBLOCK);
	HOLDS(broken == !valid);
}

/* Two bytes select the command and how it ends. */
static void
answer_apply(const char *payload, size_t n)
{
	if (n >= 2 && n_commands > 0)
		command_answer((unsigned char)payload[0] % n_commands,
		    (unsigned char)payload[1], payload + 2, n - 2);
}

static void
messages_hold(struct frames *f)
{
	struct msg_header h;
	char *payload;
	int i;

	for (i = 0; i < FRAMES_MAX && !broken && frames_next(f, &h, &payload);
	     i++) {
		if (h.type == MSG_PING)
			lifetime_pass(worker.base,
			    frame_ms(payload, h.length, 4));
		else if (h.type == MSG_PONG)
			answer_apply(payload, h.length);
		else if (h.type == MSG_PEER)
			sender_renew(&senders[h.id % 2]);
		else
			message_holds(&h, payload);
		free(payload);
		sent_read(&senders[0]);
		sent_read(&senders[1]);
		collector_holds();
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	/*
	 * MSG_PING: time passes; MSG_PONG: a command of Slurm ends; MSG_PEER: a
	 * new listener or submitter
	 */
	static const enum msg_type types[] = { MSG_EVENT, MSG_RECORD_ACK,
		MSG_RESUME_FROM, MSG_OPEN_RUNS, MSG_LOOKUP, MSG_POLL_NOW,
		MSG_BACKFILL_RANGE, MSG_FLOW, MSG_PING, MSG_PONG, MSG_PEER };
	struct frames f = { bytes + 1, n - 1, types,
		sizeof(types) / sizeof(types[0]) };

	fuzz_quiet();
	if (n < 1)
		return 0;
	if (worker.base == NULL)
		worker.base = event_base_new();
	HOLDS(worker.base != NULL);
	worker.ops = &ops;
	worker.arg = &col;
	broken = 0;
	lifetime_begin();
	sender_open(&senders[0]);
	sender_open(&senders[1]);
	collector_begin(bytes[0]);
	on_peer(&worker, ROLE_LISTENER, senders[0].channel);
	on_peer(&worker, ROLE_SUBMITTER, senders[1].channel);
	messages_hold(&f);
	sender_close(&senders[0]);
	sender_close(&senders[1]);
	collector_end();
	lifetime_end();
	return 0;
}
