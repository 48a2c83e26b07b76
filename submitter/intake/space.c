/* SPDX-License-Identifier: MIT */
/*
 * Space in the spool.  When spoolMaxBytes is reached or the disk is full,
 * `flow` makes the collector keep the records of ended runs: accounting has
 * them.  Messages that arrive nevertheless wait in memory, unacknowledged.
 * Only the resources of runs that have begun are still written, because
 * accounting does not keep them; at the centre of a fan-in a stream does.  A
 * share of the file is reserved for them, and on a full disk the space of a
 * reserve file that is removed.
 *
 * Meanwhile space is released: first the scripts of runs whose start is
 * delivered, then the oldest tombstones.  Runs that wait for delivery stay.
 */
#include "config.h"

#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/log.h"
#include "submitter/intake/intake_private.h"
#include "submitter/spool/commit.h"

#define WARN_PERCENT 80 /* of spoolMaxBytes */
/* the rest is for resources and for changes of runs that are stored */
#define FULL_PERCENT 90
#define ROOM_PERCENT 85 /* below this, records are stored again */
/* bytes within the file that must be free on a full disk */
#define DISK_ROOM    131072
#define RESERVE_FILE "spool.reserve" /* in the root of the sandbox */
/* bytes of SQLite's write-ahead log, which the reserve covers, too */
#define LOG_SHARE 4194304
/* ms between two attempts to make the reserve */
#define RESERVE_AGAIN 3000
#define STEP_ROWS     64 /* scripts removed in one step */
#define STEP_TOMBS    512
#define STEP_MS	      20   /* between two steps */
#define IDLE_MS	      1000 /* when nothing more can be removed */
/* A page, the row of a run with its index entries, and the cell of a record. */
#define PAGE 4096
#define ROW  400
#define CELL 24

/*
 * Bytes that a record needs: small ones share a page, large ones have several.
 */
static size_t
record_cost(size_t len)
{
	size_t each = len + CELL;

	if (each > PAGE)
		return (each / (PAGE - CELL) + 1) * PAGE + ROW;
	return PAGE / (PAGE / each) + ROW;
}

/* Bytes that may still be used. */
static int64_t
space_measure(struct intake *b)
{
	struct spool *sp = b->s->spool;

	int64_t room = (int64_t)(spool_bytes_max(sp) / 100 * FULL_PERCENT) -
	    (int64_t)spool_bytes(sp);
	int64_t in_file = (int64_t)spool_bytes_free(sp) - DISK_ROOM;

	return b->no_disk && in_file < room ? in_file : room;
}

int
intake_fits(struct intake *b, size_t n)
{
	return space_measure(b) >= (int64_t)record_cost(n);
}

static int
is_tight(struct intake *b)
{
	struct spool *sp = b->s->spool;
	int64_t room = space_measure(b);

	return room < (int64_t)b->needs || (b->no_disk && room < DISK_ROOM) ||
	    spool_bytes(sp) > spool_bytes_max(sp) / 100 * ROOM_PERCENT;
}

void
intake_flow(struct intake *b)
{
	struct writer w;

	if (b->collector == NULL)
		return;
	wr_init(&w, 1);
	wr_u8(&w, commit_is_stuck(b->s->commit) || b->space != SPACE_OK);
	channel_send(b->collector, MSG_FLOW, 0, &w, -1);
	wr_clear(&w);
}

static void
search_begin(struct intake *b)
{
	b->evicting = 1;
	b->searched = spool_started(b->s->spool);
	spool_evict_begin(b->s->spool);
}

static void
space_run_out(struct intake *b, enum space_state why)
{
	struct intake_frame *f;

	b->space = why;
	search_begin(b);
	log_about(LOG_ID_SPOOL_FULL, NULL, 0);
	if (spool_policy(b->s->spool)->from_stream)
		log_errorx("the spool is full (%s): new records wait in the "
			   "streams of their clusters",
		    why == SPACE_FULL ? "spoolMaxBytes" : "its disk");
	else if (why == SPACE_FULL)
		log_errorx(
		    "the spool is full (spoolMaxBytes): jobs that end now "
		    "wait in Slurm's accounting until stored runs are "
		    "delivered; threads and GPUs of new jobs are stored");
	else
		log_errorx(
		    "the disk of the spool is full: jobs that end now "
		    "wait in Slurm's accounting; threads and GPUs of new "
		    "jobs are stored in the space of the reserve");
	intake_flow(b);
	for (f = b->next; f != NULL; f = f->next)
		if (frame_resources(b, f) == -1)
			break;
}

