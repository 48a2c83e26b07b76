/* SPDX-License-Identifier: MIT */
/* The command line: commands, their flags, and the request they make. */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "common/log.h"
#include "ctl/ctl.h"

const char args_usage[] =
    "usage: cc-slurm-adapterctl [-c CONFIG | -s SOCKET] [-j] [--no-color]\n"
    "       COMMAND ...\n"
    "  status [-v]                   is all well? -v: all values\n"
    "  watch                         the same and rates, every 2 s; q quits\n"
    "  queue [--rejected] [--limit N] [--job ID]... [--cluster NAME]\n"
    "                                deliveries that wait, and why\n"
    "  retry ID... | --all [--cluster NAME]\n"
    "                                send rejected runs of these jobs again\n"
    "  drop ID... [--cluster NAME]   discard rejected runs of these jobs\n"
    "  sync [--job ID]... [--cluster NAME] [--limit N] [--dry-run] [--force]\n"
    "       [--direction start|stop|both]\n"
    "                                compare cc-backend with Slurm, repair it\n"
    "  backfill --from T --to T [--cluster NAME] [--dry-run] [--nats]\n"
    "                                read the runs that ended in this range;\n"
    "                                --nats: publish them by NATS again\n"
    "  backfill --status | --cancel [--cluster NAME]\n"
    "                                print the progress; cancel\n"
    "  repair [--dry-run] [--cluster NAME] [ID...]\n"
    "                                correct runs that were stopped by others\n"
    "  explain ID... [--cluster NAME] [--from T] [--anonymize]\n"
    "                                the events of each run of these jobs, or why\n"
    "                                there is none; ID also 4711_3 and 4711+1\n"
    "  history                       counters of each minute and hour\n"
    "  warnings                      the last warnings and errors of the log\n"
    "  report [-o FILE] [--anonymize]\n"
    "                                one HTML page: status, warnings,\n"
    "                                configuration, plots\n"
    "  log LEVEL                     fatal, error, warn, info, debug, trace, 0-5\n"
    "  reload                        read the configuration again\n"
    "  metrics [--prometheus]        print all metrics in OpenMetrics format, or\n"
    "                                in Prometheus' text format\n"
    "  spool check [--file FILE]     check the spool, or a file not in use\n"
    "  spool export [--all]          print runs as lines of JSON; --all: with\n"
    "                                job scripts\n"
    "  spool import FILE             read such lines; - is standard input\n"
    "  gpus                          compare the GPUs of Slurm, gpuPciAddrs and\n"
    "                                cc-backend; print a gpuPciAddrs that fits\n"
    "-c is the daemon's configuration, -s its socket (ctlSockPath).\n"
    "-j prints one JSON object.\n"
    "T is 2026-11-20, 2026-11-20T14:00 or seconds since 1970.\n"
    "Exit status: 0 done, 1 refused or DEGRADED, 2 invalid usage, 3 no daemon.\n";

/* Arguments of a command. */
#define TAKES_IDS	1u   /* job ids */
#define TAKES_LEVEL	2u   /* a log level */
#define TAKES_RANGE	4u   /* --from and --to, both required */
#define TAKES_JOBS	8u   /* --job ID */
#define NEEDS_IDS	16u  /* job ids or --all required */
#define TAKES_DIRECTION 32u  /* --direction */
#define TAKES_CLUSTER	64u  /* --cluster NAME */
#define TAKES_PARTS	128u /* job ids like 4711_3 and 4711+1 */
#define TAKES_FROM	256u /* --from, not required */

