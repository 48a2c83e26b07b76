/* SPDX-License-Identifier: MIT */
/* See role.h. */
#include "config.h"

#include "submitter/base/context.h"

void
role_set(struct submitter *s, int passive, int64_t stop_delay)
{
	s->role.passive = passive;
	s->role.stop_delay = stop_delay;
}

int
role_is_passive(const struct submitter *s)
{
	return s->role.passive || s->role.unlisted;
}

int64_t
role_stop_delay(const struct submitter *s)
{
	return s->role.stop_delay;
}
