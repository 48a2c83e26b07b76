/* SPDX-License-Identifier: MIT */
/*
 * What a parser of the configuration can do that an attacker controls.  Each
 * attempt is made in a process of its own that has entered the sandbox of the
 * parser.
 */
#include "config.h"

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <pwd.h>
#include <seccomp.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <linux/capability.h>

#include "common/log.h"
#include "supervisor/config/config_file.h"
#include "tests/unit/check.h"

#define SIGNALLED 1000 /* outcome: ended by signal outcome - this */
#define NOBODY	  65534
#define END_MS	  60000

#ifdef SANITIZED
#define DENIED 0 /* a sanitizer needs many calls; its build denies few */
#else
#define DENIED ENOSYS
#endif

static char folder[] = "/tmp/test_parser_confine.XXXXXX";
static char secret[64], fresh[64];
static int channel[2];

/* Each returns the errno of its call, 0 for success. */
static int
try_open(const char *path, int flags)
{
	return open(path, flags, 0600) == -1 ? errno : 0;
}

static int
read_secret(void)
{
	return try_open(secret, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}

static int
write_secret(void)
{
	return try_open(secret, O_WRONLY);
}

static int
change_secret(void)
{
	return try_open(secret, O_RDWR | O_NONBLOCK);
}

static int
append_secret(void)
{
	return try_open(secret, O_RDONLY | O_APPEND);
}

static int
truncate_secret(void)
{
	return try_open(secret, O_RDONLY | O_TRUNC);
}

static int
create_file(void)
{
	return try_open(fresh, O_RDONLY | O_CREAT);
}

static int
remove_secret(void)
{
	return unlink(secret) == -1 ? errno : 0;
}

static int
socket_tcp(void)
{
	return socket(AF_INET, SOCK_STREAM, 0) == -1 ? errno : 0;
}

static int
socket_unix(void)
{
	return socket(AF_UNIX, SOCK_STREAM, 0) == -1 ? errno : 0;
}

static int
start_process(void)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	return pid == -1 ? errno : 0;
}

static int
start_program(void)
{
	execl("/bin/true", "true", (char *)NULL);
	return errno;
}

static int
signal_parent(void)
{
	return kill(getppid(), 0) == -1 ? errno : 0;
}

static int
map_code(void)
{
	return mmap(NULL, 4096, PROT_READ | PROT_EXEC,
		   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED ?
	    errno :
	    0;
}

static int find_root(void);

/*
 * Calls of a module of the name services that an attacker controls, and calls that a
 * module needs.  Each is made in the process that asks the name services.
 */
static int
module_end_signal(void)
{
	return prctl(PR_SET_PDEATHSIG, 0) == -1 ? errno : 0;
}

/* The kernel reads an int. */
static int
module_end_signal_high(void)
{
	return syscall(SYS_prctl, PR_SET_PDEATHSIG | 1L << 32, 0, 0, 0, 0) ==
		-1 ?
	    errno :
	    0;
}

static int
module_signal_thread(void)
{
	return syscall(SYS_tkill, getppid(), 0) == -1 ? errno : 0;
}

static int
module_signal_group(void)
{
	return syscall(SYS_tgkill, getppid(), getppid(), 0) == -1 ? errno : 0;
}

static int
module_queue(void)
{
	siginfo_t info;

	memset(&info, 0, sizeof(info));
	info.si_code = SI_QUEUE;
	return syscall(SYS_rt_sigqueueinfo, getppid(), 0, &info) == -1 ? errno :
									 0;
}

static int
module_kill_all(void)
{
	return kill(-1, 0) == -1 ? errno : 0;
}

static int
module_signal_own(void)
{
	return raise(SIGCONT) != 0 || kill(getpid(), 0) == -1 ? EINVAL : 0;
}

static int
module_trace(void)
{
	return syscall(SYS_ptrace, 16 /* PTRACE_ATTACH */, getppid(), 0, 0) ==
		-1 ?
	    errno :
	    0;
}

/* A signal of the kernel for a descriptor. */
static int
module_owner(void)
{
	int fds[2];

	return pipe(fds) == -1 || fcntl(fds[0], F_SETOWN, getppid()) == -1 ?
	    errno :
	    0;
}

static int
module_limit(void)
{
	const struct rlimit none = { 0, 0 };

	return prlimit(getppid(), RLIMIT_CPU, &none, NULL) == -1 ? errno : 0;
}

static int
module_own_limit(void)
{
	struct rlimit stack;

	return getrlimit(RLIMIT_STACK, &stack) == -1 ? errno : 0;
}

static void *
thread_run(void *arg)
{
	*(int *)arg = 0;
	return NULL;
}

static int
module_thread(void)
{
	pthread_t thread;
	int done = EINVAL, rc;

	rc = pthread_create(&thread, NULL, thread_run, &done);
	if (rc == 0)
		pthread_join(thread, NULL);
	return rc != 0 ? rc : done;
}

/* As nss_sss maps its cache. */
static int
module_map(void)
{
	int fd = open("/etc/passwd", O_RDONLY | O_CLOEXEC);

	return mmap(NULL, 1, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED ?
	    errno :
	    0;
}

static const struct {
	const char *name;
	int (*make)(void);
} module_calls[] = {
	{ "try-end-signal", module_end_signal },
	{ "try-end-signal-high", module_end_signal_high },
	{ "try-process", start_process },
	{ "try-program", start_program },
	{ "try-signal", signal_parent },
	{ "try-signal-thread", module_signal_thread },
	{ "try-signal-group", module_signal_group },
	{ "try-queue", module_queue },
	{ "try-kill-all", module_kill_all },
	{ "try-own-signal", module_signal_own },
	{ "try-trace", module_trace },
	{ "try-owner", module_owner },
	{ "try-limit", module_limit },
	{ "try-own-limit", module_own_limit },
	{ "try-thread", module_thread },
	{ "try-map", module_map },
	{ "try-tcp", socket_tcp },
	{ "try-unix", socket_unix },
};
#define MODULE_CALLS (sizeof(module_calls) / sizeof(module_calls[0]))

struct passwd *__real_getpwnam(const char *name);
struct passwd *__wrap_getpwnam(const char *name);

struct passwd *
__wrap_getpwnam(const char *name)
{
	static struct passwd pw;
	size_t i;

	for (i = 0; i < MODULE_CALLS; i++) {
		if (strcmp(name, module_calls[i].name) != 0)
			continue;
		pw.pw_uid = (uid_t)module_calls[i].make();
		return &pw;
	}
	return __real_getpwnam(name);
}

/* Denied with EPERM. */
static int
module_denied(void)
{
	static const char *const names[] = {
		"try-end-signal",
		"try-end-signal-high",
		"try-process",
		"try-program",
		"try-signal",
		"try-signal-thread",
		"try-signal-group",
		"try-queue",
		"try-kill-all",
		"try-owner",
		"try-limit",
#ifndef SANITIZED
		"try-trace",
#endif
	};
	unsigned error;
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		error = 0;
		if (name_service_find(names[i], &error) == 0 && error == EPERM)
			continue;
		fprintf(stderr, "%s: %u\n", names[i], error);
		return EINVAL;
	}
	return find_root();
}

static int
module_works(void)
{
	static const char *const names[] = { "try-own-signal", "try-own-limit",
		"try-thread", "try-map", "try-tcp", "try-unix" };
	unsigned error;
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		error = EINVAL;
		if (name_service_find(names[i], &error) == 0 && error == 0)
			continue;
		fprintf(stderr, "%s: %u\n", names[i], error);
		return EINVAL;
	}
	return find_root();
}

