/* SPDX-License-Identifier: MIT */
/* A simulated site; see simulation.h. */
#include "config.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector/slurm/runner_link.h"
#include "collector/slurm/slurm.h"
#include "collector/track/track.h"
#include "common/log.h"
#include "tests/unit/collector/simulation.h"

#define KEPT_MAX     1024 /* structs that the product never frees */
#define COMMANDS_MAX 64	  /* under way at a time */

/* Never read: volatile, so that the compiler leaves the stores in. */
static void *volatile kept[KEPT_MAX];
static unsigned n_kept;

void *
sim_keep(void *p)
{
	if (n_kept == KEPT_MAX)
		fatal("KEPT_MAX is too small");
	kept[n_kept++] = p;
	return p;
}

/* The clock */

static int64_t mono, wall; /* seconds */

int64_t
now_ms(void)
{
	return mono * 1000;
}

int64_t
now_s(void)
{
	return mono;
}

int64_t
now_wall(void)
{
	return wall;
}

void
sim_pass(int64_t seconds)
{
	mono += seconds;
	wall += seconds;
}

/* The channels: each message becomes a text. */

struct channel {
	enum role peer;
};

static struct channel submitter = { ROLE_SUBMITTER };
static struct channel listener = { ROLE_LISTENER };
static char said[64 * 1024];
static size_t said_len;
static uint64_t last_seq; /* of the messages to the submitter */
static char last_message[1024];
static char last_script[1024];

static void __attribute__((format(printf, 2, 0)))
said_add(const char *before, const char *fmt, va_list ap)
{
	said_len += (size_t)snprintf(said + said_len, sizeof(said) - said_len,
	    "%s", said_len > 0 ? before : "");
	said_len += (size_t)vsnprintf(said + said_len, sizeof(said) - said_len,
	    fmt, ap);
	if (said_len >= sizeof(said))
		fatal("the messages have no room");
}

void
sim_note(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	said_add(", ", fmt, ap);
	va_end(ap);
}

/* Continues the last note. */
static void __attribute__((format(printf, 1, 2)))
note_more(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	said_add("", fmt, ap);
	va_end(ap);
}

const char *
sim_said(void)
{
	static char text[sizeof(said)];

	said[said_len] = '\0';
	memcpy(text, said, said_len + 1);
	said_len = 0;
	return text;
}

static const char *
record_kind(const struct job *job)
{
	if (job->flags & JOB_PARTIAL)
		return job->flags & JOB_LIVE ? "confirm" : "script";
	if (job->end != 0)
		return "end";
	return job->flags & JOB_UNCONFIRMED ? "held" : "start";
}

static const struct {
	uint32_t flag;
	const char *text;
} flag_texts[] = {
	{ JOB_OPTED_OUT, "opted-out" },
	{ JOB_NEVER_RAN, "never-ran" },
	{ JOB_BACKFILL, "backfill" },
	{ JOB_DRY_RUN, "dry-run" },
	{ JOB_HAS_THREADS, "threads" },
	{ JOB_MORE, "script-follows" },
};

static void
record_said(struct reader *r)
{
	struct job job;
	size_t i;

	job_init(&job);
	job_read(r, &job);
	if (rd_end(r) == -1)
		fatal("a record cannot be read");
	sim_note("%s %llu/%lld", record_kind(&job),
	    (unsigned long long)job.key.job,
	    (long long)job.key.start - SIM_EPOCH);
	if (job.end != 0)
		note_more("-%lld %s", (long long)job.end - SIM_EPOCH,
		    job_end_name(job.state));
	for (i = 0; i < sizeof(flag_texts) / sizeof(flag_texts[0]); i++)
		if ((job.flags & flag_texts[i].flag) != 0 &&
		    !(job.flags & JOB_PARTIAL))
			note_more(" %s", flag_texts[i].text);
	if (strcmp(job.key.cluster, "alpha") != 0)
		note_more(" of \"%s\"", job.key.cluster);
	/* A precision: snprintf() reads no more of a long text than that. */
	snprintf(last_message, sizeof(last_message), "%.*s",
	    (int)sizeof(last_message) - 1,
	    job.message != NULL ? job.message : "");
	snprintf(last_script, sizeof(last_script), "%.*s",
	    (int)sizeof(last_script) - 1, job.script != NULL ? job.script : "");
	job_clear(&job);
}

