/* SPDX-License-Identifier: MIT */
/* See simulation.h. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collector/slurm/query.h"
#include "collector/slurm/runner.h"
#include "collector/slurm/slurm.h"
#include "collector/track/outbox.h"
#include "collector/track/track.h"
#include "common/ipc/channel.h"
#include "tests/unit/collector/simulation.h"

#define SENT_MAX	64
#define COMMANDS_MAX	16
#define LINE_MAX_BYTES	2048
#define ROWS_BYTES	65536

/* --- the clock --- */

static int64_t now = 1000 * 1000;	/* monotonic ms */

int64_t
now_ms(void)
{
	return now;
}

int64_t
now_s(void)
{
	return now / 1000;
}

int64_t
now_wall(void)
{
	return SIM_BEGIN + now / 1000 - 1000;
}

void
sim_wait_ms(int64_t ms)
{
	now += ms;
}

void
sim_wait(int64_t s)
{
	now += s * 1000;
}

/* The collector runs as a user without inherent permission. */
uid_t
geteuid(void)
{
	return 1000;
}

/* --- the submitter --- */

static struct sim_sent sent[SENT_MAX];
static unsigned n_sent;
static uint64_t order, durable;
static int full;
static unsigned acks;

static uint64_t
sent_add(const struct sim_sent *s)
{
	if (full || n_sent == SENT_MAX)
		return 0;
	sent[n_sent++] = *s;
	return ++order;
}

uint64_t
outbox_record(struct outbox *o, const struct job *job)
{
	struct sim_sent s = { .type = SIM_RECORD, .key = job->key,
	    .flags = job->flags, .state = job->state, .end = job->end,
	    .message = job->message != NULL };

	(void)o;
	return sent_add(&s);
}

uint64_t
outbox_watermark(struct outbox *o, struct cluster *c, int64_t until)
{
	struct sim_sent s = { .type = SIM_WATERMARK, .until = until };

	(void)o;
	(void)c;
	return sent_add(&s);
}

uint64_t
outbox_backfilled(struct outbox *o, const struct cluster *c, int64_t until)
{
	struct sim_sent s = { .type = SIM_BACKFILLED, .until = until };

	(void)o;
	(void)c;
	return sent_add(&s);
}

uint64_t
outbox_not_found(struct outbox *o, const struct cluster *c, uint64_t lookup,
    const struct run_key *keys, uint32_t n)
{
	struct sim_sent s = { .type = SIM_NOT_FOUND, .n = n, .key = keys[0] };

	(void)o;
	(void)c;
	(void)lookup;
	return sent_add(&s);
}

int
outbox_behind(const struct outbox *o)
{
	(void)o;
	return full;
}

int
outbox_full(const struct outbox *o)
{
	(void)o;
	return full;
}

uint64_t
outbox_durable(const struct outbox *o)
{
	(void)o;
	return durable;
}

uint64_t
outbox_order(const struct outbox *o)
{
	(void)o;
	return order;
}

unsigned
sim_sent_count(void)
{
	return n_sent;
}

struct sim_sent
sim_sent(unsigned i)
{
	static const struct sim_sent none;

	return i < n_sent ? sent[i] : none;
}

void
sim_sent_clear(void)
{
	n_sent = 0;
}

void
sim_submitter_full(int is_full)
{
	full = is_full;
}

void
sim_submitter_stores(void)
{
	durable = order;
}

/* --- the listener --- */

int
channel_send(struct channel *c, enum msg_type type, uint64_t id,
    const struct writer *w, int fd)
{
	(void)c;
	(void)id;
	(void)w;
	(void)fd;
	acks += type == MSG_EVENT_ACK;
	return 0;
}

unsigned
sim_acks(void)
{
	return acks;
}

/* --- Slurm --- */

struct command {
	struct command_spec spec;
	char		 line[LINE_MAX_BYTES];
};

static struct command *commands[COMMANDS_MAX];
static unsigned n_commands;

