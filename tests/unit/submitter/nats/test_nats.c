/* SPDX-License-Identifier: MIT */
/*
 * Publishes to a broker of the test on loopback, which speaks as much of NATS'
 * protocol as libnats needs: login, core NATS, JetStream, refused messages and
 * broken connections.
 */
#include "config.h"

#include <sys/socket.h>

#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/listener.h>

#include "common/net/resolver.h"
#include "submitter/nats/nats.h"
#include "tests/unit/check.h"

#define WAIT_S	    60 /* only a failure reaches it */
#define MAX_PAYLOAD 2048

/* How the broker answers. */
enum mode {
	MODE_ACCEPT,
	MODE_REJECT_LOGIN,
	MODE_REJECT_SUBJECT, /* permissions violation */
	MODE_BREAK,	     /* closes the connection at a message */
	MODE_DUPLICATE,	     /* JetStream: the stream has the id */
	MODE_NO_STREAM,	     /* JetStream: no responders */
	MODE_NO_QUESTIONS,   /* JetStream: only publishing is permitted */
	MODE_FULL,	     /* a stream with discard=new is full */
	MODE_TOO_LONG,	     /* longer than max_msg_size of the stream */
	MODE_REJECT_NODES,   /* permissions violation for states of nodes */
	MODE_REJECT_BETA,    /* permissions violation for the records of beta */
	MODE_SILENT,	     /* the stream does not answer */
	MODE_DAMAGED,	     /* the answer is no answer of a stream */
	MODE_NOT_STORED,     /* a duplicate with the number 0 (2.10) */
	MODE_IN_PROCESS,     /* the same as an error (2.11) */
	MODE_BOTH_STREAMS,   /* another stream answers first */
	MODE_OTHER_STREAM,   /* the stream that answers is not the centre's */
	MODE_NO_ASKS,	     /* cc.ask.* and answers are not permitted */
	MODE_NO_INBOX /* permissions violation for the acknowledgements */
};

static struct event_base *base;
static struct nats *nats;
static struct payload *payload;
static int port;

/* The broker. */
static enum mode mode;
static unsigned published;  /* messages of runs */
static unsigned asked;	    /* questions about the stream */
static int stream_max = -1; /* max_msg_size of the stream */
static char login[1024], message[4096], header[256];
static char sid[16]; /* subscription of libnats' inbox */
static char subject_seen[128], reply_seen[128];
static char inbox[128];		 /* subject of the last other subscription */
static unsigned rejected;	 /* of these */
static char ask_sid[16];	 /* subscription to questions */
static unsigned asks_subs;	 /* subscriptions to questions, ever made */
static struct bufferevent *peer; /* the last connection */
static unsigned answers;	 /* published to a question */

/* The owner of the questions. */
static unsigned questions;
static char question[64], question_reply[64], question_subject[64];

/* The caller of nats.h. */
static int up;
static unsigned ups, downs, done;
static enum nats_result result;
static unsigned results[NATS_TOO_LONG + 1];
static char why[256];

/* Answers a request with a reply subject. */
static void
reply(struct bufferevent *bev, const char *to, const char *text)
{
	evbuffer_add_printf(bufferevent_get_output(bev),
	    "MSG %s %s %zu\r\n%s\r\n", to, sid, strlen(text), text);
}

static const char *
stream_info(void)
{
	static char text[256];

	snprintf(text, sizeof(text),
	    "{\"type\":\"io.nats.jetstream.api.v1.stream_info_response\","
	    "\"config\":{\"name\":\"JOBS\",\"subjects\":[\"jobs\"],"
	    "\"duplicate_window\":60000000000,\"max_msg_size\":%d},"
	    "\"state\":{\"messages\":1}}",
	    stream_max);
	return text;
}

/* A stream stores the message. */
static void
stored_reply(struct bufferevent *bev, const char *subject, const char *to)
{
	int is_record = strncmp(subject, "cc.record.", 10) == 0;
	char text[256];

	if (mode == MODE_BOTH_STREAMS)
		reply(bev, to,
		    "{\"stream\":\"ARCHIVE\",\"domain\":\"leaf\",\"seq\":1}");
	snprintf(text, sizeof(text), "{\"stream\":\"%s%.64s\",\"seq\":1%s}",
	    mode == MODE_OTHER_STREAM ? "CC_RECORD_x" :
		is_record	      ? "CC_RECORD_" :
					"JOBS",
	    is_record ? subject + 10 : "",
	    mode == MODE_DUPLICATE ? ",\"duplicate\":true" : "");
	reply(bev, to, text);
}

