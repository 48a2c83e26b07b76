/* SPDX-License-Identifier: MIT */
/* What the JSON of squeue, scontrol and sacct has in common; see json_read.h. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "collector/parse/json_read.h"

#define ROWS_MAX	64	/* bits of json_job.seen */

void
json_lacks(const struct json_job *j, const char *field)
{
	if (j->how->lacks != NULL)
		j->how->lacks(j->s->job.key.job, field, j->how->arg);
}

static const struct json_field *
row_find(const struct json_field *rows, struct span key)
{
	/* Most rows are told apart by their first byte. */
	for (; key.n > 0 && rows->key != NULL; rows++)
		if (*key.p == *rows->key && span_is(key, rows->key))
			return rows;
	return NULL;
}

/* -1: it was needed. */
static int
row_read(const struct json_field *row, struct span value, struct json_job *j)
{
	if (row->inside != NULL && json_kind(value) == JSON_OBJECT)
		return json_fields(value, row->inside, j) == -1 &&
		    row->needed ? -1 : 0;
	if (row->inside == NULL && row->get(value, j) == 0)
		return 0;
	json_lacks(j, row->key);
	return row->needed ? -1 : 0;
}

int
json_fields(struct span object, const struct json_field *rows,
    struct json_job *j)
{
	const struct json_field *row;
	struct json_iter it;
	struct span key, value;
	uint64_t seen = 0;
	size_t i;
	int rc = 0;

	json_iter_object(&it, object);
	while (json_member(&it, &key, &value)) {
		row = row_find(rows, key);
		if (row == NULL)
			continue;
		seen |= UINT64_C(1) << (row - rows);
		if (row_read(row, value, j) == -1)
			rc = -1;
	}
	for (i = 0; i < ROWS_MAX && rows[i].key != NULL; i++) {
		if ((seen >> i & 1) != 0 || rows[i].optional)
			continue;
		json_lacks(j, rows[i].key);
		if (rows[i].needed)
			rc = -1;
	}
	return it.err ? -1 : rc;
}

int
json_get_count(struct span v, int64_t *n)
{
	*n = 0;
	switch (json_number(v, n)) {
	case JSON_NUMBER_SET:
		return *n < 0 ? -1 : 0;
	case JSON_NUMBER_UNSET:
	case JSON_NUMBER_INFINITE:
		*n = 0;
		return 0;
	default:
		return -1;
	}
}

static int
count_u32(struct span v, uint32_t *to)
{
	int64_t n;

	if (json_get_count(v, &n) == -1 || n > UINT32_MAX)
		return -1;
	*to = (uint32_t)n;
	return 0;
}

int
json_get_id(struct span v, struct json_job *j)
{
	int64_t n;

	if (json_get_count(v, &n) == -1 || n == 0)
		return -1;
	j->s->job.key.job = (uint64_t)n;
	return 0;
}

/* Null is the empty text of 22.05; what text would print as "(null)" is none. */
static int
text_get(struct span v, char **to)
{
	if (json_kind(v) == JSON_NULL || json_is(v, "(null)"))
		return 0;
	if (json_kind(v) != JSON_STRING)
		return -1;
	free(*to);	/* it may stand there twice */
	*to = json_text(v, TEXT_MAX);
	return 0;
}

#define TEXT_GETTER(member)						\
int									\
json_get_##member(struct span v, struct json_job *j)			\
{									\
	return text_get(v, &j->s->job.member);				\
}

TEXT_GETTER(account)
TEXT_GETTER(user)
TEXT_GETTER(partition)
TEXT_GETTER(qos)
TEXT_GETTER(name)
TEXT_GETTER(admin_comment)

/* sacct of 22.05 says 0 for none. */
int
json_get_reservation(struct span v, struct json_job *j)
{
	if (json_kind(v) == JSON_NUMBER)
		return 0;
	return text_get(v, &j->s->job.reservation);
}

int
json_get_reason(struct span v, struct json_job *j)
{
	if (json_is(v, "None"))
		return 0;
	return text_get(v, &j->s->job.reason);
}

/*
 * One word, or an array of the base state and its flags: a flag, which comes
 * last, says more, as in text.  A flag that says nothing of the run's life
 * (POWER_UP_NODE, UPDATE_DB, one that nobody has seen yet) takes nothing away
 * from the word before it.
 */
