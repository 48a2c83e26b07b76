/* SPDX-License-Identifier: MIT */
/* Copies and wipes secrets; see secret.h. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "submitter/net/secret.h"

char *
secret_copy(const void *p, size_t len)
{
	char *s;

	if (memchr(p, '\0', len) != NULL)
		return NULL;
	s = malloc(len + 1);
	if (s == NULL)
		return NULL;
	memcpy(s, p, len);
	s[len] = '\0';
	return s;
}

void
secret_free(char *secret)
{
	if (secret == NULL)
		return;
	explicit_bzero(secret, strlen(secret));
	free(secret);
}
