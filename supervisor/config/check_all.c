/* SPDX-License-Identifier: MIT */
/*
 * The checks that need several values.  Each value was checked by itself
 * before.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "common/model/destination.h"
#include "common/model/job.h"
#include "supervisor/config/config_file.h"

#define PATHS_MAX 64 /* of slurmExtraPaths */

static const char *
name_of(enum conf_key key)
{
	return conf_rule(key)->name;
}

static void
check_active_only(struct conf_parse *p)
{
	const char *name = name_of(CONF_ACTIVE_ONLY);
	char second[256];

	if (!conf_bool(&p->conf, CONF_ACTIVE_ONLY))
		return;
	if (!conf_reads_stream(&p->conf) &&
	    conf_list_item(conf_str(&p->conf, CONF_CLUSTERS), 1, second,
		sizeof(second)) == 1)
		conf_error(p, name, NULL,
		    "is for one cluster and its two controllers, but "
		    "`clusters` has several");
	if (!conf_bool(&p->conf, CONF_CC_REST_SUBMIT))
		conf_error(p, name, NULL,
		    "needs ccRestSubmitJobs: NATS cannot tell what the other "
		    "controller has sent");
}

void
conf_check_logins(struct conf_parse *p)
{
	const char *host = strstr(conf_str(&p->conf, CONF_CC_REST_URL), "://");
	int in_url = host != NULL && host[3 + strcspn(host + 3, "@/")] == '@';

	if (in_url && conf_sends_rest(&p->conf))
		conf_error(p, name_of(CONF_CC_REST_URL), NULL,
		    "must not contain a user or password: the only login is "
		    "ccRestJwt");
	else if (in_url)
		conf_warn(p, name_of(CONF_CC_REST_URL), NULL,
		    "has a password in it, which is not kept secret there");
	if (strchr(conf_str(&p->conf, CONF_NATS_SERVER), '@') != NULL)
		conf_error(p, name_of(CONF_NATS_SERVER), NULL,
		    "must not contain a login: use natsToken, or natsUser and "
		    "natsPassword");
}

static void
check_rest(struct conf_parse *p)
{
	const char *url = conf_str(&p->conf, CONF_CC_REST_URL);
	const char *name = name_of(CONF_CC_REST_URL);
	struct destination d;

	if (conf_delivers_to_stream(&p->conf))
		return; /* nothing is sent to cc-backend */
	check_active_only(p);
	if (!conf_bool(&p->conf, CONF_CC_REST_SUBMIT)) {
		if (!conf_is_set(p, CONF_NATS_SERVER))
			conf_warn(p, name_of(CONF_CC_REST_SUBMIT), NULL,
			    "is false and natsServer is not set: "
			    "no job will be reported");
		if (*url == '\0')
			return;
	}
	if (*url == '\0') {
		conf_error(p, name, NULL,
		    "is not set: no job can be sent (for NATS alone, set "
		    "ccRestSubmitJobs to false)");
		return;
	}
	if (!p->has_token && conf_is_kept(p, CONF_DELIVER))
		conf_error(p, name_of(CONF_CC_REST_JWT), NULL,
		    "is not set, nor is ccRestJwtFile");
	else if (!p->has_token)
		conf_warn(p, name_of(CONF_CC_REST_JWT), NULL,
		    "is not set, nor is ccRestJwtFile: cc-backend will refuse "
		    "each request");
	if (p->has_token && destination_parse_url(&d, url) == 0 && !d.tls &&
	    !host_is_local(d.host))
		conf_warn(p, name, NULL,
		    "http to another host: the token is "
		    "readable in the network; use https://");
}

