/* SPDX-License-Identifier: MIT */
/*
 * The system's certificate authorities.  The bundle is copied into memory once,
 * because a worker in a chroot cannot open the file later.
 */
#include "config.h"

#include <sys/stat.h>

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/net/system_ca.h"

/* Debian's bundle has 220 KB; a larger file is not a bundle. */
#define BUNDLE_MAX (4 * 1024 * 1024)

/* Debian, Red Hat, SUSE; the first file that exists is used. */
static const char *const paths[] = {
	"/etc/ssl/certs/ca-certificates.crt",
	"/etc/pki/tls/certs/ca-bundle.crt",
	"/etc/ssl/ca-bundle.pem",
};

static char *bundle;
static size_t bundle_len;

/* Returns owned: the bytes of the file with a NUL behind them; or NULL. */
static char *
file_read(const char *path, size_t *len)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	char *text = NULL;
	ssize_t n;

	*len = 0;
	if (fd == -1)
		return NULL;
	if (fstat(fd, &st) == 0 && st.st_size > 0 && st.st_size <= BUNDLE_MAX)
		text = malloc((size_t)st.st_size + 1);
	while (text != NULL && *len < (size_t)st.st_size) {
		n = read(fd, text + *len, (size_t)st.st_size - *len);
		if (n <= 0)
			break;
		*len += (size_t)n;
	}
	close(fd);
	if (*len == 0) {
		free(text);
		return NULL;
	}
	text[*len] = '\0';
	return text;
}

void
system_ca_load(void)
{
	size_t i;

	for (i = 0; bundle == NULL && i < sizeof(paths) / sizeof(paths[0]); i++)
		bundle = file_read(paths[i], &bundle_len);
}

const char *
system_ca(size_t *len)
{
	*len = bundle_len;
	return bundle;
}
