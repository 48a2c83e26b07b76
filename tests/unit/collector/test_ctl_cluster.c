/* SPDX-License-Identifier: MIT */
/*
 * `sync`: a cluster that is not read is an error; the rows that are not shown
 * are counted.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "collector/collector.h"
#include "tests/unit/check.h"
#include "tests/unit/collector/simulation.h"

#define ROW_MAX 64 /* bytes of a row of squeue */

static struct collector collector;
static char told[512];
static unsigned rows;

int
acct_busy(const struct accounting *a)
{
	return 0;
}

void
sched_poll_now(struct lanes *l)
{
}

void
worker_ctl_row(struct worker *w, uint64_t request, const struct writer *row)
{
	rows++;
}

void
worker_ctl_end(struct worker *w, uint64_t request, enum ctl_status status,
    const char *text)
{
	snprintf(told, sizeof(told), "%s%s",
	    status == CTL_OK ? "ok" : "error: ", text);
}

/* Slurm has or has not said that its cluster is called cluster. */
static const char *
sync_of(const char *name, const char *cluster)
{
	static struct sync_report *report;
	struct ctl_request req = { .verb = CTL_SYNC,
		.flags = CTL_FLAG_DRY_RUN };
	struct cluster *c = sim_begin(NULL, NULL);

	if (report == NULL)
		report = sync_report_new(&collector);
	snprintf(c->slurm.cluster, sizeof(c->slurm.cluster), "%s", cluster);
	c->slurm.known = *cluster != '\0';
	c->ready = 0; /* the answer for a cluster that is read */
	collector.site = *c->site;
	collector.lanes[0].c = c;
	snprintf(req.text, sizeof(req.text), "%s", name);
	told[0] = '\0';
	sync_report_begin(report, 1, &req);
	return told;
}

/* squeue shows n runs that are unknown here; one cluster is compared. */
static const char *
sync_rows(unsigned n)
{
	struct sync_report *report = sim_keep(sync_report_new(&collector));
	struct ctl_request req = { .verb = CTL_SYNC,
		.flags = CTL_FLAG_DRY_RUN };
	struct cluster *c = sim_begin(NULL, NULL);
	char *text = malloc(n * ROW_MAX + 1);
	size_t len = 0;
	unsigned i;

	CHECK(text != NULL);
	c->slurm.accounting = 0;
	collector.site = *c->site;
	collector.lanes[0].c = c;
	for (i = 0; i < n; i++)
		len += (size_t)snprintf(text + len, ROW_MAX, "%u R No %d\n",
		    i + 1, SIM_EPOCH);
	rows = 0;
	told[0] = '\0';
	sync_report_begin(report, 1, &req);
	sim_answer("squeue", text);
	free(text);
	return told;
}

int
main(void)
{
	CHECK_STR(sync_of("alpha", "alpha"),
	    "error: Slurm has not been queried yet");
	CHECK_STR(sync_of("", "alpha"),
	    "error: Slurm has not been queried yet");
	CHECK_STR(sync_of("alpah", "alpha"),
	    "error: another cluster: this daemon does not read cluster alpah; it "
	    "reads alpha");
	CHECK_STR(sync_of("alpha", ""),
	    "error: cluster alpha is not known yet: Slurm has not been queried "
	    "yet");
	CHECK_STR(sync_rows(10000), "ok10000 runs in Slurm");
	CHECK_INT(rows, 10000);
	CHECK_STR(sync_rows(10003),
	    "ok10003 runs in Slurm, 3 rows are not shown");
	CHECK_INT(rows, 10000);
	return check_done();
}
