/* SPDX-License-Identifier: MIT */
/* `sync --job` and `queue`: which rows the admin gets, and how many. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "submitter/ctl.h"
#include "submitter/reconcile/reconcile.h"
#include "submitter/reconcile/sync_command.h"
#include "submitter/spool/transition.h"
#include "tests/unit/check.h"
#include "tests/unit/submitter/simulation.h"

#define EMPTY	  "{\"jobs\":[],\"items\":500,\"page\":1}"
#define LIST(row) "{\"jobs\":[" row "],\"items\":500,\"page\":1}"

static void
begin(void)
{
	sim_begin();
	sim.sync = sync_new(&sim);
	sim_connect();
}

static void
end(void)
{
	sim.clusters.n = 0;
	sim_end();
}

/* Runs `sync --job`; list is what cc-backend answers. */
static const char *
sync_job(uint64_t job, unsigned flags, const char *list)
{
	struct ctl_request req = { .verb = CTL_SYNC,
		.flags = flags,
		.n_ids = 1,
		.ids = { job } };

	sim_told();
	ctl_on_request(sim.w, 1, &req);
	sim_run(0);
	if (sim_waits(REQUEST_LIST) > 0)
		sim_answer(REQUEST_LIST, 200, list);
	sim_run(61000);
	return sim_told();
}

static void
open_run(uint64_t job, int64_t start)
{
	struct run_key key = { .job = job, .start = start };

	snprintf(key.cluster, sizeof(key.cluster), "alpha");
	spool_put_from_backend(sim.spool, &key);
	sim_put(job, start, 0);
	CHECK_INT(sim_state(job, start), START_COMMITTED);
}

/* Each run of a named job has one row. */
static void
test_once(void)
{
	struct spool_run run;
	struct run_key key = { "alpha", 7, 1000 };

	/* cc-backend lacks it: the comparison reports it */
	begin();
	open_run(7, 1000);
	sim_run(10000); /* until not being listed means something */
	CHECK_STR(sync_job(7, CTL_FLAG_DRY_RUN, EMPTY),
	    "alpha|7|1000|open here, not in cc-backend|would be looked up in "
	    "Slurm, and started again if it runs\n"
	    "ok: 0 runs in cc-backend, 1 differences; 1 runs would be "
	    "touched\n");
	end();
	begin();
	open_run(7, 1000);
	sim_run(10000);
	CHECK_STR(sync_job(7, 0, EMPTY),
	    "alpha|7|1000|open here, not in cc-backend|looked up in Slurm, no "
	    "answer yet\n"
	    "ok: 0 runs in cc-backend, 1 differences; 1 runs touched\n");
	end();

	/* a host that publishes to a stream ends what Slurm does not know */
	begin();
	spool_policy(sim.spool)->whole = 1;
	CHECK_STR(sync_job(7, CTL_FLAG_FORCE, NULL),
	    "ok: 0 runs that Slurm has reported as unknown twice are "
	    "ended; the rest of the command is for the centre\n");
	end();

	/* nothing differs: its state is reported */
	begin();
	open_run(7, 1000);
	CHECK_STR(sync_job(7, 0, LIST(SIM_JOB(7, 1000, "running", 10))),
	    "alpha|7|1000|runs, its start is delivered|none\n"
	    "ok: 1 runs in cc-backend, 0 differences; 0 runs touched\n");
	end();

	/* only cc-backend knows it */
	begin();
	CHECK_STR(sync_job(7, CTL_FLAG_DRY_RUN,
		      LIST(SIM_JOB(7, 1000, "running", 10))),
	    "alpha|7|1000|open in cc-backend, unknown here|would be looked up "
	    "in Slurm, and stopped if it has ended\n"
	    "ok: 1 runs in cc-backend, 1 differences; 1 runs would be "
	    "touched\n");
	end();

	/* nobody knows it */
	begin();
	CHECK_STR(sync_job(8, CTL_FLAG_DRY_RUN, EMPTY),
	    "|8|0|unknown here|none\n"
	    "ok: 0 runs in cc-backend, 0 differences; 0 runs would be "
	    "touched\n");
	end();

	/* done, with two start times, and then still open in cc-backend */
	begin();
	sim_put(7, 1000, 2000);
	CHECK_INT(spool_find(sim.spool, &key, &run), 1);
	run.submit = 900;
	run.alias = 1060;
	CHECK_INT(spool_finish(sim.spool, &run), 0);
	CHECK_STR(sync_job(7, 0, EMPTY),
	    "alpha|7|1000|delivered in full|none\n"
	    "ok: 0 runs in cc-backend, 0 differences; 0 runs touched\n");
	end();

	/* another client has stopped it */
	begin();
	open_run(7, 1000);
	CHECK_INT(spool_find(sim.spool, &key, &run), 1);
	run.state[DEST_REST] = STOPPED_BY_OTHERS;
	CHECK_INT(spool_save(sim.spool, &run), 0);
	CHECK_STR(sync_job(7, CTL_FLAG_DRY_RUN, EMPTY),
	    "alpha|7|1000||`repair` corrects it\n"
	    "ok: 0 runs in cc-backend, 0 differences; 0 runs would be "
	    "touched\n");
	end();
}

