/* SPDX-License-Identifier: MIT */
/* The parser of config.json, in a child process as in the supervisor. */
#include "config.h"

#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/ipc/channel.h"
#include "common/log.h"
#include "common/model/job.h"
#include "supervisor/config/config_file.h"
#include "tests/unit/check.h"

#define WAIT_MS 60000 /* only a failure reaches it */
#define TOKEN	"eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiJhcGkifQ.c2lnbmF0dXJl"
#define URL	"\"ccRestUrl\": \"https://h.example\", "
#define MINIMAL "{ " URL "\"ccRestJwt\": \"t\" "

/* The messages and the log of one child. */
struct outcome {
	int status; /* what parser_run returned, 0..255 */
	struct conf conf;
	char reason[CONF_REASON_MAX];
	char log[16384];
	uint8_t *secrets; /* owned */
	size_t n_secrets;
	uint8_t *receiver; /* owned; NULL = no memfd */
	size_t n_receiver;
	int seals;
	int ended; /* conf-end was received */
};

/* Without NATS, natsServer is an error. */
#ifdef HAVE_NATS
#define NATS_SERVER "\"natsServer\": \"n\", "
#else
#define NATS_SERVER ""
#endif

static char folder[] = "/tmp/test_config_file.XXXXXX";
static char file[128];
static struct in_force *in_force; /* for parser_run() */

static const char *
in_folder(const char *name)
{
	static char path[4][128];
	static int turn;

	turn = (turn + 1) % 4;
	snprintf(path[turn], sizeof(path[turn]), "%s/%s", folder, name);
	return path[turn];
}

static void
write_file(const char *path, const char *text, size_t n, mode_t mode)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	CHECK(fd != -1 && write(fd, text, n) == (ssize_t)n);
	CHECK(fchmod(fd, mode) == 0);
	close(fd);
}

static void
keep_secrets(struct outcome *o, uint8_t **to, size_t *n, int fd)
{
	struct stat st;

	o->seals = fcntl(fd, F_GET_SEALS);
	CHECK(fstat(fd, &st) == 0);
	*n = (size_t)st.st_size;
	*to = malloc(*n + 1);
	CHECK(*to != NULL && pread(fd, *to, *n, 0) == (ssize_t)*n);
	close(fd);
}

static void
hear(struct outcome *o, int fd)
{
	struct msg_header h;
	struct reader r;
	uint8_t *payload;
	int passed;

	while (frame_read(fd, ROLE_SUPERVISOR, ROLE_PARSER, &h, &payload,
		   &passed, WAIT_MS) == 0) {
		rd_init(&r, payload, h.length);
		if (h.type == MSG_CONF)
			conf_read(&r, &o->conf);
		else if (h.type == MSG_SECRETS)
			keep_secrets(o, &o->secrets, &o->n_secrets, passed);
		else if (h.type == MSG_RECEIVER_SECRETS)
			keep_secrets(o, &o->receiver, &o->n_receiver, passed);
		else if (h.type == MSG_CONF_BAD) {
			rd_u32(&r);
			rd_name(&r, o->reason, sizeof(o->reason));
		} else if (h.type == MSG_CONF_END)
			o->ended = 1;
		CHECK(!r.err);
		free(payload);
	}
}

static void
run(struct outcome *o, const char *path, int explicit_path)
{
	int fds[2], status,
	    log = open(in_folder("log"), O_RDWR | O_CREAT | O_TRUNC, 0600);
	ssize_t n;
	pid_t pid;

	memset(o, 0, sizeof(*o));
	CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, fds) == 0);
	pid = fork();
	if (pid == 0) {
		close(fds[0]);
		/* valgrind refuses a limit of descriptors: not in the log. */
		if (check_on_valgrind())
			parser_limits();
		dup2(log, STDERR_FILENO);
		log_init("parser", LOG_LEVEL_INFO);
		if (!check_on_valgrind())
			parser_confine(fds[1]);
		_exit(parser_run(path, explicit_path, in_force, fds[1]) & 0xff);
	}
	close(fds[1]);
	hear(o, fds[0]);
	close(fds[0]);
	CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status));
	o->status = WEXITSTATUS(status);
	n = pread(log, o->log, sizeof(o->log) - 1, 0);
	o->log[n > 0 ? n : 0] = '\0';
	close(log);
}

static void
run_text(struct outcome *o, const char *text)
{
	write_file(file, text, strlen(text), 0600);
	run(o, file, 1);
}

static void
forget(struct outcome *o)
{
	conf_clear(&o->conf);
	free(o->secrets);
	free(o->receiver);
}

static void
check_secret(const struct outcome *o, enum conf_key key, const char *want)
{
	const uint8_t *p;
	char text[256];
	size_t n;

	p = conf_secret(o->secrets, o->n_secrets, key, &n);
	snprintf(text, sizeof(text), "%.*s", (int)n,
	    p != NULL ? (const char *)p : "");
	CHECK_STR(text, want);
}

static void
test_go_file(const char *source)
{
	char path[512];
	struct outcome o;

	snprintf(path, sizeof(path), "%s/tests/data/conf/go.json", source);
	run(&o, path, 1);
#ifndef HAVE_NATS
	CHECK_INT(o.status, 1);
	CHECK(strstr(o.reason,
		  "natsServer: this program was built without "
		  "NATS") != NULL);
	forget(&o);
	return;
#endif
	CHECK_INT(o.status, 0);
	CHECK_INT(o.ended, 1);
	CHECK_STR(o.reason, "");
	CHECK_INT(conf_int(&o.conf, CONF_POLL_INTERVAL), 30);
	CHECK_INT(conf_int(&o.conf, CONF_QUERY_MAX_RETRIES), 5);
	CHECK(o.conf.values[CONF_PID_FILE] == NULL);
	CHECK(o.conf.values[CONF_CC_REST_JWT] == NULL);
	CHECK_STR(conf_str(&o.conf, CONF_GPU_PCI_ADDRS),
	    "{\"^n3$\":[\"00000000:0A:00.0\",\"00000000:1B:00.0\"],"
	    "\"^a[0-9]+$\":[\"00000000:21:00.0\"]}");
	check_secret(&o, CONF_CC_REST_JWT, TOKEN);
	check_secret(&o, CONF_NATS_PASSWORD, "open \"sesame\"");
	check_secret(&o, CONF_NATS_TOKEN, "");
	CHECK_INT(o.seals,
	    F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL);
	CHECK(strstr(o.log, TOKEN) == NULL && strstr(o.log, "sesame") == NULL);
	forget(&o);
}

/* The example has every key; only the token is missing. */
static void
test_example(const char *source)
{
	char path[512], *text;
	unsigned mode, owner;
	const char *why;
	struct outcome o;
	size_t n;

	/* The source tree may belong to any user. */
	snprintf(path, sizeof(path), "%s/etc/config.json.example", source);
	text = conf_file_read(path, CONF_FILE_MAX, &n, &mode, &owner, &why);
	CHECK(text != NULL);
	run_text(&o, text);
	free(text);
	CHECK_INT(conf_bool(&o.conf, CONF_STRICT_MODES), 1);
	CHECK_INT(o.status, 0);
	CHECK_STR(o.reason, "");
	CHECK(strstr(o.log, "ccRestJwt: is not set") != NULL);
	CHECK(strstr(o.log, "unknown") == NULL);
	CHECK(strstr(o.log, "holds secrets") == NULL);
	CHECK(o.conf.values[CONF_SUBMITTER_USER] == NULL);
	forget(&o);
}

