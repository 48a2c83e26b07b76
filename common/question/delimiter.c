/* SPDX-License-Identifier: MIT */
/* Random delimiters between the fields of an answer; see question.h. */
#include "config.h"

#include <sys/random.h>

#include <string.h>
#include <time.h>

#include "common/question/question.h"

/*
 * Control bytes, and bytes that do not occur in UTF-8: names of partitions and
 * hosts contain none of them, and Slurm prints them unchanged.  Newline, tab,
 * carriage return, escape and NUL are left out.
 */
static const char alphabet[] =
    "\x01\x02\x03\x04\x05\x06\x0e\x0f\x10\x11\x12\x13\x14\x15\x16\x17"
    "\x18\x19\x1a\x1c\x1d\x1e\x1f\xc0\xc1\xf5\xf6\xf7\xf8\xf9\xfa\xfb"
    "\xfc\xfd\xfe\xff";
#define ALPHABET (sizeof(alphabet) - 1)

void
delimiter_new(char delimiter[DELIMITER_LEN + 1])
{
	unsigned char bytes[DELIMITER_LEN];
	size_t i;

	/* getrandom() fails only before the kernel's generator is ready. */
	if (getrandom(bytes, sizeof(bytes), GRND_NONBLOCK) !=
	    (ssize_t)sizeof(bytes)) {
		struct timespec ts;

		clock_gettime(CLOCK_REALTIME, &ts);
		for (i = 0; i < DELIMITER_LEN; i++)
			bytes[i] = (unsigned char)(ts.tv_nsec >> 2 * i);
	}
	for (i = 0; i < DELIMITER_LEN; i++)
		delimiter[i] = alphabet[bytes[i] % ALPHABET];
	delimiter[i] = '\0';
}

int
delimiter_check(const char *delimiter)
{
	return strlen(delimiter) == DELIMITER_LEN &&
		strspn(delimiter, alphabet) == DELIMITER_LEN ?
	    0 :
	    -1;
}
