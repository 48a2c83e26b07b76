/* SPDX-License-Identifier: MIT */
/* Rows of sacct, for jobs and for steps: recorded ones and forged ones. */
#include "config.h"

#include <stdlib.h>

#include "collector/parse/parse.h"
#include "tests/unit/check.h"
#include "tests/unit/collector/parse/dump_record.h"
#include "tests/unit/collector/parse/recording.h"

static struct gres_names names;
static struct read_options how = { .gpus = &names,
	.opt_out_word = "keep_away",
	.device = recording_device };

static int
on_row(struct job_snapshot *s, void *arg)
{
	static struct dump d;
	char *out = arg;
	size_t len = strlen(out);

	snprintf(out + len, 16384 - len, "%llu:%s%s ",
	    (unsigned long long)s->job.key.job, s->state->word,
	    s->never ? "!" : "");
	if (s->job.key.job == 8) {
		dump_record(&d, s);
		CHECK_STR(d.text,
		    "job 8|start 1795212359|state COMPLETED|"
		    "flags 1|submit 1795212358|end 1795212434 completed|exit 0|"
		    "never 0|batch 0|optout 0|shared multi_user whole 0|"
		    "restarts 0|array 0|task 0|het 0|offset 0|nodes 2|cpus 2|"
		    "accels 2|walltime 300|memory 200|user [labbob]|"
		    "account [proj2]|partition [mixed]|qos [normal]|"
		    "reservation []|name [sbatch]|host node5|host node6|");
	}
	if (s->job.key.job == 31)
		CHECK(s->job.account == NULL);
	if (s->job.key.job == 64)
		CHECK(s->job.array_job == 17 && s->job.array_task == 1);
	if (s->job.key.job == 19)
		CHECK(s->job.het_job == 18 && s->job.het_offset == 1);
	if (s->job.key.job == 2)
		CHECK_STR(s->job.reason, "CANCELLED by 0");
	return 0;
}

static void
test_accounting(void)
{
	struct sacct_reader r;
	static char seen[16384];
	char *file;
	size_t file_len, at, n, step;

	file = recording_read("22.05", "sacct.txt", &file_len);
	for (step = 1; step < 9000; step = step * 3 + 1) {
		memset(&r, 0, sizeof(r));
		memcpy(r.delimiter, "\x1f\xff\x01\xfe", 5);
		r.how = &how;
		r.each = on_row;
		r.arg = seen;
		seen[0] = '\0';
		for (at = 0; at < file_len; at += n) {
			n = file_len - at < step ? file_len - at : step;
			CHECK_INT(sacct_feed(&r, file + at, n), 0);
		}
		CHECK_INT(sacct_end(&r), 0);
		CHECK_INT(r.rows, 29);
		CHECK_INT(r.bad, 0);
		CHECK(strstr(seen, "6:FAILED! ") != NULL);
		CHECK(strstr(seen, "58:REQUEUED ") != NULL);
		CHECK(strstr(seen, "79:RESIZING ") != NULL);
		sacct_clear(&r);
	}
	free(file);
}

/* A job name with newlines and a part of the delimiter. */
static void
test_accounting_forged(void)
{
	static const char row[] =
	    "5\x01\x02\x03\x04"
	    "5\x01\x02\x03\x04u"
	    "\x01\x02\x03\x04"
	    "1\x01\x02\x03\x04"
	    "a\x01\x02\x03\x04p"
	    "\x01\x02\x03\x04q\x01\x02\x03\x04\x01\x02\x03\x04"
	    "COMPLETED"
	    "\x01\x02\x03\x04"
	    "0:0\x01\x02\x03\x04"
	    "100\x01\x02\x03\x04"
	    "200\x01\x02\x03\x04"
	    "300\x01\x02\x03\x04"
	    "5\x01\x02\x03\x04"
	    "cpu=2,node=1\x01\x02\x03\x04"
	    "100M\x01\x02\x03\x04"
	    "1"
	    "\x01\x02\x03\x04keep_away\x01\x02\x03\x04%s\x01\x02\x03\x04n1\n";
	struct sacct_reader r = { .delimiter = "\x01\x02\x03\x04",
		.how = &how,
		.each = on_row };
	static char seen[16384];
	char text[2048];

	seen[0] = '\0';
	r.arg = seen;
	snprintf(text, sizeof(text), row, "a\n6|6|b\x01\x02\x03\n7");
	CHECK_INT(sacct_feed(&r, text, strlen(text)), 0);
	CHECK_INT(sacct_feed(&r, text, strlen(text)), 0);
	CHECK_INT(r.rows, 2);
	CHECK_INT(r.bad, 0);
	CHECK_STR(seen, "5:COMPLETED 5:COMPLETED ");
	/* A row with one column more is malformed. */
	snprintf(text, sizeof(text), row, "a\x01\x02\x03\x04");
	CHECK_INT(sacct_feed(&r, text, strlen(text)), 0);
	CHECK_INT(r.bad, 1);
	sacct_clear(&r);
}