static void
test_wrong_file(const char *source)
{
	static const char *const said[] = {
		"wrong.json:2: ccRestUrl: must begin with https:// or http://, is \"cc-backend.example\"",
		"wrong.json:3: slurmPollInterval: must be a whole number of seconds from 1 to 86400, is \"abc\"",
		"wrong.json:4: slurmPolInterval: unknown key, ignored; probably slurmPollInterval is meant",
		"wrong.json:5: ipcSockPath: was removed and has no effect; prepSockListenPath is",
		"wrong.json:6: natsPort: must be a whole number from 1 to 65535, is 70000",
		"wrong.json:7: CCPOLLINTERVAL: read as ccPollInterval",
		"wrong.json:9: gpuPciAddrs: ^n1$: must be a list",
		"wrong.json:10: gpuPciAddrs: ^n2$: GPU 1 must be a string like \"00000000:C1:00.0\", is 7",
		"wrong.json:13: natsSubject: given again, first on line 12; the last value is used",
		"wrong.json:14: ccRestJwt: must be a string\n",
		"wrong.json:15: ccRestSubmitJobs: must be true or false, is \"yes\"",
		"wrong.json:16: cpuMap: ^n: thread id 1 is in the list twice",
		"wrong.json:17: prepSockListenPath: must be an absolute path of at most 107 bytes, unix:PATH, tcp:",
		"wrong.json:18: prepAllowedHosts: item 2 must be an IP address or a network (192.0.2.0/24), is \"n1\"",
		"wrong.json:19: xyz: unknown key, ignored\n",
		"wrong.json:20: slurmSource: the key has no effect; Slurm's text output is read in every version; remove the key\n",
	};
	char path[512];
	struct outcome o;
	size_t i;

	snprintf(path, sizeof(path), "%s/tests/data/conf/wrong.json", source);
	run(&o, path, 1);
	CHECK_INT(o.status, 1);
	CHECK_INT(o.ended, 0);
	CHECK(strstr(o.reason, said[0]) != NULL);
	for (i = 0; i < sizeof(said) / sizeof(said[0]); i++)
		if (strstr(o.log, said[i]) == NULL) {
			CHECK_STR(said[i], "in the log");
			fprintf(stderr, "%s", o.log);
		}
	forget(&o);
}

