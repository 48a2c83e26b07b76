/* SPDX-License-Identifier: MIT */
/* See stream_name.h. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "common/record/stream_name.h"

static int
is_plain(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	    (c >= '0' && c <= '9') || c == '_' || c == '-';
}

int
stream_name(const char *prefix, const char *cluster, char *buf, size_t size)
{
	size_t n = strlen(prefix);
	const char *c;

	if (*cluster == '\0' || n >= size)
		return -1;
	memcpy(buf, prefix, n + 1);
	for (c = cluster; *c != '\0'; c++) {
		if (n + 4 > size)
			return -1;
		if (is_plain(*c)) {
			buf[n++] = *c;
			buf[n] = '\0';
		} else
			n += (size_t)snprintf(buf + n, size - n, "=%02X",
			    (unsigned char)*c);
	}
	return 0;
}
