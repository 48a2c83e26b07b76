/* SPDX-License-Identifier: MIT */
/*
 * The supervisor: `cc-slurm-adapter -daemon` executes this program.  The order
 * of the start is: configuration, users, directories, sockets, capabilities,
 * workers.  The same program, called with -parse-config, is the child that
 * reads the configuration.
 */
#include "config.h"

#include <sys/prctl.h>
#include <sys/stat.h>

#include <fcntl.h>
#include <limits.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/model/config_key.h"
#include "common/crash_point.h"
#include "common/worker/breakout.h"
#include "common/worker/landlock.h"
#include "supervisor/config/config_file.h"
#include "supervisor/supervisor.h"
#include "supervisor/system/log_output.h"

#define CONFIG_TEST_TIMEOUT_S 20 /* the workers load their libraries */
#define STATUS_USAGE	      2	 /* as Go's flag package ends */

/* The result of the parser, for the start that waits for it. */
static struct {
	struct conf conf;
	struct secrets secrets;
	int ok;
} first_conf = { .secrets = { -1, -1 } };

/* When all workers are ready for the first time, the service is up. */
static void
on_worker_ready(struct child *c)
{
	struct supervisor *sup = c->workers->arg;
	int role;

	neighbours_connect(c);
	for (role = WORKER_FIRST; role <= WORKER_LAST; role++) {
		if (child_is_used(&sup->workers.children[role]) &&
		    sup->workers.children[role].state != CHILD_READY)
			return;
	}
	if (sup->ready_sent)
		return;
	sup->ready_sent = 1;
	log_output_fields();
	log_about(LOG_ID_SERVING, NULL, 0);
	log_notice("serving: version %s, configuration %s", PACKAGE_VERSION,
	    sup->setup.config_path);
	notify_ready("serving");
	/* The start has freed memory that the C library still holds. */
	malloc_trim(0);
	if (sup->reload_pending) {
		sup->reload_pending = 0;
		reload_begin(sup);
	}
}

/* The checklist takes the state from its own questions. */
static void
on_test_summary(struct child *c, const struct summary *s)
{
	(void)c;
	(void)s;
}

/* The exporter has no socket, so that nobody can ask it. */
static void
on_test_scrape(struct child *c, uint64_t id)
{
	(void)id;
	channel_broken(c->channel, "scrape");
}

/* With -test, the answers to requests are rows of the checklist. */
static const struct channel_events test_events = {
	.hello = reload_hello,
	.conf_ok = reload_ok,
	.conf_bad = reload_bad,
	.ready = on_worker_ready,
	.ctl_row = checklist_row,
	.ctl_end = checklist_end,
	.peer_lost = neighbours_broken,
	.wrong_version = child_kill,
	.scrape = on_test_scrape,
	.summary = on_test_summary,
};

static const struct channel_events channel_events = {
	.hello = reload_hello,
	.conf_ok = reload_ok,
	.conf_bad = reload_bad,
	.ready = on_worker_ready,
	.ctl_row = control_row,
	.ctl_end = control_result,
	.peer_lost = neighbours_broken,
	.wrong_version = child_kill,
	.scrape = control_scrape,
	.summary = summary_take,
};

/*
 * Called at the start and after a reload, when the parser has just read these
 * files, because a request for the status, and the start of a process, must not
 * wait for a file system.
 */
static void
unsafe_find(struct supervisor *sup)
{
	struct unsafe_path u = { .next = 0 };
	int found = unsafe_path_next(&sup->conf, sup->setup.config_path, &u);

	snprintf(sup->unsafe, sizeof(sup->unsafe), "%s", found ? u.text : "");
	if (worker_is_wanted(&sup->conf, ROLE_RUNNER))
		secrets_warn(&sup->setup, &sup->conf);
}

static void
on_committed(struct supervisor *sup)
{
	control_users_update(sup);
	unsafe_find(sup);
}

/* -test has found no error in the file. */
static void
on_tested(struct supervisor *sup)
{
	unsafe_find(sup);
	checklist_begin(sup);
}

static const struct reload_ops reload_ops = {
	.tested = on_tested,
	.parse = parser_start,
	.committed = on_committed,
	.finished = control_reload_done,
	.stop = shutdown_begin,
};

static void
on_signal(evutil_socket_t sig, short what, void *arg)
{
	struct supervisor *sup = arg;

	if (sig == SIGCHLD)
		children_reap(sup);
	else if (sig == SIGHUP)
		reload_begin(sup);
	else
		shutdown_begin(sup, sig == SIGTERM ? "SIGTERM" : "SIGINT", 0);
}

