/* SPDX-License-Identifier: MIT */
/*
 * cc-slurm-adapter: the hook client of slurmctld.  With -daemon, -test or
 * -migrate it executes the supervisor instead.  The hook client always ends
 * with status 0 within a second (2 for an unknown option), because another status
 * makes slurmctld requeue or cancel the job; the daemon's next poll finds a job
 * that was not reported.
 */
#include "config.h"

#include <sys/time.h>
#include <sys/uio.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/model/hook_credential.h"
#include "hook/hook.h"

#define SUPERVISOR WORKERDIR "/supervisor"
#define LINE_PARTS 8 /* strings in one line of output */

/*
 * SlurmUser often cannot read the configuration, because it may contain the
 * token; the hook then uses the default.
 */
#define CONNECT_KEY "prepSockConnectPath"
#define AUTH_KEY    "prepAuth"
#define MUNGE_KEY   "prepMungeSocket"

/* The helper that asks munged, see munge.c. */
#define MUNGE_HELPER WORKERDIR "/cc-slurm-adapter-munge"

struct options {
	const char *config;
	const char *socket;
	int daemon;
	int test;
	int migrate;
	int help;
	int version;
};

static const char help[] =
    "  -config string\n"
    "    \tconfiguration file (default \"" HOOK_CONFIG "\")\n"
    "  -daemon\n"
    "    \trun the daemon\n"
    "  -debug int\n"
    "    \tlog level of the daemon, 0 to 5 (default 2)\n"
    "  -help\n"
    "    \tprint this help\n"
    "  -migrate\n"
    "    \tprint the configuration of the Go adapter or of cc-slurm-sync,\n"
    "    \twhich is the argument after it, as one of this daemon\n"
    "  -socket string\n"
    "    \taddress to which the hook client sends its message,\n"
    "    \tPATH, unix:PATH, tcp:HOST:PORT, tcp4:... or tcp6:...\n"
    "    \t(default: prepSockConnectPath of the configuration)\n"
    "  -test\n"
    "    \tcheck the configuration, Slurm, cc-backend and this host,\n"
    "    \tprint a checklist, and exit\n"
    "  -version\n"
    "    \tprint the version\n";

static const char *const version[] = { PACKAGE " " PACKAGE_VERSION "\n", NULL };

/* Writes the strings up to NULL with one call. */
static void
fd_write(int fd, const char *const *parts)
{
	struct iovec iov[LINE_PARTS];
	uintptr_t p;
	int n;

	for (n = 0; n < LINE_PARTS && parts[n] != NULL; n++) {
		p = (uintptr_t)parts[n];
		iov[n].iov_base = (void *)p;
		iov[n].iov_len = strlen(parts[n]);
	}
	/* A closed descriptor is no reason to fail. */
	if (writev(fd, iov, n) == -1)
		return;
}

#define PRINT_ERR(...) \
	fd_write(STDERR_FILENO, (const char *const[]) { __VA_ARGS__, NULL })

static void __attribute__((noreturn)) usage(const char *what, const char *name)
{
	PRINT_ERR(what, name, "\nUsage of cc-slurm-adapter:\n", help);
	_exit(2);
}

/* The boolean values of Go's flag package: 0 or 1, -1 when invalid. */
static int
bool_parse(const char *text)
{
	static const char *const words[] = { "0", "1", "f", "t", "F", "T",
		"false", "true", "False", "True", "FALSE", "TRUE" };
	int i;

	for (i = 0; i < (int)(sizeof(words) / sizeof(words[0])); i++)
		if (strcmp(text, words[i]) == 0)
			return i % 2;
	return -1;
}

/*
 * The hook client ignores -debug.  It accepts each number, as the Go adapter does,
 * because status 2 makes slurmctld requeue the job.
 */
static int
is_number(const char *text)
{
	char *end;

	errno = 0;
	(void)strtol(text, &end, 0);
	return errno == 0 && *text != '\0' && *end == '\0';
}

/* The value of a flag: "-x v" or "-x=v". */
static const char *
flag_value(char **argv, int *i, const char *value, const char *name)
{
	if (value != NULL)
		return value;
	if (argv[*i + 1] == NULL)
		usage("flag needs an argument: -", name);
	return argv[++*i];
}

