/* SPDX-License-Identifier: MIT */
/*
 * Counters of one minute or hour.  A sum and its number give an average; a
 * maximum is kept beside them.
 */
#ifndef SUBMITTER_HISTORY_COUNTERS_H
#define SUBMITTER_HISTORY_COUNTERS_H

#include <stddef.h>
#include <stdint.h>

/* The numbers are stored: add new ones at the end. */
enum history_counter {
	COUNT_JOBS_IN,	    /* new runs stored */
	COUNT_STARTS,	    /* starts accepted; NATS only: published */
	COUNT_STOPS,	    /* stops accepted; NATS only: published */
	COUNT_REJECTED,	    /* runs rejected for good */
	COUNT_RETRIES,	    /* requests that failed and are repeated */
	COUNT_WAITING_MAX,  /* runs that wait for a request, at most */
	COUNT_RUNNING_MAX,  /* runs that are open in cc-backend, at most */
	COUNT_HOOK_MS,	    /* hook until the start was accepted: sum */
	COUNT_HOOK_N,	    /* how many */
	COUNT_HOOK_MS_MAX,  /* the longest */
	COUNT_END_MS,	    /* end in Slurm until the stop was accepted: sum */
	COUNT_END_N,	    /* how many */
	COUNT_END_MS_MAX,   /* the longest */
	COUNT_BACKEND_AWAY, /* seconds that cc-backend did not answer */
	COUNT_NATS_AWAY,    /* seconds without the NATS server */
	COUNT_RESTARTS,	    /* starts of the submitter */
	COUNT_CTLD_AWAY,    /* seconds that slurmctld did not answer */
	COUNT_CTLD_MS,	    /* times of commands that ask slurmctld: sum */
	COUNT_CTLD_N,	    /* how many */
	COUNT_CTLD_MS_MAX,  /* the longest */
	COUNT_DBD_AWAY,	    /* seconds that slurmdbd did not answer */
	COUNT_DBD_MS,	    /* times of commands that ask slurmdbd: sum */
	COUNT_DBD_N,	    /* how many */
	COUNT_DBD_MS_MAX,   /* the longest */
	COUNT__COUNT
};

enum history_span {
	SPAN_MINUTE,
	SPAN_HOUR
};

#define COUNT_MINUTES 1440 /* minutes kept: a day */
#define COUNT_HOURS   744  /* hours kept: 31 days */

struct history_counts {
	uint64_t n[COUNT__COUNT];
};

/* The name of the counter in a row: "jobs_in". */
const char *counter_name(enum history_counter which);
/* Adds value, or takes the larger one of a maximum. */
void counts_add(struct history_counts *c, enum history_counter which,
    uint64_t value);
/* Adds each counter of from. */
void counts_merge(struct history_counts *c, const struct history_counts *from);
int counts_empty(const struct history_counts *c);

#define COUNTS_BYTES_MAX (COUNT__COUNT * 11)
/* Writes the counters that are not 0; returns the number of bytes. */
size_t counts_write(const struct history_counts *c,
    uint8_t buf[COUNTS_BYTES_MAX]);
/* Returns 0, or -1 when the bytes are not valid; unknown numbers are skipped. */
int counts_read(struct history_counts *c, const uint8_t *p, size_t n);

#endif
