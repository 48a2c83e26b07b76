/* SPDX-License-Identifier: MIT */
/*
 * User and groups of each worker.  The names are resolved once, at the start,
 * before any worker runs: a name service may be slow.  When the service is not
 * started by root, all workers run as its user.
 */
#include "config.h"

#include <sys/stat.h>

#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "supervisor/system/system.h"

#define SLURM_USER_DEFAULT "cc-slurm-adapter"
/* User and group of slurmctld when slurm.conf does not set SlurmUser. */
#define SLURM "slurm"

/* The key that names the user of a worker. */
static const enum conf_key user_keys[ROLE__COUNT] = {
	[ROLE_LISTENER] = CONF_LISTENER_USER,
	[ROLE_COLLECTOR] = CONF_COLLECTOR_USER,
	[ROLE_RUNNER] = CONF_SLURM_USER,
	[ROLE_SUBMITTER] = CONF_SUBMITTER_USER,
	[ROLE_EXPORTER] = CONF_EXPORTER_USER,
	[ROLE_RECEIVER] = CONF_RECEIVER_USER,
};

static const char *
user_key(int role)
{
	return conf_rule(user_keys[role])->name;
}

static void
identity_self(struct identity *id)
{
	int n;

	id->uid = geteuid();
	id->gid = getegid();
	n = getgroups(SANDBOX_GROUPS_MAX, id->groups);
	id->n_groups = n > 0 ? n : 0;
}

static int
identity_of(struct identity *id, const char *name)
{
	const struct passwd *pw = getpwnam(name);

	if (pw == NULL && name[strspn(name, "0123456789")] == '\0')
		pw = getpwuid((uid_t)strtoul(name, NULL, 10));
	if (pw == NULL)
		return -1;
	id->uid = pw->pw_uid;
	id->gid = pw->pw_gid;
	id->groups[0] = pw->pw_gid;
	id->n_groups = 1;
	return 0;
}

/* A right in Slurm may depend on a group: the runner keeps all groups. */
static void
groups_add(struct identity *id)
{
	const struct passwd *pw = getpwuid(id->uid);
	const char *name = pw != NULL ? pw->pw_name : "";
	int n = SANDBOX_GROUPS_MAX;

	if (pw == NULL)
		return;
	if (getgrouplist(name, id->gid, id->groups, &n) == -1) {
		log_warnx("user %s is in more than %d groups; the others are "
			  "ignored",
		    name, SANDBOX_GROUPS_MAX);
		n = SANDBOX_GROUPS_MAX;
	}
	id->n_groups = n;
}

/* The last-run file of the Go adapter belongs to the user it ran as. */
static const char *
last_run_owner(const char *path)
{
	const struct passwd *pw;
	struct stat st;

	if (lstat(path, &st) == -1 || !S_ISREG(st.st_mode) || st.st_uid == 0)
		return NULL;
	pw = getpwuid(st.st_uid);
	return pw != NULL ? pw->pw_name : NULL;
}

static int
slurm_user(struct setup *setup, const struct conf *conf)
{
	struct identity *id = &setup->identity[ROLE_RUNNER];
	const char *name = conf_str(conf, CONF_SLURM_USER);
	char copy[256];

	if (name[0] == '\0')
		name = last_run_owner(conf_str(conf, CONF_LAST_RUN));
	if (name == NULL)
		name = SLURM_USER_DEFAULT;
	/* The name may be in the memory of getpwuid(). */
	strncpy(copy, name, sizeof(copy) - 1);
	copy[sizeof(copy) - 1] = '\0';
	if (identity_of(id, copy) == -1) {
		log_errorx("user %s, who runs Slurm's commands, does not "
			   "exist: set slurmUser to the user with the operator "
			   "permission, or run systemd-sysusers",
		    copy);
		return -1;
	}
	if (id->uid == 0 && setup->mode != SANDBOX_OFF) {
		log_errorx("slurmUser must not be root: root can read the "
			   "secrets in the configuration");
		return -1;
	}
	groups_add(id);
	log_info("Slurm's commands run as user %s (%u)", copy,
	    (unsigned)id->uid);
	return 0;
}

