/* SPDX-License-Identifier: MIT */
/* The members of a record's JSON: one table for the writer and the reader. */
#ifndef COMMON_RECORD_RECORD_MEMBERS_H
#define COMMON_RECORD_RECORD_MEMBERS_H

#include <stddef.h>
#include <stdint.h>

#include "common/model/job.h"

enum member_kind {
	MEMBER_SCHEMA,
	MEMBER_REVISION, /* uint64_t; always written */
	MEMBER_CLUSTER,
	MEMBER_JOB,   /* uint64_t from 1 to INT64_MAX */
	MEMBER_START, /* a time that is not 0 */
	MEMBER_TIME,  /* int64_t from 0 to TIME_S_MAX: times and durations */
	MEMBER_U64,
	MEMBER_U32,
	MEMBER_EXIT, /* int32_t; -1 is omitted */
	MEMBER_STATE,
	MEMBER_SHARED,
	MEMBER_TEXT,  /* char *, at most max bytes */
	MEMBER_FLAGS, /* an array of names */
	MEMBER_HOSTS
};

struct member {
	const char *name;
	enum member_kind kind;
	size_t at; /* in struct job */
	size_t max;
};

/* Ends with an element without a name; has less than 64 elements. */
extern const struct member record_members[];

/* The names of the bits of job.flags, from bit 0 on. */
#define RECORD_FLAGS 11
extern const char *const record_flags[RECORD_FLAGS];

/* The address of a member with the type of its kind. */
#define MEMBER_AT(job, m, type) ((type *)(void *)((char *)(job) + (m)->at))

#endif
