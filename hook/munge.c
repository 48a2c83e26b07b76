/* SPDX-License-Identifier: MIT */
/*
 * cc-slurm-adapter-munge: the helper of the hook client.  It asks munged for a
 * credential of the hook in its environment and prints the credential.  The
 * hook client executes it with prepAuth "munge" and a TCP address only, so that
 * the hook client itself links libc alone.
 */
#include "config.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <munge.h>

#include "common/model/hook_credential.h"

#define ME "cc-slurm-adapter-munge: "

/* 0, or the exit status after a line on standard error. */
static int
credential_print(munge_ctx_t ctx, const char *socket, const char *payload,
    size_t len)
{
	char *credential = NULL;
	int rc = 1;

	if (munge_ctx_set(ctx, MUNGE_OPT_SOCKET, socket) != EMUNGE_SUCCESS ||
	    munge_encode(&credential, ctx, payload, (int)len) != EMUNGE_SUCCESS)
		fprintf(stderr, ME "%s\n", munge_ctx_strerror(ctx));
	else if (hook_credential_check(credential) == -1)
		fprintf(stderr, ME "the credential of munged is too long\n");
	else if (fputs(credential, stdout) != EOF && fflush(stdout) == 0)
		rc = 0;
	free(credential);
	return rc;
}

int
main(int argc, char **argv)
{
	const char *job = getenv("SLURM_JOB_ID");
	const char *cluster = getenv("SLURM_CLUSTER_NAME");
	char payload[HOOK_PAYLOAD_MAX];
	size_t len = 0;
	munge_ctx_t ctx;
	int rc;

	if (argc != 2) {
		fprintf(stderr, "usage: cc-slurm-adapter-munge SOCKET\n");
		return 2;
	}
	if (job != NULL && cluster != NULL)
		len = hook_payload(payload, sizeof(payload), cluster,
		    strtoull(job, NULL, 10),
		    hook_kind(getenv("SLURM_SCRIPT_CONTEXT")));
	if (len == 0) {
		fprintf(stderr,
		    ME "SLURM_JOB_ID or SLURM_CLUSTER_NAME is not valid\n");
		return 2;
	}
	if ((ctx = munge_ctx_create()) == NULL) {
		fprintf(stderr, ME "out of memory\n");
		return 1;
	}
	rc = credential_print(ctx, argv[1], payload, len);
	munge_ctx_destroy(ctx);
	return rc;
}