/* The last lines of the reply to `queue`. */
static const char *
queue(uint32_t limit, uint64_t job, const char *cluster)
{
	struct ctl_request req = { .verb = CTL_QUEUE, .limit = limit };
	const char *text, *p;
	int lines = 0;

	req.n_ids = job != 0;
	req.ids[0] = job;
	snprintf(req.text, sizeof(req.text), "%s", cluster);
	sim_told();
	ctl_on_request(sim.w, 1, &req);
	text = sim_told();
	for (p = text + strlen(text); p > text; p--)
		if (p[-1] == '\n' && ++lines == 3)
			break;
	return p;
}

/*
 * cc-backend has a run whose record is quarantined: the comparison does not
 * bring it back, because its stop would read the record again.
 */
static void
test_quarantined(void)
{
	struct run_key key = { .cluster = "alpha", .job = 7, .start = 1000 };

	begin();
	open_run(7, 1000);
	sim_put(7, 1000, 1100);
	CHECK_INT(sim_waits(REQUEST_STOP), 1);
	CHECK_INT(spool_put_quarantined(sim.spool, &key, NULL, 0), PUT_MERGED);
	CHECK_INT(sim_state(7, 1000), START_REJECTED);
	(void)sync_job(7, 0, LIST(SIM_JOB(7, 1000, "running", 10)));
	CHECK_INT(sim_state(7, 1000), START_REJECTED);
	CHECK_INT(sim_waits(REQUEST_STOP), 1);
	end();
}

/* The reply says how many rows it lacks. */
static void
test_queue(void)
{
	int i;

	begin();
	CHECK_STR(queue(0, 0, ""), "0|0\nok: \n");
	for (i = 1; i <= 5; i++)
		sim_put((uint64_t)i, 1000, 0);
	CHECK_STR(queue(2, 0, ""),
	    "2|3\nok: 2 rows are shown, 3 rows are not shown: use --limit\n");
	CHECK_STR(queue(5, 0, ""), "5|0\nok: \n");
	CHECK_STR(queue(2, 0, "alpha"),
	    "2|3\nok: 2 rows are shown, 3 rows are not shown: use --limit\n");
	CHECK_STR(queue(1, 3, ""), "1|0\nok: \n");
	end();
}

/* The reply to a command for a cluster. */
static const char *
ask_cluster(enum ctl_verb verb, const char *cluster)
{
	struct ctl_request req = { .verb = (uint16_t)verb };

	if (verb == CTL_RETRY || verb == CTL_DROP)
		req.ids[req.n_ids++] = 7;
	snprintf(req.text, sizeof(req.text), "%s", cluster);
	sim_told();
	ctl_on_request(sim.w, 1, &req);
	sim_run(0);
	if (sim_waits(REQUEST_LIST) > 0)
		sim_answer(REQUEST_LIST, 200, EMPTY);
	return sim_told();
}