/* The stream of the centre answers: text before and behind its name. */
static void
named_reply(struct bufferevent *bev, const char *subject, const char *to,
    const char *before, const char *behind)
{
	const char *dot = strrchr(subject, '.');
	char text[256];

	snprintf(text, sizeof(text), "%s\"stream\":\"CC_RECORD_%.64s\"%s",
	    before, dot != NULL ? dot + 1 : "", behind);
	reply(bev, to, text);
}

static void
stream_reply(struct bufferevent *bev, const char *subject, const char *to)
{
	if (strncmp(subject, "$JS.API.", 8) == 0 && mode == MODE_NO_QUESTIONS) {
		evbuffer_add_printf(bufferevent_get_output(bev),
		    "-ERR 'Permissions Violation for Publish to \"%s\"'\r\n",
		    subject);
		return;
	}
	asked += strncmp(subject, "$JS.API.STREAM.INFO.", 20) == 0;
	if (strcmp(subject, "$JS.API.STREAM.NAMES") == 0)
		reply(bev, to,
		    "{\"type\":\"io.nats.jetstream.api.v1."
		    "stream_names_response\",\"total\":1,\"offset\":0,"
		    "\"limit\":1024,\"streams\":[\"JOBS\"]}");
	else if (strncmp(subject, "$JS.API.STREAM.INFO.", 20) == 0)
		reply(bev, to, stream_info());
	else if (mode == MODE_FULL)
		named_reply(bev, subject, to,
		    "{\"error\":{\"code\":503,\"err_code\":10077,"
		    "\"description\":\"maximum bytes exceeded\"},",
		    ",\"seq\":0}");
	else if (mode == MODE_TOO_LONG)
		reply(bev, to,
		    "{\"error\":{\"code\":400,\"err_code\":10054,"
		    "\"description\":\"message size exceeds maximum allowed\"}}");
	else if (mode == MODE_DAMAGED)
		reply(bev, to, "+OK");
	else if (mode == MODE_NOT_STORED)
		named_reply(bev, subject, to, "{",
		    ",\"seq\":0,\"duplicate\":true}");
	else if (mode == MODE_IN_PROCESS)
		named_reply(bev, subject, to,
		    "{\"error\":{\"code\":409,\"err_code\":10158,"
		    "\"description\":\"duplicate message id is in process\"},",
		    ",\"seq\":0}");
	else if (mode == MODE_NO_STREAM)
		evbuffer_add_printf(bufferevent_get_output(bev),
		    "HMSG %s %s 16 16\r\nNATS/1.0 503\r\n\r\n\r\n", to, sid);
	else
		stored_reply(bev, subject, to);
}

static int
is_rejected(const char *subject)
{
	return mode == MODE_REJECT_SUBJECT ||
	    (mode == MODE_REJECT_BETA &&
		strcmp(subject, "cc.record.beta") == 0);
}

/* One message.  -1: the connection is gone. */
static int
on_message(struct bufferevent *bev, const char *subject, const char *to,
    const char *head, const char *body)
{
	if (strcmp(subject, "jobs") == 0 ||
	    strncmp(subject, "cc.record.", 10) == 0) {
		snprintf(subject_seen, sizeof(subject_seen), "%s", subject);
		snprintf(reply_seen, sizeof(reply_seen), "%s", to);
		published++;
		snprintf(header, sizeof(header), "%s", head);
		snprintf(message, sizeof(message), "%s", body);
		if (mode == MODE_BREAK) {
			bufferevent_free(bev);
			return -1;
		}
		if (is_rejected(subject))
			evbuffer_add_printf(bufferevent_get_output(bev),
			    "-ERR 'Permissions Violation for Publish to "
			    "\"%s\"'\r\n",
			    subject);
	}
	if (strncmp(subject, "_R_.", 4) == 0) {
		answers++;
		snprintf(message, sizeof(message), "%s", body);
		if (mode == MODE_NO_ASKS)
			evbuffer_add_printf(bufferevent_get_output(bev),
			    "-ERR 'Permissions Violation for Publish to "
			    "\"%s\"'\r\n",
			    subject);
	}
	if (strncmp(subject, "cc.nodes.", 9) == 0) {
		snprintf(subject_seen, sizeof(subject_seen), "%s", subject);
		snprintf(message, sizeof(message), "%s", body);
		CHECK_STR(to, "");
		if (mode == MODE_REJECT_NODES)
			evbuffer_add_printf(bufferevent_get_output(bev),
			    "-ERR 'Permissions Violation for Publish to "
			    "\"%s\"'\r\n",
			    subject);
	}
	if (*to != '\0' && mode != MODE_SILENT && !is_rejected(subject))
		stream_reply(bev, subject, to);
	return 0;
}