const char *
sim_message(void)
{
	return last_message;
}

const char *
sim_script(void)
{
	return last_script;
}

static void
watermark_said(struct reader *r)
{
	char cluster[CLUSTER_MAX];
	uint8_t source;
	int64_t until;

	rd_name(r, cluster, sizeof(cluster));
	source = rd_u8(r);
	until = rd_i64(r);
	if (rd_end(r) == -1)
		fatal("a watermark cannot be read");
	if (source == WATERMARK_BACKFILL && until == 0) {
		sim_note("backfill ended");
		return;
	}
	sim_note("%s %lld",
	    source == WATERMARK_BACKFILL ? "backfilled" : "watermark",
	    (long long)until - SIM_EPOCH);
}

static void
not_found_said(struct reader *r)
{
	char cluster[CLUSTER_MAX];
	struct run_key key;
	uint32_t i, n;

	rd_name(r, cluster, sizeof(cluster));
	sim_note("not-found %llu:", (unsigned long long)rd_u64(r));
	n = rd_u32(r);
	for (i = 0; i < n; i++) {
		rd_run_key(r, &key);
		note_more(" %llu/%lld", (unsigned long long)key.job,
		    (long long)key.start - SIM_EPOCH);
	}
	if (rd_end(r) == -1)
		fatal("a not-found message cannot be read");
}

static void
nodes_said(const struct writer *w)
{
	char cluster[CLUSTER_MAX];
	struct node_state node;
	struct reader r;
	uint32_t i, n;

	rd_init(&r, w->buf, w->len);
	rd_name(&r, cluster, sizeof(cluster));
	n = rd_u32(&r);
	for (i = 0; i < n; i++) {
		node_read(&r, &node);
		sim_note("node %s %s %u cpus %llu MB %u gpus %u jobs",
		    node.host, node.states, node.cpus,
		    (unsigned long long)node.memory, node.gpus, node.jobs);
	}
	if (rd_end(&r) == -1)
		fatal("states of nodes cannot be read");
}

static void
slurm_times_said(const struct writer *w)
{
	struct reader r;
	uint32_t v[8];
	unsigned i;

	rd_init(&r, w->buf, w->len);
	for (i = 0; i < 8; i++)
		v[i] = rd_u32(&r);
	if (rd_end(&r) == -1)
		fatal("the times of Slurm cannot be read");
	sim_note("slurm-times %u %u %u %u, %u %u %u %u", v[0], v[1], v[2], v[3],
	    v[4], v[5], v[6], v[7]);
}

int
channel_send(struct channel *c, enum msg_type type, uint64_t id,
    const struct writer *w, int fd)
{
	struct reader r;
	uint64_t number;

	(void)id;
	(void)fd;
	rd_init(&r, w->buf, w->len);
	number = rd_u64(&r);
	if (c->peer == ROLE_SUBMITTER)
		last_seq = number;
	switch (type) {
	case MSG_RECORD:
		record_said(&r);
		break;
	case MSG_WATERMARK:
		watermark_said(&r);
		break;
	case MSG_NOT_FOUND:
		not_found_said(&r);
		break;
	case MSG_NODES:
		nodes_said(w);
		break;
	case MSG_SLURM_TIMES:
		slurm_times_said(w);
		break;
	case MSG_CONTROLLER_ROLE:
		sim_note("role %s rank %u", w->buf[0] ? "active" : "passive",
		    w->buf[1]);
		break;
	default:
		sim_note("%s %llu", msg_name(type), (unsigned long long)number);
	}
	return 0;
}

int
channel_full(const struct channel *c)
{
	(void)c;
	return 0;
}

