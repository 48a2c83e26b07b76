/* SPDX-License-Identifier: MIT */
/*
 * What Slurm's answers are read as (slurmSource).  Text is what every version
 * has; where the site wants JSON, its form is chosen here, once a Slurm: a
 * newer one changes its default form, but keeps the older ones for years.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "collector/base/cluster.h"
#include "collector/parse/json_read.h"
#include "common/log.h"

#define JSON_FROM	2108	/* squeue and sacct have it since */
#define FORMS_FROM	2302	/* and it can be chosen since */

static void
settle(struct cluster *c, const char *json)
{
	snprintf(c->slurm.json, sizeof(c->slurm.json), "%s", json);
	c->slurm.json_known = 1;
	if (*json == '\0')
		log_warnx("slurmSource is json, but Slurm %s has none that can "
		    "be read: text is read", c->slurm.version_text);
	else
		log_info("Slurm is read by %s", json);
	wake(c);
}

/* What is beyond the room for it is no list of forms. */
static int
on_list_output(const char *p, size_t n, void *arg)
{
	struct slurm *slurm = &((struct cluster *)arg)->slurm;
	size_t room = sizeof(slurm->json_list) - 1 - slurm->json_list_len;

	n = n < room ? n : room;
	memcpy(slurm->json_list + slurm->json_list_len, p, n);
	slurm->json_list_len += n;
	return 0;
}

static void
on_list(const struct command_end *end, void *arg)
{
	struct cluster *c = arg;
	char json[sizeof(c->slurm.json)];
	unsigned form;

	c->listing_forms = 0;
	if (end->outcome != COMMAND_OK) {
		settle(c, "--json");
		return;
	}
	/* The list comes on standard error, or, from 25.11 on, on output. */
	c->slurm.json_list[c->slurm.json_list_len] = '\0';
	form = json_form(c->slurm.json_list);
	if (form == 0)
		form = json_form(end->err);
	if (form > JSON_FORM_NEWEST)
		log_warnx("Slurm's JSON begins with v0.0.%u, which is newer than "
		    "what is known here: it is tried", form);
	snprintf(json, sizeof(json), form != 0 ? "--json=v0.0.%u" : "--json",
	    form);
	settle(c, json);
}

int
source_settled(struct cluster *c)
{
	struct query query = { .cmd = CMD_SQUEUE, .args = { "--json=list" },
	    .on_output = on_list_output, .on_end = on_list, .arg = c };

	if (!c->set->json || c->slurm.json_known)
		return 1;
	if (c->listing_forms)
		return 0;
	if (c->slurm.version != 0 && c->slurm.version < JSON_FROM)
		settle(c, "");
	else if (c->slurm.version != 0 && c->slurm.version < FORMS_FROM)
		settle(c, "--json");
	else {
		c->slurm.json_list_len = 0;
		c->listing_forms = query_start(c, &query) != NULL;
	}
	return c->slurm.json_known;
}

const char *
source_json(const struct cluster *c)
{
	return c->set->json && c->slurm.json_known && c->slurm.json[0] != '\0' ?
	    c->slurm.json : NULL;
}

/* What follows when a field is not there. */
static const struct {
	const char	*field;
	const char	*follows;
} losses[] = {
	{ "job_resources: sockets", "runs go without hardware threads" },
	{ "job_resources: hosts", "runs go without hardware threads" },
	{ "job_resources: a host", "the job is asked for as text" },
	{ "job_resources", "runs go without hardware threads" },
	{ "gres_detail", "runs go without accelerators" },
	{ "gres_detail: a host", "runs go without accelerators" },
	{ "job_id", "the job is asked for as text" },
	{ "job_state", "the job is asked for as text" },
	{ "start_time", "the job is asked for as text" },
	{ "end_time", "the job is asked for as text" },
	{ "nodes", "the job is asked for as text" },
	{ "shared", "runs count as shared by many users" },
	{ "user_name", "users are named by number" },
	{ "state", "ended runs are asked for by id, as text" },
	{ "current", "ended runs are asked for by id, as text" },
	{ "time", "ended runs are asked for by id, as text" },
	{ "start", "ended runs are asked for by id, as text" },
	{ "end", "ended runs are asked for by id, as text" },
	{ "tres", "runs that nobody saw go without counts" },
	{ "allocated", "runs that nobody saw go without counts" },
};

static const char *
loss_of(const char *field)
{
	size_t i;

	for (i = 0; i < sizeof(losses) / sizeof(losses[0]); i++)
		if (strcmp(losses[i].field, field) == 0)
			return losses[i].follows;
	return "what it says stays unknown";
}

int
source_is_news(struct cluster *c, const char *field)
{
	unsigned i;

	for (i = 0; i < c->n_lacking; i++)
		if (strcmp(c->lacking[i], field) == 0)
			return 0;
	if (c->n_lacking == LACKING_MAX)
		return 0;
	c->lacking[c->n_lacking++] = field;
	return 1;
}

/* Commands that were upgraded have dropped the oldest forms. */
void
source_failed(struct cluster *c, const struct command_end *end)
{
	if (end->outcome == COMMAND_FAILED &&
	    strstr(end->err, "data_parser") != NULL)
		c->slurm.json_known = 0;
}

void
source_lacks(struct cluster *c, uint64_t job, const char *field)
{
	if (!source_is_news(c, field))
		return;
	log_warnx("Slurm's JSON lacks %s, or it is of a form not known here "
	    "(first seen in job %llu): %s; slurmSource text may have it", field,
	    (unsigned long long)job, loss_of(field));
}
