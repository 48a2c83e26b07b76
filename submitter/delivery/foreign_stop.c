/* SPDX-License-Identifier: MIT */
/*
 * Runs that another client has stopped in cc-backend: by cc-backend's stop
 * race, by its clean-up of old jobs, or by a request.  If cc-backend's values
 * agree with Slurm's, the run is done.  If not, the run is kept, logged and
 * listed, and only `repair` changes it: the run is deleted in cc-backend,
 * started again, and stopped when it has ended.  Each step is a state of the
 * row, so the next process continues after a kill.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "common/crash_point.h"
#include "common/log.h"
#include "submitter/backend/breaker.h"
#include "submitter/base/context.h"
#include "submitter/base/diff_row.h"
#include "submitter/delivery/delivery.h"
#include "submitter/spool/commit.h"
#include "submitter/spool/transition.h"

/* Runs kept for an admin; further ones are only counted. */
#define CLOSED_MAX 10000

static struct log_limit said_agreed;
static struct log_limit said_wrong;

static void
settled(struct submitter *s, struct spool_run *run)
{
	struct spool_run copy = *run;

	spool_save(s->spool, run);
	spool_release(s->spool, &copy, DEST_REST);
	commit_soon(s->commit);
	wake(s, WAKE_DELIVERY);
}

/* Logs the run and keeps it for an admin. */
static void
foreign_stop_keep(struct submitter *s, struct spool_run *run, const char *how)
{
	run->flags |= RUN_STOPPED_BY_OTHERS;
	log_about(LOG_ID_STOPPED_BY_OTHER, run->key.cluster, run->key.job);
	log_limited(&said_wrong, log_errorx,
	    "%s was stopped in cc-backend by another client; its state differs "
	    "from Slurm's: %s; see `cc-slurm-adapterctl repair --dry-run`",
	    run_key_text(&run->key), how);
	run_move(s->spool, run, DEST_REST,
	    spool_count(s->spool, DEST_REST, STOPPED_BY_OTHERS) < CLOSED_MAX ?
		RUN_EVENT_STOP_DIFFERS :
		RUN_EVENT_STOP_SETTLED,
	    DUE_NOW, how);
	run->since[DEST_REST] = spool_now(s->spool);
	settled(s, run);
}

void
foreign_stop_damaged(struct submitter *s, struct spool_run *run,
    const char *why)
{
	char how[sizeof(run->reason)];

	s->n.closed++;
	snprintf(how, sizeof(how), "the run is damaged in cc-backend (%.300s)",
	    why);
	foreign_stop_keep(s, run, how);
}

void
foreign_stop_compare(struct submitter *s, struct spool_run *run,
    const struct backend_job *row)
{
	char how[sizeof(run->reason)];

	s->n.closed++;
	run->flags |= RUN_STOPPED_BY_OTHERS;
	if (end_agrees(s, run, row, how, sizeof(how))) {
		log_limited(&said_agreed, log_info,
		    "%s was stopped in cc-backend by another client; its state "
		    "agrees with Slurm's",
		    run_key_text(&run->key));
		meta_after_stop(s->meta, run);
		run_move(s->spool, run, DEST_REST, RUN_EVENT_STOP_SETTLED,
		    DUE_NOW, "");
		settled(s, run);
		return;
	}
	foreign_stop_keep(s, run, how);
}

void
foreign_stop_unknown(struct submitter *s, struct spool_run *run)
{
	s->n.closed++;
	log_warnx("%s was stopped in cc-backend by another client; cc-backend "
		  "does not show how, and the run stays as it is",
	    run_key_text(&run->key));
	run->flags |= RUN_STOPPED_BY_OTHERS;
	run_move(s->spool, run, DEST_REST, RUN_EVENT_STOP_SETTLED, DUE_KEEP,
	    "");
	settled(s, run);
}

/* One walk over the runs that other clients have stopped. */
struct repair_walk {
	struct submitter *s;
	const struct ctl_request *req;
	struct diff_rows *rows;
	unsigned n;
};

static void
row_tell(struct repair_walk *m, const struct spool_run *run, const char *action)
{
	diff_rows_add(m->s, m->rows, &run->key, run->reason, action);
}

/* Did the admin name this job and cluster, or none? */
static int
is_wanted(const struct ctl_request *req, const struct run_key *key)
{
	uint32_t i;

	if (req->text[0] != '\0' && strcmp(req->text, key->cluster) != 0)
		return 0;
	for (i = 0; i < req->n_ids; i++)
		if (req->ids[i] == key->job)
			return 1;
	return req->n_ids == 0;
}

static int
repair_one(struct spool *sp, struct spool_run *run, void *arg)
{
	struct repair_walk *m = arg;
	int dry = (m->req->flags & CTL_FLAG_DRY_RUN) != 0, blocked;

	if (!is_wanted(m->req, &run->key))
		return 0;
	if (m->req->verb != CTL_REPAIR) {
		row_tell(m, run, "`repair` corrects it");
		return 0;
	}
	blocked = spool_blocked(sp, run);
	if (blocked != 0) {
		row_tell(m, run,
		    "left: cc-backend has another run of the job "
		    "and would refuse this one");
		return blocked == -1 ? -1 : 0;
	}
	m->n++;
	row_tell(m, run,
	    run->end != 0 ? dry ?
			    "would be deleted, started and stopped again" :
			    "deleted, started and stopped again" :
		dry	  ? "would be deleted and started again" :
			    "deleted and started again");
	if (dry)
		return 0;
	log_notice("%s: an admin repairs it: %s", run_key_text(&run->key),
	    run->reason);
	m->s->n.repaired++;
	run_move(sp, run, DEST_REST, RUN_EVENT_REPAIR, DUE_NOW, NULL);
	if (spool_save(sp, run) == -1)
		return -1;
	CRASH_POINT("repair-marked");
	return 0;
}

unsigned
foreign_stop_repair(struct submitter *s, struct diff_rows *rows,
    const struct ctl_request *req)
{
	struct repair_walk m = { .s = s, .req = req, .rows = rows };
	struct spool_after after = { 0 };

	while (spool_each(s->spool, DEST_REST, STOPPED_BY_OTHERS, &after,
		   SPOOL_PAGE, repair_one, &m) == SPOOL_PAGE)
		continue;
	if (m.n > 0) {
		commit_soon(s->commit);
		wake(s, WAKE_DELIVERY);
	}
	return m.n;
}
