/* SPDX-License-Identifier: MIT */
/* Gives memory back to the system after work. */
#ifndef SUBMITTER_MEMORY_H
#define SUBMITTER_MEMORY_H

struct submitter;

/* The spool is open.  fatalx() when out of memory. */
void memory_begin(struct submitter *s);
/* The spool was written: memory_release() is called some seconds later. */
void memory_used(struct submitter *s);
/* Gives memory back now; does nothing while requests are under way. */
void memory_release(struct submitter *s);

#endif
