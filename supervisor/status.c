/* SPDX-License-Identifier: MIT */
/* The rows of the supervisor in `status`, `metrics` and `warnings`. */
#include "config.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "common/text/time_text.h"
#include "common/worker/landlock.h"
#include "supervisor/summary.h"
#include "supervisor/supervisor.h"
#include "supervisor/system/recent_warnings.h"

#define VALUE_MAX    2048 /* bytes with the NUL */
#define METRIC(name) "cc_slurm_adapter_" name

struct output {
	status_row_fn *emit;
	void *arg;
};

static void __attribute__((format(printf, 4, 5))) row(const struct output *to,
    const char *process, const char *key, const char *fmt, ...)
{
	char value[VALUE_MAX];
	struct writer w;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(value, sizeof(value), fmt, ap);
	va_end(ap);
	wr_init(&w, CTL_REPLY_MAX);
	ctl_row(&w, CTL_T_STATUS, process, key, value, NULL);
	to->emit(to->arg, &w);
	wr_clear(&w);
}

static const char *
state_name(const struct child *c)
{
	switch (c->state) {
	case CHILD_DOWN:
		return "down";
	case CHILD_STARTED:
		return "starting";
	case CHILD_SANDBOXED:
		return "taking its configuration";
	case CHILD_READY:
		break;
	}
	return "serving";
}

static void
worker_rows(const struct output *to, const struct child *c)
{
	const char *name = role_name(c->role);

	row(to, name, "state", "%s", state_name(c));
	if (c->pid != 0) {
		row(to, name, "pid", "%d", (int)c->pid);
		row(to, name, "uptime", "%lld",
		    (clock_ms() - c->started_ms) / 1000);
	}
	row(to, name, "restarts", "%u", c->restarts);
	if (c->last_exit[0] != '\0')
		row(to, name, "last_exit", "%s", c->last_exit);
	row(to, name, "sandbox", "%s", c->layers);
}

static const char *
mode_name(const struct supervisor *sup)
{
	static const char *const words[] = {
		[SANDBOX_ENFORCE] = "enforce",
		[SANDBOX_LOG] = "log",
		[SANDBOX_OFF] = "off",
	};

	return words[sup->setup.mode];
}

static void
crash_rows(const struct output *to, const struct supervisor *sup)
{
	const struct crash_record *s;
	unsigned i;

	for (i = 0; i < sup->workers.n_crash_records; i++) {
		s = &sup->workers.crash_records[i];
		row(to, "supervisor", "crashed_on", "%s, %u times",
		    run_key_text(&s->key), s->crashes);
	}
}

static void
problem_row(const struct output *to, const struct attention_item *item)
{
	char since[24];
	struct writer w;

	snprintf(since, sizeof(since), "%lld", (long long)item->problem.since);
	wr_init(&w, CTL_REPLY_MAX);
	ctl_row(&w, CTL_T_PROBLEM, problem_stage(item->problem.kind), since,
	    role_name(item->role), item->problem.text, NULL);
	to->emit(to->arg, &w);
	wr_clear(&w);
}

/* The sentence, then one row for each problem. */
static void
summary_rows(const struct output *to, struct supervisor *sup)
{
	char sentence[SENTENCE_MAX], since[24], more[24];
	const struct attention *a;
	struct writer w;
	unsigned i;

	if (sup->overview == NULL)
		return;
	a = summary_now(sup);
	sentence_write(a, time(NULL), sentence, sizeof(sentence));
	snprintf(since, sizeof(since), "%lld", (long long)a->since);
	snprintf(more, sizeof(more), "%u", a->more);
	wr_init(&w, CTL_REPLY_MAX);
	ctl_row(&w, CTL_T_SUMMARY, a->n > 0 ? "degraded" : "ok", since, more,
	    sentence, NULL);
	to->emit(to->arg, &w);
	wr_clear(&w);
	for (i = 0; i < a->n; i++)
		problem_row(to, &a->items[i]);
}

static void
not_protected_rows(const struct output *to, const struct supervisor *sup)
{
	struct not_protected np;
	unsigned i;

	not_protected_find(&np, &sup->setup, landlock_abi(), RUN_USER);
	for (i = 0; i < np.n; i++)
		row(to, "supervisor", "not_protected", "%s", np.text[i]);
}

