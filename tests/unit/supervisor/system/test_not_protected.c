/* SPDX-License-Identifier: MIT */
/* The targets that the sandbox leaves open, by rights, kernel and mode. */
#include "config.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "supervisor/system/system.h"
#include "tests/unit/check.h"

#define NEWEST 7

static struct not_protected np;

static int
has(const char *text)
{
	unsigned i;

	for (i = 0; i < np.n; i++)
		if (strstr(np.text[i], text) != NULL)
			return 1;
	return 0;
}

static void
find(enum sandbox_mode mode, int as_root, int landlock, const char *run_dir)
{
	struct setup setup = { .mode = mode, .as_root = as_root };

	not_protected_find(&np, &setup, landlock, run_dir);
}

static void
test_kernels(void)
{
	find(SANDBOX_ENFORCE, 1, NEWEST, "/nonexistent");
	CHECK_INT(np.n, 0);
	find(SANDBOX_ENFORCE, 1, 4, "/nonexistent");
	CHECK_INT(np.n, 1);
	CHECK(has("send signals"));
	find(SANDBOX_ENFORCE, 1, 3, "/nonexistent");
	CHECK_INT(np.n, 2);
	CHECK(has("every TCP port"));
	find(SANDBOX_ENFORCE, 1, 0, "/nonexistent");
	CHECK_INT(np.n, 3);
	CHECK(has("no Landlock"));
	find(SANDBOX_OFF, 1, NEWEST, "/nonexistent");
	CHECK_INT(np.n, 1);
	CHECK(has("no process is confined"));
}

/* The socket of the user's systemd in its place below run_dir. */
static void
test_user(void)
{
	char dir[] = "/tmp/test_not_protected.XXXXXX", own[64];
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	CHECK(mkdtemp(dir) != NULL);
	find(SANDBOX_ENFORCE, 0, NEWEST, dir);
	CHECK_INT(np.n, 1);
	CHECK(has("can read the token"));
	snprintf(own, sizeof(own), "%s/%u", dir, (unsigned)geteuid());
	CHECK_INT(mkdir(own, 0700), 0);
	snprintf(sa.sun_path, sizeof(sa.sun_path), "%s/bus", own);
	CHECK_INT(bind(fd, (const struct sockaddr *)&sa, sizeof(sa)), 0);
	find(SANDBOX_ENFORCE, 0, NEWEST, dir);
	CHECK_INT(np.n, 2);
	CHECK(has("without a sandbox"));
	CHECK(has("disable-linger"));
	/* As root the runner has another user. */
	find(SANDBOX_ENFORCE, 1, NEWEST, dir);
	CHECK_INT(np.n, 0);
	close(fd);
	unlink(sa.sun_path);
	rmdir(own);
	rmdir(dir);
}

int
main(void)
{
	test_kernels();
	test_user();
	return check_done();
}
