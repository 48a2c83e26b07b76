/* SPDX-License-Identifier: MIT */
/*
 * The messages of the parser to the supervisor.  The test itself is the parser:
 * it is executed under the name "supervisor" and sends the messages that the
 * path of the configuration names.
 */
#include "config.h"

#include <sys/mman.h>
#include <sys/wait.h>

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/ipc/frame.h"
#include "supervisor/config/config_file.h"
#include "supervisor/supervisor.h"
#include "tests/unit/check.h"

#define PARSER_FD 3
#define SEALS	  (F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE)

static struct supervisor sup;
static char result[REASON_MAX]; /* of the parser, "" = success */
static char interval[16];	/* its value of slurmPollInterval */

/* Sends the bytes without a check by the table of messages. */
static void
raw_send(enum msg_type type, const void *payload, size_t len, int pass)
{
	uint8_t bytes[sizeof(struct msg_header) + 64] = { 0 };
	struct msg_header h = { .type = (uint16_t)type,
		.flags = pass != -1 ? MSG_FLAG_FD : 0,
		.length = (uint32_t)len };

	memcpy(bytes, &h, sizeof(h));
	memcpy(bytes + sizeof(h), payload, len);
	if (frame_sendmsg(PARSER_FD, bytes, sizeof(h) + len, pass) == -1)
		_exit(1);
}

static void
secrets_send(enum msg_type type, int seals, size_t len)
{
	int fd = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd == -1 || fcntl(fd, F_ADD_SEALS, seals) == -1)
		_exit(1);
	raw_send(type, "\0", len, fd);
	close(fd);
}

/* source "stream", which needs secrets for the receiver, too. */
static void
source_send(void)
{
	static const uint8_t value[12] = { CONF_SOURCE, 0, 6, 0, 0, 0, 's', 't',
		'r', 'e', 'a', 'm' };

	raw_send(MSG_CONF, value, sizeof(value), -1);
}

/*
 * The parser: its argument selects the messages.  given: what the supervisor
 * says of the configuration in force.
 */
static int
parser(const char *what, const char *given)
{
	static const uint8_t value[8] = { CONF_POLL_INTERVAL, 0, 1, 0, 0, 0,
		'5' };
	static const uint8_t bad[11] = { 0, 0, 0, 0, 2, 0, 0, 0, 'n', 'o' };
	static const uint8_t generation[5];
	const char *number = strchr(what, '+') != NULL ? "+" :
	    strchr(what, '-') != NULL		       ? "-" :
							 "";
	size_t more = *number == '+', less = *number == '-';
	struct writer hello;

	if (strcmp(what, "reload") == 0 &&
	    strcmp(given, "default stream slurm ldap") != 0)
		return 1;
	wr_init(&hello, MSG_PAYLOAD_MAX);
	parser_hello(&hello);
	if (strcmp(what, "other version") == 0)
		hello.buf[0]++;
	if (strcmp(what, "other keys") == 0)
		hello.buf[hello.len - 6]++;
	if (strcmp(what, "no hello") != 0)
		raw_send(MSG_HELLO, hello.buf, hello.len, -1);
	wr_clear(&hello);
	if (strncmp(what, "bad", 3) == 0) {
		raw_send(MSG_CONF_BAD, bad, 10 + more - less, -1);
		return 1;
	}
	raw_send(MSG_CONF, value,
	    strncmp(what, "conf", 4) == 0 ? 7 + more - less : 7, -1);
	if (strcmp(what, "unsealed") == 0)
		secrets_send(MSG_SECRETS, F_SEAL_SHRINK, 0);
	else if (strcmp(what, "no-secrets") != 0)
		secrets_send(MSG_SECRETS, SEALS, strcmp(what, "secrets+") == 0);
	if (strcmp(what, "twice") == 0)
		secrets_send(MSG_SECRETS, SEALS, 0);
	if (strncmp(what, "centre", 6) == 0)
		source_send();
	if (strcmp(what, "centre") == 0 || strcmp(what, "centre twice") == 0)
		secrets_send(MSG_RECEIVER_SECRETS, SEALS, 0);
	if (strcmp(what, "centre twice") == 0)
		secrets_send(MSG_RECEIVER_SECRETS, SEALS, 0);
	if (strcmp(what, "silent") != 0)
		raw_send(MSG_CONF_END, generation,
		    strncmp(what, "end", 3) == 0 ? 4 + more - less : 4, -1);
	return 0;
}