int
json_get_state(struct span v, struct json_job *j)
{
	const struct job_state *state = NULL, *word;
	struct json_iter it;
	struct span item, raw;

	if (json_kind(v) == JSON_STRING) {
		json_raw(v, &raw);
		state = state_word(raw);
	} else {
		json_iter_array(&it, v);
		while (json_item(&it, &item)) {
			json_raw(item, &raw);
			word = state_word(raw);
			/* What waits and is COMPLETING was requeued. */
			if (word->phase != PHASE_UNKNOWN && (state == NULL ||
			    state->phase != PHASE_PENDING ||
			    word->phase != PHASE_COMPLETING))
				state = word;
		}
	}
	if (state == NULL || state->phase == PHASE_UNKNOWN)
		return -1;
	j->s->state = state;
	return 0;
}

static int
time_get(struct span v, int64_t *to)
{
	int64_t n;

	if (json_get_count(v, &n) == -1)
		return -1;
	*to = n;
	return 0;
}

int
json_get_submit(struct span v, struct json_job *j)
{
	return time_get(v, &j->s->job.submit);
}

int
json_get_start(struct span v, struct json_job *j)
{
	return time_get(v, &j->s->job.key.start);
}

int
json_get_end(struct span v, struct json_job *j)
{
	return time_get(v, &j->end);
}

/* Minutes; unlimited and not yet known are both 0. */
int
json_get_limit(struct span v, struct json_job *j)
{
	int64_t n;

	if (json_get_count(v, &n) == -1 || n > INT64_MAX / 60)
		return -1;
	/* NO_VAL and INFINITE of 32 bits, as 22.05 may print them. */
	j->s->job.walltime = n >= 0xfffffffe ? 0 : n * 60;
	return 0;
}

int
json_get_array_job(struct span v, struct json_job *j)
{
	int64_t n;

	if (json_get_count(v, &n) == -1)
		return -1;
	j->s->job.array_job = (uint64_t)n;
	return 0;
}

int
json_get_array_task(struct span v, struct json_job *j)
{
	return count_u32(v, &j->s->job.array_task);
}

int
json_get_het_job(struct span v, struct json_job *j)
{
	int64_t n;

	if (json_get_count(v, &n) == -1)
		return -1;
	j->s->job.het_job = (uint64_t)n;
	return 0;
}

int
json_get_het_offset(struct span v, struct json_job *j)
{
	return count_u32(v, &j->s->job.het_offset);
}

int
json_get_restarts(struct span v, struct json_job *j)
{
	return count_u32(v, &j->s->job.restarts);
}

int
json_get_nodes(struct span v, struct json_job *j)
{
	if (json_kind(v) != JSON_STRING && json_kind(v) != JSON_NULL)
		return -1;
	json_raw(v, &j->nodes);
	return 0;
}

int
json_get_exit(struct span v, struct json_job *j)
{
	j->exit_code = v;
	return json_exit_status(v) == -1 ? -1 : 0;
}

int
json_get_memory_cpu(struct span v, struct json_job *j)
{
	return json_get_count(v, &j->memory_cpu);
}

int
json_get_memory_node(struct span v, struct json_job *j)
{
	return json_get_count(v, &j->memory_node);
}

/* "SIGNALED", or an array with it. */
static int
is_signaled(struct span status)
{
	struct json_iter it;
	struct span item;

	if (json_kind(status) == JSON_STRING)
		return json_is(status, "SIGNALED");
	json_iter_array(&it, status);
	while (json_item(&it, &item))
		if (json_is(item, "SIGNALED"))
			return 1;
	return 0;
}

/* 22.05: {"signal_id": 9, "name": "KILL"}; later {"id": {...}}. */
static int
signal_get(struct span v, int64_t *number)
{
	struct span part, id;

	*number = 0;
	if (json_get(v, "signal", &part) == JSON_NONE)
		return json_get(v, "status", &part) != JSON_NONE &&
		    is_signaled(part) ? -1 : 0;
	if (json_get(part, "id", &id) == JSON_NONE &&
	    json_get(part, "signal_id", &id) == JSON_NONE)
		return -1;
	return json_get_count(id, number) == -1 || *number > 127 ? -1 : 0;
}

/* 22.05: a number as wait(2) has it, or {status, return_code, signal}. */
int32_t
json_exit_status(struct span v)
{
	int64_t code = 0, number;
	struct span part;

	if (json_kind(v) == JSON_NUMBER)
		return json_get_count(v, &code) == 0 && code <= INT32_MAX ?
		    (int32_t)code : -1;
	if (json_get(v, "return_code", &part) == JSON_NONE ||
	    json_get_count(part, &code) == -1 || code > 255 ||
	    signal_get(v, &number) == -1)
		return -1;
	return (int32_t)(code << 8 | number);
}
