/* SPDX-License-Identifier: MIT */
/*
 * A record that makes a worker crash must not do so for ever.  A worker writes
 * the key of the run that it handles into its inflight page.  After two crashes
 * with the same key within a day, the run is in quarantine: the workers that read records
 * get its key and skip its records.
 */
#include "config.h"

#include <sys/wait.h>

#include <signal.h>
#include <string.h>

#include "common/clock.h"
#include "supervisor/workers/workers.h"

static struct crash_record *
crash_record_of(struct workers *w, const struct run_key *key)
{
	struct crash_record *s;
	unsigned i;

	for (i = 0; i < w->n_crash_records; i++) {
		if (run_key_equal(&w->crash_records[i].key, key))
			return &w->crash_records[i];
	}
	if (w->n_crash_records == CRASH_RECORDS_MAX) {
		memmove(w->crash_records, w->crash_records + 1,
		    (CRASH_RECORDS_MAX - 1) * sizeof(*s));
		w->n_crash_records--;
	}
	s = &w->crash_records[w->n_crash_records++];
	s->key = *key;
	s->crashes = 0;
	return s;
}

/*
 * Only these handle records.  Another worker could suppress a run of its choice
 * if it had an inflight page.
 */
int
child_reads_records(const struct child *c)
{
	return c->role == ROLE_COLLECTOR || c->role == ROLE_SUBMITTER ||
	    c->role == ROLE_RECEIVER;
}

static void
quarantine_send(struct child *c, const struct run_key *key)
{
	struct writer w;

	if (c->channel == NULL || !child_reads_records(c))
		return;
	wr_init(&w, sizeof(*key) + 64);
	wr_run_key(&w, key);
	channel_send(c->channel, MSG_QUARANTINE, 0, &w, -1);
	wr_clear(&w);
}

/*
 * A kill by the admin or by the kernel (out of memory) is not caused by the
 * run in the inflight page: records are bounded, and no run may be lost because
 * a machine was overloaded twice.  When the supervisor has killed the worker,
 * it did not answer or broke the protocol, which the run may have caused.
 */
static int
killed_from_outside(const struct child *c, int status)
{
	return c->kill_reason == NULL && WIFSIGNALED(status) &&
	    (WTERMSIG(status) == SIGKILL || WTERMSIG(status) == SIGTERM);
}

void
quarantine_note_exit(struct child *c, int status)
{
	struct workers *w = c->workers;
	struct run_key key;
	struct crash_record *s;
	int role;

	if (!child_reads_records(c) || killed_from_outside(c, status) ||
	    !inflight_read(c->inflight, &key))
		return;
	s = crash_record_of(w, &key);
	if (s->crashes < QUARANTINE_CRASHES &&
	    clock_ms() - s->at > QUARANTINE_WITHIN)
		s->crashes = 0;
	s->at = clock_ms();
	s->crashes++;
	if (s->crashes < QUARANTINE_CRASHES) {
		log_warnx("the %s crashed while it handled %s; after another "
			  "crash the run is put in quarantine",
		    role_name(c->role), run_key_text(&key));
		return;
	}
	log_about(LOG_ID_QUARANTINED, key.cluster, key.job);
	log_errorx("the %s crashed again while it handled %s: the run is put "
		   "in quarantine",
	    role_name(c->role), run_key_text(&key));
	for (role = WORKER_FIRST; role <= WORKER_LAST; role++) {
		if (w->children[role].state == CHILD_READY)
			quarantine_send(&w->children[role], &key);
	}
}

void
quarantine_send_all(struct child *c)
{
	const struct workers *w = c->workers;
	unsigned i;

	for (i = 0; i < w->n_crash_records; i++) {
		if (w->crash_records[i].crashes >= QUARANTINE_CRASHES)
			quarantine_send(c, &w->crash_records[i].key);
	}
}
