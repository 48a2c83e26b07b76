/* SPDX-License-Identifier: MIT */
/* The collector's part of the first line of `status`. */
#include "config.h"

#include <string.h>

#include "collector/collector.h"
#include "common/text/time_text.h"

#define SKIPPED_SHOWN 86400 /* s that skipped accounting is a problem */
#define RUNAWAYS_S    10    /* between two counts of the runaways */

static void
health_add(const struct cluster *c, const struct health *h,
    enum problem_kind kind, struct summary *to)
{
	if (h->away)
		summary_add(to, kind, c->number, h->since,
		    "%s%s does not answer: %.180s", h->daemon,
		    cluster_suffix(c), h->why);
}

static void
right_add(const struct cluster *c, struct summary *to)
{
	char text[SUMMARY_TEXT_MAX];

	if (c->permission != PERMISSION_NONE)
		return;
	permission_missing(c, text, sizeof(text));
	summary_add(to, PROBLEM_RIGHT, c->number, 0, "%s", text);
}

static void
skipped_add(const struct cluster *c, struct summary *to)
{
	int64_t at = c->resume.skipped_at;

	if (at == 0 || now_wall() - at >= SKIPPED_SHOWN)
		return;
	summary_add(to, PROBLEM_SKIPPED, c->number, at,
	    "%s of accounting%s before slurmQueryMaxSpan were skipped; "
	    "run: cc-slurm-adapterctl backfill",
	    duration_text((int64_t)c->resume.skipped_seconds * 1000),
	    cluster_suffix(c));
}

static void
runaways_add(struct lanes *l, struct summary *to)
{
	struct cluster *c = l->c;

	if (now_s() - l->runaways_at >= RUNAWAYS_S) {
		l->runaways = runaways_count(c);
		l->runaways_at = now_s();
	}
	if (l->runaways == 0)
		return;
	if (runaways_of_slurmdbd(c))
		summary_add(to, PROBLEM_RUNAWAYS, c->number, 0,
		    "slurmdbd%s shows %zu job%s without an end that slurmctld "
		    "does not have; run: sacctmgr show runawayjobs",
		    cluster_suffix(c), l->runaways,
		    l->runaways == 1 ? "" : "s");
	else
		summary_add(to, PROBLEM_RUNAWAYS, c->number, 0,
		    "slurmctld%s does not have %zu open job%s any more, and "
		    "without slurmdbd no end is known; stop %s in cc-backend",
		    cluster_suffix(c), l->runaways, l->runaways == 1 ? "" : "s",
		    l->runaways == 1 ? "the job" : "the jobs");
}

static void
cluster_add(struct lanes *l, struct summary *to)
{
	struct cluster *c = l->c;

	to->running += c->open.n;
	right_add(c, to);
	health_add(c, &c->ctld, PROBLEM_SLURMCTLD, to);
	if (!c->slurm.known || c->slurm.accounting)
		health_add(c, &c->dbd, PROBLEM_SLURMDBD, to);
	skipped_add(c, to);
	runaways_add(l, to);
}

void
status_summary(struct worker *w, struct summary *to)
{
	struct collector *col = w->arg;
	const struct runner_info *info = runner_info(col->site.runner);
	unsigned i;

	if (info->known && info->missing[0] != '\0')
		summary_add(to, PROBLEM_COMMANDS, 0, 0,
		    "slurmBinDir lacks these commands of Slurm: %s",
		    info->missing);
	for (i = 0; i < col->site.n; i++)
		cluster_add(&col->lanes[i], to);
}
