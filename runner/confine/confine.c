/* SPDX-License-Identifier: MIT */
/* The layers of one command in their order; see confine.h. */
#include "config.h"

#include <sys/prctl.h>

#include <errno.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"
#include "common/worker/landlock.h"
#include "runner/confine/confine_private.h"

#define LAYERS_MAX 256 /* bytes of confine_layers() with the NUL */

/* Rights that come with a later version of Landlock. */
#define ABI_BIND  4
#define ABI_SCOPE 6

struct confine {
	enum sandbox_mode mode;
	int abi;	      /* of Landlock, 0 = not used */
	int has_seccomp;      /* the kernel has filters */
	char *extra_paths;    /* owned, NULL = none */
	struct includes *in;  /* owned */
	unsigned left_out;    /* paths that the last command did not get */
	struct log_limit log; /* about them */
	char layers[LAYERS_MAX];
	struct command_kinds kinds;
	struct confine_filter filters[2]; /* of programs, of scripts */
};

static int
abi_used(const struct confine_conf *conf)
{
	int abi = landlock_abi();

	/* Landlock cannot log only. */
	if (conf->mode != SANDBOX_ENFORCE || conf->landlock_max < 0)
		return 0;
	if (conf->landlock_max > 0 && abi > conf->landlock_max)
		return conf->landlock_max;
	return abi;
}

static int
filters_build(struct confine *c)
{
	struct filter_conf conf = {
		.mode = c->mode,
		.has_landlock = c->abi > 0,
	};

	if (filter_build(&c->filters[0], &conf) == -1)
		return -1;
	conf.is_script = 1;
	return filter_build(&c->filters[1], &conf);
}

static const char *
slurm_conf_path(const struct confine_conf *conf)
{
	const char *path = conf->slurm_conf;

	if (path == NULL || *path == '\0')
		path = getenv("SLURM_CONF");
	return path != NULL && *path == '/' ? path : NULL;
}

struct confine *
confine_new(const struct confine_conf *conf)
{
	struct confine *c = calloc(1, sizeof(*c));

	if (c == NULL)
		return NULL;
	c->mode = conf->mode;
	if ((c->in = includes_new(slurm_conf_path(conf))) == NULL)
		goto fail;
	if (c->mode == SANDBOX_OFF)
		return c;
	c->abi = abi_used(conf);
	c->has_seccomp = prctl(PR_GET_SECCOMP, 0, 0, 0, 0) != -1;
	command_kinds_init(&c->kinds);
	if (conf->extra_paths != NULL &&
	    (c->extra_paths = strdup(conf->extra_paths)) == NULL)
		goto fail;
	if (c->has_seccomp && filters_build(c) == -1)
		goto fail;
	return c;
fail:
	confine_free(c);
	return NULL;
}

void
confine_free(struct confine *c)
{
	int saved = errno;

	if (c == NULL)
		return;
	includes_free(c->in);
	free(c->extra_paths);
	free(c);
	errno = saved;
}

static void
left_out_log(struct confine *c, const char *command, unsigned left_out)
{
	c->left_out = left_out;
	if (left_out > 0)
		log_limited(&c->log, log_warnx,
		    "%s cannot read %u paths of slurmExtraPaths or slurm.conf: "
		    "a command gets at most %d paths. Name a directory that "
		    "contains them",
		    command, left_out, CONFINE_RULES_MAX);
}

static int
ruleset_prepare(struct confine *c, const char *command,
    const struct command_kind *kind, struct confine_rules *rules)
{
	struct ruleset rs;

	if (ruleset_open(&rs, c->abi) == -1)
		return -1;
	paths_allow(&rs, command, kind, c->in, c->extra_paths);
	if (rs.error != 0) {
		ruleset_close(&rs);
		errno = rs.error;
		return -1;
	}
	left_out_log(c, command, rs.left_out);
	rules->n = rs.n;
	rules->ruleset = rs.fd;
	rs.fd = -1;
	ruleset_close(&rs);
	return 0;
}

int
confine_prepare(struct confine *c, const char *command,
    struct confine_rules *rules)
{
	const struct command_kind *kind;

	memset(rules, 0, sizeof(*rules));
	rules->ruleset = -1;
	if (c->abi == 0)
		paths_read(command, c->in);
	if (c->mode == SANDBOX_OFF)
		return 0;
	if ((kind = command_kind(&c->kinds, command)) == NULL)
		return -1;
	rules->is_confined = 1;
	rules->is_script = kind->is_script;
	if (c->has_seccomp)
		rules->filter = &c->filters[kind->is_script != 0];
	if (c->abi == 0)
		return 0;
	return ruleset_prepare(c, command, kind, rules);
}

uint64_t
confine_conf_changes(struct confine *c)
{
	return includes_changes(c->in);
}

int
confine_apply(const struct confine_rules *rules)
{
	if (!rules->is_confined)
		return 0;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == -1)
		return -1;
	if (rules->ruleset != -1 && ruleset_restrict(rules->ruleset) == -1)
		return -1;
	if (rules->filter != NULL && filter_load(rules->filter) == -1)
		return -1;
	return 0;
}

void
confine_release(struct confine_rules *rules)
{
	if (rules->ruleset != -1)
		close(rules->ruleset);
	rules->ruleset = -1;
}

static void
missing_text(const struct confine *c, char *buf, size_t size)
{
	const char *landlock = "";

	if (c->mode == SANDBOX_LOG)
		landlock = "; landlock left out in mode log";
	else if (c->abi == 0)
		landlock = "; no landlock in this kernel";
	else if (c->abi < ABI_BIND)
		landlock = "; landlock without ports and abstract sockets";
	else if (c->abi < ABI_SCOPE)
		landlock = "; landlock without abstract sockets";
	snprintf(buf, size, "%s%s", landlock,
	    c->has_seccomp ? "" : "; no seccomp in this kernel");
}

const char *
confine_layers(struct confine *c)
{
	char missing[128], landlock[32] = "", left_out[64] = "";
	const char *seccomp = "";

	if (c->mode == SANDBOX_OFF)
		return "sandbox off";
	if (c->abi > 0)
		snprintf(landlock, sizeof(landlock), ",landlock-%d", c->abi);
	if (c->has_seccomp)
		seccomp = c->mode == SANDBOX_LOG ? ",seccomp-log" : ",seccomp";
	if (c->left_out > 0)
		snprintf(left_out, sizeof(left_out), "; %u paths left out",
		    c->left_out);
	missing_text(c, missing, sizeof(missing));
	snprintf(c->layers, sizeof(c->layers), "nnp%s%s%s%s", landlock, seccomp,
	    missing, left_out);
	return c->layers;
}
