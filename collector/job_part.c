/* SPDX-License-Identifier: MIT */
/*
 * Slurm gives each task and each component a job id of its own when it starts.
 * Tasks that wait have one common record with a list of their numbers.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "collector/job_part.h"

const char *
part_name(const struct part_facts *f, char *buf, size_t size)
{
	snprintf(buf, size, "%llu%c%llu", (unsigned long long)f->job,
	    f->kind == CTL_PART_TASK ? '_' : '+',
	    (unsigned long long)f->number);
	return buf;
}

static void
id_add(struct part_facts *f, uint64_t id)
{
	unsigned i;

	for (i = 0; i < f->n; i++)
		if (f->ids[i] == id)
			return;
	if (f->n < PART_IDS_MAX)
		f->ids[f->n++] = id;
}

/* Reads a number at *p and moves *p behind it.  0 or -1. */
static int
list_number(const char **p, const char *end, uint64_t *v)
{
	const char *from = *p;

	while (*p < end && **p >= '0' && **p <= '9')
		(*p)++;
	return number_u64((struct span) { from, (size_t)(*p - from) }, v);
}

/*
 * Has the list "0-3,8,10-20:2%4" the number?  1, 0, or -1 when the list is cut
 * ("1,3,5,...") or not understood.
 */
static int
list_has(struct span list, uint64_t number)
{
	const char *p = list.p, *end = p + list.n;
	uint64_t first, last, step;

	for (;;) {
		if (list_number(&p, end, &first) == -1)
			return -1;
		last = first;
		step = 1;
		if (p < end && *p == '-' &&
		    (p++, list_number(&p, end, &last) == -1))
			return -1;
		if (p < end && *p == ':' &&
		    (p++, list_number(&p, end, &step) == -1 || step == 0))
			return -1;
		if (number >= first && number <= last &&
		    (number - first) % step == 0)
			return 1;
		if (p == end || *p == '%')
			return 0;
		if (*p++ != ',')
			return -1;
	}
}

static void
task_record(struct part_facts *f, struct span head, uint64_t id)
{
	struct span task = token_value(&head, " ArrayTaskId=");
	uint64_t number;
	int has;

	if (task.p == NULL)
		return;
	if (number_u64(task, &number) == 0) {
		if (number == f->number)
			id_add(f, id);
		else
			f->others++;
		return;
	}
	f->others++;
	has = list_has(task, f->number);
	f->pending |= has == 1;
	f->may_be_pending |= has == -1;
}

static void
component_record(struct part_facts *f, struct span head, uint64_t id)
{
	struct span rest = head, offset = token_value(&rest, " HetJobOffset=");
	uint64_t number;

	if (offset.p == NULL)
		offset = token_value(&rest, " PackJobOffset="); /* 19.05 */
	if (offset.p == NULL || number_u64(offset, &number) == -1)
		return;
	if (number == f->number)
		id_add(f, id);
	else
		f->others++;
}

void
part_record(struct part_facts *f, struct span line)
{
	static const char *const keys[] = { " ArrayJobId=", " HetJobId=",
		" PackJobId=" };
	uint64_t id = scontrol_id(line), whole = 0;
	const char *name = token_find(line, " JobName=");
	struct span rest;
	size_t i, found = 0;

	if (id == 0 || name == NULL)
		return;
	line.n = (size_t)(name - line.p);
	for (i = 0; i < sizeof(keys) / sizeof(keys[0]) && whole == 0; i++) {
		rest = line;
		found = i;
		if (number_u64(token_value(&rest, keys[i]), &whole) == -1)
			whole = 0;
	}
	if (whole != f->job)
		f->plain |= whole == 0 && id == f->job;
	else if (found == 0 && f->kind == CTL_PART_TASK)
		task_record(f, line, id);
	else if (found != 0 && f->kind == CTL_PART_COMPONENT)
		component_record(f, line, id);
	else
		f->plain = 1;
}

void
part_row(struct part_facts *f, const struct job *job)
{
	int task = f->kind == CTL_PART_TASK;
	uint64_t whole = task ? job->array_job : job->het_job;

	if (whole != f->job)
		f->plain |= job->key.job == f->job;
	else if ((task ? job->array_task : job->het_offset) == f->number)
		id_add(f, job->key.job);
	else
		f->others++;
}

static const char *
part_word(const struct part_facts *f)
{
	return f->kind == CTL_PART_TASK ? "task" : "component";
}

static void
error_reason(const struct part_facts *f, const char *name, char *reason,
    size_t size, char *remedy, size_t remedy_size)
{
	int ctld = f->ctld_error[0] != '\0';

	snprintf(reason, size,
	    "the job id of %s is not known: %s does not answer (%s)", name,
	    ctld ? "slurmctld" : "slurmdbd",
	    ctld ? f->ctld_error : f->dbd_error);
	snprintf(remedy, remedy_size,
	    "repeat the command when Slurm answers, or name the job id that "
	    "squeue prints with the format %%A");
}

void
part_reason(const struct part_facts *f, const char *cluster, char *reason,
    size_t size, char *remedy, size_t remedy_size)
{
	char name[64];

	part_name(f, name, sizeof(name));
	*remedy = '\0';
	if (f->pending)
		snprintf(reason, size,
		    "%s is pending: Slurm gives the task a job id when the "
		    "task starts",
		    name);
	else if (f->ctld_error[0] != '\0' || f->dbd_error[0] != '\0')
		error_reason(f, name, reason, size, remedy, remedy_size);
	else if (f->may_be_pending)
		snprintf(reason, size,
		    "Slurm has no record of %s; the task may be pending: Slurm "
		    "does not print all tasks that wait",
		    name);
	else if (f->others > 0)
		snprintf(reason, size,
		    "unknown to Slurm: job %llu in cluster %s has other %ss, "
		    "but no %s %llu",
		    (unsigned long long)f->job, cluster, part_word(f),
		    part_word(f), (unsigned long long)f->number);
	else if (f->plain)
		snprintf(reason, size, "job %llu in cluster %s has no %ss",
		    (unsigned long long)f->job, cluster, part_word(f));
	else
		snprintf(reason, size,
		    "unknown to Slurm: neither slurmctld nor accounting has "
		    "%s in cluster %s",
		    name, cluster);
	if (*remedy == '\0' && !f->pending && f->plain)
		snprintf(remedy, remedy_size,
		    "run `cc-slurm-adapterctl explain %llu`",
		    (unsigned long long)f->job);
}
