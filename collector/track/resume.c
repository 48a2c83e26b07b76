/* SPDX-License-Identifier: MIT */
/*
 * The point at which the collector continues: the spool has the resume point of
 * each cluster and the runs without an end.  A new submitter sends them again.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "collector/base/wake.h"
#include "collector/slurm/runner_link.h"
#include "collector/track/outbox.h"
#include "collector/track/track.h"
#include "common/array.h"
#include "common/log.h"
#include "common/text/time_text.h"

/*
 * Seconds after a run was found (one poll after its start, at worst) in which
 * its script is fetched.  The submitter waits no longer for the script.
 */
#define SCRIPT_LATE 15

/* Keeps the run until the name of the cluster is known. */
static void
unassigned_add(struct site *site, const struct open_key *open, unsigned bits)
{
	struct unassigned_run *unassigned, one = { *open, bits };

	unassigned = array_reserve(site->unassigned, &site->cap_unassigned,
	    site->n_unassigned + 1, sizeof(*unassigned));
	if (unassigned == NULL)
		fatalx("out of memory");
	site->unassigned = unassigned;
	site->unassigned[site->n_unassigned++] = one;
}

static void
open_of_spool(struct cluster *c, const struct open_key *open, unsigned bits)
{
	const struct run_key *key = &open->key;
	struct open_run *run;

	if (strcmp(key->cluster, c->slurm.cluster) != 0 ||
	    run_number(key->job, key->start) == 0)
		return;
	run = open_find(&c->open, key->job, key->start);
	if (run != NULL) {
		run->flags &= (uint8_t)~OPEN_UNLISTED;
		if (bits & OPEN_RUNS_UNCONFIRMED)
			run->flags |= OPEN_UNCONFIRMED;
		return;
	}
	run = open_put(&c->open, key->job, key->start);
	if (run == NULL)
		fatalx("out of memory");
	run->flags |= OPEN_SPOOLED;
	if (open->submit > 0 && open->submit <= UINT32_MAX)
		run->submit = (uint32_t)open->submit;
	/*
	 * The previous process may have ended while it fetched the script, also
	 * that of an old run: slurmctld may have been away, or many scripts were
	 * due.
	 */
	if (!(bits & OPEN_RUNS_SCRIPT_DUE) &&
	    key->start < slurm_now(c) - c->set->poll - SCRIPT_LATE)
		run->flags |= OPEN_RESOURCES_SENT;
	if (!(bits & OPEN_RUNS_UNCONFIRMED))
		return;
	run->flags |= OPEN_UNCONFIRMED;
	/*
	 * The start may have to wait for an earlier run of the job that only
	 * accounting has.
	 */
	if (!c->caught_up && c->slurm.accounting &&
	    idmap_put(&c->earlier, key->job, NULL) != NULL)
		(void)idmap_put(&c->work.accounting, key->job, NULL);
}

void
resume_open(struct site *site, const struct open_key *open, unsigned bits)
{
	unsigned i;
	int unknown = 0;

	for (i = 0; i < site->n; i++) {
		if (site->clusters[i]->slurm.known)
			open_of_spool(site->clusters[i], open, bits);
		else
			unknown = 1;
	}
	if (unknown)
		unassigned_add(site, open, bits);
}

/* The Go adapter, which wrote the file, queried only the local cluster. */
static int64_t
lastrun_of(const struct cluster *c)
{
	return c->by_name ? 0 : runner_info(c->site->runner)->lastrun;
}

/* The point that the spool has of the cluster. */
static void
point_of_spool(struct cluster *c, const struct resume_point *p)
{
	if (strcmp(p->cluster, c->slurm.cluster) != 0)
		return;
	c->resume.stored |= p->until == RESUME_LOST;
	if (p->until > c->resume.durable)
		c->resume.durable = p->until;
}

/*
 * Sets the resume point: that of the spool; with an empty spool the time of
 * the last-run file of the Go adapter; else slurmQueryMaxSpan ago.  When a spool
 * that was lost had a point, the file has this point, which is too late.  The file may
 * be that of a spool that was removed with runs that were not delivered: the last day
 * is read, too.
 */
