/* SPDX-License-Identifier: MIT */
/* The tables of attempts as one, and their targets. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/breakout/attempts.h"
#include "tests/breakout/calls.h"

struct targets targets;

static const struct attempt *const tables[] = { attempts_files,
	attempts_processes, attempts_sockets, attempts_limits };
#define TABLES (sizeof(tables) / sizeof(tables[0]))

void
targets_read(char *text)
{
	static char none[] = "";
	int *const numbers[] = { &targets.supervisor, &targets.submitter,
		&targets.victim, &targets.tcp_port, &targets.allowed_port,
		&targets.udp_port };
	const char **const texts[] = { &targets.config, &targets.secret,
		&targets.spool, &targets.ctl, &targets.stream,
		&targets.datagram, &targets.abstract, &targets.file,
		&targets.nats };
	char *line;
	size_t i;

	for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		line = strsep(&text, "\n");
		*numbers[i] = line != NULL ? atoi(line) : 0;
	}
	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		line = strsep(&text, "\n");
		*texts[i] = line != NULL ? line : none;
	}
}

int
attempt_run(const char *name, int64_t *value)
{
	const struct attempt *a;
	size_t i;

	for (i = 0; i < TABLES; i++)
		for (a = tables[i]; a->name != NULL; a++)
			if (strcmp(a->name, name) == 0) {
				*value = a->run();
				return *value == -1 ? errno : 0;
			}
	return call_make(name, value);
}

void
attempts_each(void (*fn)(const char *name))
{
	const struct attempt *a;
	size_t i;

	for (i = 0; i < TABLES; i++)
		for (a = tables[i]; a->name != NULL; a++)
			fn(a->name);
	calls_each(fn);
}
