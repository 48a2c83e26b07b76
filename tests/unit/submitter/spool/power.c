/* SPDX-License-Identifier: MIT */
/*
 * A VFS for SQLite as its own tests for power cuts use one; see power.h.  A
 * file is what was flushed, and what was written since.  At a cut each sector
 * of each such write is there or not, in any combination; a file that never
 * was flushed may be gone altogether; a length may be the old one or the new.
 */
#include "config.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/submitter/spool/power.h"

#define FILES_MAX 8
#define NAME_MAX_ 256
#define SECTOR	  512

struct disk {
	char name[NAME_MAX_];
	uint8_t *now, *flushed;
	size_t len, flushed_len, cap, flushed_cap;
	uint8_t *touched; /* by sector, since the last flush */
	size_t touched_cap;
	int there, was_there; /* flushed ever */
};

struct handle {
	sqlite3_file base;
	struct disk *d;
};

static struct disk disks[FILES_MAX];
static unsigned calls, cut_at;
static int off, lying;
static uint64_t state;

uint64_t
power_random(uint64_t below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return below != 0 ? (state >> 11) % below : 0;
}

static void
room(uint8_t **p, size_t *cap, size_t n)
{
	size_t more = *cap;

	if (n <= *cap)
		return;
	while (more < n)
		more = more != 0 ? more * 2 : 65536;
	*p = realloc(*p, more);
	if (*p == NULL)
		abort();
	memset(*p + *cap, 0, more - *cap);
	*cap = more;
}

/* Counts a call that changes something: 1 when the current fails at it. */
static int
fails(void)
{
	if (!off && ++calls == cut_at)
		off = 2; /* this very call may be done in part */
	return off;
}

static struct disk *
disk_of(sqlite3_file *file)
{
	return ((struct handle *)(void *)file)->d;
}

static int
on_read(sqlite3_file *file, void *p, int n, sqlite3_int64 at)
{
	struct disk *d = disk_of(file);
	size_t have = (size_t)at < d->len ? d->len - (size_t)at : 0;

	if (have >= (size_t)n) {
		memcpy(p, d->now + at, (size_t)n);
		return SQLITE_OK;
	}
	memset(p, 0, (size_t)n);
	if (have > 0)
		memcpy(p, d->now + at, have);
	return SQLITE_IOERR_SHORT_READ;
}

static int
on_write(sqlite3_file *file, const void *p, int n, sqlite3_int64 at)
{
	struct disk *d = disk_of(file);
	size_t s, end = (size_t)at + (size_t)n;

	if (fails() == 1)
		return SQLITE_IOERR_WRITE;
	room(&d->now, &d->cap, end);
	memcpy(d->now + at, p, (size_t)n);
	if (end > d->len)
		d->len = end;
	room(&d->touched, &d->touched_cap, end / SECTOR + 1);
	for (s = (size_t)at / SECTOR; s <= (end - 1) / SECTOR; s++)
		d->touched[s] = 1;
	if (off)
		off = 1;
	return off ? SQLITE_IOERR_WRITE : SQLITE_OK;
}

static int
on_truncate(sqlite3_file *file, sqlite3_int64 size)
{
	struct disk *d = disk_of(file);

	if (fails() == 1)
		return SQLITE_IOERR_TRUNCATE;
	if ((size_t)size < d->len) {
		memset(d->now + size, 0, d->len - (size_t)size);
		d->len = (size_t)size;
	}
	if (off)
		off = 1;
	return off ? SQLITE_IOERR_TRUNCATE : SQLITE_OK;
}

static int
on_sync(sqlite3_file *file, int flags)
{
	struct disk *d = disk_of(file);

	(void)flags;
	if (fails()) {
		off = 1;
		return SQLITE_IOERR_FSYNC;
	}
	if (lying)
		return SQLITE_OK;
	room(&d->flushed, &d->flushed_cap, d->len);
	memcpy(d->flushed, d->now, d->len);
	if (d->len < d->flushed_cap)
		memset(d->flushed + d->len, 0, d->flushed_cap - d->len);
	d->flushed_len = d->len;
	d->was_there = 1;
	if (d->touched != NULL)
		memset(d->touched, 0, d->touched_cap);
	return SQLITE_OK;
}

static int
on_size(sqlite3_file *file, sqlite3_int64 *size)
{
	*size = (sqlite3_int64)disk_of(file)->len;
	return SQLITE_OK;
}

static int
on_nothing(sqlite3_file *file)
{
	(void)file;
	return SQLITE_OK;
}

