/* SPDX-License-Identifier: MIT */
/*
 * fake-cc-backend: options, the commit timer, signals.
 */
#include "config.h"

#include <signal.h>

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fake.h"

static const char usage_text[] =
    "usage: fake-cc-backend [options]\n"
    "  --port N             0 (default) chooses one and prints it\n"
    "  --commit SECONDS     interval of the job_cache (default 120)\n"
    "  --limit SECONDS      for a header, for an answer (default 20)\n"
    "  --clusters SPEC      default alpha=n[1-4],beta=b[01-16]\n"
    "  --topology SHAPE     block (siblings 0,1), interleaved (0,8) or crossed\n"
    "                       (0,8, and even ids on one socket, odd ones on the other)\n"
    "  --version V          1.5.4, 1.4.4, 1.4.1 or 1.3.1\n"
    "  --token-file FILE    holds a good token afterwards\n"
    "  --sign CLAIMS        print a token with these claims (JSON), exit\n"
    "  --print-key          print the signing key (base64), exit\n"
    "  --tls CERT KEY       PEM files\n"
    "  --ledger FILE        append a line for each effect; read first,\n"
    "                       so that a new process knows what was stored\n"
    "  --pid FILE           write the process id\n"
    "  --nats URL           take jobs from this NATS server, not by REST\n"
    "  --nats-subject NAME  where jobs are published (default jobs; nodes: nodes)\n"
    "  --nats-mode          start and stop are 404 by REST\n";

static void
usage(void)
{
	fputs(usage_text, stderr);
	exit(2);
}

static enum version
version_read(const char *s)
{
	static const struct {
		const char *name;
		enum version v;
	} names[] = {
		{ "1.5.4", V154 },
		{ "1.4.4", V144 },
		{ "1.4.1", V141 },
		{ "1.3.1", V131 },
	};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(s, names[i].name) == 0)
			return names[i].v;
	usage();
	return V154;
}

static void
tls_read(struct options *o, const char *arg, int argc, char **argv)
{
	o->cert = arg;
	if (optind >= argc)
		usage();
	o->key = argv[optind++];
}

/* Answers --sign and --print-key. */
static void
token_print(const char *claims)
{
	struct text t = { 0 }, token = { 0 };

	if (jwt_init(NULL, &token) == -1)
		exit(1);
	if (claims != NULL) {
		if (jwt_sign(claims, &t) == -1)
			exit(1);
	} else
		jwt_key(&t);
	printf("%s\n", t.p);
	exit(0);
}

enum {
	O_PORT = 256,
	O_COMMIT,
	O_LIMIT,
	O_CLUSTERS,
	O_TOPOLOGY,
	O_VERSION,
	O_TOKEN,
	O_NATS,
	O_SUBJECT,
	O_SIGN,
	O_KEY,
	O_TLS,
	O_LEDGER,
	O_PID,
	O_NATSMODE,
	O_LISTEN
};

static const struct option longopts[] = { { "port", required_argument, NULL,
					      O_PORT },
	{ "listen", required_argument, NULL, O_LISTEN },
	{ "commit", required_argument, NULL, O_COMMIT },
	{ "limit", required_argument, NULL, O_LIMIT },
	{ "clusters", required_argument, NULL, O_CLUSTERS },
	{ "topology", required_argument, NULL, O_TOPOLOGY },
	{ "version", required_argument, NULL, O_VERSION },
	{ "token-file", required_argument, NULL, O_TOKEN },
	{ "sign", required_argument, NULL, O_SIGN },
	{ "print-key", no_argument, NULL, O_KEY },
	{ "tls", required_argument, NULL, O_TLS },
	{ "ledger", required_argument, NULL, O_LEDGER },
	{ "pid", required_argument, NULL, O_PID },
	{ "nats", required_argument, NULL, O_NATS },
	{ "nats-subject", required_argument, NULL, O_SUBJECT },
	{ "nats-mode", no_argument, NULL, O_NATSMODE }, { NULL, 0, NULL, 0 } };

