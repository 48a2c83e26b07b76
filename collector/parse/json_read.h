/* SPDX-License-Identifier: MIT */
/*
 * The JSON readers: the same sightings that the text readers make (read.h),
 * of squeue's, scontrol's and sacct's --json from 21.08 on.  Both shapes of
 * every field that changed are read.  A field that is missing or of another
 * type costs that field of that job, and is named; only a job without id,
 * state or times is none.
 */
#ifndef COLLECTOR_PARSE_JSON_READ_H
#define COLLECTOR_PARSE_JSON_READ_H

#include "collector/parse/parse.h"
#include "common/json.h"

struct json_reading {
	const struct read_options *how;
	/* The shape of a host, needed to count its threads; -1 = unknown. May be NULL. */
	int	(*shape)(const char *host, struct node_shape *shape, void *arg);
	/* A field that could not be read, by its path; may be NULL. */
	void	(*lacks)(uint64_t job, const char *field, void *arg);
	void	*arg;
};

/* json_form.c */

#define JSON_FORM_OLDEST	40	/* v0.0.40: older ones differ too much */
#define JSON_FORM_NEWEST	42	/* the newest that was tried, 24.11 to 26.05 */

/*
 * Of what `--json=list` says the number of the form to ask for: the oldest
 * from JSON_FORM_OLDEST on, which may be newer than JSON_FORM_NEWEST; 0 = none.
 */
unsigned json_form(const char *list);

/* json_job.c: an element of jobs[] of squeue --json or scontrol show job --json */
enum record_verdict json_job(struct span element,
    const struct json_reading *how, struct job_snapshot *s);

/*
 * json_info.c: what the element says of the job, for people: "name=value", a
 * line each, in the place of scontrol's text.  Returns owned, or NULL.
 */
char *json_info(struct span element);

/* json_acct.c: an element of jobs[] of sacct --json */
enum record_verdict json_acct(struct span element,
    const struct json_reading *how, struct job_snapshot *s);

/* json_fields.c: what both have in common */

struct json_job {
	const struct json_reading *how;
	struct job_snapshot	*s;
	/* What is put together from several fields. */
	struct span	 resources;	/* job_resources */
	struct span	 devices;	/* gres_detail */
	struct span	 nodes;		/* the host list */
	struct span	 exit_code;
	struct span	 killer;	/* who cancelled it, accounting */
	int64_t		 user_id;	/* -1 = none */
	int64_t		 end;
	int64_t		 cpus_asked;	/* tasks times CPUs of each */
	int64_t		 cpus_per_task;
	int64_t		 memory_cpu;	/* MB, 0 = not said */
	int64_t		 memory_node;
	uint64_t	 seen;		/* bit of each row of the table */
};

/* A row: where the member is, how it is read, must it be there. */
struct json_field {
	const char	*key;		/* of this object */
	int		(*get)(struct span value, struct json_job *j);
	const struct json_field *inside;	/* rows of a nested object */
	int		 needed;	/* without it there is no job */
	int		 optional;	/* some versions lack it: not worth a word */
};

/* Reads an object's members by its table, ended by a row without key. -1: a needed one failed. */
int json_fields(struct span object, const struct json_field *rows,
    struct json_job *j);

/* Says that a field is missing, or of no shape known; field is constant. */
void json_lacks(const struct json_job *j, const char *field);

/* Getters: 0, or -1 when the value is of no shape known. */
int json_get_id(struct span v, struct json_job *j);
int json_get_account(struct span v, struct json_job *j);
int json_get_user(struct span v, struct json_job *j);
int json_get_partition(struct span v, struct json_job *j);
int json_get_qos(struct span v, struct json_job *j);
int json_get_name(struct span v, struct json_job *j);
int json_get_reservation(struct span v, struct json_job *j);
int json_get_admin_comment(struct span v, struct json_job *j);
int json_get_reason(struct span v, struct json_job *j);
int json_get_state(struct span v, struct json_job *j);
int json_get_submit(struct span v, struct json_job *j);
int json_get_start(struct span v, struct json_job *j);
int json_get_end(struct span v, struct json_job *j);
int json_get_limit(struct span v, struct json_job *j);
int json_get_array_job(struct span v, struct json_job *j);
int json_get_array_task(struct span v, struct json_job *j);
int json_get_het_job(struct span v, struct json_job *j);
int json_get_het_offset(struct span v, struct json_job *j);
int json_get_restarts(struct span v, struct json_job *j);
int json_get_nodes(struct span v, struct json_job *j);
int json_get_exit(struct span v, struct json_job *j);
int json_get_memory_cpu(struct span v, struct json_job *j);
int json_get_memory_node(struct span v, struct json_job *j);
/* An integer of any shape; what is unset or infinite is 0. */
int json_get_count(struct span v, int64_t *n);

/* The exit code as wait(2) says it; -1 when it is of no shape known. */
int32_t json_exit_status(struct span v);

/* json_resources.c: threads and devices by host.  RECORD_GOOD, or RECORD_BAD on memory. */
enum record_verdict json_resources(struct json_job *j);

#endif
