/* SPDX-License-Identifier: MIT */
/*
 * All messages of a compromised collector or receiver to the submitter, through the
 * real dispatch and the real boxes, in sequences: the time passes, cc-backend
 * answers, the sender is replaced, and the destinations change.  fuzz_intake has more
 * about the records.  The first byte selects the sender and the configuration.
 * Exactly the messages whose payload is malformed break the channel, and they change
 * no role.  A centre without a lease sends no request.  The table of nodes stays
 * within its bounds, and no state of a run changes against the table.
 */
#include "config.h"

#include "common/clock.h"
#include "common/permanent.h"
#include "submitter/spool/transition.h"
#include "tests/fuzz/neighbour.h"

/* on_neighbour() and the callbacks of the boxes; the table of nodes */
int submitter_main(int argc, char **argv);
#define main submitter_main
#include "submitter/main.c"
#undef main
#include "submitter/delivery/node_states.c"

#define MAX_BYTES    (2u * 1024 * 1024)
#define FRAMES_MAX   64 /* of one input */
#define REQUESTS_MAX 64
#define TIMERS_MAX   32
#define FIRED_MAX    200       /* timers that one message lets fire */
#define TURNS	     8	       /* of the loop, until the channel is empty */
#define CLOCK_BEGIN  3600000   /* ms */
#define LEASE_MS_MAX 300000    /* of natsLeaseTime */
#define FAR_AWAY     100000000 /* s: libevent itself fires no timer */

#define BY_RECEIVER 1u
#define CENTRE	    2u
#define ACTIVE_ONLY 4u
#define TO_STREAM   8u
#define CONNECTED   16u /* cc-backend has answered */
#define NO_NAMES    32u /* clusters is not set */

static char dir[] = "/dev/shm/csa-fuzz-submitter.XXXXXX";
static char path[sizeof(dir) + 16], history_path[sizeof(dir) + 24];
static struct submitter s;
static struct worker worker;
static int64_t clock_at;
static int far;
static unsigned drains, drained;

/* --- memory and time, in place of the product's --- */

static struct permanent_block {
	struct permanent_block *next;
	max_align_t object[];
} * blocks;

/* The boxes of one input. */
void *
permanent_new(size_t size)
{
	struct permanent_block *b = calloc(1, sizeof(*b) + size);

	HOLDS(b != NULL);
	b->next = blocks;
	blocks = b;
	return b->object;
}

static void
permanent_free(void)
{
	struct permanent_block *b;

	while ((b = blocks) != NULL) {
		blocks = b->next;
		free(b);
	}
}

long long
clock_boot_ms(void)
{
	return clock_at;
}

int64_t spool_boottime(void); /* of a private header */

int64_t
spool_boottime(void)
{
	return clock_at;
}

static struct {
	struct event *event; /* owned */
	int64_t due;	     /* -1 = not set */
} timers[TIMERS_MAX];
static int n_timers;

struct event *
timer_new(struct submitter *sub, event_callback_fn fn, void *arg)
{
	struct event *event = evtimer_new(sub->w->base, fn, arg);

	HOLDS(event != NULL && n_timers < TIMERS_MAX);
	timers[n_timers].event = event;
	timers[n_timers++].due = -1;
	return event;
}

void
timer_after(struct event *event, int64_t ms)
{
	static const struct timeval far_away = { FAR_AWAY, 0 };
	int i;

	for (i = 0; i < n_timers && timers[i].event != event; i++)
		continue;
	HOLDS(i < n_timers);
	timers[i].due = ms < 0 ? -1 : clock_at + ms;
	if (ms < 0)
		event_del(event);
	else
		event_add(event, &far_away);
}

int64_t
timer_backoff(unsigned tries, int64_t first, int64_t max)
{
	while (tries-- > 0 && first < max)
		first *= 2;
	return first < max ? first : max;
}

int64_t
timer_jitter(int64_t ms)
{
	return ms;
}

static int
timer_first(int64_t until)
{
	int i, first = -1;

	for (i = 0; i < n_timers; i++)
		if (timers[i].due >= 0 && timers[i].due <= until &&
		    (first == -1 || timers[i].due < timers[first].due))
			first = i;
	return first;
}

