/* SPDX-License-Identifier: MIT */
/*
 * The hook client: environment in, one message out, status 0 in time.  It
 * runs between slurmctld and every job, as SlurmUser, so it links libc alone,
 * allocates nothing, and may assume that whatever it talks to is dead,
 * stopped, full or unreachable.
 */
#ifndef HOOK_HOOK_H
#define HOOK_HOOK_H

#include <sys/socket.h>
#include <sys/un.h>

#include <netinet/in.h>

#include <stddef.h>

/* The defaults of prepSockConnectPath and -config. */
#define HOOK_SOCKET	"/run/cc-slurm-adapter/daemon.sock"
#define HOOK_CONFIG	"/etc/cc-slurm-adapter/config.json"

/* All together must stay below one second, whatever is dead. */
#define HOOK_TRY_MS	800	/* to connect and to write */
#define HOOK_ALARM_MS	950	/* then the process ends, wherever it hangs */

/* message.c: the message. */

/* A daemon takes no more. */
#define MESSAGE_MAX	(64u * 1024)

/*
 * Writes the Go adapter's message from the environment into buf, without a
 * NUL; returns its length.  Values that would make it longer than size are
 * cut, beginning with none of the three that a daemon needs.  size is at
 * least MESSAGE_MAX.
 */
size_t message_write(char *buf, size_t size);
/* value as Go's encoding/json writes a string, quotes included, cut at a
 * character so that size bytes hold it; returns the length.  size >= 2. */
size_t message_escape(char *buf, size_t size, const char *value);

/* address.c: where the daemon listens. */

struct address {
	union {
		struct sockaddr		sa;
		struct sockaddr_un	un;
		struct sockaddr_in	in;
		struct sockaddr_in6	in6;
	} to;
	socklen_t	len;
};

/*
 * Reads "unix:PATH", "PATH", "tcp:1.2.3.4:5", "tcp:[::1]:5", "tcp:name:5" or
 * "tcp::5" (this machine).  A name is looked up by libc, which may take until
 * the alarm.  NULL, or a constant text with what is wrong.
 */
const char *address_parse(const char *text, struct address *address);

/* conf.c: the one value that the hook wants of config.json. */

/*
 * Looks up prepSockConnectPath in the file.  1 with the value in buf; 0 when
 * the file cannot be read, is no JSON object, or has no such string.
 */
int config_read_socket(const char *path, char *buf, size_t size);
/* The same in len bytes at p. */
int config_find_socket(const char *p, size_t len, char *buf, size_t size);

/* deliver.c: the connection. */

/* Delivers within HOOK_TRY_MS.  0, or -1 with errno. */
int message_send(const struct address *address, const char *message,
    size_t len);

#endif
