/* SPDX-License-Identifier: MIT */
/* The random part of waits, in a file of its own: tests replace it. */
#include "config.h"

#include "common/backoff.h"
#include "submitter/base/timer.h"

int64_t
timer_jitter(int64_t ms)
{
	return backoff_jitter(ms);
}