/*
 * Reads "PUB subject [reply] n" or "HPUB subject [reply] n_header n" with its
 * payload.  1 when the payload is not complete yet.
 */
static int
read_message(struct bufferevent *bev, const char *line, size_t line_len)
{
	struct evbuffer *in = bufferevent_get_input(bev);
	char word[5][128] = { "", "", "", "", "" }, *bytes, *body;
	int with_header = line[0] == 'H', rc;
	size_t n, n_header = 0, all;
	int words = sscanf(line, "%127s %127s %127s %127s %127s", word[0],
	    word[1], word[2], word[3], word[4]);

	n = strtoul(word[words - 1], NULL, 10);
	if (with_header)
		n_header = strtoul(word[words - 2], NULL, 10);
	all = line_len + 2 + n + 2;
	if (evbuffer_get_length(in) < all)
		return 1;
	bytes = calloc(1, all + 1);
	evbuffer_remove(in, bytes, all);
	bytes[line_len + 2 + n] = '\0';
	n = line_len + 2 + n_header;
	body = strdup(bytes + n);
	bytes[n] = '\0';
	rc = on_message(bev, word[1], words - with_header == 4 ? word[2] : "",
	    bytes + line_len + 2, body);
	free(body);
	free(bytes);
	return rc;
}

static void
inbox_reject(struct bufferevent *bev)
{
	rejected++;
	evbuffer_add_printf(bufferevent_get_output(bev),
	    "-ERR 'Permissions Violation for Subscription to \"%s\"'\r\n",
	    inbox);
}

static void
on_line(struct bufferevent *bev, const char *line)
{
	struct evbuffer *out = bufferevent_get_output(bev);

	if (strncmp(line, "CONNECT ", 8) == 0) {
		snprintf(login, sizeof(login), "%s", line);
		if (mode == MODE_REJECT_LOGIN)
			evbuffer_add_printf(out,
			    "-ERR 'Authorization Violation'\r\n");
	} else if (strcmp(line, "PING") == 0)
		evbuffer_add_printf(out, "PONG\r\n");
	else if (strncmp(line, "SUB cc.ask.", 11) == 0) {
		peer = bev;
		asks_subs++;
		snprintf(ask_sid, sizeof(ask_sid), "%s",
		    strrchr(line, ' ') + 1);
		if (mode == MODE_NO_ASKS)
			evbuffer_add_printf(out,
			    "-ERR 'Permissions Violation for Subscription to "
			    "\"cc.ask.beta\"'\r\n");
	} else if (strncmp(line, "SUB ", 4) == 0) {
		snprintf(sid, sizeof(sid), "%s", strrchr(line, ' ') + 1);
		snprintf(inbox, sizeof(inbox), "%.*s",
		    (int)strcspn(line + 4, " "), line + 4);
		if (mode == MODE_NO_INBOX)
			inbox_reject(bev);
	}
}

static void
on_read(struct bufferevent *bev, void *arg)
{
	struct evbuffer *in = bufferevent_get_input(bev);
	struct evbuffer_ptr end;
	char line[1024];
	size_t n;

	(void)arg;
	for (;;) {
		end = evbuffer_search(in, "\r\n", 2, NULL);
		if (end.pos < 0 || (size_t)end.pos >= sizeof(line))
			return;
		n = (size_t)end.pos;
		evbuffer_copyout(in, line, n);
		line[n] = '\0';
		if (strncmp(line, "PUB ", 4) == 0 ||
		    strncmp(line, "HPUB ", 5) == 0) {
			if (read_message(bev, line, n) != 0)
				return;
			continue;
		}
		evbuffer_drain(in, n + 2);
		on_line(bev, line);
	}
}

static void
on_event(struct bufferevent *bev, short what, void *arg)
{
	(void)arg;
	if (what & (BEV_EVENT_EOF | BEV_EVENT_ERROR))
		bufferevent_free(bev);
}

static void
on_accept(struct evconnlistener *l, evutil_socket_t fd, struct sockaddr *sa,
    int len, void *arg)
{
	struct bufferevent *bev = bufferevent_socket_new(base, fd,
	    BEV_OPT_CLOSE_ON_FREE);

	(void)l;
	(void)sa;
	(void)len;
	(void)arg;
	bufferevent_setcb(bev, on_read, NULL, on_event, NULL);
	bufferevent_enable(bev, EV_READ | EV_WRITE);
	evbuffer_add_printf(bufferevent_get_output(bev),
	    "INFO {"
	    "\"server_id\":\"test\",\"version\":\"2.9.0\",\"proto\":1,"
	    "\"headers\":true,\"max_payload\":%d}\r\n",
	    MAX_PAYLOAD);
}