static const struct verb {
	const char *name;
	enum ctl_verb verb;
	unsigned takes;
	unsigned flags; /* CTL_FLAG_ that are allowed */
} verbs[] = {
	{ "status", CTL_STATUS, 0, 0 },
	{ "queue", CTL_QUEUE, TAKES_JOBS | TAKES_CLUSTER, CTL_FLAG_REJECTED },
	{ "retry", CTL_RETRY, TAKES_IDS | NEEDS_IDS | TAKES_CLUSTER,
	    CTL_FLAG_ALL },
	{ "drop", CTL_DROP, TAKES_IDS | NEEDS_IDS | TAKES_CLUSTER, 0 },
	{ "sync", CTL_SYNC, TAKES_JOBS | TAKES_CLUSTER | TAKES_DIRECTION,
	    CTL_FLAG_DRY_RUN | CTL_FLAG_FORCE },
	{ "backfill", CTL_BACKFILL, TAKES_RANGE | TAKES_CLUSTER,
	    CTL_FLAG_DRY_RUN | CTL_FLAG_STATUS | CTL_FLAG_CANCEL |
		CTL_FLAG_NATS },
	{ "repair", CTL_REPAIR, TAKES_IDS | TAKES_CLUSTER, CTL_FLAG_DRY_RUN },
	{ "log", CTL_LOG, TAKES_LEVEL, 0 },
	{ "reload", CTL_RELOAD, 0, 0 },
	{ "metrics", CTL_METRICS, 0, 0 },
	{ "gpus", CTL_GPUS, 0, 0 },
	{ "explain", CTL_EXPLAIN,
	    TAKES_IDS | NEEDS_IDS | TAKES_CLUSTER | TAKES_PARTS | TAKES_FROM,
	    CTL_FLAG_ANONYMIZE },
	{ "history", CTL_HISTORY, 0, 0 },
	{ "warnings", CTL_WARNINGS, 0, 0 },
};

static const struct {
	const char *name;
	unsigned flag;
} flags[] = {
	{ "--rejected", CTL_FLAG_REJECTED },
	{ "--dry-run", CTL_FLAG_DRY_RUN },
	{ "--force", CTL_FLAG_FORCE },
	{ "--all", CTL_FLAG_ALL },
	{ "--status", CTL_FLAG_STATUS },
	{ "--cancel", CTL_FLAG_CANCEL },
	{ "--anonymize", CTL_FLAG_ANONYMIZE },
	{ "--nats", CTL_FLAG_NATS },
};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* A number below is no time of a job: 20261001 is a date without its hyphens. */
#define SECONDS_MIN 1000000000u

static const char *
args_error(const char *fmt, const char *what)
{
	static char text[512];

	snprintf(text, sizeof(text), "%s%s", fmt, what);
	return text;
}

static int
number_parse(const char *text, uint64_t max, uint64_t *value)
{
	char *end;

	errno = 0;
	*value = strtoull(text, &end, 10);
	return *text < '0' || *text > '9' || *end != '\0' || errno != 0 ||
		*value > max ?
	    -1 :
	    0;
}

static int
same_day(const struct tm *a, const struct tm *b)
{
	return a->tm_year == b->tm_year && a->tm_mon == b->tm_mon &&
	    a->tm_mday == b->tm_mday;
}

static int
same_time(const struct tm *a, const struct tm *b)
{
	return same_day(a, b) && a->tm_hour == b->tm_hour &&
	    a->tm_min == b->tm_min && a->tm_sec == b->tm_sec;
}

/*
 * mktime() corrects a day that does not exist to another day, and a local time
 * can exist twice or not at all when the clocks change.  Takes the first or the
 * last of the times that fit, or, if there is none, of those of this day.
 */
static int
time_local(const struct tm *want, int is_last, int64_t *when)
{
	int (*const fits[])(const struct tm *, const struct tm *) = { same_time,
		same_day };
	struct tm tm;
	int64_t t;
	size_t i;
	int dst, found = 0;

	for (i = 0; i < COUNT(fits) && !found; i++)
		for (dst = 0; dst <= 1; dst++) {
			tm = *want;
			tm.tm_isdst = dst;
			t = (int64_t)mktime(&tm);
			if (!fits[i](&tm, want) ||
			    (found && (t > *when) != is_last))
				continue;
			*when = t;
			found = 1;
		}
	return found ? 0 : -1;
}

static int
time_utc(const struct tm *want, int64_t *when)
{
	struct tm tm = *want;

	*when = (int64_t)timegm(&tm);
	return same_day(&tm, want) ? 0 : -1;
}

int
time_parse(const char *text, int is_last, int64_t *when)
{
	static const char *const forms[] = { "%Y-%m-%dT%H:%M:%S",
		"%Y-%m-%dT%H:%M", "%Y-%m-%d" };
	const char *rest;
	struct tm tm;
	uint64_t n;
	size_t i;

	if (number_parse(text, INT32_MAX * 4ull, &n) == 0) {
		*when = (int64_t)n;
		return n >= SECONDS_MIN ? 0 : -1;
	}
	for (i = 0; i < COUNT(forms); i++) {
		memset(&tm, 0, sizeof(tm));
		rest = strptime(text, forms[i], &tm);
		if (rest == NULL || (*rest != '\0' && strcmp(rest, "Z") != 0))
			continue;
		if ((*rest == 'Z' ? time_utc(&tm, when) :
				    time_local(&tm, is_last, when)) == -1)
			return -1;
		return *when >= 0 ? 0 : -1;
	}
	return -1;
}

