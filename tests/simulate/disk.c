/* SPDX-License-Identifier: MIT */
/* See disk.h. */
#include "config.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/simulate/disk.h"
#include "tests/simulate/faults.h"
#include "tests/simulate/world.h"

#define FILES_MAX 32
#define NAME_LEN  256
#define SECTOR	  512

#define RESERVE_NAME "spool.reserve" /* submitter/intake/space.c */

struct file {
	char name[NAME_LEN];
	uint8_t *now, *kept; /* kept: what a power cut leaves */
	size_t len, kept_len, cap, kept_cap;
	size_t written;	  /* behind it, both are zero: the reserve is large */
	uint8_t *touched; /* by sector, since the last flush */
	size_t touched_cap, touched_from, touched_end;
	int there;
	int was_there; /* flushed ever */
	int locks;     /* open handles with a lock */
};

struct handle {
	sqlite3_file base;
	struct file *f;
	int locked;
	int remove; /* when it is closed */
};

static struct disk {
	struct file files[FILES_MAX];
	size_t capacity;
	int broken;
	struct prng random;
} disks[DISKS];

static unsigned chosen; /* by the world */
static sqlite3_vfs disk_vfs;
static sqlite3_vfs above[PROCESS__COUNT]; /* of the products */
static sqlite3_vfs proxy;		  /* has their name */

/* A process has the disk of its host. */
static struct disk *
disk_here(void)
{
	switch (process_current()) {
	case PROCESS_NONE:
		return &disks[chosen];
	case PROCESS_CLUSTER:
		return &disks[DISK_OF_CLUSTER];
	default:
		return &disks[0];
	}
}

#define disk (*disk_here())

void
disk_choose(unsigned n)
{
	chosen = n;
}

/* The first used bytes may be other than zero. */
static void
room(uint8_t **p, size_t *cap, size_t n, size_t used)
{
	size_t more = *cap;
	uint8_t *q;

	if (n <= *cap)
		return;
	while (more < n)
		more = more != 0 ? more * 2 : 16384;
	q = world_alloc(more);
	if (used > 0)
		memcpy(q, *p, used < *cap ? used : *cap);
	free(*p);
	*p = q;
	*cap = more;
}

static size_t
least(size_t a, size_t b)
{
	return a < b ? a : b;
}

size_t
disk_used(void)
{
	size_t i, n = 0;

	for (i = 0; i < FILES_MAX; i++)
		if (disk.files[i].there)
			n += disk.files[i].len;
	return n;
}

void
disk_capacity(size_t bytes)
{
	disk.capacity = bytes;
}

int
disk_is_full(void)
{
	return disk.capacity < SIZE_MAX / 4 &&
	    disk_find(RESERVE_NAME) == -ENOENT;
}

void
disk_broken(int broken)
{
	disk.broken = broken;
}

/* --- files --- */

/* "./spool.db" and "/spool.db" are "spool.db": one directory. */
static const char *
base_name(const char *name)
{
	const char *slash = strrchr(name, '/');

	return slash != NULL ? slash + 1 : name;
}

int
disk_find(const char *name)
{
	int i;

	for (i = 0; i < FILES_MAX; i++)
		if (disk.files[i].there &&
		    strcmp(disk.files[i].name, base_name(name)) == 0)
			return i;
	return -ENOENT;
}

/*
 * The place of a new file: that of a removed one of this name, which a power
 * cut may restore, or a free one.
 */
static int
slot_find(const char *name)
{
	int i;

	for (i = 0; i < FILES_MAX; i++)
		if (!disk.files[i].there && disk.files[i].was_there &&
		    strcmp(disk.files[i].name, name) == 0)
			return i;
	for (i = 0; i < FILES_MAX; i++)
		if (!disk.files[i].there && !disk.files[i].was_there) {
			disk.files[i].kept_len = 0;
			return i;
		}
	invariant_fail("more than %d files", FILES_MAX);
}

int
disk_open(const char *name, int create)
{
	int i = disk_find(name);
	struct file *f;

	if (i >= 0 || !create)
		return i;
	i = slot_find(base_name(name));
	f = &disk.files[i];
	f->len = 0;
	f->locks = 0;
	f->there = 1;
	snprintf(f->name, sizeof(f->name), "%s", base_name(name));
	return i;
}