static void
on_done(uint64_t token, enum nats_result r, const char *reason, void *arg)
{
	(void)arg;
	CHECK_INT(token, 4711);
	done++;
	result = r;
	results[r]++;
	snprintf(why, sizeof(why), "%s", reason != NULL ? reason : "");
}

static void
on_up(int is_up, void *arg)
{
	(void)arg;
	CHECK(is_up != up);
	up = is_up;
	ups += is_up != 0;
	downs += is_up == 0;
}

static void
on_limit(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	*(int *)arg = 1;
}

/* Runs the event loop until *n is at least want. */
static void
wait_for(const unsigned *n, unsigned want)
{
	struct timeval tv = { WAIT_S, 0 };
	int over = 0;
	struct event *limit = evtimer_new(base, on_limit, &over);

	evtimer_add(limit, &tv);
	while (*n < want && !over)
		event_base_loop(base, EVLOOP_ONCE);
	event_free(limit);
	CHECK(!over);
}

static void
wait_up(int want)
{
	const unsigned *n = want ? &ups : &downs;

	if (up != want)
		wait_for(n, *n + 1);
}

/* Uses a new configuration and connects; user makes it differ. */
static void
use(const char *user, int jetstream, enum mode m)
{
	char reason[256], server[64];
	struct nats_conf *nc;
	struct conf conf;
	struct writer w;

	mode = m;
	conf_init(&conf);
	wr_init(&w, CONF_SECRETS_MAX);
	snprintf(server, sizeof(server), "127.0.0.1:%d", port);
	conf_set(&conf, CONF_NATS_SERVER, server);
	conf_set(&conf, CONF_NATS_JETSTREAM, jetstream ? "true" : "false");
	wr_u16(&w, CONF_NATS_USER);
	wr_blob(&w, user, strlen(user));
	if (payload == NULL)
		payload = payload_new(&conf, reason, sizeof(reason));
	nc = nats_conf_new(&conf, w.buf, w.len, reason, sizeof(reason));
	CHECK(payload != NULL && nc != NULL);
	nats_use(nats, nc);
	wr_clear(&w);
	conf_clear(&conf);
}

/* As use(), with deliver "stream". */
static void
use_stream(const char *clusters, enum mode m)
{
	char reason[256], server[64];
	struct nats_conf *nc;
	struct conf conf;

	mode = m;
	conf_init(&conf);
	snprintf(server, sizeof(server), "127.0.0.1:%d", port);
	conf_set(&conf, CONF_NATS_SERVER, server);
	conf_set(&conf, CONF_DELIVER, "stream");
	conf_set(&conf, CONF_CLUSTERS, clusters);
	nc = nats_conf_new(&conf, NULL, 0, reason, sizeof(reason));
	CHECK(nc != NULL);
	nats_use(nats, nc);
	conf_clear(&conf);
}

/* Hands over the record of a run: nats_send_record()'s result. */
static int
record(const char *cluster, uint64_t revision, size_t script)
{
	struct job job;
	const char *reason;
	int rc;

	job_init(&job);
	snprintf(job.key.cluster, sizeof(job.key.cluster), "%s", cluster);
	job.key.job = 12;
	job.key.start = 1790000000;
	job.revision = revision;
	if (script != 0) {
		job.script = calloc(1, script + 1);
		memset(job.script, 'x', script);
	}
	rc = nats_send_record(nats, &job, 0, 4711, &reason);
	job_clear(&job);
	return rc;
}

/* Sends a record and waits for its result. */
static enum nats_result
record_result(const char *cluster, uint64_t revision, size_t script)
{
	done = 0;
	CHECK_INT(record(cluster, revision, script), 0);
	wait_for(&done, 1);
	return result;
}

/* Hands over a start with a script of that many bytes; nats_send()'s result. */
static int
start(size_t script)
{
	struct payload_how how;
	struct job job;
	const char *reason;
	int rc;

	job_init(&job);
	snprintf(job.key.cluster, sizeof(job.key.cluster), "alpha");
	job.key.job = 12;
	job.key.start = 1790000000;
	job.user = strdup("alice");
	job_add_host(&job, "n1");
	if (script != 0) {
		job.script = calloc(1, script + 1);
		memset(job.script, 'x', script);
	}
	payload_how_init(&how, BACKEND_1_5, NULL);
	done = 0;
	rc = nats_send(nats, payload, &how, &job, MESSAGE_START, 0, 4711,
	    &reason);
	job_clear(&job);
	return rc;
}

static const char *
status(void)
{
	static struct nats_status st;

	nats_status(nats, &st);
	return st.broker.text;
}