static void
time_pass(int64_t ms)
{
	int64_t until = clock_at + ms;
	struct event *event;
	int i, fired;

	for (fired = 0; fired < FIRED_MAX; fired++) {
		event_base_loop(worker.base, EVLOOP_NONBLOCK);
		if ((i = timer_first(until)) == -1)
			break;
		if (timers[i].due > clock_at)
			clock_at = timers[i].due;
		timers[i].due = -1;
		event = timers[i].event;
		event_del(event);
		event_get_callback(
		    event)(-1, EV_TIMEOUT, event_get_callback_arg(event));
	}
	clock_at = until;
}

static void
timers_free(void)
{
	while (n_timers > 0)
		event_free(timers[--n_timers].event);
}

/* --- cc-backend, in place of the HTTP client --- */

static struct {
	enum request_kind kind;
	http_data_fn *data;
	http_done_fn *done;
	void *arg;
} requests[REQUESTS_MAX];
static int n_requests;
static int64_t fence;
static void (*quiet)(void *arg);
static void *quiet_arg;

static int
is_read(enum request_kind kind)
{
	return kind == REQUEST_CLUSTERS || kind == REQUEST_LIST ||
	    kind == REQUEST_PROBE;
}

static int
writes(void)
{
	int i, n = 0;

	for (i = 0; i < n_requests; i++)
		n += !is_read(requests[i].kind);
	return n;
}

static void
quiet_check(void)
{
	void (*fn)(void *) = quiet;

	if (fn == NULL || writes() > 0)
		return;
	quiet = NULL;
	fn(quiet_arg);
}

int
http_send(struct http_client *r, struct http_request *req)
{
	HOLDS((unsigned)req->what < REQUEST__COUNT && req->done != NULL);
	if (fence != HTTP_NO_FENCE &&
	    fence - clock_at < (is_read(req->what) ? 1 : HTTP_FENCE_LEAST))
		return -1;
	HOLDS(!s.role.standby);
	if (n_requests == REQUESTS_MAX)
		return -1;
	requests[n_requests].kind = req->what;
	requests[n_requests].data = req->data;
	requests[n_requests].done = req->done;
	requests[n_requests++].arg = req->arg;
	if (req->body != NULL)
		wr_clear(req->body);
	return 0;
}

/* With the n-th request that has no answer. */
static void
request_answer(int n, long code, const char *body, size_t len)
{
	struct http_answer a = { .what = requests[n].kind,
		.code = code,
		.body = body,
		.len = len,
		.error = code == 0 ? "reset" : NULL,
		.backend = breaker_version(s.breaker),
		.sends = 1 };
	http_data_fn *data = requests[n].data;
	http_done_fn *done = requests[n].done;
	void *arg = requests[n].arg;

	n_requests--;
	memmove(&requests[n], &requests[n + 1],
	    (size_t)(n_requests - n) * sizeof(requests[0]));
	if (data != NULL && code == 200) {
		if (data(body, len, arg) == -1) {
			a.code = 0;
			a.error = "the body was refused";
		}
		a.body = NULL;
		a.len = 0;
	}
	done(&a, arg);
	quiet_check();
}

void
http_fence(struct http_client *r, int64_t until)
{
	HOLDS(until == HTTP_NO_FENCE ||
	    conf_bool(&worker.conf, CONF_ACTIVE_ONLY));
	fence = until;
}

void
http_on_quiet(struct http_client *r, void (*fn)(void *arg), void *arg)
{
	quiet = fn;
	quiet_arg = arg;
	quiet_check();
}

int
http_all_answered(const struct http_client *r, int64_t ms)
{
	return writes() == 0 && (ms & 1) != 0;
}

void
http_use(struct http_client *r, struct http_conf *rc)
{
	http_conf_free(rc);
}

int
http_usable(const struct http_client *r)
{
	return 1;
}

unsigned
http_busy(const struct http_client *r)
{
	return (unsigned)n_requests;
}

