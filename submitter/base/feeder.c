/* SPDX-License-Identifier: MIT */
/* See context.h. */
#include "config.h"

#include "submitter/base/context.h"

struct channel *
submitter_feeder(const struct submitter *s)
{
	struct channel *const *peers = s->w->peers;

	return peers[ROLE_RECEIVER] != NULL ? peers[ROLE_RECEIVER] :
					      peers[ROLE_COLLECTOR];
}
