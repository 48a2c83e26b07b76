/* SPDX-License-Identifier: MIT */
/*
 * Which directories get another owner.  Most cases need root; without root, the
 * cases of a daemon with User= run.
 */
#include "config.h"

#include <sys/capability.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <linux/magic.h>

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include "supervisor/system/system.h"
#include "tests/unit/check.h"
#include "tests/unit/supervisor/system/log_capture.h"

#define SLURM_UID  65531
#define SUBMIT_UID 65532
#define FOREIGN	   65533
#define HOOK_GID   65530 /* SlurmUser's first group */

static char folder[] = "/tmp/test_directories.XXXXXX";
static char state[64], spool[80], named[64];
static int as_root;

static void
setup_make(struct setup *setup, struct conf *conf, const char *spool_dir)
{
	char lastrun[80];

	setup_init(setup);
	setup->as_root = as_root;
	setup->mode = SANDBOX_ENFORCE;
	setup->identity[ROLE_RUNNER].uid = as_root ? SLURM_UID : geteuid();
	setup->identity[ROLE_RUNNER].gid = as_root ? SLURM_UID : getegid();
	setup->identity[ROLE_SUBMITTER].uid = as_root ? SUBMIT_UID : geteuid();
	setup->identity[ROLE_SUBMITTER].gid = as_root ? SUBMIT_UID : getegid();
	conf_init(conf);
	snprintf(lastrun, sizeof(lastrun), "%s/lastrun", state);
	CHECK_INT(conf_set(conf, CONF_LAST_RUN, lastrun), 0);
	CHECK_INT(conf_set(conf, CONF_SPOOL_DIR, spool_dir), 0);
}

/* As a start of the daemon does it. */
static int
prepare(const char *spool_dir, enum sandbox_mode mode)
{
	struct setup setup;
	struct conf conf;
	int rc;

	setup_make(&setup, &conf, spool_dir);
	setup.mode = mode;
	rc = directories_prepare(&setup, &conf);
	setup_clear(&setup);
	conf_clear(&conf);
	return rc;
}

static void
file_make(const char *dir, const char *name, mode_t mode)
{
	char path[160];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_CREAT | O_WRONLY, mode);
	CHECK(fd != -1 && fchmod(fd, mode) == 0);
	close(fd);
}

static void
dir_make(const char *path, uid_t uid, mode_t mode)
{
	CHECK_INT(mkdir(path, 0700), 0);
	CHECK_INT(chmod(path, mode), 0);
	if (as_root)
		CHECK_INT(chown(path, uid, uid), 0);
}

static void
owner_check(const char *dir, const char *name, uid_t uid, unsigned mode)
{
	char path[160];
	struct stat st;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	CHECK_INT(lstat(path, &st), 0);
	CHECK_INT(st.st_uid, as_root ? uid : geteuid());
	CHECK_INT(st.st_mode & 07777, mode);
}

static void
remove_all(const char *path)
{
	char command[160];

	snprintf(command, sizeof(command), "rm -rf %s", path);
	CHECK_INT(system(command), 0);
}

/*
 * Root can make no directory in sysfs.  In a chroot, /sys can be a usual
 * directory.
 */
static int
sys_is_closed(void)
{
	struct statfs fs;

	return geteuid() != 0 ||
	    (statfs("/sys", &fs) == 0 && fs.f_type == SYSFS_MAGIC);
}

/* /sys stands for a read-only path. */
static void
test_reason(void)
{
	static const char *const dirs[] = { "/sys/csa/test", "/sys/csa" };
	struct setup setup;
	const char *log;
	char path[80];
	size_t i;

	if (!sys_is_closed()) {
		printf("skipped: why a directory cannot be made: /sys is not "
		       "mounted\n");
		return;
	}
	for (i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++) {
		setup_init(&setup);
		snprintf(path, sizeof(path), "%s/daemon.sock", dirs[i]);
		log_init("test_directories", LOG_LEVEL_ERROR);
		capture_begin();
		CHECK_INT(directory_prepare_for(&setup, path), -1);
		log = capture_end();
		CHECK(strstr(log, "cannot prepare directory ") != NULL);
		CHECK(strstr(log, dirs[i]) != NULL);
		CHECK(strstr(log, strerror(ENOENT)) == NULL);
		log_init("test_directories", LOG_LEVEL_FATAL);
		setup_clear(&setup);
	}
}

