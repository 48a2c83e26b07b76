/* SPDX-License-Identifier: MIT */
/* How long the spool remembers a run that is delivered. */
#ifndef SUBMITTER_BASE_TOMB_AGE_H
#define SUBMITTER_BASE_TOMB_AGE_H

#include <stdint.h>

#include "common/model/conf.h"

/*
 * Seconds that a tombstone is kept after the end of its run: as long as a record
 * of the run may come again.
 */
int64_t tomb_age(const struct conf *conf);

#endif
