/* SPDX-License-Identifier: MIT */
/*
 * The switch to another configuration: no worker uses it before all have
 * agreed, and after a failure the old one stays in force.  The workers'
 * processes do nothing; the test reads their ends of the channels.
 */
#include "config.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "supervisor/supervisor.h"
#include "tests/unit/check.h"

static struct supervisor sup;
static parser_done *loaded;
static int far[ROLE__COUNT]; /* the worker's end of each channel */
static unsigned offered[ROLE__COUNT], used[ROLE__COUNT];
static int seals[ROLE__COUNT]; /* of the page for crashes */
static unsigned restarted, stopped;
static int outcome; /* -1 none, 0 refused, 1 in force */
static char reply[REASON_MAX];

static int
parse(struct supervisor *s, parser_done *done)
{
	loaded = done;
	return 0;
}

static void
committed(struct supervisor *s)
{
	CHECK(s == &sup);
}

static void
finished(struct supervisor *s, int ok, const char *text)
{
	outcome = ok;
	snprintf(reply, sizeof(reply), "%s", text);
}

static void
stop(struct supervisor *s, const char *why, int status)
{
	stopped = 1;
}

static const struct reload_ops reload_ops = { .parse = parse,
	.committed = committed,
	.finished = finished,
	.stop = stop };

static void
on_frame(struct channel *c, const struct msg_header *h, struct reader *r,
    int fd, void *arg)
{
}

static void
on_broken(struct channel *c, const char *why, void *arg)
{
}

static const struct channel_ops channel_ops = { .on_frame = on_frame,
	.on_broken = on_broken };

/* Reads what the supervisor has sent to the workers. */
static void
channels_read(void)
{
	struct msg_header h;
	struct reader r;
	uint8_t *payload;
	int fd, role;

	for (role = WORKER_FIRST; role <= WORKER_LAST; role++) {
		while (frame_read(far[role], (enum role)role, ROLE_SUPERVISOR,
			   &h, &payload, &fd, 0) == 0) {
			rd_init(&r, payload, h.length);
			if (h.type == MSG_CONF_END)
				offered[role] = rd_u32(&r);
			else if (h.type == MSG_CONF_COMMIT)
				used[role] = rd_u32(&r);
			else if (h.type == MSG_STOP)
				restarted |= 1u << role;
			else if (h.type == MSG_INFLIGHT)
				seals[role] = fcntl(fd, F_GET_SEALS);
			free(payload);
			if (fd != -1)
				close(fd);
		}
	}
}

/* Waits for the end of the worker's process: the signal that ended it. */
static int
signal_wait(enum role role)
{
	struct child *c = &sup.workers.children[role];
	int status;

	if (c->kill_reason == NULL || waitpid(c->pid, &status, 0) != c->pid)
		return 0;
	c->pid = 0;
	return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void
worker_make(enum role role)
{
	struct child *c = &sup.workers.children[role];
	int fds[2];

	child_init(&sup.workers, role);
	CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) == 0);
	c->state = CHILD_SANDBOXED;
	c->channel = channel_new(sup.base, fds[0], ROLE_SUPERVISOR, role,
	    &channel_ops, c);
	far[role] = fds[1];
	c->pid = fork();
	CHECK(c->pid != -1);
	if (c->pid == 0) {
		pause();
		_exit(0);
	}
}

static void
worker_end(enum role role)
{
	struct child *c = &sup.workers.children[role];

	if (c->pid != 0) {
		kill(c->pid, SIGKILL);
		waitpid(c->pid, NULL, 0);
	}
	event_free(c->restart);
	event_free(c->deadline);
	inflight_free(c->inflight);
	channel_free(c->channel);
	close(far[role]);
}

static void
agree(enum role role)
{
	struct child *c = &sup.workers.children[role];

	reload_ok(c, c->conf_sent);
	channels_read();
}

static void
all_agree(void)
{
	int role;

	for (role = WORKER_FIRST; role <= WORKER_LAST; role++)
		agree((enum role)role);
}

