/* SPDX-License-Identifier: MIT */
/* The settings that a configuration makes. */
#include "config.h"

#include "collector/base/settings.h"
#include "tests/unit/check.h"

static void
test_settings(void)
{
	struct settings *set;
	struct conf conf;
	struct job job;
	char reason[256];

	conf_init(&conf);
	set = settings_new(&conf, reason, sizeof(reason));
	CHECK(set != NULL && set->poll == 60 && set->names.n == 1);
	job_init(&job);
	CHECK(set != NULL && !settings_ignores(set, &job));
	settings_free(set);
	conf_set(&conf, CONF_IGNORE_HOSTS, "^login");
	set = settings_new(&conf, reason, sizeof(reason));
	CHECK(set != NULL && !settings_ignores(set, &job));
	job_add_host(&job, "login1");
	CHECK(set != NULL && settings_ignores(set, &job));
	job_add_host(&job, "n1");
	CHECK(set != NULL && !settings_ignores(set, &job));
	settings_free(set);
	conf_set(&conf, CONF_IGNORE_HOSTS, "(");
	set = settings_new(&conf, reason, sizeof(reason));
	CHECK(set == NULL && strstr(reason, "offset") != NULL);
	settings_free(set);
	job_clear(&job);
	conf_clear(&conf);
}

int
main(void)
{
	test_settings();
	return check_done();
}
