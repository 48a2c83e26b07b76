/* SPDX-License-Identifier: MIT */
/*
 * A checksum in each page of the spool, so that a flipped bit is never read as
 * data of a job. SQLite leaves the last bytes of a page free as the header
 * says. This VFS layer writes the checksum there and checks it at each read. A
 * page with a wrong checksum, or in the wrong place, reads as SQLITE_CORRUPT.
 *
 * The write-ahead log (-wal) has its own checksums. The layer only notes whether
 * the system refused a write of it: SQLite reports a full disk and its limit of
 * pages with the same code. One thread only, no shared
 * memory and no mapping: one process opens the spool.
 */
#include "config.h"

#include <stdint.h>
#include <string.h>

#include "submitter/spool/spool_private.h"

#define PAGE_MIN 512
#define PAGE_MAX 65536
/* in page 1: bytes that are free at the end of each page */
#define HEADER_RESERVED 20

/*
 * SQLite's handle of the file; the handle of the system's VFS follows in
 * memory.
 */
struct sum_file {
	sqlite3_file base; /* first member: SQLite casts it */
	int is_log;
	int sums; /* the pages have checksums */
};

static sqlite3_vfs vfs;
static sqlite3_vfs *below;
/* the last page with a wrong checksum; 0 = none */
static int64_t bad_page;
static int write_refused;

static sqlite3_file *
file_below(sqlite3_file *file)
{
	return (sqlite3_file *)(void *)((struct sum_file *)(void *)file + 1);
}

/* 64 bits over the page without its last 8 bytes, and over its number. */
static uint64_t
page_sum(const uint8_t *p, size_t n, sqlite3_int64 at)
{
	uint64_t word, sum = (uint64_t)at ^ UINT64_C(0x5bd1e995cafef00d);
	size_t i;

	for (i = 0; i + SPOOL_SUM_BYTES < n; i += sizeof(word)) {
		memcpy(&word, p + i, sizeof(word));
		sum = (sum ^ word) * UINT64_C(0x9e3779b97f4a7c15);
		sum ^= sum >> 32;
	}
	return sum;
}

static int
is_page(int n)
{
	return n >= PAGE_MIN && n <= PAGE_MAX && (n & (n - 1)) == 0;
}

/*
 * A page that was never written reads as zeros when the file grew beyond it.
 * SQLite itself refuses such a page in a tree.
 */
static int
is_empty(const uint8_t *p, size_t n)
{
	return p[0] == 0 && memcmp(p, p + 1, n - 1) == 0;
}

static int
page_is_good(const uint8_t *p, size_t n, sqlite3_int64 at)
{
	uint64_t kept;

	memcpy(&kept, p + n - SPOOL_SUM_BYTES, sizeof(kept));
	return kept == page_sum(p, n, at) || is_empty(p, n);
}

static int
sum_read(sqlite3_file *file, void *p, int n, sqlite3_int64 at)
{
	struct sum_file *f = (struct sum_file *)(void *)file;
	int rc = file_below(file)->pMethods->xRead(file_below(file), p, n, at);

	if (rc == SQLITE_OK && f->sums && is_page(n) &&
	    !page_is_good(p, (size_t)n, at)) {
		bad_page = at / n + 1;
		rc = SQLITE_CORRUPT;
	}
	return rc;
}

static int
sum_write(sqlite3_file *file, const void *p, int n, sqlite3_int64 at)
{
	static uint8_t page[PAGE_MAX];
	struct sum_file *f = (struct sum_file *)(void *)file;
	uint64_t sum;
	int rc;

	if (is_page(n) && at == 0 && !f->is_log)
		f->sums = ((const uint8_t *)p)[HEADER_RESERVED] ==
		    SPOOL_SUM_BYTES;
	if (f->sums && is_page(n)) {
		sum = page_sum(p, (size_t)n, at);
		memcpy(page, p, (size_t)n);
		memcpy(page + n - SPOOL_SUM_BYTES, &sum, sizeof(sum));
		p = page;
	}
	rc = file_below(file)->pMethods->xWrite(file_below(file), p, n, at);
	if (rc != SQLITE_OK)
		write_refused = 1;
	return rc;
}

static int
sum_close(sqlite3_file *file)
{
	return file_below(file)->pMethods->xClose(file_below(file));
}

static int
sum_truncate(sqlite3_file *file, sqlite3_int64 size)
{
	return file_below(file)->pMethods->xTruncate(file_below(file), size);
}

static int
sum_sync(sqlite3_file *file, int flags)
{
	return file_below(file)->pMethods->xSync(file_below(file), flags);
}

static int
sum_size(sqlite3_file *file, sqlite3_int64 *size)
{
	return file_below(file)->pMethods->xFileSize(file_below(file), size);
}

static int
sum_lock(sqlite3_file *file, int how)
{
	return file_below(file)->pMethods->xLock(file_below(file), how);
}

