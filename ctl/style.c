/* SPDX-License-Identifier: MIT */
/*
 * Standard output: the width of its terminal, whether colours are wanted, and
 * whether all was written.
 */
#include "config.h"

#include <sys/ioctl.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ctl/ctl.h"

#define WIDTH_DEFAULT 80

int
terminal_size(int fd, int *rows)
{
	struct winsize size;

	if (ioctl(fd, TIOCGWINSZ, &size) == -1 || size.ws_col == 0) {
		*rows = 24;
		return WIDTH_DEFAULT;
	}
	*rows = size.ws_row > 0 ? size.ws_row : 24;
	return size.ws_col;
}

/* NO_COLOR: https://no-color.org; any value but the empty one counts. */
void
style_init(struct style *style, int no_color)
{
	const char *env = getenv("NO_COLOR"), *term = getenv("TERM");
	int rows;

	memset(style, 0, sizeof(*style));
	if (!isatty(STDOUT_FILENO))
		return;
	style->width = terminal_size(STDOUT_FILENO, &rows);
	style->colour = !no_color && (env == NULL || *env == '\0') &&
	    term != NULL && strcmp(term, "dumb") != 0;
}

const char *
style_on(const struct style *style, enum colour colour)
{
	static const char *const codes[] = {
		[COLOUR_BOLD] = "\033[1m",
		[COLOUR_GOOD] = "\033[32m",
		[COLOUR_BAD] = "\033[31m",
	};

	return style->colour ? codes[colour] : "";
}

const char *
style_off(const struct style *style)
{
	return style->colour ? "\033[0m" : "";
}

int
output_failed(void)
{
	return fflush(stdout) != 0 || ferror(stdout);
}
