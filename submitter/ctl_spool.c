/* SPDX-License-Identifier: MIT */
/*
 * The commands `spool check`, `spool export` and `spool import`, in steps. A
 * request does one step of some milliseconds and returns the position of the
 * next one. No other work waits for a long command, and the submitter keeps no
 * state between the steps.
 *
 * An imported line (spool/export.h) is stored like a record of the collector. A
 * run whose record the spool has, or that is done, is not changed, so that an
 * import can be repeated.
 */
#include "config.h"

#include <sys/stat.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"
#include "submitter/base/context.h"
#include "submitter/ctl.h"
#include "submitter/intake/intake.h"
#include "submitter/reconcile/backfill.h"
#include "submitter/spool/commit.h"
#include "submitter/spool/export.h"
#include "submitter/spool/transition.h"

/* in the root of the sandbox; the admin tool writes it */
#define IMPORT_FILE "spool.import"
#define STEP_BYTES  (1u << 20) /* of lines in one step */
#define STEP_ROWS   200
#define STEP_PAGES  512
#define PIECE	    (48u * 1024) /* of a line, in one row of the reply */
/* bytes of a file that PRAGMA quick_check checks in one step */
#define WHOLE_MAX (16u << 20)
/* Positions of check: first the pages, then the rows. */
#define AT_ROWS (INT64_C(1) << 40)

struct step {
	struct submitter *s;
	uint64_t request;
	uint32_t flags;
	size_t bytes; /* in this step */
	unsigned took, had, refused;
	int full;	 /* a line does not fit into the spool */
	int64_t line;	 /* its number in the file */
	char wrong[256]; /* what check found */
};

/*
 * next: the next position, -1 = none. more: the line continues in the next row.
 */
static void
row_send(struct step *t, int64_t next, int more, const char *text)
{
	struct writer w;
	char at[24] = "";

	if (next >= 0)
		snprintf(at, sizeof(at), "%lld", (long long)next);
	wr_init(&w, CTL_REPLY_MAX);
	ctl_row(&w, CTL_T_SPOOL, at, more ? "1" : "0", text, NULL);
	worker_ctl_row(t->s->w, t->request, &w);
	wr_clear(&w);
}

static void
end_send(struct step *t, int64_t next)
{
	char text[64];

	snprintf(text, sizeof(text), "%u %u %u", t->took, t->had, t->refused);
	row_send(t, next, 0, text);
	worker_ctl_end(t->s->w, t->request, CTL_OK, "");
}

/* --- check --- */

static int
row_check(struct spool *sp, struct spool_run *run, void *arg)
{
	struct step *t = arg;

	t->took++;
	spool_run_check(sp, run, t->wrong, sizeof(t->wrong));
	return t->wrong[0] != '\0' ? -1 : 0;
}

static int64_t
rows_check(struct step *t, int64_t at)
{
	struct spool_after after = { .id = at - AT_ROWS };
	struct spool *sp = t->s->spool;
	int n = spool_each(sp, DEST_REST, RUN_STATE__COUNT, &after, STEP_ROWS,
	    row_check, t);

	if (n == -1)
		snprintf(t->wrong, sizeof(t->wrong), "%s", spool_error(sp));
	if (n == STEP_ROWS)
		return AT_ROWS + after.id;
	if (n != -1 && t->wrong[0] == '\0' && spool_bytes(sp) <= WHOLE_MAX)
		spool_check(sp, t->wrong, sizeof(t->wrong));
	if (strcmp(t->wrong, "ok") == 0)
		t->wrong[0] = '\0';
	return -1;
}

static void
on_check(struct step *t, int64_t at)
{
	int rc = 0;

	if (at < AT_ROWS) {
		rc = spool_check_pages(t->s->spool, &at, STEP_PAGES);
		if (rc == -1)
			snprintf(t->wrong, sizeof(t->wrong),
			    "the checksum of page %lld is wrong",
			    (long long)at);
		else if (rc == 0)
			at = AT_ROWS;
	} else
		at = rows_check(t, at);
	if (t->wrong[0] == '\0') {
		end_send(t, at);
		return;
	}
	log_errorx("spool check: %s", t->wrong);
	worker_ctl_end(t->s->w, t->request, CTL_ERROR, t->wrong);
}

/* --- export --- */

static void
line_send(struct step *t, const char *line)
{
	char piece[PIECE + 1];
	size_t n, left = strlen(line);

	t->bytes += left;
	for (; left > 0; left -= n, line += n) {
		n = left < PIECE ? left : PIECE;
		memcpy(piece, line, n);
		piece[n] = '\0';
		row_send(t, -1, left > n, piece);
	}
}

