/* SPDX-License-Identifier: MIT */
/*
 * The table of questions; see question.h.  In the words of a question a name
 * in braces stands for a value: {id}, {ids}, {from}, {to}, {columns},
 * {delimiter}, {user}, {socket}.  A question has a value exactly when its words
 * name it; only unmunge has a credential.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/question/question.h"

#define SHORT_MS  10000
#define NORMAL_MS 20000	 /* slurmctld */
#define NODES_MS  60000	 /* slurmctld, an answer that grows with the site */
#define LONG_MS	  120000 /* slurmdbd, and records of all jobs */

/* States in which a run holds its nodes; the newest of them came with 17.11. */
#define LIVE_STATES "R,S,CG,CF,ST,SO,SI,RS"
/* States of the jobs that are counted as jobs of a node. */
#define BUSY_STATES "R,S,CF,ST"
/* States of ended runs, also of runs that were requeued or resized. */
#define ENDED_STATES "CD,F,TO,CA,NF,PR,OOM,BF,DL,RQ,RS"

#define NAME_FIELDS \
	("JobID:{delimiter},Name:{delimiter},admin_comment:{delimiter}," \
	 "MCSLabel:{delimiter},QOS:{delimiter}")
#define STEP_DELIMITER_WORD "--delimiter=||||" /* of STEP_DELIMITER */

#define WORDS(...) ((const char *const[]) { __VA_ARGS__, NULL })
#define SACCT_WORDS \
	"--local", "-X", "-D", "-a", "-P", "-n", "--noconvert", \
	    "--delimiter={delimiter}", "-o", "{columns}"

/*
 * --local: in a federation squeue and scontrol ask slurmctld about the other
 * clusters first when they get a job id, and with FederationParameters=
 * fed_display these and sacct also print the jobs of the other clusters.
 */
static const struct question_type types[QUESTION__COUNT] = {
	[QUESTION_CONFIG] = { CMD_SCONTROL, NORMAL_MS,
	    WORDS("show", "config") },
	[QUESTION_PING] = { CMD_SCONTROL, NORMAL_MS, WORDS("ping") },
	[QUESTION_SHAPES] = { CMD_SCONTROL, NODES_MS,
	    WORDS("--all", "show", "node", "-o") },
	[QUESTION_NODES] = { CMD_SCONTROL, NODES_MS,
	    WORDS("--all", "show", "node", "-d", "-o") },
	[QUESTION_JOBS] = { CMD_SCONTROL, LONG_MS,
	    WORDS("--local", "--all", "show", "job", "-d", "-o") },
	[QUESTION_JOB] = { CMD_SCONTROL, NORMAL_MS,
	    WORDS("--local", "--all", "show", "job", "-d", "-o", "{id}") },
	[QUESTION_SCRIPT] = { CMD_SCONTROL, SHORT_MS,
	    WORDS("write", "batch_script", "{id}", "-") },
	[QUESTION_LIST] = { CMD_SQUEUE, NODES_MS,
	    WORDS("--local", "-h", "-a", "-o", SQUEUE_FORMAT, "-t",
		LIVE_STATES) },
	[QUESTION_LIST_JOBS] = { CMD_SQUEUE, NORMAL_MS,
	    WORDS("--local", "-h", "-a", "-o", SQUEUE_FORMAT, "-t", LIVE_STATES,
		"-j", "{ids}") },
	[QUESTION_LIST_ALL] = { CMD_SQUEUE, LONG_MS,
	    WORDS("--local", "-h", "-a", "-t", "all", "-o", SQUEUE_FORMAT) },
	[QUESTION_NAME] = { CMD_SQUEUE, NORMAL_MS,
	    WORDS("--local", "-h", "-a", "-t", "all", "-j", "{id}", "-O",
		NAME_FIELDS) },
	[QUESTION_BUSY_NODES] = { CMD_SQUEUE, NODES_MS,
	    WORDS("--local", "-h", "-a", "-t", BUSY_STATES, "-o", "%N") },
	[QUESTION_CLOCK] = { CMD_SDIAG, NORMAL_MS, WORDS(NULL) },
	[QUESTION_RANGE] = { CMD_SACCT, LONG_MS,
	    WORDS(SACCT_WORDS, "-S", "uts{from}", "-E", "uts{to}", "-s",
		ENDED_STATES) },
	[QUESTION_RUNS] = { CMD_SACCT, LONG_MS,
	    WORDS(SACCT_WORDS, "-j", "{ids}") },
	[QUESTION_STEPS] = { CMD_SACCT, LONG_MS,
	    WORDS("--local", "-D", "-a", "-P", "-n", STEP_DELIMITER_WORD, "-o",
		STEP_FIELDS, "-j", "{ids}") },
	[QUESTION_ADMIN] = { CMD_SACCTMGR, NODES_MS,
	    WORDS("-n", "-P", "show", "user", "name={user}",
		"format=user,adminlevel") },
	[QUESTION_DBD_CONFIG] = { CMD_SACCTMGR, NODES_MS,
	    WORDS("-n", "-P", "show", "configuration") },
	/* No key that needs the name of a host: the answer would wait for DNS. */
	[QUESTION_UNMUNGE] = { CMD_UNMUNGE, SHORT_MS,
	    WORDS("-S", "{socket}", "-k",
		"STATUS,ENCODE_TIME,DECODE_TIME,TTL,UID,LENGTH") },
};

