/* SPDX-License-Identifier: MIT */
/*
 * The message, as the Go adapter's hook client writes it: one JSON object with
 * all keys in the order of their names.  All values are strings, escaped as
 * Go's encoding/json does.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "hook/hook.h"

/*
 * Bytes of an escaped value when the message would be too long.  All values
 * of this length and the keys stay below MESSAGE_MAX.
 */
#define VALUE_CUT 1024

static const char *const keys[] = {
	"CUDA_MPS_ACTIVE_THREAD_PERCENTAGE",
	"CUDA_VISIBLE_DEVICES",
	"GPU_DEVICE_ORDINAL",
	"SLURM_ARRAY_JOB_ID",
	"SLURM_ARRAY_TASK_COUNT",
	"SLURM_ARRAY_TASK_ID",
	"SLURM_ARRAY_TASK_MAX",
	"SLURM_ARRAY_TASK_MIN",
	"SLURM_ARRAY_TASK_STEP",
	"SLURM_CLUSTER_NAME",
	"SLURM_JOB_ACCOUNT",
	"SLURM_JOB_COMMENT",
	"SLURM_JOB_CONSTRAINTS",
	"SLURM_JOB_CPUS_PER_NODE",
	"SLURM_JOB_DERIVED_EC",
	"SLURM_JOB_END_TIME",
	"SLURM_JOB_EXIT_CODE",
	"SLURM_JOB_EXIT_CODE2",
	"SLURM_JOB_EXTRA",
	"SLURM_JOB_GID",
	"SLURM_JOB_GROUP",
	"SLURM_JOB_ID",
	"SLURM_JOB_LICENSES",
	"SLURM_JOB_NAME",
	"SLURM_JOB_NODELIST",
	"SLURM_JOB_NUM_NODES",
	"SLURM_JOB_OVERSUBSCRIBE",
	"SLURM_JOB_PARTITION",
	"SLURM_JOB_RESERVATION",
	"SLURM_JOB_RESTART_COUNT",
	"SLURM_JOB_START_TIME",
	"SLURM_JOB_STDERR",
	"SLURM_JOB_STDIN",
	"SLURM_JOB_STDOUT",
	"SLURM_JOB_UID",
	"SLURM_JOB_USER",
	"SLURM_JOB_WORK_DIR",
	"SLURM_SCRIPT_CONTEXT",
	"SLURM_WCKEY",
};

#define KEYS (sizeof(keys) / sizeof(keys[0]))

/* Bytes of the well-formed UTF-8 character at p, or 0. */
static size_t
utf8_length(const unsigned char *p)
{
	unsigned low = 0x80, high = 0xbf;
	size_t i, n;

	if (p[0] < 0x80)
		return 1;
	if (p[0] < 0xc2 || p[0] > 0xf4)
		return 0;
	n = p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
	/* Overlong forms, surrogates, values above U+10FFFF. */
	if (p[0] == 0xe0)
		low = 0xa0;
	else if (p[0] == 0xed)
		high = 0x9f;
	else if (p[0] == 0xf0)
		low = 0x90;
	else if (p[0] == 0xf4)
		high = 0x8f;
	if (p[1] < low || p[1] > high)
		return 0;
	for (i = 2; i < n; i++)
		if (p[i] < 0x80 || p[i] > 0xbf)
			return 0;
	return n;
}

static size_t
unicode_write(char *out, unsigned c)
{
	static const char hex[] = "0123456789abcdef";

	out[0] = '\\';
	out[1] = 'u';
	out[2] = hex[c >> 12 & 15];
	out[3] = hex[c >> 8 & 15];
	out[4] = hex[c >> 4 & 15];
	out[5] = hex[c & 15];
	return 6;
}

/*
 * Writes the character at p, escaped, into out (6 bytes).  *used is its length
 * in p.  Returns the length in out.
 */
static size_t
character_write(char *out, const unsigned char *p, size_t *used)
{
	static const char from[] = "\"\\\b\f\n\r\t", to[] = "\"\\bfnrt";
	const char *at;

	*used = utf8_length(p);
	if (*used == 0) {
		*used = 1;
		return unicode_write(out, 0xfffd);
	}
	if (*used == 3 && p[0] == 0xe2 && p[1] == 0x80 &&
	    (p[2] == 0xa8 || p[2] == 0xa9))
		return unicode_write(out, 0x2000u + p[2] - 0x80u);
	if (*used == 1 && (at = strchr(from, p[0])) != NULL) {
		out[0] = '\\';
		out[1] = to[at - from];
		return 2;
	}
	if (p[0] < ' ' || p[0] == '<' || p[0] == '>' || p[0] == '&')
		return unicode_write(out, p[0]);
	memcpy(out, p, *used);
	return *used;
}

size_t
message_escape(char *buf, size_t size, const char *value)
{
	const unsigned char *p;
	size_t used, n, len = 0;
	char piece[6];

	buf[len++] = '"';
	for (p = (const unsigned char *)value; *p != '\0'; p += used) {
		n = character_write(piece, p, &used);
		if (len + n + 1 > size)
			break;
		memcpy(buf + len, piece, n);
		len += n;
	}
	buf[len++] = '"';
	return len;
}

/* Writes values of at most value_max bytes; 0 when buf is too small. */
static size_t
write_all(char *buf, size_t size, size_t value_max)
{
	const char *value;
	size_t i, n, room, len = 0;

	for (i = 0; i < KEYS; i++) {
		n = strlen(keys[i]);
		/* Comma or brace, quotes, colon, empty value, last brace. */
		if (len + n + 7 > size)
			return 0;
		buf[len++] = i == 0 ? '{' : ',';
		buf[len++] = '"';
		memcpy(buf + len, keys[i], n);
		len += n;
		buf[len++] = '"';
		buf[len++] = ':';
		value = getenv(keys[i]);
		room = size - len - 1;
		if (room > value_max)
			room = value_max;
		n = message_escape(buf + len, room, value != NULL ? value : "");
		len += n;
		/* The value may have been cut: it fills the room. */
		if (value_max == size && n + 6 > room)
			return 0;
	}
	buf[len++] = '}';
	return len;
}

size_t
message_write(char *buf, size_t size)
{
	size_t len = write_all(buf, size, size);

	return len != 0 ? len : write_all(buf, size, VALUE_CUT);
}