int
http_token_in_clear(const struct http_client *r)
{
	return 0;
}

const struct token_expiry *
http_token_expiry(const struct http_client *r)
{
	static const struct token_expiry none = { .kind = TOKEN_NONE };

	return &none;
}

const char *
http_where(const struct http_client *r)
{
	return "here";
}

void
http_forget(struct http_client *r)
{
}

struct http_client *
http_new(struct event_base *base, struct resolver *names)
{
	return NULL;
}

/* --- the submitter --- */

static void
files_remove(void)
{
	static const char *const names[] = { "", "-wal", "-shm" };
	char name[sizeof(history_path) + 8];
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(name, sizeof(name), "%s%s", path, names[i]);
		unlink(name);
		snprintf(name, sizeof(name), "%s%s", history_path, names[i]);
		unlink(name);
	}
}

static void
dir_remove(void)
{
	files_remove();
	rmdir(dir);
}

static void
prepare(void)
{
	spool_prepare();
	HOLDS(mkdtemp(dir) != NULL);
	atexit(dir_remove);
	snprintf(path, sizeof(path), "%s/spool.db", dir);
	snprintf(history_path, sizeof(history_path), "%s/history.db", dir);
	worker.base = event_base_new();
	HOLDS(worker.base != NULL);
	worker.ops = &ops;
	worker.arg = &s;
}

static void
conf_make(unsigned choice)
{
	struct conf *conf = &worker.conf;
	char reason[512];

	conf_clear(conf);
	conf_init(conf);
	HOLDS(conf_set(conf, CONF_CLUSTERS,
		  choice & NO_NAMES ? "[]" : "[\"alpha\",\"beta\"]") == 0);
	HOLDS(conf_set(conf, CONF_CC_REST_URL, "http://127.0.0.1:1") == 0);
	HOLDS(conf_set(conf, CONF_SOURCE,
		  choice & CENTRE ? "stream" : "slurm") == 0);
	HOLDS(conf_set(conf, CONF_DELIVER,
		  choice & TO_STREAM ? "stream" : "direct") == 0);
	HOLDS(conf_set(conf, CONF_ACTIVE_ONLY,
		  choice & ACTIVE_ONLY ? "true" : "false") == 0);
	HOLDS(
	    on_conf_check(&worker, conf, NULL, 0, reason, sizeof(reason)) == 0);
}

/* As on_start(), without the reserve and the check for old rows. */
static void
submitter_begin(unsigned choice)
{
	char reason[512];

	memset(&s, 0, sizeof(s));
	clock_at = CLOCK_BEGIN;
	fence = HTTP_NO_FENCE;
	quiet = NULL;
	n_requests = 0;
	s.w = &worker;
	s.topology = topology_new();
	conf_make(choice);
	s.spool = spool_open(path, MAX_BYTES, tomb_age(&worker.conf), reason,
	    sizeof(reason));
	HOLDS(s.spool != NULL && s.topology != NULL);
	s.history = history_new(&s, history_path);
	run_history_begin(&s);
	memory_begin(&s);
	wake_init(&s, lanes);
	boxes_new(&s);
	conf_swap(&s);
	HOLDS(destinations_check(&s) == 0);
	breaker_conf(s.breaker);
	wake(&s, WAKE_DELIVERY);
	time_pass(0);
}

/* As version 1.5 without clusters. */
static void
backend_connect(void)
{
	static const char refused[] = "{\"error\":\"no such cluster: \"}";
	static const char clusters[] = "{\"clusters\":[]}";

	if (n_requests > 0 && requests[0].kind == REQUEST_PROBE)
		request_answer(0, 400, refused, sizeof(refused) - 1);
	if (n_requests > 0 && requests[0].kind == REQUEST_CLUSTERS)
		request_answer(0, 200, clusters, sizeof(clusters) - 1);
	time_pass(0);
}

