/* SPDX-License-Identifier: MIT */
/*
 * Ranges of accounting as JSON.  Questions by id stay text: they are few, and
 * the text has what an older JSON has not (22.05: the user who has no account).
 */
#include "config.h"

#include "collector/accounting/accounting.h"
#include "collector/parse/json_read.h"

#define ELEMENT_MAX	LINE_BYTES_MAX

static void
on_lacks(uint64_t job, const char *field, void *arg)
{
	struct accounting *l = arg;

	source_lacks(l->c, job, field);
}

static int
on_element(struct span element, void *arg)
{
	struct accounting *l = arg;
	struct json_reading how = { .how = &l->c->set->how, .lacks = on_lacks,
		.arg = l };
	const struct run_key *key;
	struct job_snapshot s;
	int rc = 0;

	snapshot_init(&s);
	key = &s.job.key;
	l->reader.rows++;
	if (json_acct(element, &how, &s) != RECORD_GOOD)
		l->reader.bad++;
	else if (s.job.user != NULL)
		rc = l->reader.each(&s, l->reader.arg);
	else if (!done_has(&l->c->done, key->job, key->start))
		acct_want(l, key->job);
	snapshot_clear(&s);
	return rc;
}

void
acct_json_begin(struct accounting *l, int json)
{
	static const struct json_split_ops ops = { .on_element = on_element };

	json_split_free(l->split);
	l->split = json ? json_split_new("jobs", ELEMENT_MAX, &ops, l) : NULL;
}

int
acct_feed(struct accounting *l, const char *p, size_t n)
{
	return l->split != NULL ? json_split_feed(l->split, p, n) :
	    sacct_feed(&l->reader, p, n);
}

int
acct_end(struct accounting *l)
{
	int rc;

	if (l->split == NULL)
		return sacct_end(&l->reader);
	rc = json_split_end(l->split);
	json_split_free(l->split);
	l->split = NULL;
	return rc;
}
