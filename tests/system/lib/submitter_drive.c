/* SPDX-License-Identifier: MIT */
/*
 * Runs the submitter alone: plays supervisor and collector over socketpairs,
 * by lines on standard input, and prints what it says.  What a whole suite
 * would need minutes for is one line here.
 *
 *	submitter_drive PROGRAM SPOOLDIR TOKENFILE [key=value ...]
 *
 * In the environment: DRIVE_SANDBOX (any value: in force), DRIVE_LEVEL,
 * DRIVE_CA (a file with certificates).
 *
 *	start C J START [SECONDS-AGO-SUBMITTED]   a run that runs
 *	end C J START END STATE			its end (number of enum job_end)
 *	many C FIRST N START LENGTH		N runs, ended when LENGTH > 0
 *	mark C UNTIL				the cursor
 *	denied C J START			Slurm does not know it
 *	skip C J START				a worker died on it twice
 *	answer live|end				how MSG_LOOKUP is answered from now on
 *	ctl VERB FLAGS				rows are printed
 *	peer					a new collector
 *	stored					waits until all is stored
 *	sleep MS, kill, quit
 */
#include "config.h"

#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/codec.h"
#include "common/model/conf.h"
#include "common/model/ctl.h"
#include "common/ipc/channel.h"
#include "common/model/job.h"
#include "common/log.h"
#include "common/model/msg.h"
#include "common/worker/sandbox.h"

#define WAIT_MS 10000

static int sup = -1, peer = -1; /* our ends */
static pid_t pid;
static uint64_t seq, stored;
static enum job_end ask_answer = END__COUNT; /* none */

static long long
now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (long long)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

static void
say(int fd, enum role from, enum msg_type type, struct writer *w, int pass)
{
	if (frame_write(fd, from, ROLE_SUBMITTER, type, 1, w, pass) == -1)
		fatal("say %s", msg_name(type));
}

static void
key_print(struct reader *r)
{
	struct run_key key;

	rd_run_key(r, &key);
	printf(" %s/%llu/%lld", key.cluster, (unsigned long long)key.job,
	    (long long)key.start);
}

static void
job_fill(struct job *job, const char *cluster, uint64_t id, int64_t start,
    int64_t end, enum job_end state)
{
	struct job_host *h;
	char text[64];

	job_init(job);
	snprintf(job->key.cluster, sizeof(job->key.cluster), "%s", cluster);
	job->key.job = id;
	job->key.start = start;
	job->flags = JOB_HAS_START | JOB_HAS_THREADS | JOB_HAS_ACCELS |
	    (end == 0 ? JOB_LIVE : 0);
	job->submit = start - 10;
	job->end = end;
	job->state = state;
	job->shared = SHARED_MULTI_USER;
	job->nodes = 1;
	job->cpus = 4;
	job->walltime = 3600;
	job->user = strdup("u1");
	job->account = strdup("p1");
	job->partition = strdup("main");
	snprintf(text, sizeof(text), "job %llu", (unsigned long long)id);
	job->name = strdup(text);
	h = job_add_host(job, "n1");
	h->sockets = 2;
	h->cores = 4;
	h->threads = 2;
	job_host_add_cpus(h, 0, 3);
}

static void
record_send(const char *cluster, uint64_t id, int64_t start, int64_t end,
    enum job_end state)
{
	struct writer w;
	struct job job;

	job_fill(&job, cluster, id, start, end, state);
	wr_init(&w, MSG_PAYLOAD_MAX);
	wr_u64(&w, ++seq);
	job_write(&w, &job);
	say(peer, ROLE_COLLECTOR, MSG_RECORD, &w, -1);
	wr_clear(&w);
	job_clear(&job);
}

static void
on_ask(struct reader *r)
{
	struct run_key key;
	char cluster[CLUSTER_MAX];
	uint32_t n;

	rd_name(r, cluster, sizeof(cluster));
	rd_u64(r);
	for (n = rd_u32(r); n > 0; n--) {
		rd_run_key(r, &key);
		printf("ask %s/%llu/%lld\n", key.cluster,
		    (unsigned long long)key.job, (long long)key.start);
		if (ask_answer != END__COUNT)
			record_send(key.cluster, key.job, key.start,
			    ask_answer == END_NOT ? 0 : key.start + 60,
			    ask_answer);
	}
}