struct command *
runner_start(struct runner *r, const struct command_spec *spec)
{
	struct command *cmd;
	size_t i, len = 0;

	(void)r;
	if (n_commands == COMMANDS_MAX ||
	    (cmd = calloc(1, sizeof(*cmd))) == NULL)
		return NULL;
	cmd->spec = *spec;
	for (i = 0; spec->argv[i] != NULL && len < sizeof(cmd->line); i++)
		len += (size_t)snprintf(cmd->line + len,
		    sizeof(cmd->line) - len, "%s%s", i > 0 ? " " : "",
		    spec->argv[i]);
	commands[n_commands++] = cmd;
	return cmd;
}

void
command_pause(struct command *cmd, int pause)
{
	(void)cmd;
	(void)pause;
}

int
runner_environment(struct runner *r, const char *const *env)
{
	(void)r;
	(void)env;
	return 0;
}

unsigned
sim_commands(void)
{
	return n_commands;
}

const char *
sim_command(unsigned i)
{
	return i < n_commands ? commands[i]->line : "";
}

int
sim_command_has(unsigned i, const char *word)
{
	const char *at = sim_command(i);
	size_t n = strlen(word);

	for (; (at = strstr(at, word)) != NULL; at++)
		if ((at == sim_command(i) || at[-1] == ' ') &&
		    (at[n] == ' ' || at[n] == '\0'))
			return 1;
	return 0;
}

static void
command_end(unsigned i, enum command_outcome outcome, const char *err)
{
	struct command *cmd = commands[i];
	struct command_end end = { .outcome = outcome,
	    .status = outcome == COMMAND_OK ? 0 : 1 << 8, .ms = 10,
	    .err = err };

	n_commands--;
	memmove(&commands[i], &commands[i + 1],
	    (n_commands - i) * sizeof(commands[0]));
	cmd->spec.on_end(&end, cmd->spec.arg);
	free(cmd);
}

void
sim_output(unsigned i, const char *text)
{
	struct command *cmd;

	if (i >= n_commands)
		return;
	cmd = commands[i];
	if (*text != '\0' && cmd->spec.on_output(text, strlen(text),
	    cmd->spec.arg) == -1)
		command_end(i, COMMAND_REFUSED, "");
}

void
sim_answer(unsigned i, const char *text)
{
	struct command *cmd = i < n_commands ? commands[i] : NULL;

	if (cmd == NULL)
		return;
	sim_output(i, text);
	if (i < n_commands && commands[i] == cmd)
		command_end(i, COMMAND_OK, "");
}

void
sim_fail(unsigned i, const char *err)
{
	if (i < n_commands)
		command_end(i, COMMAND_FAILED, err);
}

void
sim_timeout(unsigned i)
{
	if (i < n_commands)
		command_end(i, COMMAND_TIMEOUT, "");
}

static void
time_text(char *buf, size_t size, int64_t t)
{
	if (t == 0)
		snprintf(buf, size, "Unknown");
	else
		snprintf(buf, size, "%lld", (long long)t);
}

static size_t
row_write(char *p, size_t size, const char *d, const struct sim_row *row)
{
	char id[24], submit[24], start[24], end[24];
	const char *f[20] = { id, id, row->user != NULL ? row->user : "alice",
	    "1001", "physics", "batch", "normal", "", row->state, "0:0",
	    submit, start, end, "60", "billing=1,cpu=1,mem=100M,node=1",
	    "100M", "1", "", row->name != NULL ? row->name : "job",
	    row->nodes != NULL ? row->nodes : "n1" };
	size_t i, len = 0;

	snprintf(id, sizeof(id), "%llu", (unsigned long long)row->job);
	time_text(submit, sizeof(submit), row->submit);
	time_text(start, sizeof(start), row->start);
	time_text(end, sizeof(end), row->end);
	for (i = 0; i < 20; i++)
		len += (size_t)snprintf(p + len, size - len, "%s%s",
		    i > 0 ? d : "", f[i]);
	return len + (size_t)snprintf(p + len, size - len, "\n");
}

