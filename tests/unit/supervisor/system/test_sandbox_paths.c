/* SPDX-License-Identifier: MIT */
/*
 * The paths that the workers may open.  Landlock has no rule that denies, so
 * that one directory too many would allow access to the secrets.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>

#include "supervisor/system/system.h"
#include "tests/unit/check.h"

static struct setup setup;
static struct conf conf;
static struct sandbox sb;
static char spool[] = "/var/lib/x/spool", empty[] = "/var/lib/x/empty";

static void
fill(enum role role)
{
	sandbox_clear(&sb);
	sandbox_init(&sb, role);
	sandbox_paths_fill(&setup, &conf, &sb);
}

/* The rights that the list allows on path. */
static unsigned
rights(const char *path)
{
	unsigned access = 0;
	size_t n;
	int i;

	for (i = 0; i < sb.n_paths; i++) {
		n = strlen(sb.paths[i].path);
		if (strncmp(sb.paths[i].path, path, n) == 0 &&
		    (path[n] == '/' || path[n] == '\0'))
			access |= sb.paths[i].access;
	}
	return access;
}

/* No path; the supervisor has no list for the commands of the runner. */
static void
test_closed(void)
{
	fill(ROLE_LISTENER);
	CHECK_INT(sb.n_paths, 0);
	CHECK_STR(sb.root, empty);
	CHECK_INT(sb.nproc, 0);
	CHECK_INT(sb.fsize, 0);
	fill(ROLE_COLLECTOR);
	CHECK_INT(sb.n_paths, 0);
	CHECK_STR(sb.root, empty);
	CHECK_INT(sb.nproc, 0);
	CHECK_INT(sb.fsize, 0);
	fill(ROLE_RUNNER);
	CHECK_INT(sb.n_paths, 0);
	CHECK(sb.root == NULL);
	CHECK_INT(sb.nproc, 4096);
}

static void
test_submitter(void)
{
	fill(ROLE_SUBMITTER);
	CHECK_STR(sb.root, spool);
	CHECK_INT(sb.n_paths, 1);
	CHECK_INT(rights("/var/lib/x/spool/spool.db"),
	    SANDBOX_READ | SANDBOX_WRITE);
	CHECK_INT(rights("/var/lib/x/lastrun"), 0);
}

static int
has_port(uint16_t port)
{
	unsigned i;

	for (i = 0; i < sb.n_ports; i++)
		if (sb.ports[i] == port)
			return 1;
	return 0;
}

/* cc-backend's, the brokers' and the name servers' ports, no other. */
static void
test_ports(void)
{
	struct conf next;

	fill(ROLE_RUNNER);
	CHECK_INT(sb.n_ports, 0);
	CHECK_INT(conf_set(&conf, CONF_CC_REST_URL, "https://cc/x"), 0);
	fill(ROLE_SUBMITTER);
	CHECK_INT(sb.n_ports, 2);
	CHECK(has_port(53) && has_port(443));
	CHECK_INT(conf_set(&conf, CONF_NATS_SERVER, "a, b:53, tls://[::1]:5"),
	    0);
	fill(ROLE_SUBMITTER);
	CHECK_INT(sb.n_ports, 4);
	CHECK(has_port(4222) && has_port(5));
	conf_init(&next);
	CHECK_INT(sandbox_ports_differ(&conf, &next, ROLE_SUBMITTER), 1);
	CHECK_INT(conf_set(&next, CONF_NATS_SERVER, "x, y:53, z:5"), 0);
	CHECK_INT(conf_set(&next, CONF_CC_REST_URL, "https://other/"), 0);
	CHECK_INT(sandbox_ports_differ(&conf, &next, ROLE_SUBMITTER), 0);
	CHECK_INT(conf_set(&next, CONF_CC_REST_URL, "http://cc/x"), 0);
	CHECK_INT(sandbox_ports_differ(&conf, &next, ROLE_SUBMITTER), 1);
	conf_clear(&next);
}

/* With source "stream" the receiver has the brokers, the submitter has not. */
static void
test_receiver(void)
{
	struct conf next;

	CHECK_INT(conf_set(&conf, CONF_SOURCE, "stream"), 0);
	fill(ROLE_RECEIVER);
	CHECK_INT(sb.n_paths, 0);
	CHECK_STR(sb.root, empty);
	CHECK_INT(sb.fsize, 0);
	CHECK_INT(sb.n_ports, 3);
	CHECK(has_port(53) && has_port(4222) && has_port(5));
	CHECK(!has_port(443));
	fill(ROLE_SUBMITTER);
	CHECK_INT(sb.n_ports, 2);
	CHECK(has_port(53) && has_port(443));
	conf_init(&next);
	CHECK_INT(conf_set(&next, CONF_SOURCE, "stream"), 0);
	CHECK_INT(conf_set(&next, CONF_CC_REST_URL, "https://cc/x"), 0);
	CHECK_INT(conf_set(&next, CONF_NATS_SERVER, "a:6"), 0);
	CHECK_INT(sandbox_ports_differ(&conf, &next, ROLE_SUBMITTER), 0);
	CHECK_INT(sandbox_ports_differ(&conf, &next, ROLE_RECEIVER), 1);
	conf_clear(&next);
	/* The host of a cluster does not connect to cc-backend. */
	CHECK_INT(conf_set(&conf, CONF_SOURCE, "slurm"), 0);
	CHECK_INT(conf_set(&conf, CONF_DELIVER, "stream"), 0);
	fill(ROLE_SUBMITTER);
	CHECK_INT(sb.n_ports, 3);
	CHECK(!has_port(443));
}

/* The processes of each kind of host. */
static void
test_wanted(void)
{
	struct conf c;

	conf_init(&c);
	CHECK(worker_is_wanted(&c, ROLE_LISTENER) &&
	    worker_is_wanted(&c, ROLE_COLLECTOR) &&
	    worker_is_wanted(&c, ROLE_RUNNER) &&
	    worker_is_wanted(&c, ROLE_SUBMITTER));
	CHECK(!worker_is_wanted(&c, ROLE_RECEIVER));
	CHECK(!worker_is_wanted(&c, ROLE_EXPORTER));
	CHECK_INT(conf_set(&c, CONF_SOURCE, "stream"), 0);
	CHECK(!worker_is_wanted(&c, ROLE_LISTENER) &&
	    !worker_is_wanted(&c, ROLE_COLLECTOR) &&
	    !worker_is_wanted(&c, ROLE_RUNNER));
	CHECK(worker_is_wanted(&c, ROLE_SUBMITTER) &&
	    worker_is_wanted(&c, ROLE_RECEIVER));
	conf_clear(&c);
}

int
main(void)
{
	log_init("test", LOG_LEVEL_FATAL);
	conf_init(&conf);
	setup.config_path = "/etc/cc-slurm-adapter/config.json";
	setup.spool_dir = spool;
	setup.empty_dir = empty;
	sandbox_init(&sb, ROLE_LISTENER);
	test_closed();
	test_submitter();
	test_ports();
	test_receiver();
	test_wanted();
	sandbox_clear(&sb);
	conf_clear(&conf);
	return check_done();
}