int64_t
disk_size(int file)
{
	return (int64_t)disk.files[file].len;
}

static void
touch(struct file *f, size_t from, size_t to)
{
	size_t s;

	if (to <= from)
		return;
	room(&f->touched, &f->touched_cap, to / SECTOR + 1, f->touched_end);
	if (f->touched_end == 0 || from / SECTOR < f->touched_from)
		f->touched_from = from / SECTOR;
	for (s = from / SECTOR; s <= (to - 1) / SECTOR; s++)
		f->touched[s] = 1;
	if (s > f->touched_end)
		f->touched_end = s;
}

static void
touched_clear(struct file *f)
{
	if (f->touched_end > 0)
		memset(f->touched + f->touched_from, 0,
		    f->touched_end - f->touched_from);
	f->touched_from = f->touched_end = 0;
}

/* 0, or -ENOSPC. */
static int
file_resize(struct file *f, size_t size)
{
	if (size > f->len && disk_used() + size - f->len > disk.capacity)
		return -ENOSPC;
	room(&f->now, &f->cap, size, f->written);
	if (least(size, f->written) > f->len) {
		memset(f->now + f->len, 0, least(size, f->written) - f->len);
		touch(f, f->len, least(size, f->written));
	}
	f->len = size;
	return 0;
}

int
disk_resize(int file, int64_t size)
{
	fault_point("resize");
	return disk.broken ? -EIO :
			     file_resize(&disk.files[file], (size_t)size);
}

int
disk_pread(int file, void *p, size_t n, int64_t at)
{
	struct file *f = &disk.files[file];
	size_t have = (size_t)at < f->len ? f->len - (size_t)at : 0;

	if (have > n)
		have = n;
	if (have > 0)
		memcpy(p, f->now + at, have);
	return (int)have;
}

/* Durable at once, as on a file system that keeps the order of names. */
int
disk_rename(const char *from, const char *to)
{
	int i = disk_find(from), old = disk_find(to);

	if (i < 0)
		return i;
	fault_point("rename");
	if (old >= 0)
		disk.files[old].there = disk.files[old].was_there = 0;
	snprintf(disk.files[i].name, NAME_LEN, "%s", base_name(to));
	return 0;
}

static int
file_remove(const char *name, int durable)
{
	int i = disk_find(name);

	if (i < 0)
		return i;
	fault_point("unlink");
	disk.files[i].there = 0;
	if (durable)
		disk.files[i].was_there = 0;
	return 0;
}

int
disk_unlink(const char *name)
{
	return file_remove(name, 1);
}

static void
file_flush(struct file *f)
{
	size_t s, n;

	room(&f->kept, &f->kept_cap, f->len, f->written);
	for (s = f->touched_from; s < f->touched_end && s * SECTOR < f->len;
	     s++) {
		if (!f->touched[s])
			continue;
		n = f->len - s * SECTOR < SECTOR ? f->len - s * SECTOR : SECTOR;
		memcpy(f->kept + s * SECTOR, f->now + s * SECTOR, n);
	}
	touched_clear(f);
	f->kept_len = f->len;
	f->was_there = 1;
}

/* --- power cut --- */

/* Each sector that was not flushed is the old one or the new one. */
static void
file_cut(struct file *f)
{
	size_t s, n, len;

	if (f->there != f->was_there && prng_chance(&disk.random, 500000))
		f->there = f->was_there;
	f->was_there = f->there;
	if (!f->there)
		return;
	len = prng_chance(&disk.random, 500000) ? f->len : f->kept_len;
	room(&f->kept, &f->kept_cap, len, f->written);
	room(&f->now, &f->cap, len, f->written);
	if (least(len, f->written) > f->kept_len)
		memset(f->kept + f->kept_len, 0,
		    least(len, f->written) - f->kept_len);
	for (s = 0; s * SECTOR < len; s++) {
		if (s >= f->touched_end || !f->touched[s] ||
		    prng_chance(&disk.random, 500000))
			continue;
		n = len - s * SECTOR < SECTOR ? len - s * SECTOR : SECTOR;
		memcpy(f->kept + s * SECTOR, f->now + s * SECTOR, n);
	}
	if (least(len, f->written) > 0)
		memcpy(f->now, f->kept, least(len, f->written));
	touched_clear(f);
	f->len = f->kept_len = len;
}

