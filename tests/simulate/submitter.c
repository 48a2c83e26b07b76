/* SPDX-License-Identifier: MIT */
/* See submitter.h. */
#include "config.h"

#include <string.h>

#include "tests/simulate/check.h"
#include "tests/simulate/disk.h"
#include "tests/simulate/faults.h"
#include "tests/simulate/process.h"
#include "tests/simulate/submitter.h"

#define RESTART_MS 500
/* Starts within an hour that are no loop of crashes. */
#define STARTS_MAX 400

extern char __start_submitter_data[], __stop_submitter_data[];
extern char __start_submitter_bss[], __stop_submitter_bss[];
int submitter_main(int argc, char **argv);
/* of the process's own copy of process.c */
void submitter_process_main(int (*product_main)(int, char **), int fd);

static struct supervised *submitter;
static void (*on_started)(void);
static unsigned starts;
static unsigned lately; /* starts in the hour */
static int64_t hour;

unsigned
submitter_starts(void)
{
	return starts;
}

static void
on_start(void)
{
	submitter_process_main(submitter_main, supervised_fd(submitter));
}

static void
on_restart(void *arg)
{
	(void)arg;
	/* The submitter ends at once while the disk is full. */
	if (world_ms() / HOUR_MS != hour || disk_is_full()) {
		hour = world_ms() / HOUR_MS;
		lately = 0;
	}
	starts++;
	/* or fails */
	invariant(++lately < STARTS_MAX || faults()->crash_every > 0 ||
		faults()->broken_every > 0,
	    "the submitter starts again and again");
	supervised_start(submitter);
}

static void
on_ended(const char *why)
{
	(void)why;
	link_process_ended(PROCESS_SUBMITTER);
	supervised_ended(submitter);
	if (fault_power_cut())
		disk_power_cut();
	disk_process_ended();
	world_after(PROCESS_NONE, RESTART_MS, on_restart, NULL);
}

static const struct process_ops process_ops = {
	.name = "submitter",
	.memory = { { __start_submitter_data, __stop_submitter_data },
	    { __start_submitter_bss, __stop_submitter_bss } },
	.start = on_start,
	.ended = on_ended,
};

static void
on_ready(struct supervised *sv)
{
	(void)sv;
	on_started();
}

static void
on_reloaded(struct supervised *sv, const char *reason)
{
	(void)sv;
	invariant(reason == NULL, "the configuration is refused: %s", reason);
}

static const struct supervisor_ops ops = {
	.ready = on_ready,
	.reloaded = on_reloaded,
};

static void
on_reload(void *arg)
{
	(void)arg;
	if (faults_ended())
		return;
	supervised_reload(submitter);
	world_after(PROCESS_NONE, fault_wait("reload", faults()->reload_every),
	    on_reload, NULL);
}

struct supervised *
submitter_new(const char *commit_interval, int with_history)
{
	process_define(PROCESS_SUBMITTER, &process_ops);
	submitter = supervised_new(PROCESS_SUBMITTER, ROLE_SUBMITTER, &ops);
	supervised_conf(submitter, CONF_CC_REST_URL, "http://cc-backend:8080");
	supervised_conf(submitter, CONF_CC_COMMIT_INTERVAL, commit_interval);
	supervised_conf(submitter, CONF_HISTORY_DAYS,
	    with_history ? "30" : "0");
	return submitter;
}

void
submitter_retry(int any)
{
	if (!any)
		return;
	world_run(MINUTE_MS, NULL);
	invariant(supervised_serves(submitter), "the submitter does not serve");
	check_retried();
	supervised_reload(submitter);
}

void
submitter_begin(void (*started)(void))
{
	on_started = started;
	if (faults()->reload_every > 0)
		world_after(PROCESS_NONE,
		    fault_wait("reload", faults()->reload_every), on_reload,
		    NULL);
	on_restart(NULL);
}
