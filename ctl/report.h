/* SPDX-License-Identifier: MIT */
/* The parts of the page that `report` writes.  Each text is escaped. */
#ifndef CTL_REPORT_H
#define CTL_REPORT_H

#include <stdint.h>
#include <stdio.h>

#include "ctl/ctl.h"

/* Writes a text of any bytes so that no character of it is markup. */
void html_put(FILE *f, const char *text);

/*
 * Writes the rows of a table.  anonymize: "(removed)" replaces the texts that
 * can contain names of users and jobs.
 */
void report_table(FILE *f, int anonymize, const struct ctl_reply *reply,
    unsigned table);

/*
 * report_plots.c: the plots of the last day and the last 31 days, from rows of
 * CTL_T_HISTORY.  now: epoch.
 */
void report_plots(FILE *f, const struct ctl_reply *history, int64_t now);

/*
 * report_config.c: the keys of the configuration that contain no secret.  A
 * login in an address is left out.  anonymize: "(removed)" replaces the values
 * of the keys that contain names of users.
 */
void report_config(FILE *f, int anonymize, const char *path);

#endif
