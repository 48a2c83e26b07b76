/* SPDX-License-Identifier: MIT */
/*
 * The command line.  Sites start the daemon with the command line of the Go
 * adapter, so that the rules are those of Go's flag package: one dash or two,
 * "-debug=3" or "-debug 3", switches with or without "=true"; the first word
 * that is not a flag ends the flags.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "supervisor/supervisor.h"

enum flag_kind {
	FLAG_SWITCH,
	FLAG_TEXT,
	FLAG_NUMBER
};

struct flag {
	const char *name;
	enum flag_kind kind;
	void *into; /* int, const char * or long */
};

static const char usage[] =
    "Usage of cc-slurm-adapter:\n"
    "  -config string\n"
    "    	configuration file of the daemon\n"
    "  -daemon\n"
    "    	run the daemon\n"
    "  -debug int\n"
    "    	log level of the daemon, 0 to 5 (default 2)\n"
    "  -help\n"
    "    	print this help\n"
    "  -migrate\n"
    "    	print the configuration of the Go adapter or of cc-slurm-sync,\n"
    "    	which is the argument after it, as one of this daemon\n"
    "  -test\n"
    "    	check the configuration, Slurm, cc-backend and this host,\n"
    "    	print a checklist, and exit\n"
    "  -version\n"
    "    	print the version\n";

void
options_usage(void)
{
	fputs(usage, stderr);
}

/* The spellings that Go's strconv.ParseBool takes. */
static int
switch_value(const char *text, int *value)
{
	static const char *const yes[] = { "1", "t", "T", "true", "TRUE",
		"True" };
	static const char *const no[] = { "0", "f", "F", "false", "FALSE",
		"False" };
	size_t i;

	for (i = 0; i < sizeof(yes) / sizeof(yes[0]); i++) {
		if (strcmp(text, yes[i]) == 0 || strcmp(text, no[i]) == 0) {
			*value = strcmp(text, yes[i]) == 0;
			return 0;
		}
	}
	return -1;
}

static int
number_value(const char *text, long *value)
{
	char *end;

	errno = 0;
	*value = strtol(text, &end, 0);
	return errno != 0 || end == text || *end != '\0' ? -1 : 0;
}

static int
flag_set(const struct flag *f, const char *value, char *wrong, size_t size)
{
	int rc = 0;

	if (f->kind == FLAG_SWITCH)
		rc = switch_value(value, f->into);
	else if (f->kind == FLAG_NUMBER)
		rc = number_value(value, f->into);
	else
		*(const char **)f->into = value;
	if (rc == -1)
		snprintf(wrong, size, "invalid value \"%.100s\" for flag -%s",
		    value, f->name);
	return rc;
}

static const struct flag *
flag_find(const struct flag *table, const char *name, size_t len)
{
	for (; table->name != NULL; table++) {
		if (strlen(table->name) == len &&
		    strncmp(table->name, name, len) == 0)
			return table;
	}
	return NULL;
}

/* Reads the flag at *i; sets *i to its value.  1: the end of the flags. */
static int
flag_take(const struct flag *table, int argc, char **argv, int *i, char *wrong,
    size_t size)
{
	const struct flag *f;
	const char *name = argv[*i], *value;
	size_t len;

	if (name[0] != '-' || name[1] == '\0' || strcmp(name, "--") == 0)
		return 1;
	name += name[1] == '-' ? 2 : 1;
	len = strcspn(name, "=");
	f = flag_find(table, name, len);
	if (f == NULL) {
		snprintf(wrong, size, "flag provided but not defined: -%.*s",
		    (int)len, name);
		return -1;
	}
	value = name[len] == '=' ? name + len + 1 : NULL;
	if (value == NULL && f->kind == FLAG_SWITCH)
		value = "true";
	if (value == NULL && ++*i < argc)
		value = argv[*i];
	if (value == NULL) {
		snprintf(wrong, size, "flag needs an argument: -%s", f->name);
		return -1;
	}
	return flag_set(f, value, wrong, size);
}

int
options_parse(struct options *options, int argc, char **argv, char *wrong,
    size_t size)
{
	const struct flag table[] = {
		{ "config", FLAG_TEXT, &options->config },
		{ "daemon", FLAG_SWITCH, &options->daemon },
		{ "debug", FLAG_NUMBER, &options->debug },
		{ "help", FLAG_SWITCH, &options->help },
		{ "h", FLAG_SWITCH, &options->help },
		{ "test", FLAG_SWITCH, &options->test },
		{ "migrate", FLAG_SWITCH, &options->migrate },
		{ NULL, FLAG_SWITCH, NULL },
	};
	int i, rc;

	memset(options, 0, sizeof(*options));
	options->debug = LOG_LEVEL_WARN;
	for (i = 1; i < argc; i++) {
		rc = flag_take(table, argc, argv, &i, wrong, size);
		if (rc == -1)
			return -1;
		if (rc == 1)
			break;
	}
	if (i < argc && strcmp(argv[i], "--") == 0)
		i++;
	options->file = i < argc ? argv[i] : NULL;
	/* The Go adapter accepts each number, also in its unit. */
	if (options->debug < LOG_LEVEL_FATAL)
		options->debug = LOG_LEVEL_FATAL;
	if (options->debug >= LOG_LEVEL__COUNT)
		options->debug = LOG_LEVEL__COUNT - 1;
	return 0;
}
