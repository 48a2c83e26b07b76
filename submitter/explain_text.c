/* SPDX-License-Identifier: MIT */
/* The words and sentences of `explain`. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "common/model/job.h"
#include "common/model/msg.h"
#include "common/text/time_text.h"
#include "submitter/explain.h"

static const struct {
	const char *word;
	const char *text; /* NULL: see event_text() */
} kinds[HISTORY__COUNT] = {
	[HISTORY_NONE] = { "none", "" },
	[HISTORY_HOOK] = { "hook", NULL },
	[HISTORY_STORED] = { "stored", NULL },
	[HISTORY_RUNNING] = { "running", "Slurm shows the run running" },
	[HISTORY_ENDED] = { "ended", NULL },
	[HISTORY_START_SENT] = { "start-sent",
	    "the start was sent to cc-backend" },
	[HISTORY_START_TAKEN] = { "start-accepted",
	    "cc-backend accepted the start" },
	[HISTORY_COMMITTED] = { "committed",
	    "a listing of cc-backend shows the start as stored" },
	[HISTORY_STOP_SENT] = { "stop-sent",
	    "the stop was sent to cc-backend" },
	[HISTORY_STOP_TAKEN] = { "stop-accepted",
	    "cc-backend accepted the stop" },
	[HISTORY_META_SENT] = { "metadata",
	    "cc-backend accepted an update of the metadata" },
	[HISTORY_REJECTED] = { "rejected", NULL },
	[HISTORY_RETRY] = { "failed", NULL },
	[HISTORY_NATS_START] = { "nats-start",
	    "the start was published by NATS" },
	[HISTORY_NATS_STOP] = { "nats-stop", "the stop was published by NATS" },
	[HISTORY_NATS_REJECTED] = { "nats-rejected",
	    "the message cannot be published by NATS" },
	[HISTORY_DUPLICATE] = { "duplicate",
	    "cc-backend refused the start as a duplicate; its list of jobs "
	    "decides" },
	[HISTORY_REPEATED] = { "repeated",
	    "no listing showed the start in time: the start is repeated" },
	[HISTORY_LOST] = { "lost",
	    "cc-backend does not show the run any more: the start is "
	    "repeated" },
	[HISTORY_STOP_NO_RUN] = { "no-run",
	    "cc-backend does not know the run: the start is repeated before "
	    "the stop" },
	[HISTORY_STOP_LATE] = { "stopped-before",
	    "cc-backend had the run stopped before; its list of jobs decides" },
	[HISTORY_STOP_DIFFERS] = { "stopped-by-others",
	    "another client stopped the run in cc-backend; its state differs "
	    "from Slurm's" },
	[HISTORY_UNKNOWN] = { "unknown",
	    "Slurm does not know the run any more" },
	[HISTORY_OPTED_OUT] = { "opted-out",
	    "the job has the word of optOutWord: it is not sent" },
	[HISTORY_NEVER_RAN] = { "never-ran",
	    "Slurm requeued the job before it ran (a prolog failed, a node did "
	    "not boot, or it was preempted): this run is not sent" },
	[HISTORY_QUARANTINED] = { "quarantined",
	    "a process died twice while it handled the record" },
	[HISTORY_BLOCKED] = { "blocked",
	    "the start waits for an earlier run of the job" },
	[HISTORY_UNBLOCKED] = { "unblocked",
	    "the earlier run is settled, the start is due" },
	[HISTORY_RETRIED] = { "retried",
	    "an admin or a reload sends the run again" },
	[HISTORY_REPAIRED] = { "repaired",
	    "an admin repairs the run: it is deleted in cc-backend and sent "
	    "again" },
	[HISTORY_REPLACED] = { "replaced",
	    "a later run of the job replaces this run (requeuedRuns)" },
	[HISTORY_DELETED] = { "deleted", "the run was deleted in cc-backend" },
	[HISTORY_FOUND] = { "found",
	    "cc-backend lists the run as running; Slurm is queried for it" },
	[HISTORY_BACKFILL] = { "backfilled", NULL },
	[HISTORY_LISTED_STOPPED] = { "listed-stopped",
	    "a listing of cc-backend shows the run stopped" },
	[HISTORY_MORE] = { "more", "later events of this run were not kept" },
};

