/* SPDX-License-Identifier: MIT */
/* The listening sockets of the supervisor, after hostile acts of others. */
#include "config.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <arpa/inet.h>
#include <netinet/in.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "supervisor/system/system.h"
#include "tests/unit/check.h"
#include "tests/unit/supervisor/system/log_capture.h"

static char folder[] = "/tmp/test_sockets.XXXXXX";
static char hook_path[64], ctl_path[64], other_path[64];

static void
conf_make(struct conf *conf, const char *listen)
{
	conf_init(conf);
	CHECK_INT(conf_set(conf, CONF_PREP_LISTEN, listen), 0);
	CHECK_INT(conf_set(conf, CONF_CTL_SOCK, ctl_path), 0);
}

static int
hook_connect(const struct setup *setup)
{
	struct sockaddr_storage sa;
	socklen_t len = sizeof(sa);
	int fd, rc;

	memset(&sa, 0, sizeof(sa));
	if (getsockname(setup->listen_fds[0], (struct sockaddr *)&sa, &len) ==
	    -1)
		return -1;
	fd = socket(sa.ss_family, SOCK_STREAM, 0);
	rc = connect(fd, (struct sockaddr *)&sa, len);
	close(fd);
	return rc;
}

/* A listener has shut down the socket that it shares with the supervisor. */
static void
shut_down_check(const char *listen)
{
	struct setup setup;
	struct conf conf;
	int before;

	setup_init(&setup);
	conf_make(&conf, listen);
	CHECK_INT(sockets_open(&setup, &conf), 0);
	before = setup.listen_fds[0];
	CHECK_INT(sockets_hook_repair(&setup, &conf), 0);
	CHECK_INT(setup.listen_fds[0], before); /* nothing to do */
	CHECK_INT(hook_connect(&setup), 0);
	CHECK_INT(sockets_hook_repair(&setup, &conf), 0); /* one waits */
	CHECK_INT(setup.listen_fds[0], before);
	CHECK_INT(shutdown(setup.listen_fds[0], SHUT_RDWR), 0);
	CHECK_INT(hook_connect(&setup), -1);
	CHECK_INT(sockets_hook_repair(&setup, &conf), 0);
	CHECK_INT(hook_connect(&setup), 0);
	sockets_close(&setup, &conf);
	conf_clear(&conf);
}

static unsigned
free_port(void)
{
	struct sockaddr_in sa = { .sin_family = AF_INET };
	socklen_t len = sizeof(sa);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	sa.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	CHECK(bind(fd, (struct sockaddr *)&sa, len) == 0 &&
	    getsockname(fd, (struct sockaddr *)&sa, &len) == 0);
	close(fd);
	return ntohs(sa.sin_port);
}

static void
test_shut_down(void)
{
	char unix_address[96], tcp_address[64];

	snprintf(tcp_address, sizeof(tcp_address), "tcp:127.0.0.1:%u",
	    free_port());
	snprintf(unix_address, sizeof(unix_address), "unix:%s", hook_path);
	shut_down_check(hook_path);
	shut_down_check(unix_address);
	shut_down_check(tcp_address);
}

static int
lingers(int fd)
{
	struct linger linger = { 0 };
	socklen_t len = sizeof(linger);

	CHECK_INT(getsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, &len), 0);
	return linger.l_onoff;
}

/* Its connections would keep the next listener waiting in close(). */
static void
test_linger(void)
{
	const struct linger hour = { 1, 3600 };
	struct setup setup;
	struct conf conf;
	char address[64];

	snprintf(address, sizeof(address), "tcp:127.0.0.1:%u", free_port());
	setup_init(&setup);
	conf_make(&conf, address);
	CHECK_INT(sockets_open(&setup, &conf), 0);
	CHECK_INT(setsockopt(setup.listen_fds[0], SOL_SOCKET, SO_LINGER, &hour,
		      sizeof(hour)),
	    0);
	CHECK_INT(lingers(setup.listen_fds[0]), 1);
	CHECK_INT(sockets_hook_repair(&setup, &conf), 0);
	CHECK_INT(lingers(setup.listen_fds[0]), 0);
	sockets_close(&setup, &conf);
	conf_clear(&conf);
}

