/* SPDX-License-Identifier: MIT */
/* The host's part of the checklist of -test. */
#include "config.h"

#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>

#include <arpa/inet.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/clock.h"
#include "supervisor/system/system.h"
#include "tests/unit/check.h"

static char folder[] = "/tmp/test_host_check.XXXXXX";
static struct setup setup;
static struct conf conf;
static char *answer;

static const char *
in_folder(const char *name)
{
	static char path[4][128];
	static unsigned n;
	char *p = path[n++ % 4];

	snprintf(p, sizeof(path[0]), "%s/%s", folder, name);
	return p;
}

static void
file_make(const char *name, const char *text)
{
	int fd = open(in_folder(name), O_WRONLY | O_CREAT | O_TRUNC, 0755);

	CHECK(
	    fd != -1 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	close(fd);
}

/* Runs the check with one hook, or NULL. */
static void
ask(const char *key, const char *value)
{
	char *hook = NULL;
	size_t size;
	FILE *out;

	free(answer);
	out = open_memstream(&answer, &size);
	CHECK(out != NULL);
	if (key != NULL)
		CHECK(asprintf(&hook, "%s=%s", key, value) != -1);
	host_check(&setup, &conf, &hook, hook != NULL, out);
	fclose(out);
	free(hook);
}

static int
says(const char *text)
{
	return strstr(answer, text) != NULL;
}

static void
test_scripts(void)
{
	char both[300];

	file_make("calls", "#!/bin/sh\n  /opt/x/cc-slurm-adapter\nexit 0\n");
	file_make("comment", "#!/bin/sh\n # /opt/x/cc-slurm-adapter\n");
	ask("PrologSlurmctld", in_folder("calls"));
	CHECK(says("ok PrologSlurmctld calls this hook"));
	ask("EpilogSlurmctld", in_folder("comment"));
	CHECK(says("warn EpilogSlurmctld="));
	CHECK(says("does not call cc-slurm-adapter; add this line"));
	snprintf(both, sizeof(both), "%s,%s", in_folder("comment"),
	    in_folder("calls"));
	ask("PrologSlurmctld", both);
	CHECK(says("ok PrologSlurmctld"));
	ask("PrologSlurmctld", in_folder("c*"));
	CHECK(says("ok PrologSlurmctld"));
	ask("PrologSlurmctld", in_folder("none"));
	CHECK(says("cannot be read on this host: No such file"));
	ask("PrologSlurmctld", folder);
	CHECK(says("warn PrologSlurmctld="));
	ask("PrologSlurmctld", "");
	CHECK(says("warn PrologSlurmctld is not set"));
	CHECK(says("/libexec/prep-hook.sh, then run: scontrol reconfigure"));
	ask("PrEpPlugins", "prep/other");
	CHECK(says("warn PrEpPlugins=prep/other"));
	ask("PrEpPlugins", "prep/script");
	CHECK(!says("PrEpPlugins"));
}

/* A script that the user of slurmctld cannot execute. */
static void
test_closed_script(void)
{
	char text[256];

	if (geteuid() != 0)
		return;
	setup.has_slurm_user = 1;
	setup.slurm_user = (struct identity) { .uid = 65534, .gid = 65534 };
	snprintf(text, sizeof(text),
	    "warn PrologSlurmctld: user 65534, who runs slurmctld, cannot "
	    "execute %s",
	    in_folder("calls"));
	CHECK_INT(chmod(folder, 0700), 0);
	ask("PrologSlurmctld", in_folder("calls"));
	CHECK(says(text));
	CHECK_INT(chmod(folder, 0755), 0);
	ask("PrologSlurmctld", in_folder("calls"));
	CHECK(says("ok PrologSlurmctld calls this hook"));
	CHECK_INT(chmod(in_folder("calls"), 0644), 0);
	ask("PrologSlurmctld", in_folder("calls"));
	CHECK(says(text));
	/* Root needs the right to execute, too. */
	setup.slurm_user.uid = 0;
	ask("PrologSlurmctld", in_folder("calls"));
	CHECK(says("user 0, who runs slurmctld, cannot execute"));
	CHECK_INT(chmod(in_folder("calls"), 0755), 0);
	setup.has_slurm_user = 0;
}

/* Started by root, another user reads the scripts. */
static void
test_reader(void)
{
	if (geteuid() != 0)
		return;
	CHECK_INT(chmod(in_folder("calls"), 0600), 0);
	ask("PrologSlurmctld", in_folder("calls"));
	CHECK(says("cannot be read on this host: Permission denied"));
	/* A program of another user can be executed without being read. */
	setup.has_slurm_user = 1;
	setup.slurm_user = (struct identity) { .uid = 65534, .gid = 65534 };
	CHECK_INT(chmod(in_folder("calls"), 0711), 0);
	ask("PrologSlurmctld", in_folder("calls"));
	CHECK(says("cannot be read on this host: Permission denied"));
	setup.has_slurm_user = 0;
	CHECK_INT(chmod(in_folder("calls"), 0755), 0);
}

/* The rights of -test permit these checks. */
static void
test_rights(void)
{
	int status;
	pid_t pid;

	if (geteuid() != 0)
		return;
	fflush(NULL);
	if ((pid = fork()) == 0) {
		setup.as_root = 1;
		setup.mode = SANDBOX_ENFORCE;
		capabilities_reduce(&setup, 1);
		test_closed_script();
		test_reader();
		_exit(check_done());
	}
	CHECK_INT(waitpid(pid, &status, 0), pid);
	CHECK_INT(status, 0);
}

/* A process that waits to write into the FIFO would notice an open(2). */
static void
test_special(void)
{
	int watch = inotify_init1(IN_NONBLOCK);
	char event[256];

	CHECK_INT(mkfifo(in_folder("fifo"), 0666), 0);
	CHECK(inotify_add_watch(watch, in_folder("fifo"), IN_OPEN) != -1);
	ask("PrologSlurmctld", in_folder("fifo"));
	CHECK(says("/fifo is not a regular file; in slurm.conf, set "));
	CHECK_INT(read(watch, event, sizeof(event)), -1);
	close(watch);
	CHECK_INT(unlink(in_folder("fifo")), 0);
	ask("PrologSlurmctld", "/dev/tty");
	CHECK(says("warn PrologSlurmctld=/dev/tty is not a regular file"));
	CHECK_INT(symlink(in_folder("calls"), in_folder("link")), 0);
	ask("PrologSlurmctld", in_folder("link"));
	CHECK(says("ok PrologSlurmctld"));
	CHECK_INT(unlink(in_folder("link")), 0);
}

/* Each line of the answer is a line of the checklist. */
static void
test_control_characters(void)
{
	const char *name = in_folder("calls\nFAIL forged");

	ask("PrologSlurmctld", "/none\nFAIL forged");
	CHECK(says("warn PrologSlurmctld=/none\\nFAIL forged cannot be read"));
	ask("FAIL forged\nPrologSlurmctld", "");
	CHECK(!says("\nPrologSlurmctld"));
	ask("PrEpPlugins", "\nFAIL forged");
	CHECK(!says("\nFAIL forged"));
	if (geteuid() != 0)
		return;
	CHECK_INT(rename(in_folder("calls"), name), 0);
	CHECK_INT(chmod(name, 0), 0);
	setup.has_slurm_user = 1;
	ask("PrologSlurmctld", in_folder("calls*"));
	CHECK(says("cannot execute "));
	CHECK(!says("\nFAIL forged"));
	setup.has_slurm_user = 0;
	CHECK_INT(chmod(name, 0755), 0);
	CHECK_INT(rename(name, in_folder("calls")), 0);
}

/* A pattern without end is given up: by time or by memory. */
static void
test_pattern(void)
{
	const uint64_t begin = clock_ms();

	ask("PrologSlurmctld", "/*/../*/../*/../*/../*/../*/../*/../*/..");
	CHECK(clock_ms() - begin < 20000);
	CHECK(says(" was not read: this takes more than 5 s or 64 MiB; "));
}

static void
test_spool(void)
{
	ask(NULL, NULL);
	CHECK(says("ok spool "));
	CHECK(says("/spool (made at the start): writable, "));
	CHECK_INT(access(in_folder("spool"), F_OK), -1);
	file_make("spool", "");
	ask(NULL, NULL);
	CHECK(says("FAIL spool "));
	CHECK(says("is not a directory; set spoolDir"));
	CHECK_INT(unlink(in_folder("spool")), 0);
	CHECK_INT(mkdir(in_folder("spool"), 0700), 0);
	conf_set(&conf, CONF_SPOOL_MAX_BYTES, "1099511627776000");
	ask(NULL, NULL);
	CHECK(says("warn spool "));
	CHECK(says("less than spoolMaxBytes"));
	conf_set(&conf, CONF_SPOOL_MAX_BYTES, "1048576");
	ask(NULL, NULL);
	CHECK(says("ok spool "));
	CHECK(!says("made at the start"));
	setup.as_root = 0;
	setup.identity[ROLE_SUBMITTER].uid = geteuid() + 1;
	ask(NULL, NULL);
	CHECK(says("FAIL spool "));
	CHECK(says("run as root: chown -R "));
	setup.identity[ROLE_SUBMITTER].uid = geteuid();
}

/* The start chooses the directory by these files, which -test does not change. */
static void
test_old_spool(void)
{
	conf_set(&conf, CONF_LAST_RUN, in_folder("other"));
	ask(NULL, NULL);
	CHECK(says("/other.spool (made at the start): writable"));
	file_make("other", "");
	ask(NULL, NULL);
	CHECK(says("/spool: writable"));
	CHECK_INT(access(in_folder("spool.owner"), F_OK), -1);
	file_make("spool.owner", "other\n");
	ask(NULL, NULL);
	CHECK(says("/spool: writable"));
	file_make("lastrun", "");
	conf_set(&conf, CONF_LAST_RUN, in_folder("lastrun"));
	ask(NULL, NULL);
	CHECK(says("FAIL spool: "));
	CHECK(says("whose last-run file is other ("));
	CHECK(says("set spoolDir or lastRunPath"));
	CHECK_INT(unlink(in_folder("spool.owner")), 0);
	conf_set(&conf, CONF_LAST_RUN, in_folder("other"));
	ask(NULL, NULL);
	CHECK(says("/other.spool (made at the start): writable"));
	/* Without the state directory, the start makes both. */
	conf_set(&conf, CONF_LAST_RUN, in_folder("state/other"));
	ask(NULL, NULL);
	CHECK(says("/state/other.spool (made at the start)"));
	conf_set(&conf, CONF_LAST_RUN, in_folder("lastrun"));
	CHECK_INT(unlink(in_folder("lastrun")), 0);
	CHECK_INT(unlink(in_folder("other")), 0);
}

/* The start opens neither of these directories through a link. */
static void
test_link(void)
{
	CHECK_INT(symlink("/tmp", in_folder("link")), 0);
	conf_set(&conf, CONF_SPOOL_DIR, in_folder("link"));
	ask(NULL, NULL);
	CHECK(says("FAIL spool "));
	CHECK(says("/link is a symbolic link"));
	CHECK(says("write /tmp instead"));
	conf_set(&conf, CONF_SPOOL_DIR, "");
	CHECK_INT(unlink(in_folder("link")), 0);
}

/* access(2) asks for the real user, which root can change. */
static void
test_unwritable(void)
{
	char text[256];

	if (geteuid() != 0)
		return;
	CHECK_INT(chmod(folder, 0755), 0);
	CHECK_INT(setresuid(65534, 0, 0), 0);
	conf_set(&conf, CONF_SPOOL_DIR, in_folder("new"));
	ask(NULL, NULL);
	snprintf(text, sizeof(text), "run as root: chown 0 %s\n", folder);
	CHECK(says("FAIL spool "));
	CHECK(says(text));
	/* The owner of a directory further above must not change. */
	conf_set(&conf, CONF_SPOOL_DIR, in_folder("state/new"));
	ask(NULL, NULL);
	snprintf(text, sizeof(text), "install -d -m 750 -o 0 %s/state\n",
	    folder);
	CHECK(says("warn spool "));
	CHECK(says(text));
	CHECK(!says("chown"));
	conf_set(&conf, CONF_SPOOL_DIR, "");
	CHECK_INT(setresuid(0, 0, 0), 0);
}

static int
socket_listen(const char *path)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	snprintf(sa.sun_path, sizeof(sa.sun_path), "%s", path);
	CHECK_INT(bind(fd, (struct sockaddr *)&sa, sizeof(sa)), 0);
	CHECK_INT(listen(fd, 1), 0);
	return fd;
}

