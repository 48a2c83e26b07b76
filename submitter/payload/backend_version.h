/* SPDX-License-Identifier: MIT */
/* Versions of cc-backend that accept different fields and values. */
#ifndef SUBMITTER_PAYLOAD_BACKEND_VERSION_H
#define SUBMITTER_PAYLOAD_BACKEND_VERSION_H

enum backend {
	BACKEND_1_3,   /* 1.2.2 to 1.3.1 */
	BACKEND_1_4_0, /* 1.4.0 to 1.4.2: tags have a scope */
	BACKEND_1_4_3, /* 1.4.3, 1.4.4: accepts a stop at the start time */
	BACKEND_1_5    /* 1.5.0 and later; also while unknown */
};

/* "1.5.4", "1.4", "1.5"; BACKEND_1_5 for "auto" and later versions. */
enum backend backend_of(const char *version);

#endif
