/* SPDX-License-Identifier: MIT */
/*
 * What a Slurm command could do to us, were it hostile: put in squeue's
 * place by 180-secrets.sh.  Opens each file named in the list beside it,
 * tells the test by UDP how that ended, and goes on as the real squeue.
 * Static, because inside the sandbox it may execute little else.
 *
 * PROBE_LIST: path of the list; its first line is the UDP port, its second
 * the real squeue, then one file a line.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static void
tell(int port, const char *path, const char *how)
{
	struct sockaddr_in sin = { .sin_family = AF_INET };
	char line[1024];
	int fd, n;

	sin.sin_port = htons((unsigned short)port);
	sin.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	n = snprintf(line, sizeof(line), "%u %s %s\n", (unsigned)getuid(), path,
	    how);
	fd = socket(AF_INET, SOCK_DGRAM, 0);
	if (fd == -1)
		return;
	(void)sendto(fd, line, (size_t)n, 0, (struct sockaddr *)&sin,
	    sizeof(sin));
	close(fd);
}

static void
probe(int port, const char *path)
{
	char byte;
	int fd = open(path, O_RDONLY);

	if (fd == -1)
		tell(port, path, strerror(errno));
	else if (read(fd, &byte, 1) == -1)
		tell(port, path, "opened, not readable");
	else
		tell(port, path, "OPENED");
	if (fd != -1)
		close(fd);
}

int
main(int argc, char *argv[])
{
	char real[1024] = "", line[1024];
	int port = 0, n = 0;
	FILE *fp = fopen(PROBE_LIST, "re");

	(void)argc;
	while (fp != NULL && fgets(line, sizeof(line), fp) != NULL) {
		line[strcspn(line, "\n")] = '\0';
		if (n == 0)
			port = atoi(line);
		else if (n == 1)
			snprintf(real, sizeof(real), "%s", line);
		else
			probe(port, line);
		n++;
	}
	if (n == 0)
		return 9;
	fclose(fp);
	execv(real, argv);
	tell(port, real, "not executed");
	return 1;
}
