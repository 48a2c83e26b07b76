/* SPDX-License-Identifier: MIT */
/* Codec, message table, run records, texts, configuration values, slate. */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/conf.h"
#include "common/ctl.h"
#include "common/job.h"
#include "common/msg.h"
#include "common/text.h"
#include "common/worker/inflight.h"
#include "tests/unit/check.h"

static void
test_codec(void)
{
	struct writer w;
	struct reader r;
	char name[8], *s;

	wr_init(&w, 64);
	wr_u8(&w, 7);
	wr_u64(&w, UINT64_MAX);
	wr_i64(&w, -5);
	wr_str(&w, "alpha");
	wr_str(&w, NULL);
	CHECK(wr_end(&w) == 0);
	rd_init(&r, w.buf, w.len);
	CHECK_INT(rd_u8(&r), 7);
	CHECK(rd_u64(&r) == UINT64_MAX);
	CHECK_INT(rd_i64(&r), -5);
	rd_name(&r, name, sizeof(name));
	CHECK_STR(name, "alpha");
	s = rd_strdup(&r, 10);
	CHECK_STR(s, "");
	free(s);
	CHECK(rd_end(&r) == 0);
	rd_u8(&r);
	CHECK(rd_end(&r) == -1);

	/* A name that does not fit, a text too long, a NUL inside. */
	rd_init(&r, w.buf + 17, w.len - 17);
	rd_name(&r, name, 5);
	CHECK(r.err && name[0] == '\0');
	rd_init(&r, w.buf + 17, w.len - 17);
	CHECK(rd_strdup(&r, 4) == NULL && r.err);
	rd_init(&r, "\3\0\0\0a\0b", 7);
	rd_name(&r, name, sizeof(name));
	CHECK(r.err);

	wr_mem(&w, "0123456789012345678901234567890123456789", 40);
	CHECK(wr_end(&w) == -1);
	wr_clear(&w);
}

static void
test_table(void)
{
	struct msg_header h = { MSG_EVENT, 0, 30, 0 };
	unsigned type;

	CHECK(msg_check(&h, ROLE_LISTENER, ROLE_COLLECTOR) == NULL);
	CHECK(msg_check(&h, ROLE_COLLECTOR, ROLE_LISTENER) != NULL);
	CHECK(msg_check(&h, ROLE_LISTENER, ROLE_SUBMITTER) != NULL);
	h.length = 28;
	CHECK(msg_check(&h, ROLE_LISTENER, ROLE_COLLECTOR) != NULL);
	h.length = 10000;
	CHECK(msg_check(&h, ROLE_LISTENER, ROLE_COLLECTOR) != NULL);
	h.length = 30;
	h.flags = MSG_FLAG_FD;
	CHECK(msg_check(&h, ROLE_LISTENER, ROLE_COLLECTOR) != NULL);
	h.type = MSG__COUNT;
	CHECK(msg_check(&h, ROLE_LISTENER, ROLE_COLLECTOR) != NULL);
	/* Every message has its row. */
	for (type = 0; type < MSG__COUNT; type++)
		CHECK(msg_name(type) != NULL);
}

static void
job_example(struct job *j)
{
	struct job_host *h;

	job_init(j);
	strcpy(j->key.cluster, "alpha");
	j->key.job = 4711;
	j->key.start = 1790000000;
	j->flags = JOB_HAS_START;
	j->user = strdup("u1");
	j->nodes = 2;
	h = job_add_host(j, "n1");
	job_host_add_cpus(h, 0, 3);
	job_host_add_cpus(h, 8, 11);
	job_host_add_accel(h, "00000000:C1:00.0");
	job_add_host(j, "n2");
}

