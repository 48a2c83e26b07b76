/* SPDX-License-Identifier: MIT */
/*
 * The short answers of sdiag, sacctmgr and `scontrol show config`: each line
 * goes to all three readers, once whole and once in pieces, with one result;
 * then a plain answer behind it must be read as what it says.
 */
#include "config.h"

#include "collector/collector.h"
#include "tests/fuzz/fuzz.h"

static const char user[] = "labop";

struct words {
	struct lines	lines;
	struct sdiag	sdiag;
	struct admin	admin;
	struct slurm	slurm;
};

static int
on_line(struct span line, void *arg)
{
	struct words *w = arg;

	sdiag_line(&w->sdiag, line);
	admin_line(&w->admin, user, line);
	slurm_config_line(&w->slurm, line);
	return 0;
}

static int
feed(const char *p, size_t n, void *arg)
{
	struct words *w = arg;

	return lines_feed(&w->lines, p, n, on_line, w);
}

static void
words_hold(const struct words *w)
{
	const struct slurm *s = &w->slurm;

	HOLDS(w->sdiag.clock >= 0 && w->sdiag.queue >= -1);
	HOLDS(w->admin.known || !w->admin.operator);
	HOLDS(memchr(s->cluster, '\0', sizeof(s->cluster)) != NULL);
	HOLDS(memchr(s->version_text, '\0', sizeof(s->version_text)) != NULL);
	HOLDS(memchr(s->slurm_user, '\0', sizeof(s->slurm_user)) != NULL);
	HOLDS(strchr(s->slurm_user, '(') == NULL);
	HOLDS(s->version <= 9912 && s->version % 100 <= 12);
	HOLDS(s->min_job_age >= 0);
	/* Nothing of a configuration's words reaches what it does not tell. */
	HOLDS(s->path[0][0] == '\0' && s->user[0] == '\0' && !s->known);
}

static int
is_same(const struct words *a, const struct words *b)
{
	return a->sdiag.clock == b->sdiag.clock &&
	    a->sdiag.queue == b->sdiag.queue &&
	    a->admin.known == b->admin.known &&
	    a->admin.operator == b->admin.operator &&
	    strcmp(a->slurm.cluster, b->slurm.cluster) == 0 &&
	    strcmp(a->slurm.version_text, b->slurm.version_text) == 0 &&
	    strcmp(a->slurm.slurm_user, b->slurm.slurm_user) == 0 &&
	    a->slurm.version == b->slurm.version &&
	    a->slurm.private_jobs == b->slurm.private_jobs &&
	    a->slurm.accounting == b->slurm.accounting &&
	    a->slurm.min_job_age == b->slurm.min_job_age;
}

/* Whatever came before: a plain answer is read as it is. */
static void
plain_holds(struct words *w)
{
	static const char answer[] =
	    "\nsdiag output at Sat Nov 21 13:00:00 2026 (1795266000)\n"
	    "DBD Agent queue size: 12\n"
	    "LABOP|Operator\n"
	    "ClusterName             = alpha\n"
	    "SLURM_VERSION           = 22.05.8\n"
	    "MinJobAge               = 300 sec\n"
	    "PrivateData             = none\n";

	HOLDS(feed(answer, sizeof(answer) - 1, w) == 0);
	HOLDS(w->sdiag.clock == 1795266000 && w->sdiag.queue == 12);
	HOLDS(w->admin.known && w->admin.operator);
	HOLDS(strcmp(w->slurm.cluster, "alpha") == 0);
	HOLDS(w->slurm.version == 2205 && w->slurm.min_job_age == 300);
	HOLDS(!w->slurm.private_jobs);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	static struct words whole, parts;
	char *copy = exact(bytes, n);

	fuzz_quiet();
	memset(&whole, 0, sizeof(whole));
	memset(&parts, 0, sizeof(parts));
	whole.sdiag.queue = parts.sdiag.queue = -1;
	HOLDS(feed(copy, n, &whole) == 0);
	HOLDS(fuzz_pieces(bytes, n, feed, &parts) == 0);
	HOLDS(lines_end(&whole.lines, on_line, &whole) == 0);
	HOLDS(lines_end(&parts.lines, on_line, &parts) == 0);
	words_hold(&whole);
	HOLDS(is_same(&whole, &parts));
	plain_holds(&whole);
	lines_clear(&whole.lines);
	lines_clear(&parts.lines);
	free(copy);
	return 0;
}
