/* SPDX-License-Identifier: MIT */
/*
 * The submitter's part of the checklist of `cc-slurm-adapter -daemon -test`:
 * asks cc-backend for its clusters and connects to NATS.  Nothing is sent that
 * has an effect.  The spool is not open.
 */
#ifndef SUBMITTER_CHECK_H
#define SUBMITTER_CHECK_H

#include "common/model/ctl.h"
#include "submitter/nats/nats.h"
#include "submitter/net/http.h"
#include "submitter/payload/payload.h"

struct submitter;

/* The configuration that was checked; it is not in force. */
struct check_conf {
	struct payload *payload;
	struct http_conf *http;
	struct nats_conf *nats;
	int with_rest; /* ccRestSubmitJobs */
	/* subjects of the streams, for admins; "" = deliver is not "stream" */
	char streams[400];
	int with_nats;	  /* natsServer is set */
	char version[17]; /* ccBackendVersion */
};

/*
 * Takes the pointers of conf.  Answers in 15 s with rows of CTL_T_CHECK.  Call
 * it once.
 */
void check_begin(struct submitter *s, uint64_t request,
    const struct check_conf *conf);
/* Does cc-backend have this cluster (Slurm's name)?  After check_begin(). */
void check_cluster(struct submitter *s, uint64_t request, const char *cluster);

#endif
