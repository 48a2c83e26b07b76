/* SPDX-License-Identifier: MIT */
/*
 * The listening sockets of the hooks and of the admin tool.  They are made once
 * and stay open, so that no hook is refused while a worker restarts.
 */
#include "config.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/ipc/passing.h"
#include "supervisor/config/config_file.h"
#include "supervisor/system/system.h"

#define BACKLOG	       1024 /* prologs of a large array during a restart */
#define HOOK_MODE      0666 /* protected by its directory and the peer's uid */
#define CTL_MODE       0600
#define CTL_MODE_USERS 0666 /* for ctlUsers; protected by the peer's uid */

static int
address_fill(struct sockaddr_un *sa, const char *path)
{
	memset(sa, 0, sizeof(*sa));
	sa->sun_family = AF_UNIX;
	if (strlen(path) >= sizeof(sa->sun_path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	strcpy(sa->sun_path, path);
	return 0;
}

/* 1 when a process listens there, 0 when none does or nothing exists. */
static int
is_listening(const struct sockaddr_un *sa)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int alive;

	if (fd == -1)
		return 1;
	alive = connect(fd, (const struct sockaddr *)sa, sizeof(*sa)) == 0 ||
	    (errno != ECONNREFUSED && errno != ENOENT);
	passing_close(fd);
	return alive;
}

/*
 * Removes a socket on which no process listens.  0, -1 with errno, or -2
 * (logged).
 */
static int
stale_socket_remove(const struct sockaddr_un *sa)
{
	struct stat st;

	if (lstat(sa->sun_path, &st) == -1)
		return errno == ENOENT ? 0 : -1;
	if (!S_ISSOCK(st.st_mode)) {
		log_errorx("%s exists and is not a socket; it is not changed",
		    sa->sun_path);
		return -2;
	}
	if (is_listening(sa)) {
		log_errorx("another daemon listens on %s; this one exits",
		    sa->sun_path);
		return -2;
	}
	log_notice("%s is the socket of a daemon that has ended; it is "
		   "replaced",
	    sa->sun_path);
	return unlink(sa->sun_path);
}

/* The mode is set before bind(), so that the socket never has another one. */
static int
unix_bind(int fd, const struct sockaddr_un *sa, mode_t mode)
{
	mode_t old;
	int rc;

	if (fchmod(fd, mode) == -1)
		return -1;
	old = umask(0);
	rc = bind(fd, (const struct sockaddr *)sa, sizeof(*sa));
	umask(old);
	return rc;
}

int
socket_unix_listen(const struct setup *setup, const char *path, mode_t mode)
{
	struct sockaddr_un sa;
	int fd = -1, rc = -1;

	if (directory_prepare_for(setup, path) == -1)
		return -1;
	if (address_fill(&sa, path) == 0)
		rc = stale_socket_remove(&sa);
	if (rc == -2)
		return -1;
	if (rc == 0)
		fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK,
		    0);
	if (fd != -1)
		passing_refuse(fd);
	if (fd == -1 || unix_bind(fd, &sa, mode) == -1 ||
	    listen(fd, BACKLOG) == -1) {
		log_error("cannot make socket %s", path);
		if (fd != -1)
			close(fd);
		return -1;
	}
	return fd;
}

static int
tcp_bind(const struct addrinfo *ai, int family)
{
	int yes = 1, only = family == AF_INET6;
	int fd = socket(ai->ai_family,
	    SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd == -1)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
	/* As Go does for "tcp::PORT": one socket for IPv4 and IPv6. */
	if (ai->ai_family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &only, sizeof(only));
	if (bind(fd, ai->ai_addr, ai->ai_addrlen) == 0 &&
	    listen(fd, BACKLOG) == 0)
		return fd;
	close(fd);
	return -1;
}

static void
hook_socket_add(struct setup *setup, int fd)
{
	setup->listen_fds[setup->n_listen++] = fd;
}

/* "Every address": an IPv6 socket accepts IPv4, too. */
static int
tcp_listen_everywhere(struct setup *setup, const struct conf_address *a)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM,
		.ai_flags = AI_PASSIVE | AI_NUMERICSERV };
	static const int families[] = { AF_INET6, AF_INET };
	struct addrinfo *list;
	size_t i;
	int fd = -1;

	for (i = 0; i < 2 && fd == -1; i++) {
		hints.ai_family = families[i];
		if ((a->family != AF_UNSPEC && a->family != families[i]) ||
		    getaddrinfo(NULL, a->port, &hints, &list) != 0)
			continue;
		fd = tcp_bind(list, a->family);
		freeaddrinfo(list);
	}
	if (fd == -1)
		return -1;
	hook_socket_add(setup, fd);
	return 0;
}