int
space_admit(struct intake *b, const struct intake_frame *f)
{
	size_t most = spool_bytes_max(b->s->spool) / RECORD_SHARE;
	size_t cost = record_cost(f->len < most ? f->len : most);

	if (b->space != SPACE_OK)
		return 0;
	if (f->type != MSG_RECORD)
		return 1;
	b->room -= (int64_t)cost;
	if (b->room >= 0)
		return 1;
	b->room = space_measure(b) - (int64_t)cost;
	if (b->room >= 0)
		return 1;
	b->needs = cost;
	space_run_out(b, b->no_disk ? SPACE_DISK_FULL : SPACE_FULL);
	return 0;
}

void
space_check(struct intake *b)
{
	uint64_t max = spool_bytes_max(b->s->spool);
	uint64_t now = spool_bytes(b->s->spool);

	if (now < max / 100 * WARN_PERCENT)
		b->logged_large = 0;
	else if (!b->logged_large) {
		log_warnx("the spool uses %llu of %llu KiB (spoolMaxBytes)",
		    (unsigned long long)(now >> 10),
		    (unsigned long long)(max >> 10));
		b->logged_large = 1;
	}
	if (b->space == SPACE_OK || is_tight(b)) {
		if (b->space == SPACE_OK)
			b->room = space_measure(b);
		return;
	}
	b->space = SPACE_OK;
	b->room = space_measure(b);
	b->needs = 0;
	log_about(LOG_ID_SPOOL_SPACE, NULL, 0);
	log_notice("the spool has space again");
	intake_flow(b);
}

int
space_free_some(struct intake *b)
{
	struct spool *sp = b->s->spool;
	int n;

	if (b->no_disk)
		space_make_reserve(b);
	/*
	 * The ends of open runs wait for space: the scripts of starts that were
	 * delivered since then may be the only space there is.
	 */
	if (!b->evicting && b->searched == spool_started(sp))
		return IDLE_MS;
	if (!b->evicting)
		search_begin(b);
	n = spool_drop_scripts(sp, STEP_ROWS);
	if (n == 0)
		n = spool_evict(sp, time(NULL), STEP_TOMBS);
	if (n > 0)
		return STEP_MS;
	b->evicting = 0;
	return IDLE_MS;
}

int
intake_remove_reserve(void)
{
	return unlink(RESERVE_FILE);
}

static int64_t
reserve_size(struct intake *b)
{
	int64_t share = (int64_t)spool_resources_share(b->s->spool);

	return share + (share < LOG_SHARE ? share : LOG_SHARE);
}

int
space_release_reserve(struct intake *b)
{
	if (!spool_no_space(b->s->spool) || !b->reserve)
		return 0;
	if (intake_remove_reserve() == -1)
		log_warn("cannot remove %s", RESERVE_FILE);
	b->reserve = 0;
	b->no_disk = 1;
	b->scarce = spool_now(b->s->spool);
	space_run_out(b, SPACE_DISK_FULL);
	return 1;
}

/*
 * spare: bytes that must be free beside the reserve, or the reserve is not
 * made.
 */
static int
reserve_fill(int fd, int64_t size, int64_t spare)
{
	struct stat st;

	if (fd == -1)
		return -1;
	if (spare == 0 && fstat(fd, &st) == 0 && st.st_size == size &&
	    st.st_blocks * 512 >= size)
		return 0;
	if (ftruncate(fd, 0) == -1)
		return -1;
	errno = posix_fallocate(fd, 0, size + spare);
	return errno == 0 && ftruncate(fd, size) == 0 ? 0 : -1;
}

void
space_make_reserve(struct intake *b)
{
	int64_t now = spool_now(b->s->spool), spare;
	int fd, logged = b->scarce != 0;

	if (b->reserve || (logged && now - b->scarce < RESERVE_AGAIN))
		return;
	fd = open(RESERVE_FILE, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC,
	    0600);
	spare = b->no_disk ? reserve_size(b) + 2 * (int64_t)b->bytes : 0;
	b->reserve = reserve_fill(fd, reserve_size(b), spare) == 0;
	b->scarce = b->reserve ? 0 : now;
	if (b->reserve)
		b->no_disk = 0;
	else {
		if (!logged && !b->no_disk)
			log_warn("no space for a reserve of %lld KiB for a "
				 "full disk",
			    (long long)(reserve_size(b) >> 10));
		intake_remove_reserve();
	}
	if (fd != -1)
		close(fd);
}
