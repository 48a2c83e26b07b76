/* SPDX-License-Identifier: MIT */
/*
 * The hook client sends the environment of a hook to the daemon as one
 * message.  slurmctld runs it as SlurmUser for every job and waits for it.  It
 * links libc alone and allocates no memory.  The daemon may be stopped, hung
 * or unreachable.
 */
#ifndef HOOK_HOOK_H
#define HOOK_HOOK_H

#include <sys/socket.h>
#include <sys/un.h>

#include <netinet/in.h>

#include <stddef.h>

#include "common/model/config_key.h"

/* Defaults of prepSockConnectPath and of -config. */
#define HOOK_SOCKET "/run/cc-slurm-adapter/daemon.sock"
#define HOOK_CONFIG CONFIG_DEFAULT

/* The process must end within one second. */
#define HOOK_TRY_MS   800 /* for the credential, to connect and to write */
#define HOOK_ALARM_MS 950 /* SIGALRM ends the process */
#define HOOK_MUNGE_MS 400 /* of these for the credential */

/* message.c: the message. */

/* Bytes; the daemon refuses longer messages. */
#define MESSAGE_MAX (64u * 1024)

/*
 * Writes the message of the Go adapter from the environment into buf, without
 * a NUL, and returns its length.  When it would be longer than size, each
 * value is cut to 1 KiB.  size is at least MESSAGE_MAX less a credential's.
 */
size_t message_write(char *buf, size_t size);
/*
 * Writes value as Go's encoding/json writes a string, with its quotes.  A value
 * that does not fit is cut at a character.  Returns the length.  size >= 2.
 */
size_t message_escape(char *buf, size_t size, const char *value);

/* address.c: the address of the daemon. */

struct address {
	union {
		struct sockaddr sa;
		struct sockaddr_un un;
		struct sockaddr_in in;
		struct sockaddr_in6 in6;
	} to;
	socklen_t len;
};

#define ADDRESSES_MAX 8 /* of one host name; the others are not tried */

struct address_list {
	struct address at[ADDRESSES_MAX];
	unsigned n;
};

/*
 * Reads "unix:PATH", "PATH", "tcp:1.2.3.4:5", "tcp:[::1]:5", "tcp:name:5" or
 * "tcp::5" (this host), also with tcp4: and tcp6:.  libc resolves a name; the
 * alarm bounds the time.
 * Returns NULL with at least one address in list, or a constant text with what
 * is wrong.
 */
const char *address_parse(const char *text, struct address_list *list);

/* credential.c: prepAuth "munge". */

/* Bytes that credential_add() needs in the message. */
#define CREDENTIAL_ROOM 2048u

/*
 * Adds a credential as the last member of the message of len bytes.  program
 * asks the munged of socket, for HOOK_MUNGE_MS at most.  Returns the new length;
 * len when there is no credential.  program may have written a line to standard
 * error.
 */
size_t credential_add(char *message, size_t size, size_t len,
    const char *program, const char *socket);

/* deliver.c: the connection. */

/* A clock that no admin sets, in ms. */
long hook_clock_ms(void);
/*
 * Delivers to the first address that accepts, until end of hook_clock_ms() for
 * all.  0, or -1 with errno of the last address.
 */
int message_send(const struct address_list *list, const char *message,
    size_t len, long end);

#endif
