/* SPDX-License-Identifier: MIT */
/*
 * Publishes to a real broker as the submitter does, by hand: tests/lab/nats
 * drives it.
 *
 *	nats-live CONFIG [ROOT]
 *
 * With ROOT it connects only after a chroot into that (empty) folder.
 * CONFIG has one key=value a line, as config.json names them; secrets and
 * files are given by value=@PATH.  Standard input has the commands:
 *
 *	start JOB [BYTES]	publish a start, with a script of that size
 *	stop JOB		publish its end
 *	use CONFIG		take another configuration
 *	status, quit
 */
#include "config.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <event2/buffer.h>
#include <event2/event.h>

#include "common/log.h"
#include "common/net/resolver.h"
#include "submitter/nats/nats.h"

static struct event_base *base;
static struct resolver *names;
static struct nats *nats;
static struct payload *payload;

static void say(const char *fmt, ...) LOG_PRINTF(1, 2);

static void
say(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
	fflush(stdout);
}

static size_t
file_read(const char *path, char *buf, size_t size)
{
	FILE *f = fopen(path, "r");
	size_t n;

	if (f == NULL)
		fatal("%s", path);
	n = fread(buf, 1, size, f);
	fclose(f);
	return n;
}

static void
line_use(struct conf *conf, struct writer *secrets, char *line)
{
	static char content[65536];
	char *value = strchr(line, '=');
	enum conf_key key;
	size_t n;

	if (value == NULL)
		return;
	*value++ = '\0';
	for (key = 0; key < CONF__COUNT; key++)
		if (strcmp(conf_rule(key)->name, line) == 0)
			break;
	if (key == CONF__COUNT)
		fatalx("no key %s", line);
	n = strlen(value);
	memcpy(content, value, n);
	if (*value == '@')
		n = file_read(value + 1, content, sizeof(content));
	if (conf_rule(key)->type == CONF_TYPE_SECRET ||
	    conf_rule(key)->type == CONF_TYPE_SECRET_FILE ||
	    conf_rule(key)->type == CONF_TYPE_FILE) {
		wr_u16(secrets, (uint16_t)key);
		wr_blob(secrets, content, n);
	} else
		conf_set(conf, key, value);
}

static void
conf_use(const char *path)
{
	char text[8192], why[256], *line, *save = NULL;
	struct writer secrets;
	struct nats_conf *nc;
	struct conf conf;

	conf_init(&conf);
	wr_init(&secrets, CONF_SECRETS_MAX);
	text[file_read(path, text, sizeof(text) - 1)] = '\0';
	for (line = strtok_r(text, "\n", &save); line != NULL;
	     line = strtok_r(NULL, "\n", &save))
		line_use(&conf, &secrets, line);
	payload_free(payload);
	payload = payload_new(&conf, why, sizeof(why));
	nc = nats_conf_new(&conf, secrets.buf, secrets.len, why, sizeof(why));
	if (payload == NULL || nc == NULL)
		say("bad %s", why);
	else
		nats_use(nats, nc);
	wr_clear(&secrets);
	conf_clear(&conf);
}

static void
on_done(uint64_t token, enum nats_result result, const char *why, void *arg)
{
	static const char *const words[] = {
		[NATS_SENT] = "sent",
		[NATS_UNSURE] = "unsure",
		[NATS_AWAY] = "away",
		[NATS_DENIED] = "denied",
		[NATS_REFUSED] = "refused",
		[NATS_IN_PROCESS] = "in-process",
		[NATS_NO_STREAM] = "no-stream",
		[NATS_TOO_LONG] = "too-long",
	};

	(void)arg;
	say("done %llu %s %s %s", (unsigned long long)token / 2,
	    token % 2 ? "stop" : "start", words[result],
	    why != NULL ? why : "");
}

static void
on_up(int up, void *arg)
{
	(void)arg;
	say("%s", up ? "up" : "down");
}

static void
publish(uint64_t id, int stop, size_t bytes)
{
	struct payload_how how;
	struct job job;
	const char *why;

	job_init(&job);
	snprintf(job.key.cluster, sizeof(job.key.cluster), "lab");
	job.key.job = id;
	job.key.start = 1790000000;
	job.state = stop ? END_COMPLETED : END_NOT;
	job.end = stop ? 1790000060 : 0;
	job.user = strdup("alice");
	job.partition = strdup("main");
	job_add_host(&job, "n1");
	if (bytes != 0) {
		job.script = malloc(bytes + 1);
		memset(job.script, 'x', bytes);
		job.script[bytes] = '\0';
	}
	payload_how_init(&how, BACKEND_1_5, NULL);
	if (nats_send(nats, payload, &how, &job,
		stop ? MESSAGE_STOP : MESSAGE_START, 0, id * 2 + (stop != 0),
		&why) == -1)
		say("refused %llu %s %s", (unsigned long long)id,
		    strerror(errno), why != NULL ? why : "");
	job_clear(&job);
}

static void
tell_status(void)
{
	struct nats_status st;

	nats_status(nats, &st);
	say("status sent=%llu unsure=%llu away=%llu denied=%llu shortened=%llu "
	    "duplicates=%llu busy=%u %s",
	    (unsigned long long)st.sent, (unsigned long long)st.unsure,
	    (unsigned long long)st.away, (unsigned long long)st.refused,
	    (unsigned long long)st.shortened, (unsigned long long)st.duplicates,
	    st.in_flight, st.broker.text);
}

static void
on_command(evutil_socket_t fd, short what, void *arg)
{
	static struct evbuffer *in;
	unsigned long long id, bytes;
	char *line;
	int n;

	(void)what;
	(void)arg;
	if (in == NULL)
		in = evbuffer_new();
	n = evbuffer_read(in, fd, 4096);
	while ((line = evbuffer_readln(in, NULL, EVBUFFER_EOL_LF)) != NULL) {
		bytes = 0;
		if (sscanf(line, "start %llu %llu", &id, &bytes) >= 1)
			publish(id, 0, (size_t)bytes);
		else if (sscanf(line, "stop %llu", &id) == 1)
			publish(id, 1, 0);
		else if (strncmp(line, "use ", 4) == 0)
			conf_use(line + 4);
		else if (strcmp(line, "status") == 0)
			tell_status();
		else if (strcmp(line, "quit") == 0)
			n = 0;
		free(line);
	}
	if (n <= 0)
		event_base_loopbreak(base);
}

int
main(int argc, char **argv)
{
	struct event *in;

	if (argc != 2 && argc != 3)
		return 2;
	log_init("nats-live", LOG_LEVEL_INFO);
	resolver_prepare();
	nats_prepare();
	base = event_base_new();
	names = resolver_new(base);
	nats = nats_new(base, names, on_done, on_up, NULL);
	in = event_new(base, 0, EV_READ | EV_PERSIST, on_command, NULL);
	if (names == NULL || nats == NULL || event_add(in, NULL) == -1)
		fatalx("no memory");
	conf_use(argv[1]);
	if (argc == 3 &&
	    (chroot(argv[2]) == -1 || chdir("/") == -1 || setgid(65534) == -1 ||
		setuid(65534) == -1))
		fatal("chroot %s", argv[2]);
	event_base_dispatch(base);
	nats_free(nats);
	/* Not exit(): libnats and OpenSSL tear each other down there. */
	_exit(0);
}
