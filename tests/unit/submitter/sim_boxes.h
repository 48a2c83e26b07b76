/* SPDX-License-Identifier: MIT */
/*
 * The boxes that deliver and reconcile, connected as main.c of the submitter
 * connects them.  sim_boxes.c also has the functions of the HTTP client and of
 * the worker that no test reads.
 */
#ifndef TESTS_UNIT_SUBMITTER_SIM_BOXES_H
#define TESTS_UNIT_SUBMITTER_SIM_BOXES_H

#include "submitter/base/context.h"

/*
 * Opens a spool in dir, for cc-backend 1.5 and the cluster alpha, and makes the
 * boxes.  s is zero except for s->w.  Exits when the spool cannot be opened.
 */
void sim_boxes_begin(struct submitter *s, const char *dir);
/* Closes the spool and removes its files. */
void sim_boxes_end(struct submitter *s, const char *dir);

#endif