void
sim_stored(struct cluster *c)
{
	outbox_acked(c->outbox, last_seq);
}

#define FILL_SCRIPT (3 * 1024 * 1024) /* bytes in one record */

void
sim_fill(struct cluster *c)
{
	struct job job;
	size_t len = said_len, n;

	job_init(&job);
	job.script = malloc(FILL_SCRIPT + 1);
	if (job.script == NULL)
		fatal("no memory");
	memset(job.script, 'x', FILL_SCRIPT);
	/* Ever shorter records, down to one that is shorter than any other. */
	for (n = FILL_SCRIPT; n > 0; n /= 2) {
		job.script[n] = '\0';
		while (outbox_record(c->outbox, &job) != 0)
			said_len = len;
	}
	job_clear(&job);
}

/* The runner: commands wait for the test's answer. */

struct command {
	char name[16];
	char args[4096];
	char delimiter[DELIMITER_LEN + 1];
	int64_t began; /* ms */
	struct command_spec spec;
};

static struct command *commands[COMMANDS_MAX]; /* oldest first */
static unsigned n_commands;

struct command *
runner_start(struct runner_link *r, const struct command_spec *spec)
{
	const struct question *q = spec->question;
	struct command *cmd = calloc(1, sizeof(*cmd));
	const struct question_site site = {
		.program = slurm_command_name(question_type(q->kind)->command),
		.user = SIM_USER,
		.socket = "/run/munge/munge.socket.2",
	};
	struct question_args args;
	const char *const *word = args.argv;
	size_t len = 0;

	(void)r;
	if (cmd == NULL || n_commands == COMMANDS_MAX ||
	    question_args(q, &site, &args) == -1)
		fatal("a command has no room");
	snprintf(cmd->name, sizeof(cmd->name), "%s", *word);
	snprintf(cmd->delimiter, sizeof(cmd->delimiter), "%s", q->delimiter);
	while (*++word != NULL) {
		len += (size_t)snprintf(cmd->args + len,
		    sizeof(cmd->args) - len, "%s%s", len > 0 ? " " : "", *word);
		if (len >= sizeof(cmd->args))
			fatal("the arguments have no room");
	}
	question_args_clear(&args);
	cmd->began = now_ms();
	cmd->spec = *spec;
	return commands[n_commands++] = cmd;
}

static struct runner_info info = { .known = 1, .user = SIM_USER };

const struct runner_info *
runner_info(const struct runner_link *r)
{
	(void)r;
	return &info;
}

void
runner_resume_time(struct runner_link *r, int64_t epoch)
{
	(void)r;
	info.lastrun = epoch;
}

void
sim_lastrun_set(int64_t epoch)
{
	info.lastrun = epoch;
}

int64_t
sim_lastrun(void)
{
	return info.lastrun;
}

void
command_pause(struct command *cmd, int pause)
{
	(void)cmd;
	sim_note("%s", pause ? "pause" : "continue");
}

static unsigned
command_find(const char *name)
{
	unsigned i;

	for (i = 0; i < n_commands; i++)
		if (strcmp(commands[i]->name, name) == 0)
			break;
	return i;
}

const char *
sim_asked(void)
{
	static char text[COMMANDS_MAX * 16];
	size_t len = 0;
	unsigned i;

	text[0] = '\0';
	for (i = 0; i < n_commands; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s",
		    i > 0 ? " " : "", commands[i]->name);
	return text;
}

const char *
sim_args(const char *name)
{
	unsigned i = command_find(name);

	return i < n_commands ? commands[i]->args : "";
}

/* Returns owned: the text with the delimiter that the command was given. */
static char *
text_delimited(const char *text, const char *delimiter)
{
	char *copy = NULL;
	const char *p;
	size_t len;
	FILE *f = open_memstream(&copy, &len);

	if (f == NULL)
		fatal("no memory");
	while (
	    *delimiter != '\0' && (p = strstr(text, SIM_DELIMITER)) != NULL) {
		fprintf(f, "%.*s%s", (int)(p - text), text, delimiter);
		text = p + sizeof(SIM_DELIMITER) - 1;
	}
	fputs(text, f);
	if (fclose(f) != 0)
		fatal("no memory");
	return copy;
}

