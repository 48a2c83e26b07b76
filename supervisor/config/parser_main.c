/* SPDX-License-Identifier: MIT */
/*
 * The parser process.  It is forked for one file and exits afterwards: it sets
 * its own limits and replaces jansson's allocator, so that freed memory has no
 * secret in it.
 */
#include "config.h"

#include <sys/prctl.h>
#include <sys/resource.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/ipc/channel.h"
#include "common/log.h"
#include "supervisor/config/config_file.h"

#define MEMORY_LIMIT (256u * 1024 * 1024) /* a file of 1 MiB takes 60 MiB */
#define CPU_LIMIT    10 /* seconds; a file of 1 MiB takes one */
#define FILES_LIMIT  64 /* open at a time; name services open some */
#define SIZE_LIMIT   (8u * 1024 * 1024) /* of the memfd, and of a log file */

/* The size is stored before the bytes, so that free can wipe them. */
union block {
	size_t size;
	char align[16];
};

static void *
wiping_malloc(size_t size)
{
	union block *b;

	if (size > SIZE_MAX - sizeof(*b))
		return NULL;
	b = malloc(sizeof(*b) + size);
	if (b == NULL)
		return NULL;
	b->size = size;
	return b + 1;
}

static void
wiping_free(void *p)
{
	union block *b = p;

	if (b == NULL)
		return;
	b--;
	explicit_bzero(b + 1, b->size);
	free(b);
}

static void
limit(int resource, rlim_t most)
{
	struct rlimit rl;

	if (getrlimit(resource, &rl) == -1)
		return;
	if (rl.rlim_max == RLIM_INFINITY || rl.rlim_max > most)
		rl.rlim_max = most;
	rl.rlim_cur = rl.rlim_max;
	if (setrlimit(resource, &rl) == -1)
		log_warn("cannot set a limit of the parser");
}

#ifndef SANITIZED /* the address sanitizer maps terabytes */
/* Bytes of address space in use, to which MEMORY_LIMIT is added. */
static rlim_t
memory_now(void)
{
	unsigned long pages = 0;
	FILE *f = fopen("/proc/self/statm", "re");

	if (f == NULL)
		return 0;
	if (fscanf(f, "%lu", &pages) != 1)
		pages = 0;
	fclose(f);
	return (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE);
}
#endif

static void
limits_apply(void)
{
	limit(RLIMIT_CORE, 0);
	limit(RLIMIT_CPU, CPU_LIMIT);
	limit(RLIMIT_NOFILE, FILES_LIMIT);
	limit(RLIMIT_FSIZE, SIZE_LIMIT);
#ifndef SANITIZED
	limit(RLIMIT_AS, memory_now() + MEMORY_LIMIT);
#endif
	if (prctl(PR_SET_DUMPABLE, 0) == -1)
		log_warn("cannot protect the parser against tracing");
}

static int
frame_send_to_supervisor(int fd, enum msg_type type, const struct writer *w,
    int passed)
{
	return frame_write(fd, ROLE_PARSER, ROLE_SUPERVISOR, type, 0, w,
	    passed);
}

void
parser_hello(struct writer *w)
{
	char keys[64];

	snprintf(keys, sizeof(keys), PACKAGE_VERSION ", %d keys", CONF__COUNT);
	wr_u32(w, MSG_VERSION);
	wr_u8(w, ROLE_PARSER);
	wr_str(w, keys);
}

static int
hello_send(int fd, struct writer *w)
{
	wr_reset(w);
	parser_hello(w);
	return frame_send_to_supervisor(fd, MSG_HELLO, w, -1);
}

static int
values_send(int fd, const struct conf *conf, struct writer *w)
{
	const char *value;
	int key;

	for (key = 0; key < CONF__COUNT; key++) {
		value = conf->values[key];
		if (value == NULL || strcmp(value, conf_rule(key)->def) == 0)
			continue;
		wr_reset(w);
		conf_write(w, key, value);
		if (frame_send_to_supervisor(fd, MSG_CONF, w, -1) == -1)
			return -1;
	}
	return 0;
}

static int
bad_send(int fd, const struct conf_parse *p, struct writer *w)
{
	wr_reset(w);
	wr_u32(w, 0);
	wr_str(w, p->reason);
	return frame_send_to_supervisor(fd, MSG_CONF_BAD, w, -1);
}

static int
all_send(int fd, const struct conf_parse *p, struct writer *w, int memfd,
    int receiver_memfd)
{
	if (values_send(fd, &p->conf, w) == -1 ||
	    frame_send_to_supervisor(fd, MSG_SECRETS, NULL, memfd) == -1)
		return -1;
	if (conf_reads_stream(
		p->in_force != NULL ? &p->in_force->conf : &p->conf) &&
	    frame_send_to_supervisor(fd, MSG_RECEIVER_SECRETS, NULL,
		receiver_memfd) == -1)
		return -1;
	wr_reset(w);
	wr_u32(w, 0);
	return frame_send_to_supervisor(fd, MSG_CONF_END, w, -1);
}

void
parser_limits(void)
{
	limits_apply();
	json_set_alloc_funcs(wiping_malloc, wiping_free);
}

int
parser_run(const char *path, int explicit_path, struct in_force *in_force,
    int fd_out)
{
	struct conf_parse p;
	struct writer w;
	int memfd = -1, receiver_memfd = -1, rc;

	wr_init(&w, MSG_PAYLOAD_MAX);
	conf_parse_init(&p, path);
	p.in_force = in_force;
	conf_parse_file(&p, explicit_path);
	if (p.errors == 0) {
		memfd = conf_secrets_seal(&p.secrets);
		receiver_memfd = conf_secrets_seal(&p.receiver_secrets);
		if (memfd == -1 || receiver_memfd == -1)
			conf_error(&p, NULL, NULL, "memfd for the secrets: %s",
			    strerror(errno));
	}
	if (hello_send(fd_out, &w) == -1)
		rc = -1;
	else if (p.errors != 0)
		rc = bad_send(fd_out, &p, &w) == -1 ? -1 : 1;
	else
		rc = all_send(fd_out, &p, &w, memfd, receiver_memfd);
	if (rc == -1)
		log_warn("cannot send the configuration to the supervisor");
	if (memfd != -1)
		close(memfd);
	if (receiver_memfd != -1)
		close(receiver_memfd);
	conf_parse_clear(&p);
	wr_clear(&w);
	return rc;
}