/* Texts and their error or warning; NULL: none. */
static const struct {
	const char *text;
	const char *reason; /* of the refusal */
	const char *warning;
} cases[] = {
	{ MINIMAL "}", NULL, NULL },
	{ "{}", "config.json: ccRestUrl: is not set: no job can be sent",
	    NULL },
	{ "", "not valid JSON", NULL },
	{ "[]", "must be one JSON object", NULL },
	{ "{ " URL "\"ccRestJwt\": \"hush\" \"x\": 1 }",
	    "line 1, column 59: not valid JSON: '}' expected", NULL },
	{ MINIMAL "} x", "not valid JSON: end of file expected", NULL },
	{ "{ " URL "\"ccRestJwt\": \"hush hush\" }", "must have no blanks",
	    NULL },
	{ "{ " URL "\"ccRestJwt\": \"hush\\n\" }",
	    "must have no control characters", NULL },
	{ "{ " URL "\"ccRestJwt\": \"\" }", NULL, "ccRestJwt: is not set" },
	{ MINIMAL ", \"slurmPollInterval\": null }", NULL, NULL },
	/* The Go adapter accepts these. */
	{ MINIMAL ", \"slurmPollInterval\": 0 }", NULL,
	    "slurmPollInterval: is less than 1: 1 is used" },
	{ MINIMAL ", \"slurmQueryDelay\": -1 }", NULL,
	    "slurmQueryDelay: is less than 0: 1 is used" },
	{ MINIMAL ", \"natsServer\": \"\", \"natsPort\": 0, "
		  "\"natsSubject\": \"\", \"natsUser\": \"\" }",
	    NULL, NULL },
	{ MINIMAL ", \"natsPort\": 0, \"natsServer\": \"n\" }",
	    "natsPort: must be a whole number from 1 to 65535, is 0", NULL },
	{ MINIMAL ", \"natsSubject\": \"\", \"NatsServer\": \"n\" }",
	    "natsSubject: must not be empty",
	    "NatsServer: read as natsServer" },
	{ MINIMAL ", \"natsPort\": 70000 }", "from 1 to 65535, is 70000",
	    NULL },
	{ MINIMAL ", \"natsPort\": \"\" }", "from 1 to 65535, is", NULL },
	{ MINIMAL ", \"prepSockListenPath\": \"TCP:127.0.0.1:5\", "
		  "\"prepSockConnectPath\": \"Tcp:127.0.0.1:5\" }",
	    NULL, NULL },
	{ MINIMAL ", \"slurmPollInterval\": 86401 }",
	    "from 1 to 86400, is 86401", NULL },
	{ MINIMAL ", \"slurmPollInterval\": 1.5 }", "is 1.5", NULL },
	{ MINIMAL ", \"slurmPollInterval\": 1e2 }", "is 100", NULL },
	{ MINIMAL ", \"slurmPollInterval\": 99999999999999999999 }",
	    "too big integer", NULL },
	{ MINIMAL ", \"slurmQueryMaxSpan\": 60, \"slurmPollInterval\": 61 }",
	    "must not be less than slurmPollInterval", NULL },
	{ MINIMAL ", \"slurmMaxRetries\": 3, \"slurmQueryMaxRetries\": 4 }",
	    NULL,
	    "slurmMaxRetries: ignored; slurmQueryMaxRetries is given, too" },
	{ MINIMAL ", \"cc_rest_ur\": 3 }", NULL, "probably ccRestUrl" },
	{ MINIMAL ", \"natsPass\": \"x\" }", NULL, "probably natsPassword" },
	{ MINIMAL ", \"a\\u0007b\": 1 }", NULL, "a\\x07b: unknown key" },
	{ "{ \"ccRestUrl\": \"http://h.example\", \"ccRestJwt\": \"t\" }", NULL,
	    "http to another host: the token" },
	{ "{ \"ccRestUrl\": \"http://127.0.0.1:8080\", \"ccRestJwt\": \"t\" }",
	    NULL, NULL },
	{ "{ \"ccRestUrl\": \"http://[::1]:8080/x\", \"ccRestJwt\": \"t\" }",
	    NULL, NULL },
	{ "{ \"ccRestUrl\": \"https://127.0.0.1@h\", \"ccRestJwt\": \"t\" }",
	    "ccRestUrl: must not contain a user or password", NULL },
	{ "{ \"ccRestUrl\": \"http://u:p@127.0.0.1\", \"ccRestJwt\": \"t\", "
	  "\"ccRestSubmitJobs\": false }",
	    NULL, "has a password in it, which is not kept secret" },
	{ "{ \"ccRestUrl\": \"https://h/a@b\", \"ccRestJwt\": \"t\" }", NULL,
	    NULL },
	{ "{ \"ccRestUrl\": \"ftp://h\" }", "must begin with https://", NULL },
	{ "{ \"ccRestUrl\": \"u:hush@h\" }",
	    "https:// or http://, is a text with @, which is not shown", NULL },
	{ MINIMAL ", \"natsServer\": \"u:hush<@h\" }",
	    "separated by commas, is a text with @", NULL },
	{ "{ \"ccRestUrl\": \"https:///x\" }", "must have a host", NULL },
	{ "{ \"ccRestUrl\": \"https://h/?x\" }", "must have no blank", NULL },
	{ "{ \"ccRestSubmitJobs\": false }", NULL, "no job will be reported" },
	{ "{ \"ccRestSubmitJobs\": 0 }", "must be true or false, is 0", NULL },
	{ MINIMAL ", \"pidFilePath\": \"\" }", "must not be empty", NULL },
	{ MINIMAL ", \"pidFilePath\": \"x\" }", "must be an absolute path",
	    NULL },
	{ MINIMAL ", \"pidFilePath\": [1] }", "must be a string, is a list",
	    NULL },
	{ MINIMAL ", \"sandbox\": \"on\" }",
	    "must be one of enforce log off, is \"on\"", NULL },
	{ MINIMAL ", \"ccBackendVersion\": \"1.4.4\" }", NULL, NULL },
	{ MINIMAL ", \"ccBackendVersion\": \"1.2\" }", "must be auto", NULL },
	{ MINIMAL ", \"ccBackendVersion\": \"1.4.x\" }", "must be auto", NULL },
	{ MINIMAL ", \"metaDataFields\": [ \"jobName\" ] }", NULL, NULL },
	{ MINIMAL ", \"metaDataFields\": [ \"jobname\" ] }",
	    "must be one of jobName jobScript", NULL },
	{ MINIMAL ", \"ctlUsers\": [ \"a\", 1 ] }", "item 2 is 1", NULL },
	{ MINIMAL ", \"ctlUsers\": \"a\" }", "must be a list of strings",
	    NULL },
	{ MINIMAL ", \"gpuPciAddrs\": [] }", "must be an object", NULL },
	{ MINIMAL ", \"gpuPciAddrs\": { \"n\": [ \"GPU-1\" ] } }", NULL,
	    "gpuPciAddrs: n: GPU 0 is \"GPU-1\", not like" },
	{ MINIMAL ", \"gpuPciAddrs\": { \"n(1\": { \"1\": \"81:00.0\" } } }",
	    NULL, NULL },
	{ MINIMAL ", \"gpuPciAddrs\": { \"n\": { \"one\": \"81:00.0\" } } }",
	    "gpuPciAddrs: n: \"one\" is not the number of a GPU", NULL },
	{ MINIMAL ", \"gpuPciAddrs\": { \"n\": { \"1024\": \"81:00.0\" } } }",
	    "gpuPciAddrs: n: \"1024\" is not the number of a GPU", NULL },
	{ MINIMAL ", \"gpuPciAddrs\": { \"n\": { \"3\": 7 } } }",
	    "gpuPciAddrs: n: GPU 3 must be a string", NULL },
	{ MINIMAL ", \"gpuPciAddrs\": { \"n\": { \"3\": \"81:00.0\", "
		  "\"4\": \"81:00.0\" } } }",
	    NULL, "gpuPciAddrs: n: GPU 4, \"81:00.0\", is in the list twice" },
	{ MINIMAL ", \"ignoreHosts\": \"^login[0-9\" }",
	    "ignoreHosts: is not a valid pattern: missing terminating ]",
	    NULL },
	{ MINIMAL ", \"gpuPciAddrs\": { \"a(\": [] } }",
	    "gpuPciAddrs: a(: is not a valid pattern: missing closing parenthesis",
	    NULL },
	{ MINIMAL ", \"cpuMap\": { \"n\": \"block\", \"m\": \"zigzag\" } }",
	    "cpuMap: m: must be \"block\"", NULL },
	{ MINIMAL
	    ", \"tags\": [ { \"type\": \"q\", \"name\": \"n\", \"scope\": \"admin\","
	    " \"when\": { \"partition\": \"^a\", \"reservation\": \".\" } } ] }",
	    NULL, NULL },
	{ MINIMAL ", \"tags\": {} }",
	    "tags: must be a list of at most 64 rules", NULL },
	{ MINIMAL ", \"tags\": [ 7 ] }", "tags: item 1: must be an object",
	    NULL },
	{ MINIMAL ", \"tags\": [ { \"type\": \"q\" } ] }",
	    "tags: item 1: has no name", NULL },
	{ MINIMAL ", \"tags\": [ { \"type\": \"q\", \"name\": \"\" } ] }",
	    "tags: item 1: its name must be a string of 1 to 255 bytes", NULL },
	{ MINIMAL
	    ", \"tags\": [ { \"type\": \"q\", \"name\": \"n\", \"qos\": \"x\" } ] }",
	    "tags: item 1: has \"qos\", which is not one of type, name", NULL },
	{ MINIMAL
	    ", \"tags\": [ { \"type\": \"q\", \"name\": \"n\", \"when\": [] } ] }",
	    "tags: item 1: its when must be an object", NULL },
	{ MINIMAL
	    ", \"tags\": [\n{ \"type\": \"q\", \"name\": \"n\" },\n"
	    "{ \"type\": \"q\", \"name\": \"m\", \"when\": { \"qos\": \"a(\" } } ] }",
	    ":3: tags: item 2: is not a valid pattern: missing closing parenthesis",
	    NULL },
	{ MINIMAL
	    ", \"tags\": [ { \"type\": \"q\", \"name\": \"n\" },"
	    " { \"type\": \"q\", \"name\": \"n\", \"scope\": \"admin\" } ] }",
	    "tags: item 2: has the type and name of item 1, but another scope",
	    NULL },
	{ MINIMAL ", \"clusterNames\": { \"a\": \"x\", \"b\": \"x\" } }",
	    "\"x\" is already the name of a", NULL },
	{ MINIMAL ", \"clusters\": [ \"a\", \"b\" ],\n"
		  "\"clusterNames\": { \"b\": \"a\" } }",
	    ":2: clusterNames: b: \"a\" is already the name of another cluster",
	    NULL },
	{ MINIMAL ", \"clusters\": [ \"a\", \"b\" ], "
		  "\"clusterNames\": { \"a\": \"b\", \"b\": \"a\" } }",
	    NULL, NULL },
	{ MINIMAL ", \"clusters\": [ \"b\" ], "
		  "\"clusterNames\": { \"b\": \"a\" } }",
	    NULL, NULL },
	/* An entry of a cluster that is not read, as before it is renamed. */
	{ MINIMAL ", \"clusters\": [ \"a\" ], "
		  "\"clusterNames\": { \"b\": \"a\" } }",
	    NULL, NULL },
	{ MINIMAL ", \"clusterNames\": { \"a\": 1 } }", "name of a cluster",
	    NULL },
	{ MINIMAL ", \"prepSockListenPath\": \"tcp::5\", "
		  "\"prepSockConnectPath\": \"tcp:localhost:5\" }",
	    NULL, "prepAllowedHosts is empty" },
	{ MINIMAL ", \"prepSockListenPath\": \"/run/other.sock\" }", NULL,
	    "is not the path of prepSockListenPath" },
	{ MINIMAL ", \"slurmExtraPaths\": [ \"/opt/slurm\", \"/tmp/\" ] }",
	    "would allow Slurm's commands to read", NULL },
	{ MINIMAL ", \"clusters\": [ \"a\", \"b\" ] }", NULL, NULL },
	{ MINIMAL ", \"clusters\": [ \"a\", \"b\", \"a\" ] }",
	    "clusters: \"a\" is in the list twice", NULL },
	{ MINIMAL ", \"clusters\": [ \"--help\" ] }",
	    "clusters: item 1 must be a cluster's name", NULL },
	{ MINIMAL ", \"slurmExtraPaths\": "
		  "[ \"/var/lib/cc-slurm-adapter/spool\" ] }",
	    "would allow Slurm's commands to read "
	    "/var/lib/cc-slurm-adapter/spool",
	    NULL },
	{ MINIMAL ", \"historyDays\": \"x\" }",
	    "historyDays: must be a whole number of days from 0 to 3650",
	    NULL },
	{ MINIMAL ", \"historyMaxBytes\": \"x\" }",
	    "historyMaxBytes: must be a whole number of bytes from", NULL },
	{ MINIMAL ", \"slurmExtraPaths\": [ \"/\" ] }",
	    "would allow Slurm's commands to read", NULL },
	{ MINIMAL ", \"jobScriptMaxBytes\": 63 }", NULL,
	    "is less than 64: 64 bytes are used" },
	{ MINIMAL ", \"jobScriptMaxBytes\": 0 }", NULL, NULL },
	{ MINIMAL ", \"jobScriptMaxBytes\": 64 }", NULL, NULL },
#ifdef HAVE_NATS
	{ MINIMAL ", \"natsServer\": \"n1, n2:4223,  nats://n3\" }", NULL,
	    NULL },
	{ MINIMAL ", \"natsServer\": \"n1, TOKEN@n2\" }",
	    "natsServer: must not contain a login: use natsToken", NULL },
#endif
#ifdef HAVE_NATS
	{ MINIMAL ", \"natsServer\": \"127.0.0.1, n2.example:4223\", "
		  "\"natsUser\": \"u\", \"natsPassword\": \"p\" }",
	    NULL, "natsPassword: is readable in the network to n2.example;" },
	{ MINIMAL ", \"natsServer\": \"n2.example\", \"natsToken\": \"t\" }",
	    NULL, "natsToken: is readable in the network to n2.example;" },
	{ MINIMAL ", \"natsServer\": \"n2.example\", \"natsTls\": true, "
		  "\"natsToken\": \"t\" }",
	    NULL, NULL },
	{ MINIMAL ", \"natsServer\": \"localhost, tls://n2.example\", "
		  "\"natsUser\": \"u\", \"natsPassword\": \"p\" }",
	    NULL, NULL },
	{ MINIMAL ", \"natsServer\": \"n2.example\", \"natsUser\": \"u\" }",
	    NULL, NULL },
#endif
	{ MINIMAL ", \"natsServer\": \"n1 n2\" }", "separated by commas",
	    NULL },
	{ MINIMAL ", \"natsServer\": \" n1\" }", "separated by commas", NULL },
	{ MINIMAL ", \"natsServer\": \"n\", \"natsCertFile\": \"/dev/null\" }",
	    "natsCertFile: /dev/null: is not a regular file", NULL },
	{ MINIMAL ", \"natsCertFile\": \"/dev/null\" }", NULL, NULL },
	{ MINIMAL ", \"ccRestJwtFile\": \"/x\" }", "ccRestJwt is given, too",
	    NULL },
	{ MINIMAL ", \"metricsListen\": "
		  "\"unix:/run/cc-slurm-adapter/daemon.sock\" }",
	    "metricsListen: must not be the path of prepSockListenPath", NULL },
	{ MINIMAL ", \"metricsListen\": \"/run/cc-slurm-adapter/ctl.sock\" }",
	    "metricsListen: must not be the path of ctlSockPath", NULL },
	{ MINIMAL ", \"metricsListen\": \"/run/cc-slurm-adapter/m.sock\" }",
	    NULL, NULL },
	{ MINIMAL ", \"ccRestCaFile\": \"/nowhere/ca\" }",
	    "/nowhere/ca: No such file", NULL },
};