static const char *const commands[CMD__COUNT] = {
	[CMD_SQUEUE] = "squeue",
	[CMD_SCONTROL] = "scontrol",
	[CMD_SACCT] = "sacct",
	[CMD_SACCTMGR] = "sacctmgr",
	[CMD_SDIAG] = "sdiag",
	[CMD_UNMUNGE] = "unmunge",
};

static const char *const columns[SACCT__COUNT] = {
	[SACCT_JOB_ID_RAW] = "JobIDRaw",
	[SACCT_JOB_ID] = "JobID",
	[SACCT_USER] = "User",
	[SACCT_UID] = "UID",
	[SACCT_ACCOUNT] = "Account",
	[SACCT_PARTITION] = "Partition",
	[SACCT_QOS] = "QOS",
	[SACCT_RESERVATION] = "Reservation",
	[SACCT_STATE] = "State",
	[SACCT_EXIT_CODE] = "ExitCode",
	[SACCT_SUBMIT] = "Submit",
	[SACCT_START] = "Start",
	[SACCT_END] = "End",
	[SACCT_TIME_LIMIT] = "TimelimitRaw",
	[SACCT_ALLOC_TRES] = "AllocTRES",
	[SACCT_REQ_MEM] = "ReqMem",
	[SACCT_REQ_CPUS] = "ReqCPUS",
	[SACCT_ADMIN_COMMENT] = "AdminComment",
	[SACCT_JOB_NAME] = "JobName",
	[SACCT_NODE_LIST] = "NodeList",
};

const struct question_type *
question_type(enum question_kind kind)
{
	return &types[kind];
}

int
question_has_users(enum question_kind kind)
{
	return kind == QUESTION_JOBS || kind == QUESTION_JOB ||
	    kind == QUESTION_RANGE || kind == QUESTION_RUNS;
}

const char *
slurm_command_name(enum slurm_command command)
{
	return commands[command];
}

const char *
sacct_column_name(enum sacct_column column)
{
	return columns[column];
}

/* Each further cluster has its poll and its question to slurmdbd. */
unsigned
questions_max(unsigned clusters)
{
	return 8 + 2 * (clusters > 1 ? clusters - 1 : 0);
}

int
id_list_add(struct id_list *list, uint64_t job)
{
	size_t cap = list->cap != 0 ? list->cap * 2 : 16;
	uint32_t *ids;

	if (list->n == ID_LIST_MAX || job == 0 || job > UINT32_MAX)
		return -1;
	if (list->n == list->cap) {
		ids = realloc(list->ids, cap * sizeof(*ids));
		if (ids == NULL)
			return -1;
		list->ids = ids;
		list->cap = cap;
	}
	list->ids[list->n++] = (uint32_t)job;
	return 0;
}

void
id_list_clear(struct id_list *list)
{
	free(list->ids);
	memset(list, 0, sizeof(*list));
}

void
question_clear(struct question *q)
{
	id_list_clear(&q->ids);
	memset(q, 0, sizeof(*q));
}

/* --- on the channel --- */

void
question_write(struct writer *w, const struct question *q)
{
	size_t i;

	wr_u8(w, (uint8_t)q->kind);
	wr_u8(w, q->cluster);
	wr_i64(w, q->from);
	wr_i64(w, q->to);
	wr_u32(w, q->lacking);
	wr_str(w, q->delimiter);
	wr_u32(w, (uint32_t)q->ids.n);
	for (i = 0; i < q->ids.n; i++)
		wr_u32(w, q->ids.ids[i]);
	wr_str(w, q->credential);
}

/* Do the words of this kind name the value? */
static int
has_value(enum question_kind kind, const char *name)
{
	const char *const *word;

	for (word = types[kind].words; *word != NULL; word++)
		if (strstr(*word, name) != NULL)
			return 1;
	return 0;
}

static int
times_valid(const struct question *q)
{
	if (!has_value(q->kind, "{from}"))
		return q->from == 0 && q->to == 0;
	return q->from >= 0 && q->from <= q->to && q->to <= TIME_S_MAX;
}

/* q->lacking has a bit for each column */
_Static_assert(SACCT__COUNT < 32, "more columns than bits");

static int
columns_valid(const struct question *q)
{
	if (!has_value(q->kind, "{columns}"))
		return q->lacking == 0;
	return q->lacking < 1u << SACCT__COUNT;
}

static int
delimiter_valid(const struct question *q)
{
	if (!has_value(q->kind, "{delimiter}"))
		return q->delimiter[0] == '\0';
	return delimiter_check(q->delimiter) == 0;
}