/* last_run: NULL for the usual, which is writable. */
static void
read_only_check(const char *last_run, const char *spool_dir)
{
	struct setup setup;
	struct conf conf;
	const char *log;

	setup_make(&setup, &conf, spool_dir);
	if (last_run != NULL)
		CHECK_INT(conf_set(&conf, CONF_LAST_RUN, last_run), 0);
	log_init("test_directories", LOG_LEVEL_ERROR);
	capture_begin();
	CHECK_INT(directories_prepare(&setup, &conf), -1);
	log = capture_end();
	log_init("test_directories", LOG_LEVEL_FATAL);
	CHECK(strstr(log, strerror(EROFS)) != NULL);
	CHECK(strstr(log, "ReadWritePaths=") != NULL);
	setup_clear(&setup);
	conf_clear(&conf);
}

static void
read_only_checks(void)
{
	char path[160], last_run[160];
	struct setup setup;

	snprintf(path, sizeof(path), "%s/spool", named);
	dir_make(path, SUBMIT_UID, 0700);
	snprintf(last_run, sizeof(last_run), "%s/lastrun", named);
	file_make(named, "lastrun", 0644);
	CHECK_INT(mount("", named, "", MS_REMOUNT | MS_RDONLY, NULL), 0);
	read_only_check(NULL, path);
	read_only_check(last_run, path);
	snprintf(path, sizeof(path), "%s/missing/spool", named);
	read_only_check(NULL, path);

	setup_init(&setup);
	snprintf(path, sizeof(path), "%s/daemon.sock", named);
	CHECK_INT(directory_prepare_for(&setup, path), -1);
	setup_clear(&setup);
}

/*
 * As the unit makes a path that is not in ReadWritePaths=.  The mount is in a
 * namespace of the test.
 */
static void
test_read_only(void)
{
	CHECK_INT(mkdir(named, 0755), 0);
	if (unshare(CLONE_NEWNS) == -1 ||
	    mount("", "/", "", MS_REC | MS_PRIVATE, NULL) == -1 ||
	    mount("test", named, "tmpfs", 0, "mode=755") == -1) {
		printf("skipped: read-only paths: no mount: %s\n",
		    strerror(errno));
	} else {
		read_only_checks();
		CHECK_INT(umount2(named, MNT_DETACH), 0);
	}
	CHECK_INT(rmdir(named), 0);
	remove_all(state);
}

/* spoolDir names a directory of others by mistake. */
static void
test_foreign_spool(void)
{
	dir_make(named, 0, 0755);
	file_make(named, "passwd", 0644);
	file_make(named, "shadow", 0600);
	file_make(named, "spool.db", 0600);
	CHECK_INT(prepare(named, SANDBOX_ENFORCE), -1);
	owner_check(named, ".", 0, 0755);
	owner_check(named, "passwd", 0, 0644);
	owner_check(named, "shadow", 0, 0600);
	owner_check(named, "spool.db", 0, 0600);
	remove_all(named);
	if (!as_root)
		return;
	dir_make(named, SLURM_UID, 0700);
	file_make(named, "notes", 0600);
	CHECK_INT(prepare(named, SANDBOX_ENFORCE), -1);
	owner_check(named, ".", SLURM_UID, 0700);
	remove_all(named);
	dir_make(named, FOREIGN, 0700);
	CHECK_INT(prepare(named, SANDBOX_ENFORCE), -1);
	owner_check(named, ".", FOREIGN, 0700);
	remove_all(named);
}