static void
test_cases(void)
{
	struct outcome o;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		run_text(&o, cases[i].text);
		if (cases[i].reason == NULL ? o.status != 0 :
					      o.status != 1 ||
			    strstr(o.reason, cases[i].reason) == NULL) {
			CHECK_STR(o.reason, cases[i].reason);
			fprintf(stderr, "    %s\n", cases[i].text);
		}
		if (cases[i].warning != NULL ?
			strstr(o.log, cases[i].warning) == NULL :
			strstr(o.log, "WARN") != NULL) {
			CHECK_STR(o.log, cases[i].warning);
			fprintf(stderr, "    %s\n", cases[i].text);
		}
		CHECK_INT(o.ended, o.status == 0);
		CHECK(strstr(o.log, "hush") == NULL);
		CHECK(strstr(o.reason, "hush") == NULL);
		forget(&o);
	}
}

/* Each key without effect causes one warning, whatever its value. */
static void
test_obsolete(void)
{
	static const struct {
		const char *text;
		const char *warning;
	} keys[] = {
		{ MINIMAL ", \"slurmSource\": \"json\" }",
		    "slurmSource: the key has no effect; Slurm's text output "
		    "is read in every version; remove the key\n" },
		{ MINIMAL ", \"slurmSource\": 7 }",
		    "slurmSource: the key has no effect; Slurm's text output "
		    "is read in every version; remove the key\n" },
		{ MINIMAL ", \"SLURMSOURCE\": \"text\" }",
		    "SLURMSOURCE: the key has no effect; Slurm's text output "
		    "is read in every version; remove the key\n" },
		{ MINIMAL ", \"ipcSockPath\": \"/run/sock\" }",
		    "ipcSockPath: was removed and has no effect; "
		    "prepSockListenPath is where the daemon listens, "
		    "prepSockConnectPath where the hook connects\n" },
		{ MINIMAL ", \"ipcSocketPath\": \"/run/sock\" }",
		    "ipcSocketPath: was removed and has no effect; "
		    "prepSockListenPath is where the daemon listens, " },
		{ MINIMAL ", \"nvidiaPciAddrs\": [\"00000000:00:10.0\"] }",
		    "nvidiaPciAddrs: was replaced by gpuPciAddrs and has no "
		    "effect; " },
		{ MINIMAL ", \"fleetEnabled\": true }",
		    "fleetEnabled: has no effect: the daemon does not read the "
		    "central configuration of cc-backend; copy its keys into "
		    "this file: they are in `config` of the file "
		    "fleetConfigCachePath\n" },
		{ MINIMAL ", \"fleetConfigCachePath\": \"/x\" }",
		    "fleetConfigCachePath: has no effect: the daemon does not "
		    "read the central configuration of cc-backend; copy " },
		{ MINIMAL ", \"fleetCluster\": \"alpha\" }",
		    "of cc-backend; remove the key\n" },
		{ MINIMAL ", \"fleetConfigPollInterval\": 60 }",
		    "of cc-backend; remove the key\n" },
		{ MINIMAL ", \"fleetHeartbeatInterval\": 30 }",
		    "the daemon sends no heartbeat to cc-backend; remove the "
		    "key\n" },
		{ MINIMAL ", \"fleetHeartbeatSubject\": \"x\" }",
		    "the daemon sends no heartbeat to cc-backend; remove the "
		    "key\n" },
		{ MINIMAL ", \"accelerators\": {\"n\": {\"0\": \"x\"}} }",
		    "accelerators: is a key of cc-slurm-sync and has no "
		    "effect; gpuPciAddrs takes the same value\n" },
		{ MINIMAL ", \"cc-backend\": {\"apikey\": \"hush\"} }",
		    "cc-backend: is a key of cc-slurm-sync and has no "
		    "effect; use ccRestUrl and ccRestJwtFile\n" },
		{ MINIMAL ", \"node_regex\": \"^n\" }",
		    "node_regex: is a key of cc-slurm-sync and has no "
		    "effect; the hosts are read from Slurm; remove the key\n" },
	};
	struct outcome o;
	const char *first;
	size_t i;

	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		run_text(&o, keys[i].text);
		CHECK_INT(o.status, 0);
		CHECK_INT(o.ended, 1);
		CHECK(strstr(o.log, keys[i].warning) != NULL);
		first = strstr(o.log, "WARN");
		CHECK(first != NULL && strstr(first + 1, "WARN") == NULL);
		forget(&o);
	}
}

static void
test_absent(void)
{
	struct outcome o;
	char text[256];

	run(&o, in_folder("none.json"), 1);
	CHECK_INT(o.status, 1);
	CHECK(strstr(o.reason, "none.json: No such file or directory") != NULL);
	forget(&o);
	run(&o, in_folder("none.json"), 0);
	CHECK(strstr(o.log, "all keys have their defaults") != NULL);
	CHECK(strstr(o.reason, "ccRestUrl: is not set") != NULL);
	forget(&o);
	run(&o, folder, 0);
	CHECK(strstr(o.reason, "is not a regular file") != NULL);
	forget(&o);
	CHECK(mkfifo(in_folder("fifo"), 0600) == 0);
	run(&o, in_folder("fifo"), 1);
	CHECK(strstr(o.reason, "is not a regular file") != NULL);
	forget(&o);
	CHECK(truncate(file, CONF_FILE_MAX + 1) == 0);
	run(&o, file, 1);
	snprintf(text, sizeof(text), "%s: is too long", file);
	CHECK_STR(o.reason, text);
	forget(&o);
}