/* /etc/hosts may have the same address in several lines. */
static int
is_repeated(const struct addrinfo *list, const struct addrinfo *ai)
{
	for (; list != ai; list = list->ai_next)
		if (list->ai_addrlen == ai->ai_addrlen &&
		    memcmp(list->ai_addr, ai->ai_addr, ai->ai_addrlen) == 0)
			return 1;
	return 0;
}

/* 0, or -1 with errno.  An address that this host does not have is skipped. */
static int
tcp_listen_at(struct setup *setup, const struct addrinfo *ai,
    const struct conf_address *a)
{
	char text[NI_MAXHOST] = "?";
	int fd = tcp_bind(ai, a->family), saved = errno;

	getnameinfo(ai->ai_addr, ai->ai_addrlen, text, sizeof(text), NULL, 0,
	    NI_NUMERICHOST);
	errno = saved;
	if (fd != -1) {
		log_info("hook messages are accepted at %s port %s", text,
		    a->port);
		hook_socket_add(setup, fd);
		return 0;
	}
	if (errno != EADDRNOTAVAIL && errno != EAFNOSUPPORT)
		return -1;
	log_warn("no hook messages at %s, an address of \"%s\"", text, a->host);
	return 0;
}

/*
 * A name may have IPv4 and IPv6 addresses, as localhost has.  0, -1 with errno,
 * or -2 (logged).
 */
static int
tcp_listen_host(struct setup *setup, const struct conf_address *a)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM,
		.ai_flags = AI_PASSIVE | AI_NUMERICSERV };
	struct addrinfo *list, *ai;
	int rc = 0;

	hints.ai_family = a->family;
	rc = getaddrinfo(a->host, a->port, &hints, &list);
	if (rc != 0) {
		log_errorx("host \"%s\" of prepSockListenPath: %s", a->host,
		    gai_strerror(rc));
		return -2;
	}
	for (ai = list; ai != NULL && rc == 0; ai = ai->ai_next) {
		if (is_repeated(list, ai))
			continue;
		if (setup->n_listen == HOOK_SOCKETS_MAX) {
			log_warnx("host \"%s\" has more than %d addresses; "
				  "the others are not used",
			    a->host, HOOK_SOCKETS_MAX);
			break;
		}
		rc = tcp_listen_at(setup, ai, a);
	}
	freeaddrinfo(list);
	if (rc == 0 && setup->n_listen == 0) {
		errno = EADDRNOTAVAIL;
		rc = -1;
	}
	return rc;
}

static int
tcp_listen(struct setup *setup, const struct conf_address *a)
{
	int rc = a->host[0] != '\0' ? tcp_listen_host(setup, a) :
				      tcp_listen_everywhere(setup, a);

	if (rc == -1)
		log_error("cannot listen on host \"%s\" port %s", a->host,
		    a->port);
	return rc == 0 ? 0 : -1;
}

int
hook_directory_is_closed(const struct setup *setup, const char *path, char *why,
    size_t size)
{
	const struct identity *id = &setup->slurm_user;
	char dir[sizeof(((struct sockaddr_un *)0)->sun_path)];
	struct stat st;

	snprintf(dir, sizeof(dir), "%.*s", (int)(strrchr(path, '/') - path),
	    path);
	if (!setup->has_slurm_user || id->uid == 0 || stat(dir, &st) == -1)
		return 0;
	if (directory_admits_hook(setup, &st) ||
	    directory_gets_group(setup, dir, &st))
		return 0;
	snprintf(why, size,
	    "user %u, who runs slurmctld and the hooks, cannot "
	    "enter %s (mode %04o): run chgrp %u %s && chmod g+x %s",
	    (unsigned)id->uid, dir, (unsigned)st.st_mode & 07777,
	    (unsigned)id->gid, dir, dir);
	return 1;
}

/* The mode of an existing directory is not changed: it may be shared. */
static void
hook_directory_check(const struct setup *setup, const char *path)
{
	char why[512];

	if (hook_directory_is_closed(setup, path, why, sizeof(why)))
		log_warnx("%s", why);
}

static int
unix_hook_listen(struct setup *setup, const char *path)
{
	int fd;

	setup->listen_path = strdup(path);
	if (setup->listen_path == NULL) {
		log_error("cannot make socket %s", path);
		return -1;
	}
	fd = socket_unix_listen(setup, path, HOOK_MODE);
	if (fd == -1) {
		free(setup->listen_path);
		setup->listen_path = NULL;
		return -1;
	}
	hook_socket_add(setup, fd);
	hook_directory_check(setup, path);
	return 0;
}

static int
hook_socket_open(struct setup *setup, const struct conf *conf)
{
	const char *value = conf_str(conf, CONF_PREP_LISTEN);
	struct conf_address a;

	if (conf_address_parse(value, &a) == -1) {
		log_errorx("prepSockListenPath: %s is not an address", value);
		return -1;
	}
	setup->listen_tcp = a.kind == CONF_ADDRESS_TCP;
	return setup->listen_tcp ? tcp_listen(setup, &a) :
				   unix_hook_listen(setup, a.path);
}

