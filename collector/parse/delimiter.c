/* SPDX-License-Identifier: MIT */
/* Delimiters that no user can write into a field; see read.h. */
#include "config.h"

#include <sys/random.h>

#include <string.h>
#include <time.h>

#include "collector/parse/parse.h"

/*
 * Control bytes and bytes that never occur in UTF-8: names of partitions and
 * hosts hold none of them, and Slurm passes them through.  No newline, no
 * tab, no carriage return, no escape, no NUL.
 */
static const unsigned char alphabet[] = {
	0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x0e, 0x0f, 0x10, 0x11, 0x12,
	0x13, 0x14, 0x15, 0x16, 0x17, 0x18, 0x19, 0x1a, 0x1c, 0x1d, 0x1e,
	0x1f, 0xc0, 0xc1, 0xf5, 0xf6, 0xf7, 0xf8, 0xf9, 0xfa, 0xfb, 0xfc,
	0xfd, 0xfe, 0xff,
};

void
delimiter_new(char delimiter[DELIMITER_LEN + 1])
{
	unsigned char bytes[DELIMITER_LEN];
	size_t i;

	/* It fails only before the kernel has any randomness at all. */
	if (getrandom(bytes, sizeof(bytes), GRND_NONBLOCK) !=
	    (ssize_t)sizeof(bytes)) {
		struct timespec ts;

		clock_gettime(CLOCK_REALTIME, &ts);
		memcpy(bytes, &ts.tv_nsec, sizeof(bytes));
	}
	for (i = 0; i < DELIMITER_LEN; i++)
		delimiter[i] = (char)alphabet[bytes[i] % sizeof(alphabet)];
	delimiter[i] = '\0';
}

unsigned
delimiter_split(struct span text, const char *delimiter, struct span *fields,
    unsigned max)
{
	const char *at;
	unsigned n = 0;

	for (;;) {
		at = text.n > 0 ? memmem(text.p, text.n, delimiter,
		    DELIMITER_LEN) : NULL;
		if (n == max)
			return max + 1;
		fields[n].p = text.p;
		fields[n].n = at != NULL ? (size_t)(at - text.p) : text.n;
		n++;
		if (at == NULL)
			return n;
		text.n -= fields[n - 1].n + DELIMITER_LEN;
		text.p = at + DELIMITER_LEN;
	}
}