static void
row_print(struct reader *r)
{
	const struct ctl_column *c;
	unsigned table = rd_u8(r), n = rd_u8(r), i;
	char *text;

	c = ctl_columns(table);
	printf("row");
	for (i = 0; i < n; i++) {
		text = rd_strdup(r, CTL_REPLY_MAX);
		printf(" %s=%s",
		    c != NULL && c[i].name != NULL ? c[i].name : "?",
		    text != NULL ? text : "?");
		free(text);
	}
	printf("\n");
}

/* Takes one frame from fd; its type. */
static int
take(int fd, enum role self)
{
	struct msg_header h;
	struct reader r;
	uint8_t *payload = NULL;
	char name[CLUSTER_MAX], *text;
	int pass = -1, type;
	uint32_t n, bits;

	if (frame_read(fd, self, ROLE_SUBMITTER, &h, &payload, &pass,
		WAIT_MS) == -1) {
		printf("gone\n");
		fflush(stdout);
		exit(3);
	}
	type = h.type;
	rd_init(&r, payload, h.length);
	switch (type) {
	case MSG_HELLO:
		rd_u32(&r);
		rd_u8(&r);
		text = rd_strdup(&r, 4096);
		printf("hello %s\n", text);
		free(text);
		break;
	case MSG_CONF_BAD:
		rd_u32(&r);
		text = rd_strdup(&r, 4096);
		printf("conf-bad %s\n", text);
		free(text);
		break;
	case MSG_CTL_ROW:
		row_print(&r);
		break;
	case MSG_CTL_END:
		n = rd_u8(&r);
		text = rd_strdup(&r, 4096);
		printf("end %u %s\n", n, text);
		free(text);
		break;
	case MSG_RECORD_ACK:
		stored = rd_u64(&r);
		break;
	case MSG_RESUME_FROM:
		rd_name(&r, name, sizeof(name));
		printf("cursor %s %lld\n", name, (long long)rd_i64(&r));
		break;
	case MSG_OPEN_RUNS:
		bits = rd_u8(&r);
		n = rd_u32(&r);
		printf("running %u:", n);
		while (n-- > 0) {
			key_print(&r);
			rd_i64(&r); /* the submission */
		}
		printf("%s\n", bits & OPEN_RUNS_LAST ? " last" : "");
		break;
	case MSG_LOOKUP:
		on_ask(&r);
		break;
	case MSG_SUMMARY: /* once a second; no test reads it */
		break;
	default:
		printf("%s\n", msg_name((unsigned)type));
		break;
	}
	fflush(stdout);
	free(payload);
	return type;
}

/* Takes frames for ms, or until one of the type came (then 1). */
static int
listen_for(int ms, int type)
{
	struct pollfd p[2] = { { sup, POLLIN, 0 }, { peer, POLLIN, 0 } };
	long long end = now_ms() + ms;
	int left;

	while ((left = (int)(end - now_ms())) >= 0) {
		p[1].fd = peer;
		if (poll(p, 2, left) <= 0)
			continue;
		if (p[0].revents != 0 && take(sup, ROLE_SUPERVISOR) == type)
			return 1;
		if (p[1].revents != 0 && take(peer, ROLE_COLLECTOR) == type)
			return 1;
	}
	return 0;
}

static void
sandbox_say(const char *dir)
{
	struct sandbox sb;
	struct writer w;

	sandbox_init(&sb, ROLE_SUBMITTER);
	sb.mode = getenv("DRIVE_SANDBOX") != NULL ? SANDBOX_ENFORCE :
						    SANDBOX_OFF;
	sb.root = realpath(dir, NULL);
	sandbox_allow(&sb, dir, SANDBOX_READ | SANDBOX_WRITE);
	wr_init(&w, 65536);
	sandbox_write(&w, &sb);
	say(sup, ROLE_SUPERVISOR, MSG_SANDBOX, &w, -1);
	wr_clear(&w);
	sandbox_clear(&sb);
}

static void
secret_add(struct writer *w, enum conf_key key, const char *path)
{
	static char text[512 * 1024];
	int in = path != NULL ? open(path, O_RDONLY) : -1;
	ssize_t n = in != -1 ? read(in, text, sizeof(text)) : 0;

	if (in == -1)
		return;
	close(in);
	while (n > 0 && text[n - 1] == '\n')
		n--;
	wr_u16(w, (uint16_t)key);
	wr_blob(w, text, n > 0 ? (size_t)n : 0);
}

