/* SPDX-License-Identifier: MIT */
/* `sync --cluster`: a cluster that is not read is an error. */
#include "config.h"

#include <string.h>

#include "collector/collector.h"
#include "tests/unit/check.h"
#include "tests/unit/collector/simulation.h"

static struct collector collector;
static char told[512];

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
	return check_done();
}
