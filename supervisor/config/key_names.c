/* SPDX-License-Identifier: MIT */
/* Names of keys: finds a key, and the key that was probably meant. */
#include "config.h"

#include <string.h>
#include <strings.h>

#include "supervisor/config/config_file.h"

#define NAME_MAX_BYTES 64 /* the longest key has 21 */

int
conf_key_find(const char *name, enum conf_key *key)
{
	int i;

	/* The Go adapter's manual and its program differ: both are accepted. */
	if (strcmp(name, "slurmMaxRetries") == 0)
		name = "slurmQueryMaxRetries";
	for (i = 0; i < CONF__COUNT; i++) {
		if (strcmp(conf_rule(i)->name, name) == 0) {
			*key = i;
			return 1;
		}
	}
	return 0;
}

#define OF_SYNC "is a key of cc-slurm-sync and has no effect; "
/* Keys of earlier and of later versions of the Go adapter. */
#define IPC_SOCKET \
	"was removed and has no effect; prepSockListenPath is where the " \
	"daemon listens, prepSockConnectPath where the hook connects"
#define CENTRAL \
	"has no effect: the daemon does not read the central configuration " \
	"of cc-backend"
#define HEARTBEAT \
	"has no effect: the daemon sends no heartbeat to cc-backend; remove " \
	"the key"

/* Keys of earlier versions and of other programs that have no effect. */
static const struct obsolete_key {
	const char *name;
	const char *text; /* of the warning: why, and what to do */
} obsolete_keys[] = {
	{ "ipcSockPath", IPC_SOCKET },
	{ "ipcSocketPath", IPC_SOCKET },
	{ "nvidiaPciAddrs",
	    "was replaced by gpuPciAddrs and has no effect; gpuPciAddrs has "
	    "such a list for each pattern of host names" },
	{ "fleetEnabled",
	    CENTRAL "; copy its keys into this file: they are in `config` of "
		    "the file fleetConfigCachePath" },
	{ "fleetConfigCachePath",
	    CENTRAL "; copy the keys in `config` of that file into this file" },
	{ "fleetCluster", CENTRAL "; remove the key" },
	{ "fleetConfigPollInterval", CENTRAL "; remove the key" },
	{ "fleetHeartbeatInterval", HEARTBEAT },
	{ "fleetHeartbeatSubject", HEARTBEAT },
	{ "slurmSource",
	    "the key has no effect; Slurm's text output is read "
	    "in every version; remove the key" },
	{ "clustername",
	    OF_SYNC "the daemon uses the name in Slurm; clusterNames maps it "
		    "to another name in cc-backend" },
	{ "slurm", OF_SYNC "slurmBinDir is the directory of the commands" },
	{ "cc-backend", OF_SYNC "use ccRestUrl and ccRestJwtFile" },
	{ "accelerators", OF_SYNC "gpuPciAddrs takes the same value" },
	{ "node_regex",
	    OF_SYNC "the hosts are read from Slurm; remove the key" },
	{ "pidfile", OF_SYNC "use pidFilePath" },
	{ "cluster_info", OF_SYNC "there is no counterpart; remove the key" },
};

const char *
conf_key_obsolete(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(obsolete_keys) / sizeof(obsolete_keys[0]); i++)
		if (strcasecmp(obsolete_keys[i].name, name) == 0)
			return obsolete_keys[i].text;
	return NULL;
}

static int
lower(char c)
{
	return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c;
}

static unsigned
least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/*
 * Number of changes, insertions, omissions and swaps of neighbours that turn a
 * into b; case is ignored.  Both have at most NAME_MAX_BYTES.
 */
static unsigned
distance(const char *a, const char *b)
{
	unsigned rows[3][NAME_MAX_BYTES + 1];
	unsigned *before = rows[0], *last = rows[1], *now = rows[2], *spare;
	size_t n = strlen(a), m = strlen(b), i, k;

	for (k = 0; k <= m; k++)
		before[k] = last[k] = (unsigned)k;
	for (i = 1; i <= n; i++) {
		now[0] = (unsigned)i;
		for (k = 1; k <= m; k++) {
			now[k] = least(last[k - 1] +
				(lower(a[i - 1]) != lower(b[k - 1])),
			    least(last[k], now[k - 1]) + 1);
			if (i > 1 && k > 1 &&
			    lower(a[i - 1]) == lower(b[k - 2]) &&
			    lower(a[i - 2]) == lower(b[k - 1]))
				now[k] = least(now[k], before[k - 2] + 1);
		}
		spare = before;
		before = last;
		last = now;
		now = spare;
	}
	return last[m];
}

const char *
conf_key_guess(const char *name)
{
	const char *best = NULL, *candidate;
	size_t len = strlen(name);
	unsigned d, best_d = (unsigned)len / 3 + 1;
	int i;

	if (len < 3 || len > NAME_MAX_BYTES)
		return NULL;
	/* "natsPass": the beginning of a longer one. */
	for (i = 0; len >= 6 && i < CONF__COUNT; i++) {
		if (strncasecmp(conf_rule(i)->name, name, len) == 0)
			return conf_rule(i)->name;
	}
	for (i = 0; i < CONF__COUNT; i++) {
		candidate = conf_rule(i)->name;
		d = distance(name, candidate);
		if (d <= best_d && (best == NULL || d < best_d)) {
			best = candidate;
			best_d = d;
		}
	}
	return best;
}