const char *
event_word(enum history_event event)
{
	return kinds[event].word;
}

static const char *
stored_text(uint64_t how)
{
	switch (how) {
	case STORED_RUNNING:
		return "running";
	case STORED_UNCONFIRMED:
		return "its start is not confirmed yet";
	default:
		return "ended";
	}
}

static const char *
hook_text(uint64_t kind)
{
	switch (kind) {
	case EVENT_START:
		return "PrologSlurmctld called the hook";
	case EVENT_END:
		return "EpilogSlurmctld called the hook";
	default:
		return "a hook was called";
	}
}

static void
ended_text(const struct history_item *item, int64_t start, char *buf,
    size_t size)
{
	int64_t seconds = item->b < INT32_MAX ? (int64_t)item->b : INT32_MAX;
	enum job_end end = item->a < END__COUNT ? (enum job_end)item->a :
						  END_NOT;

	snprintf(buf, size, "Slurm reports the end: %s at %s, after %s%s",
	    job_end_name(end), time_text(start + seconds),
	    duration_text(seconds * 1000),
	    end == END_REQUEUED ? "; a later run of the job may follow" : "");
}

static void
failed_text(const struct history_item *item, char *buf, size_t size)
{
	char times[48] = "";

	if (item->b > 1)
		snprintf(times, sizeof(times), ", %llu times, the last one now",
		    (unsigned long long)item->b);
	if (item->a == 0)
		snprintf(buf, size, "no answer of cc-backend: repeated%s",
		    times);
	else
		snprintf(buf, size,
		    "cc-backend answered with HTTP status %llu: repeated%s",
		    (unsigned long long)item->a, times);
}

void
event_text(const struct history_item *item, int64_t start, char *buf,
    size_t size)
{
	switch (item->event) {
	case HISTORY_HOOK:
		snprintf(buf, size, "%s", hook_text(item->a));
		break;
	case HISTORY_STORED:
	case HISTORY_BACKFILL:
		snprintf(buf, size, "the record was stored%s: %s, %llu node%s",
		    item->event == HISTORY_BACKFILL ? " by a backfill" : "",
		    stored_text(item->a), (unsigned long long)item->b,
		    item->b == 1 ? "" : "s");
		break;
	case HISTORY_ENDED:
		ended_text(item, start, buf, size);
		break;
	case HISTORY_REJECTED:
		snprintf(buf, size, "the %s is rejected for good",
		    item->a == REJECTED_START	     ? "start" :
			item->a == REJECTED_DELETION ? "deletion" :
						       "stop");
		break;
	case HISTORY_RETRY:
		failed_text(item, buf, size);
		break;
	default:
		snprintf(buf, size, "%s",
		    kinds[item->event].text != NULL ? kinds[item->event].text :
						      "");
		break;
	}
}

/* A sentence for each state; NULL: nothing waits. */
static const char *const meanings[RUN_STATE__COUNT] = {
	[START_DUE] = "the start waits to be sent",
	[START_DUE_ENDED] = "the start waits to be sent",
	[START_BLOCKED] =
	    "the start waits until an earlier run of the job is settled",
	[START_CONFLICT] =
	    "the start was refused as a duplicate; a list of cc-backend's jobs "
	    "is awaited",
	[STARTED] = "the run runs; a listing of cc-backend that shows the "
		    "start is awaited",
	[START_COMMITTED] = "cc-backend shows the run as running; the stop is "
			    "sent when Slurm reports its end",
	[STOP_BLOCKED] = "the run has ended; the stop waits until a listing of "
			 "cc-backend shows the start",
	[STOP_DUE] = "the stop waits to be sent",
	[START_REJECTED] = "the start was rejected",
	[STOP_REJECTED] = "the stop was rejected",
	[DELETE_DUE] = "the deletion in cc-backend waits to be sent",
	[STOP_CONFLICT] = "cc-backend had the run stopped; a list of its jobs "
			  "is awaited",
	[STOPPED_BY_OTHERS] = "another client stopped the run in cc-backend; "
			      "its state differs from Slurm's",
	[BACKFILL_HELD] =
	    "the run of a backfill waits for a list of cc-backend's jobs",
	[KEPT_REPLACEABLE] =
	    "delivered; a later run of the job may replace it (requeuedRuns)",
};

