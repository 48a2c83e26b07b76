/* SPDX-License-Identifier: MIT */
/*
 * The ledger: one line of JSON for each thing that really happened, in
 * order, so that a test can count what arrived and when.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>

#include "fake.h"

static FILE *ledger;
static long long commits;

int
ledger_open(const char *path)
{
	ledger = fopen(path, "ae");
	if (ledger == NULL)
		return -1;
	setvbuf(ledger, NULL, _IOLBF, 1 << 16);
	return 0;
}

void
ledger_commit(void)
{
	commits++;
}

void
ledger_write(const char *effect, const struct run *r, json_t *body)
{
	struct text t = { 0 };
	struct timeval tv;

	if (ledger == NULL)
		return;
	gettimeofday(&tv, NULL);
	text_fmt(&t,
	    "{\"time\":%lld.%03d,\"commits\":%lld,"
	    "\"effect\":\"%s\"",
	    (long long)tv.tv_sec, (int)(tv.tv_usec / 1000), commits, effect);
	if (r != NULL) {
		text_fmt(&t,
		    ",\"jobId\":%lld,\"startTime\":%lld,"
		    "\"dbid\":%lld,\"cached\":%s,\"jobState\":\"%s\","
		    "\"duration\":%d,\"lost\":%s,\"cluster\":",
		    (long long)r->jobid, (long long)r->start,
		    (long long)r->dbid, r->cached ? "true" : "false", r->state,
		    r->duration, r->lost ? "true" : "false");
		go_cstring(&t, r->cluster);
	}
	if (body != NULL) {
		text_str(&t, ",\"body\":");
		go_value(&t, body);
	}
	text_str(&t, "}\n");
	fwrite(t.p, 1, t.len, ledger);
	text_clear(&t);
}
