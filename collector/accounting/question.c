/* SPDX-License-Identifier: MIT */
/* The query to sacct that all files of this folder use, and the watermark. */
#include "config.h"

#include "collector/accounting/accounting_private.h"
#include "collector/track/outbox.h"
#include "common/log.h"

void
acct_question(struct accounting *l, const struct query_type *type,
    int (*row)(struct job_snapshot *s, void *arg))
{
	sacct_begin(&l->reader, l->c->slurm.sacct_lacking, l->columns,
	    l->delimiter);
	l->reader.how = &l->c->set->how;
	l->reader.each = row;
	l->reader.arg = l;
	query_begin(&l->query, l->c, type, l);
	query_args(&l->query, "-X", "-D", "-a", "-P", "-n", "--noconvert",
	    l->delimiter, "-o", l->columns, NULL);
}

int
acct_question_feed(const char *p, size_t n, void *arg)
{
	struct accounting *l = arg;

	return sacct_feed(&l->reader, p, n);
}

/* An unknown version of Slurm is queried for the columns that it has. */
int
acct_column_missing(struct accounting *l, const struct command_end *end)
{
	struct slurm *slurm = &l->c->slurm;
	const char *column;

	if (end->outcome != COMMAND_FAILED)
		return 0;
	column = sacct_lacks(end->err, &slurm->sacct_lacking);
	if (column == NULL)
		return 0;
	if ((slurm->sacct_lacking & ~slurm->sacct_reported) != 0)
		log_warnx("sacct%s of Slurm %s has no column %s: records "
		    "lack that value unless slurmctld shows it",
		    cluster_suffix(l->c), slurm->version_text, column);
	slurm->sacct_reported |= slurm->sacct_lacking;
	return 1;
}

/* Rows that wait for details or steps delay the watermark. */
void
acct_watermark(struct accounting *l)
{
	struct cluster *c = l->c;

	if (l->mark <= c->resume.point || l->n_kept > 0 || l->n_step_rows > 0)
		return;
	c->resume.point = l->mark;
	l->mark = 0;
	outbox_watermark(c->outbox, c, c->resume.point);
}
