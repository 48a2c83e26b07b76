/* SPDX-License-Identifier: MIT */
/* cc-backend's node lists: "a[001-064],b[1,3],login"; "*" is every host. */
#ifndef COMMON_NODELIST_H
#define COMMON_NODELIST_H

/*
 * 1 when host is in the list.  Numbers of a range have leading zeros up to the
 * width of the first number.  A text that is not a node list has no host.
 */
int nodelist_has(const char *list, const char *host);

#endif
