/* SPDX-License-Identifier: MIT */
/* The metrics of a reply as text; see metrics_text.h. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>

#include "ctl/ctl.h"

void
print_metrics(const struct ctl_reply *a, enum metrics_form form)
{
	struct metric_row *rows = calloc(a->n + 1, sizeof(*rows));
	size_t i, n = 0, left_out = 0;
	int k;

	if (rows == NULL) {
		fprintf(stderr, "cc-slurm-adapterctl: out of memory\n");
		exit(EXIT_REFUSED);
	}
	for (i = 0; i < a->n; i++) {
		if (a->rows[i].table != CTL_T_METRIC)
			continue;
		if (a->rows[i].n != METRIC_FIELDS ||
		    !metric_is_valid((const char *const *)a->rows[i].fields)) {
			left_out++;
			continue;
		}
		for (k = 0; k < METRIC_FIELDS; k++)
			rows[n].fields[k] = a->rows[i].fields[k];
		n++;
	}
	metrics_print(stdout, rows, n, form);
	if (left_out > 0)
		fprintf(stderr,
		    "cc-slurm-adapterctl: %zu rows are not valid and are left "
		    "out\n",
		    left_out);
	free(rows);
}
