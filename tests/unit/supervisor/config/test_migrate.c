/* SPDX-License-Identifier: MIT */
/* -migrate: the login of NATS that is kept, and why the others are removed. */
#include "config.h"

#include <sys/wait.h>

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"
#include "supervisor/config/config_file.h"
#include "tests/unit/check.h"

/* Without NATS, natsServer is an error. */
#ifdef HAVE_NATS
#define WITH_NATS 1
#else
#define WITH_NATS 0
#endif

static char folder[] = "/tmp/test_migrate.XXXXXX";
static char told[4096]; /* standard error of -migrate */

static const char *
in_folder(const char *name)
{
	static char path[4][128];
	static int turn;

	turn = (turn + 1) % 4;
	snprintf(path[turn], sizeof(path[turn]), "%s/%s", folder, name);
	return path[turn];
}

static FILE *
file_open(const char *name)
{
	FILE *f = fopen(in_folder(name), "w+e");

	CHECK(f != NULL);
	return f;
}

/* Migrates config.json in a process of its own. */
static int
migrate_file(void)
{
	FILE *err = file_open("err");
	int status = -1;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		if (dup2(fileno(err), STDERR_FILENO) == -1 ||
		    freopen("/dev/null", "w", stdout) == NULL)
			_exit(2);
		_exit(migrate_run(in_folder("config.json")));
	}
	CHECK(pid != -1 && waitpid(pid, &status, 0) == pid);
	rewind(err);
	memset(told, 0, sizeof(told));
	CHECK(fread(told, 1, sizeof(told) - 1, err) > 0);
	fclose(err);
	return status;
}

/* Migrates a file with these logins. */
static void
migrate(const char *creds, const char *seed)
{
	FILE *f = file_open("config.json");

	fprintf(f,
	    "{ \"ccRestUrl\": \"https://h\", \"ccRestJwtFile\": \"/t\", "
	    "\"natsServer\": \"localhost\",\n\"natsCredsFile\": \"%s\",\n"
	    "\"natsNKeySeedFile\": \"%s\",\n\"natsUser\": \"u\" }",
	    in_folder(creds), in_folder(seed));
	fclose(f);
	CHECK_INT(migrate_file(), 0);
}

static void
expect(const char *text)
{
	if (strstr(told, text) == NULL)
		CHECK_STR(told, text);
	else
		CHECK(1);
}

static void
test_logins(void)
{
	/* access(2) fails on it, also for root, with another error than ENOENT. */
	CHECK_INT(symlink("loop", in_folder("loop")), 0);
	fclose(file_open("creds"));
	migrate("creds", "none");
	expect("natsNKeySeedFile: removed: the file does not exist; the NATS "
	       "login is natsCredsFile\n");
	expect("natsUser: removed: the NATS login is natsCredsFile\n");
	migrate("creds", "loop");
	expect("natsNKeySeedFile: removed: the NATS login is natsCredsFile\n");
	migrate("none", "loop");
	expect("natsCredsFile: removed: the file does not exist; the NATS "
	       "login is natsNKeySeedFile\n");
	unlink(in_folder("config.json"));
	unlink(in_folder("err"));
	unlink(in_folder("creds"));
	unlink(in_folder("loop"));
}

/* The daemon would refuse it; the value is not printed. */
static void
test_url_login(void)
{
	FILE *f = file_open("config.json");

	fprintf(f,
	    "{ \"ccRestUrl\": \"https://u:hush@h\", \"ccRestJwtFile\": \"/t\" }");
	fclose(f);
	log_set_level(LOG_LEVEL_ERROR);
	CHECK(migrate_file() != 0);
	log_set_level(LOG_LEVEL_FATAL);
	expect("ccRestUrl: must not contain a user or password");
	CHECK(strstr(told, "hush") == NULL);
	unlink(in_folder("config.json"));
	unlink(in_folder("err"));
}

int
main(void)
{
	log_init("test", LOG_LEVEL_FATAL);
	CHECK(mkdtemp(folder) != NULL);
	if (WITH_NATS)
		test_logins();
	test_url_login();
	CHECK_INT(rmdir(folder), 0);
	return check_done();
}
