/* SPDX-License-Identifier: MIT */
/* When a path that was removed ends the service; the clock is simulated. */
#include "config.h"

#include <sys/stat.h>

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <event2/event.h>

#include "common/clock.h"

static long long sim_ms = 1000;
#define clock_ms() sim_ms
#include "supervisor/removed_paths.c"
#undef clock_ms

#include "tests/unit/check.h"

#define TURN_MS	 300   /* longer than the pause between two reports */
#define LIMIT_MS 60000 /* only a failure reaches it */

static struct supervisor sup;

void
shutdown_begin(struct supervisor *s, const char *why, int status)
{
	CHECK(s == &sup);
	CHECK_STR(why, "a path was removed");
	CHECK_INT(status, 1);
	s->workers.stopping = 1;
}

static void
file_write(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	CHECK(fd != -1);
	close(fd);
}

/* Other files of the folder change while the events are handled for ms. */
static void
turns(long long ms)
{
	long long end = clock_ms() + ms;

	while (!sup.workers.stopping && clock_ms() < end) {
		file_write("spool/other");
		event_base_loop(sup.base, EVLOOP_NONBLOCK);
		usleep(1000);
	}
}

static void
begin(void)
{
	file_write("spool/spool.db");
	sup.workers.stopping = 0;
	removed_paths_watch(&sup);
	CHECK(watched.changes != NULL);
}

/*
 * The database is absent while it is recovered, and the other files of the
 * spool change: this is no removal before ABSENT_MS.
 */
static void
test_recovered(void)
{
	begin();
	CHECK_INT(unlink("spool/spool.db"), 0);
	turns(3 * TURN_MS);
	sim_ms += ABSENT_MS - 1;
	turns(TURN_MS);
	CHECK_INT(sup.workers.stopping, 0);
	file_write("spool/spool.db");
	turns(TURN_MS);
	sim_ms += ABSENT_MS;
	turns(TURN_MS);
	CHECK_INT(sup.workers.stopping, 0);
	removed_paths_clear();
}

static void
test_removed(void)
{
	const struct watched_path *database;
	long long end = clock_ms() + LIMIT_MS;

	begin();
	database = &watched.paths[watched.n - 1];
	CHECK_INT(unlink("spool/spool.db"), 0);
	while (database->absent_ms == 0 && clock_ms() < end)
		turns(1);
	CHECK(database->absent_ms != 0);
	CHECK_INT(sup.workers.stopping, 0);
	sim_ms += ABSENT_MS;
	turns(LIMIT_MS);
	CHECK_INT(sup.workers.stopping, 1);
	removed_paths_clear();
}

int
main(void)
{
	char folder[] = "/tmp/test_removed_paths.XXXXXX", command[64];

	CHECK(mkdtemp(folder) != NULL);
	CHECK_INT(chdir(folder), 0);
	CHECK_INT(mkdir("spool", 0700), 0);
	file_write("ctl.sock");
	conf_init(&sup.conf);
	CHECK_INT(conf_set(&sup.conf, CONF_CTL_SOCK, "ctl.sock"), 0);
	sup.setup.spool_dir = strdup("spool");
	sup.base = event_base_new();
	test_recovered();
	test_removed();
	event_base_free(sup.base);
	free(sup.setup.spool_dir);
	conf_clear(&sup.conf);
	snprintf(command, sizeof(command), "rm -r %s", folder);
	CHECK_INT(system(command), 0);
	return check_done();
}
