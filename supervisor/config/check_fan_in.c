/* SPDX-License-Identifier: MIT */
/*
 * The keys of a fan-in over NATS: `deliver` on the host of a cluster, `source` at
 * the centre, and which other keys a host needs or does not use with them.
 */
#include "config.h"

#include <string.h>

#include "common/model/job.h"
#include "supervisor/config/config_file.h"

#define SLURM_CLUSTERS_MAX 16 /* of one Slurm: collector/base/cluster.h */
/*
 * s; a message must not expire during an outage, and a centre that is restored
 * from a backup reads the messages since then again.
 */
#define MAX_AGE_LEAST (7 * 86400)
/* s; see MARGIN_MS of receiver/lease/lease.c */
#define LEASE_LEAST 30

/* Keys that a host does not use; the first group also when it has a default. */
static const enum conf_key of_rest[] = { CONF_CC_REST_URL, CONF_CC_REST_JWT,
	CONF_CC_REST_JWT_FILE, CONF_CC_REST_CA_FILE };
static const enum conf_key of_messages[] = { CONF_NATS_SUBJECT,
	CONF_NATS_FORMAT, CONF_NATS_JETSTREAM };

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static const char *
name_of(enum conf_key key)
{
	return conf_rule(key)->name;
}

static void
unused_warn(struct conf_parse *p, const enum conf_key *keys, size_t n,
    enum conf_key because)
{
	size_t i;

	/* At a reload, the other mode uses them until the restart. */
	if (conf_is_kept(p, because))
		return;
	for (i = 0; i < n; i++)
		if (strcmp(conf_str(&p->conf, keys[i]),
			conf_rule(keys[i])->def) != 0 ||
		    p->secret[keys[i]] != NULL)
			conf_warn(p, name_of(keys[i]), NULL,
			    "is not used, because %s is \"stream\"",
			    name_of(because));
}

/* names: the part of the text that says what `clusters` must contain. */
static void
check_needs(struct conf_parse *p, enum conf_key key, const char *names)
{
	const char *name = name_of(key);

	if (!conf_is_set(p, CONF_NATS_SERVER))
		conf_error(p, name, NULL,
		    "is \"stream\", which needs natsServer");
	if (strcmp(conf_str(&p->conf, CONF_CLUSTERS), "[]") == 0)
		conf_error(p, name, NULL,
		    "is \"stream\", which needs the %s in clusters", names);
}

/* The host of a cluster. */
static void
check_deliver(struct conf_parse *p)
{
	const char *name = name_of(CONF_DELIVER);

	check_needs(p, CONF_DELIVER, "name of the cluster");
	if (conf_bool(&p->conf, CONF_ACTIVE_ONLY))
		conf_error(p, name_of(CONF_ACTIVE_ONLY), NULL,
		    "must not be true while %s is \"stream\": both "
		    "controllers may publish, the centre stores each run once",
		    name);
	unused_warn(p, of_rest, COUNT(of_rest), CONF_DELIVER);
	unused_warn(p, of_messages, COUNT(of_messages), CONF_DELIVER);
}

/* The centre. */
static void
check_source(struct conf_parse *p)
{
	const char *name = name_of(CONF_SOURCE);

	check_needs(p, CONF_SOURCE, "names of the clusters");
	if (!conf_bool(&p->conf, CONF_CC_REST_SUBMIT))
		conf_error(p, name_of(CONF_CC_REST_SUBMIT), NULL,
		    "must not be false while %s is \"stream\": the runs are "
		    "sent to cc-backend",
		    name);
	if (conf_int(&p->conf, CONF_NATS_LEASE_TIME) < LEASE_LEAST)
		conf_warn(p, name_of(CONF_NATS_LEASE_TIME), NULL,
		    "is less than 30 s, which is for tests: the standby does "
		    "not wait until cc-backend has ended the last requests of "
		    "the other centre");
	if (conf_int(&p->conf, CONF_NATS_STREAM_MAX_AGE) < MAX_AGE_LEAST)
		conf_warn(p, name_of(CONF_NATS_STREAM_MAX_AGE), NULL,
		    "is less than 7 d: runs are lost when an outage of the "
		    "centre, or the age of its backup, exceeds the time");
	unused_warn(p, of_messages, COUNT(of_messages), CONF_SOURCE);
}

/* Reports an error in a build that cannot connect to NATS.  1, or 0. */
static int
is_without_nats(struct conf_parse *p, enum conf_key key)
{
#ifdef HAVE_NATS
	return 0;
#else
	conf_error(p, name_of(key), NULL,
	    "is \"stream\", which needs NATS: this program was built without "
	    "NATS");
	return 1;
#endif
}

void
conf_check_fan_in(struct conf_parse *p)
{
	char name[CLUSTER_MAX];

	if (conf_delivers_to_stream(&p->conf) && conf_reads_stream(&p->conf)) {
		conf_error(p, name_of(CONF_SOURCE), NULL,
		    "and deliver must not both be \"stream\": deliver is for "
		    "the host of a cluster, source for the centre");
		return;
	}
	if (conf_delivers_to_stream(&p->conf) &&
	    !is_without_nats(p, CONF_DELIVER))
		check_deliver(p);
	if (conf_reads_stream(&p->conf)) {
		if (!is_without_nats(p, CONF_SOURCE))
			check_source(p);
	} else if (!conf_is_kept(p, CONF_SOURCE) &&
	    conf_list_item(conf_str(&p->conf, CONF_CLUSTERS),
		SLURM_CLUSTERS_MAX, name, sizeof(name)) == 1)
		conf_error(p, name_of(CONF_CLUSTERS), NULL,
		    "must have at most %d names while source is \"slurm\"",
		    SLURM_CLUSTERS_MAX);
}
