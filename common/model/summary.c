/* SPDX-License-Identifier: MIT */
/* The summary of a worker as bytes; see summary.h. */
#include "config.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/model/summary.h"
#include "common/text/text.h"

static const char *const stages[PROBLEM__COUNT] = {
	[PROBLEM_PROCESS] = "processes",
	[PROBLEM_SPOOL] = "spool",
	[PROBLEM_BACKEND] = "cc-backend",
	[PROBLEM_EXPIRED] = "stream",
	[PROBLEM_RIGHT] = "operator permission",
	[PROBLEM_SLURMCTLD] = "slurmctld",
	[PROBLEM_COMMANDS] = "Slurm's commands",
	[PROBLEM_SLURMDBD] = "slurmdbd",
	[PROBLEM_NATS] = "NATS",
	[PROBLEM_STREAM] = "stream",
	[PROBLEM_NEWER] = "stream",
	[PROBLEM_UNSAFE] = "files",
	[PROBLEM_UNKNOWN] = "runs",
	[PROBLEM_QUARANTINE] = "runs",
	[PROBLEM_SKIPPED] = "accounting",
	[PROBLEM_REJECTED] = "runs",
	[PROBLEM_FOREIGN] = "runs",
	[PROBLEM_SPACE] = "spool",
	[PROBLEM_TOKEN] = "cc-backend",
	[PROBLEM_CONFIGURATION] = "configuration",
	[PROBLEM_HOOKS] = "hooks",
	[PROBLEM_RUNAWAYS] = "slurmdbd",
};

const char *
problem_stage(unsigned kind)
{
	return kind < PROBLEM__COUNT ? stages[kind] : "?";
}

void
summary_add(struct summary *s, enum problem_kind kind, unsigned item,
    int64_t since, const char *fmt, ...)
{
	char text[SUMMARY_TEXT_MAX];
	struct problem *p;
	va_list ap;

	if (s->n == SUMMARY_PROBLEMS_MAX) {
		s->more++;
		return;
	}
	p = &s->problems[s->n++];
	p->kind = (uint8_t)kind;
	p->item = (uint8_t)item;
	p->since = since;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	text_vis(text, p->text, sizeof(p->text));
}

void
summary_write(struct writer *w, const struct summary *s)
{
	uint32_t i;

	wr_u64(w, s->running);
	wr_u64(w, s->waiting);
	wr_u64(w, s->rejected);
	wr_u64(w, s->lost);
	wr_i64(w, s->last_job);
	wr_u8(w, s->standby);
	wr_u32(w, s->more);
	wr_u32(w, s->n);
	for (i = 0; i < s->n; i++) {
		wr_u8(w, s->problems[i].kind);
		wr_u8(w, s->problems[i].item);
		wr_i64(w, s->problems[i].since);
		wr_str(w, s->problems[i].text);
	}
}

void
summary_read(struct reader *r, struct summary *s)
{
	struct problem *p;

	memset(s, 0, sizeof(*s));
	s->running = rd_u64(r);
	s->waiting = rd_u64(r);
	s->rejected = rd_u64(r);
	s->lost = rd_u64(r);
	s->last_job = rd_i64(r);
	s->standby = rd_u8(r);
	s->more = rd_u32(r);
	s->n = rd_u32(r);
	if (s->n > SUMMARY_PROBLEMS_MAX || s->standby > 1 || s->last_job < 0)
		rd_fail(r);
	if (r->err)
		s->n = 0;
	for (p = s->problems; p < s->problems + s->n; p++) {
		p->kind = rd_u8(r);
		p->item = rd_u8(r);
		p->since = rd_i64(r);
		rd_name(r, p->text, sizeof(p->text));
		if (p->kind >= PROBLEM__COUNT || p->since < 0)
			rd_fail(r);
	}
	if (r->err)
		s->n = 0;
}
