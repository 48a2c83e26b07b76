/* SPDX-License-Identifier: MIT */
/*
 * The hook client's parts: its message against the Go client's recorded
 * bytes, its addresses, what it finds in config.json, and how it delivers to
 * a daemon that is well, away, or stopped.
 */
#include "config.h"

#include <arpa/inet.h>

#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "common/conf.h"
#include "hook/hook.h"
#include "tests/unit/check.h"

extern char **environ;

/* The environment of the recorded job; what is not here was not set. */
static const char *const recorded[][2] = {
	{ "SLURM_CLUSTER_NAME", "lab2411" }, { "SLURM_JOB_ACCOUNT", "proja" },
	{ "SLURM_JOB_CPUS_PER_NODE", "2" }, { "SLURM_JOB_DERIVED_EC", "0" },
	{ "SLURM_JOB_END_TIME", "1795246579" }, { "SLURM_JOB_EXIT_CODE", "0" },
	{ "SLURM_JOB_EXIT_CODE2", "0:0" }, { "SLURM_JOB_GID", "2100" },
	{ "SLURM_JOB_GROUP", "hpc" }, { "SLURM_JOB_ID", "10" },
	{ "SLURM_JOB_NODELIST", "n1" }, { "SLURM_JOB_NUM_NODES", "1" },
	{ "SLURM_JOB_OVERSUBSCRIBE", "OK" }, { "SLURM_JOB_PARTITION", "main" },
	{ "SLURM_JOB_RESTART_COUNT", "0" },
	{ "SLURM_JOB_START_TIME", "1795246573" },
	{ "SLURM_JOB_STDIN", "/dev/null" }, { "SLURM_JOB_STDOUT", "/dev/null" },
	{ "SLURM_JOB_UID", "2004" }, { "SLURM_JOB_USER", "carol" },
	{ "SLURM_JOB_WORK_DIR", "/home/carol" },
	{ "SLURM_SCRIPT_CONTEXT", "epilog_slurmctld" },
};

static char message[MESSAGE_MAX];

static void
environment_set(void)
{
	size_t i;

	clearenv();
	for (i = 0; i < sizeof(recorded) / sizeof(recorded[0]); i++)
		setenv(recorded[i][0], recorded[i][1], 1);
}

static void
check_message(const char *dir, const char *name)
{
	char want[4096], path[512];
	size_t n, len;
	FILE *f;

	snprintf(path, sizeof(path), "%s/tests/data/hook/%s", dir, name);
	if ((f = fopen(path, "r")) == NULL) {
		CHECK_STR(path, "readable");
		return;
	}
	n = fread(want, 1, sizeof(want), f);
	fclose(f);
	len = message_write(message, sizeof(message));
	CHECK_INT(len, n);
	CHECK(len == n && memcmp(message, want, n) == 0);
}

static void
test_recorded(const char *dir)
{
	environment_set();
	setenv("SLURM_JOB_NAME", "q\"uo'te\nnl|\xc3\xbc", 1);
	check_message(dir, "quote.json");
	setenv("SLURM_JOB_NAME", "bad\xff\xfe", 1);
	setenv("SLURM_JOB_COMMENT", "caf\xe9 <b>&\xe2\x80\xa8 \x01", 1);
	check_message(dir, "odd.json");
	environment_set();
	setenv("SLURM_JOB_NAME", "q\"uo'te\nnl|\xc3\xbc", 1);
	unsetenv("SLURM_JOB_DERIVED_EC");
	unsetenv("SLURM_JOB_EXIT_CODE");
	unsetenv("SLURM_JOB_EXIT_CODE2");
	setenv("SLURM_JOB_END_TIME", "1795246873", 1);
	setenv("SLURM_SCRIPT_CONTEXT", "prolog_slurmctld", 1);
	check_message(dir, "prolog.json");
}

