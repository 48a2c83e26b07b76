/* SPDX-License-Identifier: MIT */
/* The classes of reasons for which a run is rejected, for the metrics. */
#ifndef SUBMITTER_BASE_REJECT_H
#define SUBMITTER_BASE_REJECT_H

enum reject_class {
	REJECT_INVALID,	  /* cc-backend: 4xx, a value is not valid */
	REJECT_TOO_LONG,  /* 413, or NATS: the message is too long */
	REJECT_DUPLICATE, /* cc-backend has another run of the job */
	REJECT_NO_RUN,	  /* cc-backend has no such run */
	REJECT_DATABASE,  /* 5xx: cc-backend's database refuses the run */
	REJECT_RECORD,	  /* no message can be made of the record */
	REJECT_UNKNOWN,	  /* Slurm does not know the run */
	REJECT__COUNT
};

/* A label: "invalid" and so on. */
const char *reject_class_name(enum reject_class class);
/*
 * The class of an answer from the HTTP code at the beginning of its text;
 * REJECT_RECORD if there is none.
 */
enum reject_class reject_class_of(const char *text);

#endif