static void
test_record(void)
{
	struct job a, b;
	struct writer w;
	struct reader r;
	size_t cut;

	job_example(&a);
	wr_init(&w, MSG_PAYLOAD_MAX);
	job_write(&w, &a);
	CHECK(wr_end(&w) == 0);
	rd_init(&r, w.buf, w.len);
	job_init(&b);
	job_read(&r, &b);
	CHECK(rd_end(&r) == 0);
	CHECK(run_key_equal(&a.key, &b.key));
	CHECK_STR(b.user, "u1");
	CHECK(b.account == NULL);
	CHECK_INT(b.n_hosts, 2);
	CHECK_INT(b.hosts[0].cpus[1].last, 11);
	CHECK_STR(b.hosts[0].accels[0], "00000000:C1:00.0");
	CHECK_INT(b.exit_code, -1);
	job_clear(&b);

	/* Cut anywhere, it is an error and nothing leaks or crashes. */
	for (cut = 0; cut < w.len; cut++) {
		rd_init(&r, w.buf, cut);
		job_init(&b);
		job_read(&r, &b);
		CHECK(rd_end(&r) == -1);
		job_clear(&b);
	}
	wr_clear(&w);
	job_clear(&a);
}

static void
test_merge(void)
{
	struct job a, b;

	job_example(&a);
	a.flags |= JOB_HAS_THREADS | JOB_HAS_ACCELS | JOB_MORE;
	job_example(&b);
	b.script = strdup("#!/bin/sh\n");
	b.end = 1790000060;
	b.state = END_FAILED;
	b.exit_code = 256;
	CHECK_INT(job_merge(&a, &b), 1);
	CHECK_INT(a.state, END_FAILED);
	CHECK_STR(a.script, "#!/bin/sh\n");
	CHECK(a.hosts[0].n_cpus == 2);
	CHECK((a.flags & JOB_MORE) == 0);
	/* A final state stays. */
	b.end = 1790000999;
	b.state = END_COMPLETED;
	CHECK_INT(job_merge(&a, &b), 0);
	CHECK_INT(a.end, 1790000060);
	job_clear(&b);

	/* Counts only, then the threads are learnt. */
	job_clear(&a);
	job_example(&a);
	a.message = strdup("no threads known");
	job_example(&b);
	b.flags |= JOB_HAS_THREADS;
	CHECK_INT(job_merge(&a, &b), 1);
	CHECK(a.flags & JOB_HAS_THREADS);
	CHECK(a.message == NULL);
	/* Their absence later changes nothing. */
	job_clear(&b);
	job_example(&b);
	CHECK_INT(job_merge(&a, &b), 0);
	CHECK(a.flags & JOB_HAS_THREADS);
	job_clear(&a);
	job_clear(&b);
}

static void
check_clean(const char *in, size_t n, size_t max, const char *want)
{
	char *got = text_clean(in, n, max);

	CHECK_STR(got, want);
	CHECK(got != NULL && text_is_clean(got, strlen(got)));
	free(got);
}