static void
nodes_hold(const struct node_states *n)
{
	const struct queued_node *node;
	size_t count = 0, due = 0;

	HOLDS(n->n_clusters <= CLUSTERS_KEPT);
	for (node = n->first; node != NULL; node = node->next) {
		HOLDS(node->cluster < n->n_clusters);
		HOLDS(strlen(node->name) < HOST_MAX);
		HOLDS(memchr(node->states, '\0', WORDS_MAX) != NULL);
		count++;
		due += node->due != 0;
	}
	HOLDS(count == n->n && due == n->due && n->n <= NODES_KEPT);
}

static void
submitter_end(void)
{
	nodes_hold(s.nodes);
	while (n_requests > 0)
		request_answer(0, 0, NULL, 0);
	HOLDS(commit_now(s.commit) == 0);
	HOLDS(!commit_is_stuck(s.commit));
	HOLDS(spool_forbidden(s.spool) == 0);
	nodes_forget(s.nodes);
	intake_peer(s.intake, NULL);
	history_close(s.history);
	spool_close(s.spool);
	payload_free(s.payload);
	topology_free(s.topology);
	timers_free();
	permanent_free();
}

/* --- the sender --- */

static void
sender_begin(enum role peer)
{
	struct channel *old = worker.peers[peer];

	if (old != NULL)
		close(far);
	worker.peers[peer] = neighbour_open(worker.base, ROLE_SUBMITTER, peer,
	    &far);
	on_peer(&worker, peer, worker.peers[peer]);
	channel_free(old);
	drains = drained = 0;
}

static void
sender_end(enum role peer)
{
	struct channel *c = worker.peers[peer];

	worker.peers[peer] = NULL;
	on_peer(&worker, peer, NULL);
	channel_free(c);
	close(far);
}

/* What the submitter sent: as many answers as there were drains, at most. */
static void
sent_read(enum role peer)
{
	struct msg_header h;
	uint8_t *payload;
	int fd;

	while (
	    frame_read(far, peer, ROLE_SUBMITTER, &h, &payload, &fd, 0) == 0) {
		drained += h.type == MSG_DRAINED;
		free(payload);
	}
	HOLDS(drained <= drains);
}

static int
hook_is_valid(struct reader r)
{
	char cluster[CLUSTER_MAX];
	uint64_t job;
	unsigned kind;
	int64_t ms;

	rd_name(&r, cluster, sizeof(cluster));
	job = rd_u64(&r);
	kind = rd_u8(&r);
	ms = rd_i64(&r);
	return rd_end(&r) == 0 && job != 0 && kind <= EVENT_END && ms >= 0 &&
	    ms / 1000 <= TIME_S_MAX;
}

/* slurmctld, then slurmdbd: the seconds without an answer and three numbers */
static int
times_are_valid(struct reader r)
{
	uint32_t first = rd_u32(&r);

	rd_u32(&r);
	rd_u32(&r);
	rd_u32(&r);
	return first <= SLURM_TIMES_AWAY_MAX &&
	    rd_u32(&r) <= SLURM_TIMES_AWAY_MAX;
}

/* The nodes of another cluster are not read. */
static int
nodes_are_valid(struct reader r)
{
	struct node_state state;
	char cluster[CLUSTER_MAX];
	uint32_t n;

	rd_name(&r, cluster, sizeof(cluster));
	if (!r.err && strcmp(cluster, "alpha") != 0 &&
	    strcmp(cluster, "beta") != 0)
		return 1;
	for (n = rd_u32(&r); n > 0 && !r.err; n--)
		node_read(&r, &state);
	return rd_end(&r) == 0;
}

/* 1 = valid, 0 = malformed, -1 = fuzz_intake has this one. */
static int
is_valid(const struct msg_header *h, struct reader r, unsigned choice)
{
	int64_t until;

	switch (h->type) {
	case MSG_CONTROLLER_ROLE:
		return rd_u8(&r) <= 1;
	case MSG_ACTIVE_UNTIL:
		until = rd_i64(&r);
		return until >= 0 && until <= clock_at + LEASE_MS_MAX;
	case MSG_DRAIN:
		return 1;
	case MSG_SLURM_TIMES:
		return times_are_valid(r);
	case MSG_HOOK_CALLED:
		return hook_is_valid(r);
	case MSG_NODES:
		return (choice & NO_NAMES) ? -1 : nodes_are_valid(r);
	default:
		return -1;
	}
}