/* The parser has read a file with one value, or with defaults only. */
static void
file_says(enum conf_key key, const char *value)
{
	struct conf conf;

	outcome = -1;
	restarted = 0;
	reload_begin(&sup);
	conf_init(&conf);
	if (value != NULL)
		conf_set(&conf, key, value);
	loaded(&sup, &conf, (struct secrets) { dup(0), -1 }, NULL);
	channels_read();
}

/* Without a socket of the hooks the supervisor would make that of a daemon. */
static int
hook_socket(void)
{
	const struct sockaddr_un any = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	CHECK(fd != -1 &&
	    bind(fd, (const struct sockaddr *)&any, sizeof(any.sun_family)) ==
		0 &&
	    listen(fd, 1) == 0);
	return fd;
}

static void
start(void)
{
	struct conf conf;
	int role;

	memset(&sup, 0, sizeof(sup));
	setup_init(&sup.setup);
	sup.setup.listen_fds[sup.setup.n_listen++] = hook_socket();
	sup.base = event_base_new();
	sup.secrets = NO_SECRETS;
	sup.reload_ops = &reload_ops;
	sup.setup.config_path = "config.json";
	sup.workers.base = sup.base;
	sup.workers.setup = &sup.setup;
	sup.workers.conf = &sup.conf;
	sup.workers.arg = &sup;
	conf_init(&conf);
	CHECK_INT(conf_add_own_uids(&sup, &conf), 0);
	conf_set_first(&sup, &conf, (struct secrets) { dup(0), dup(0) });
	for (role = WORKER_FIRST; role <= WORKER_LAST; role++) {
		worker_make((enum role)role);
		used[role] = 0;
		reload_hello(&sup.workers.children[role]);
	}
	channels_read();
	stopped = 0;
}

static void
serve_all(void)
{
	int role;

	start();
	all_agree();
	for (role = WORKER_FIRST; role <= WORKER_LAST; role++)
		sup.workers.children[role].state = CHILD_READY;
	sup.ready_sent = 1;
}

static void
end(void)
{
	int role;

	for (role = WORKER_FIRST; role <= WORKER_LAST; role++)
		worker_end((enum role)role);
	close(sup.setup.listen_fds[0]);
	conf_clear(&sup.conf);
	secrets_close(&sup.secrets);
	event_base_free(sup.base);
}

/*
 * A worker that shrinks its page for crashes would end the supervisor, which reads
 * the page, with SIGBUS.
 */
static void
page_is_sealed(enum role role)
{
	int want = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

	CHECK(seals[role] != -1);
	CHECK_INT(seals[role] & want, want);
}

static void
test_first(void)
{
	memset(seals, 0, sizeof(seals));
	start();
	agree(ROLE_LISTENER);
	agree(ROLE_SUBMITTER);
	agree(ROLE_RUNNER);
	agree(ROLE_EXPORTER);
	agree(ROLE_RECEIVER);
	CHECK_INT(used[ROLE_LISTENER], 0);
	agree(ROLE_COLLECTOR);
	CHECK_INT(used[ROLE_LISTENER], 1);
	CHECK_INT(used[ROLE_COLLECTOR], 1);
	CHECK_INT(used[ROLE_SUBMITTER], 1);
	page_is_sealed(ROLE_COLLECTOR);
	page_is_sealed(ROLE_SUBMITTER);
	page_is_sealed(ROLE_RECEIVER);
	end();

	start();
	reload_bad(&sup.workers.children[ROLE_COLLECTOR], 1, "no");
	CHECK_INT(stopped, 1);
	end();
}

/* Without metricsListen there is no exporter, and no process waits for it. */
static void
test_without_exporter(void)
{
	start();
	worker_end(ROLE_EXPORTER);
	memset(&sup.workers.children[ROLE_EXPORTER], 0, sizeof(struct child));
	agree(ROLE_LISTENER);
	agree(ROLE_SUBMITTER);
	agree(ROLE_RUNNER);
	agree(ROLE_RECEIVER);
	agree(ROLE_COLLECTOR);
	CHECK_INT(used[ROLE_LISTENER], 1);
	CHECK_INT(used[ROLE_SUBMITTER], 1);
	worker_make(ROLE_EXPORTER);
	end();
}

