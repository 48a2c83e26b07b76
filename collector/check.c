/* SPDX-License-Identifier: MIT */
/*
 * The collector's part of the checklist of `cc-slurm-adapter -daemon -test`.
 * The start reads Slurm's configuration, its nodes and our permission, as it
 * does in the service; without the submitter no job is queried.  A cluster is
 * reported when this is over or has failed.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "collector/collector.h"
#include "common/permanent.h"

#define CHECK_MS 20000 /* for all answers of Slurm; then the check reports */

struct check {
	struct collector *col;
	int active;
	uint64_t request;
	int64_t until;	 /* monotonic ms */
	unsigned missed; /* bits: clusters that are not reported yet */
	int munge_asked; /* unmunge is under way */
};

/* Nodes with GPUs of one cluster. */
struct gpu_count {
	const struct gpu_map *map;
	size_t nodes;	  /* with GPUs */
	size_t differing; /* gpuPciAddrs has another number of addresses */
	char example[HOST_MAX];
	unsigned gpus;	  /* of the example */
	size_t addresses; /* of the example */
};

struct check *
check_new(struct collector *col)
{
	struct check *k = permanent_new(sizeof(*k));

	k->col = col;
	return k;
}

static void
on_munge_end(const struct command_end *end, void *arg)
{
	struct check *k = arg;
	struct worker *w = k->col->site.w;
	const char *socket = conf_str(&w->conf, CONF_PREP_MUNGE_SOCKET);
	char why[512];

	k->munge_asked = 0;
	if (!k->active)
		return;
	if (unmunge_answered(end))
		worker_check(w, k->request, "ok",
		    "munged answers on %s; hooks on TCP need a credential",
		    socket);
	else
		worker_check(w, k->request, "warn",
		    "prepAuth is munge and munged does not answer on %s: %s; "
		    "the polls find the jobs of hooks on TCP; run: systemctl "
		    "status munge",
		    socket, command_why(end, why, sizeof(why)));
	wake_in(&k->col->site, 0);
}

/* munged reads a credential that cannot be valid. */
static void
munge_check(struct check *k)
{
	struct question q = { .kind = QUESTION_UNMUNGE,
		.credential = "MUNGE:AAAA:" };
	const struct command_spec spec = {
		.question = &q,
		.max_bytes = 4096,
		.on_end = on_munge_end,
		.arg = k,
	};

	if (!k->munge_asked && hook_auth_is_on(k->col->hook_auth))
		k->munge_asked = runner_start(k->col->site.runner, &spec) !=
		    NULL;
}

void
check_begin(struct check *k, uint64_t request)
{
	if (k->col->set == NULL) {
		worker_ctl_end(k->col->site.w, request, CTL_ERROR,
		    "the collector has no configuration yet");
		return;
	}
	k->request = request;
	k->until = now_ms() + CHECK_MS;
	k->missed = (1u << k->col->site.n) - 1;
	k->active = 1;
	munge_check(k);
	wake_in(&k->col->site, 0);
}

int
check_is_active(const struct check *k)
{
	return k->active;
}

static void
on_gpu_node(const char *name, unsigned gpus, const char *gres, void *arg)
{
	struct gpu_count *n = arg;
	char *const *addresses;
	size_t i, slots = gpu_addresses(n->map, name, &addresses), have = 0;

	(void)gres;
	n->nodes++;
	for (i = 0; i < slots; i++)
		have += addresses[i] != NULL;
	if (have == gpus && slots == gpus)
		return;
	if (n->differing++ > 0)
		return;
	snprintf(n->example, sizeof(n->example), "%s", name);
	n->gpus = gpus;
	n->addresses = have;
}

static void
nodes_check(struct check *k, const struct cluster *c)
{
	struct worker *w = k->col->site.w;
	struct gpu_count n = { .map = c->set->gpus };
	size_t nodes = hosts_count(c->hosts);

	hosts_each_gpu(c->hosts, on_gpu_node, &n);
	if (n.nodes == 0)
		worker_check(w, k->request, "ok", "%zu nodes%s, none with GPUs",
		    nodes, cluster_suffix(c));
	else if (n.differing == 0)
		worker_check(w, k->request, "ok",
		    "%zu nodes%s, %zu with GPUs, gpuPciAddrs matches", nodes,
		    cluster_suffix(c), n.nodes);
	else if (gpu_map_is_empty(n.map))
		worker_check(w, k->request, "warn",
		    "%zu nodes%s, %zu with GPUs, gpuPciAddrs is not set: jobs "
		    "have no GPU addresses; for a value that fits, start the "
		    "daemon and run: cc-slurm-adapterctl gpus",
		    nodes, cluster_suffix(c), n.nodes);
	else
		worker_check(w, k->request, "warn",
		    "%zu nodes%s, %zu with GPUs: gpuPciAddrs does not match %zu "
		    "of them, such as %s (%u GPUs, %zu addresses); for a value "
		    "that fits, start the daemon and run: cc-slurm-adapterctl "
		    "gpus",
		    nodes, cluster_suffix(c), n.nodes, n.differing, n.example,
		    n.gpus, n.addresses);
}