static void
test_socket(void)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	char pid[32];
	int fd, pidfile;

	ask(NULL, NULL);
	CHECK(says("/hook.sock: the daemon makes it at the start"));
	fd = socket_listen(in_folder("hook.sock"));
	ask(NULL, NULL);
	CHECK(says("warn hook socket "));
	CHECK(says("another program listens there"));
	file_make("daemon.pid", "4711");
	CHECK_INT(pidfile_holder(in_folder("daemon.pid")), 0);
	pidfile = open(in_folder("daemon.pid"), O_RDWR);
	CHECK_INT(fcntl(pidfile, F_OFD_SETLK, &lock), 0);
	ask(NULL, NULL);
	snprintf(pid, sizeof(pid), "the daemon (pid %d) listens", 4711);
	CHECK(says(pid));
	close(fd);
	ask(NULL, NULL);
	CHECK(says("the daemon (pid 4711) does not listen there"));
	close(pidfile);
	CHECK_INT(unlink(in_folder("hook.sock")), 0);
	file_make("hook.sock", "");
	ask(NULL, NULL);
	CHECK(says("FAIL hook socket "));
	CHECK(says("is not a socket; run: rm "));
	CHECK_INT(unlink(in_folder("hook.sock")), 0);
}

static void
test_port(void)
{
	struct sockaddr_in sa = { .sin_family = AF_INET };
	socklen_t len = sizeof(sa);
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	char value[64];

	sa.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	CHECK_INT(bind(fd, (struct sockaddr *)&sa, sizeof(sa)), 0);
	CHECK_INT(listen(fd, 1), 0);
	CHECK_INT(getsockname(fd, (struct sockaddr *)&sa, &len), 0);
	snprintf(value, sizeof(value), "tcp:127.0.0.1:%u",
	    (unsigned)ntohs(sa.sin_port));
	conf_set(&conf, CONF_PREP_LISTEN, value);
	ask(NULL, NULL);
	CHECK(says("warn hook socket tcp:127.0.0.1:"));
	CHECK(says("another program uses the port"));
	close(fd);
	ask(NULL, NULL);
	CHECK(says("ok hook socket tcp:127.0.0.1:"));
}

