/* SPDX-License-Identifier: MIT */
/* See tomb_age.h. */
#include "config.h"

#include "submitter/base/tomb_age.h"

/* s; a record comes after the end of the run, and clocks differ */
#define MARGIN 86400

/*
 * The collector reads accounting again for slurmQueryMaxSpan.  The receiver of a
 * centre reads the last messages of a stream again whenever it is connected
 * (receiver/streams/step.c); they may be as old as the stream keeps messages.
 */
int64_t
tomb_age(const struct conf *conf)
{
	int64_t span = conf_int(conf, CONF_QUERY_MAX_SPAN);
	int64_t stream = conf_int(conf, CONF_NATS_STREAM_MAX_AGE);

	if (conf_reads_stream(conf) && stream > span)
		span = stream;
	return span + MARGIN;
}