static int
flag_is(const char *flag, size_t n, const char *name)
{
	return strlen(name) == n && memcmp(flag, name, n) == 0;
}

static void
bool_flag_set(int *on, const char *value, const char *name)
{
	*on = value == NULL ? 1 : bool_parse(value);
	if (*on == -1)
		usage("invalid boolean value for -", name);
}

static void
flag_parse(struct options *o, char **argv, int *i)
{
	const char *flag = argv[*i] + (argv[*i][1] == '-' ? 2 : 1);
	const char *value = strchr(flag, '=');
	size_t n = value != NULL ? (size_t)(value - flag) : strlen(flag);

	if (value != NULL)
		value++;
	if (flag_is(flag, n, "config"))
		o->config = flag_value(argv, i, value, "config");
	else if (flag_is(flag, n, "socket"))
		o->socket = flag_value(argv, i, value, "socket");
	else if (flag_is(flag, n, "debug")) {
		if (!is_number(flag_value(argv, i, value, "debug")))
			usage("-debug takes a number from 0 to 5", "");
	} else if (flag_is(flag, n, "daemon"))
		bool_flag_set(&o->daemon, value, "daemon");
	else if (flag_is(flag, n, "test"))
		bool_flag_set(&o->test, value, "test");
	else if (flag_is(flag, n, "migrate"))
		bool_flag_set(&o->migrate, value, "migrate");
	else if (flag_is(flag, n, "help"))
		bool_flag_set(&o->help, value, "help");
	else if (flag_is(flag, n, "version"))
		bool_flag_set(&o->version, value, "version");
	else if (flag_is(flag, n, "h")) {
		PRINT_ERR("Usage of cc-slurm-adapter:\n", help);
		_exit(0);
	} else
		usage("flag provided but not defined: -", flag);
}

/*
 * As Go's flag package: a flag begins with one dash or two; the first argument
 * without a dash ends the flags.
 */
static void
options_parse(struct options *o, char **argv)
{
	int i;

	for (i = 1; argv[i] != NULL; i++) {
		if (argv[i][0] != '-' || argv[i][1] == '\0' ||
		    strcmp(argv[i], "--") == 0)
			return;
		flag_parse(o, argv, &i);
	}
}

/*
 * The alarm ends what has no time limit: the resolver, stderr.  No signal handler
 * runs while the kernel waits for a disk.  A stderr that accepts nothing gets no
 * text.
 */
static void
on_alarm(int sig)
{
	static const char text[] =
	    "cc-slurm-adapter: the message was not sent within a second: the "
	    "name service or a file system does not answer; the daemon's next "
	    "poll finds the job\n";
	struct pollfd pfd = { .fd = STDERR_FILENO, .events = POLLOUT };

	(void)sig;
	if (poll(&pfd, 1, 0) == 1 && (pfd.revents & POLLOUT) != 0 &&
	    write(STDERR_FILENO, text, sizeof(text) - 1) == -1)
		_exit(0);
	_exit(0);
}

static void
alarm_set(void)
{
	struct itimerval timer = { .it_value = {
				       .tv_usec = HOOK_ALARM_MS * 1000 } };
	struct sigaction sa;
	sigset_t set;

	memset(&sa, 0, sizeof(sa));
	sa.sa_handler = on_alarm;
	sigaction(SIGALRM, &sa, NULL);
	sa.sa_handler = SIG_IGN;
	sigaction(SIGPIPE, &sa, NULL);
	/* The signal mask is inherited from slurmctld. */
	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	setitimer(ITIMER_REAL, &timer, NULL);
}

/* Old versions of Slurm do not set SLURM_SCRIPT_CONTEXT. */
static int
context_is_hook(const char *context)
{
	return context == NULL || *context == '\0' ||
	    strcmp(context, "prolog_slurmctld") == 0 ||
	    strcmp(context, "epilog_slurmctld") == 0;
}