static void
test_switch(void)
{
	serve_all();
	file_says(CONF_POLL_INTERVAL, "5");
	CHECK_INT(offered[ROLE_LISTENER], 2);
	agree(ROLE_LISTENER);
	agree(ROLE_COLLECTOR);
	agree(ROLE_RUNNER);
	agree(ROLE_EXPORTER);
	agree(ROLE_RECEIVER);
	CHECK_INT(used[ROLE_LISTENER], 1);
	CHECK_INT(conf_int(&sup.conf, CONF_POLL_INTERVAL), 60);
	CHECK_INT(outcome, -1);
	agree(ROLE_SUBMITTER);
	CHECK_INT(outcome, 1);
	CHECK_INT(used[ROLE_LISTENER], 2);
	CHECK_INT(used[ROLE_SUBMITTER], 2);
	CHECK_INT(conf_int(&sup.conf, CONF_POLL_INTERVAL), 5);
	CHECK_INT(sup.conf.generation, 2);
	CHECK_INT(restarted, 0);
	end();
}

static void
test_refused(void)
{
	serve_all();
	file_says(CONF_POLL_INTERVAL, "5");
	agree(ROLE_LISTENER);
	reload_bad(&sup.workers.children[ROLE_COLLECTOR], 2, "no");
	CHECK_INT(outcome, 0);
	agree(ROLE_SUBMITTER); /* too late: it gets the old one */
	CHECK_INT(offered[ROLE_SUBMITTER], 1);
	reload_bad(&sup.workers.children[ROLE_RECEIVER], 2, "no, too late");
	CHECK(sup.workers.children[ROLE_RECEIVER].kill_reason == NULL);
	CHECK_INT(used[ROLE_LISTENER], 1);
	CHECK_INT(conf_int(&sup.conf, CONF_POLL_INTERVAL), 60);

	file_says(CONF_POLL_INTERVAL, "6");
	agree(ROLE_LISTENER);
	reload_child_gone(&sup.workers.children[ROLE_SUBMITTER]);
	CHECK_INT(outcome, 0);
	CHECK_INT(conf_int(&sup.conf, CONF_POLL_INTERVAL), 60);

	outcome = -1;
	reload_begin(&sup);
	loaded(&sup, NULL, NO_SECRETS, "line 3: what is that?");
	CHECK_INT(outcome, 0);
	CHECK_INT(sup.conf.generation, 1);
	end();
}

/* Agrees for the workers that were asked. */
static void
asked_agree(void)
{
	int role;

	for (role = WORKER_FIRST; role <= WORKER_LAST; role++)
		if (sup.reload.roles_asked & (1u << role))
			agree((enum role)role);
}

/* The reply names the workers that have not checked the configuration. */
static void
test_unchecked(void)
{
	serve_all();
	sup.workers.children[ROLE_SUBMITTER].state = CHILD_SANDBOXED;
	file_says(CONF_POLL_INTERVAL, "5");
	asked_agree();
	CHECK_STR(reply,
	    "configuration 2 is in force: 1 value changed, "
	    "secrets read again; not checked by: submitter, "
	    "which was not ready");
	sup.workers.children[ROLE_COLLECTOR].state = CHILD_DOWN;
	file_says(CONF_SPOOL_DIR, "/elsewhere");
	asked_agree();
	CHECK_STR(reply,
	    "configuration 3 is in force: 1 value changed, "
	    "secrets read again; changes only with a restart "
	    "of the service: spoolDir; not checked by: "
	    "collector, submitter, which were not ready");
	/* A worker that this configuration does not have is not missing. */
	worker_end(ROLE_COLLECTOR);
	memset(&sup.workers.children[ROLE_COLLECTOR], 0, sizeof(struct child));
	sup.workers.children[ROLE_SUBMITTER].state = CHILD_READY;
	file_says(CONF_POLL_INTERVAL, "5");
	asked_agree();
	CHECK(strstr(reply, "in force") != NULL);
	CHECK(strstr(reply, "not checked") == NULL);
	worker_make(ROLE_COLLECTOR);
	end();
}