static void
check_nats(struct conf_parse *p)
{
	static const enum conf_key tls_keys[] = { CONF_NATS_CA_FILE,
		CONF_NATS_CERT_FILE, CONF_NATS_KEY_FILE };
	size_t i;

	if (!conf_is_set(p, CONF_NATS_SERVER))
		return;
#ifndef HAVE_NATS
	conf_error(p, name_of(CONF_NATS_SERVER), NULL,
	    "this program was built without NATS");
#endif
	if (conf_is_set(p, CONF_NATS_PASSWORD) &&
	    !conf_is_set(p, CONF_NATS_USER))
		conf_warn(p, name_of(CONF_NATS_PASSWORD), NULL,
		    "has no effect without natsUser");
	if (conf_is_set(p, CONF_NATS_CERT_FILE) !=
	    conf_is_set(p, CONF_NATS_KEY_FILE))
		conf_error(p,
		    name_of(conf_is_set(p, CONF_NATS_CERT_FILE) ?
			    CONF_NATS_CERT_FILE :
			    CONF_NATS_KEY_FILE),
		    NULL,
		    "natsCertFile and natsKeyFile must be given together");
	if (conf_bool(&p->conf, CONF_NATS_TLS) ||
	    strstr(conf_str(&p->conf, CONF_NATS_SERVER), "tls://") != NULL)
		return;
	for (i = 0; i < sizeof(tls_keys) / sizeof(tls_keys[0]); i++)
		if (conf_is_set(p, tls_keys[i]))
			conf_warn(p, name_of(tls_keys[i]), NULL,
			    "is used only if the server requires TLS: set "
			    "natsTls, or the connection can be without TLS");
}

static void
check_sockets(struct conf_parse *p)
{
	struct conf_address listen, connect;
	const char *name = name_of(CONF_PREP_LISTEN);
	const char *ctl = conf_str(&p->conf, CONF_CTL_SOCK);

	if (conf_address_parse(conf_str(&p->conf, CONF_PREP_LISTEN), &listen) ==
		-1 ||
	    conf_address_parse(conf_str(&p->conf, CONF_PREP_CONNECT),
		&connect) == -1)
		return;
	if (listen.kind == CONF_ADDRESS_TCP && !host_is_local(listen.host) &&
	    strcmp(conf_str(&p->conf, CONF_PREP_ALLOWED_HOSTS), "[]") == 0)
		conf_warn(p, name, NULL,
		    "prepAllowedHosts is empty: hooks on "
		    "other hosts are refused; to allow them, add for example "
		    "the line \"prepAllowedHosts\": [\"192.0.2.17\"]");
	if (listen.kind == CONF_ADDRESS_UNIX &&
	    connect.kind == CONF_ADDRESS_UNIX &&
	    strcmp(listen.path, connect.path) != 0)
		conf_warn(p, name_of(CONF_PREP_CONNECT), NULL,
		    "is not the path of prepSockListenPath: hooks on this host "
		    "will not reach the daemon");
	if (listen.kind == CONF_ADDRESS_UNIX && strcmp(listen.path, ctl) == 0)
		conf_error(p, name_of(CONF_CTL_SOCK), NULL,
		    "must not be the path of prepSockListenPath");
	if (strlen(ctl) >= sizeof(listen.path))
		conf_error(p, name_of(CONF_CTL_SOCK), NULL,
		    "must have at most 107 bytes, is %.200s", ctl);
}

/* Else the start would take its own socket for that of another daemon. */
static void
check_metrics(struct conf_parse *p)
{
	struct conf_address listen, metrics;
	const char *name = name_of(CONF_METRICS_LISTEN);

	if (!conf_is_set(p, CONF_METRICS_LISTEN) ||
	    conf_metrics_address(conf_str(&p->conf, CONF_METRICS_LISTEN),
		&metrics) == -1 ||
	    metrics.kind != CONF_ADDRESS_UNIX)
		return;
	if (strcmp(metrics.path, conf_str(&p->conf, CONF_CTL_SOCK)) == 0)
		conf_error(p, name, NULL,
		    "must not be the path of ctlSockPath");
	if (conf_address_parse(conf_str(&p->conf, CONF_PREP_LISTEN), &listen) ==
		0 &&
	    listen.kind == CONF_ADDRESS_UNIX &&
	    strcmp(metrics.path, listen.path) == 0)
		conf_error(p, name, NULL,
		    "must not be the path of prepSockListenPath");
}

/* 1 when path is dir or below it. */
static int
covers(const char *dir, const char *path)
{
	size_t n = strlen(dir);

	while (n > 0 && dir[n - 1] == '/')
		n--;
	return *path != '\0' && strncmp(dir, path, n) == 0 &&
	    (path[n] == '/' || path[n] == '\0');
}

