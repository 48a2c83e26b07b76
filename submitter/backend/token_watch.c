/* SPDX-License-Identifier: MIT */
/* Reports the expiry of the token; see token_watch.h. */
#include "config.h"

#include <stdio.h>

#include "common/log.h"
#include "common/text/time_text.h"
#include "submitter/backend/token_watch.h"
#include "submitter/base/context.h"
#include "submitter/net/http.h"

static enum token_stage reported; /* of the token in force */
/* A clock that moves around a limit must not fill the log. */
static struct log_limit said_soon, said_expired, said_valid;

void
token_watch_conf(struct submitter *s)
{
	reported = TOKEN_VALID;
}

static void
expiry_log(struct submitter *s, enum token_stage stage,
    const struct token_expiry *e, int64_t now)
{
	const char *when = time_text(e->expires), *where = http_where(s->http);
	int64_t left = (e->expires - now) * 1000;

	log_about(LOG_ID_TOKEN_EXPIRES, NULL, 0);
	if (stage == TOKEN_EXPIRED)
		log_limited(&said_expired, log_errorx,
		    "the token for cc-backend at %s expired at %s, %s ago: "
		    "cc-backend refuses all requests, and all runs are kept; " TOKEN_REMEDY,
		    where, when, duration_text(-left));
	else if (stage > reported)
		log_limited(&said_soon, log_warnx,
		    "the token for cc-backend at %s expires at %s, in %s; " TOKEN_REMEDY,
		    where, when, duration_text(left));
	else
		log_limited(&said_valid, log_notice,
		    "the clock was set back: the token for cc-backend at %s "
		    "expires at %s, in %s",
		    where, when, duration_text(left));
}

void
token_watch_check(struct submitter *s, int64_t now)
{
	const struct token_expiry *e = http_token_expiry(s->http);
	enum token_stage stage = token_stage(e, now);

	if (stage == reported)
		return;
	expiry_log(s, stage, e, now);
	reported = stage;
}

void
token_watch_summary(struct submitter *s, struct summary *to, int64_t now)
{
	const struct token_expiry *e = http_token_expiry(s->http);
	enum token_stage stage = token_stage(e, now);

	if (stage == TOKEN_EXPIRED)
		summary_add(to, PROBLEM_TOKEN, 0, e->expires,
		    "the token for cc-backend has expired; " TOKEN_REMEDY);
	else if (stage != TOKEN_VALID)
		summary_add(to, PROBLEM_TOKEN, 0, 0,
		    "the token for cc-backend expires at %s; " TOKEN_REMEDY,
		    time_text(e->expires));
}

void
token_watch_status(struct submitter *s, uint64_t request, int64_t now)
{
	char text[128];

	token_expiry_text(http_token_expiry(s->http), now, text, sizeof(text));
	worker_status(s->w, request, "token", "%s", text);
}

void
token_watch_metrics(struct submitter *s, uint64_t request, int64_t now)
{
	const struct token_expiry *e = http_token_expiry(s->http);
	char labels[32], value[32];

	snprintf(labels, sizeof(labels), "kind=\"%s\"",
	    token_kind_name(e->kind));
	worker_metric_row(s->w, request, "cc_slurm_adapter_token_info", "gauge",
	    "Kind of the token for cc-backend; always 1.", labels, "1");
	if (e->kind != TOKEN_EXPIRES)
		return;
	snprintf(value, sizeof(value), "%lld", (long long)e->expires);
	worker_metric_row(s->w, request,
	    "cc_slurm_adapter_token_expiry_timestamp_seconds", "gauge",
	    "Time at which the token for cc-backend expires.", "", value);
	snprintf(value, sizeof(value), "%lld", (long long)(e->expires - now));
	worker_metric_row(s->w, request,
	    "cc_slurm_adapter_token_remaining_seconds", "gauge",
	    "Time until the token for cc-backend expires, negative afterwards.",
	    "", value);
}