/* A mistyped cluster is an error, not a cluster without a difference. */
static void
test_cluster(void)
{
	static const enum ctl_verb verbs[] = { CTL_QUEUE, CTL_RETRY, CTL_DROP,
		CTL_SYNC, CTL_REPAIR, CTL_BACKFILL };
	static const char unknown[] = "error: unknown cluster alpah; the spool "
				      "has alpha\n";
	static const char early[] =
	    "error: no data of cluster beta has arrived since the start: Slurm "
	    "has not answered yet, or the name is wrong\n";
	static const char no_data[] = "error: no data of cluster beta has "
				      "arrived yet: run cc-slurm-adapterctl "
				      "status\n";
	size_t i;

	begin();
	for (i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++)
		CHECK_STR(ask_cluster(verbs[i], "beta"), early);
	CHECK_INT(cluster_name_allowed(&sim, "alpha"), 1);
	open_run(7, 1000);
	for (i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++)
		CHECK_STR(ask_cluster(verbs[i], "alpah"), unknown);
	CHECK_STR(ask_cluster(CTL_QUEUE, "alpha"), "0|0\nok: \n");
	CHECK_STR(ask_cluster(CTL_SYNC, "alpha"),
	    "ok: 0 runs in cc-backend, 0 differences; 0 runs touched\n");
	/* A cluster of the key clusters, whose Slurm has not answered. */
	CHECK_INT(cluster_name_allowed(&sim, "beta"), 1);
	CHECK_STR(ask_cluster(CTL_QUEUE, "beta"), "0|0\nok: \n");
	CHECK_STR(ask_cluster(CTL_SYNC, "beta"), no_data);
	CHECK_STR(ask_cluster(CTL_REPAIR, "beta"), no_data);
	end();
}

/* Slurm has reported the open run 7 of the cluster as unknown twice. */
static void
unknown_twice(const char *cluster)
{
	struct run_key key = { .job = 7, .start = 1000 };
	struct spool_run run;

	snprintf(key.cluster, sizeof(key.cluster), "%s", cluster);
	CHECK_INT(cluster_name_allowed(&sim, cluster), 1);
	CHECK_INT(spool_watermark(sim.spool, cluster, 1), 0);
	CHECK_INT(spool_put_from_backend(sim.spool, &key), 1);
	CHECK_INT(spool_find(sim.spool, &key, &run), 1);
	run.not_found_count = 2;
	run.not_found_at = spool_now(sim.spool);
	CHECK_INT(spool_save(sim.spool, &run), 0);
}

static const char *
sync_force(const char *cluster, unsigned flags)
{
	struct ctl_request req = { .verb = CTL_SYNC,
		.flags = CTL_FLAG_FORCE | flags };

	snprintf(req.text, sizeof(req.text), "%s", cluster);
	sim_told();
	ctl_on_request(sim.w, 1, &req);
	for (sim_run(0); sim_waits(REQUEST_LIST) > 0; sim_run(0))
		sim_answer(REQUEST_LIST, 200, EMPTY);
	return sim_told();
}

/* --force ends the runs of the cluster that the admin names, and says so. */
static void
test_force(void)
{
	struct run_key other = { "beta", 7, 1000 };
	struct spool_run run;

	begin();
	unknown_twice("alpha");
	unknown_twice("beta");
	CHECK_STR(sync_force("alpha", CTL_FLAG_DRY_RUN),
	    "ok: 0 runs in cc-backend, 0 differences; 0 runs would be touched; "
	    "1 runs that Slurm has reported as unknown twice would be "
	    "ended\n");
	CHECK_INT(sim_state(7, 1000), START_COMMITTED);
	CHECK_STR(sync_force("alpha", 0),
	    "alpha|7|1000|stop under way|sent now\n"
	    "ok: 0 runs in cc-backend, 0 differences; 1 runs touched; 1 runs "
	    "that Slurm has reported as unknown twice are ended\n");
	CHECK_INT(sim_state(7, 1000), STOP_DUE);
	CHECK_INT(spool_find(sim.spool, &other, &run), 1);
	CHECK_INT(run.state[DEST_REST], START_COMMITTED);
	end();
}

/* A delivered run of job 7, which cc-backend still shows as running. */
static void
victim(const char *cluster)
{
	struct run_key key = { .job = 7, .start = 1000 };
	struct spool_run run;

	snprintf(key.cluster, sizeof(key.cluster), "%s", cluster);
	CHECK_INT(spool_put_from_backend(sim.spool, &key), 1);
	CHECK_INT(spool_find(sim.spool, &key, &run), 1);
	run.submit = 900;
	CHECK_INT(spool_finish(sim.spool, &run), 0);
}

