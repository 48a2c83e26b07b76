/* SPDX-License-Identifier: MIT */
/* The admin tool's command line. */
#include "config.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "ctl/ctl.h"
#include "tests/unit/check.h"

#define WORDS_MAX 12

/* Splits at blanks, as a shell would. */
static const char *
parse(struct ctl_args *args, const char *line)
{
	static char copy[512], name[] = "ctl";
	char *argv[WORDS_MAX + 2], *rest = copy;
	int n = 0;

	snprintf(copy, sizeof(copy), "%s", line);
	argv[n++] = name;
	while (n <= WORDS_MAX && (argv[n] = strsep(&rest, " ")) != NULL)
		n++;
	argv[n] = NULL;
	return args_parse(args, n, argv);
}

static void
test_good_lines(void)
{
	struct ctl_args args;

	CHECK_STR(parse(&args, "status"), NULL);
	CHECK_INT(args.req.verb, CTL_STATUS);
	CHECK_STR(args.socket, NULL);
	CHECK_STR(args.config, NULL);
	CHECK_STR(parse(&args, "-c /etc/x.json status"), NULL);
	CHECK_STR(args.config, "/etc/x.json");
	CHECK_STR(ctl_request_check(&args.req), NULL);
	CHECK_STR(parse(&args, "-s /tmp/x -j queue --rejected --limit 7"),
	    NULL);
	CHECK_INT(args.json, 1);
	CHECK_STR(args.socket, "/tmp/x");
	CHECK_INT(args.req.flags, CTL_FLAG_REJECTED);
	CHECK_INT(args.req.limit, 7);
	CHECK_INT(args.verbose, 0);
	CHECK_INT(args.no_color, 0);
	CHECK_STR(parse(&args, "--no-color status -v"), NULL);
	CHECK_INT(args.req.verb, CTL_STATUS);
	CHECK_INT(args.verbose, 1);
	CHECK_INT(args.no_color, 1);
	CHECK_STR(parse(&args, "watch"), NULL);
	CHECK_INT(args.watch, 1);
	CHECK_STR(parse(&args, "retry 5 6"), NULL);
	CHECK_INT(args.req.n_ids, 2);
	CHECK_INT(args.req.ids[1], 6);
	CHECK_STR(parse(&args, "retry --all"), NULL);
	CHECK_INT(args.req.flags, CTL_FLAG_ALL);
	CHECK_STR(parse(&args, "sync --dry-run --force"), NULL);
	CHECK_INT(args.req.flags, CTL_FLAG_DRY_RUN | CTL_FLAG_FORCE);
	CHECK_STR(ctl_request_check(&args.req), NULL);
	CHECK_STR(parse(&args,
		      "sync --job 3 --job 4 --limit 9 --dry-run "
		      "--direction start --cluster alpha"),
	    NULL);
	CHECK_INT(args.req.flags, CTL_FLAG_DRY_RUN | CTL_FLAG_START);
	CHECK_INT(args.req.n_ids, 2);
	CHECK_INT(args.req.limit, 9);
	CHECK_STR(args.req.text, "alpha");
	CHECK_STR(ctl_request_check(&args.req), NULL);
	CHECK_STR(parse(&args, "sync --direction stop --direction both"), NULL);
	CHECK_INT(args.req.flags, 0);
	CHECK_STR(parse(&args, "reload"), NULL);
	args.req.n_ids = 1; /* not allowed with --all */
	CHECK(ctl_request_check(&args.req) != NULL);
	CHECK_STR(parse(&args, "metrics --prometheus"), NULL);
	CHECK_INT(args.prometheus, 1);
	CHECK_STR(ctl_request_check(&args.req), NULL);
	CHECK_STR(parse(&args, "metrics"), NULL);
	CHECK_INT(args.prometheus, 0);
	CHECK_STR(parse(&args, "queue --job 3 --job 4 --cluster alpha"), NULL);
	CHECK_INT(args.req.n_ids, 2);
	CHECK_STR(args.req.text, "alpha");
	CHECK_STR(ctl_request_check(&args.req), NULL);
	CHECK_STR(parse(&args, "explain 4711 4712 --cluster beta --anonymize"),
	    NULL);
	CHECK_INT(args.req.verb, CTL_EXPLAIN);
	CHECK_INT(args.req.n_ids, 2);
	CHECK_INT(args.req.flags, CTL_FLAG_ANONYMIZE);
	CHECK_STR(args.req.text, "beta");
	CHECK_STR(ctl_request_check(&args.req), NULL);
	args.req.verb = CTL_EXPLAIN_SLURM;
	CHECK_STR(ctl_request_check(&args.req), NULL);
	CHECK(parse(&args, "explain") != NULL);
	CHECK_STR(parse(&args, "explain 4711_3 5 4711+1 --from 2026-11-20"),
	    NULL);
	CHECK_INT(args.req.n_ids, 1);
	CHECK_INT(args.n_parts, 2);
	CHECK_STR(args.parts[0], "4711_3");
	CHECK(args.req.a > 1700000000);
	CHECK_INT(job_part_parse(args.parts[1], &args.req), 1);
	CHECK_INT(args.req.verb, CTL_JOB_PART);
	CHECK_INT(args.req.ids[0], 4711);
	CHECK_INT(args.req.a, 1);
	CHECK_INT(args.req.b, CTL_PART_COMPONENT);
	args.req.flags = 0;
	CHECK_STR(ctl_request_check(&args.req), NULL);
	CHECK_STR(parse(&args, "explain 7_0"), NULL);
	CHECK(parse(&args, "explain 4711_") != NULL);
	CHECK(parse(&args, "explain _3") != NULL);
	CHECK(parse(&args, "explain 0_3") != NULL);
	CHECK(parse(&args, "explain 4711_3_1") != NULL);
	CHECK(parse(&args, "explain 4711_4294967296") != NULL);
	CHECK(parse(&args, "retry 4711_3") != NULL);
	CHECK(parse(&args, "explain 4711 --all") != NULL);
	CHECK_STR(parse(&args, "report -o page.html --anonymize"), NULL);
	CHECK_INT(args.report, 1);
	CHECK_STR(args.file, "page.html");
	CHECK_INT(args.req.flags, CTL_FLAG_ANONYMIZE);
	CHECK(parse(&args, "report -o") != NULL);
	CHECK(parse(&args, "report page.html") != NULL);
	CHECK_STR(parse(&args, "history"), NULL);
	CHECK_STR(ctl_request_check(&args.req), NULL);
	CHECK_STR(parse(&args, "log DEBUG"), NULL);
	CHECK_INT(args.req.a, 4);
	CHECK_STR(parse(&args, "log 0"), NULL);
	CHECK_INT(args.req.a, 0);
	CHECK_STR(parse(&args, "backfill --from 1000000000 --to 2001-09-10Z"),
	    NULL);
	CHECK_INT(args.req.a, 1000000000);
	CHECK_INT(args.req.b, 1000080000);
	CHECK_STR(
	    parse(&args,
		"backfill --from 1700000000 --to 1800000000 --cluster alpha "
		"--dry-run"),
	    NULL);
	CHECK_STR(ctl_request_check(&args.req), NULL);
	CHECK_STR(parse(&args,
		      "backfill --from 1700000000 --to 1800000000 --nats"),
	    NULL);
	CHECK_INT(args.req.flags, CTL_FLAG_NATS);
	CHECK_STR(ctl_request_check(&args.req), NULL);
	CHECK_STR(parse(&args, "backfill --status"), NULL);
	CHECK_INT(args.req.flags, CTL_FLAG_STATUS);
	CHECK_STR(ctl_request_check(&args.req), NULL);
	CHECK_STR(parse(&args, "backfill --status --cluster alpha"), NULL);
	CHECK_STR(args.req.text, "alpha");
	CHECK_STR(ctl_request_check(&args.req), NULL);
	CHECK_STR(parse(&args, "backfill --cancel"), NULL);
	CHECK_STR(parse(&args, "backfill --cancel --cluster alpha"), NULL);
	CHECK_INT(args.req.flags, CTL_FLAG_CANCEL);
	CHECK_STR(args.req.text, "alpha");
	CHECK_STR(ctl_request_check(&args.req), NULL);
	CHECK_STR(parse(&args, "repair --dry-run"), NULL);
	CHECK_STR(parse(&args, "repair 4711 4712"), NULL);
	CHECK_INT(args.req.n_ids, 2);
	CHECK_INT(args.req.verb, CTL_REPAIR);
	CHECK_STR(parse(&args, "repair --cluster alpha --dry-run 4711"), NULL);
	CHECK_STR(args.req.text, "alpha");
	CHECK_STR(ctl_request_check(&args.req), NULL);
	CHECK_STR(parse(&args, "drop --cluster alpha 4711"), NULL);
	CHECK_STR(args.req.text, "alpha");
	CHECK_INT(args.req.ids[0], 4711);
	CHECK_STR(ctl_request_check(&args.req), NULL);
	CHECK_STR(parse(&args, "retry --all --cluster alpha"), NULL);
	CHECK_STR(args.req.text, "alpha");
	CHECK_STR(ctl_request_check(&args.req), NULL);
}

