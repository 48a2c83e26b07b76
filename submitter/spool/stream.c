/* SPDX-License-Identifier: MIT */
/*
 * The position in each cluster's stream, as named values: the identity of the
 * stream and the sequence number up to which each message was taken.  A file
 * that is recovered has none, so that the stream is read again from its
 * beginning, which is harmless.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "submitter/spool/spool_private.h"

/* In front of the cluster: the key of the value in table meta. */
#define STREAM_PREFIX "stream:"
#define POSITION_LEN  16 /* bytes of a value */

static void
name_make(const char *cluster, char *buf, size_t size)
{
	snprintf(buf, size, STREAM_PREFIX "%s", cluster);
}

int
spool_stream(struct spool *sp, const char *cluster, struct spool_stream *at)
{
	char name[sizeof(STREAM_PREFIX) + CLUSTER_MAX];
	struct reader r;
	uint8_t *p;
	size_t n;
	int rc;

	memset(at, 0, sizeof(*at));
	name_make(cluster, name, sizeof(name));
	p = spool_value_get(sp, name, &n);
	rd_init(&r, p, n);
	at->identity = rd_u64(&r);
	at->sequence = rd_u64(&r);
	rc = p != NULL && n == POSITION_LEN && rd_end(&r) == 0;
	if (!rc)
		memset(at, 0, sizeof(*at));
	free(p);
	return rc;
}

int
spool_stream_set(struct spool *sp, const char *cluster,
    const struct spool_stream *at)
{
	char name[sizeof(STREAM_PREFIX) + CLUSTER_MAX];
	struct spool_stream was;
	struct writer w;
	int rc;

	if (spool_stream(sp, cluster, &was) && was.identity == at->identity &&
	    was.sequence == at->sequence)
		return 0;
	name_make(cluster, name, sizeof(name));
	wr_init(&w, POSITION_LEN);
	wr_u64(&w, at->identity);
	wr_u64(&w, at->sequence);
	rc = wr_end(&w) == 0 ? spool_value_set(sp, name, w.buf, w.len) : -1;
	wr_clear(&w);
	return rc;
}