/* A sacct without some of the columns. */
static void
test_lacking(void)
{
	struct sacct_reader r;
	uint32_t lacking = 0;

	CHECK(
	    sacct_lacks("sacct: error: Connection refused", &lacking) == NULL);
	CHECK(
	    sacct_lacks("Invalid field requested: \"End\"", &lacking) == NULL);
	CHECK(sacct_lacks("Invalid field requested: \"Reservat\"", &lacking) ==
	    NULL);
	CHECK_INT(lacking, 0);
	CHECK_STR(sacct_lacks("sacct: error: Invalid field requested: "
			      "\"Reservation\"\nmore",
		      &lacking),
	    "Reservation");
	CHECK_INT(lacking, 1 << 7);
	CHECK(sacct_lacks("Invalid field requested: \"Reservation\"",
		  &lacking) == NULL);
	sacct_begin(&r, lacking);
	CHECK_INT(r.lacking, lacking);
	CHECK_INT(delimiter_check(r.delimiter), 0);
}

static unsigned runs;

static int
on_step(struct span line, void *arg)
{
	struct job_step step, *sum = arg;

	if (step_row(line, &step) == -1)
		return 0;
	if (step.is_run) {
		runs++;
		return 0;
	}
	sum->job++;
	sum->start += step.start;
	sum->end += step.end;
	return 0;
}

static int
step_of(const char *text, struct job_step *step)
{
	char *copy;
	int rc = step_row(line_new(text, strlen(text), &copy), step);

	free(copy);
	return rc;
}

static void
test_steps(void)
{
	static const char *const none[] = { "", "||||", "||||||||||||",
		".|||||||||||0:0", "x||||1||||2||||0:0", "5.0||||1||||2",
		"5.0||||1||||2||||0:0||||x", "x.0||||1||||2||||0:0",
		"5.0||||x||||2||||0:0", "5.0||||1||||x||||0:0",
		".0||||1||||2||||0:0", "5.0|1|2|0:0",
		"99999999999999999999.0||||1||||2||||0:0" };
	struct job_step s, sum = { 0 };
	size_t i;

	recording_lines("22.05", "steps.txt", on_step, &sum);
	CHECK_INT(sum.job, 3);
	CHECK_INT(runs, 5);
	CHECK_INT(step_of("5||||1||||2||||0:0", &s), 0);
	CHECK(s.is_run && s.job == 5 && s.start == 1 && s.end == 2);
	CHECK_INT(sum.start, 1795282342LL * 2 + 1795282354);
	CHECK_INT(sum.end, 1795282353LL + 1795282345 + 1795282355);
	CHECK_INT(step_of("67108870.batch||||1795282342||||Unknown||||0:0", &s),
	    0);
	CHECK(s.job == 67108870 && s.start == 1795282342 && s.end == 0);
	CHECK_INT(step_of("5.4294967294.0||||1||||2||||1:15", &s), 0);
	CHECK_INT(s.job, 5);
	CHECK_INT(s.has_status, 1);
	CHECK_INT(step_of("5.0||||1||||2||||", &s), 0);
	CHECK_INT(s.has_status, 0);
	for (i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		CHECK_INT(step_of(none[i], &s), -1);
}

int
main(void)
{
	gres_names_set(&names, "[\"gpu\"]");
	test_accounting();
	test_accounting_forged();
	test_lacking();
	test_steps();
	return check_done();
}