static int
ids_valid(const struct question *q)
{
	if (has_value(q->kind, "{id}"))
		return q->ids.n == 1;
	return has_value(q->kind, "{ids}") ? q->ids.n > 0 : q->ids.n == 0;
}

static int
credential_valid(const struct question *q)
{
	if (q->kind != QUESTION_UNMUNGE)
		return q->credential[0] == '\0';
	return hook_credential_check(q->credential) == 0;
}

int
question_valid(const struct question *q)
{
	return times_valid(q) && columns_valid(q) && delimiter_valid(q) &&
	    ids_valid(q) && credential_valid(q);
}

void
question_read(struct reader *r, struct question *q)
{
	unsigned kind = rd_u8(r);
	uint32_t n;

	memset(q, 0, sizeof(*q));
	if (kind >= QUESTION__COUNT) {
		rd_fail(r);
		return;
	}
	q->kind = (enum question_kind)kind;
	q->cluster = rd_u8(r);
	q->from = rd_i64(r);
	q->to = rd_i64(r);
	q->lacking = rd_u32(r);
	rd_name(r, q->delimiter, sizeof(q->delimiter));
	for (n = rd_u32(r); n > 0 && !r->err; n--)
		if (id_list_add(&q->ids, rd_u32(r)) == -1)
			rd_fail(r);
	rd_name(r, q->credential, sizeof(q->credential));
	if (!question_valid(q))
		rd_fail(r);
}

/* --- the arguments of the command --- */

static void
text_add(struct writer *w, const char *text)
{
	wr_mem(w, text, strlen(text));
}

static void
number_add(struct writer *w, long long n)
{
	char text[24];

	snprintf(text, sizeof(text), "%lld", n);
	text_add(w, text);
}

static void
ids_add(struct writer *w, const struct id_list *list)
{
	size_t i;

	for (i = 0; i < list->n; i++) {
		if (i > 0)
			text_add(w, ",");
		number_add(w, list->ids[i]);
	}
}

/*
 * A column that sacct does not have is replaced by the first one, so that
 * every row has the same number of fields.
 */
static void
columns_add(struct writer *w, uint32_t lacking)
{
	unsigned i;

	for (i = 0; i < SACCT__COUNT; i++) {
		if (i > 0)
			text_add(w, ",");
		text_add(w, columns[lacking & 1u << i ? 0 : i]);
	}
}

static void
value_add(struct writer *w, const struct question *q, const char *name,
    size_t len, const struct question_site *site)
{
	const char *delimiter = q->delimiter;

	if (strncmp(name, "id", len) == 0 || strncmp(name, "ids", len) == 0)
		ids_add(w, &q->ids);
	else if (strncmp(name, "from", len) == 0)
		number_add(w, q->from);
	else if (strncmp(name, "to", len) == 0)
		number_add(w, q->to);
	else if (strncmp(name, "columns", len) == 0)
		columns_add(w, q->lacking);
	else if (strncmp(name, "delimiter", len) == 0)
		text_add(w, delimiter);
	else if (strncmp(name, "socket", len) == 0)
		text_add(w, site->socket);
	else
		text_add(w, site->user);
}

/* One word with its values, and the NUL. */
static void
word_add(struct writer *w, const struct question *q, const char *word,
    const struct question_site *site)
{
	size_t n;

	while (*word != '\0') {
		n = strcspn(word, "{");
		wr_mem(w, word, n);
		word += n;
		if (*word != '{')
			break;
		n = strcspn(++word, "}");
		value_add(w, q, word, n, site);
		word += n + 1;
	}
	wr_u8(w, '\0');
}

/*
 * Users and their levels are in slurmdbd, the same for all clusters; munge has
 * no clusters.
 */
static int
has_cluster(enum slurm_command command)
{
	return command != CMD_SACCTMGR && command != CMD_UNMUNGE;
}

int
question_args(const struct question *q, const struct question_site *site,
    struct question_args *args)
{
	const char *const *word = types[q->kind].words;
	size_t at[QUESTION_ARGS_MAX], n = 0, i;

	wr_init(&args->text, 512 * 1024);
	memcpy(args->input, q->credential, sizeof(args->input));
	at[n++] = 0;
	word_add(&args->text, q, site->program, site);
	if (site->cluster != NULL && has_cluster(types[q->kind].command)) {
		at[n++] = args->text.len;
		word_add(&args->text, q, "-M", site);
		at[n++] = args->text.len;
		text_add(&args->text, site->cluster);
		wr_u8(&args->text, '\0');
	}
	for (; *word != NULL && n < QUESTION_ARGS_MAX; word++) {
		at[n++] = args->text.len;
		word_add(&args->text, q, *word, site);
	}
	if (wr_end(&args->text) == -1)
		return -1;
	for (i = 0; i < n; i++)
		args->argv[i] = (const char *)args->text.buf + at[i];
	args->argv[n] = NULL;
	return 0;
}

void
question_args_clear(struct question_args *args)
{
	wr_clear(&args->text);
}
