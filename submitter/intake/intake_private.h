/* SPDX-License-Identifier: MIT */
/* What the files of the backlog share. */
#ifndef SUBMITTER_INTAKE_INTAKE_PRIVATE_H
#define SUBMITTER_INTAKE_INTAKE_PRIVATE_H

#include "submitter/base/submitter.h"

#define RECORD_SHARE	32	/* of spoolMaxBytes: what one record may take */

/* A frame that is not yet durable. */
struct frame {
	struct frame	*next;
	uint16_t	 type;
	size_t		 len;
	uint8_t		 bytes[];
};

/* Why records of runs wait in memory, and not in the spool. */
enum hold {
	HOLD_NOT,
	HOLD_FULL,	/* it has what spoolMaxBytes allows */
	HOLD_DISK	/* the disk is full: the reserve alone is left */
};

struct backlog {
	struct submitter *s;
	struct channel	*collector;
	struct event	*timer;
	struct frame	*first, **last;	/* since the last commit, and what is held */
	struct frame	*next;		/* the first that is not applied */
	unsigned	 n_applied;	/* before it */
	size_t		 bytes;		/* of all */
	uint64_t	 seq;		/* of the last frame applied */
	uint64_t	 stored;	/* acknowledged */
	int		 armed;		/* ms the timer was set to, plus one; 0 = it rests */
	int		 stuck;		/* not even the reserve helped */
	int		 said_stuck;
	/* backlog_room.c */
	enum hold	 hold;
	int64_t		 room;		/* bytes until full, as last measured and used since */
	size_t		 needs;		/* what the first held record will take */
	int		 said_large;	/* the warning before it is full */
	int		 reserve;	/* there is one */
	int		 no_disk;	/* it was given up: only what is free in the file is left */
	int64_t		 scarce;	/* spool_now() when there was none to be made; 0 = there was */
	int		 evicting;	/* there may be more that can go */
	struct run_key	 skips[SKIPS_MAX];
	unsigned	 n_skips;
	struct log_limit refused;
	struct log_limit no_stub;
};

/* backlog.c */

/* flow to the collector, as things stand. */
void backlog_flow(struct backlog *b);

/* backlog_apply.c */

/* Puts one frame into the open transaction; the reader stands at its payload.
 * 0, or -1 for the disk; *bad: it was none. */
int frame_apply(struct backlog *b, uint16_t type, struct reader *r, int *bad);
/* Keeps the resources in a record that is held: 0, or -1 for the disk. */
int frame_stub(struct backlog *b, const struct frame *f);

/* backlog_room.c */

/* Is there room for this frame?  If not, it and all behind it are held. */
int room_for(struct backlog *b, const struct frame *f);
/* After each commit: says what is to be said, ends holding when there is room. */
void room_check(struct backlog *b);
/* While held: makes room, in small steps.  ms until the next step. */
int room_make(struct backlog *b);
/*
 * The disk took nothing: gives up the reserve, once.  1 when that may help, and
 * then all frames are held.
 */
int room_give_up(struct backlog *b);
/* Makes the reserve when there is none. */
void room_reserve(struct backlog *b);

#endif