static void
test_escape(void)
{
	static const struct { const char *value, *want; } cases[] = {
		{ "", "\"\"" },
		{ "\\\b\f\r\t", "\"\\\\\\b\\f\\r\\t\"" },
		{ "\x7f", "\"\x7f\"" },
		{ "\xc0\x80", "\"\\ufffd\\ufffd\"" },
		{ "\xed\xa0\x80", "\"\\ufffd\\ufffd\\ufffd\"" },
		{ "\xf4\x90\x80\x80", "\"\\ufffd\\ufffd\\ufffd\\ufffd\"" },
		{ "\xf0\x9f\x98\x80", "\"\xf0\x9f\x98\x80\"" },
		{ "\xf0\x9f\x98", "\"\\ufffd\\ufffd\\ufffd\"" },
		{ "\xe2\x80\xa9", "\"\\u2029\"" },
		{ "\xe2\x80\xaa", "\"\xe2\x80\xaa\"" },
	};
	char buf[64];
	size_t i, n;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		n = message_escape(buf, sizeof(buf), cases[i].value);
		CHECK_INT(n, strlen(cases[i].want));
		CHECK(memcmp(buf, cases[i].want, n) == 0);
	}
	/* Cut before the character that does not fit. */
	CHECK_INT(message_escape(buf, 5, "ab\xc3\xbc"), 4);
	CHECK_INT(message_escape(buf, 2, "ab"), 2);
}

/* However long the values are, a daemon takes the message. */
static void
test_long(void)
{
	size_t i, len;
	char *huge;

	environment_set();
	huge = malloc(200001);
	memset(huge, '\1', 200000);
	huge[200000] = '\0';
	setenv("SLURM_JOB_COMMENT", huge, 1);
	setenv("SLURM_JOB_NODELIST", huge, 1);
	setenv("CUDA_VISIBLE_DEVICES", huge, 1);
	for (i = 0; i < sizeof(recorded) / sizeof(recorded[0]); i++)
		if (strcmp(recorded[i][0], "SLURM_JOB_ID") != 0 &&
		    strcmp(recorded[i][0], "SLURM_CLUSTER_NAME") != 0)
			setenv(recorded[i][0], huge, 1);
	len = message_write(message, sizeof(message));
	CHECK(len > 10000 && len <= sizeof(message));
	CHECK(message[len - 1] == '}');
	message[len - 1] = '\0';
	CHECK(strstr(message, "\"SLURM_JOB_ID\":\"10\"") != NULL);
	CHECK(strstr(message, "\"SLURM_CLUSTER_NAME\":\"lab2411\"") != NULL);
	CHECK(strstr(message, ",\"SLURM_WCKEY\":\"\"") != NULL);
	free(huge);
	environment_set();
}

static void
check_tcp(const char *text, const char *want, int port)
{
	struct address a;
	char buf[64] = "";

	CHECK_STR(address_parse(text, &a), NULL);
	if (a.to.sa.sa_family == AF_INET) {
		CHECK_INT(ntohs(a.to.in.sin_port), port);
		inet_ntop(AF_INET, &a.to.in.sin_addr, buf, sizeof(buf));
	} else {
		CHECK_INT(ntohs(a.to.in6.sin6_port), port);
		inet_ntop(AF_INET6, &a.to.in6.sin6_addr, buf, sizeof(buf));
	}
	CHECK_STR(buf, want);
}

static void
test_addresses(void)
{
	static const char *const bad[] = { "", "unix:", "tcp:", "tcp:5",
		"tcp::", "tcp::0", "tcp::65536", "tcp:127.0.0.1:5x",
		"tcp:::1:5", "tcp:[::1]", "tcp:[nonsense]:5" };
	struct address a;
	char path[200];
	size_t i;

	check_tcp("tcp:1.2.3.4:5", "1.2.3.4", 5);
	check_tcp("tcp:[::1]:65535", "::1", 65535);
	check_tcp("tcp:[::]:8260", "::", 8260);
	check_tcp("tcp::8260", "127.0.0.1", 8260);
	check_tcp("tcp:localhost:8260", "127.0.0.1", 8260);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CHECK(address_parse(bad[i], &a) != NULL);
	CHECK_STR(address_parse("unix:/run/x", &a), NULL);
	CHECK_STR(a.to.un.sun_path, "/run/x");
	CHECK_STR(address_parse("/run/y", &a), NULL);
	CHECK_STR(a.to.un.sun_path, "/run/y");
	CHECK_STR(address_parse("@z", &a), NULL);
	CHECK(a.to.un.sun_path[0] == '\0' && a.to.un.sun_path[1] == 'z');
	CHECK_INT(a.len, offsetof(struct sockaddr_un, sun_path) + 2);
	memset(path, 'a', sizeof(path) - 1);
	path[sizeof(path) - 1] = '\0';
	CHECK(address_parse(path, &a) != NULL);
}

