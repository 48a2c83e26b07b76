/* SPDX-License-Identifier: MIT */
/*
 * Classifies an answer of cc-backend by its code and body, as cc-backend 1.3 to
 * 1.5 answer. No state, no side effect.
 */
#ifndef SUBMITTER_BACKEND_RESPONSE_H
#define SUBMITTER_BACKEND_RESPONSE_H

#include <stddef.h>
#include <stdint.h>

#include "submitter/net/http.h"

enum result_code {
	RESULT_DONE,  /* cc-backend has it */
	RESULT_RETRY, /* unknown or temporary: retried at growing intervals */
	/* the same, and other requests would fail as well */
	RESULT_UNREACHABLE,
	RESULT_CHECK, /* refused as a duplicate: jobs must be listed */
	RESULT_ACCEPTED_BEFORE, /* start: accepted before, not committed yet */
	RESULT_ALREADY_STOPPED, /* stop: the run was stopped before */
	RESULT_NO_RUN,		/* stop: no such run; the start is sent first */
	/* stop: cc-backend is older than assumed; retried for that version */
	RESULT_OLD_VERSION,
	/* start: cc-backend has another version than was probed */
	RESULT_REPROBE,
	RESULT_REJECTED, /* never accepted: kept with its reason */
	/* the token or this client's address is refused, or a proxy refuses */
	RESULT_UNAUTHORIZED,
	/* the address is not cc-backend's, or it accepts jobs only by NATS */
	RESULT_WRONG_ADDRESS,
	RESULT__COUNT
};

const char *result_name(enum result_code code);
const char *request_kind_name(enum request_kind what);

struct result {
	enum result_code code;
	enum request_kind what;
	int told; /* probe: the version is known now */
	/* as in the answer: a new connection was made */
	int new_connection;
	enum backend backend;
	/* code and cc-backend's error as one line */
	char text[400];
};

void response_classify(const struct http_answer *a, struct result *v);

/*
 * The answer to a stop names the run that was stopped (from 1.5). Returns 1
 * when it is another run than this, 0 when it is this run or the answer names
 * none.
 */
int response_names_other(const char *body, size_t len, uint64_t job,
    int64_t start);

#endif