static void
test_bad_lines(void)
{
	static const char *const bad[] = { "", "-x status", "-s", "nonsense",
		"-c", "-c /x -s /y status", "status 5", "status -v 5",
		"-v status", "watch 5", "-j watch", "-j report",
		"queue --no-color", "queue --all", "retry", "retry --all 5",
		"drop --cluster alpha", "retry 0", "retry 5x", "retry -5",
		"drop", "drop --all", "sync 5", "sync --job", "sync --job x",
		"queue --cluster", "sync --direction up", "sync --limit 0",
		"sync --job 5 --force", "sync --force --limit 1",
		"sync --force --direction stop", "sync --direction",
		"queue --direction start", "repair --job 5", "log", "log 6",
		"log loud", "log 1 2", "backfill", "backfill --status --cancel",
		"backfill --cancel --nats",
		"backfill --from 1700000000 --cancel",
		"backfill --status --dry-run", "backfill --status --nats",
		"backfill --from 1700000000 --to 1800000000 --job 1",
		"backfill --from 1700000000",
		"backfill --from 1700000000 --to 1700000000",
		"backfill --from x --to 1700000000",
		"backfill --from 20261001 --to 20261101",
		"backfill --from 5 --to 1700000000",
		"backfill --from 2026-09-01 --to 2026-09-31",
		"backfill --from 2026-02-30Z --to 2026-04-01",
		"queue --limit 0", "retry 1 2 3 99999999999" };
	struct ctl_args args;
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		CHECK(parse(&args, bad[i]) != NULL);
		if (parse(&args, bad[i]) == NULL)
			fprintf(stderr, "    taken: %s\n", bad[i]);
	}
}