static int
secrets_make(const char *path)
{
	struct writer w;
	int fd = memfd_create("secrets", MFD_ALLOW_SEALING | MFD_CLOEXEC);

	wr_init(&w, CONF_SECRETS_MAX);
	secret_add(&w, CONF_CC_REST_JWT, path);
	secret_add(&w, CONF_CC_REST_CA_FILE, getenv("DRIVE_CA"));
	if (write(fd, w.buf, w.len) != (ssize_t)w.len ||
	    fcntl(fd, F_ADD_SEALS,
		F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) == -1)
		fatal("secrets");
	wr_clear(&w);
	return fd;
}

static void
conf_say(char *item)
{
	char *value = strchr(item, '=');
	struct writer w;
	unsigned key;

	if (value == NULL)
		fatalx("%s: no key=value", item);
	*value++ = '\0';
	for (key = 0; key < CONF__COUNT; key++)
		if (strcmp(conf_rule((enum conf_key)key)->name, item) == 0)
			break;
	if (key == CONF__COUNT)
		fatalx("%s: no such key", item);
	wr_init(&w, 65536);
	conf_write(&w, (enum conf_key)key, value);
	say(sup, ROLE_SUPERVISOR, MSG_CONF, &w, -1);
	wr_clear(&w);
}

static void
file_say(enum msg_file which, const char *path)
{
	char text[65536];
	struct writer w;
	int fd = open(path, O_RDONLY);
	ssize_t n = fd != -1 ? read(fd, text, sizeof(text)) : 0;

	close(fd);
	wr_init(&w, 2 * sizeof(text));
	wr_u8(&w, (uint8_t)which);
	wr_blob(&w, text, n > 0 ? (size_t)n : 0);
	say(sup, ROLE_SUPERVISOR, MSG_FILE, &w, -1);
	wr_clear(&w);
}

static void
peer_say(void)
{
	struct writer w;
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) == -1)
		fatal("socketpair");
	if (peer != -1)
		close(peer);
	peer = fds[0];
	seq = stored = 0;
	wr_init(&w, 1);
	wr_u8(&w, ROLE_COLLECTOR);
	say(sup, ROLE_SUPERVISOR, MSG_PEER, &w, fds[1]);
	wr_clear(&w);
	/* The descriptor is in flight; our copy of the other end is not needed. */
	close(fds[1]);
}

static void
begin(const char *program, const char *dir, const char *token, int n,
    char **items)
{
	static char level[] = "-d", number[] = "4";
	char *argv[] = { strdup(program), level,
		getenv("DRIVE_LEVEL") != NULL ? getenv("DRIVE_LEVEL") : number,
		NULL };
	struct writer w;
	int fds[2], i;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) == -1)
		fatal("socketpair");
	pid = fork();
	if (pid == 0) {
		dup2(fds[1], 3);
		execv(program, argv);
		_exit(127);
	}
	close(fds[1]);
	sup = fds[0];
	sandbox_say(dir);
	for (i = 0; i < n; i++)
		conf_say(items[i]);
	i = secrets_make(token);
	say(sup, ROLE_SUPERVISOR, MSG_SECRETS, NULL, i);
	close(i);
	wr_init(&w, 16);
	wr_u32(&w, 1);
	say(sup, ROLE_SUPERVISOR, MSG_CONF_END, &w, -1);
	if (!listen_for(WAIT_MS, MSG_CONF_OK))
		fatalx("no conf-ok");
	file_say(MSG_FILE_RESOLV_CONF, "/etc/resolv.conf");
	file_say(MSG_FILE_HOSTS, "/etc/hosts");
	say(sup, ROLE_SUPERVISOR, MSG_CONF_COMMIT, &w, -1);
	if (!listen_for(WAIT_MS, MSG_READY))
		fatalx("not ready");
	wr_clear(&w);
	peer_say();
	free(argv[0]);
}

static void
mark_say(const char *cluster, int64_t until)
{
	struct writer w;

	wr_init(&w, 256);
	wr_u64(&w, ++seq);
	wr_str(&w, cluster);
	wr_u8(&w, WATERMARK_ACCOUNTING);
	wr_i64(&w, until);
	say(peer, ROLE_COLLECTOR, MSG_WATERMARK, &w, -1);
	wr_clear(&w);
}

static void
denied_say(const struct run_key *key)
{
	struct writer w;

	wr_init(&w, 512);
	wr_u64(&w, ++seq);
	wr_str(&w, key->cluster);
	wr_u64(&w, 0);
	wr_u32(&w, 1);
	wr_run_key(&w, key);
	say(peer, ROLE_COLLECTOR, MSG_NOT_FOUND, &w, -1);
	wr_clear(&w);
}

