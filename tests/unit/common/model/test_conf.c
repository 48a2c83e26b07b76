/* SPDX-License-Identifier: MIT */
/* Configuration values, lists and secrets. */
#include "config.h"

#include "common/model/conf.h"
#include "tests/unit/check.h"

static void
test_paths(void)
{
	static const struct {
		const char *pid, *ctl, *last_run, *spool;
	} cases[] = {
		{ "/run/a/daemon.pid", "/run/a/ctl.sock", "/var/lib/a/lastrun",
		    "/var/lib/a/spool" },
		{ "/run/a/b.pid", "/run/a/b.ctl.sock", "/var/lib/a/last_run",
		    "/var/lib/a/spool" },
		{ "/run/a/xdaemon.pid", "/run/a/xdaemon.ctl.sock",
		    "/var/lib/a/b_last_run", "/var/lib/a/b_last_run.spool" },
		{ "/run/a/daemon", "/run/a/daemon.ctl.sock", "/b", "/b.spool" },
		{ "/.pid", "/.pid.ctl.sock", "/lastrun", "/spool" },
		{ "/a.pid.pid", "/a.pid.ctl.sock", "/a/last.run",
		    "/a/last.run.spool" },
	};
	char path[64];
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		CHECK_INT(conf_ctl_sock_path(cases[i].pid, path, sizeof(path)),
		    0);
		CHECK_STR(path, cases[i].ctl);
		CHECK_INT(conf_spool_path(cases[i].last_run, path,
			      sizeof(path)),
		    0);
		CHECK_STR(path, cases[i].spool);
	}
	CHECK_INT(conf_ctl_sock_path("/run/a/b.pid", path, 17), -1);
	CHECK_INT(conf_ctl_sock_path("/run/a/b.pid", path, 18), 0);
}

static void
test_conf(void)
{
	struct conf c;
	char item[16];
	struct writer w;
	struct reader r;

	conf_init(&c);
	CHECK_INT(conf_int(&c, CONF_POLL_INTERVAL), 60);
	CHECK_INT(conf_bool(&c, CONF_CC_REST_SUBMIT), 1);
	CHECK_STR(conf_rule(CONF_PREP_LISTEN)->name, "prepSockListenPath");
	wr_init(&w, 1000);
	conf_write(&w, CONF_POLL_INTERVAL, "5");
	rd_init(&r, w.buf, w.len);
	conf_read(&r, &c);
	CHECK(rd_end(&r) == 0);
	CHECK_INT(conf_int(&c, CONF_POLL_INTERVAL), 5);
	rd_init(&r, w.buf, w.len - 1);
	conf_read(&r, &c);
	CHECK(r.err);
	wr_clear(&w);
	conf_clear(&c);

	CHECK_INT(conf_list_item("[\"a\", \"b\\\"c\"]", 0, item, 16), 1);
	CHECK_STR(item, "a");
	CHECK_INT(conf_list_item("[\"a\", \"b\\\"c\"]", 1, item, 16), 1);
	CHECK_STR(item, "b\"c");
	CHECK_INT(conf_list_item("[\"a\", \"b\\\"c\"]", 2, item, 16), 0);
	CHECK_INT(conf_list_item("[]", 0, item, 16), 0);
	CHECK_INT(conf_list_item("[\"abc\"]", 0, item, 3), -1);
	CHECK_INT(conf_list_item("[\"abc", 0, item, 16), 0);
}

static void
test_secrets(void)
{
	struct writer w;
	const uint8_t *p;
	size_t n;

	wr_init(&w, CONF_SECRETS_MAX);
	wr_u16(&w, CONF_CC_REST_JWT);
	wr_blob(&w, "token", 5);
	wr_u16(&w, CONF_NATS_USER);
	wr_blob(&w, "me", 2);
	p = conf_secret(w.buf, w.len, CONF_NATS_USER, &n);
	CHECK(p != NULL && n == 2 && memcmp(p, "me", 2) == 0);
	CHECK(conf_secret(w.buf, w.len, CONF_NATS_PASSWORD, &n) == NULL);
	CHECK(conf_secret(w.buf, w.len - 1, CONF_NATS_USER, &n) == NULL);
	CHECK(conf_secret(NULL, 0, CONF_NATS_USER, &n) == NULL);
	wr_clear(&w);
}

/* Only the process that connects to NATS gets its address and its login. */
static void
test_receivers_of_keys(void)
{
	struct conf c;

	conf_init(&c);
	CHECK(!conf_reads_stream(&c) && !conf_delivers_to_stream(&c));
	CHECK(conf_is_for(&c, CONF_NATS_SERVER, ROLE_SUBMITTER));
	CHECK(!conf_is_for(&c, CONF_NATS_SERVER, ROLE_RECEIVER));
	CHECK(conf_is_for(&c, CONF_CC_REST_JWT, ROLE_SUBMITTER));
	CHECK(!conf_is_for(&c, CONF_CC_REST_JWT, ROLE_RECEIVER));
	CHECK(!conf_is_for(&c, CONF_CC_REST_JWT, ROLE_COLLECTOR));
	CHECK_INT(conf_set(&c, CONF_SOURCE, "stream"), 0);
	CHECK(conf_reads_stream(&c));
	CHECK(!conf_is_for(&c, CONF_NATS_SERVER, ROLE_SUBMITTER));
	CHECK(conf_is_for(&c, CONF_NATS_SERVER, ROLE_RECEIVER));
	CHECK(!conf_is_for(&c, CONF_NATS_PASSWORD, ROLE_SUBMITTER));
	CHECK(conf_is_for(&c, CONF_NATS_PASSWORD, ROLE_RECEIVER));
	CHECK(conf_is_for(&c, CONF_CC_REST_JWT, ROLE_SUBMITTER));
	CHECK(!conf_is_for(&c, CONF_CC_REST_JWT, ROLE_RECEIVER));
	CHECK(conf_is_for(&c, CONF_CLUSTERS, ROLE_RECEIVER));
	CHECK(conf_is_for(&c, CONF_CLUSTERS, ROLE_SUBMITTER));
	conf_clear(&c);
	CHECK_INT(conf_set(&c, CONF_DELIVER, "stream"), 0);
	CHECK(conf_delivers_to_stream(&c));
	CHECK(conf_is_for(&c, CONF_NATS_SERVER, ROLE_SUBMITTER));
	conf_clear(&c);
}

int
main(void)
{
	test_paths();
	test_conf();
	test_secrets();
	test_receivers_of_keys();
	return check_done();
}