void
resume_cluster(struct cluster *c)
{
	struct site *site = c->site;
	int64_t lastrun;
	unsigned i;
	size_t k;

	for (k = 0; k < site->n_unassigned; k++)
		open_of_spool(c, &site->unassigned[k].open,
		    site->unassigned[k].bits);
	for (i = 0; i < site->n_resume_points; i++)
		point_of_spool(c, &site->resume_points[i]);
	if (c->resume.point < c->resume.durable)
		c->resume.point = c->resume.durable;
	lastrun = lastrun_of(c);
	if (c->resume.point == 0 && !c->resume.stored && lastrun > 0 &&
	    lastrun <= slurm_now(c)) {
		c->resume.point = lastrun;
		/* Before the spool's points come, a spool with runs looks new. */
		c->work.read_day |= c->synced;
	}
	for (i = 0; i < site->n && site->clusters[i]->slurm.known; i++)
		continue;
	if (i < site->n)
		return;
	free(site->unassigned);
	site->unassigned = NULL;
	site->n_unassigned = site->cap_unassigned = 0;
}

static void
unlisted_all(struct cluster *c)
{
	struct open_run *run;
	size_t at = 0;

	c->synced = 0;
	while ((run = open_next(&c->open, &at)) != NULL)
		run->flags |= OPEN_UNLISTED;
}

void
resume_unsynced(struct site *site)
{
	unsigned i;

	site->synced = 0;
	site->n_resume_points = 0;
	site->n_unassigned = 0;
	for (i = 0; i < site->n; i++)
		unlisted_all(site->clusters[i]);
}

/*
 * The details of runs that are not in the spool (it was lost, or the record is
 * on its way) are queried and sent again; the spool keeps one record of a run.
 */
static void
unlisted_again(struct cluster *c)
{
	struct open_run *run;
	size_t at = 0;
	unsigned n = 0;

	while ((run = open_next(&c->open, &at)) != NULL) {
		if (!(run->flags & OPEN_UNLISTED))
			continue;
		run->flags &= (uint8_t)~OPEN_UNLISTED;
		if (!(run->flags & OPEN_LEFT)) {
			run->flags &= (uint8_t)~OPEN_RESOURCES_SENT;
			n++;
		}
	}
	if (n > 0)
		log_info("%u open runs%s are not in the spool: their details "
			 "are queried again",
		    n, cluster_suffix(c));
	done_clear(&c->done);
}

/*
 * A spool that was recovered, or is new, may have an older point than the one that was
 * acknowledged.  Watermarks that wait are beyond that point: stored now, they would
 * skip what is read again from the older point if this process ended before.
 */
static void
cluster_synced(struct cluster *c)
{
	int64_t acknowledged = c->resume.durable;

	c->synced = 1;
	if (c->slurm.known) {
		c->resume.stored |= c->resume.durable > 0;
		c->resume.point = c->resume.durable = 0;
		resume_cluster(c);
		if (c->resume.durable < acknowledged)
			outbox_watermarks_void(c->outbox, c);
		unlisted_again(c);
	}
	log_debug("the spool has %zu open runs%s, its resume point is %s",
	    c->open.n, cluster_suffix(c), time_text(c->resume.point));
	wake(c);
}

void
resume_synced(struct site *site)
{
	unsigned i;

	site->synced = 1;
	for (i = 0; i < site->n; i++)
		cluster_synced(site->clusters[i]);
}

/*
 * The time of the file is the resume point, so that a site may return to the
 * Go adapter.  With several clusters it is the oldest one.
 */
void
resume_advanced(struct cluster *c, int64_t until)
{
	struct site *site = c->site;
	unsigned i;

	c->resume.durable = until;
	for (i = 0; i < site->n; i++)
		if (site->clusters[i]->resume.durable < until)
			until = site->clusters[i]->resume.durable;
	if (until > 0)
		runner_resume_time(site->runner, until);
}