/* "tcp4:" and "tcp6:" as in Go: the sockets of one family. */
static void
family_check(const char *host, int family)
{
	struct sockaddr_storage sa;
	socklen_t len = sizeof(sa);
	struct setup setup;
	struct conf conf;
	char address[64];
	int only = -1;

	snprintf(address, sizeof(address), "%s:%u", host, free_port());
	setup_init(&setup);
	conf_make(&conf, address);
	CHECK_INT(sockets_open(&setup, &conf), 0);
	CHECK_INT(setup.n_listen, 1);
	CHECK_INT(getsockname(setup.listen_fds[0], (struct sockaddr *)&sa,
		      &len),
	    0);
	CHECK_INT(sa.ss_family, family);
	len = sizeof(only);
	if (family == AF_INET6) {
		CHECK_INT(getsockopt(setup.listen_fds[0], IPPROTO_IPV6,
			      IPV6_V6ONLY, &only, &len),
		    0);
		CHECK_INT(only, 1);
	}
	sockets_close(&setup, &conf);
	conf_clear(&conf);
}

static void
test_family(void)
{
	family_check("tcp4:", AF_INET);
	family_check("tcp4:127.0.0.1", AF_INET);
	family_check("TCP4:localhost", AF_INET);
	if (access("/proc/sys/net/ipv6", F_OK) == -1)
		return;
	family_check("tcp6:", AF_INET6);
	family_check("tcp6:[::]", AF_INET6);
}

/* The log has the reason of the resolver, and not an errno of another call. */
static void
test_unknown_host(void)
{
	struct setup setup;
	struct conf conf;
	const char *log;

	setup_init(&setup);
	conf_make(&conf, "tcp:a..b:7045");
	log_init("test_sockets", LOG_LEVEL_ERROR);
	capture_begin();
	errno = EEXIST;
	CHECK_INT(sockets_open(&setup, &conf), -1);
	log = capture_end();
	log_init("test_sockets", LOG_LEVEL_FATAL);
	CHECK(strstr(log, "host \"a..b\" of prepSockListenPath: ") != NULL);
	CHECK(strstr(log, "cannot listen") == NULL);
	conf_clear(&conf);
}

static unsigned
mode_of(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 ? (unsigned)st.st_mode & 07777 : 0;
}

/* The mode at a reload is for the socket, whatever the path names by then. */
static void
test_ctl_mode(void)
{
	struct setup setup;
	struct conf conf;
	int other;

	setup_init(&setup);
	conf_make(&conf, hook_path);
	CHECK_INT(sockets_open(&setup, &conf), 0);
	CHECK_INT(mode_of(ctl_path), 0600);
	CHECK_INT(conf_set(&conf, CONF_CTL_USERS, "[\"7\"]"), 0);
	sockets_ctl_mode(&setup, &conf);
	CHECK_INT(mode_of(ctl_path), 0666);

	other = open(other_path, O_CREAT | O_WRONLY, 0600);
	CHECK(other != -1 && close(other) == 0);
	CHECK_INT(unlink(ctl_path), 0);
	CHECK_INT(symlink(other_path, ctl_path), 0);
	sockets_ctl_mode(&setup, &conf);
	CHECK_INT(mode_of(other_path), 0600);
	/* a hard link, and a socket of another process */
	CHECK_INT(unlink(ctl_path), 0);
	CHECK_INT(link(other_path, ctl_path), 0);
	sockets_ctl_mode(&setup, &conf);
	CHECK_INT(mode_of(other_path), 0600);
	CHECK_INT(unlink(ctl_path), 0);
	CHECK_INT(link(hook_path, ctl_path), 0);
	CHECK_INT(chmod(hook_path, 0600), 0);
	sockets_ctl_mode(&setup, &conf);
	CHECK_INT(mode_of(hook_path), 0600);
	unlink(other_path);
	sockets_close(&setup, &conf);
	conf_clear(&conf);
}

int
main(void)
{
	log_init("test_sockets", LOG_LEVEL_FATAL);
	if (mkdtemp(folder) == NULL)
		return 1;
	snprintf(hook_path, sizeof(hook_path), "%s/hook", folder);
	snprintf(ctl_path, sizeof(ctl_path), "%s/ctl", folder);
	snprintf(other_path, sizeof(other_path), "%s/other", folder);
	test_shut_down();
	test_linger();
	test_unknown_host();
	test_family();
	test_ctl_mode();
	rmdir(folder);
	return check_done();
}