static void
test_modes(void)
{
	static const char text[] = MINIMAL "}";
	static const char user[] =
	    "{ " URL "\"natsServer\": \"tls://n1\", \"natsUser\": \"u\" }";
	static const char none[] = "{ " URL "\"slurmPollInterval\": 60 }";
	struct outcome o;

	write_file(file, user, sizeof(user) - 1, 0644);
	run(&o, file, 1);
	CHECK(strstr(o.log, "has secrets and is readable by other users") !=
	    NULL);
	forget(&o);
	write_file(file, text, sizeof(text) - 1, 0644);
	run(&o, file, 1);
	CHECK_INT(o.status, 0);
	CHECK(strstr(o.log,
		  "has secrets and is readable by other users (mode 0644)") !=
	    NULL);
	forget(&o);
	write_file(file, text, sizeof(text) - 1, 0640);
	run(&o, file, 1);
	CHECK_INT(o.status, 0);
	CHECK_STR(o.log, "");
	forget(&o);
	write_file(file, text, sizeof(text) - 1, 0666);
	run(&o, file, 1);
	CHECK(strstr(o.reason, "is writable by other users") != NULL);
	forget(&o);
	if (geteuid() != 0)
		return;
	/* The group of the Go adapter, of which slurmUser is a member. */
	write_file(file, text, sizeof(text) - 1, 0640);
	CHECK(chown(file, 0, 1) == 0);
	run(&o, file, 1);
	CHECK_INT(o.status, 0);
	CHECK(strstr(o.log,
		  "has secrets and is readable by group 1 (mode 0640): chmod "
		  "600, or keep the secrets in other files") != NULL);
	forget(&o);
	write_file(file, none, sizeof(none) - 1, 0640);
	run(&o, file, 1);
	CHECK(strstr(o.log, "readable by group") == NULL);
	forget(&o);
	CHECK(chown(file, 0, 0) == 0);
	write_file(file, text, sizeof(text) - 1, 0600);
	CHECK(chown(file, 1, 0) == 0);
	run(&o, file, 1);
	CHECK_INT(o.status, 0);
	CHECK(strstr(o.log,
		  "belongs to user 1, who can change it: chown root "
		  "/tmp/") != NULL);
	CHECK(chown(file, 0, 0) == 0);
	forget(&o);
}

/* Runs with a mode of the folder and of the file, strict and not. */
static void
run_unsafe(mode_t folder_mode, mode_t mode, const char *want)
{
	static const char strict[] = MINIMAL ", \"strictModes\": true }";
	struct outcome o;

	CHECK(chmod(folder, folder_mode) == 0);
	write_file(file, MINIMAL "}", strlen(MINIMAL "}"), mode);
	run(&o, file, 1);
	CHECK_INT(o.status, 0);
	CHECK(want != NULL ? strstr(o.log, want) != NULL : *o.log == '\0');
	forget(&o);
	write_file(file, strict, sizeof(strict) - 1, mode);
	run(&o, file, 1);
	CHECK_INT(o.status, want != NULL);
	if (want != NULL) {
		CHECK(strstr(o.reason, want) != NULL);
		CHECK(strstr(o.reason, "(strictModes is true)") != NULL);
	}
	forget(&o);
	CHECK(chmod(folder, 0700) == 0);
}

static void
test_unsafe(void)
{
	char want[256], text[512];
	struct outcome o;

	run_unsafe(0700, 0640, NULL);
	run_unsafe(01777, 0640, NULL);
	run_unsafe(0755, 0660,
	    "its group can change it (mode 0660): chmod go-w ");
	snprintf(want, sizeof(want),
	    "the group of %s can replace it (mode 0775): chmod go-w %s", folder,
	    folder);
	run_unsafe(0775, 0640, want);
	snprintf(want, sizeof(want),
	    "all users of %s can replace it (mode 0777): chmod go-w %s", folder,
	    folder);
	run_unsafe(0777, 0640, want);
	/* A secret file, by a link in a folder that is safe. */
	CHECK(mkdir(in_folder("open"), 0700) == 0);
	CHECK(chmod(in_folder("open"), 0770) == 0);
	write_file(in_folder("open/jwt"), TOKEN, sizeof(TOKEN) - 1, 0600);
	CHECK(symlink(in_folder("open/jwt"), in_folder("link")) == 0);
	snprintf(text, sizeof(text), "{ " URL "\"ccRestJwtFile\": \"%s\" }",
	    in_folder("link"));
	run_text(&o, text);
	CHECK_INT(o.status, 0);
	CHECK(strstr(o.log, "ccRestJwtFile: /tmp/") != NULL);
	CHECK(strstr(o.log, "/open can replace it (mode 0770)") != NULL);
	forget(&o);
	CHECK(unlink(in_folder("link")) == 0);
	CHECK(unlink(in_folder("open/jwt")) == 0);
	CHECK(rmdir(in_folder("open")) == 0);
}

/* Who can change the authorities decides which server gets the secrets. */
static void
run_unsafe_authorities(const char *key, mode_t mode, int is_unsafe)
{
	static const char pem[] = "-----BEGIN CERTIFICATE-----\n";
	char text[512], want[128];
	struct outcome o;

	write_file(in_folder("ca"), pem, sizeof(pem) - 1, mode);
	snprintf(text, sizeof(text),
	    "{ " URL NATS_SERVER "\"ccRestJwt\": \"t\", "
	    "\"strictModes\": true, \"%s\": \"%s\" }",
	    key, in_folder("ca"));
	snprintf(want, sizeof(want),
	    "%s: %s: all users can change it (mode 0646): chmod go-w ", key,
	    in_folder("ca"));
	run_text(&o, text);
	CHECK_INT(o.status, is_unsafe);
	if (is_unsafe)
		CHECK(strstr(o.reason, want) != NULL);
	forget(&o);
	CHECK(unlink(in_folder("ca")) == 0);
}

static void
test_unsafe_authorities(void)
{
	run_unsafe_authorities("ccRestCaFile", 0644, 0);
	run_unsafe_authorities("ccRestCaFile", 0646, 1);
#ifdef HAVE_NATS
	run_unsafe_authorities("natsCaFile", 0644, 0);
	run_unsafe_authorities("natsCaFile", 0646, 1);
#endif
}

/* One key that names a file of this content and mode, and key 2. */
static void
run_with_file(struct outcome *o, const char *key, const char *content,
    mode_t mode)
{
	char text[512];

	write_file(in_folder("named"), content, strlen(content), mode);
	snprintf(text, sizeof(text), "{ " URL NATS_SERVER "\"%s\": \"%s\" }",
	    key, in_folder("named"));
	run_text(o, text);
}

static void
test_files(void)
{
	struct outcome o;

	run_with_file(&o, "ccRestJwtFile", " \n" TOKEN "\r\n", 0600);
	CHECK_INT(o.status, 0);
	check_secret(&o, CONF_CC_REST_JWT, TOKEN);
	CHECK(strstr(o.log, TOKEN) == NULL);
	forget(&o);
	run_with_file(&o, "ccRestJwtFile", "two words", 0600);
	CHECK(strstr(o.reason, "more than one word") != NULL);
	forget(&o);
	run_with_file(&o, "ccRestJwtFile", "\n", 0600);
	CHECK(strstr(o.reason, "is empty") != NULL);
	forget(&o);
	run_with_file(&o, "ccRestJwtFile", TOKEN, 0644);
	CHECK(
	    strstr(o.reason, "is readable by other users (mode 0644)") != NULL);
	forget(&o);
}

