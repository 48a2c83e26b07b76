/* SPDX-License-Identifier: MIT */
/* The JSON of the lease: its value, and the answers of JetStream. */
#ifndef RECEIVER_LEASE_LEASE_JSON_H
#define RECEIVER_LEASE_LEASE_JSON_H

#include <stddef.h>

#include "common/codec.h"
#include "receiver/lease/lease.h"

/* The error of an answer, by code and err_code of JetStream. */
enum lease_error {
	LEASE_OK,
	LEASE_NO_STREAM, /* 404 */
	LEASE_NO_ENTRY,	 /* 404: the stream has no message */
	LEASE_CHANGED,	 /* the entry has another sequence */
	LEASE_ERROR	 /* any other */
};

struct lease_answer {
	enum lease_error error;
	char why[LEASE_WHY_MAX];  /* "" = no error */
	uint64_t seq;		  /* of a write; 0 = none */
	struct lease_entry entry; /* of a read; its id is 0 if it is invalid */
	int has_config;		  /* of a stream that exists */
};

/* The configuration of the bucket: create uses it. */
void lease_json_bucket(struct writer *w, unsigned replicas);
void lease_json_read_request(struct writer *w);
void lease_json_value(struct writer *w, const struct lease_value *value);
/* Returns 0, or -1 when the text is not the JSON of an answer. */
int lease_json_answer(struct lease_answer *a, const uint8_t *p, size_t n);

#define LEASE_STREAM  "KV_CC_LEASE"
#define LEASE_SUBJECT "$KV.CC_LEASE.centre"

#endif