static void
message_holds(const struct msg_header *h, const char *payload, enum role from,
    unsigned choice)
{
	struct failover_role before = s.role;
	struct reader r;
	int valid, i;

	if (msg_check(h, from, ROLE_SUBMITTER) != NULL)
		return;
	rd_init(&r, payload, h->length);
	valid = is_valid(h, r, choice);
	drains += h->type == MSG_DRAIN;
	on_neighbour(&worker, worker.peers[from], h, &r, -1);
	if (valid == 0)
		HOLDS(memcmp(&before, &s.role, sizeof(before)) == 0);
	for (i = 0; i < TURNS; i++)
		event_base_loop(worker.base, EVLOOP_NONBLOCK);
	if (valid != -1)
		HOLDS(broken == !valid);
	if (h->type == MSG_NODES)
		nodes_hold(s.nodes);
	sent_read(from);
}

/* Its first bytes select the request and the status. */
static void
answer_apply(const char *payload, size_t n)
{
	static const long codes[] = { 200, 201, 400, 401, 404, 409, 422, 500,
		503, 0 };

	if (n < 2 || n_requests == 0)
		return;
	request_answer((unsigned char)payload[0] % n_requests,
	    codes[(unsigned char)payload[1] %
		(sizeof(codes) / sizeof(codes[0]))],
	    payload + 2, n - 2);
}

/*
 * The destinations change: the first byte has those of now, the others are the value
 * that the spool has of those before.
 */
static void
destinations_apply(const char *payload, size_t n)
{
	struct spool_policy *p = spool_policy(s.spool);

	if (n < 1 || p->whole)
		return;
	p->to[DEST_NATS] = payload[0] & 1;
	p->to[DEST_REST] = !p->to[DEST_NATS] || (payload[0] & 2) != 0;
	HOLDS(
	    spool_value_set(s.spool, "destinations", payload + 1, n - 1) == 0);
	HOLDS(destinations_check(&s) == 0);
	time_pass(0);
}

static void
messages_hold(struct frames *f, enum role from, unsigned choice)
{
	struct msg_header h;
	char *payload;
	int i;

	for (i = 0; i < FRAMES_MAX && !broken && frames_next(f, &h, &payload);
	     i++) {
		if (h.type == MSG_PING)
			time_pass(frame_ms(payload, h.length, 4));
		else if (h.type == MSG_PONG)
			answer_apply(payload, h.length);
		else if (h.type == MSG_PEER)
			sender_begin(from);
		else if (h.type == MSG_CONF)
			destinations_apply(payload, h.length);
		else
			message_holds(&h, payload, from, choice);
		free(payload);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	/*
	 * MSG_PING: time passes; MSG_PONG: cc-backend answers; MSG_PEER: a new
	 * sender; MSG_CONF: other destinations
	 */
	static const enum msg_type types[] = { MSG_CONTROLLER_ROLE, MSG_NODES,
		MSG_HOOK_CALLED, MSG_SLURM_TIMES, MSG_ACTIVE_UNTIL, MSG_DRAIN,
		MSG_PING, MSG_PONG, MSG_PEER, MSG_RECORD, MSG_WATERMARK,
		MSG_STREAM_POSITION, MSG_NOT_FOUND, MSG_CONF };
	struct frames f = { bytes + 1, n - 1, types,
		sizeof(types) / sizeof(types[0]) };
	enum role from;

	fuzz_quiet();
	if (worker.base == NULL)
		prepare();
	if (n < 1)
		return 0;
	from = bytes[0] & BY_RECEIVER ? ROLE_RECEIVER : ROLE_COLLECTOR;
	files_remove();
	broken = 0;
	submitter_begin(bytes[0]);
	if (bytes[0] & CONNECTED)
		backend_connect();
	sender_begin(from);
	messages_hold(&f, from, bytes[0]);
	sender_end(from);
	submitter_end();
	return 0;
}
