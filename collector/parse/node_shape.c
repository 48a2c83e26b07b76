/* SPDX-License-Identifier: MIT */
/* A line of `scontrol show node -o`; see read.h. */
#include "config.h"

#include <string.h>

#include "collector/parse/parse.h"

/* The order of these tokens has changed between versions: each from the start. */
static uint16_t
number_of(struct span line, const char *key)
{
	struct span s = line;
	uint32_t v;

	if (number_u32(token_value(&s, key), &v) == -1 || v > UINT16_MAX)
		return 0;
	return (uint16_t)v;
}

int
node_name(struct span line, char host[HOST_MAX])
{
	static const char key[] = "NodeName=";
	const char *end;
	struct span v;

	if (line.n < sizeof(key) || memcmp(line.p, key, sizeof(key) - 1) != 0)
		return -1;
	v = span_from(line, line.p + sizeof(key) - 1);
	end = memchr(v.p, ' ', v.n);
	if (end != NULL)
		v.n = (size_t)(end - v.p);
	if (v.n == 0 || v.n >= HOST_MAX)
		return -1;
	memcpy(host, v.p, v.n);
	host[v.n] = '\0';
	return 0;
}

int
node_record(struct span line, char host[HOST_MAX], struct node_shape *shape)
{
	struct span os = line;
	const char *end;

	if (node_name(line, host) == -1)
		return -1;
	/* An admin's words (Comment, Reason) come last. */
	if ((end = token_find(line, " Comment=")) != NULL)
		os.n = (size_t)(end - line.p);
	shape->sockets = number_of(os, " Sockets=");
	shape->cores = number_of(os, " CoresPerSocket=");
	shape->threads = number_of(os, " ThreadsPerCore=");
	return 0;
}