/*
 * Returns the record as a line, without the script unless the admin asked for
 * it.
 */
static char *
run_line(struct step *t, const struct spool_run *run)
{
	struct writer w;
	struct job job;
	char *line = NULL;

	job_init(&job);
	wr_init(&w, MSG_PAYLOAD_MAX);
	if (spool_record(t->s->spool, run->id, &job) == 0) {
		if (!(t->flags & CTL_FLAG_ALL)) {
			free(job.script);
			job.script = NULL;
		}
		job_write(&w, &job);
		if (wr_end(&w) == 0)
			line = export_line(run, w.buf, w.len);
	}
	wr_clear(&w);
	job_clear(&job);
	return line;
}

static int
row_export(struct spool *sp, struct spool_run *run, void *arg)
{
	struct step *t = arg;
	char *line = NULL;

	if (!(run->flags & (RUN_FROM_BACKEND | RUN_QUARANTINED)))
		line = run_line(t, run);
	if (line != NULL) {
		line_send(t, line);
		t->took++;
	} else
		t->refused++;
	free(line);
	return t->bytes < STEP_BYTES ? 0 : -1;
}

static void
on_export(struct step *t, int64_t at)
{
	struct spool_after after = { .id = at };
	int n = spool_each(t->s->spool, DEST_REST, RUN_STATE__COUNT, &after,
	    STEP_ROWS, row_export, t);

	if (n == -1)
		worker_ctl_end(t->s->w, t->request, CTL_ERROR,
		    spool_error(t->s->spool));
	else
		end_send(t,
		    n == STEP_ROWS || t->bytes >= STEP_BYTES ? after.id : -1);
}

/* --- import --- */

/*
 * A run that cc-backend rejected stays rejected until an admin retries it.  Later
 * runs of the job, which the new row has blocked, do not wait for it.
 */
static int
keep_refused(struct step *t, const struct imported *in, int64_t row)
{
	struct spool *sp = t->s->spool;
	struct spool_run run;

	/* A run that a later one replaces is sent, and deleted. */
	if (!in->refused || spool_get(sp, row, &run) != 1 ||
	    (run.flags & RUN_SUPERSEDED) ||
	    !run_may_move(&run, DEST_REST, RUN_EVENT_REJECTED))
		return 0;
	run_move(sp, &run, DEST_REST, RUN_EVENT_REJECTED, DUE_KEEP,
	    in->reason[0] != '\0' ? in->reason : "was refused");
	/* cc-backend lacks the run: NATS need not wait for a list. */
	if (spool_release_backfill(sp, &run) == -1)
		return -1;
	return spool_release(sp, &run, DEST_REST);
}

/* A run of cc-backend's list alone has no record: the line has its end. */
static int
has_record(struct spool *sp, const struct run_key *key)
{
	struct spool_run run;

	return spool_find(sp, key, &run) == 1 &&
	    !(run.flags & RUN_FROM_BACKEND);
}

/* Why the spool refuses a valid line. */
static const char *
refusal(struct spool *sp, const struct job *job)
{
	return !spool_policy(sp)->to[DEST_REST] && job->end != 0 &&
		job->end < spool_low_water(sp) ?
	    "the run ended so long ago that it may be done: use `backfill`" :
	    "the record makes no run";
}

static enum spool_put
run_import(struct step *t, struct imported *in)
{
	enum spool_put rc = PUT_KNOWN;
	int64_t row = 0;

	if (!has_record(t->s->spool, &in->job.key) &&
	    !spool_is_done(t->s->spool, &in->job.key))
		rc = spool_put_exported(t->s->spool, &in->job, &row);
	if (rc == PUT_NEW && row != 0 && keep_refused(t, in, row) == -1)
		rc = PUT_ERROR;
	/* The record is one of a backfill, so the run is held. */
	if ((rc == PUT_NEW || rc == PUT_HELD) && (in->job.flags & JOB_BACKFILL))
		backfill_held(t->s->backfill);
	/* The collector has to look for the end of the run. */
	if (rc == PUT_NEW && in->job.end == 0)
		snapshot_send_run(submitter_feeder(t->s),
		    &(struct open_key) { in->job.key, in->job.submit });
	return rc;
}