static void
check_core(void)
{
	CHECK_STR(status(), "off");
	CHECK_INT(start(0), -1);
	CHECK_INT(errno, ENOTCONN);
	use("a\"b", 0, MODE_ACCEPT);
	CHECK_STR(status(), "connecting");
	wait_up(1);
	CHECK(nats_is_up(nats));
	CHECK(strstr(login, "\"user\":\"a\\\"b\"") != NULL);
	CHECK(strstr(status(), "connected to 127.0.0.1:") == status());
	CHECK_INT(start(0), 0);
	wait_for(&done, 1);
	CHECK_INT(result, NATS_SENT);
	CHECK_INT(published, 1);
	CHECK(strncmp(message, "job,function=start_job,", 23) == 0);
	/* The broker's limit: the script is cut. */
	CHECK_INT(start(MAX_PAYLOAD), 0);
	wait_for(&done, 1);
	CHECK_INT(result, NATS_SENT);
	CHECK(
	    strlen(message) <= MAX_PAYLOAD && strstr(message, "[cut]") != NULL);
	/* The connection breaks before the flush is answered. */
	mode = MODE_BREAK;
	CHECK_INT(start(0), 0);
	wait_for(&done, 1);
	CHECK_INT(result, NATS_UNSURE);
	mode = MODE_ACCEPT;
	wait_up(1);
	CHECK_INT(downs, 1);
}

static void
check_rejected(void)
{
	struct nats_status st;

	mode = MODE_REJECT_SUBJECT;
	CHECK_INT(start(0), 0);
	wait_for(&done, 1);
	CHECK_INT(result, NATS_DENIED);
	CHECK(strstr(why, "ermission") != NULL);
	wait_up(0);
	CHECK(strstr(status(), "no connection since 2") == status());
	nats_status(nats, &st);
	CHECK_INT(st.sent, 2);
	CHECK_INT(st.unsure, 1);
	CHECK_INT(st.refused, 1);
	CHECK_INT(st.shortened, 1);
	CHECK_INT(st.in_flight, 0);
	/* Another configuration is used at once; its login is rejected. */
	use("b", 0, MODE_REJECT_LOGIN);
	while (strstr(status(), "uthorization") == NULL)
		event_base_loop(base, EVLOOP_ONCE);
	CHECK(!nats_is_up(nats));
	CHECK_INT(start(0), -1);
}

static void
check_stream(void)
{
	struct nats_status st;

	published = 0;
	use("c", 1, MODE_ACCEPT);
	wait_up(1);
	/* The window is known before a message is published. */
	CHECK_INT(asked, 1);
	CHECK_INT(published, 0);
	CHECK_INT(start(0), 0);
	wait_for(&done, 1);
	CHECK_INT(result, NATS_SENT);
	CHECK(strstr(header, "Nats-Msg-Id: alpha:12:1790000000:start") != NULL);
	mode = MODE_TOO_LONG;
	CHECK_INT(start(0), 0);
	wait_for(&done, 1);
	CHECK_INT(result, NATS_TOO_LONG);
	CHECK_STR(why, "the message is longer than max_msg_size of the stream");
	CHECK_INT(asked, 2);
	/* The limit of the stream was lowered: the next message is shorter. */
	stream_max = 1024;
	CHECK_INT(start(1024), 0);
	wait_for(&done, 1);
	CHECK_INT(result, NATS_AWAY);
	CHECK_INT((int)nats_payload_max(nats), 1024);
	CHECK_INT(asked, 3);
	mode = MODE_ACCEPT;
	CHECK_INT(start(1024), 0);
	wait_for(&done, 1);
	CHECK_INT(result, NATS_SENT);
	CHECK(strstr(message, "[cut]") != NULL);
	stream_max = -1;
	CHECK_INT(up, 1);
	mode = MODE_DUPLICATE;
	CHECK_INT(start(0), 0);
	wait_for(&done, 1);
	CHECK_INT(result, NATS_SENT);
	nats_status(nats, &st);
	CHECK_INT(st.duplicates, 1);
	/* The stream has noted the id and not the message: not sent, not lost. */
	mode = MODE_NOT_STORED;
	CHECK_INT(start(0), 0);
	wait_for(&done, 1);
	CHECK_INT(result, NATS_IN_PROCESS);
	mode = MODE_IN_PROCESS;
	CHECK_INT(start(0), 0);
	wait_for(&done, 1);
	CHECK_INT(result, NATS_IN_PROCESS);
	CHECK_INT(up, 1);
	nats_status(nats, &st);
	CHECK_INT(st.duplicates, 1);
	mode = MODE_NO_STREAM;
	CHECK_INT(start(0), 0);
	wait_for(&done, 1);
	CHECK_INT(result, NATS_AWAY);
	CHECK(strstr(why, "no stream acknowledges subject jobs") != NULL);
	wait_up(0);
	/* A stream with a smaller limit than the broker: the script is cut. */
	stream_max = 1024;
	use("e", 1, MODE_ACCEPT);
	wait_up(1);
	CHECK_INT(asked, 4);
	CHECK_INT((int)nats_payload_max(nats), 1024);
	CHECK_INT(start(1024), 0);
	wait_for(&done, 1);
	CHECK_INT(result, NATS_SENT);
	CHECK(strstr(message, "[cut]") != NULL);
	stream_max = -1;
	mode = MODE_NO_STREAM;
	CHECK_INT(start(0), 0);
	wait_for(&done, 1);
	wait_up(0);
	/* A login that may only publish: the window stays unknown. */
	use("d", 1, MODE_NO_QUESTIONS);
	wait_up(1);
	CHECK_INT(asked, 4);
	CHECK_INT(start(0), 0);
	wait_for(&done, 1);
	CHECK_INT(result, NATS_SENT);
	mode = MODE_NO_STREAM;
	CHECK_INT(start(0), 0);
	wait_for(&done, 1);
	CHECK(strstr(why, "no stream acknowledges subject jobs") != NULL);
	wait_up(0);
}

