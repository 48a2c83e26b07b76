/* SPDX-License-Identifier: MIT */
/*
 * Tells whether slurmctld and slurmdbd answer.  The log has one line when a
 * daemon does not answer and one line when the daemon answers again.  During an
 * outage the time between two queries grows up to one poll interval, 60 s at most,
 * because more queries do not help a daemon that starts under load.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "collector/base/cluster.h"
#include "common/log.h"
#include "common/text/time_text.h"

#define WAIT_FIRST_MS	1000
#define WAIT_MAX_MS	60000 /* also of a longer poll interval */
#define REFUSED_WAIT_MS 5000  /* ten tokens are refilled */

void
health_good(struct health *h)
{
	h->answered = now_wall();
	h->answered_ms = now_ms();
	h->fails = 0;
	h->next = 0;
	if (!h->away)
		return;
	h->away = 0;
	h->returned = 1;
	if (h->logged) {
		log_about(LOG_ID_SLURM_UP, NULL, 0);
		log_notice("%s answers again after %s", h->name,
		    duration_text(h->answered_ms - h->since_ms));
	}
}

/*
 * slurmctld refuses a query because our user has sent too many requests.
 * slurmctld is up; the next query waits.  Slurm's commands repeat a refused
 * request themselves, so this answer comes from another client or from a
 * wrapper of a command.
 */
static int
is_refusal(struct health *h, const char *why)
{
	if (strstr(why, "Rate limit exceeded") == NULL)
		return 0;
	h->refused++;
	h->next = now_ms() + REFUSED_WAIT_MS;
	log_limited(&h->refusals, log_notice,
	    "%s refuses, too many requests were made as this user: the next "
	    "query is in %s",
	    h->name, duration_text(REFUSED_WAIT_MS));
	return 1;
}

static int64_t
wait_most(const struct health *h)
{
	return h->wait_max_ms > 0 && h->wait_max_ms < WAIT_MAX_MS ?
	    h->wait_max_ms :
	    WAIT_MAX_MS;
}

void
health_denies(struct health *h)
{
	h->next = now_ms() + wait_most(h);
}

void
health_bad(struct health *h, const char *why)
{
	int64_t wait = WAIT_FIRST_MS, most = wait_most(h);
	unsigned i, suppressed;

	if (is_refusal(h, why))
		return;
	for (i = 0; i < h->fails && wait < most; i++)
		wait *= 2;
	if (wait > most)
		wait = most;
	h->fails++;
	h->next = now_ms() + wait;
	snprintf(h->why, sizeof(h->why), "%s", why);
	if (h->away) {
		log_debug("%s: %s; again in %lld s", h->name, why,
		    (long long)wait / 1000);
		return;
	}
	h->away = 1;
	h->since = now_wall();
	h->since_ms = now_ms();
	/* Queries may fail and succeed alternately. */
	h->logged = log_allowed(&h->limit, &suppressed);
	if (h->logged) {
		log_about(LOG_ID_SLURM_DOWN, NULL, 0);
		log_warnx("%s does not answer: %s; the query is repeated, "
			  "nothing is skipped",
		    h->name, why);
	}
}

int64_t
health_wait(const struct health *h)
{
	int64_t left = h->next - now_ms();

	return h->next != 0 && left > 0 ? left : 0;
}
