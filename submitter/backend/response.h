/* SPDX-License-Identifier: MIT */
/*
 * The one place where an answer of cc-backend becomes a decision.  By code
 * and body, as cc-backend 1.3 to 1.5 answer; no state, no side effect.
 */
#ifndef SUBMITTER_BACKEND_RESPONSE_H
#define SUBMITTER_BACKEND_RESPONSE_H

#include <stddef.h>
#include <stdint.h>

#include "submitter/net/http.h"

enum result_code {
	RESULT_DONE,	/* it has it */
	RESULT_RETRY,	/* unknown or not now: again, with growing waits */
	RESULT_UNREACHABLE,	/* the same, and others would fare no better */
	RESULT_CHECK,	/* a double of something: a listing must tell */
	RESULT_ACCEPTED_BEFORE,	/* start: accepted before, not yet committed */
	RESULT_ALREADY_STOPPED,	/* stop: it had been stopped before */
	RESULT_NO_RUN,	/* stop: it knows no such run: the start goes first */
	RESULT_OLD_VERSION,	/* stop: it is older than thought: again, as that one wants it */
	RESULT_REPROBE,	/* start: another version than was probed: ask it anew */
	RESULT_REJECTED,	/* never so again: kept with its reason */
	RESULT_UNAUTHORIZED,	/* token or address refused */
	RESULT_WRONG_ADDRESS,	/* not an address of cc-backend, or one that takes jobs by NATS only */
	RESULT__COUNT
};

const char *result_name(enum result_code code);
const char *request_kind_name(enum request_kind what);

struct result {
	enum result_code	 code;
	int		 told;		/* probe: backend is known now */
	int		 fresh;		/* as in the answer: it may be another one */
	enum backend	 backend;
	char		 text[400];	/* code and cc-backend's words, one clean line */
};

void response_classify(const struct http_answer *a, struct result *v);

/*
 * The stop's answer names the run that was stopped (from 1.5): 1 when it is
 * another one than this, 0 when it is this one or the answer does not tell.
 */
int response_names_other(const char *body, size_t len, uint64_t job,
    int64_t start);

#endif