/* Without natsServer the parser does not read the files of NATS. */
#ifdef HAVE_NATS
static void
test_nats_files(void)
{
	static const char creds[] = "-----BEGIN NATS USER JWT-----\nx\n";
	struct outcome o;

	run_with_file(&o, "natsCredsFile", creds, 0640);
	CHECK_INT(o.status, 0);
	check_secret(&o, CONF_NATS_CREDS_FILE, creds);
	forget(&o);
	run_with_file(&o, "natsCredsFile", creds, 0604);
	CHECK(
	    strstr(o.reason, "is readable by other users (mode 0604)") != NULL);
	forget(&o);
	run_with_file(&o, "natsCredsFile", "hush", 0600);
	CHECK(strstr(o.reason, "is not a NATS credentials file") != NULL);
	CHECK(strstr(o.log, "hush") == NULL);
	forget(&o);
	run_with_file(&o, "natsNKeySeedFile", "SUABC\n", 0644);
	CHECK(strstr(o.reason, "is readable by other users") != NULL);
	forget(&o);
	run_with_file(&o, "natsCaFile", "-----BEGIN CERTIFICATE-----", 0644);
	CHECK_INT(o.status, 0);
	CHECK(strstr(o.log, "is used only if the server requires TLS") != NULL);
	forget(&o);
	run_with_file(&o, "natsCaFile", "x", 0644);
	CHECK(strstr(o.reason, "is not a PEM certificate") != NULL);
	forget(&o);
}

static void
run_documented(struct outcome *o, const char *source)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/tests/data/conf/documented.json",
	    source);
	run(o, path, 1);
	CHECK_INT(o->status, 0);
	CHECK_STR(o->reason, "");
	CHECK_STR(conf_str(&o->conf, CONF_LAST_RUN),
	    "/var/lib/cc-slurm-adapter/last_run");
	CHECK_INT(conf_int(&o->conf, CONF_QUERY_MAX_RETRIES), 5);
}

/*
 * The example of the Go adapter's README, unchanged.  Its files do not exist
 * on this machine; only user and password can be used.
 */
static void
test_documented(const char *source)
{
	struct outcome o;

	if (access("/etc/cc-slurm-adapter/nats.creds", F_OK) == 0)
		return;
	run_documented(&o, source);
	CHECK(strstr(o.log,
		  "documented.json:24: natsCredsFile: "
		  "/etc/cc-slurm-adapter/nats.creds does not exist; the NATS "
		  "login is natsNKeySeedFile") != NULL);
	CHECK(strstr(o.log,
		  "documented.json:25: natsNKeySeedFile: "
		  "/etc/ss-slurm-adapter/nats.nkey does not exist; the NATS "
		  "login is natsUser") != NULL);
	check_secret(&o, CONF_NATS_USER, "myuser");
	check_secret(&o, CONF_NATS_PASSWORD, "123456789");
	forget(&o);
}

/* All logins with their files: one is used, no other secret is passed on. */
static void
test_all_logins(void)
{
	static const char creds[] = "-----BEGIN NATS USER JWT-----\nx\n";
	struct outcome o;
	char text[1024];

	write_file(in_folder("creds"), creds, strlen(creds), 0600);
	write_file(in_folder("nkey"), "SUABC\n", 6, 0600);
	snprintf(text, sizeof(text),
	    MINIMAL ", " NATS_SERVER "\"natsUser\": \"u\", "
		    "\"natsPassword\": \"hush\", \"natsToken\": \"hushtoo\", "
		    "\"natsNKeySeedFile\": \"%s\", "
		    "\"natsCredsFile\": \"%s\" }",
	    in_folder("nkey"), in_folder("creds"));
	run_text(&o, text);
	CHECK_INT(o.status, 0);
	check_secret(&o, CONF_NATS_CREDS_FILE, creds);
	check_secret(&o, CONF_NATS_NKEY_SEED_FILE, "");
	check_secret(&o, CONF_NATS_TOKEN, "");
	check_secret(&o, CONF_NATS_USER, "");
	check_secret(&o, CONF_NATS_PASSWORD, "");
	CHECK(strstr(o.log,
		  "natsNKeySeedFile: has no effect, because natsCredsFile is "
		  "the NATS login") != NULL);
	CHECK(strstr(o.log, "natsToken: has no effect") != NULL);
	CHECK(strstr(o.log, "natsUser: has no effect") != NULL);
	CHECK(strstr(o.log, "hush") == NULL);
	forget(&o);
	/* Only a missing file is passed over. */
	write_file(in_folder("creds"), creds, strlen(creds), 0644);
	run_text(&o, text);
	CHECK(strstr(o.reason, "is readable by other users") != NULL);
	forget(&o);
	unlink(in_folder("creds"));
	run_text(&o, text);
	CHECK_INT(o.status, 0);
	check_secret(&o, CONF_NATS_NKEY_SEED_FILE, "SUABC\n");
	check_secret(&o, CONF_NATS_USER, "");
	forget(&o);
	unlink(in_folder("nkey"));
	/* Without another login, a missing file is an error. */
	run_text(&o,
	    MINIMAL ", " NATS_SERVER "\"natsCredsFile\": \"/nowhere\" }");
	CHECK(
	    strstr(o.reason,
		"natsCredsFile: /nowhere: No such file or directory") != NULL);
	forget(&o);
}
#endif

static void
test_credential(void)
{
	struct outcome o;

	write_file(in_folder("cc-rest-jwt"), TOKEN "\n", sizeof(TOKEN), 0400);
	setenv("CREDENTIALS_DIRECTORY", folder, 1);
	run_text(&o, "{ " URL "\"natsPort\": 1 }");
	CHECK_INT(o.status, 0);
	CHECK_STR(o.log, "");
	check_secret(&o, CONF_CC_REST_JWT, TOKEN);
	forget(&o);
	run_text(&o, MINIMAL "}");
	check_secret(&o, CONF_CC_REST_JWT, "t");
	forget(&o);
	unsetenv("CREDENTIALS_DIRECTORY");
}

/* Files that cost time or memory: the parser answers in any case. */
static void
test_heavy(void)
{
	size_t n = CONF_FILE_MAX, i;
	char *text = malloc(n + 1);
	struct outcome o;

	CHECK(text != NULL);
	memset(text, '[', n);
	write_file(file, text, n, 0600);
	run(&o, file, 1);
	CHECK(strstr(o.reason, "maximum parsing depth reached") != NULL);
	forget(&o);
	/* The parser's limit on its CPU time must leave room for valgrind. */
	n /= 4;
	memset(text, '1', n);
	memcpy(text, "{\"cpuMap\":{\"x\":[", 16);
	for (i = 17; i < n; i += 2)
		text[i] = ',';
	memcpy(text + n - 4, "1]}}", 4);
	write_file(file, text, n, 0600);
	run(&o, file, 1);
	CHECK(strstr(o.reason, "cpuMap: x: must be") != NULL);
	forget(&o);
	n /= 2;
	for (i = 0; i + 16 <= n; i += 16)
		snprintf(text + i, 17, "%c\"%-7zu\":0    ", i == 0 ? '{' : ',',
		    i / 16);
	text[n - 1] = '}';
	write_file(file, text, n, 0600);
	run(&o, file, 1);
	CHECK_INT(o.status, 1);
	CHECK(strlen(o.log) < 8192);
	CHECK(strstr(o.log, "more errors or warnings are not listed") != NULL);
	forget(&o);
	free(text);
}

/* A list of n thread ids, or n entries of an object. */
static char *
many_write(const char *key, int list, int n)
{
	size_t size = (size_t)n * 32 + 512, at;
	char *text = malloc(size);
	int i;

	CHECK(text != NULL);
	at = (size_t)snprintf(text, size, "%s, \"%s\": {%s", MINIMAL, key,
	    list ? " \"n\": [" : "");
	for (i = 0; i < n; i++)
		at += (size_t)snprintf(text + at, size - at,
		    list ? "%s%d" : "%s\"n%d\": \"block%d\"", i > 0 ? "," : "",
		    i, i);
	snprintf(text + at, size - at, "%s} }", list ? "]" : "");
	return text;
}

