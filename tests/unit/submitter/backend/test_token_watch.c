/* SPDX-License-Identifier: MIT */
/* Each warning about the token is logged once, whatever the clock does. */
#include "config.h"

#include <unistd.h>

#include "common/log.h"
#include "submitter/backend/token_watch.h"
#include "submitter/base/context.h"
#include "submitter/net/http.h"
#include "tests/unit/check.h"

#define DAY    86400
#define EXPIRY (400 * DAY)

static struct token_expiry expiry = { TOKEN_EXPIRES, EXPIRY };
static struct submitter s;
static char rows[1024];

const struct token_expiry *
http_token_expiry(const struct http_client *r)
{
	return &expiry;
}

const char *
http_where(const struct http_client *r)
{
	return "cc:443";
}

void
worker_metric_row(struct worker *w, uint64_t request, const char *name,
    const char *type, const char *help, const char *labels, const char *value)
{
	size_t n = strlen(rows);

	snprintf(rows + n, sizeof(rows) - n, "%s{%s} %s\n", name, labels,
	    value);
}

void
worker_status(struct worker *w, uint64_t request, const char *key,
    const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(rows, sizeof(rows), fmt, ap);
	va_end(ap);
}

/* What a check at that time logs; static memory. */
static const char *
logged(int64_t now)
{
	static char text[4096];
	int keep = dup(STDERR_FILENO);
	FILE *f = tmpfile();
	size_t n;

	dup2(fileno(f), STDERR_FILENO);
	token_watch_check(&s, now);
	dup2(keep, STDERR_FILENO);
	close(keep);
	rewind(f);
	n = fread(text, 1, sizeof(text) - 1, f);
	text[n] = '\0';
	fclose(f);
	return text;
}

static void
test_life(void)
{
	token_watch_conf(&s);
	CHECK_STR(logged(EXPIRY - 15 * DAY), "");
	CHECK(strstr(logged(EXPIRY - 14 * DAY), "in 14 d") != NULL);
	CHECK_STR(logged(EXPIRY - 13 * DAY), "");
}

/* The limit of one line a minute does not hide another stage for long. */
static void
test_expired(void)
{
	const char *text;

	text = logged(EXPIRY + 300);
	CHECK(strstr(text, "expired at") != NULL);
	CHECK(strstr(text, "5 min ago") != NULL);
	CHECK(strstr(text, "cc:443") != NULL);
	CHECK_STR(logged(EXPIRY + DAY), "");
}

static void
test_clock_set_back(void)
{
	CHECK(strstr(logged(EXPIRY - 20 * DAY), "the clock was set back") !=
	    NULL);
	CHECK_STR(logged(EXPIRY - 20 * DAY), "");
	/* a clock that jumps to and fro does not fill the log */
	CHECK_STR(logged(EXPIRY + DAY), "");
	CHECK_STR(logged(EXPIRY - 20 * DAY), "");
}

static void
test_rows(void)
{
	rows[0] = '\0';
	token_watch_metrics(&s, 1, EXPIRY + 60);
	CHECK_STR(rows,
	    "cc_slurm_adapter_token_info{kind=\"expires\"} 1\n"
	    "cc_slurm_adapter_token_expiry_timestamp_seconds{} 34560000\n"
	    "cc_slurm_adapter_token_remaining_seconds{} -60\n");
	token_watch_status(&s, 1, EXPIRY + 60);
	CHECK(strstr(rows, "expired 1971-") != NULL);
	expiry.kind = TOKEN_ENDLESS;
	rows[0] = '\0';
	token_watch_metrics(&s, 1, 0);
	CHECK_STR(rows, "cc_slurm_adapter_token_info{kind=\"endless\"} 1\n");
	CHECK_STR(logged(EXPIRY + DAY), "");
}

int
main(void)
{
	log_init("test", LOG_LEVEL_WARN);
	test_life();
	test_expired();
	test_clock_set_back();
	test_rows();
	return check_done();
}