/* The value of --from or --to (is_last). */
static const char *
time_take(const char *value, int is_last, int64_t *when)
{
	uint64_t n;

	if (time_parse(value, is_last, when) == 0)
		return NULL;
	return number_parse(value, SECONDS_MIN, &n) == 0 ?
	    args_error("a date is written 2026-10-01, and seconds since 1970 "
		       "have 10 digits: ",
		value) :
	    args_error("no time, or a day that does not exist: ", value);
}

static const char *
job_id_add(struct ctl_request *req, const char *text)
{
	uint64_t id;

	if (number_parse(text, UINT32_MAX, &id) == -1 || id == 0)
		return args_error("not a job id: ", text);
	if (req->n_ids == CTL_IDS_MAX)
		return "a request can have at most 64 job ids";
	req->ids[req->n_ids++] = id;
	return NULL;
}

int
job_part_parse(const char *word, struct ctl_request *req)
{
	size_t n = strcspn(word, "_+");
	uint64_t job, number;
	char id[24];

	if (word[n] == '\0' || n >= sizeof(id))
		return 0;
	memcpy(id, word, n);
	id[n] = '\0';
	if (number_parse(id, UINT32_MAX, &job) == -1 || job == 0 ||
	    number_parse(word + n + 1, UINT32_MAX, &number) == -1)
		return 0;
	req->verb = CTL_JOB_PART;
	req->n_ids = 1;
	req->ids[0] = job;
	req->a = (int64_t)number;
	req->b = word[n] == '_' ? CTL_PART_TASK : CTL_PART_COMPONENT;
	return 1;
}

static const char *
job_word_add(struct ctl_args *args, const struct verb *verb, const char *word)
{
	struct ctl_request part;

	if (!(verb->takes & TAKES_PARTS) || !job_part_parse(word, &part))
		return job_id_add(&args->req, word);
	if (args->n_parts == CTL_IDS_MAX)
		return "a request can have at most 64 job ids";
	args->parts[args->n_parts++] = word;
	return NULL;
}

static const char *
level_parse(struct ctl_request *req, const char *text)
{
	static const char *const names[LOG_LEVEL__COUNT] = {
		[LOG_LEVEL_FATAL] = "fatal",
		[LOG_LEVEL_ERROR] = "error",
		[LOG_LEVEL_WARN] = "warn",
		[LOG_LEVEL_INFO] = "info",
		[LOG_LEVEL_DEBUG] = "debug",
		[LOG_LEVEL_TRACE] = "trace",
	};
	uint64_t n;

	if (number_parse(text, LOG_LEVEL__COUNT - 1, &n) == -1)
		for (n = 0; n < LOG_LEVEL__COUNT; n++)
			if (strcasecmp(text, names[n]) == 0)
				break;
	if (n >= LOG_LEVEL__COUNT)
		return args_error("not a log level: ", text);
	req->a = (int64_t)n;
	return NULL;
}

static const char *
direction_parse(struct ctl_request *req, const char *word)
{
	req->flags &= ~(CTL_FLAG_START | CTL_FLAG_STOP);
	if (strcmp(word, "start") == 0)
		req->flags |= CTL_FLAG_START;
	else if (strcmp(word, "stop") == 0)
		req->flags |= CTL_FLAG_STOP;
	else if (strcmp(word, "both") != 0)
		return args_error("--direction is start, stop or both, not ",
		    word);
	return NULL;
}