void
status_report(struct supervisor *sup, status_row_fn *emit, void *arg)
{
	const struct output to = { emit, arg };
	int role;

	summary_rows(&to, sup);
	row(&to, "supervisor", "version", "%s", PACKAGE_VERSION);
	row(&to, "supervisor", "state", "%s%s",
	    *sup->unsafe != '\0' ? "DEGRADED: " : "ok", sup->unsafe);
	row(&to, "supervisor", "uptime", "%lld",
	    (clock_ms() - sup->started_ms) / 1000);
	row(&to, "supervisor", "mode", "%s",
	    sup->setup.as_root ? "root" : "user");
	row(&to, "supervisor", "sandbox", "%s", mode_name(sup));
	not_protected_rows(&to, sup);
	row(&to, "supervisor", "configuration", "%s", sup->setup.config_path);
	row(&to, "supervisor", "spool_dir", "%s", sup->setup.spool_dir);
	row(&to, "supervisor", "generation", "%u", sup->conf.generation);
	row(&to, "supervisor", "last_reload", "%s: %s",
	    time_text(sup->reload_time), sup->reload_result);
	crash_rows(&to, sup);
	for (role = WORKER_FIRST; role <= WORKER_LAST; role++)
		if (child_is_used(&sup->workers.children[role]))
			worker_rows(&to, &sup->workers.children[role]);
}

static void
metric(const struct output *to, const char *name, const char *type,
    const char *help, const char *worker, long long value)
{
	char labels[64] = "", text[32];
	struct writer w;

	if (worker != NULL)
		snprintf(labels, sizeof(labels), "worker=\"%s\"", worker);
	snprintf(text, sizeof(text), "%lld", value);
	wr_init(&w, CTL_REPLY_MAX);
	ctl_row(&w, CTL_T_METRIC, name, type, help, labels, text, NULL);
	to->emit(to->arg, &w);
	wr_clear(&w);
}

void
metrics_report(const struct supervisor *sup, status_row_fn *emit, void *arg)
{
	const struct output to = { emit, arg };
	const struct child *c;
	int role;

	metric(&to, METRIC("uptime_seconds"), "gauge",
	    "Time since the start of the service.", NULL,
	    (clock_ms() - sup->started_ms) / 1000);
	metric(&to, METRIC("configuration_generation"), "gauge",
	    "Number of the configuration in force.", NULL,
	    sup->conf.generation);
	for (role = WORKER_FIRST; role <= WORKER_LAST; role++) {
		c = &sup->workers.children[role];
		if (!child_is_used(c))
			continue;
		metric(&to, METRIC("worker_up"), "gauge",
		    "1 while the worker is ready.", role_name(c->role),
		    c->state == CHILD_READY);
		metric(&to, METRIC("worker_restarts_total"), "counter",
		    "Number of restarts of the worker.", role_name(c->role),
		    c->restarts);
	}
}

static void
warning_row(const struct output *to, const struct recent_warning *kept)
{
	static const char *const levels[] = { [LOG_FATAL] = "fatal",
		[LOG_ERROR] = "error",
		[LOG_WARN] = "warn" };
	char last[24], first[24], count[24];
	struct writer w;

	snprintf(last, sizeof(last), "%lld", (long long)kept->last);
	snprintf(first, sizeof(first), "%lld", (long long)kept->first);
	snprintf(count, sizeof(count), "%llu", (unsigned long long)kept->count);
	wr_init(&w, CTL_REPLY_MAX);
	ctl_row(&w, CTL_T_WARNING, last, first, count, kept->sender,
	    levels[kept->kind], kept->text, NULL);
	to->emit(to->arg, &w);
	wr_clear(&w);
}

unsigned
warnings_report(status_row_fn *emit, void *arg)
{
	const struct output to = { emit, arg };
	const struct recent_warning *kept;
	unsigned n;

	for (n = 0; (kept = recent_warning_at(n)) != NULL; n++)
		warning_row(&to, kept);
	return n;
}
