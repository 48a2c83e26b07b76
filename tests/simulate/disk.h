/* SPDX-License-Identifier: MIT */
/*
 * The simulated disk: files in memory, an SQLite VFS on them, and the calls on
 * files that the submitter makes without SQLite.  What was not flushed may be
 * lost in any combination of sectors at a power cut.
 */
#ifndef TESTS_SIMULATE_DISK_H
#define TESTS_SIMULATE_DISK_H

#include <stddef.h>
#include <stdint.h>

/* Each host has a disk; a process has that of its host. */
#define DISKS		2
#define DISK_OF_CLUSTER 1 /* of a fan-in; all other processes have disk 0 */
/* The disk of the calls that the world makes; 0 at the beginning. */
void disk_choose(unsigned n);

/* Registers the VFS as SQLite's default. */
void disk_begin(void);
/*
 * The VFS that a product puts above: copied, because a crash resets the memory
 * of the process.  Each process opens files with its own one.
 */
struct sqlite3_vfs;
void disk_vfs_above(const struct sqlite3_vfs *vfs);
/* After a process ended: its locks are gone. */
void disk_process_ended(void);
void disk_power_cut(void);
/* Bytes of all files that may be in use; less than in use is a full disk. */
void disk_capacity(size_t bytes);
size_t disk_used(void);
/* Is there a limit, and no reserve that the submitter can remove? */
int disk_is_full(void);
/* 1: each write and flush fails with EIO. */
void disk_broken(int broken);

/* As open(2) and so on; a negative result is -errno. */
int disk_open(const char *name, int create);
int disk_find(const char *name);
int64_t disk_size(int file);
int disk_resize(int file, int64_t size);
int disk_pread(int file, void *p, size_t n, int64_t at);
int disk_rename(const char *from, const char *to);
int disk_unlink(const char *name);

#endif