static int
on_lock(sqlite3_file *file, int how)
{
	(void)file;
	(void)how;
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

/* As the system's: a write leaves what lies beside it alone. */
static int
on_device(sqlite3_file *file)
{
	(void)file;
	return SQLITE_IOCAP_POWERSAFE_OVERWRITE;
}

static const sqlite3_io_methods methods = {
	.iVersion = 1,
	.xClose = on_nothing,
	.xRead = on_read,
	.xWrite = on_write,
	.xTruncate = on_truncate,
	.xSync = on_sync,
	.xFileSize = on_size,
	.xLock = on_lock,
	.xUnlock = on_lock,
	.xCheckReservedLock = on_reserved,
	.xFileControl = on_control,
	.xSectorSize = on_sector,
	.xDeviceCharacteristics = on_device,
};

static struct disk *
disk_find(const char *name, int make)
{
	struct disk *d, *unused = NULL;

	for (d = disks; d < disks + FILES_MAX; d++) {
		if (strcmp(d->name, name) == 0)
			return d;
		if (d->name[0] == '\0' && unused == NULL)
			unused = d;
	}
	if (!make || unused == NULL || strlen(name) >= NAME_MAX_)
		return NULL;
	memcpy(unused->name, name, strlen(name) + 1);
	return unused;
}

static int
on_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags,
    int *out)
{
	struct handle *h = (struct handle *)(void *)file;
	struct disk *d = name != NULL ?
	    disk_find(name, flags & SQLITE_OPEN_CREATE) :
	    NULL;

	(void)vfs;
	file->pMethods = NULL;
	if (d == NULL || (!d->there && !(flags & SQLITE_OPEN_CREATE)))
		return SQLITE_CANTOPEN;
	d->there = 1;
	h->d = d;
	file->pMethods = &methods;
	if (out != NULL)
		*out = flags;
	return SQLITE_OK;
}

static int
on_delete(sqlite3_vfs *vfs, const char *name, int dir_sync)
{
	struct disk *d = disk_find(name, 0);

	(void)vfs;
	if (d == NULL || !d->there)
		return SQLITE_IOERR_DELETE_NOENT;
	if (fails())
		return SQLITE_IOERR_DELETE;
	d->there = 0;
	d->len = 0;
	if (d->cap > 0)
		memset(d->now, 0, d->cap);
	if (dir_sync && !lying)
		d->was_there = 0;
	return SQLITE_OK;
}

static int
on_access(sqlite3_vfs *vfs, const char *name, int flags, int *yes)
{
	struct disk *d = disk_find(name, 0);

	(void)vfs;
	(void)flags;
	*yes = d != NULL && d->there;
	return SQLITE_OK;
}

static int
on_path(sqlite3_vfs *vfs, const char *name, int n, char *out)
{
	(void)vfs;
	sqlite3_snprintf(n, out, "%s", name);
	return SQLITE_OK;
}

void
power_prepare(uint64_t seed)
{
	static sqlite3_vfs vfs;

	state = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
	vfs = *sqlite3_vfs_find(NULL);
	vfs.zName = "power";
	vfs.pNext = NULL;
	vfs.szOsFile = sizeof(struct handle);
	vfs.xOpen = on_open;
	vfs.xDelete = on_delete;
	vfs.xAccess = on_access;
	vfs.xFullPathname = on_path;
	sqlite3_vfs_register(&vfs, 1);
}

void
power_cut_at(unsigned n)
{
	calls = 0;
	cut_at = n;
}

int
power_is_off(void)
{
	return off;
}

unsigned
power_calls(void)
{
	return calls;
}

void
power_forget(void)
{
	struct disk *d;

	for (d = disks; d < disks + FILES_MAX; d++) {
		free(d->now);
		free(d->flushed);
		free(d->touched);
	}
	memset(disks, 0, sizeof(disks));
}

void
power_resume(void)
{
	off = 0;
	calls = cut_at = 0;
}

void
power_lies(int lies)
{
	lying = lies;
}

/* What is there of one file: the flushed bytes, and some sectors of the rest. */
static void
disk_back(struct disk *d)
{
	size_t s, from, n,
	    longest = d->len > d->flushed_len ? d->len : d->flushed_len;

	room(&d->flushed, &d->flushed_cap, longest);
	room(&d->now, &d->cap, longest);
	room(&d->touched, &d->touched_cap, longest / SECTOR + 1);
	for (s = 0; s * SECTOR < longest; s++) {
		if (!d->touched[s] || power_random(2) == 0)
			continue;
		from = s * SECTOR;
		n = longest - from < SECTOR ? longest - from : SECTOR;
		memcpy(d->flushed + from, d->now + from, n);
	}
	if (power_random(2) == 0)
		d->flushed_len = d->len;
	memcpy(d->now, d->flushed, longest);
	d->len = d->flushed_len;
	if (d->len < d->cap)
		memset(d->now + d->len, 0, d->cap - d->len);
	memset(d->touched, 0, d->touched_cap);
	d->there = d->was_there || (d->there && power_random(2) == 0);
	if (!d->there)
		d->len = d->flushed_len = 0;
}

void
power_back(void)
{
	struct disk *d;

	for (d = disks; d < disks + FILES_MAX; d++)
		if (d->name[0] != '\0')
			disk_back(d);
	off = 0;
	calls = cut_at = 0;
}