/* The process that reads the value refuses more: it is refused before. */
static void
test_object_limits(void)
{
	static const struct {
		const char *key, *wrong;
		int list, max;
	} limits[] = {
		{ "cpuMap", "a list of at most 16384 thread ids", 1,
		    THREADS_MAX },
		{ "cpuMap", "cpuMap: must have at most 256 entries", 0,
		    CONF_CPU_MAP_MAX },
		{ "clusterNames", "clusterNames: must have at most 256 entries",
		    0, CONF_CLUSTERS_MAX },
	};
	struct outcome o;
	char *text;
	size_t i;
	int more;

	for (i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
		for (more = 0; more < 2; more++) {
			text = many_write(limits[i].key, limits[i].list,
			    limits[i].max + more);
			write_file(file, text, strlen(text), 0600);
			run(&o, file, 1);
			CHECK_INT(strstr(o.reason, limits[i].wrong) != NULL,
			    more);
			forget(&o);
			free(text);
		}
}

static void
test_address(void)
{
	static const struct {
		const char *value, *host, *port;
		int family;
	} good[] = {
		{ "tcp:1.2.3.4:5", "1.2.3.4", "5", AF_UNSPEC },
		{ "tcp:[::1]:5", "::1", "5", AF_UNSPEC },
		{ "tcp:[::]:65535", "::", "65535", AF_UNSPEC },
		{ "tcp::5", "", "5", AF_UNSPEC },
		{ "tcp:ctl.example:5", "ctl.example", "5", AF_UNSPEC },
		{ "TCP:1.2.3.4:5", "1.2.3.4", "5", AF_UNSPEC },
		{ "tcp4::5", "", "5", AF_INET },
		{ "tcp4:1.2.3.4:5", "1.2.3.4", "5", AF_INET },
		{ "Tcp6:[::1]:5", "::1", "5", AF_INET6 },
	};
	static const char *const bad[] = { "", "x", "unix:x", "tcp:5",
		"tcp:", "tcp::", "tcp::0", "tcp::65536", "tcp::5x",
		"tcp:[::1:5", "tcp:[::1]5", "tcp:[]:5", "tcp:::1:5",
		"tcp:a b:5", "udp:x:5", "tcp5:x:5", "tcp4", "tcp46:x:5" };
	struct conf_address a;
	char longest[200];
	size_t i;

	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		CHECK_INT(conf_address_parse(good[i].value, &a), 0);
		CHECK_INT(a.kind, CONF_ADDRESS_TCP);
		CHECK_STR(a.host, good[i].host);
		CHECK_STR(a.port, good[i].port);
		CHECK_INT(a.family, good[i].family);
	}
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CHECK_INT(conf_address_parse(bad[i], &a), -1);
	CHECK_INT(conf_address_parse("Unix:/a b", &a), 0);
	CHECK_INT(a.kind, CONF_ADDRESS_UNIX);
	CHECK_INT(conf_address_parse("unix:/a b", &a), 0);
	CHECK_STR(a.path, "/a b");
	memset(longest, '/', sizeof(longest));
	longest[107] = '\0';
	CHECK_INT(conf_address_parse(longest, &a), 0);
	longest[107] = '/';
	longest[108] = '\0';
	CHECK_INT(conf_address_parse(longest, &a), -1);
}

#ifdef HAVE_NATS
/* The first error, "" = none, and a text that the log must have or NULL. */
static void
fan_in(const char *text, const char *reason, const char *logged)
{
	struct outcome o;

	run_text(&o, text);
	CHECK(strstr(o.reason, reason) != NULL);
	CHECK_INT(o.status, *reason != '\0');
	if (strstr(o.reason, reason) == NULL ||
	    (logged != NULL && strstr(o.log, logged) == NULL))
		fprintf(stderr, "    %s: \"%s\", %s\n", text, o.reason, o.log);
	CHECK(logged == NULL || strstr(o.log, logged) != NULL);
	CHECK_INT(o.n_receiver > 0,
	    strstr(text, "\"natsToken\"") != NULL &&
		strstr(text, "\"source\"") != NULL && *reason == '\0');
	forget(&o);
}

#define CENTRE	  "\"source\": \"stream\", \"ccRestJwt\": \"secretjwt\", "
#define BROKER	  "\"natsServer\": \"nats\""
#define TO_STREAM "\"deliver\": \"stream\", \"clusters\": [\"a\"]"

static void
test_fan_in(void)
{
	fan_in("{" CENTRE URL BROKER ", \"clusters\": [\"a\"],"
	       " \"natsToken\": \"secrettoken\"}",
	    "", NULL);
	fan_in("{" CENTRE URL BROKER "}", "needs the names of the clusters",
	    NULL);
	fan_in("{" CENTRE URL "\"clusters\": [\"a\"]}", "needs natsServer",
	    NULL);
	fan_in("{" CENTRE BROKER ", \"clusters\": [\"a\"]}",
	    "no job can be sent", NULL);
	fan_in("{" CENTRE URL BROKER ", \"clusters\": [\"a\"],"
	       " \"ccRestSubmitJobs\": false}",
	    "must not be false while source", NULL);
	fan_in("{" CENTRE URL BROKER ", \"clusters\": [\"a\"],"
	       " \"activeOnly\": true}",
	    "", NULL);
	fan_in("{" CENTRE URL BROKER ", \"clusters\": [\"a\", \"b\"],"
	       " \"activeOnly\": true, \"natsLeaseTime\": 29}",
	    "", "natsLeaseTime: is less than 30 s");
	fan_in("{" CENTRE URL BROKER ", \"clusters\": [\"a\", \"b\"],"
	       " \"activeOnly\": true, \"natsLeaseTime\": 1}",
	    "natsLeaseTime: must be a whole number of seconds from 2", NULL);
	fan_in("{" CENTRE URL BROKER ", \"clusters\": [\"a\"],"
	       " \"natsStreamMaxAge\": 3600, \"natsFormat\": \"json\"}",
	    "", "natsStreamMaxAge: is less than 7 d");
	fan_in("{" URL BROKER ", \"source\": \"stream\", \"deliver\":"
	       " \"stream\"}",
	    "must not both be", NULL);
	fan_in("{" TO_STREAM "}", "needs natsServer", NULL);
	fan_in("{" TO_STREAM ", " BROKER "}", "", NULL);
	fan_in("{\"deliver\": \"stream\", " BROKER "}",
	    "needs the name of the cluster", NULL);
	fan_in("{" TO_STREAM ", \"activeOnly\": true, " BROKER "}",
	    "both controllers may publish", NULL);
	fan_in("{" TO_STREAM ", " URL BROKER "}", "",
	    "ccRestUrl: is not used, because deliver is \"stream\"");
	fan_in("{\"deliver\": \"nowhere\"}", "must be one of direct stream",
	    NULL);
	fan_in("{" URL "\"clusters\": [\"a\", \"b\", \"c\", \"d\", \"e\","
	       " \"f\", \"g\", \"h\", \"i\", \"j\", \"k\", \"l\", \"m\","
	       " \"n\", \"o\", \"p\", \"q\"]}",
	    "must have at most 16 names", NULL);
}

/* The token of cc-backend and the login of NATS are in different memfds. */
static void
test_fan_in_secrets(void)
{
	struct outcome o;
	size_t n;

	run_text(&o,
	    "{" CENTRE URL BROKER ", \"clusters\": [\"a\"],"
	    " \"natsToken\": \"secrettoken\"}");
	CHECK(
	    conf_secret(o.secrets, o.n_secrets, CONF_CC_REST_JWT, &n) != NULL);
	CHECK(conf_secret(o.secrets, o.n_secrets, CONF_NATS_TOKEN, &n) == NULL);
	CHECK(
	    conf_secret(o.receiver, o.n_receiver, CONF_NATS_TOKEN, &n) != NULL);
	CHECK(conf_secret(o.receiver, o.n_receiver, CONF_CC_REST_JWT, &n) ==
	    NULL);
	forget(&o);
	/* The host of a cluster does not keep a token that it has. */
	run_text(&o,
	    "{" TO_STREAM ", \"ccRestJwt\": \"secretjwt\","
	    " \"natsToken\": \"secrettoken\", " BROKER "}");
	CHECK(
	    conf_secret(o.secrets, o.n_secrets, CONF_CC_REST_JWT, &n) == NULL);
	CHECK(conf_secret(o.secrets, o.n_secrets, CONF_NATS_TOKEN, &n) != NULL);
	CHECK(o.receiver == NULL);
	forget(&o);
}

