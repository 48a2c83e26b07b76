/* SPDX-License-Identifier: MIT */
/* Where natsCaFile is not set, the system's certificates are trusted. */
#include "config.h"

#include <sys/mman.h>
#include <sys/stat.h>

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "submitter/nats/system_ca.h"

/* Debian's and Red Hat's places. */
static const char *const bundles[] = {
	"/etc/ssl/certs/ca-certificates.crt",
	"/etc/pki/tls/certs/ca-bundle.crt",
};

/* A bundle has some 200 KiB. */
#define BUNDLE_MAX	(4 * 1024 * 1024)

static const char *bundle;
static size_t bundle_len;

void
nats_cert_prepare(void)
{
	struct stat st;
	void *p;
	size_t i;
	int fd;

	for (i = 0; bundle == NULL && i < sizeof(bundles) / sizeof(bundles[0]);
	    i++) {
		fd = open(bundles[i], O_RDONLY | O_CLOEXEC);
		if (fd == -1)
			continue;
		if (fstat(fd, &st) == 0 && st.st_size > 0 &&
		    st.st_size <= BUNDLE_MAX) {
			p = mmap(NULL, (size_t)st.st_size, PROT_READ,
			    MAP_PRIVATE, fd, 0);
			if (p != MAP_FAILED) {
				bundle = p;
				bundle_len = (size_t)st.st_size;
			}
		}
		close(fd);
	}
}

char *
nats_cert_system(void)
{
	char *copy;

	if (bundle == NULL)
		return NULL;
	copy = malloc(bundle_len + 1);
	if (copy == NULL)
		return NULL;
	memcpy(copy, bundle, bundle_len);
	copy[bundle_len] = '\0';
	return copy;
}