int
main(void)
{
	static char libexec[] = "/libexec";

	log_init("test", LOG_LEVEL_FATAL);
	umask(022);
	CHECK(mkdtemp(folder) != NULL);
	/* Another user reads the scripts. */
	CHECK_INT(chmod(folder, 0755), 0);
	conf_init(&conf);
	setup_init(&setup);
	setup.program_dir = libexec;
	setup.identity[ROLE_SUBMITTER].uid = geteuid();
	setup.identity[ROLE_RUNNER].uid = geteuid() + 2;
	conf_set(&conf, CONF_LAST_RUN, in_folder("lastrun"));
	conf_set(&conf, CONF_PID_FILE, in_folder("daemon.pid"));
	conf_set(&conf, CONF_PREP_LISTEN, in_folder("hook.sock"));
	conf_set(&conf, CONF_SPOOL_MAX_BYTES, "1048576");
	if (check_on_valgrind())
		printf("skipped: the scripts: valgrind cannot run with the "
		       "limits of the process that reads them\n");
	else {
		test_scripts();
		test_closed_script();
		test_reader();
		test_rights();
		test_special();
		test_control_characters();
		test_pattern();
	}
	test_spool();
	test_old_spool();
	test_link();
	test_unwritable();
	test_socket();
	test_port();
	conf_clear(&conf);
	free(answer);
	unlink(in_folder("calls"));
	unlink(in_folder("comment"));
	unlink(in_folder("daemon.pid"));
	rmdir(in_folder("spool"));
	CHECK_INT(rmdir(folder), 0);
	return check_done();
}