/* 0, or -1 when the spool refuses the write. */
static int
line_import(struct step *t, const struct import_text *text)
{
	enum spool_put rc = PUT_REFUSED;
	const char *wrong = "too long";
	struct imported in;

	t->wrong[0] = '\0';
	if (!text->too_long) {
		wrong = import_line(&in, text->buf, text->len);
		if (wrong == NULL && (rc = run_import(t, &in)) == PUT_REFUSED)
			wrong = refusal(t->s->spool, &in.job);
		imported_clear(&in);
	}
	if (wrong != NULL)
		snprintf(t->wrong, sizeof(t->wrong), "%s", wrong);
	t->took += rc == PUT_NEW || rc == PUT_MERGED;
	t->had += rc == PUT_KNOWN || rc == PUT_HELD;
	t->refused += rc == PUT_REFUSED;
	return rc == PUT_ERROR ? -1 : 0;
}

static void
report_wrong(struct step *t)
{
	char text[sizeof(t->wrong) + 48];

	snprintf(text, sizeof(text), "line %lld: %s", (long long)t->line,
	    t->wrong);
	row_send(t, -1, 0, text);
}

/*
 * Imports lines from a position on; the first one is line t->line + 1. Returns
 * the number of bytes, 0 at the end of the file, -1 when the spool refuses a
 * write or without memory. t->full: it ends before a line without space.
 */
static int64_t
lines_import(struct step *t, FILE *f, int64_t from)
{
	struct import_text text = { 0 };
	int64_t at = 0, n;
	int rows;

	/* The step before reported a line that was too long. */
	if (from > 0)
		at = import_text_rest(f);
	for (rows = 0; rows < STEP_ROWS && at < (int64_t)STEP_BYTES; rows++) {
		if ((n = import_text_next(&text, f)) <= 0) {
			at = n == 0 ? at : -1;
			break;
		}
		/* The record is shorter than its line, which is in base64. */
		if (!intake_fits(t->s->intake, text.len)) {
			t->full = 1;
			break;
		}
		at += n;
		t->line++;
		if (line_import(t, &text) == -1) {
			at = -1;
			break;
		}
		if (t->wrong[0] != '\0')
			report_wrong(t);
	}
	import_text_clear(&text);
	return at;
}

/* Opens the file that the admin tool wrote, one byte before the position. */
static FILE *
import_open(int64_t at)
{
	int fd = open(IMPORT_FILE,
	    O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	FILE *f = NULL;

	if (fd != -1 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	    lseek(fd, at > 0 ? at - 1 : 0, SEEK_SET) != -1)
		f = fdopen(fd, "r");
	if (f == NULL && fd != -1)
		close(fd);
	return f;
}

static const char import_full[] =
    "the spool is full or refuses writes: see `status` and import again later; "
    "imported runs are kept";

static void
on_import(struct step *t, int64_t at)
{
	int64_t n;
	FILE *f;

	if (!intake_has_room(t->s->intake)) {
		worker_ctl_end(t->s->w, t->request, CTL_ERROR, import_full);
		return;
	}
	if ((f = import_open(at)) == NULL) {
		worker_ctl_end(t->s->w, t->request, CTL_ERROR,
		    "there is nothing to import");
		return;
	}
	n = lines_import(t, f, at);
	fclose(f);
	/*
	 * The runs must be durable before the reply says that they are
	 * imported.
	 */
	if (commit_now(t->s->commit) == -1 || n == -1) {
		worker_ctl_end(t->s->w, t->request, CTL_ERROR,
		    spool_error(t->s->spool));
		return;
	}
	if (t->took > 0)
		log_notice("an admin imported %u runs", t->took);
	wake(t->s, WAKE_DELIVERY);
	if (t->full)
		worker_ctl_end(t->s->w, t->request, CTL_ERROR, import_full);
	else
		end_send(t, n > 0 ? at + n : -1);
}

void
ctl_spool_step(struct submitter *s, uint64_t request,
    const struct ctl_request *req)
{
	struct step t = { .s = s,
		.request = request,
		.flags = req->flags,
		.line = req->limit };

	if (req->b < 0)
		worker_ctl_end(s->w, request, CTL_ERROR, "invalid position");
	else if (req->a == CTL_SPOOL_CHECK)
		on_check(&t, req->b);
	else if (req->a == CTL_SPOOL_EXPORT)
		on_export(&t, req->b);
	else if (req->a == CTL_SPOOL_IMPORT)
		on_import(&t, req->b);
	else
		worker_ctl_end(s->w, request, CTL_ERROR,
		    "the commands of the spool are check, export and import");
}