/* Without the permission for one cluster, the records of the other are stored. */
static void
check_one_rejected(void)
{
	unsigned i;

	mode = MODE_REJECT_BETA;
	memset(results, 0, sizeof(results));
	done = 0;
	for (i = 0; i < 100; i++)
		CHECK_INT(record(i % 2 ? "a.b" : "beta", 1000 + i, 0), 0);
	wait_for(&done, 100);
	CHECK_INT(results[NATS_SENT], 50);
	CHECK_INT(results[NATS_DENIED], 50);
	CHECK_INT(up, 1);
	CHECK_INT(record_result("beta", 2000, 0), NATS_DENIED);
	CHECK(strstr(why, "Permissions Violation") != NULL);
	mode = MODE_NO_STREAM;
	CHECK_INT(record_result("beta", 2001, 0), NATS_NO_STREAM);
	CHECK_INT(up, 1);
	/* The broker has reloaded its rights: its old report counts no longer. */
	mode = MODE_ACCEPT;
	CHECK_INT(record_result("beta", 2000, 0), NATS_SENT);
	wait_up(0);
	wait_up(1);
	mode = MODE_SILENT;
	CHECK_INT(record_result("beta", 2002, 0), NATS_NO_STREAM);
	mode = MODE_ACCEPT;
}

/* A message that a stream refuses does not end the connection. */
static void
check_refusals(void)
{
	struct nats_status before, st;

	mode = MODE_FULL;
	nats_status(nats, &before);
	CHECK_INT(record_result("beta", 80, 0), NATS_REFUSED);
	CHECK_STR(why, "maximum bytes exceeded");
	nats_status(nats, &st);
	CHECK_INT(st.refused, before.refused + 1);
	CHECK_INT(st.away, before.away);
	mode = MODE_BOTH_STREAMS;
	CHECK_INT(record_result("beta", 80, 0), NATS_SENT);
	/* Somebody's own stream has the subject: the centre does not read it. */
	mode = MODE_OTHER_STREAM;
	CHECK_INT(record_result("beta", 80, 0), NATS_REFUSED);
	CHECK_STR(why, "another stream has the subject: CC_RECORD_xbeta");
	mode = MODE_TOO_LONG;
	CHECK_INT(record_result("beta", 80, 0), NATS_TOO_LONG);
	CHECK_STR(why, "the message is longer than max_msg_size of the stream");
	mode = MODE_NO_STREAM;
	CHECK_INT(record_result("beta", 80, 0), NATS_NO_STREAM);
	CHECK_STR(why, "no stream has the subject");
	mode = MODE_DAMAGED;
	CHECK_INT(record_result("beta", 80, 0), NATS_NO_STREAM);
	mode = MODE_NOT_STORED;
	CHECK_INT(record_result("beta", 80, 0), NATS_IN_PROCESS);
	mode = MODE_IN_PROCESS;
	CHECK_INT(record_result("beta", 80, 0), NATS_IN_PROCESS);
	mode = MODE_ACCEPT;
	CHECK_INT(record_result("beta", 80, 0), NATS_SENT);
	CHECK_INT(up, 1);
	check_one_rejected();
}