static void
test_config(void)
{
	static const struct { const char *text, *want; } cases[] = {
		{ "{\"prepSockConnectPath\":\"/a\"}", "/a" },
		{ " { \"x\" : [1,{\"prepSockConnectPath\":\"/no\"}], "
		    "\"prepSockConnectPath\" : \"tcp:[::1]:5\" } ",
		    "tcp:[::1]:5" },
		{ "{\"a\":\"}\\\"\",\"prepSockConnectPath\":\"\\/b\\\\\"}",
		    "/b\\" },
		{ "{\"prepSockConnectPath\":\"/a\",\"b\":tru", "/a" },
		{ "{\"prepSockConnectPath\":\"/a\",\"prepSockConnectPath\""
		    ":\"/b\"}", "/b" },
		{ "{\"b\":1,\"prepSockConnectPath\":5}", NULL },
		{ "{\"prepSockConnectPath\":\"\"}", NULL },
		{ "{\"prepSockConnectPath\":\"/a", NULL },
		{ "{\"prepSockConnectPath\":\"\\u0041\"}", "A" },
		{ "[\"prepSockConnectPath\",\"/a\"]", NULL },
		{ "", NULL }, { "{", NULL }, { "{}", NULL }, { "{,}", NULL },
		{ "{\"a\"", NULL }, { "{\"a\":", NULL }, { "{\"a\":[", NULL },
	};
	char buf[64];
	size_t i;
	int found;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		found = config_find_socket(cases[i].text, strlen(cases[i].text),
		    buf, sizeof(buf));
		CHECK_STR(found ? buf : NULL, cases[i].want);
	}
	CHECK_INT(config_find_socket("{\"prepSockConnectPath\":\"/abc\"}", 30,
	    buf, 4), 0);
	CHECK_INT(config_read_socket("/nonexistent", buf, sizeof(buf)), 0);
	CHECK_INT(config_read_socket("/dev", buf, sizeof(buf)), 0);
	CHECK_STR(HOOK_SOCKET, conf_rule(CONF_PREP_CONNECT)->def);
}

static long
elapsed_ms(const struct timespec *since)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (now.tv_sec - since->tv_sec) * 1000 +
	    (now.tv_nsec - since->tv_nsec) / 1000000;
}

static void
test_deliver(void)
{
	char folder[] = "/tmp/test_hook.XXXXXX", path[64], buf[16];
	struct timespec since;
	struct address a;
	int fd, i, in;

	if (mkdtemp(folder) == NULL)
		return;
	snprintf(path, sizeof(path), "%s/sock", folder);
	CHECK_STR(address_parse(path, &a), NULL);
	CHECK_INT(message_send(&a, "x", 1), -1);
	CHECK_INT(errno, ENOENT);
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	CHECK_INT(bind(fd, &a.to.sa, a.len), 0);
	CHECK_INT(message_send(&a, "x", 1), -1);
	CHECK_INT(errno, ECONNREFUSED);
	/* It listens and does nothing more: the kernel keeps the message. */
	CHECK_INT(listen(fd, 0), 0);
	CHECK_INT(message_send(&a, "hello", 5), 0);
	/* Its queue is full: in vain, but in time. */
	for (i = 0; i < 3; i++) {
		clock_gettime(CLOCK_MONOTONIC, &since);
		if (message_send(&a, message, sizeof(message)) == -1)
			break;
	}
	CHECK(i < 3);
	CHECK_INT(errno, EAGAIN);
	CHECK(elapsed_ms(&since) <= HOOK_TRY_MS + 50);
	in = accept(fd, NULL, NULL);
	CHECK_INT(read(in, buf, sizeof(buf)), 5);
	CHECK(memcmp(buf, "hello", 5) == 0);
	CHECK_INT(read(in, buf, sizeof(buf)), 0);
	close(in);
	close(fd);
	unlink(path);
	rmdir(folder);
}

int
main(void)
{
	const char *srcdir = getenv("srcdir");
	char dir[256];

	/* Copied, for the environment will be cleared. */
	snprintf(dir, sizeof(dir), "%s", srcdir != NULL ? srcdir : ".");
	test_recorded(dir);
	test_escape();
	test_long();
	test_addresses();
	test_config();
	test_deliver();
	return check_done();
}