/* The host of a cluster before the restart: token and login of the old mode. */
static void
test_reload_deliver(void)
{
	struct outcome o;

	conf_set(&in_force->conf, CONF_DELIVER, "direct");
	conf_set(&in_force->conf, CONF_SOURCE, "slurm");
	run_text(&o,
	    "{" TO_STREAM ", " URL "\"ccRestJwt\": \"secretjwt\","
	    " \"natsToken\": \"secrettoken\", " BROKER "}");
	CHECK_INT(o.status, 0);
	check_secret(&o, CONF_CC_REST_JWT, "secretjwt");
	check_secret(&o, CONF_NATS_TOKEN, "secrettoken");
	CHECK_STR(conf_str(&o.conf, CONF_DELIVER), "stream");
	CHECK(strstr(o.log, "is not used") == NULL);
	forget(&o);
	/* Without the token, cc-backend would refuse each request. */
	run_text(&o, "{" TO_STREAM ", " URL BROKER "}");
	CHECK_INT(o.status, 1);
	CHECK(strstr(o.reason,
		  "ccRestJwt: is not set, nor is ccRestJwtFile; deliver stays "
		  "\"direct\" until a restart of the service") != NULL);
	forget(&o);
	run_text(&o, "{" TO_STREAM ", " URL "\"ccRestJwt\": \"t\"}");
	CHECK(strstr(o.reason, "deliver: is \"stream\", which needs nats") !=
	    NULL);
	forget(&o);
	conf_set(&in_force->conf, CONF_DELIVER, "stream");
	run_text(&o, MINIMAL ", \"deliver\": \"direct\" }");
	CHECK(strstr(o.reason, "deliver stays \"stream\"") != NULL);
	CHECK(strstr(o.reason, "natsServer") != NULL);
	forget(&o);
}

/* The centre: the login stays with the process that connects until then. */
static void
test_reload_source(void)
{
	struct outcome o;
	size_t n;

	conf_set(&in_force->conf, CONF_DELIVER, "direct");
	conf_set(&in_force->conf, CONF_SOURCE, "slurm");
	run_text(&o,
	    "{" CENTRE URL BROKER ", \"clusters\": [\"a\", \"b\", \"c\","
	    " \"d\", \"e\", \"f\", \"g\", \"h\", \"i\", \"j\", \"k\","
	    " \"l\", \"m\", \"n\", \"o\", \"p\", \"q\"],"
	    " \"natsToken\": \"secrettoken\"}");
	CHECK_INT(o.status, 0);
	check_secret(&o, CONF_NATS_TOKEN, "secrettoken");
	CHECK(o.receiver == NULL);
	CHECK_STR(conf_str(&o.conf, CONF_SOURCE), "stream");
	forget(&o);
	conf_set(&in_force->conf, CONF_SOURCE, "stream");
	run_text(&o,
	    MINIMAL ", \"clusters\": [\"a\"], \"natsToken\":"
		    " \"secrettoken\", " BROKER "}");
	CHECK_INT(o.status, 0);
	check_secret(&o, CONF_CC_REST_JWT, "t");
	check_secret(&o, CONF_NATS_TOKEN, "");
	CHECK(o.receiver != NULL &&
	    conf_secret(o.receiver, o.n_receiver, CONF_NATS_TOKEN, &n) != NULL);
	CHECK_STR(conf_str(&o.conf, CONF_SOURCE), "slurm");
	forget(&o);
}

#else
/* Both keys name the cause, not the broker that is absent, too. */
static void
test_fan_in(void)
{
	static const char *const texts[][2] = {
		{ "{\"deliver\": \"stream\", \"clusters\": [\"a\"]}",
		    "deliver: is \"stream\", which needs NATS: this program" },
		{ "{" URL "\"source\": \"stream\", \"clusters\": [\"a\"]}",
		    "source: is \"stream\", which needs NATS: this program" },
	};
	struct outcome o;
	size_t i;

	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		run_text(&o, texts[i][0]);
		CHECK_INT(o.status, 1);
		CHECK(strstr(o.reason, texts[i][1]) != NULL);
		CHECK(strstr(o.reason, "needs natsServer") == NULL);
		forget(&o);
	}
}
#endif

/* The name service reports a failure of its own as "not found", too. */
static void
test_unknown_user(void)
{
	struct outcome o;

	run_text(&o,
	    MINIMAL ", \"ctlUsers\": [\"no-such-user\", \"root\"], "
		    "\"prepAllowedUids\": [\"no-such-user\"] }");
	CHECK_INT(o.status, 0);
	CHECK_STR(conf_str(&o.conf, CONF_CTL_USERS), "[\"0\"]");
	CHECK_STR(conf_str(&o.conf, CONF_PREP_ALLOWED_UIDS), "[]");
	CHECK(strstr(o.log,
		  "ctlUsers: user no-such-user is not found: the user does not "
		  "exist, or the name service does not answer; the name is "
		  "ignored until a reload finds the user") != NULL);
	CHECK(strstr(o.log,
		  "hooks of this user are refused until a reload finds the "
		  "user") != NULL);
	forget(&o);
}

/* SlurmUser was not found at the start; root exists everywhere. */
static void
test_reload_user(void)
{
	struct outcome o;

	in_force->missing_user = "root";
	run_text(&o, MINIMAL ", \"prepAllowedUids\": [\"7\"] }");
	CHECK_STR(conf_str(&o.conf, CONF_PREP_ALLOWED_UIDS), "[\"0\",\"7\"]");
	CHECK_STR(o.log, "");
	forget(&o);
	run_text(&o, MINIMAL "}");
	CHECK_STR(conf_str(&o.conf, CONF_PREP_ALLOWED_UIDS), "[\"0\"]");
	forget(&o);
	in_force->missing_user = "no-such-user";
	run_text(&o, MINIMAL "}");
	CHECK_INT(o.status, 0);
	CHECK_STR(conf_str(&o.conf, CONF_PREP_ALLOWED_UIDS), "[]");
	CHECK(strstr(o.log,
		  "SlurmUser no-such-user of slurm.conf is not found") != NULL);
	forget(&o);
	in_force->missing_user = NULL;
}

static void
test_reload(void)
{
	struct in_force values = { .missing_user = NULL };

	conf_init(&values.conf);
	in_force = &values;
	test_unknown_user();
	test_reload_user();
#ifdef HAVE_NATS
	test_reload_deliver();
	test_reload_source();
#endif
	in_force = NULL;
	conf_clear(&values.conf);
}

static void
remove_files(void)
{
	static const char *const names[] = { "log", "fifo", "named",
		"cc-rest-jwt", "config.json" };
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		unlink(in_folder(names[i]));
	CHECK(rmdir(folder) == 0);
}

int
main(void)
{
	const char *source = getenv("srcdir");

	unsetenv("JOURNAL_STREAM");
	unsetenv("CREDENTIALS_DIRECTORY");
	CHECK(mkdtemp(folder) != NULL);
	snprintf(file, sizeof(file), "%s/config.json", folder);
	test_go_file(source != NULL ? source : ".");
	test_wrong_file(source != NULL ? source : ".");
	test_example(source != NULL ? source : ".");
	test_cases();
	test_obsolete();
	test_absent();
	test_modes();
	test_unsafe();
	test_unsafe_authorities();
	test_files();
#ifdef HAVE_NATS
	test_nats_files();
	test_documented(source != NULL ? source : ".");
	test_all_logins();
	test_fan_in_secrets();
#endif
	test_reload();
	test_fan_in();
	test_credential();
	test_heavy();
	test_object_limits();
	test_address();
	remove_files();
	return check_done();
}