/* With sandbox off and a Slurm of its own, the service users need not exist. */
static int
service_user(struct setup *setup, const struct conf *conf, enum role role)
{
	const char *name = conf_str(conf, user_keys[role]);
	struct identity *id = &setup->identity[role];

	if (identity_of(id, name) == 0 && id->uid != 0)
		return 0;
	if (setup->mode == SANDBOX_OFF && !conf_reads_stream(conf)) {
		*id = setup->identity[ROLE_RUNNER];
		log_warnx("user %s of the %s does not exist; with sandbox off "
			  "the %s runs as slurmUser",
		    name, role_name(role), role_name(role));
		return 0;
	}
	log_errorx(
	    "user %s (%s) does not exist or is root: run "
	    "systemd-sysusers, which creates the user from the installed "
	    "sysusers.d file, or useradd --system %s",
	    name, user_key(role), name);
	return -1;
}

/* 0, or -1 (logged): processes of one user can read each other's memory. */
static int
users_differ(const struct setup *p, const struct conf *conf)
{
	int a, b;

	if (p->mode == SANDBOX_OFF)
		return 0;
	for (a = WORKER_FIRST; a <= WORKER_LAST; a++)
		for (b = a + 1; b <= WORKER_LAST; b++)
			if (worker_is_wanted(conf, (enum role)a) &&
			    worker_is_wanted(conf, (enum role)b) &&
			    p->identity[a].uid == p->identity[b].uid) {
				log_errorx("%s and %s are the same user (%u): "
					   "set different users",
				    user_key(a), user_key(b),
				    (unsigned)p->identity[a].uid);
				return -1;
			}
	return 0;
}

static void
mode_read(struct setup *setup, const struct conf *conf)
{
	const char *mode = conf_str(conf, CONF_SANDBOX);

	setup->mode = SANDBOX_ENFORCE;
	if (strcmp(mode, "off") == 0)
		setup->mode = SANDBOX_OFF;
	else if (strcmp(mode, "log") == 0)
		setup->mode = SANDBOX_LOG;
}

/* The user of slurmctld, who runs the hooks. */
static void
slurm_user_find(struct setup *p, const struct conf *conf)
{
	char name[SLURM_USER_MAX] = SLURM;
	int named = slurm_user_name(conf, name, sizeof(name));

	p->has_slurm_user = identity_of(&p->slurm_user, name) == 0;
	if (p->has_slurm_user)
		groups_add(&p->slurm_user);
	else if (named) {
		log_warnx("SlurmUser %s of slurm.conf is not found: the user "
			  "does not exist, or the name service does not "
			  "answer; its hooks are refused until a reload finds "
			  "the user",
		    name);
		/* A name service that did not answer may do so later. */
		snprintf(p->missing_user, sizeof(p->missing_user), "%s", name);
	}
}

/* The group of the directories that the hook enters. */
static gid_t
hook_group(const struct setup *p)
{
	const struct group *gr;

	if (p->has_slurm_user && p->slurm_user.uid != 0)
		return p->slurm_user.gid;
	gr = getgrnam(SLURM);
	return gr != NULL ? gr->gr_gid : p->identity[ROLE_RUNNER].gid;
}

/* 0, or -1 (logged); a worker that is not wanted needs no user. */
static int
service_users(struct setup *setup, const struct conf *conf)
{
	int role;

	for (role = WORKER_FIRST; role <= WORKER_LAST; role++)
		if (role != ROLE_RUNNER &&
		    worker_is_wanted(conf, (enum role)role) &&
		    service_user(setup, conf, (enum role)role) == -1)
			return -1;
	return 0;
}

int
users_resolve(struct setup *setup, const struct conf *conf)
{
	int role;

	mode_read(setup, conf);
	for (role = 0; role < ROLE__COUNT; role++)
		identity_self(&setup->identity[role]);
	setup->dir_gid = getegid();
	if (worker_is_wanted(conf, ROLE_RUNNER))
		slurm_user_find(setup, conf);
	if (!setup->as_root)
		return 0;
	if (worker_is_wanted(conf, ROLE_RUNNER) &&
	    slurm_user(setup, conf) == -1)
		return -1;
	if (service_users(setup, conf) == -1)
		return -1;
	if (users_differ(setup, conf) == -1)
		return -1;
	setup->dir_gid = hook_group(setup);
	return 0;
}
