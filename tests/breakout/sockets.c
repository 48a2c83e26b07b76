/* SPDX-License-Identifier: MIT */
/* Attempts to reach other programs and hosts. */
#include "config.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <errno.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <linux/netlink.h>

#include "tests/breakout/attempts.h"

static struct sockaddr_in
loopback(int port)
{
	struct sockaddr_in to = { .sin_family = AF_INET };

	to.sin_port = htons((uint16_t)port);
	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	return to;
}

/* Of a path, or of an abstract name. */
static socklen_t
unix_address(struct sockaddr_un *to, const char *name, int is_abstract)
{
	memset(to, 0, sizeof(*to));
	to->sun_family = AF_UNIX;
	snprintf(to->sun_path + is_abstract,
	    sizeof(to->sun_path) - (size_t)is_abstract, "%s", name);
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) +
	    strlen(name) + 1);
}

/* Closes fd and keeps errno. */
static int64_t
end(int fd, int64_t rc)
{
	int saved = errno;

	if (fd != -1)
		close(fd);
	errno = saved;
	return rc;
}

static int64_t
connect_by(int port, int protocol)
{
	struct sockaddr_in to = loopback(port);
	int fd = socket(AF_INET, SOCK_STREAM, protocol);

	if (fd == -1)
		return -1;
	return end(fd, connect(fd, (struct sockaddr *)&to, sizeof(to)));
}

static int64_t
tcp_to(int port)
{
	return connect_by(port, 0);
}

#ifndef IPPROTO_MPTCP
#define IPPROTO_MPTCP 262 /* glibc before 2.32 */
#endif

/* MPTCP falls back to TCP.  Landlock's rules for ports apply to TCP only. */
static int64_t
tcp_multipath(void)
{
	return connect_by(targets.tcp_port, IPPROTO_MPTCP);
}

static int64_t
tcp_other(void)
{
	return tcp_to(targets.tcp_port);
}

static int64_t
tcp_allowed(void)
{
	return tcp_to(targets.allowed_port);
}

static int64_t
tcp_fast_open(void)
{
	struct sockaddr_in to = loopback(targets.tcp_port);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (fd == -1)
		return -1;
	return end(fd,
	    sendto(fd, "x", 1, MSG_FASTOPEN | MSG_NOSIGNAL,
		(struct sockaddr *)&to, sizeof(to)));
}

static int64_t
tcp_listen(void)
{
	struct sockaddr_in any = loopback(0);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (fd == -1)
		return -1;
	if (bind(fd, (struct sockaddr *)&any, sizeof(any)) == -1)
		return end(fd, -1);
	return end(fd, listen(fd, 1));
}

/* Without bind() the kernel takes a port. */
static int64_t
tcp_listen_unbound(void)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	return fd == -1 ? -1 : end(fd, listen(fd, 1));
}

static int64_t
udp(void)
{
	struct sockaddr_in to = loopback(targets.udp_port);
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	if (fd == -1)
		return -1;
	return end(fd,
	    sendto(fd, "x", 1, 0, (struct sockaddr *)&to, sizeof(to)));
}

static int64_t
unix_connect(const char *name, int is_abstract, int type)
{
	struct sockaddr_un to;
	socklen_t len = unix_address(&to, name, is_abstract);
	int fd = socket(AF_UNIX, type | SOCK_NONBLOCK, 0);

	if (fd == -1)
		return -1;
	return end(fd, connect(fd, (struct sockaddr *)&to, len));
}

static int64_t
unix_ctl(void)
{
	return unix_connect(targets.ctl, 0, SOCK_STREAM);
}

static int64_t
unix_stream(void)
{
	return unix_connect(targets.stream, 0, SOCK_STREAM);
}

static int64_t
unix_dbus(void)
{
	return unix_connect("/run/dbus/system_bus_socket", 0, SOCK_STREAM);
}

static int64_t
unix_systemd(void)
{
	return unix_connect("/run/systemd/private", 0, SOCK_STREAM);
}

static int64_t
unix_datagram(void)
{
	return unix_connect(targets.datagram, 0, SOCK_DGRAM);
}

static int64_t
unix_abstract(void)
{
	return unix_connect(targets.abstract, 1, SOCK_DGRAM);
}

/* Without socket(2): one of a pair, sent to another address. */
static int64_t
pair_send(const char *name, int is_abstract, int type)
{
	struct sockaddr_un to;
	socklen_t len = unix_address(&to, name, is_abstract);
	int fds[2];
	int64_t rc;

	if (socketpair(AF_UNIX, type, 0, fds) == -1)
		return -1;
	/* A connected socket of this type ignores the address. */
	if (type == SOCK_SEQPACKET)
		rc = -1;
	else
		rc = sendto(fds[0], "x", 1, MSG_NOSIGNAL,
		    (struct sockaddr *)&to, len);
	if (rc == -1)
		rc = connect(fds[0], (struct sockaddr *)&to, len);
	return end(fds[0], end(fds[1], rc));
}

static int64_t
pair_datagram(void)
{
	return pair_send(targets.datagram, 0, SOCK_DGRAM);
}

static int64_t
pair_abstract(void)
{
	return pair_send(targets.abstract, 1, SOCK_DGRAM);
}

static int64_t
pair_stream(void)
{
	return pair_send(targets.stream, 0, SOCK_STREAM);
}

static int64_t
pair_ctl(void)
{
	return pair_send(targets.ctl, 0, SOCK_SEQPACKET);
}

static int64_t
socket_of(int family, int type, int protocol)
{
	int fd = socket(family, type, protocol);

	return end(fd, fd);
}

static int64_t
packet(void)
{
	return socket_of(AF_PACKET, SOCK_RAW, 0);
}

static int64_t
raw(void)
{
	return socket_of(AF_INET, SOCK_RAW, IPPROTO_ICMP);
}

static int64_t
netlink_diag(void)
{
	return socket_of(AF_NETLINK, SOCK_RAW, NETLINK_SOCK_DIAG);
}

static int64_t
netlink_route(void)
{
	return socket_of(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);
}

static int64_t
vsock(void)
{
	return socket_of(AF_VSOCK, SOCK_STREAM, 0);
}

static int64_t
crypto(void)
{
	return socket_of(AF_ALG, SOCK_SEQPACKET, 0);
}

const struct attempt attempts_sockets[] = {
	{ "tcp-other", tcp_other },
	{ "tcp-allowed", tcp_allowed },
	{ "tcp-fast-open", tcp_fast_open },
	{ "tcp-multipath", tcp_multipath },
	{ "tcp-listen", tcp_listen },
	{ "tcp-listen-unbound", tcp_listen_unbound },
	{ "udp", udp },
	{ "unix-ctl", unix_ctl },
	{ "unix-stream", unix_stream },
	{ "unix-dbus", unix_dbus },
	{ "unix-systemd", unix_systemd },
	{ "unix-datagram", unix_datagram },
	{ "unix-abstract", unix_abstract },
	{ "pair-datagram", pair_datagram },
	{ "pair-abstract", pair_abstract },
	{ "pair-stream", pair_stream },
	{ "pair-ctl", pair_ctl },
	{ "packet", packet },
	{ "raw", raw },
	{ "netlink-diag", netlink_diag },
	{ "netlink-route", netlink_route },
	{ "vsock", vsock },
	{ "crypto", crypto },
	{ NULL, NULL },
};