/* Reads a flag that has a value; *used is 0 when flag is not such a flag. */
static const char *
value_flag_parse(struct ctl_request *req, const struct verb *verb,
    const char *flag, const char *value, int *used)
{
	uint64_t n;

	*used = 1;
	if (value == NULL)
		value = "";
	if ((verb->takes & TAKES_JOBS) && strcmp(flag, "--job") == 0)
		return job_id_add(req, value);
	if ((verb->takes & TAKES_CLUSTER) && strcmp(flag, "--cluster") == 0) {
		if (*value == '\0' || strlen(value) >= CTL_TEXT_MAX)
			return args_error("not a cluster name: ", value);
		memcpy(req->text, value, strlen(value) + 1);
		return NULL;
	}
	if ((verb->takes & TAKES_DIRECTION) && strcmp(flag, "--direction") == 0)
		return direction_parse(req, value);
	if ((verb->verb == CTL_QUEUE || verb->verb == CTL_SYNC) &&
	    strcmp(flag, "--limit") == 0) {
		if (number_parse(value, ROWS_MAX, &n) == -1 || n == 0)
			return args_error("not a number of runs: ", value);
		req->limit = (uint32_t)n;
		return NULL;
	}
	if ((verb->takes & (TAKES_RANGE | TAKES_FROM)) &&
	    strcmp(flag, "--from") == 0)
		return time_take(value, 0, &req->a);
	if ((verb->takes & TAKES_RANGE) && strcmp(flag, "--to") == 0)
		return time_take(value, 1, &req->b);
	*used = 0;
	return NULL;
}

static const char *
word_parse(struct ctl_args *args, const struct verb *verb, const char *word)
{
	struct ctl_request *req = &args->req;
	size_t i;

	for (i = 0; i < COUNT(flags); i++)
		if (strcmp(word, flags[i].name) == 0 &&
		    (verb->flags & flags[i].flag)) {
			req->flags |= flags[i].flag;
			return NULL;
		}
	if (word[0] != '-' && (verb->takes & TAKES_IDS))
		return job_word_add(args, verb, word);
	if (word[0] != '-' && (verb->takes & TAKES_LEVEL) && req->a == -1)
		return level_parse(req, word);
	return args_error("this command does not allow ", word);
}

/* A range, or --status or --cancel of the backfill in progress. */
static const char *
range_check(struct ctl_request *req)
{
	unsigned about = req->flags & (CTL_FLAG_STATUS | CTL_FLAG_CANCEL);

	if (about != 0) {
		if (req->a != -1 || req->b != -1 ||
		    (about & (about - 1)) != 0 || req->flags != about)
			return "--status and --cancel allow no argument but "
			       "--cluster";
		req->a = req->b = 0;
		return NULL;
	}
	if (req->a == -1 || req->b == -1)
		return "--from and --to are required";
	return req->a >= req->b ? "--from must be before --to" : NULL;
}

/* Checks required arguments and combinations. */
static const char *
request_check(struct ctl_args *args, const struct verb *verb)
{
	struct ctl_request *req = &args->req;

	if ((verb->takes & NEEDS_IDS) && req->n_ids + args->n_parts == 0 &&
	    !(req->flags & CTL_FLAG_ALL))
		return "job ids are required";
	if (req->n_ids != 0 && (req->flags & CTL_FLAG_ALL))
		return "--all cannot be combined with job ids";
	if (req->verb == CTL_SYNC && (req->flags & CTL_FLAG_FORCE) &&
	    (req->n_ids != 0 || req->limit != 0 ||
		(req->flags & (CTL_FLAG_START | CTL_FLAG_STOP))))
		return "--force cannot be combined with --job, --limit or "
		       "--direction";
	if ((verb->takes & TAKES_LEVEL) && req->a == -1)
		return "a log level is required";
	return verb->takes & TAKES_RANGE ? range_check(req) : NULL;
}

/* spool check | export [--all] | import FILE */
static const char *
spool_parse(struct ctl_args *args, char **argv)
{
	struct ctl_request *req = &args->req;

	req->verb = CTL_SPOOL;
	if (argv[0] == NULL)
		return "check, export or import is required";
	if (strcmp(argv[0], "check") == 0)
		req->a = CTL_SPOOL_CHECK;
	else if (strcmp(argv[0], "export") == 0)
		req->a = CTL_SPOOL_EXPORT;
	else if (strcmp(argv[0], "import") == 0)
		req->a = CTL_SPOOL_IMPORT;
	else
		return args_error("spool allows check, export and import, not ",
		    argv[0]);
	argv++;
	if (req->a == CTL_SPOOL_EXPORT && *argv != NULL &&
	    strcmp(*argv, "--all") == 0) {
		req->flags |= CTL_FLAG_ALL;
		argv++;
	}
	if (req->a == CTL_SPOOL_CHECK && *argv != NULL &&
	    strcmp(*argv, "--file") == 0 && (args->file = *++argv) == NULL)
		return "--file needs a value";
	argv += args->file != NULL;
	if (req->a == CTL_SPOOL_IMPORT && (args->file = *argv++) == NULL)
		return "a file to import is required";
	if (*argv != NULL)
		return args_error("this command does not allow ", *argv);
	return NULL;
}