/* deliver "stream": whole records, each to the stream of its cluster. */
static void
check_records(void)
{
	struct nats_status st;
	unsigned i;

	use_stream("[\"a.b\",\"beta\"]", MODE_ACCEPT);
	wait_up(1);
	CHECK_INT(record_result("a.b", 77, 0), NATS_SENT);
	CHECK_STR(subject_seen, "cc.record.a=2Eb");
	/* The login permits answers below the name of its cluster only. */
	CHECK(strncmp(reply_seen, "_INBOX_a=2Eb.", 13) == 0);
	CHECK(strstr(header, "Nats-Msg-Id: a.b:12:1790000000:record:77\r\n") !=
	    NULL);
	CHECK(strncmp(message, "{\"schema\":1,\"revision\":77,", 26) == 0);
	CHECK_INT(record_result("beta", 78, 0), NATS_SENT);
	CHECK_STR(subject_seen, "cc.record.beta");
	/* Many at once, before any answer. */
	done = published = 0;
	for (i = 0; i < 300; i++)
		CHECK_INT(record("beta", 100 + i, 0), 0);
	wait_for(&done, 300);
	CHECK_INT(published, 300);
	/* The broker's limit: the record loses its script and says so. */
	CHECK_INT(record_result("beta", 79, MAX_PAYLOAD), NATS_SENT);
	CHECK(strstr(message, "jobScript") == NULL);
	CHECK(strstr(message, "job script is left out") != NULL);
	mode = MODE_DUPLICATE;
	nats_status(nats, &st);
	i = (unsigned)st.duplicates;
	CHECK_INT(record_result("beta", 79, 0), NATS_SENT);
	nats_status(nats, &st);
	CHECK_INT(st.duplicates, i + 1);
	check_refusals();
}

static void
on_ask(const struct nats_ask *ask, void *arg)
{
	(void)arg;
	questions++;
	snprintf(question_subject, sizeof(question_subject), "%s",
	    ask->subject);
	snprintf(question_reply, sizeof(question_reply), "%s", ask->reply);
	snprintf(question, sizeof(question), "%.*s", (int)ask->len, ask->data);
}

/* The broker sends a question of n bytes. */
static void
question_send(const char *to, const char *text, size_t n)
{
	struct evbuffer *out = bufferevent_get_output(peer);

	evbuffer_add_printf(out, "MSG cc.ask.beta %s %s %zu\r\n", ask_sid, to,
	    n);
	evbuffer_add(out, text, n);
	evbuffer_add_printf(out, "\r\n");
}

#define BURST 12 /* questions */

/* A question of the centre arrives, and its answer is published. */
static void
check_asks(void)
{
	static char text[64 * 1024];
	unsigned i;

	use_stream("[\"beta\"]", MODE_ACCEPT);
	wait_up(1);
	nats_on_ask(nats, on_ask, NULL);
	/* what is no question: too long, or nobody waits for the answer */
	memset(text, 'x', sizeof(text));
	question_send("_R_.0", text, sizeof(text));
	question_send("", text, 1);
	question_send("_R_.1", "{}", 2);
	wait_for(&questions, 1);
	CHECK_INT(questions, 1);
	CHECK_STR(question, "{}");
	CHECK_STR(question_reply, "_R_.1");
	CHECK_STR(question_subject, "cc.ask.beta");
	CHECK_INT(nats_answer(nats, question_reply, "[1]", 3), 0);
	wait_for(&answers, 1);
	CHECK_STR(message, "[1]");
	/* a question about each cluster at once */
	for (i = 0; i < BURST; i++)
		question_send("_R_.3", "{}", 2);
	wait_for(&questions, 1 + BURST);
	CHECK_INT(questions, 1 + BURST);
	CHECK_INT(record_result("beta", 90, 0), NATS_SENT);
	/* A login without these permissions publishes nevertheless. */
	use_stream("[\"beta\",\"gamma\"]", MODE_NO_ASKS);
	wait_up(0);
	wait_up(1);
	CHECK_INT(record_result("beta", 91, 0), NATS_SENT);
	CHECK_INT(nats_answer(nats, "_R_.2", "[2]", 3), 0);
	wait_for(&answers, 2);
	CHECK_INT(record_result("beta", 92, 0), NATS_SENT);
	CHECK_INT(record_result("gamma", 93, 0), NATS_SENT);
	CHECK_INT(up, 1);
	/* The broker gets the permission: the connection stays. */
	mode = MODE_ACCEPT;
	i = asks_subs;
	nats_asks_again(nats);
	wait_for(&asks_subs, i + 2);
	question_send("_R_.4", "{}", 2);
	wait_for(&questions, 2 + BURST);
	CHECK_STR(question_reply, "_R_.4");
	CHECK_INT(up, 1);
}

