/* SPDX-License-Identifier: MIT */
/*
 * Secrets as text in memory of their own: locked (not in swap), not in a dump,
 * wiped before it is freed and when the process ends.  If the limit of locked
 * memory (RLIMIT_MEMLOCK) is too low, the memory is used without the lock.  From
 * Linux 5.14 on (memfd_secret), root cannot read the memory either.
 */
#ifndef COMMON_NET_SECRET_H
#define COMMON_NET_SECRET_H

#include <stddef.h>

/* Returns owned: size bytes, all 0; NULL with errno. */
char *secret_alloc(size_t size);
/*
 * Returns owned: a copy with a NUL behind it.  NULL when the bytes contain a
 * NUL or memory is short.
 */
char *secret_copy(const void *p, size_t len);
/* Wipes and frees; NULL is fine. */
void secret_free(char *secret);
/*
 * Wipes all secrets, which become empty texts.  Before the end of the process:
 * threads may still read them.
 */
void secret_wipe_all(void);
/* 1 when a secret could not be locked. */
int secret_is_unlocked(void);
/* 1 when no other process, not even root's, could read a secret so far. */
int secret_is_hidden(void);

/* An allocator that wipes what it frees, for libraries that copy secrets. */
void wiping_free(void *p);
void *wiping_realloc(void *p, size_t size);

#endif
