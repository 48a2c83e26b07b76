/* SPDX-License-Identifier: MIT */
/*
 * The supervisor: `cc-slurm-adapter -daemon` becomes this program.  It starts
 * with the configuration, then users, folders, sockets and rights, and last
 * the workers; the same program, called with -parse-config, is the child that
 * reads the configuration.
 */
#include "config.h"

#include <sys/stat.h>

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/crash_point.h"
#include "supervisor/config/config_file.h"
#include "supervisor/system/supervisor.h"

#define CONFIG_DEFAULT	"/etc/cc-slurm-adapter/config.json"
#define STATUS_USAGE	2	/* as Go's flag package ends */

/* What the parser's child said, for the start that waits for it. */
static struct {
	struct conf	conf;
	int		secrets;
	int		ok;
} first_conf = { .secrets = -1 };

struct child *
child_of(struct supervisor *sup, enum role role)
{
	return &sup->children[role];
}

void
workers_check_ready(struct supervisor *sup)
{
	int role;

	for (role = WORKER_FIRST; role <= WORKER_LAST; role++) {
		if (sup->children[role].state != CHILD_READY)
			return;
	}
	if (sup->ready_sent)
		return;
	sup->ready_sent = 1;
	log_notice("serving: version %s, configuration %s", PACKAGE_VERSION,
	    sup->config_path);
	notify_ready("serving");
	if (sup->reload_pending) {
		sup->reload_pending = 0;
		reload_begin(sup);
	}
}

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
			fatalx("no memory for signals");
	}
}

/* The workers lie beside this program, wherever it was installed. */
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
	sup->config_path = options->config != NULL ? options->config :
	    CONFIG_DEFAULT;
	sup->config_explicit = options->config != NULL;
	sup->as_root = geteuid() == 0;
	sup->worker_dir = own_directory();
	sup->kmsg = sup->pidfile = sup->listen_fd = sup->ctl_fd = -1;
	sup->secrets = sup->reload.secrets = sup->setup.lastrun = -1;
	sup->started = clock_ms();
	sup->base = event_base_new();
	if (sup->worker_dir == NULL || sup->base == NULL)
		fatalx("no memory");
}

static void
on_first_parsed(struct supervisor *sup, struct conf *conf, int secrets,
    const char *reason)
{
	if (conf != NULL) {
		first_conf.conf = *conf;
		first_conf.secrets = secrets;
		first_conf.ok = 1;
	} else
		log_errorx("the configuration is refused: %s", reason);
	event_base_loopbreak(sup->base);
}

/* 0, or -1 (logged). */
static int
conf_load(struct supervisor *sup)
{
	if (parser_start(sup, on_first_parsed) == -1) {
		log_error("the parser cannot be started");
		return -1;
	}
	event_base_dispatch(sup->base);
	parser_cancel(sup);
	if (!first_conf.ok || sup->stopping)
		return -1;
	conf_set_first(sup, &first_conf.conf, first_conf.secrets);
	return 0;
}

/* Everything that needs the rights we were started with. */
static int
system_prepare(struct supervisor *sup)
{
	const char *path = conf_str(&sup->conf, CONF_PID_FILE);

	if (users_resolve(sup) == -1 || conf_add_own_uids(sup, &sup->conf) == -1 ||
	    directory_prepare_for(sup, path) == -1)
		return -1;
	sup->pidfile = pidfile_lock(path);
	if (sup->pidfile == -1)
		return -1;
	if (directories_prepare(sup) == -1 || sockets_open(sup) == -1 ||
	    control_open(sup) == -1)
		return -1;
	if (pidfile_write(sup->pidfile, getpid()) == -1) {
		log_error("pid file %s", path);
		return -1;
	}
	sup->kmsg = exit_reason_kmsg_open();
	capabilities_reduce(sup);
	return 0;
}

void
workers_start(struct supervisor *sup)
{
	static const enum role order[] = { ROLE_SUBMITTER, ROLE_COLLECTOR,
		ROLE_LISTENER };
	size_t i;

	neighbours_init(sup);
	for (i = 0; i < WORKERS; i++)
		child_init(sup, child_of(sup, order[i]), order[i]);
	for (i = 0; i < WORKERS; i++)
		child_start(child_of(sup, order[i]));
}

static void
sup_clear(struct supervisor *sup)
{
	control_close(sup);
	sockets_close(sup);
	pidfile_remove(sup->pidfile, conf_str(&sup->conf, CONF_PID_FILE));
	setup_clear(&sup->setup);
}

static int
serve(struct supervisor *sup)
{
	notify_init();
	if (system_prepare(sup) == -1) {
		sup_clear(sup);
		return 1;
	}
	workers_start(sup);
	watchdog_init(sup);
	event_base_dispatch(sup->base);
	sup_clear(sup);
	if (sup->status == 0)
		log_notice("ended");
	return sup->status;
}

/* Called as: supervisor -parse-config PATH 3 LEVEL [explicit] */
static int
parser_main(int argc, char **argv)
{
	long level = strtol(argv[4], NULL, 10);

	if (level < 0 || level >= LOG_LEVEL__COUNT)
		level = LOG_LEVEL_WARN;
	log_init("config", (enum log_level)level);
	return parser_run(argv[2], argc > 5, atoi(argv[3])) == 0 ? 0 : 1;
}

/* Where one of them is closed, a socket would take its number, and the log go there. */
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
	static struct supervisor sup;	/* as long as the process */

	umask(022);
	stdio_open();
	sup_init(&sup, options);
	signals_catch(&sup);
	if (conf_load(&sup) == -1)
		return sup.stopping ? sup.status : 1;
	return options->test ? config_test_run(&sup) : serve(&sup);
}

int
main(int argc, char **argv)
{
	struct options options;
	char wrong[256];

	if (argc >= 5 && strcmp(argv[1], "-parse-config") == 0)
		return parser_main(argc, argv);
	log_init("supervisor", LOG_LEVEL_WARN);
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
	return daemon_main(&options);
}