/* deliver "stream": what waits is a record of the run. */
static const char *
stream_meaning(const struct spool_run *run)
{
	switch (run->state[DEST_NATS]) {
	case START_DUE:
		return run->since[DEST_NATS] != 0 ?
		    "the changed record waits to be published to the stream" :
		    "the record waits to be published to the stream";
	case START_DUE_ENDED:
	case STOP_DUE:
		return "the record with the end waits to be published to the "
		       "stream";
	case STARTED:
		return "the stream has the record; the record is published "
		       "again when it changes";
	default:
		return NULL;
	}
}

static const char *
meaning(const struct spool_run *run, enum dest dest, int whole)
{
	const char *text = whole && dest == DEST_NATS ? stream_meaning(run) :
							NULL;

	if (text != NULL)
		return text;
	if (run->state[dest] == STARTED && dest == DEST_NATS)
		return "the run runs; the stop is published when Slurm reports "
		       "its end";
	if (run->state[dest] == START_REJECTED &&
	    (run->flags & RUN_UNCONFIRMED))
		return "Slurm does not know the run; nothing was sent";
	return meanings[run->state[dest]];
}

static int
is_due_state(enum run_state state)
{
	return state == START_DUE || state == START_DUE_ENDED ||
	    state == STOP_DUE || state == DELETE_DUE;
}

/* When the request is due; "" when that is not known. */
static void
due_text(const struct spool_run *run, enum dest dest, int64_t now, char *buf,
    size_t size)
{
	int64_t due = run->due[dest];

	*buf = '\0';
	if (!is_due_state(run->state[dest]))
		return;
	if (due == DUE_LEASED)
		snprintf(buf, size, "; it is being sent");
	else if (due == DUE_UNCONFIRMED)
		snprintf(buf, size,
		    "; Slurm has not shown the run as running yet");
	else if (due > now)
		snprintf(buf, size, "; due in %s", duration_text(due - now));
	else
		snprintf(buf, size, "; due now");
}

void
state_sentence(const struct spool_run *run, enum dest dest, int whole,
    int64_t now, char *buf, size_t size)
{
	const char *what = meaning(run, dest, whole);
	char due[96], tries[48] = "";

	*buf = '\0';
	if (what == NULL)
		return;
	due_text(run, dest, now, due, sizeof(due));
	if (run->tries[dest] > 0)
		snprintf(tries, sizeof(tries), "; %u failed tries",
		    run->tries[dest]);
	snprintf(buf, size, "%s%s%s%s%s", dest == DEST_NATS ? "NATS: " : "",
	    what, due, tries,
	    run->state[dest] == START_DUE_ENDED && !whole ?
		"; the run has ended, the stop follows" :
		"");
}

const char *
state_remedy(const struct spool_run *run, enum dest dest)
{
	if (run->flags & RUN_QUARANTINED)
		return "report the crash with the log; `cc-slurm-adapterctl "
		       "drop JOB` discards the run";
	switch (run->state[dest]) {
	case START_REJECTED:
		if (run->flags & RUN_UNCONFIRMED)
			return "none is necessary: the run is sent if Slurm "
			       "shows it again";
		return "correct the cause, then run `cc-slurm-adapterctl retry "
		       "JOB`; `drop JOB` discards the run";
	case STOP_REJECTED:
		return "correct the cause, then run `cc-slurm-adapterctl retry "
		       "JOB`; `drop JOB` discards the stop";
	case STOPPED_BY_OTHERS:
		return "run `cc-slurm-adapterctl repair JOB` to delete the run "
		       "in cc-backend and send it again, or `drop JOB` to "
		       "leave it as it is";
	default:
		return NULL;
	}
}
