/* SPDX-License-Identifier: MIT */
/*
 * One poison record must not crash a worker for ever.  A worker chalks up the
 * run that it handles on its slate; when two deaths name the same run, it is
 * to be set aside, and everybody who could meet it is told.
 */
#include "config.h"

#include <sys/wait.h>

#include <signal.h>
#include <string.h>

#include "supervisor/system/supervisor.h"

#define DEATHS_ENOUGH	2

static struct suspect *
suspect_of(struct supervisor *sup, const struct run_key *key)
{
	struct suspect *s;
	unsigned i;

	for (i = 0; i < sup->n_suspects; i++) {
		if (run_key_equal(&sup->suspects[i].key, key))
			return &sup->suspects[i];
	}
	if (sup->n_suspects == SUSPECTS_MAX) {
		memmove(sup->suspects, sup->suspects + 1,
		    (SUSPECTS_MAX - 1) * sizeof(*s));
		sup->n_suspects--;
	}
	s = &sup->suspects[sup->n_suspects++];
	s->key = *key;
	s->deaths = 0;
	return s;
}

static void
tell(struct child *c, const struct run_key *key)
{
	struct writer w;

	if (c->channel == NULL)
		return;
	wr_init(&w, sizeof(*key) + 64);
	wr_run_key(&w, key);
	channel_send(c->channel, MSG_QUARANTINE, 0, &w, -1);
	wr_clear(&w);
}

/*
 * Somebody's kill -9, or the kernel's for want of memory, says nothing about
 * the run that happened to be in hand: records are bounded, and nobody's run
 * is to be lost because a machine was in trouble twice.  A worker that we
 * killed ourselves was deaf or broke a rule, and that may be the run's doing.
 */
static int
killed_from_outside(const struct child *c, int status)
{
	return c->killed_for == NULL && WIFSIGNALED(status) &&
	    (WTERMSIG(status) == SIGKILL || WTERMSIG(status) == SIGTERM);
}

void
poison_note(struct child *c, int status)
{
	struct supervisor *sup = c->sup;
	struct run_key key;
	struct suspect *s;
	int role;

	if (killed_from_outside(c, status) || !inflight_read(c->inflight, &key))
		return;
	s = suspect_of(sup, &key);
	s->deaths++;
	if (s->deaths < DEATHS_ENOUGH) {
		log_warnx("the %s died while it handled job %llu of cluster "
		    "%s; once more and that run is set aside",
		    role_name(c->role), (unsigned long long)key.job,
		    key.cluster);
		return;
	}
	log_errorx("the %s died again while it handled job %llu of cluster "
	    "%s (start %lld): that run is set aside", role_name(c->role),
	    (unsigned long long)key.job, key.cluster, (long long)key.start);
	for (role = WORKER_FIRST; role <= WORKER_LAST; role++) {
		if (sup->children[role].state == CHILD_SERVING)
			tell(&sup->children[role], &key);
	}
}

void
poison_tell(struct child *c)
{
	const struct supervisor *sup = c->sup;
	unsigned i;

	for (i = 0; i < sup->n_suspects; i++) {
		if (sup->suspects[i].deaths >= DEATHS_ENOUGH)
			tell(c, &sup->suspects[i].key);
	}
}