/* A job of the same id in another cluster is neither listed nor repaired. */
static void
test_repair_cluster(void)
{
	static const char list[] = LIST(
	    SIM_JOB(7, 1000, "running", 10) ",{\"jobId\":7,"
					    "\"cluster\":\"beta\","
					    "\"startTime\":1000,"
					    "\"jobState\":\"running\","
					    "\"duration\":10}");
	struct ctl_request req = { .verb = CTL_REPAIR };
	struct run_key other = { "beta", 7, 1000 };
	struct spool_run run;
	int lists = 0;

	begin();
	victim("alpha");
	victim("beta");
	snprintf(req.text, sizeof(req.text), "alpha");
	sim_told();
	ctl_on_request(sim.w, 1, &req);
	sim_run(0);
	for (; lists < 8 && sim_waits(REQUEST_LIST) > 0; lists++) {
		sim_answer(REQUEST_LIST, 200, list);
		sim_run(0);
	}
	CHECK_INT(lists, 2);
	CHECK_STR(sim_told(),
	    "alpha|7|1000|open in cc-backend, ended and delivered here|stopped "
	    "again\nok: 1 runs in cc-backend, 1 differences\n");
	CHECK_INT(spool_find(sim.spool, &other, &run), 0);
	/* With a job id: a run that another client stopped. */
	other.start = 3000;
	CHECK_INT(spool_put_from_backend(sim.spool, &other), 1);
	CHECK_INT(spool_find(sim.spool, &other, &run), 1);
	run.state[DEST_REST] = STOPPED_BY_OTHERS;
	CHECK_INT(spool_save(sim.spool, &run), 0);
	req.ids[req.n_ids++] = 7;
	ctl_on_request(sim.w, 1, &req);
	CHECK_STR(sim_told(), "ok: 0 runs are being repaired\n");
	CHECK_INT(spool_find(sim.spool, &other, &run), 1);
	CHECK_INT(run.state[DEST_REST], STOPPED_BY_OTHERS);
	end();
}

/* Without a comparison `repair` answers with an error and changes no run. */
static void
test_repair_error(void)
{
	struct ctl_request req = { .verb = CTL_REPAIR };
	struct run_key key = { "alpha", 7, 1000 };
	struct spool_run run;

	begin();
	open_run(7, 1000);
	CHECK_INT(spool_find(sim.spool, &key, &run), 1);
	run.state[DEST_REST] = STOPPED_BY_OTHERS;
	CHECK_INT(spool_save(sim.spool, &run), 0);
	sim.role.standby = 1;
	sim_told();
	ctl_on_request(sim.w, 1, &req);
	CHECK_STR(sim_told(),
	    "error: this centre is the standby: run the command at the active "
	    "one\n");
	CHECK_INT(sim_state(7, 1000), STOPPED_BY_OTHERS);
	sim.role.standby = 0;
	end();
}

/* A run that Slurm has not shown running is not started by the command. */
static void
test_unconfirmed(void)
{
	struct job job;
	int64_t id;

	begin();
	job_init(&job);
	snprintf(job.key.cluster, sizeof(job.key.cluster), "alpha");
	job.key.job = 7;
	job.key.start = 1000;
	job.flags = JOB_HAS_START | JOB_UNCONFIRMED;
	job_add_host(&job, "n1");
	CHECK_INT(spool_put(sim.spool, &job, &id), PUT_NEW);
	job_clear(&job);
	CHECK_STR(sync_job(7, 0, EMPTY),
	    "alpha|7|1000|waits until Slurm shows it running|none\n"
	    "ok: 0 runs in cc-backend, 0 differences; 0 runs touched\n");
	CHECK_INT(sim_waits(REQUEST_START), 0);
	CHECK_INT(sim_state(7, 1000), START_DUE);
	end();
}

#define MANY  10050 /* rows that wait */
#define SHOWN 10000 /* of them, in the report */

static unsigned n_rows;
static size_t n_bytes;

static void
on_row(const struct writer *row)
{
	n_bytes += row->len;
	n_rows++;
}