const char *
sim_rows(unsigned i, const struct sim_row *rows, unsigned n)
{
	static const char option[] = "--delimiter=";
	static char text[ROWS_BYTES];
	char delimiter[32];
	const char *at = strstr(sim_command(i), option);
	size_t len = 0;
	unsigned k;

	text[0] = '\0';
	if (at == NULL ||
	    sscanf(at + sizeof(option) - 1, "%31s", delimiter) != 1)
		return text;
	for (k = 0; k < n; k++)
		len += row_write(text + len, sizeof(text) - len, delimiter,
		    &rows[k]);
	return text;
}

/* --- the cluster --- */

static struct site site;
static struct worker worker;
static struct settings set;
static char no_word[1];

struct site *
sim_site(void)
{
	return &site;
}

struct cluster *
sim_cluster(void)
{
	struct cluster *c = calloc(1, sizeof(*c));

	memset(&site, 0, sizeof(site));
	memset(&worker, 0, sizeof(worker));
	memset(&set, 0, sizeof(set));
	n_sent = 0;
	full = 0;
	acks = 0;
	if (c == NULL || gres_names_set(&set.names, "[\"gpu\"]") == -1)
		exit(1);
	set.how.gpus = &set.names;
	set.how.opt_out_word = NULL;
	set.opt_out = no_word;
	set.poll = 60;
	set.max_span = 7 * 86400;
	set.long_poll = 3600;
	set.lag = 300;
	set.query_delay = 5;
	set.retries = 3;
	site.w = &worker;
	/* Any pointer: channel_send() above does not look at it. */
	worker.peers[ROLE_LISTENER] = (struct channel *)&worker;
	site.lastrun = -1;
	site.clusters[site.n++] = c;
	c->site = &site;
	c->set = &set;
	snprintf(c->slurm.cluster, sizeof(c->slurm.cluster), "alpha");
	snprintf(c->slurm.user, sizeof(c->slurm.user), "adapter");
	snprintf(c->slurm.slurm_user, sizeof(c->slurm.slurm_user), "slurm");
	snprintf(c->slurm.path[CMD_SQUEUE], sizeof(c->slurm.path[0]), "squeue");
	snprintf(c->slurm.path[CMD_SCONTROL], sizeof(c->slurm.path[0]),
	    "scontrol");
	snprintf(c->slurm.path[CMD_SACCT], sizeof(c->slurm.path[0]), "sacct");
	snprintf(c->slurm.path[CMD_SACCTMGR], sizeof(c->slurm.path[0]),
	    "sacctmgr");
	snprintf(c->slurm.path[CMD_SDIAG], sizeof(c->slurm.path[0]), "sdiag");
	c->slurm.version = 2411;
	c->slurm.accounting = 1;
	c->slurm.private_jobs = 1;
	c->slurm.min_job_age = 300;
	c->slurm.known = 1;
	c->ctld.daemon = "slurmctld";
	c->dbd.daemon = "slurmdbd";
	c->permission = PERMISSION_OPERATOR;
	c->listing.number = 1;
	c->ready = c->synced = c->caught_up = 1;
	c->began = now_s();
	worklist_init(&c->work);
	c->lookups = lookup_new(c);
	return c;
}

void
sim_end(struct cluster *c)
{
	while (n_commands > 0)
		free(commands[--n_commands]);
	lookup_forget(c->lookups);
	free(c->lookups);
	open_clear(&c->open);
	done_clear(&c->done);
	idmap_clear(&c->work.details);
	idmap_clear(&c->work.left);
	idmap_clear(&c->work.accounting);
	idmap_clear(&c->work.steps);
	idmap_clear(&c->work.confirm);
	idmap_clear(&c->ambiguous);
	idmap_clear(&c->earlier);
	free(c);
}
