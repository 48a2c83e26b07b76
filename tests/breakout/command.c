/* SPDX-License-Identifier: MIT */
/*
 * Stands for a command of Slurm that an attacker controls.  The file breakout.args beside
 * slurm.conf has the names of the attempts in its first line and the targets in
 * the lines after it; the results, one "NAME ERROR VALUE" a line, are sent to
 * the UDP port of the targets.  With -list it prints the names of all attempts.
 */
#include "config.h"

#include <sys/socket.h>
#include <sys/wait.h>

#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/breakout/attempts.h"
#include "tests/breakout/page.h"

#define KILLED (-1) /* in place of an error */

static void
name_print(const char *name)
{
	puts(name);
}

static size_t
args_read(char *buf, size_t size)
{
	const char *conf = getenv("SLURM_CONF");
	char path[4096], *slash;
	size_t n;
	FILE *f;

	snprintf(path, sizeof(path), "%s", conf != NULL ? conf : "");
	if ((slash = strrchr(path, '/')) == NULL ||
	    (size_t)(slash - path) + sizeof("/breakout.args") > sizeof(path))
		return 0;
	strcpy(slash, "/breakout.args");
	if ((f = fopen(path, "re")) == NULL)
		return 0;
	n = fread(buf, 1, size - 1, f);
	buf[n] = '\0';
	fclose(f);
	return n;
}

static void
result_send(const char *name, int error, int64_t value)
{
	struct sockaddr_in to = { .sin_family = AF_INET };
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	char line[256];
	int n;

	if (fd == -1)
		return;
	n = snprintf(line, sizeof(line), "%s %d %lld", name, error,
	    (long long)value);
	to.sin_port = htons((uint16_t)targets.udp_port);
	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	sendto(fd, line, (size_t)n, 0, (struct sockaddr *)&to, sizeof(to));
	close(fd);
}

/* In a process of its own, which the filter may kill. */
static void
attempt_make(const char *name)
{
	int64_t value = 0;
	int error, status = 0;
	pid_t pid = fork();

	if (pid == -1)
		return;
	if (pid == 0) {
		error = attempt_run(name, &value);
		result_send(name, error, value);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	if (WIFSIGNALED(status))
		result_send(name, KILLED, WTERMSIG(status));
}

int
main(int argc, char **argv)
{
	static char buf[COMMAND_MAX * 64 + TARGETS_MAX];
	char *names, *name, *rest = buf;

	if (argc == 2 && strcmp(argv[1], "-list") == 0) {
		attempts_each(name_print);
		return 0;
	}
	if (args_read(buf, sizeof(buf)) == 0)
		return 1;
	names = strsep(&rest, "\n");
	if (rest == NULL)
		return 1;
	targets_read(rest);
	while ((name = strsep(&names, " ")) != NULL)
		attempt_make(name);
	result_send("end", 0, 0);
	return 1;
}
