/* SPDX-License-Identifier: MIT */
/*
 * Reports changes of files by name, so that no timer has to compare them.  The
 * kernel watches the directories of the files (inotify).
 */
#ifndef SUPERVISOR_SYSTEM_PATH_WATCH_H
#define SUPERVISOR_SYSTEM_PATH_WATCH_H

struct event_base;
struct path_watch;

/*
 * fn is called from the event loop, once for all changes that came together, at
 * most five times a second.
 * Returns owned, NULL when the kernel offers no watch (errno).
 */
struct path_watch *path_watch_new(struct event_base *base,
    void (*fn)(void *arg), void *arg);
/*
 * Watches the directory of path, and the directory of its target when path is a
 * symbolic link: files that are created, written, removed or renamed.  A
 * directory above these that is renamed is not noticed.  Returns 0, or -1 with
 * errno.
 */
int path_watch_add(struct path_watch *pw, const char *path);
/* NULL is allowed. */
void path_watch_free(struct path_watch *pw);

#endif