/* New, empty, the spool of a daemon with User=, and the submitter's own. */
static void
test_own_spool(void)
{
	char lost[80];

	CHECK_INT(prepare(named, SANDBOX_ENFORCE), 0);
	owner_check(named, ".", SUBMIT_UID, 0700);
	remove_all(named);

	dir_make(named, 0, 0755);
	CHECK_INT(prepare(named, SANDBOX_ENFORCE), 0);
	owner_check(named, ".", SUBMIT_UID, 0700);
	remove_all(named);

	/* A new file system. */
	dir_make(named, 0, 0755);
	snprintf(lost, sizeof(lost), "%s/lost+found", named);
	dir_make(lost, 0, 0700);
	CHECK_INT(prepare(named, SANDBOX_ENFORCE), 0);
	owner_check(named, ".", SUBMIT_UID, 0700);
	owner_check(lost, ".", 0, 0700);
	remove_all(named);

	dir_make(named, SLURM_UID, 0750);
	file_make(named, "spool.db", 0600);
	file_make(named, "spool.db-wal", 0600);
	file_make(named, "spool.db.damaged-1700000000", 0600);
	file_make(named, "spool.reserve", 0600);
	CHECK_INT(prepare(named, SANDBOX_ENFORCE), 0);
	owner_check(named, ".", SUBMIT_UID, 0700);
	owner_check(named, "spool.db", SUBMIT_UID, 0600);
	owner_check(named, "spool.db.damaged-1700000000", SUBMIT_UID, 0600);
	/* Afterwards, another file does not matter. */
	file_make(named, "notes", 0600);
	CHECK_INT(prepare(named, SANDBOX_ENFORCE), 0);
	owner_check(named, "notes", 0, 0600);
	remove_all(named);
}

static void
fowner_set(cap_flag_value_t value)
{
	const cap_value_t fowner = CAP_FOWNER;
	cap_t caps = cap_get_proc();

	CHECK(caps != NULL &&
	    cap_set_flag(caps, CAP_EFFECTIVE, 1, &fowner, value) == 0 &&
	    cap_set_proc(caps) == 0);
	cap_free(caps);
}

/*
 * A submitter that an attacker controls changes its directory.  With the
 * capabilities of the unit.
 */
static void
test_changed_spool(void)
{
	static const mode_t modes[] = { 0070, 0, 0500, 0600 };
	size_t i;

	if (!as_root)
		return;
	dir_make(named, SUBMIT_UID, 0755);
	file_make(named, "notes", 0644);
	file_make(named, "spool.1", 0644);
	fowner_set(CAP_CLEAR);
	CHECK_INT(prepare(named, SANDBOX_ENFORCE), 0);
	owner_check(named, ".", SUBMIT_UID, 0700);
	owner_check(named, "notes", 0, 0644);
	owner_check(named, "spool.1", 0, 0644);
	CHECK_INT(chmod(named, 0) == -1 ? errno : 0, EPERM);
	fowner_set(CAP_SET);
	/* Without rights of the owner. */
	for (i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		CHECK_INT(chmod(named, modes[i]), 0);
		CHECK_INT(prepare(named, SANDBOX_ENFORCE), 0);
		owner_check(named, ".", SUBMIT_UID, 0700);
	}
	remove_all(named);
}

/* The directory of lastRunPath stays as it is. */
static void
test_state(void)
{
	dir_make(state, SLURM_UID, 0775);
	CHECK_INT(prepare("", SANDBOX_ENFORCE), 0);
	owner_check(state, ".", SLURM_UID, 0775);
	owner_check(spool, ".", SUBMIT_UID, 0700);
	/* With sandbox off, the submitter cannot enter this one. */
	CHECK_INT(chmod(state, 0770), 0);
	CHECK_INT(prepare("", SANDBOX_OFF), as_root ? -1 : 0);
	owner_check(state, ".", SLURM_UID, 0770);
	remove_all(state);
	/* A new one. */
	CHECK_INT(prepare("", SANDBOX_ENFORCE), 0);
	owner_check(state, ".", 0, 0750);
}