static void
signals_catch(struct supervisor *sup)
{
	static const int caught[] = { SIGCHLD, SIGHUP, SIGTERM, SIGINT };
	struct event *ev;
	size_t i;

	signal(SIGPIPE, SIG_IGN);
	for (i = 0; i < sizeof(caught) / sizeof(caught[0]); i++) {
		ev = evsignal_new(sup->base, caught[i], on_signal, sup);
		if (ev == NULL || event_add(ev, NULL) == -1)
			fatalx("out of memory");
	}
}

/* The programs of the workers are in the directory of this program. */
static char *
own_directory(void)
{
	char path[PATH_MAX], *slash;
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);

	if (n <= 0)
		return strdup(WORKERDIR);
	path[n] = '\0';
	slash = strrchr(path, '/');
	if (slash == NULL || slash == path)
		return strdup(WORKERDIR);
	*slash = '\0';
	return strdup(path);
}

static void
sup_init(struct supervisor *sup, const struct options *options)
{
	struct workers *w = &sup->workers;

	setup_init(&sup->setup);
	sup->setup.config_path = options->config != NULL ? options->config :
							   CONFIG_DEFAULT;
	sup->config_explicit = options->config != NULL;
	sup->setup.as_root = geteuid() == 0;
	sup->setup.program_dir = own_directory();
	sup->pidfile = -1;
	sup->secrets = sup->reload.secrets = NO_SECRETS;
	sup->reload_ops = &reload_ops;
	sup->started_ms = clock_ms();
	orphans_init(&sup->orphans);
	sup->base = event_base_new();
	if (sup->setup.program_dir == NULL || sup->base == NULL)
		fatalx("out of memory");
	w->base = sup->base;
	w->setup = &sup->setup;
	w->conf = &sup->conf;
	w->events = &channel_events;
	w->ops = &child_ops;
	w->arg = sup;
}

static void
on_first_parsed(struct supervisor *sup, struct conf *conf,
    struct secrets secrets, const char *reason)
{
	if (conf != NULL) {
		first_conf.conf = *conf;
		first_conf.secrets = secrets;
		first_conf.ok = 1;
	} else {
		log_about(LOG_ID_CONFIG_REFUSED, NULL, 0);
		log_errorx("the configuration is refused: %s", reason);
	}
	event_base_loopbreak(sup->base);
}

/* 0, or -1 (logged). */
static int
conf_load(struct supervisor *sup)
{
	if (parser_start(sup, on_first_parsed) == -1) {
		log_error("the parser of the configuration cannot be started");
		return -1;
	}
	event_base_dispatch(sup->base);
	parser_cancel(sup);
	if (!first_conf.ok || sup->workers.stopping)
		return -1;
	conf_set_first(sup, &first_conf.conf, first_conf.secrets);
	return 0;
}

/* Prepares all that needs the rights with which the service was started. */
static int
system_prepare(struct supervisor *sup)
{
	const char *path = conf_str(&sup->conf, CONF_PID_FILE);
	struct setup *setup = &sup->setup;

	if (users_resolve(setup, &sup->conf) == -1 ||
	    conf_add_own_uids(sup, &sup->conf) == -1 ||
	    directory_prepare_for(setup, path) == -1)
		return -1;
	sup->pidfile = pidfile_lock(path);
	if (sup->pidfile == -1)
		return -1;
	if (directories_prepare(setup, &sup->conf) == -1 ||
	    sockets_open(setup, &sup->conf) == -1 || control_open(sup) == -1)
		return -1;
	if (pidfile_write(sup->pidfile, getpid()) == -1) {
		log_error("cannot write pid file %s", path);
		return -1;
	}
	setup->kmsg = exit_reason_kmsg_open();
	capabilities_reduce(setup, 0);
	return 0;
}

static void
sup_clear(struct supervisor *sup)
{
	removed_paths_clear();
	log_pipe_free(sup->parser_log);
	control_close(sup);
	summary_clear(sup);
	sockets_close(&sup->setup, &sup->conf);
	pidfile_remove(sup->pidfile, conf_str(&sup->conf, CONF_PID_FILE));
	setup_clear(&sup->setup);
}

static void
not_protected_log(const struct setup *setup)
{
	struct not_protected np;
	unsigned i;

	not_protected_find(&np, setup, landlock_abi(), RUN_USER);
	for (i = 0; i < np.n; i++)
		log_notice("not protected: %s", np.text[i]);
}

static int
serve(struct supervisor *sup)
{
	notify_init();
	if (system_prepare(sup) == -1) {
		sup_clear(sup);
		return 1;
	}
	unsafe_find(sup);
	summary_init(sup);
	not_protected_log(&sup->setup);
	workers_start(&sup->workers);
	watchdog_init(&sup->workers);
	removed_paths_watch(sup);
	while (event_base_loop(sup->base, EVLOOP_ONCE) == 0 &&
	    !event_base_got_break(sup->base) && !event_base_got_exit(sup->base))
		summary_turn(sup);
	sup_clear(sup);
	if (sup->status == 0)
		log_notice("ended");
	return sup->status;
}

