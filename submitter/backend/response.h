/* SPDX-License-Identifier: MIT */
/*
 * The one place where an answer of cc-backend becomes a decision.  By code
 * and body, as cc-backend 1.3 to 1.5 answer; no state, no side effect.
 */
#ifndef SUBMITTER_BACKEND_RESPONSE_H
#define SUBMITTER_BACKEND_RESPONSE_H

#include <stddef.h>

#include "submitter/payload/payload.h"

/* What was asked. */
enum what {
	WHAT_PROBE,	/* the harmless start that tells the version */
	WHAT_CLUSTERS,	/* GET clusters/ */
	WHAT_START,
	WHAT_STOP,
	WHAT_LIST,	/* GET jobs/ */
	WHAT_NODES,	/* nodestate/ */
	WHAT_META,	/* edit_meta/ */
	WHAT_DELETE,	/* delete_job/ */
	WHAT__COUNT
};

enum outcome {
	OUT_DONE,	/* it has it */
	OUT_RETRY,	/* unknown or not now: again, with growing waits */
	OUT_AWAY,	/* the same, and others would fare no better */
	OUT_ASK_BACK,	/* a double of something: a listing must tell */
	OUT_CACHED,	/* start: accepted before, not yet committed */
	OUT_CLOSED,	/* stop: it had been stopped before */
	OUT_NO_RUN,	/* stop: it knows no such run: the start goes first */
	OUT_OLDER,	/* stop: it is older than thought: again, as that one wants it */
	OUT_REPROBE,	/* start: another version than was probed: ask it anew */
	OUT_REJECTED,	/* never so again: kept with its reason */
	OUT_STOP_LINE,	/* token or address refused */
	OUT_CONFIG,	/* not an address of cc-backend, or one that takes jobs by NATS only */
	OUT__COUNT
};

const char *outcome_name(enum outcome outcome);
const char *what_name(enum what what);

/* One answer.  code 0: there was none, error says why. */
struct answer {
	enum what	 what;
	long		 code;		/* HTTP's */
	const char	*body;		/* borrowed; not NUL-terminated; may be NULL */
	size_t		 len;
	const char	*error;		/* of the transport; NULL = none */
	enum backend	 backend;	/* who is asked, as far as known */
	unsigned	 sends;		/* how often it went out; 0 = not known */
	int		 fresh;		/* over a connection made for it */
};

struct verdict {
	enum outcome	 outcome;
	int		 told;		/* probe: backend is known now */
	int		 fresh;		/* as in the answer: it may be another one */
	enum backend	 backend;
	char		 text[400];	/* code and cc-backend's words, one clean line */
};

void outcome_judge(const struct answer *a, struct verdict *v);

/*
 * The stop's answer names the run that was stopped (from 1.5): 1 when it is
 * another one than this, 0 when it is this one or the answer does not tell.
 */
int outcome_hit_other(const char *body, size_t len, uint64_t job,
    int64_t start);

#endif