/*
 * More rows wait than a report has: all of them are due, and counted.  Nothing is
 * sent, because cc-backend is not probed yet.
 */
static void
test_many(void)
{
	struct ctl_request req = { .verb = CTL_SYNC };
	struct spool_run run;
	struct job job;
	uint64_t i;
	int64_t id;

	sim_begin();
	sim.sync = sync_new(&sim);
	for (i = 1; i <= MANY; i++) {
		job_init(&job);
		snprintf(job.key.cluster, sizeof(job.key.cluster), "alpha");
		job.key.job = i;
		job.key.start = 1000 + (int64_t)i;
		job.flags = JOB_HAS_START;
		CHECK_INT(spool_put(sim.spool, &job, &id), PUT_NEW);
		job_clear(&job);
		CHECK_INT(spool_get(sim.spool, id, &run), 1);
		run.due[DEST_REST] = spool_now(sim.spool) + SIM_HOUR;
		CHECK_INT(spool_save(sim.spool, &run), 0);
	}
	sim_told();
	n_rows = 0;
	sim_on_row = on_row;
	ctl_on_request(sim.w, 1, &req);
	sim_on_row = NULL;
	CHECK_STR(sim_told(),
	    "error: cc-backend is unreachable; 10050 runs touched; 50 rows are "
	    "not shown\n");
	CHECK_INT(n_rows, SHOWN);
	/* the last one in the order of the queue */
	CHECK_INT(spool_get(sim.spool, id, &run), 1);
	CHECK(
	    run.due[DEST_REST] == DUE_NOW || run.due[DEST_REST] == DUE_LEASED);
	end();
}

/* --- answers that are too long --- */

#define LONG	    9000 /* runs with a long reason */
#define QUEUE_BYTES (2u << 20)
#define DIFF_BYTES  (4u << 20)
#define BYTES_MORE  (2u << 10) /* the row that crosses the limit, and the last */

static void
long_reasons_put(enum run_state state)
{
	struct run_key key = { .cluster = "alpha", .start = 1000 };
	struct spool_run run;

	for (key.job = 1; key.job <= LONG; key.job++) {
		CHECK_INT(spool_put_from_backend(sim.spool, &key), 1);
		CHECK_INT(spool_find(sim.spool, &key, &run), 1);
		run.state[DEST_REST] = state;
		memset(run.reason, 'x', sizeof(run.reason) - 1);
		run.reason[sizeof(run.reason) - 1] = '\0';
		CHECK_INT(spool_save(sim.spool, &run), 0);
	}
}

/* Makes the request and answers a list of cc-backend's jobs. */
static const char *
long_answer(const struct ctl_request *req, size_t bytes)
{
	sim_told();
	n_rows = 0;
	n_bytes = 0;
	sim_on_row = on_row;
	ctl_on_request(sim.w, 1, req);
	sim_run(0);
	if (sim_waits(REQUEST_LIST) > 0)
		sim_answer(REQUEST_LIST, 200, EMPTY);
	sim_on_row = NULL;
	CHECK(n_bytes >= bytes);
	CHECK(n_bytes < bytes + BYTES_MORE);
	return sim_told();
}

/* The supervisor disconnects a client with too many bytes that are not read. */
static void
test_queue_full(void)
{
	struct ctl_request req = { .verb = CTL_QUEUE,
		.flags = CTL_FLAG_REJECTED,
		.limit = 1000000 };
	char want[128];
	const char *text;

	begin();
	long_reasons_put(START_REJECTED);
	snprintf(req.text, sizeof(req.text), "alpha");
	(void)long_answer(&req, QUEUE_BYTES);
	req.text[0] = '\0';
	text = long_answer(&req, QUEUE_BYTES);
	n_rows--; /* the row with the numbers */
	CHECK(n_rows > 1000 && n_rows < LONG);
	snprintf(want, sizeof(want),
	    "ok: %u rows are shown, %u rows are not shown: the answer is full, "
	    "use --job or --cluster\n",
	    n_rows, LONG - n_rows);
	CHECK_STR(text, want);
	end();
}