static void
on_config_test_timeout(evutil_socket_t fd, short what, void *arg)
{
	struct supervisor *sup = arg;

	if (checklist_began())
		return;
	log_errorx("no answer of %s: the configuration is not checked",
	    children_text(&sup->workers, 1));
	shutdown_begin(sup, "no answer", 1);
}

/*
 * -test: after the parser, the workers check the configuration, too.  They get
 * no directory and no socket, so that a running daemon is not disturbed.  Then
 * the collector and the runner start for the checklist, without the submitter:
 * the submitter asks cc-backend before its configuration is in force, and opens
 * no spool.  All enter the sandbox, without chroot.  A worker may be hostile, as
 * in the daemon: the supervisor gives up the rights that the test does not need.
 */
static int
config_test(struct supervisor *sup)
{
	static const struct timeval most = { .tv_sec = CONFIG_TEST_TIMEOUT_S };

	if (users_resolve(&sup->setup, &sup->conf) == -1 ||
	    conf_add_own_uids(sup, &sup->conf) == -1)
		return 1;
	/* The submitter gets the token.  Without directories: no chroot. */
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == -1)
		log_warn("core dumps cannot be disabled");
	capabilities_reduce(&sup->setup, 1);
	sup->workers.config_test = 1;
	sup->workers.events = &test_events;
	if (event_base_once(sup->base, -1, EV_TIMEOUT, on_config_test_timeout,
		sup, &most) == -1)
		fatalx("out of memory");
	workers_start(&sup->workers);
	event_base_dispatch(sup->base);
	return fflush(stdout) == 0 && !ferror(stdout) ? sup->status : 1;
}

/* The values in force of a reload: DELIVER SOURCE [MISSING-USER]. */
static void
in_force_read(struct in_force *in_force, char **argv)
{
	conf_init(&in_force->conf);
	if (conf_set(&in_force->conf, CONF_DELIVER, argv[0]) == -1 ||
	    conf_set(&in_force->conf, CONF_SOURCE, argv[1]) == -1)
		fatalx("out of memory");
	in_force->missing_user = argv[2];
}

/*
 * Called as: supervisor -parse-config PATH 3 LEVEL explicit|default, and what
 * in_force_read() reads.
 */
static int
parser_main(int argc, char **argv)
{
	long level = strtol(argv[4], NULL, 10);
	int channel = atoi(argv[3]), is_reload = argc > 7, is_explicit, rc;
	struct in_force in_force;

	if (level < 0 || level >= LOG_LEVEL__COUNT)
		level = LOG_LEVEL_WARN;
	log_init("config", (enum log_level)level);
	log_sink_set(log_record_send);
	breakout_map();
	parser_confine(channel);
	breakout_once(ROLE_PARSER);
	is_explicit = argc > 5 && strcmp(argv[5], "explicit") == 0;
	if (is_reload)
		in_force_read(&in_force, argv + 6);
	rc = parser_run(argv[2], is_explicit, is_reload ? &in_force : NULL,
	    channel);
	if (is_reload)
		conf_clear(&in_force.conf);
	return rc == 0 ? 0 : 1;
}

/*
 * A socket would get the number of a closed standard descriptor, and the log
 * would be written to that socket.
 */
static void
stdio_open(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDWR);
	while (fd != -1 && fd <= STDERR_FILENO);
	if (fd != -1)
		close(fd);
}

static int
daemon_main(const struct options *options)
{
	static struct supervisor sup; /* as long as the process */

	umask(022);
	stdio_open();
	sup_init(&sup, options);
	signals_catch(&sup);
	if (conf_load(&sup) == -1)
		return sup.workers.stopping ? sup.status : 1;
	return options->test ? config_test(&sup) : serve(&sup);
}

/* The file is the argument, that of -config, or the default. */
static int
migrate_main(const struct options *options)
{
	const char *path = options->config != NULL ? options->config :
						     CONFIG_DEFAULT;

	log_init("config", LOG_LEVEL_ERROR);
	return migrate_run(options->file != NULL ? options->file : path);
}

int
main(int argc, char **argv)
{
	struct options options;
	char wrong[256];

	if (argc >= 5 && strcmp(argv[1], "-parse-config") == 0)
		return parser_main(argc, argv);
	log_init("supervisor", LOG_LEVEL_WARN);
	log_output_init();
	if (options_parse(&options, argc, argv, wrong, sizeof(wrong)) == -1) {
		fprintf(stderr, "%s\n", wrong);
		options_usage();
		return STATUS_USAGE;
	}
	log_set_level((enum log_level)options.debug);
	crash_init();
	if (options.help) {
		options_usage();
		return 0;
	}
	if (options.migrate)
		return migrate_main(&options);
	return daemon_main(&options);
}