/* Slurm's commands may read these paths, and jobs name files to read. */
static void
check_extra_paths(struct conf_parse *p)
{
	static const enum conf_key kept[] = { CONF_CC_REST_JWT_FILE,
		CONF_NATS_CREDS_FILE, CONF_NATS_NKEY_SEED_FILE,
		CONF_NATS_KEY_FILE, CONF_SPOOL_DIR, CONF_LAST_RUN };
	const char *name = name_of(CONF_SLURM_EXTRA_PATHS), *hidden;
	char path[4096], spool[4096];
	unsigned i;
	size_t k;

	if (conf_spool_path(conf_str(&p->conf, CONF_LAST_RUN), spool,
		sizeof(spool)) == -1)
		spool[0] = '\0';
	for (i = 0; i < PATHS_MAX; i++) {
		if (conf_list_item(conf_str(&p->conf, CONF_SLURM_EXTRA_PATHS),
			i, path, sizeof(path)) != 1)
			return;
		hidden = covers(path, p->path) ? p->path :
		    covers(path, spool)	       ? spool :
						 NULL;
		for (k = 0; k < sizeof(kept) / sizeof(kept[0]); k++)
			if (covers(path, conf_str(&p->conf, kept[k])))
				hidden = conf_str(&p->conf, kept[k]);
		if (hidden != NULL)
			conf_error(p, name, NULL,
			    "\"%.200s\" would allow Slurm's commands to read "
			    "%.200s",
			    path, hidden);
	}
}

/* Each cluster has one resume point; listed twice, it would be read twice. */
static void
check_clusters(struct conf_parse *p)
{
	const char *list = conf_str(&p->conf, CONF_CLUSTERS);
	char name[CLUSTER_MAX], other[CLUSTER_MAX];
	unsigned i, k;

	for (i = 0; conf_list_item(list, i, name, sizeof(name)) == 1; i++)
		for (k = 0; k < i; k++)
			if (conf_list_item(list, k, other, sizeof(other)) ==
				1 &&
			    strcmp(name, other) == 0)
				conf_error(p, name_of(CONF_CLUSTERS), NULL,
				    "\"%s\" is in the list twice", name);
}

static int
is_text(const json_t *value, const char *text)
{
	return json_is_string(value) &&
	    strcmp(json_string_value(value), text) == 0;
}

/*
 * A cluster without an entry in clusterNames has its own name in cc-backend.  If
 * another cluster had it too, the comparison would end the running jobs of both.
 */
static void
check_cluster_names(struct conf_parse *p)
{
	const char *list = conf_str(&p->conf, CONF_CLUSTERS);
	json_t *map = json_loads(conf_str(&p->conf, CONF_CLUSTER_NAMES), 0,
	    NULL);
	char name[CLUSTER_MAX], other[CLUSTER_MAX];
	unsigned i, k;

	for (i = 0; conf_list_item(list, i, name, sizeof(name)) == 1; i++) {
		if (json_object_get(map, name) != NULL)
			continue;
		for (k = 0; conf_list_item(list, k, other, sizeof(other)) == 1;
		     k++)
			if (is_text(json_object_get(map, other), name))
				conf_error(p, name_of(CONF_CLUSTER_NAMES),
				    other,
				    "\"%s\" is already the name of another "
				    "cluster in `clusters`",
				    name);
	}
	json_decref(map);
}

/* The collector uses the least limit that has space for the mark of the cut. */
static void
check_script(struct conf_parse *p)
{
	int64_t max = conf_int(&p->conf, CONF_JOB_SCRIPT_MAX);

	if (max != 0 && max < JOB_SCRIPT_MIN)
		conf_warn(p, name_of(CONF_JOB_SCRIPT_MAX), NULL,
		    "is less than %d: %d bytes are used", JOB_SCRIPT_MIN,
		    JOB_SCRIPT_MIN);
}

void
conf_check_all(struct conf_parse *p)
{
	conf_check_fan_in(p);
	conf_check_logins(p);
	check_rest(p);
	check_nats(p);
	check_sockets(p);
	check_metrics(p);
	check_extra_paths(p);
	check_clusters(p);
	check_cluster_names(p);
	check_script(p);
	if (conf_int(&p->conf, CONF_QUERY_MAX_SPAN) <
	    conf_int(&p->conf, CONF_POLL_INTERVAL))
		conf_error(p, name_of(CONF_QUERY_MAX_SPAN), NULL,
		    "must not be less than slurmPollInterval");
}