/* A worker that is down is not asked; it gets the one in force. */
static void
test_away(void)
{
	struct child *c = &sup.workers.children[ROLE_COLLECTOR];

	serve_all();
	c->state = CHILD_DOWN;
	file_says(CONF_POLL_INTERVAL, "5");
	c->state = CHILD_SANDBOXED;
	reload_hello(c);
	CHECK_INT(offered[ROLE_COLLECTOR], 1);
	agree(ROLE_LISTENER);
	agree(ROLE_RUNNER);
	agree(ROLE_EXPORTER);
	agree(ROLE_RECEIVER);
	agree(ROLE_SUBMITTER);
	CHECK_INT(outcome, 1);
	CHECK_INT(offered[ROLE_COLLECTOR], 3 - 1);
	agree(ROLE_COLLECTOR);
	CHECK_INT(used[ROLE_COLLECTOR], 2);
	reload_bad(c, 2, "changed its mind");
	CHECK_INT(signal_wait(ROLE_COLLECTOR), SIGKILL);
	CHECK(sup.workers.children[ROLE_LISTENER].kill_reason == NULL);
	end();
}

/* The reply names the keys whose new value needs a restart of the service. */
static void
test_kept(void)
{
	struct conf all;
	int key;

	serve_all();
	file_says(CONF_SPOOL_DIR, "/elsewhere");
	all_agree();
	CHECK_STR(reply,
	    "configuration 2 is in force: 0 values changed, "
	    "secrets read again; changes only with a restart "
	    "of the service: spoolDir");
	file_says(CONF_POLL_INTERVAL, "5");
	all_agree();
	CHECK_STR(reply,
	    "configuration 3 is in force: 1 value changed, "
	    "secrets read again");
	/* The clusters are those of the new source. */
	outcome = -1;
	reload_begin(&sup);
	conf_init(&all);
	conf_set(&all, CONF_SOURCE, "stream");
	conf_set(&all, CONF_CLUSTERS, "[\"alpha\"]");
	loaded(&sup, &all, (struct secrets) { dup(0), -1 }, NULL);
	channels_read();
	all_agree();
	CHECK(strstr(reply, "of the service: clusters, source") != NULL);
	CHECK_STR(conf_str(&sup.conf, CONF_CLUSTERS), "[]");
	CHECK_INT(restarted, 0);
	/* all of them have space */
	outcome = -1;
	reload_begin(&sup);
	conf_init(&all);
	for (key = 0; key < CONF__COUNT; key++)
		if (conf_rule(key)->effect == CONF_EFFECT_SERVICE)
			conf_set(&all, key, "/changed");
	loaded(&sup, &all, (struct secrets) { dup(0), -1 }, NULL);
	channels_read();
	all_agree();
	CHECK_INT(outcome, 1);
	for (key = 0; key < CONF__COUNT; key++)
		if (conf_rule(key)->effect == CONF_EFFECT_SERVICE)
			CHECK(strstr(reply, conf_rule(key)->name) != NULL);
	end();
}

static void
test_effects(void)
{
	serve_all();
	/* Each command sees the paths as they are when it starts. */
	file_says(CONF_SLURM_BIN_DIR, "/opt/slurm/bin");
	all_agree();
	CHECK_INT(restarted, 0);
	file_says(CONF_SLURM_EXTRA_PATHS, "[\"/opt\"]");
	all_agree();
	CHECK_INT(restarted, 0);
	CHECK_STR(conf_str(&sup.conf, CONF_SLURM_BIN_DIR), "");
	file_says(CONF_CLUSTERS, "[\"alpha\"]");
	all_agree();
	/* The receiver keeps the lease of the active centre. */
	CHECK_INT(restarted,
	    1u << ROLE_COLLECTOR | 1u << ROLE_RUNNER | 1u << ROLE_SUBMITTER);
	CHECK_INT(used[ROLE_RECEIVER], sup.conf.generation);
	/* As in their new processes. */
	sup.workers.children[ROLE_COLLECTOR].stop_requested = 0;
	sup.workers.children[ROLE_SUBMITTER].stop_requested = 0;
	sup.workers.children[ROLE_RUNNER].stop_requested = 0;
	/* Needs a restart of the service: the old value stays. */
	file_says(CONF_SPOOL_DIR, "/elsewhere");
	all_agree();
	CHECK_INT(outcome, 1);
	CHECK_STR(conf_str(&sup.conf, CONF_SPOOL_DIR), "");
	end();
}