/* run_dir: the usual directory of the pid file, SlurmUser's group is known. */
static void
pidfile_directory_prepare(const char *run_dir)
{
	struct setup setup;
	struct conf conf;
	char path[96];

	setup_make(&setup, &conf, "");
	setup.run_dir = run_dir;
	setup.dir_gid = HOOK_GID;
	setup.has_slurm_user = 1;
	setup.slurm_user = (struct identity) { .uid = HOOK_GID,
		.gid = HOOK_GID,
		.groups = { HOOK_GID, FOREIGN },
		.n_groups = 2 };
	snprintf(path, sizeof(path), "%s/daemon.pid", named);
	CHECK_INT(directory_prepare_for(&setup, path), 0);
	setup_clear(&setup);
	conf_clear(&conf);
}

/* The directory of the pid file: slurmctld may use it, too. */
static void
test_pidfile_directory(void)
{
	dir_make(named, SLURM_UID, 0755);
	file_make(named, "slurmctld.pid", 0644);
	pidfile_directory_prepare("/run/x");
	owner_check(named, ".", SLURM_UID, 0755);
	remove_all(named);
	/* Only a daemon that ran as slurmUser has used this one. */
	dir_make(named, SLURM_UID, 0755);
	file_make(named, "daemon.pid", 0644);
	pidfile_directory_prepare("/run/x");
	owner_check(named, ".", 0, 0755);
	remove_all(named);
}

static void
group_check(const char *run_dir, gid_t before, mode_t mode, gid_t after)
{
	struct stat st;

	dir_make(named, 0, mode);
	CHECK_INT(chown(named, 0, before), 0);
	pidfile_directory_prepare(run_dir);
	CHECK_INT(stat(named, &st), 0);
	CHECK_INT(st.st_uid, 0);
	CHECK_INT(st.st_gid, after);
	CHECK_INT(st.st_mode & 07777, mode);
	remove_all(named);
}

/* tmpfiles.d makes the usual directory without the group of the hooks. */
static void
test_run_group(void)
{
	group_check(named, 0, 0750, HOOK_GID);
	group_check(named, SLURM_UID, 0750, HOOK_GID);
	/* SlurmUser can enter, or the group has no right to give. */
	group_check(named, FOREIGN, 0750, FOREIGN);
	group_check(named, 0, 0755, 0);
	group_check(named, 0, 0700, 0);
	/* Another directory may be the site's. */
	group_check("/run/x", 0, 0750, 0);
	/* A directory of another user may be the site's too. */
	dir_make(named, FOREIGN, 0750);
	pidfile_directory_prepare(named);
	owner_check(named, ".", FOREIGN, 0750);
	remove_all(named);
}

static void
test_all(void)
{
	test_pidfile_directory();
	if (as_root)
		test_run_group();
	test_state();
	test_foreign_spool();
	test_own_spool();
	test_changed_spool();
	remove_all(state);
}

int
main(void)
{
	log_init("test_directories", LOG_LEVEL_FATAL);
	umask(022);
	if (mkdtemp(folder) == NULL)
		return 1;
	snprintf(state, sizeof(state), "%s/state", folder);
	snprintf(spool, sizeof(spool), "%s/spool", state);
	snprintf(named, sizeof(named), "%s/named", folder);
	if (geteuid() == 0) {
		as_root = 1;
		test_all();
		test_reason();
		test_read_only();
		as_root = 0;
		CHECK_INT(chmod(folder, 0777), 0);
		if (setgid(FOREIGN) == -1 || setuid(FOREIGN) == -1)
			return 1;
	}
	test_all();
	test_reason();
	rmdir(folder);
	return check_done();
}