/* report [-o FILE] [--anonymize] */
static const char *
report_parse(struct ctl_args *args, char **argv)
{
	args->report = 1;
	args->req.verb = CTL_STATUS;
	if (args->json)
		return "report has no JSON form; use status, queue and history";
	for (; *argv != NULL; argv++) {
		if (strcmp(*argv, "--anonymize") == 0)
			args->req.flags |= CTL_FLAG_ANONYMIZE;
		else if (strcmp(*argv, "-o") == 0 && argv[1] != NULL)
			args->file = *++argv;
		else
			return args_error("not allowed, or lacks a value: ",
			    *argv);
	}
	return NULL;
}

static const char *
verb_parse(struct ctl_args *args, char **argv)
{
	struct ctl_request *req = &args->req;
	const struct verb *verb = NULL;
	const char *bad;
	size_t k;
	int i, used;

	for (k = 0; k < COUNT(verbs); k++)
		if (strcmp(argv[0], verbs[k].name) == 0)
			verb = &verbs[k];
	if (verb == NULL)
		return args_error("unknown command: ", argv[0]);
	req->verb = (uint16_t)verb->verb;
	if (verb->takes & (TAKES_LEVEL | TAKES_RANGE))
		req->a = req->b = -1;
	for (i = 1; argv[i] != NULL; i++) {
		bad = value_flag_parse(req, verb, argv[i], argv[i + 1], &used);
		if (used && argv[i + 1] == NULL)
			bad = args_error("a value is missing after ", argv[i]);
		if (!used)
			bad = word_parse(args, verb, argv[i]);
		if (bad != NULL)
			return bad;
		i += used;
	}
	return request_check(args, verb);
}

/* A verb with one word of its own: 1 when argv is exactly this. */
static int
is_verb_with(char **argv, const char *verb, const char *word)
{
	return strcmp(argv[0], verb) == 0 && argv[1] != NULL &&
	    strcmp(argv[1], word) == 0 && argv[2] == NULL;
}

static const char *
verb_or_special_parse(struct ctl_args *args, char **argv)
{
	if (strcmp(argv[0], "spool") == 0)
		return spool_parse(args, argv + 1);
	if (strcmp(argv[0], "report") == 0)
		return report_parse(args, argv + 1);
	if (strcmp(argv[0], "watch") == 0) {
		args->watch = 1;
		if (args->json)
			return "watch has no JSON form; use status, queue and "
			       "metrics";
		return argv[1] == NULL ?
		    NULL :
		    args_error("this command does not allow ", argv[1]);
	}
	args->verbose = is_verb_with(argv, "status", "-v");
	args->prometheus = is_verb_with(argv, "metrics", "--prometheus");
	if (!args->verbose && !args->prometheus)
		return verb_parse(args, argv);
	args->req.verb = args->verbose ? CTL_STATUS : CTL_METRICS;
	return NULL;
}

const char *
args_parse(struct ctl_args *args, int argc, char **argv)
{
	int i;

	memset(args, 0, sizeof(*args));
	args->req.magic = CTL_MAGIC;
	args->req.version = CTL_VERSION;
	for (i = 1; i < argc && argv[i][0] == '-'; i++) {
		if (strcmp(argv[i], "-j") == 0 ||
		    strcmp(argv[i], "--json") == 0)
			args->json = 1;
		else if (strcmp(argv[i], "--no-color") == 0)
			args->no_color = 1;
		else if (strcmp(argv[i], "-s") == 0 && i + 1 < argc)
			args->socket = argv[++i];
		else if (strcmp(argv[i], "-c") == 0 && i + 1 < argc)
			args->config = argv[++i];
		else
			return args_error("unknown flag, or its value is "
					  "missing: ",
			    argv[i]);
	}
	if (args->socket != NULL && args->config != NULL)
		return "-c and -s exclude each other";
	if (i >= argc)
		return "a command is required";
	args->verb = argv[i];
	return verb_or_special_parse(args, argv + i);
}
