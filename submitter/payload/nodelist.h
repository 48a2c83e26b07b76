/* SPDX-License-Identifier: MIT */
/* cc-backend's node lists: "a[001-064],b[1,3],login*" is none, "*" is all. */
#ifndef SUBMITTER_PAYLOAD_NODELIST_H
#define SUBMITTER_PAYLOAD_NODELIST_H

/*
 * Is host in that list?  A range is as wide as its first number, zeros
 * before it; nothing is expanded.  What is no node list matches nothing.
 */
int nodelist_has(const char *list, const char *host);

#endif