static struct command *
command_take(const char *name)
{
	unsigned i = command_find(name);
	struct command *cmd;

	if (i == n_commands) {
		sim_note("%s is not under way", name);
		return NULL;
	}
	cmd = commands[i];
	n_commands--;
	memmove(&commands[i], &commands[i + 1],
	    (n_commands - i) * sizeof(*commands));
	return cmd;
}

/* The answer comes in two pieces, as from a pipe. */
static void
command_answer(const char *name, const char *text, struct command_end *end)
{
	struct command *cmd = command_take(name);
	size_t n, half;
	char *answer;
	int rc;

	if (cmd == NULL)
		return;
	end->ms = (long)(now_ms() - cmd->began);
	answer = text_delimited(text, cmd->delimiter);
	n = strlen(answer);
	half = n / 2;
	rc = cmd->spec.on_output(answer, half, cmd->spec.arg);
	if (rc == 0)
		rc = cmd->spec.on_output(answer + half, n - half,
		    cmd->spec.arg);
	if (rc == -1)
		end->outcome = COMMAND_REFUSED;
	cmd->spec.on_end(end, cmd->spec.arg);
	free(answer);
	free(cmd);
}

void
sim_answer(const char *name, const char *text)
{
	struct command_end end = { .outcome = COMMAND_OK, .err = "" };

	command_answer(name, text, &end);
}

void
sim_answer_failed(const char *name, const char *text, const char *err)
{
	struct command_end end = { .outcome = COMMAND_FAILED,
		.status = 256,
		.err = err };

	command_answer(name, text, &end);
}

void
sim_answer_exit(const char *name, const char *text, int status)
{
	struct command_end end = { .outcome = COMMAND_FAILED,
		.status = status << 8,
		.err = "" };

	command_answer(name, text, &end);
}

void
sim_answer_error(const char *name, const char *err)
{
	struct command_end end = { .outcome = COMMAND_OK, .err = err };

	command_answer(name, "", &end);
}

void
sim_answer_late(const char *name)
{
	struct command_end end = { .outcome = COMMAND_TIMEOUT, .err = "" };

	command_answer(name, "", &end);
}

void
sim_answer_too_long(const char *name, const char *text)
{
	struct command_end end = { .outcome = COMMAND_TOO_LONG, .err = "" };

	command_answer(name, text, &end);
}

static const char *
time_text(char text[24], int64_t t)
{
	if (t == SIM_NEVER)
		return "Unknown";
	snprintf(text, 24, "%lld", (long long)t + SIM_EPOCH);
	return text;
}

const char *
sim_sacct_row(const char *user, uint64_t job, const char *state, int64_t submit,
    int64_t start, int64_t end)
{
	static char rows[8][512];
	static unsigned next;
	char *row = rows[next++ % 8], a[24], b[24], c[24];

	/* A job of tests/data/slurm/22.05/acct.txt with other values. */
	snprintf(row, sizeof(rows[0]),
	    "%llu<~!>%llu<~!>%s<~!>1001<~!>proj1"
	    "<~!>main<~!>normal<~!><~!>%s<~!>0:0<~!>%s<~!>%s<~!>%s<~!>5<~!>"
	    "billing=2,cpu=2,node=1<~!>100M<~!>1<~!><~!>sbatch<~!>node1\n",
	    (unsigned long long)job, (unsigned long long)job, user, state,
	    time_text(a, submit), time_text(b, start), time_text(c, end));
	return row;
}

/* The open runs */

static const struct {
	uint8_t flag;
	const char *text;
} open_texts[] = {
	{ OPEN_UNCONFIRMED, "held" },
	{ OPEN_RUNNING, "runs" },
	{ OPEN_LEFT, "left" },
	{ OPEN_DISPUTED, "disputed" },
	{ OPEN_IGNORED, "ignored" },
};