static void
skip_say(const struct run_key *key)
{
	struct writer w;

	wr_init(&w, 512);
	wr_run_key(&w, key);
	say(sup, ROLE_SUPERVISOR, MSG_QUARANTINE, &w, -1);
	wr_clear(&w);
}

static void
ctl_say(unsigned verb, unsigned flags)
{
	struct ctl_request req = { .magic = CTL_MAGIC,
		.version = CTL_VERSION,
		.verb = (uint16_t)verb,
		.flags = flags };
	struct writer w;

	wr_init(&w, 4096);
	wr_mem(&w, &req, sizeof(req));
	say(sup, ROLE_SUPERVISOR, MSG_CTL, &w, -1);
	wr_clear(&w);
	if (!listen_for(WAIT_MS, MSG_CTL_END))
		printf("no answer\n");
}

static void
quit(int sig)
{
	struct writer w;
	int status;

	if (sig == 0) {
		wr_init(&w, 4);
		wr_u32(&w, 1000);
		say(sup, ROLE_SUPERVISOR, MSG_STOP, &w, -1);
	} else
		kill(pid, sig);
	waitpid(pid, &status, 0);
	printf("status %d\n", status);
	exit(0);
}

/* Up to five words of a line. */
static void
line_do(char *line)
{
	char *w[6] = { NULL }, *save = NULL, *word;
	long long v[6] = { 0 };
	struct run_key key;
	int n = 0, i;

	for (word = strtok_r(line, " \n", &save); word != NULL && n < 6;
	     word = strtok_r(NULL, " \n", &save)) {
		v[n] = strtoll(word, NULL, 10);
		w[n++] = word;
	}
	if (n == 0 || w[0][0] == '#')
		return;
	if (strcmp(w[0], "start") == 0)
		record_send(w[1], (uint64_t)v[2], v[3], 0, END_NOT);
	else if (strcmp(w[0], "end") == 0)
		record_send(w[1], (uint64_t)v[2], v[3], v[4],
		    (enum job_end)v[5]);
	else if (strcmp(w[0], "many") == 0) {
		for (i = 0; i < v[3]; i++) {
			record_send(w[1], (uint64_t)(v[2] + i), v[4] + i / 100,
			    v[5] > 0 ? v[4] + i / 100 + v[5] : 0,
			    v[5] > 0 ? END_COMPLETED : END_NOT);
			while (seq - stored > 400)
				listen_for(WAIT_MS, MSG_RECORD_ACK);
		}
	} else if (strcmp(w[0], "mark") == 0)
		mark_say(w[1], v[2]);
	else if (strcmp(w[0], "denied") == 0) {
		memset(&key, 0, sizeof(key));
		snprintf(key.cluster, sizeof(key.cluster), "%s", w[1]);
		key.job = (uint64_t)v[2];
		key.start = v[3];
		denied_say(&key);
	} else if (strcmp(w[0], "skip") == 0) {
		memset(&key, 0, sizeof(key));
		snprintf(key.cluster, sizeof(key.cluster), "%s", w[1]);
		key.job = (uint64_t)v[2];
		key.start = v[3];
		skip_say(&key);
	} else if (strcmp(w[0], "answer") == 0)
		ask_answer = strcmp(w[1], "live") == 0 ? END_NOT :
							 END_COMPLETED;
	else if (strcmp(w[0], "ctl") == 0)
		ctl_say((unsigned)v[1], (unsigned)v[2]);
	else if (strcmp(w[0], "peer") == 0)
		peer_say();
	else if (strcmp(w[0], "stored") == 0) {
		while (stored < seq && listen_for(WAIT_MS, MSG_RECORD_ACK))
			continue;
		printf("stored %llu of %llu\n", (unsigned long long)stored,
		    (unsigned long long)seq);
	} else if (strcmp(w[0], "sleep") == 0)
		listen_for((int)v[1], -1);
	else if (strcmp(w[0], "kill") == 0)
		quit(SIGKILL);
	else if (strcmp(w[0], "quit") == 0)
		quit(0);
	else
		printf("what is \"%s\"?\n", w[0]);
	fflush(stdout);
}

int
main(int argc, char **argv)
{
	char line[1024];

	log_init("drive", LOG_LEVEL_WARN);
	if (argc < 4)
		fatalx("usage: submitter_drive PROGRAM SPOOLDIR TOKENFILE "
		       "[key=value ...]");
	begin(argv[1], argv[2], argv[3], argc - 4, argv + 4);
	while (fgets(line, sizeof(line), stdin) != NULL)
		line_do(line);
	quit(0);
	return 0;
}