/* A second request during a reload is done after it. */
static void
test_twice(void)
{
	serve_all();
	file_says(CONF_POLL_INTERVAL, "5");
	loaded = NULL;
	reload_begin(&sup);
	CHECK(loaded == NULL);
	all_agree();
	CHECK(loaded != NULL);
	CHECK_INT(sup.reload_pending, 0);
	end();
}

/* A worker becomes ready between the offer and the switch. */
static void
test_ready_between(void)
{
	struct child *c = &sup.workers.children[ROLE_COLLECTOR];
	int role;

	serve_all();
	c->state = CHILD_DOWN;
	file_says(CONF_POLL_INTERVAL, "5");
	c->state = CHILD_SANDBOXED;
	c->conf_sent = c->conf_agreed = 0;
	reload_hello(c);
	channels_read();
	CHECK_INT(offered[ROLE_COLLECTOR], 1);
	agree(ROLE_COLLECTOR);
	c->state = CHILD_READY;
	for (role = WORKER_FIRST; role <= WORKER_LAST; role++)
		if (role != ROLE_COLLECTOR)
			agree((enum role)role);
	CHECK_INT(outcome, 1);
	CHECK_INT(offered[ROLE_COLLECTOR], 2);
	agree(ROLE_COLLECTOR);
	CHECK_INT(used[ROLE_COLLECTOR], 2);
	end();
}

/*
 * The same, and the next reload, which is refused, replaces the offer of the
 * configuration in force.
 */
static void
test_refused_between(void)
{
	struct child *c = &sup.workers.children[ROLE_COLLECTOR];
	int role;

	serve_all();
	c->state = CHILD_DOWN;
	file_says(CONF_POLL_INTERVAL, "5");
	c->state = CHILD_SANDBOXED;
	c->conf_sent = c->conf_agreed = c->conf_used = 0;
	reload_hello(c);
	channels_read();
	agree(ROLE_COLLECTOR);
	for (role = WORKER_FIRST; role <= WORKER_LAST; role++)
		if (role != ROLE_COLLECTOR)
			agree((enum role)role);
	CHECK_INT(outcome, 1);
	c->state = CHILD_READY;
	file_says(CONF_POLL_INTERVAL, "7");
	agree(ROLE_COLLECTOR);
	reload_bad(&sup.workers.children[ROLE_LISTENER], 3, "no");
	channels_read();
	CHECK_INT(outcome, 0);
	CHECK_INT(offered[ROLE_COLLECTOR], 2);
	agree(ROLE_COLLECTOR);
	CHECK_INT(used[ROLE_COLLECTOR], 2);
	end();
}

/* A second reload while a worker ends because of the first one. */
static void
test_twice_restart(void)
{
	struct conf conf;
	int role;

	serve_all();
	file_says(CONF_CLUSTERS, "[\"alpha\"]");
	all_agree();
	CHECK_INT(outcome, 1);
	CHECK(sup.workers.children[ROLE_COLLECTOR].stop_requested);
	outcome = -1;
	reload_begin(&sup);
	conf_init(&conf);
	CHECK_INT(conf_set(&conf, CONF_CLUSTERS, "[\"alpha\",\"beta\"]"), 0);
	loaded(&sup, &conf, (struct secrets) { dup(0), -1 }, NULL);
	channels_read();
	reload_child_gone(&sup.workers.children[ROLE_COLLECTOR]);
	CHECK_INT(outcome, -1);
	for (role = WORKER_FIRST; role <= WORKER_LAST; role++)
		if (!sup.workers.children[role].stop_requested)
			agree((enum role)role);
	CHECK_INT(outcome, 1);
	end();
}

int
main(void)
{
	log_init("test", LOG_LEVEL_FATAL);
	test_first();
	test_without_exporter();
	test_switch();
	test_refused();
	test_unchecked();
	test_away();
	test_kept();
	test_effects();
	test_twice();
	test_ready_between();
	test_refused_between();
	test_twice_restart();
	return check_done();
}