void
disk_power_cut(void)
{
	size_t i;

	trace("power cut");
	for (i = 0; i < FILES_MAX; i++)
		if (disk.files[i].there || disk.files[i].was_there)
			file_cut(&disk.files[i]);
}

/* --- the VFS --- */

static struct handle *
handle_of(sqlite3_file *file)
{
	return (struct handle *)(void *)file;
}

static int
vfs_error(int err, int otherwise)
{
	return err == 0 ? SQLITE_OK : err == -ENOSPC ? SQLITE_FULL : otherwise;
}

static int
on_close(sqlite3_file *file)
{
	struct handle *h = handle_of(file);

	h->f->locks -= h->locked;
	if (h->remove)
		h->f->there = h->f->was_there = 0;
	return SQLITE_OK;
}

static int
on_read(sqlite3_file *file, void *p, int n, sqlite3_int64 at)
{
	int got = disk_pread((int)(handle_of(file)->f - disk.files), p,
	    (size_t)n, at);

	if (got == n)
		return SQLITE_OK;
	memset((uint8_t *)p + got, 0, (size_t)(n - got));
	return SQLITE_IOERR_SHORT_READ;
}

static int
on_write(sqlite3_file *file, const void *p, int n, sqlite3_int64 at)
{
	struct file *f = handle_of(file)->f;
	size_t end = (size_t)at + (size_t)n;

	fault_point("write");
	if (disk.broken)
		return SQLITE_IOERR_WRITE;
	if (end > f->len && file_resize(f, end) != 0)
		return SQLITE_FULL;
	if (end > f->written)
		f->written = end;
	memcpy(f->now + at, p, (size_t)n);
	touch(f, (size_t)at, end);
	return SQLITE_OK;
}

static int
on_truncate(sqlite3_file *file, sqlite3_int64 size)
{
	return vfs_error(disk_resize((int)(handle_of(file)->f - disk.files),
			     size),
	    SQLITE_IOERR_TRUNCATE);
}

static int
on_sync(sqlite3_file *file, int flags)
{
	(void)flags;
	fault_point("sync");
	if (disk.broken)
		return SQLITE_IOERR_FSYNC;
	file_flush(handle_of(file)->f);
	fault_point("synced");
	return SQLITE_OK;
}

static int
on_size(sqlite3_file *file, sqlite3_int64 *size)
{
	*size = (sqlite3_int64)handle_of(file)->f->len;
	return SQLITE_OK;
}

static int
on_lock(sqlite3_file *file, int how)
{
	struct handle *h = handle_of(file);

	if (how >= SQLITE_LOCK_SHARED && !h->locked) {
		if (h->f->locks > 0)
			return SQLITE_BUSY;
		h->locked = 1;
		h->f->locks++;
	}
	return SQLITE_OK;
}

static int
on_unlock(sqlite3_file *file, int how)
{
	struct handle *h = handle_of(file);

	if (how == SQLITE_LOCK_NONE && h->locked) {
		h->locked = 0;
		h->f->locks--;
	}
	return SQLITE_OK;
}

static int
on_reserved(sqlite3_file *file, int *taken)
{
	(void)file;
	*taken = 0;
	return SQLITE_OK;
}

static int
on_control(sqlite3_file *file, int op, void *arg)
{
	(void)file;
	(void)op;
	(void)arg;
	return SQLITE_NOTFOUND;
}

static int
on_sector(sqlite3_file *file)
{
	(void)file;
	return SECTOR;
}

static int
on_device(sqlite3_file *file)
{
	(void)file;
	return 0;
}

static const sqlite3_io_methods methods = {
	.iVersion = 1,
	.xClose = on_close,
	.xRead = on_read,
	.xWrite = on_write,
	.xTruncate = on_truncate,
	.xSync = on_sync,
	.xFileSize = on_size,
	.xLock = on_lock,
	.xUnlock = on_unlock,
	.xCheckReservedLock = on_reserved,
	.xFileControl = on_control,
	.xSectorSize = on_sector,
	.xDeviceCharacteristics = on_device,
};

