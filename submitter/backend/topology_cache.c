/* SPDX-License-Identifier: MIT */
/*
 * cc-backend's clusters, stored in the spool for a start while cc-backend is
 * unreachable.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "submitter/backend/breaker.h"
#include "submitter/base/context.h"
#include "submitter/payload/topology.h"
#include "submitter/spool/commit.h"
#include "submitter/spool/spool.h"

#define TOPOLOGY "topology" /* key of the value in the spool */

int
topology_cache_store(struct submitter *s, const struct http_answer *a)
{
	char reason[256], *old;
	size_t n;

	if (a->body == NULL ||
	    topology_load(s->topology, a->body, a->len, reason,
		sizeof(reason)) == -1) {
		log_warnx("the clusters of cc-backend are invalid: %s",
		    a->body != NULL ? reason : "empty answer");
		return -1;
	}
	old = spool_value_get(s->spool, TOPOLOGY, &n);
	if (old == NULL || n != a->len || memcmp(old, a->body, n) != 0) {
		spool_value_set(s->spool, TOPOLOGY, a->body, a->len);
		commit_soon(s->commit);
	}
	free(old);
	return 0;
}

void
topology_cache_load(struct submitter *s)
{
	char reason[256];
	size_t n;
	char *text = spool_value_get(s->spool, TOPOLOGY, &n);

	if (text != NULL &&
	    topology_load(s->topology, text, n, reason, sizeof(reason)) == -1)
		log_warnx("the topology stored in the spool is invalid: %s",
		    reason);
	free(text);
}