static void
option_set(struct options *o, int opt, const char *arg)
{
	switch (opt) {
	case O_PORT:
		o->port = atoi(arg);
		break;
	case O_LISTEN:
		if (strcmp(arg, "127.0.0.1") != 0)
			usage(); /* nothing else is safe */
		break;
	case O_COMMIT:
		o->commit = atof(arg);
		break;
	case O_LIMIT:
		o->limit = atof(arg);
		break;
	case O_CLUSTERS:
		o->clusters = arg;
		break;
	case O_TOPOLOGY:
		o->crossed = strcmp(arg, "crossed") == 0;
		o->interleaved = o->crossed || strcmp(arg, "interleaved") == 0;
		if (!o->interleaved && strcmp(arg, "block") != 0)
			usage();
		break;
	case O_VERSION:
		o->version = version_read(arg);
		break;
	case O_TOKEN:
		o->tokenfile = arg;
		break;
	case O_SIGN:
	case O_KEY:
		token_print(arg);
		break;
	case O_LEDGER:
		o->ledger = arg;
		break;
	case O_PID:
		o->pidfile = arg;
		break;
	case O_SUBJECT:
		o->subject = arg;
		break;
	case O_NATS:
		o->nats = arg;
		o->natsmode = true;
		break;
	case O_NATSMODE:
		o->natsmode = true;
		break;
	default:
		usage();
	}
}

static void
on_commit(evutil_socket_t fd, short what, void *arg)
{
	store_commit();
}

static void
on_signal(evutil_socket_t fd, short what, void *arg)
{
	event_base_loopbreak(arg);
}

static int
pid_write(const char *path)
{
	FILE *f = fopen(path, "we");

	if (f == NULL)
		return -1;
	fprintf(f, "%ld\n", (long)getpid());
	return fclose(f);
}

static int
fail(const char *what)
{
	perror(what);
	return 1;
}

static int
serve(struct options *o, struct event_base *base)
{
	struct timeval every = { .tv_sec = (time_t)o->commit,
		.tv_usec = (suseconds_t)((o->commit - (time_t)o->commit) *
		    1e6) };
	struct event *commit = event_new(base, -1, EV_PERSIST, on_commit, NULL);

	event_add(commit, &every);
	evsignal_add(evsignal_new(base, SIGTERM, on_signal, base), NULL);
	evsignal_add(evsignal_new(base, SIGINT, on_signal, base), NULL);
	if (o->pidfile != NULL && pid_write(o->pidfile) == -1)
		return fail(o->pidfile);
	printf("%d\n", http_port());
	fflush(stdout);
	event_base_dispatch(base);
	event_free(commit);
	if (o->pidfile != NULL)
		unlink(o->pidfile);
	return 0;
}

int
main(int argc, char **argv)
{
	static struct options o = {
		.clusters = "alpha=n[1-4],beta=b[01-16]",
		.subject = "jobs",
		.commit = 120,
		.limit = 20,
		.version = V154,
	};
	struct text token = { 0 };
	struct event_base *base;
	int opt;

	signal(SIGPIPE, SIG_IGN);
	while ((opt = getopt_long(argc, argv, "", longopts, NULL)) != -1)
		if (opt == O_TLS)
			tls_read(&o, optarg, argc, argv);
		else
			option_set(&o, opt, optarg);
	if (optind != argc || o.commit <= 0 || o.limit <= 0)
		usage();
	api_init(&o);
	if (clusters_init(&o) == -1)
		usage();
	if (jwt_init(o.tokenfile, &token) == -1)
		return fail("token");
	if (o.tokenfile == NULL)
		fprintf(stderr, "token: %s\n", token.p);
	text_clear(&token);
	if (o.ledger != NULL)
		restore_ledger(o.ledger, o.commit);
	if (o.ledger != NULL && ledger_open(o.ledger) == -1)
		return fail(o.ledger);
	base = event_base_new();
	if (base == NULL || http_init(base, &o) == -1)
		return fail("listen");
	if (o.nats != NULL && nats_init(base, o.nats, o.subject) == -1)
		usage();
	return serve(&o, base);
}