static void
test_text(void)
{
	char buf[16];

	check_clean("plain", 5, 100, "plain");
	check_clean("j\xc3\xb6" "b", 4, 100, "j\xc3\xb6" "b");
	check_clean("bad\xff\xfe", 5, 100, "bad\xef\xbf\xbd\xef\xbf\xbd");
	check_clean("\xed\xa0\x80", 3, 100,
	    "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
	check_clean("\xc0\xaf", 2, 100, "\xef\xbf\xbd\xef\xbf\xbd");
	check_clean("\xf0\x9f\x9a", 3, 100,
	    "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
	check_clean("a\x1b[31m\n\tb\0c", 11, 100, "a\\x1b[31m\n\tb\\x00c");
	check_clean("a\xc2\x9b" "31m\xc2\xa0", 8, 100, "a\\u009b31m\xc2\xa0");
	check_clean("0123456789abcdef", 16, 12, "0123\xe2\x80\xa6[cut]");
	check_clean("0123456789ab", 12, 12, "0123456789ab");
	check_clean("", 0, 12, "");
	CHECK_STR(text_vis("a\nb", buf, sizeof(buf)), "a\\nb");
	CHECK_STR(text_vis("0123456789abcdefghi", buf, sizeof(buf)),
	    "0123456789ab...");
}

static void
test_conf(void)
{
	struct conf c;
	char item[16];
	struct writer w;
	struct reader r;

	conf_init(&c);
	CHECK_INT(conf_int(&c, CONF_POLL_INTERVAL), 60);
	CHECK_INT(conf_bool(&c, CONF_CC_REST_SUBMIT), 1);
	CHECK_STR(conf_rule(CONF_PREP_LISTEN)->name, "prepSockListenPath");
	wr_init(&w, 1000);
	conf_write(&w, CONF_POLL_INTERVAL, "5");
	rd_init(&r, w.buf, w.len);
	conf_read(&r, &c);
	CHECK(rd_end(&r) == 0);
	CHECK_INT(conf_int(&c, CONF_POLL_INTERVAL), 5);
	rd_init(&r, w.buf, w.len - 1);
	conf_read(&r, &c);
	CHECK(r.err);
	wr_clear(&w);
	conf_clear(&c);

	CHECK_INT(conf_list_item("[\"a\", \"b\\\"c\"]", 0, item, 16), 1);
	CHECK_STR(item, "a");
	CHECK_INT(conf_list_item("[\"a\", \"b\\\"c\"]", 1, item, 16), 1);
	CHECK_STR(item, "b\"c");
	CHECK_INT(conf_list_item("[\"a\", \"b\\\"c\"]", 2, item, 16), 0);
	CHECK_INT(conf_list_item("[]", 0, item, 16), 0);
	CHECK_INT(conf_list_item("[\"abc\"]", 0, item, 3), -1);
	CHECK_INT(conf_list_item("[\"abc", 0, item, 16), 0);
}

static void
test_secrets(void)
{
	struct writer w;
	const uint8_t *p;
	size_t n;

	wr_init(&w, CONF_SECRETS_MAX);
	wr_u16(&w, CONF_CC_REST_JWT);
	wr_blob(&w, "token", 5);
	wr_u16(&w, CONF_NATS_USER);
	wr_blob(&w, "me", 2);
	p = conf_secret(w.buf, w.len, CONF_NATS_USER, &n);
	CHECK(p != NULL && n == 2 && memcmp(p, "me", 2) == 0);
	CHECK(conf_secret(w.buf, w.len, CONF_NATS_PASSWORD, &n) == NULL);
	CHECK(conf_secret(w.buf, w.len - 1, CONF_NATS_USER, &n) == NULL);
	CHECK(conf_secret(NULL, 0, CONF_NATS_USER, &n) == NULL);
	wr_clear(&w);
}

static void
test_slate(void)
{
	struct run_key key = { "alpha", 4711, 1790000000 }, got;
	struct inflight *ours, *theirs;
	int fd;

	ours = inflight_new(&fd);
	CHECK(ours != NULL);
	theirs = inflight_map(fd);
	CHECK(theirs != NULL);
	CHECK_INT(inflight_read(ours, &got), 0);
	inflight_set(theirs, &key);
	CHECK_INT(inflight_read(ours, &got), 1);
	CHECK(run_key_equal(&key, &got));
	inflight_clear(theirs);
	CHECK_INT(inflight_read(ours, &got), 0);
	inflight_free(ours);
	inflight_free(theirs);
}

static void
test_ctl(void)
{
	struct ctl_request q = { .magic = CTL_MAGIC, .version = CTL_VERSION };
	struct writer w;

	CHECK(ctl_request_check(&q) == NULL);
	memset(q.text, 'x', sizeof(q.text));
	CHECK(ctl_request_check(&q) != NULL);
	q.text[0] = '\0';
	q.verb = CTL__COUNT;
	CHECK(ctl_request_check(&q) != NULL);
	wr_init(&w, 100);
	ctl_row(&w, CTL_T_STATUS, "collector", "pid", "1", NULL);
	CHECK_INT(w.len, 2 + 3 * 4 + 9 + 3 + 1);
	wr_clear(&w);
	CHECK(ctl_columns(CTL_T__COUNT) == NULL);
}

int
main(void)
{
	test_codec();
	test_table();
	test_record();
	test_merge();
	test_text();
	test_conf();
	test_secrets();
	test_slate();
	test_ctl();
	return check_done();
}
