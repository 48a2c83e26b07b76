/* SPDX-License-Identifier: MIT */
/* The forms of JSON that a Slurm can print; see json_read.h. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "collector/parse/json_read.h"

unsigned
json_form(const char *list)
{
	static const char mark[] = "data_parser/v0.0.";
	unsigned form = 0, n;
	const char *p = list;

	while ((p = strstr(p, mark)) != NULL) {
		p += sizeof(mark) - 1;
		if (sscanf(p, "%3u", &n) == 1 && n >= JSON_FORM_OLDEST &&
		    (form == 0 || n < form))
			form = n;
	}
	return form;
}