static int
vfs_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags,
    int *out)
{
	static unsigned temporary;
	struct handle *h = handle_of(file);
	char unnamed[32];
	int i;

	(void)vfs;
	memset(h, 0, sizeof(*h));
	if (name == NULL) {
		snprintf(unnamed, sizeof(unnamed), "temporary.%u", temporary++);
		name = unnamed;
	}
	i = disk_open(name, (flags & SQLITE_OPEN_CREATE) != 0);
	if (i < 0)
		return SQLITE_CANTOPEN;
	h->base.pMethods = &methods;
	h->f = &disk.files[i];
	h->remove = (flags & SQLITE_OPEN_DELETEONCLOSE) != 0;
	if (out != NULL)
		*out = flags;
	return SQLITE_OK;
}

static int
vfs_delete(sqlite3_vfs *vfs, const char *name, int durable)
{
	(void)vfs;
	return file_remove(name, durable) == 0 ? SQLITE_OK :
						 SQLITE_IOERR_DELETE_NOENT;
}

static int
vfs_access(sqlite3_vfs *vfs, const char *name, int flags, int *out)
{
	int i = disk_find(name);

	(void)vfs;
	*out = i >= 0 &&
	    (flags != SQLITE_ACCESS_EXISTS || disk.files[i].len > 0);
	return SQLITE_OK;
}

static int
vfs_path(sqlite3_vfs *vfs, const char *name, int n, char *out)
{
	(void)vfs;
	snprintf(out, (size_t)n, "%s", base_name(name));
	return SQLITE_OK;
}

static int
vfs_random(sqlite3_vfs *vfs, int n, char *out)
{
	int i;

	(void)vfs;
	for (i = 0; i < n; i++)
		out[i] = (char)prng_next(&disk.random);
	return n;
}

static int
vfs_sleep(sqlite3_vfs *vfs, int us)
{
	(void)vfs;
	return us;
}

static int
vfs_time64(sqlite3_vfs *vfs, sqlite3_int64 *ms)
{
	(void)vfs;
	*ms = world_wall_ms() + 210866760000000;
	return SQLITE_OK;
}

static int
vfs_time(sqlite3_vfs *vfs, double *days)
{
	sqlite3_int64 ms;

	vfs_time64(vfs, &ms);
	*days = (double)ms / 86400000.0;
	return SQLITE_OK;
}

static int
vfs_error_code(sqlite3_vfs *vfs, int n, char *out)
{
	(void)vfs;
	(void)n;
	(void)out;
	return 0;
}

static int
proxy_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags,
    int *out)
{
	sqlite3_vfs *own = &above[process_current()];

	(void)vfs;
	return own->xOpen(own, name, file, flags, out);
}

void
disk_vfs_above(const sqlite3_vfs *vfs)
{
	above[process_current()] = *vfs;
	if (proxy.zName != NULL)
		return;
	proxy = *vfs;
	proxy.zName = strdup(vfs->zName);
	if (proxy.zName == NULL)
		abort();
	proxy.xOpen = proxy_open;
	sqlite3_vfs_register(&proxy, 0);
}

void
disk_begin(void)
{
	disk_vfs = (sqlite3_vfs) {
		.iVersion = 2,
		.szOsFile = sizeof(struct handle),
		.mxPathname = NAME_LEN - 1,
		.zName = "unix", /* the history names it */
		.xOpen = vfs_open,
		.xDelete = vfs_delete,
		.xAccess = vfs_access,
		.xFullPathname = vfs_path,
		.xRandomness = vfs_random,
		.xSleep = vfs_sleep,
		.xCurrentTime = vfs_time,
		.xGetLastError = vfs_error_code,
		.xCurrentTimeInt64 = vfs_time64,
	};
	prng_init(&disks[0].random, world_seed(), "disk");
	prng_init(&disks[DISK_OF_CLUSTER].random, world_seed(), "second disk");
	disks[0].capacity = disks[DISK_OF_CLUSTER].capacity = SIZE_MAX / 4;
	sqlite3_config(SQLITE_CONFIG_SINGLETHREAD);
	sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
	sqlite3_initialize();
	sqlite3_vfs_register(&disk_vfs, 1);
}

void
disk_process_ended(void)
{
	size_t i;

	for (i = 0; i < FILES_MAX; i++) {
		disk.files[i].locks = 0;
		if (strncmp(disk.files[i].name, "temporary.", 10) == 0)
			disk.files[i].there = disk.files[i].was_there = 0;
	}
}
