/* SPDX-License-Identifier: MIT */
/*
 * The commands of a runner that has ended.  The supervisor is the subreaper, so
 * that they become its children, and it kills them.  A shell that has executed
 * the daemon may leave children of its own to the supervisor, and as process 1
 * of a container the supervisor gets each process whose parent has ended: these
 * are not killed.
 */
#include "config.h"

#include <sys/prctl.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "supervisor/supervisor.h"

#define PIDS_MAX 4096 /* bytes of the list of our children's pids */

/* The parts of its sandbox that a process passes on to its children. */
struct marks {
	long no_new_privs;
	long filters; /* 0 before Linux 5.9, which does not report them */
};

/* The pids of our children, separated by spaces; "" if it cannot be read. */
static void
children_list(char *pids, size_t size)
{
	char path[64], *last;
	FILE *f;
	size_t n;

	pids[0] = '\0';
	snprintf(path, sizeof(path), "/proc/self/task/%d/children",
	    (int)getpid());
	f = fopen(path, "re");
	if (f == NULL)
		return;
	n = fread(pids, 1, size - 1, f);
	fclose(f);
	pids[n] = '\0';
	/* The last number may be cut: it is then the pid of another process. */
	if (n == size - 1 && (last = strrchr(pids, ' ')) != NULL)
		*last = '\0';
}

void
orphans_init(struct orphans *o)
{
	char pids[PIDS_MAX], *p = pids;
	unsigned n = 0;
	pid_t pid;

	memset(o, 0, sizeof(*o));
	children_list(pids, sizeof(pids));
	while (n < INHERITED_MAX && (pid = (pid_t)strtol(p, &p, 10)) > 0)
		o->inherited[n++] = pid;
	o->is_mixed = n > 0 || getpid() == 1;
	o->had_no_new_privs = prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1;
}

static pid_t *
inherited_find(struct orphans *o, pid_t pid)
{
	unsigned i;

	for (i = 0; i < INHERITED_MAX; i++)
		if (o->inherited[i] == pid)
			return &o->inherited[i];
	return NULL;
}

void
orphans_reaped(struct orphans *o, pid_t pid)
{
	pid_t *inherited = inherited_find(o, pid);

	if (inherited != NULL)
		*inherited = 0;
}

/* 0, or -1 when the process cannot be seen (hidepid). */
static int
marks_read(const char *pid, struct marks *m)
{
	char path[64], line[256];
	FILE *f;

	memset(m, 0, sizeof(*m));
	snprintf(path, sizeof(path), "/proc/%s/status", pid);
	if ((f = fopen(path, "re")) == NULL)
		return -1;
	while (fgets(line, sizeof(line), f) != NULL)
		if (sscanf(line, "NoNewPrivs: %ld", &m->no_new_privs) != 1)
			(void)sscanf(line, "Seccomp_filters: %ld", &m->filters);
	fclose(f);
	return 0;
}

/*
 * The filters of the supervisor and no_new_privs are inherited, and no process
 * can remove them.  A container may set no_new_privs for all its processes;
 * then the filters alone decide.
 */
static int
has_sandbox(const struct orphans *o, pid_t pid)
{
	struct marks own, its;
	char text[16];

	snprintf(text, sizeof(text), "%d", (int)pid);
	if (marks_read("self", &own) == -1 || marks_read(text, &its) == -1 ||
	    (own.filters == 0 && o->had_no_new_privs))
		return 0;
	return its.no_new_privs == 1 && its.filters >= own.filters;
}

/* A command is in the session of its runner, unless it has made its own. */
static int
is_of_suite(struct supervisor *sup, pid_t pid)
{
	struct orphans *o = &sup->orphans;

	if (!o->is_mixed)
		return 1;
	if (o->runner == 0 || inherited_find(o, pid) != NULL)
		return 0;
	return getsid(pid) == o->runner ||
	    (sup->setup.mode != SANDBOX_OFF && has_sandbox(o, pid));
}

void
orphans_kill(struct supervisor *sup)
{
	char pids[PIDS_MAX], *p = pids;
	pid_t pid;

	children_list(pids, sizeof(pids));
	while ((pid = (pid_t)strtol(p, &p, 10)) > 0) {
		if (parser_has_pid(sup, pid) || checklist_has_pid(pid) ||
		    child_find(&sup->workers, pid) != NULL ||
		    !is_of_suite(sup, pid))
			continue;
		log_debug("the supervisor kills process %ld, whose parent has "
			  "ended",
		    (long)pid);
		kill(pid, SIGKILL);
	}
}