static void
socket_remove(int *fd, const char *path)
{
	if (*fd == -1)
		return;
	passing_close(*fd);
	*fd = -1;
	if (path != NULL && unlink(path) == -1 && errno != ENOENT)
		log_warn("cannot remove socket %s", path);
}

static void
hook_sockets_remove(struct setup *setup)
{
	unsigned i;

	for (i = 0; i < setup->n_listen; i++)
		socket_remove(&setup->listen_fds[i], setup->listen_path);
	setup->n_listen = 0;
	free(setup->listen_path);
	setup->listen_path = NULL;
}

/*
 * A listener shares the socket with its successors: a shutdown() of one of them
 * is for all.  Then a TCP socket does not listen any more; a UNIX socket does,
 * but refuses each connection.
 */
static int
is_shut_down(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLRDHUP };
	int accepts = 0;
	socklen_t len = sizeof(accepts);

	if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &accepts, &len) == -1 ||
	    !accepts)
		return 1;
	return poll(&p, 1, 0) == 1 && (p.revents & (POLLRDHUP | POLLHUP)) != 0;
}

static int
hook_sockets_listen(const struct setup *setup)
{
	unsigned i;

	for (i = 0; i < setup->n_listen; i++)
		if (is_shut_down(setup->listen_fds[i]))
			return 0;
	return setup->n_listen != 0;
}

/*
 * Accepted connections inherit SO_LINGER: close() would wait for a client that
 * acknowledges nothing.
 */
void
socket_linger_clear(int fd)
{
	static const struct linger none;

	/* Fails only when fd is not a socket. */
	(void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &none, sizeof(none));
}

int
sockets_hook_repair(struct setup *setup, const struct conf *conf)
{
	unsigned i;

	for (i = 0; i < setup->n_listen; i++)
		socket_linger_clear(setup->listen_fds[i]);
	if (hook_sockets_listen(setup))
		return 0;
	log_warnx("the socket of the hooks was shut down; it is made again");
	hook_sockets_remove(setup);
	setup->listen_repairs++;
	if (hook_socket_open(setup, conf) == 0)
		return 0;
	hook_sockets_remove(setup);
	log_errorx("messages of hooks are not received until the daemon is "
		   "restarted; the polls find the jobs");
	return -1;
}

static mode_t
ctl_mode(const struct conf *conf)
{
	char name[256];

	return conf_list_item(conf_str(conf, CONF_CTL_USERS), 0, name,
		   sizeof(name)) == 0 ?
	    CTL_MODE :
	    CTL_MODE_USERS;
}

/*
 * A path may name another file by now: the mode is changed only of the socket
 * that was made.  chmod() by descriptor needs /proc, because the descriptor is
 * no open file.
 */
static int
ctl_chmod(const struct setup *setup, const char *path, mode_t mode)
{
	char name[32];
	struct stat st;
	int fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC), rc = -1;

	if (fd == -1)
		return -1;
	errno = ESTALE;
	if (fstat(fd, &st) == 0 && S_ISSOCK(st.st_mode) &&
	    st.st_dev == setup->ctl_dev && st.st_ino == setup->ctl_ino) {
		snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
		rc = chmod(name, mode);
	}
	close(fd);
	return rc;
}

void
sockets_ctl_mode(const struct setup *setup, const struct conf *conf)
{
	const char *path = conf_str(conf, CONF_CTL_SOCK);

	if (setup->ctl_fd != -1 && ctl_chmod(setup, path, ctl_mode(conf)) == -1)
		log_warn("cannot set the mode of %s", path);
}

static void
ctl_remember(struct setup *setup, const char *path)
{
	struct stat st;

	if (lstat(path, &st) == -1)
		return;
	setup->ctl_dev = st.st_dev;
	setup->ctl_ino = st.st_ino;
}

int
sockets_open(struct setup *setup, const struct conf *conf)
{
	if (worker_is_wanted(conf, ROLE_LISTENER) &&
	    hook_socket_open(setup, conf) == -1) {
		sockets_close(setup, conf);
		return -1;
	}
	setup->ctl_fd = socket_unix_listen(setup, conf_str(conf, CONF_CTL_SOCK),
	    ctl_mode(conf));
	if (setup->ctl_fd == -1)
		sockets_close(setup, conf);
	else
		ctl_remember(setup, conf_str(conf, CONF_CTL_SOCK));
	if (setup->ctl_fd != -1 && metrics_socket_open(setup, conf) == -1)
		sockets_close(setup, conf);
	return setup->ctl_fd != -1 ? 0 : -1;
}

void
sockets_close(struct setup *setup, const struct conf *conf)
{
	hook_sockets_remove(setup);
	metrics_socket_close(setup);
	socket_remove(&setup->ctl_fd, conf_str(conf, CONF_CTL_SOCK));
}