const char *
sim_open(struct cluster *c, uint64_t job)
{
	static char text[512];
	struct open_run *run;
	size_t at = 0, len = 0, i;

	text[0] = '\0';
	while ((run = open_of_job(&c->open, job, &at)) != NULL) {
		len += (size_t)snprintf(text + len, sizeof(text) - len,
		    "%s%llu/%lld", len > 0 ? ", " : "", (unsigned long long)job,
		    (long long)run->start - SIM_EPOCH);
		for (i = 0; i < sizeof(open_texts) / sizeof(open_texts[0]); i++)
			if (run->flags & open_texts[i].flag)
				len += (size_t)snprintf(text + len,
				    sizeof(text) - len, " %s",
				    open_texts[i].text);
	}
	return text;
}

/* The site */

static struct worker worker;

static struct settings *
settings_with(enum conf_key key, const char *value)
{
	struct settings *set;
	struct conf conf;
	char reason[256];

	conf_init(&conf);
	/* No script is fetched unless a test wants it. */
	conf_set(&conf, CONF_JOB_SCRIPT_MAX, "0");
	conf_set(&conf, key, value);
	set = settings_new(&conf, reason, sizeof(reason));
	conf_clear(&conf);
	if (set == NULL)
		fatal("%s", reason);
	return sim_keep(set);
}

void
sim_set(struct cluster *c, enum conf_key key, const char *value)
{
	c->set = settings_with(key, value);
}

static void
slurm_fill(struct slurm *slurm)
{
	slurm->version = 2205;
	snprintf(slurm->version_text, sizeof(slurm->version_text), "22.05.8");
	snprintf(slurm->cluster, sizeof(slurm->cluster), "alpha");
	snprintf(slurm->slurm_user, sizeof(slurm->slurm_user), "slurm");
	snprintf(slurm->user, sizeof(slurm->user), "%s", SIM_USER);
	slurm->private_jobs = 1;
	slurm->accounting = 1;
	slurm->min_job_age = 300;
	slurm->known = 1;
}

static void
no_call(void *arg)
{
	(void)arg;
}

static void
no_advance(struct cluster *c, int64_t until)
{
	(void)c;
	(void)until;
}

static const struct outbox_ops no_ops = { no_call, no_call, no_advance };

static void
commands_drop(void)
{
	while (n_commands > 0)
		free(commands[--n_commands]);
}

struct cluster *
sim_begin(const struct outbox_ops *ops, void *arg)
{
	struct site *site = sim_keep(calloc(1, sizeof(*site)));
	struct cluster *c = sim_keep(calloc(1, sizeof(*c)));

	if (site == NULL || c == NULL)
		fatal("no memory");
	commands_drop();
	said_len = 0;
	mono = 50000;
	wall = SIM_EPOCH + 1000;
	worker.peers[ROLE_SUBMITTER] = &submitter;
	worker.peers[ROLE_LISTENER] = &listener;
	site->w = &worker;
	site->clusters[site->n++] = c;
	site->synced = 1;
	info.lastrun = 0;
	c->site = site;
	c->ctld.daemon = c->dbd.daemon = "slurm";
	c->outbox = sim_keep(outbox_new(ops != NULL ? ops : &no_ops, arg));
	c->lookups = lookup_new(c);
	c->hosts = hosts_new();
	c->hosts_at = c->host_absent_at = c->host_hidden_at = mono;
	c->began = mono;
	c->listing.number = 1;
	c->ready = c->synced = c->caught_up = 1;
	c->resume.point = SIM_EPOCH;
	worklist_init(&c->work);
	slurm_fill(&c->slurm);
	slurm_clock_set(&c->clock, wall, mono);
	sim_set(c, CONF_JOB_SCRIPT_MAX, "0");
	outbox_peer(c->outbox, &submitter);
	outbox_release(c->outbox);
	log_set_level(LOG_LEVEL_FATAL);
	return c;
}
