/* SPDX-License-Identifier: MIT */
/*
 * The munge credential of a hook message on TCP: its form, and the payload
 * that the helper of the hook client encodes and the collector expects.  Needs
 * libc alone, because the hook client and its helper link this file.
 */
#ifndef COMMON_HOOK_CREDENTIAL_H
#define COMMON_HOOK_CREDENTIAL_H

#include <stddef.h>
#include <stdint.h>

/* Member of the hook message that contains the credential. */
#define HOOK_CREDENTIAL_KEY "MUNGE_CREDENTIAL"

/* The socket of munged where no key names another one. */
#define HOOK_MUNGE_SOCKET "/run/munge/munge.socket.2"

/*
 * Bytes with the NUL.  A credential of this payload has about 300 bytes, with
 * the longest realm about 650.
 */
#define HOOK_CREDENTIAL_MAX 1024

/* Bytes with the NUL: the first word, a cluster, a job id and a kind. */
#define HOOK_PAYLOAD_MAX 128

/* "MUNGE:", base64, ":".  0, or -1; the content is not checked. */
int hook_credential_check(const char *text);

/* The enum event_kind of a SLURM_SCRIPT_CONTEXT, which may be NULL. */
uint8_t hook_kind(const char *context);

/*
 * Writes the payload of a hook of this job.  A credential that was made for
 * another purpose, job, cluster or kind has another payload.  Returns the
 * length, or 0 when it does not fit or the job is none of Slurm's.
 */
size_t hook_payload(char *buf, size_t size, const char *cluster, uint64_t job,
    uint8_t kind);

#endif