static int
find_root(void)
{
	unsigned uid = NOBODY;

	return name_service_find("root", &uid) == 0 && uid == 0 ? 0 : EINVAL;
}

static int
find_again(void)
{
	unsigned uid;
	int i;

	for (i = 0; i < 100; i++)
		if (find_root() != 0)
			return i + 1;
	return name_service_find("no-such-user-here", &uid) == -1 ? 0 : 101;
}

static int
find_long(void)
{
	char name[NAME_SERVICE_MAX + 2];
	unsigned uid;

	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	if (name_service_find(name, &uid) != -1 ||
	    name_service_find("", &uid) != -1)
		return EINVAL;
	return find_root();
}

static int
find_after_kill(void)
{
	unsigned uid;

	/* The supervisor's side of the channel is closed. */
	close(channel[0]);
	return name_service_find("root", &uid);
}

/* Bits of the line CapPrm beyond those that read files. */
static int
capabilities_left(void)
{
	const unsigned long long may = 1ull << CAP_DAC_OVERRIDE |
	    1ull << CAP_DAC_READ_SEARCH;
	unsigned long long has = ~0ull;
	FILE *f = fopen("/proc/self/status", "re");
	char line[256];

	while (f != NULL && fgets(line, sizeof(line), f) != NULL)
		if (sscanf(line, "CapPrm: %llx", &has) == 1)
			break;
	if (f != NULL)
		fclose(f);
	return (has & ~may) != 0 ? EPERM : 0;
}

static int
descriptors_many(void)
{
	int i;

	for (i = 0; i < 1000; i++)
		if (dup(STDERR_FILENO) == -1)
			return errno;
	return 0;
}

/* The memfd of the secrets, sealed and passed. */
static int
pass_memfd(void)
{
	struct conf_parse p;
	int fd;

	conf_parse_init(&p, "none");
	fd = conf_secrets_seal(&p.secrets);
	conf_parse_clear(&p);
	return fd == -1 ? errno : 0;
}

static int
memfd_large(void)
{
	static char bytes[1 << 20];
	int i, fd = memfd_create("large", MFD_CLOEXEC);

	signal(SIGXFSZ, SIG_IGN);
	for (i = 0; i < 64; i++)
		if (write(fd, bytes, sizeof(bytes)) == -1)
			return errno;
	return 0;
}