/* The same for the rows of `repair`, and of `sync` about the same runs. */
static void
test_repair_full(void)
{
	struct ctl_request req = { .verb = CTL_REPAIR,
		.flags = CTL_FLAG_DRY_RUN };
	char want[128];
	const char *text;

	begin();
	long_reasons_put(STOPPED_BY_OTHERS);
	text = long_answer(&req, DIFF_BYTES);
	CHECK(n_rows < LONG);
	snprintf(want, sizeof(want),
	    "ok: 0 runs in cc-backend, 0 differences; %u rows are not shown\n",
	    LONG - n_rows);
	CHECK_STR(text, want);
	req.verb = CTL_SYNC;
	text = long_answer(&req, DIFF_BYTES);
	snprintf(want, sizeof(want),
	    "ok: 0 runs in cc-backend, 0 differences; 0 runs would be touched; "
	    "%u rows are not shown\n",
	    LONG - n_rows);
	CHECK_STR(text, want);
	end();
}

#define VICTIMS 4100 /* runs that are open in cc-backend after their stop */
#define TAKEN	4096 /* of them, by one comparison */

/* Answers one page of a list with the runs from job to last. */
static void
page_answer(unsigned job, unsigned last)
{
	static char page[64 * 1024];
	unsigned first = job;
	size_t n;

	n = (size_t)snprintf(page, sizeof(page), "{\"jobs\":[");
	for (; job <= last; job++)
		n += (size_t)snprintf(page + n, sizeof(page) - n,
		    "%s{\"jobId\":%u,\"cluster\":\"alpha\","
		    "\"startTime\":1000,\"jobState\":\"running\","
		    "\"duration\":10}",
		    job == first ? "" : ",", job);
	snprintf(page + n, sizeof(page) - n, "],\"items\":500,\"page\":1}");
	sim_answer(REQUEST_LIST, 200, page);
}

/* Answers all pages of a list with the runs 1 to VICTIMS. */
static void
list_answer(void)
{
	unsigned job;

	for (job = 1; job <= VICTIMS; job += 500)
		page_answer(job, job + 499 < VICTIMS ? job + 499 : VICTIMS);
}

/* More differences than one comparison takes: its result says so. */
static void
test_beyond(void)
{
	struct ctl_request req = { .verb = CTL_REPAIR };
	struct spool_run run;
	struct run_key key = { .cluster = "alpha", .start = 1000 };

	begin();
	for (key.job = 1; key.job <= VICTIMS; key.job++) {
		spool_put_from_backend(sim.spool, &key);
		CHECK_INT(spool_find(sim.spool, &key, &run), 1);
		run.submit = 900;
		CHECK_INT(spool_finish(sim.spool, &run), 0);
	}
	sim_told();
	n_rows = 0;
	sim_on_row = on_row;
	ctl_on_request(sim.w, 1, &req);
	sim_run(0);
	list_answer();
	list_answer();
	sim_on_row = NULL;
	CHECK_INT(n_rows, TAKEN);
	CHECK_STR(sim_told(),
	    "ok: 4100 runs in cc-backend, 4096 differences, 4 more are left "
	    "for the next comparison\n");
	end();
}

/* The token is refused while a list is under way: no other list follows. */
static void
token_refused(void)
{
	sim_put(6000, 1000, 0);
	sim_answer(REQUEST_START, 401, NULL);
	sim_run(2000);
	sim_answer(REQUEST_PROBE, 401, NULL);
}

/*
 * Rows may have been missed between the pages of the first list, and the second
 * list cannot be requested: no run counts as missing.
 */
static void
test_no_second_list(void)
{
	struct ctl_request req = { .verb = CTL_REPAIR };
	struct run_key mine = { "alpha", 5001, 1000 };
	struct run_key foreign = { "alpha", 5002, 1000 };
	struct spool_run run;

	begin();
	open_run(mine.job, mine.start);
	CHECK_INT(spool_put_from_backend(sim.spool, &foreign), 1);
	sim_run(10000); /* until not being listed means something */
	ctl_on_request(sim.w, 1, &req);
	sim_run(0);
	page_answer(1, 500);
	token_refused();
	sim_told();
	page_answer(501, 500); /* no row */
	CHECK_INT(sim_waits(REQUEST_LIST), 0);
	CHECK_STR(sim_told(), "error: cc-backend did not answer\n");
	CHECK_INT(spool_find(sim.spool, &mine, &run), 1);
	CHECK_INT(run.flags & RUN_MISSING_IN_BACKEND, 0);
	CHECK_INT(spool_find(sim.spool, &foreign, &run), 1);
	end();
}

