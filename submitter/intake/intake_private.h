/* SPDX-License-Identifier: MIT */
/* What the files of the intake share. */
#ifndef SUBMITTER_INTAKE_INTAKE_PRIVATE_H
#define SUBMITTER_INTAKE_INTAKE_PRIVATE_H

#include <stddef.h>

#include "common/log.h"
#include "submitter/base/context.h"
#include "submitter/intake/intake.h"

#define RECORD_SHARE	32	/* of spoolMaxBytes: what one record may take */

/* A frame that is not yet durable. */
struct intake_frame {
	struct intake_frame	*next;
	uint16_t	 type;
	size_t		 len;
	uint8_t		 bytes[];
};

/* Why records of runs wait in memory, and not in the spool. */
enum space_state {
	SPACE_OK,
	SPACE_FULL,	/* it has what spoolMaxBytes allows */
	SPACE_DISK_FULL	/* the disk is full: the reserve alone is left */
};

struct intake {
	struct submitter *s;
	const struct intake_ops *ops;
	struct channel	*collector;
	struct event	*timer;
	struct intake_frame	*first, **last;	/* since the last commit, and what is held */
	struct intake_frame	*next;		/* the first that is not applied */
	unsigned	 n_applied;	/* before it */
	size_t		 bytes;		/* of all */
	uint64_t	 seq;		/* of the last frame applied */
	uint64_t	 stored;	/* acknowledged */
	int		 armed;		/* ms the timer was set to, plus one; 0 = it rests */
	/* space.c */
	enum space_state	 space;
	int64_t		 room;		/* bytes until full, as last measured and used since */
	size_t		 needs;		/* what the first held record will take */
	int		 said_large;	/* the warning before it is full */
	int		 reserve;	/* there is one */
	int		 no_disk;	/* it was given up: only what is free in the file is left */
	int64_t		 scarce;	/* spool_now() when there was none to be made; 0 = there was */
	int		 evicting;	/* there may be more that can go */
	struct run_key	 quarantined[QUARANTINE_MAX];
	unsigned	 n_quarantined;
	struct log_limit refused;
	struct log_limit no_resources;
};

/* apply.c */

/* Puts one frame into the open transaction; the reader stands at its payload.
 * 0, or -1 for the disk; *bad: it was none. */
int frame_apply(struct intake *b, uint16_t type, struct reader *r, int *bad);
/* Keeps the resources in a record that is held: 0, or -1 for the disk. */
int frame_resources(struct intake *b, const struct intake_frame *f);

/* space.c */

/* Is there room for this frame?  If not, it and all behind it are held. */
int space_admit(struct intake *b, const struct intake_frame *f);
/* After each commit: says what is to be said, ends holding when there is room. */
void space_check(struct intake *b);
/* While held: makes room, in small steps.  ms until the next step. */
int space_free_some(struct intake *b);
/*
 * The disk took nothing: gives up the reserve, once.  1 when that may help, and
 * then all frames are held.
 */
int space_release_reserve(struct intake *b);
/* Makes the reserve when there is none. */
void space_make_reserve(struct intake *b);

#endif