static void
dbd_check(struct check *k, const struct cluster *c)
{
	struct worker *w = k->col->site.w;

	if (c->dbd.away)
		worker_check(w, k->request, "warn",
		    "slurmdbd%s does not answer: %s; on its host run: "
		    "systemctl status slurmdbd",
		    cluster_suffix(c), c->dbd.why);
	else if (!c->slurm.accounting)
		worker_check(w, k->request, "warn",
		    "Slurm%s has no slurmdbd: ends that slurmctld has removed "
		    "(MinJobAge) are not reported; in slurm.conf set: "
		    "AccountingStorageType=accounting_storage/slurmdbd",
		    cluster_suffix(c));
}

/* Why the user of the commands sees all jobs. */
static const char *const permission_words[] = {
	[PERMISSION_UNKNOWN] = "permission not known yet",
	[PERMISSION_NONE] = "no permission",
	[PERMISSION_OPERATOR] = "Operator",
	[PERMISSION_INHERENT] = "root or SlurmUser",
	[PERMISSION_OPEN] = "PrivateData hides no jobs",
};

static void
slurm_check(struct check *k, const struct cluster *c)
{
	struct worker *w = k->col->site.w;
	const struct slurm *s = &c->slurm;
	char why[512];

	if (c->permission == PERMISSION_NONE) {
		permission_missing(c, why, sizeof(why));
		worker_check(w, k->request, "warn", "Slurm %s, cluster %s: %s",
		    s->version_text, s->cluster, why);
	} else
		worker_check(w, k->request, "ok",
		    "Slurm %s, cluster %s, asked as %s (%s)", s->version_text,
		    s->cluster, s->user, permission_words[c->permission]);
}

/* The supervisor reads the scripts; the collector opens no file. */
static void
hooks_check(struct check *k, const struct cluster *c)
{
	struct worker *w = k->col->site.w;

	if (c->by_name)
		return;
	worker_check(w, k->request, "hook", "PrologSlurmctld=%s",
	    c->slurm.prolog);
	worker_check(w, k->request, "hook", "EpilogSlurmctld=%s",
	    c->slurm.epilog);
	if (c->slurm.prep[0] != '\0')
		worker_check(w, k->request, "hook", "PrEpPlugins=%s",
		    c->slurm.prep);
}

static void
cluster_good(struct check *k, const struct cluster *c)
{
	slurm_check(k, c);
	dbd_check(k, c);
	if (c->hosts != NULL)
		nodes_check(k, c);
	worker_check(k->col->site.w, k->request, "cluster", "%s",
	    c->slurm.cluster);
	hooks_check(k, c);
}

static void
cluster_bad(struct check *k, const struct cluster *c)
{
	const struct runner_info *info = runner_info(k->col->site.runner);
	struct worker *w = k->col->site.w;
	const char *bin = *c->set->bin_dir != '\0' ? c->set->bin_dir :
						     SLURMBINDIR;

	if (info->known && info->missing[0] != '\0')
		worker_check(w, k->request, "warn",
		    "Slurm's commands are missing in %s: %s; set slurmBinDir "
		    "to the directory that this command prints: dirname "
		    "$(command -v scontrol)",
		    bin, info->missing);
	else
		worker_check(w, k->request, "warn",
		    "slurmctld%s does not answer: %s; run: runuser -u %s -- "
		    "%s/scontrol ping",
		    cluster_suffix(c),
		    c->ctld.away ? c->ctld.why : "no answer in time",
		    info->known ? info->user : "root", bin);
}

/* The start waits for the permission, or for slurmdbd, which has it. */
static int
nodes_hidden(const struct cluster *c)
{
	return c->slurm.private_nodes && !c->ctld.away &&
	    (c->permission == PERMISSION_NONE ||
		(c->permission == PERMISSION_UNKNOWN && c->dbd.away));
}

void
check_kick(struct check *k)
{
	const struct site *site = &k->col->site;
	int late = now_ms() >= k->until;
	const struct cluster *c;
	unsigned i;

	if (!k->active)
		return;
	for (i = 0; i < site->n; i++) {
		c = site->clusters[i];
		if ((k->missed & (1u << i)) == 0)
			continue;
		if (c->ready || nodes_hidden(c))
			cluster_good(k, c);
		else if (c->ctld.away || late)
			cluster_bad(k, c);
		else
			continue;
		k->missed &= ~(1u << i);
	}
	if (k->missed != 0 || (k->munge_asked && !late))
		return;
	k->active = 0;
	worker_ctl_end(site->w, k->request, CTL_OK, NULL);
}