static int
sum_unlock(sqlite3_file *file, int how)
{
	return file_below(file)->pMethods->xUnlock(file_below(file), how);
}

static int
sum_reserved(sqlite3_file *file, int *taken)
{
	return file_below(file)->pMethods->xCheckReservedLock(file_below(file),
	    taken);
}

static int
sum_control(sqlite3_file *file, int op, void *arg)
{
	return file_below(file)->pMethods->xFileControl(file_below(file), op,
	    arg);
}

static int
sum_sector(sqlite3_file *file)
{
	return file_below(file)->pMethods->xSectorSize(file_below(file));
}

static int
sum_device(sqlite3_file *file)
{
	int is = file_below(file)->pMethods->xDeviceCharacteristics(
	    file_below(file));

#ifdef SQLITE_IOCAP_SUBPAGE_READ
	/* only whole pages have a checksum */
	is &= ~SQLITE_IOCAP_SUBPAGE_READ;
#endif
	return is;
}

/* Version 1: no shared memory, no mapping. */
static const sqlite3_io_methods methods = {
	.iVersion = 1,
	.xClose = sum_close,
	.xRead = sum_read,
	.xWrite = sum_write,
	.xTruncate = sum_truncate,
	.xSync = sum_sync,
	.xFileSize = sum_size,
	.xLock = sum_lock,
	.xUnlock = sum_unlock,
	.xCheckReservedLock = sum_reserved,
	.xFileControl = sum_control,
	.xSectorSize = sum_sector,
	.xDeviceCharacteristics = sum_device,
};

/* A new file gets checksums with its first page; an old one may have none. */
static int
has_sums(sqlite3_file *file)
{
	uint8_t reserved = 0;

	return file->pMethods->xRead(file, &reserved, 1, HEADER_RESERVED) ==
	    SQLITE_OK &&
	    reserved == SPOOL_SUM_BYTES;
}

static int
sum_open(sqlite3_vfs *self, const char *name, sqlite3_file *file, int flags,
    int *out)
{
	struct sum_file *f = (struct sum_file *)(void *)file;
	int rc;

	if ((flags & (SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_WAL)) == 0)
		return below->xOpen(below, name, file, flags, out);
	memset(f, 0, sizeof(*f));
	f->is_log = (flags & SQLITE_OPEN_WAL) != 0;
	rc = below->xOpen(below, name, file_below(file), flags, out);
	if (file_below(file)->pMethods == NULL)
		return rc == SQLITE_OK ? SQLITE_CANTOPEN : rc;
	file->pMethods = &methods;
	if (rc == SQLITE_OK && !f->is_log)
		f->sums = has_sums(file_below(file));
	return rc;
}

int
spool_sum_is_on(sqlite3 *db)
{
	sqlite3_file *file = NULL;

	return sqlite3_file_control(db, "main", SQLITE_FCNTL_FILE_POINTER,
		   &file) == SQLITE_OK &&
	    file != NULL && file->pMethods == &methods &&
	    ((struct sum_file *)(void *)file)->sums;
}

int
spool_check_pages(struct spool *sp, int64_t *at, int n)
{
	static uint8_t page[PAGE_MAX];
	sqlite3_file *file = NULL;
	sqlite3_int64 size = 0;

	if (sqlite3_file_control(sp->db, "main", SQLITE_FCNTL_FILE_POINTER,
		&file) != SQLITE_OK ||
	    file == NULL || sp->page > PAGE_MAX ||
	    file->pMethods->xFileSize(file, &size) != SQLITE_OK)
		return -1;
	for (; n > 0 && (*at + 1) * sp->page <= size; n--, (*at)++)
		if (file->pMethods->xRead(file, page, (int)sp->page,
			*at * sp->page) != SQLITE_OK) {
			(*at)++; /* page numbers begin with 1 */
			spool_sum_bad();
			return -1;
		}
	return (*at + 1) * sp->page <= size;
}

void
spool_sum_reserve(sqlite3 *db)
{
	int bytes = SPOOL_SUM_BYTES;

	sqlite3_file_control(db, "main", SQLITE_FCNTL_RESERVE_BYTES, &bytes);
}

int64_t
spool_sum_bad(void)
{
	int64_t page = bad_page;

	bad_page = 0;
	return page;
}

int
spool_write_refused(void)
{
	int refused = write_refused;

	write_refused = 0;
	return refused;
}

void
spool_sum_prepare(void)
{
	below = sqlite3_vfs_find(NULL);
	if (below == NULL || below == &vfs)
		return;
	vfs = *below;
	vfs.pNext = NULL;
	vfs.zName = SPOOL_VFS;
	vfs.szOsFile = below->szOsFile + (int)sizeof(struct sum_file);
	vfs.xOpen = sum_open;
	sqlite3_vfs_register(&vfs, 0);
}