static const struct attempt {
	const char *name;
	int (*make)(void);
	int want;
} attempts[] = {
	{ "read a file", read_secret, 0 },
	{ "write a file", write_secret, DENIED },
	{ "read and write a file", change_secret, DENIED },
	{ "append to a file", append_secret, DENIED },
	{ "truncate a file", truncate_secret, DENIED },
	{ "create a file", create_file, DENIED },
	{ "remove a file", remove_secret, DENIED },
	{ "a TCP socket", socket_tcp, DENIED },
	{ "a UNIX socket", socket_unix, DENIED },
	{ "start a process", start_process, DENIED },
	{ "start a program", start_program, SIGNALLED + SIGSYS },
	{ "signal another process", signal_parent, DENIED },
	{ "map code", map_code, DENIED },
	{ "the user root", find_root, 0 },
	{ "many users", find_again, 0 },
	{ "a long name", find_long, 0 },
	{ "a user after the channel is closed", find_after_kill, 0 },
	{ "denied to a name service", module_denied, 0 },
	{ "allowed to a name service", module_works, 0 },
	{ "capabilities", capabilities_left, 0 },
	{ "descriptors", descriptors_many, EMFILE },
	{ "a memfd", pass_memfd, 0 },
	{ "a large memfd", memfd_large, EFBIG },
};

/* make() in the sandbox of a parser, after enter(). */
static int
outcome(void (*enter)(void), int (*make)(void))
{
	int status;
	pid_t pid;

	CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, channel) == 0);
	if ((pid = fork()) == 0) {
		log_init("parser", LOG_LEVEL_WARN);
		if (enter != NULL)
			enter();
		parser_confine(channel[1]);
		_exit(make() & 0xff);
	}
	close(channel[0]);
	close(channel[1]);
	CHECK(waitpid(pid, &status, 0) == pid);
	return WIFSIGNALED(status) ? SIGNALLED + WTERMSIG(status) :
				     WEXITSTATUS(status);
}

/*
 * Parser and name service have one user, so that the kernel permits signals and
 * limits without the filter.
 */
static void
enter_user(void)
{
	if (geteuid() == 0 && (setgid(NOBODY) == -1 || setuid(NOBODY) == -1))
		_exit(2);
}

/* The unit with User= denies capset(2), and there is nothing to give up. */
static void
enter_unit_of_user(void)
{
	scmp_filter_ctx f;

	enter_user();
	f = seccomp_init(SCMP_ACT_ALLOW);
	if (f == NULL || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == -1 ||
	    seccomp_rule_add(f, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(capset), 0) !=
		0 ||
	    seccomp_load(f) != 0)
		_exit(3);
}

/*
 * What a parser that is killed leaves: the channel is closed, and no process.
 * Each process of the parser has the write end of the pipe.
 */
static void
test_end(void)
{
	struct pollfd end = { .events = POLLIN };
	int all[2];
	char byte;
	pid_t pid;

	CHECK(pipe(all) == 0);
	CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, channel) == 0);
	if ((pid = fork()) == 0) {
		close(channel[0]);
		parser_confine(channel[1]);
		if (write(channel[1], "x", 1) == 1)
			(void)!read(all[0], &byte, 1);
		_exit(0);
	}
	close(channel[1]);
	close(all[1]);
	CHECK_INT(recv(channel[0], &byte, 1, 0), 1);
	kill(pid, SIGKILL);
	CHECK(waitpid(pid, NULL, 0) == pid);
	CHECK_INT(recv(channel[0], &byte, 1, 0), 0);
	end.fd = all[0];
	CHECK_INT(poll(&end, 1, END_MS), 1);
	CHECK_INT(read(all[0], &byte, 1), 0);
	close(channel[0]);
	close(all[0]);
}

int
main(void)
{
	size_t i;
	int fd, got;

	if (check_on_valgrind()) {
		printf("skipped: valgrind has no seccomp filters\n");
		return 77;
	}
	signal(SIGPIPE, SIG_IGN);
	CHECK(mkdtemp(folder) != NULL);
	snprintf(secret, sizeof(secret), "%s/secret", folder);
	snprintf(fresh, sizeof(fresh), "%s/fresh", folder);
	CHECK((fd = open(secret, O_WRONLY | O_CREAT, 0600)) != -1);
	/* Of another user: root reads it by a capability. */
	CHECK(geteuid() != 0 || fchown(fd, NOBODY, NOBODY) == 0);
	close(fd);
	for (i = 0; i < sizeof(attempts) / sizeof(attempts[0]); i++) {
		got = outcome(NULL, attempts[i].make);
		if (got != attempts[i].want)
			fprintf(stderr, "%s:\n", attempts[i].name);
		CHECK_INT(got, attempts[i].want);
	}
	test_end();
	CHECK_INT(outcome(enter_unit_of_user, find_root), 0);
	CHECK_INT(outcome(enter_user, module_denied), 0);
	unlink(fresh);
	unlink(secret);
	rmdir(folder);
	return check_done();
}