/* The socket in a configuration with this text; NULL: refused. */
static const char *
socket_of(const char *text)
{
	static struct ctl_args args;
	static char config[] = "/tmp/test_options.XXXXXX";
	char reason[512];
	int fd, rc;

	memset(&args, 0, sizeof(args));
	strcpy(strrchr(config, '.') + 1, "XXXXXX");
	fd = mkstemp(config);
	CHECK(
	    fd != -1 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	close(fd);
	args.config = config;
	rc = socket_find(&args, reason, sizeof(reason));
	unlink(config);
	return rc == 0 ? args.socket : NULL;
}

static void
test_socket(void)
{
	struct ctl_args args = { .socket = "/tmp/s" };
	char reason[512];

	CHECK_INT(socket_find(&args, reason, sizeof(reason)), 0);
	CHECK_STR(args.socket, "/tmp/s");
	CHECK_STR(socket_of("{}"), "/run/cc-slurm-adapter/ctl.sock");
	CHECK_STR(socket_of("{\"pidFilePath\": \"/run/x/b.pid\"}"),
	    "/run/x/b.ctl.sock");
	CHECK_STR(socket_of("{\"PIDFILEPATH\": \"/run/x/daemon.pid\","
			    "\"ctlSockPath\": \"\"}"),
	    "/run/x/ctl.sock");
	CHECK_STR(socket_of("{\"pidFilePath\": \"/run/x/b.pid\","
			    "\"ctlSockPath\": \"/run/c\"}"),
	    "/run/c");
	/* The keys may be after the error. */
	CHECK(socket_of("") == NULL);
	CHECK(socket_of("{\"ccRestUrl\": \"http://a\" "
			"\"pidFilePath\": \"/run/x/b.pid\"}") == NULL);
	CHECK(socket_of("{\"ccRestUrl\": \"http://a\"") == NULL);
	CHECK_STR(socket_of("{\"pidFilePath\": \"/run/x/b.pid\", }"),
	    "/run/x/b.ctl.sock");
	args.socket = NULL;
	args.config = "/nonexistent";
	CHECK_INT(socket_find(&args, reason, sizeof(reason)), -1);
	CHECK(strstr(reason, "/nonexistent: No such file") != NULL);
}

static void
test_times(void)
{
	int64_t t;

	setenv("TZ", "UTC-2", 1);
	tzset();
	CHECK_INT(time_parse("1795246579", 0, &t), 0);
	CHECK_INT(t, 1795246579);
	CHECK_INT(time_parse("1970-01-02", 0, &t), 0);
	CHECK_INT(t, 86400 - 7200);
	CHECK_INT(time_parse("1970-01-02T00:01Z", 0, &t), 0);
	CHECK_INT(t, 86460);
	CHECK_INT(time_parse("1970-01-02T00:00:07", 0, &t), 0);
	CHECK_INT(t, 86407 - 7200);
	CHECK_INT(time_parse("", 0, &t), -1);
	CHECK_INT(time_parse("yesterday", 0, &t), -1);
	CHECK_INT(time_parse("1970-01-02 ", 0, &t), -1);
	CHECK_INT(time_parse("1969-01-01", 0, &t), -1);
	CHECK_INT(time_parse("99999999999999999999", 0, &t), -1);
}

/* 02:30 exists twice in October and not at all in March. */
static void
test_clock_change(void)
{
	int64_t t;

	setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
	tzset();
	CHECK_INT(time_parse("2026-10-25T02:30", 0, &t), 0);
	CHECK_INT(t, 1792888200);
	CHECK_INT(time_parse("2026-10-25T02:30", 1, &t), 0);
	CHECK_INT(t, 1792888200 + 3600);
	CHECK_INT(time_parse("2026-03-29T02:30", 0, &t), 0);
	CHECK_INT(t, 1774744200);
	CHECK_INT(time_parse("2026-03-29T02:30", 1, &t), 0);
	CHECK_INT(t, 1774744200 + 3600);
	CHECK_INT(time_parse("2026-07-01", 0, &t), 0);
	CHECK_INT(t, 1782856800);
	CHECK_INT(time_parse("2026-12-01T12:00", 1, &t), 0);
	CHECK_INT(t, 1796122800);
	CHECK_INT(time_parse("2026-09-31", 1, &t), -1);
	CHECK_INT(time_parse("2026-02-29", 0, &t), -1);
	CHECK_INT(time_parse("2026-02-29T12:00Z", 0, &t), -1);
	CHECK_INT(time_parse("2028-02-29", 0, &t), 0);
	/* The clocks change at midnight: the day begins at 01:00. */
	setenv("TZ", "<-04>4<-03>,M9.1.6/24,M4.1.6/24", 1);
	tzset();
	CHECK_INT(time_parse("2026-09-06", 0, &t), 0);
	CHECK_INT(t, 1788667200);
	CHECK_INT(time_parse("2026-09-06", 1, &t), 0);
	CHECK_INT(t, 1788667200);
}

int
main(void)
{
	test_good_lines();
	test_bad_lines();
	test_socket();
	test_times();
	test_clock_change();
	return check_done();
}