/* The same with a run that is listed although it is done. */
static void
test_no_second_look(void)
{
	struct ctl_request req = { .verb = CTL_REPAIR };
	struct run_key key = { "alpha", 1, 1000 };
	struct spool_run run;

	begin();
	sim_put(key.job, key.start, 2000);
	CHECK_INT(spool_find(sim.spool, &key, &run), 1);
	run.submit = 900;
	CHECK_INT(spool_finish(sim.spool, &run), 0);
	ctl_on_request(sim.w, 1, &req);
	sim_run(0);
	token_refused();
	sim_told();
	page_answer(1, 1);
	CHECK_STR(sim_told(), "error: cc-backend did not answer\n");
	end();
}

/* `repair --dry-run`; its list is not answered yet. */
static void
dry_run_begin(void)
{
	reconcile_begin(sim.reconcile, NULL, "", 1, 1);
	CHECK_INT(sim_waits(REQUEST_LIST), 1);
}

/* Dry runs do not delay the comparison of each ccPollInterval. */
static void
test_dry_runs(void)
{
	int64_t every, ms;

	begin();
	every = 1000 * conf_int(&sim.w->conf, CONF_CC_POLL_INTERVAL);
	sim_run(2 * SIM_MINUTE);
	sim_answer(REQUEST_LIST, 200, EMPTY);
	for (ms = SIM_MINUTE; ms < every; ms += SIM_MINUTE) {
		sim_run(SIM_MINUTE);
		dry_run_begin();
		sim_answer(REQUEST_LIST, 200, EMPTY);
	}
	CHECK_INT(sim_waits(REQUEST_LIST), 0);
	sim_run(2 * SIM_MINUTE);
	CHECK_INT(sim_waits(REQUEST_LIST), 1);
	sim_answer(REQUEST_LIST, 200, EMPTY);
	/* also one that is under way when the comparison is due */
	sim_run(every - SIM_MINUTE);
	dry_run_begin();
	sim_run(2 * SIM_MINUTE);
	CHECK_INT(sim_waits(REQUEST_LIST), 1);
	sim_answer(REQUEST_LIST, 200, EMPTY);
	CHECK_INT(sim_waits(REQUEST_LIST), 0);
	sim_run(SIM_MINUTE);
	CHECK_INT(sim_waits(REQUEST_LIST), 1);
	end();
}

/* A standby, or before the first list: the reason is not cc-backend. */
static void
test_passive(void)
{
	begin();
	role_set(&sim, 1, 0);
	sim_put(7, 1000, 0);
	CHECK_STR(sync_job(7, CTL_FLAG_DRY_RUN, EMPTY),
	    "alpha|7|1000|start is due|would be due, but this daemon sends "
	    "nothing now\n"
	    "error: this daemon sends nothing now: another daemon is active, "
	    "or the first list of cc-backend's jobs is awaited; 1 runs would "
	    "be touched\n");
	CHECK_STR(sync_job(7, 0, EMPTY),
	    "alpha|7|1000|start is due|due, but this daemon sends nothing "
	    "now\n"
	    "error: this daemon sends nothing now: another daemon is active, "
	    "or the first list of cc-backend's jobs is awaited; 1 runs "
	    "touched\n");
	role_set(&sim, 0, 0);
	end();
	/* The probe of cc-backend has no answer yet. */
	sim_begin();
	sim.sync = sync_new(&sim);
	role_set(&sim, 1, 0);
	CHECK_STR(sync_job(7, 0, EMPTY),
	    "|7|0|unknown here|none\n"
	    "error: cc-backend is unreachable; 0 runs touched\n");
	end();
}

int
main(void)
{
	test_once();
	test_quarantined();
	test_queue();
	test_cluster();
	test_force();
	test_repair_cluster();
	test_repair_error();
	test_unconfirmed();
	test_many();
	test_queue_full();
	test_repair_full();
	test_beyond();
	test_no_second_list();
	test_no_second_look();
	test_dry_runs();
	test_passive();
	return check_done();
}