static void
done(struct supervisor *s, struct conf *conf, struct secrets secrets,
    const char *reason)
{
	int with_receiver = conf != NULL && conf_reads_stream(conf);

	snprintf(result, sizeof(result), "%s", reason != NULL ? reason : "");
	if (conf != NULL) {
		snprintf(interval, sizeof(interval), "%s",
		    conf_str(conf, CONF_POLL_INTERVAL));
		conf_clear(conf);
		CHECK(secrets.submitter != -1);
		CHECK_INT(secrets.receiver != -1, with_receiver);
		secrets_close(&secrets);
		CHECK_INT(secrets.receiver, -1);
	}
	CHECK(s->parser == NULL);
	event_base_loopbreak(s->base);
}

/* Runs the parser; its result has want in it, or is "" for success. */
static void
run(const char *what, const char *want)
{
	sup.setup.config_path = what;
	result[0] = interval[0] = '\0';
	CHECK_INT(parser_start(&sup, done), 0);
	event_base_dispatch(sup.base);
	if (*want == '\0')
		CHECK_STR(result, "");
	CHECK(strstr(result, want) != NULL);
	if (strstr(result, want) == NULL)
		fprintf(stderr, "    %s: got \"%s\"\n", what, result);
	CHECK_STR(interval, *want == '\0' ? "5" : "");
	CHECK(wait(NULL) > 0);
}

int
main(int argc, char **argv)
{
	char dir[] = "/tmp/test_parser_process.XXXXXX", path[64], self[4096];
	char given[64] = "";
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (argc >= 3 && strcmp(argv[1], "-parse-config") == 0) {
		if (argc == 9)
			snprintf(given, sizeof(given), "%s %s %s %s", argv[5],
			    argv[6], argv[7], argv[8]);
		return parser(argv[2], given);
	}
	log_init("test", LOG_LEVEL_FATAL);
	CHECK(n > 0 && mkdtemp(dir) != NULL);
	self[n > 0 ? n : 0] = '\0';
	snprintf(path, sizeof(path), "%s/supervisor", dir);
	CHECK_INT(symlink(self, path), 0);
	setup_init(&sup.setup);
	sup.setup.program_dir = dir;
	sup.base = event_base_new();

	run("ok", "");
	run("other version", "another version");
	run("other keys", "another version");
	run("no hello", "another version");
	run("bad", "no");
	run("bad-", "malformed conf-bad");
	run("bad+", "malformed conf-bad");
	run("conf-", "malformed conf");
	run("conf+", "malformed conf");
	run("secrets+", "secrets of 1 bytes: too long");
	run("unsealed", "not sealed");
	run("twice", "twice");
	run("no-secrets", "no secrets");
	run("centre", "");
	run("centre alone", "no secrets");
	run("centre twice", "twice");
	run("end-", "conf-end of 3 bytes: too short");
	run("end+", "conf-end of 5 bytes: too long");
	run("silent", "ended without an answer");

	/* A reload names the values that stay. */
	sup.conf.generation = 1;
	CHECK_INT(conf_set(&sup.conf, CONF_DELIVER, "stream"), 0);
	strcpy(sup.setup.missing_user, "ldap");
	run("reload", "");
	conf_clear(&sup.conf);

	log_pipe_free(sup.parser_log);
	event_base_free(sup.base);
	CHECK_INT(unlink(path), 0);
	CHECK_INT(rmdir(dir), 0);
	return check_done();
}