/* Only TCP needs a credential: the kernel names the user of a UNIX socket. */
static size_t
credential_get(const char *config, const struct address_list *list,
    char *message, size_t size, size_t len)
{
	static char path[4096];
	const char *socket = HOOK_MUNGE_SOCKET;
	size_t longer;
	char auth[16];

	if (list->at[0].to.sa.sa_family == AF_UNIX ||
	    config_key_read(config, AUTH_KEY, auth, sizeof(auth)) != 1 ||
	    strcmp(auth, "munge") != 0)
		return len;
	if (config_key_read(config, MUNGE_KEY, path, sizeof(path)) == 1)
		socket = path;
	longer = credential_add(message, size, len, MUNGE_HELPER, socket);
	/* The daemon logs which host sends messages without a credential. */
	if (longer == len)
		PRINT_ERR("cc-slurm-adapter: the message has no credential: "
			  "cannot execute " MUNGE_HELPER ", or the munged of ",
		    socket, " does not answer\n");
	return longer;
}

/*
 * The address of the daemon.  A file that -config names has another address
 * than the default, so a file that SlurmUser cannot read is reported.
 */
static const char *
socket_find(const struct options *o, const char *config, char *path,
    size_t size)
{
	int found;

	if (o->socket != NULL)
		return o->socket;
	found = config_key_read(config, CONNECT_KEY, path, size);
	if (found == -1 && o->config != NULL)
		PRINT_ERR("cc-slurm-adapter: cannot read ", config, ": ",
		    strerror(errno), "; the message goes to ", HOOK_SOCKET,
		    "; -socket names another address\n");
	return found == 1 ? path : HOOK_SOCKET;
}

static void
hook_run(const struct options *o)
{
	static char message[MESSAGE_MAX], path[4096];
	const char *config = o->config != NULL ? o->config : HOOK_CONFIG;
	const char *job = getenv("SLURM_JOB_ID"), *socket_text;
	const char *context = getenv("SLURM_SCRIPT_CONTEXT"), *wrong;
	struct address_list list;
	size_t len;
	long end;

	if (job == NULL || *job == '\0') {
		PRINT_ERR("cc-slurm-adapter: SLURM_JOB_ID is not set: the hook "
			  "client is for PrologSlurmctld and EpilogSlurmctld; "
			  "-daemon runs the daemon, -help prints the usage\n");
		return;
	}
	if (!context_is_hook(context)) {
		PRINT_ERR("cc-slurm-adapter: no message is sent: "
			  "SLURM_SCRIPT_CONTEXT is ",
		    context, ", not prolog_slurmctld or epilog_slurmctld\n");
		return;
	}
	socket_text = socket_find(o, config, path, sizeof(path));
	if ((wrong = address_parse(socket_text, &list)) == NULL) {
		end = hook_clock_ms() + HOOK_TRY_MS;
		len = message_write(message, sizeof(message) - CREDENTIAL_ROOM);
		len = credential_get(config, &list, message, sizeof(message),
		    len);
		if (message_send(&list, message, len, end) == -1)
			wrong = strerror(errno);
	}
	if (wrong != NULL)
		PRINT_ERR("cc-slurm-adapter: job ", job, " is not reported to ",
		    socket_text, ": ", wrong,
		    "; the daemon's next poll finds the job\n");
}

/*
 * Up to 20.11, slurmctld closes the standard descriptors of its scripts.  A pipe or
 * a socket would get their numbers, and texts for stderr would be written there.
 */
static void
stdio_open(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDWR);
	while (fd != -1 && fd < STDERR_FILENO);
	if (fd > STDERR_FILENO)
		close(fd);
}

int
main(int argc, char **argv)
{
	struct options o = { .config = NULL };

	(void)argc;
	stdio_open();
	options_parse(&o, argv);
	if (o.help) {
		PRINT_ERR(help);
		_exit(0);
	}
	if (o.version) {
		fd_write(STDOUT_FILENO, version);
		_exit(0);
	}
	if (o.daemon || o.test || o.migrate) {
		execv(SUPERVISOR, argv);
		PRINT_ERR("cc-slurm-adapter: cannot execute " SUPERVISOR ": ",
		    strerror(errno), "\n");
		_exit(1);
	}
	alarm_set();
	hook_run(&o);
	_exit(0);
}