/* Without its subscription no record is acknowledged: a new connection makes it. */
static void
check_inbox(void)
{
	unsigned i;

	use_stream("[\"beta\"]", MODE_NO_INBOX);
	wait_up(0);
	wait_for(&rejected, 1);
	CHECK_INT(record("beta", 94, 0), -1);
	/* The broker gets the permission. */
	mode = MODE_ACCEPT;
	wait_up(1);
	CHECK_INT(record_result("beta", 94, 0), NATS_SENT);
	/* A reload of the broker takes it away, and gives it back. */
	mode = MODE_SILENT;
	inbox_reject(peer);
	question_send("_R_.5", "{}", 2);
	i = questions;
	wait_for(&questions, i + 1);
	/* Another denied subscription would hide this one. */
	i = asks_subs;
	nats_asks_again(nats);
	CHECK_INT(record_result("beta", 95, 0), NATS_AWAY);
	CHECK_INT(asks_subs, i);
	wait_up(0);
	CHECK(strstr(why,
		  "does not permit the subscription to _INBOX_beta.>") != NULL);
	mode = MODE_ACCEPT;
	wait_up(1);
	CHECK_INT(record_result("beta", 95, 0), NATS_SENT);
}

static int
nodes(const char *cluster, const char *text)
{
	struct writer w;
	int rc;

	wr_init(&w, MAX_PAYLOAD + 64);
	wr_mem(&w, text, strlen(text));
	rc = nats_send_nodes(nats, cluster, 7, &w, 4711);
	wr_clear(&w);
	return rc;
}

/* States of nodes: without a right for them, records are published as before. */
static void
check_nodes(void)
{
	char *large = calloc(1, MAX_PAYLOAD + 2);
	struct nats_status st;
	unsigned before;

	use_stream("[\"a.b\",\"beta\"]", MODE_ACCEPT);
	wait_up(1);
	done = 0;
	CHECK_INT(nodes("a.b", "{\"nodes\":[]}"), 0);
	wait_for(&done, 1);
	CHECK_INT(result, NATS_SENT);
	CHECK_STR(subject_seen, "cc.nodes.a=2Eb.7");
	CHECK_STR(message, "{\"nodes\":[]}");
	memset(large, 'x', MAX_PAYLOAD + 1);
	CHECK_INT(nodes("beta", large), -1);
	CHECK_INT(errno, EMSGSIZE);
	free(large);
	mode = MODE_REJECT_NODES;
	before = downs;
	done = 0;
	CHECK_INT(nodes("beta", "{}"), 0);
	wait_for(&done, 1);
	CHECK_INT(result, NATS_DENIED);
	CHECK_INT(record_result("beta", 200, 0), NATS_SENT);
	CHECK_INT(record_result("beta", 201, 0), NATS_SENT);
	nats_status(nats, &st);
	CHECK_INT(st.broker.away_since, 0);
	CHECK_INT(downs, before);
	/* The broker has reloaded its rights: the next try has a new connection. */
	mode = MODE_ACCEPT;
	done = 0;
	CHECK_INT(nodes("beta", "{}"), 0);
	wait_for(&done, 1);
	CHECK_INT(result, NATS_AWAY);
	wait_up(1);
	done = 0;
	CHECK_INT(nodes("beta", "{}"), 0);
	wait_for(&done, 1);
	CHECK_INT(result, NATS_SENT);
}

int
main(void)
{
	struct sockaddr_in sin = { .sin_family = AF_INET };
	socklen_t len = sizeof(sin);
	struct evconnlistener *listener;
	struct resolver *names;
	int rc;

	signal(SIGPIPE, SIG_IGN);
	alarm(5 * WAIT_S);
	sin.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	nats_prepare();
	base = event_base_new();
	names = resolver_new(base);
	nats = nats_new(base, names, on_done, on_up, NULL);
	listener = evconnlistener_new_bind(base, on_accept, NULL,
	    LEV_OPT_CLOSE_ON_FREE, 8, (struct sockaddr *)&sin, sizeof(sin));
	CHECK(names != NULL && nats != NULL && listener != NULL);
	CHECK(getsockname(evconnlistener_get_fd(listener),
		  (struct sockaddr *)&sin, &len) == 0);
	port = ntohs(sin.sin_port);
	check_core();
	check_rejected();
	check_stream();
	check_records();
	check_nodes();
	check_asks();
	check_inbox();
	nats_free(nats);
	resolver_free(names);
	payload_free(payload);
	rc = check_done();
	fflush(stdout);
	/* libnats and OpenSSL must not run their exit functions together. */
	_exit(rc);
}
