/* SPDX-License-Identifier: MIT */
/*
 * Numbers and structures of the kernel's Landlock interface: the headers of
 * some supported systems are older than Landlock.
 */
#ifndef COMMON_WORKER_LANDLOCK_ABI_H
#define COMMON_WORKER_LANDLOCK_ABI_H

#include <sys/syscall.h>

#include <stdint.h>

/* The numbers are the same on every architecture. */
#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#define SYS_landlock_add_rule	    445
#define SYS_landlock_restrict_self  446
#endif

#define RULESET_VERSION	  1u /* flag: only return the version */
#define RULE_PATH_BENEATH 1
#define RULE_NET_PORT	  2 /* 4 */

/* Rights on files and directories, with the first version that has them. */
#define FS_EXECUTE     (1ull << 0)
#define FS_WRITE_FILE  (1ull << 1)
#define FS_READ_FILE   (1ull << 2)
#define FS_READ_DIR    (1ull << 3)
#define FS_REMOVE_DIR  (1ull << 4)
#define FS_REMOVE_FILE (1ull << 5)
#define FS_MAKE_DIR    (1ull << 7)
#define FS_MAKE_REG    (1ull << 8)
#define FS_ALL_1       ((1ull << 13) - 1)
#define FS_REFER       (1ull << 13) /* 2 */
#define FS_TRUNCATE    (1ull << 14) /* 3 */
#define FS_IOCTL_DEV   (1ull << 15) /* 5 */

#define NET_BIND_TCP	(1ull << 0) /* 4 */
#define NET_CONNECT_TCP (1ull << 1) /* 4 */

#define SCOPE_ABSTRACT (1ull << 0) /* 6 */
#define SCOPE_SIGNAL   (1ull << 1) /* 6 */

/* Rights on a file that is not a directory. */
#define FS_OF_FILES \
	(FS_EXECUTE | FS_WRITE_FILE | FS_READ_FILE | FS_TRUNCATE | FS_IOCTL_DEV)

/* The kernel's structures; it accepts a longer one that ends in zeros. */
struct ruleset_attr {
	uint64_t fs;
	uint64_t net;
	uint64_t scoped;
};

struct path_attr {
	uint64_t allowed;
	int32_t parent;
} __attribute__((packed));

struct port_attr {
	uint64_t allowed;
	uint64_t port; /* host byte order */
};

#endif
