/* SPDX-License-Identifier: MIT */
/*
 * A line from the standard error of a process.  A record that is read and written
 * again is read with the same values.
 */
#include "config.h"

#include "common/log_line.h"
#include "tests/fuzz/fuzz.h"

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	char cluster[LOG_CLUSTER_MAX], again[LOG_CLUSTER_MAX];
	struct log_line line, copy;
	char *record = exact_string(bytes, n);
	size_t size = n + 128, len;
	char *buf = malloc(size);

	HOLDS(buf != NULL);
	if (log_record_read(record, cluster, &line) == 0) {
		HOLDS(line.kind < LOG_KIND__COUNT && line.id < LOG_ID__COUNT);
		HOLDS(log_cluster_is_valid(line.cluster));
		len = log_record_write(&line, buf, size);
		HOLDS(len > 0 && len < size && buf[len - 1] == '\n');
		buf[len - 1] = '\0';
		HOLDS(log_record_read(buf, again, &copy) == 0);
		HOLDS(copy.kind == line.kind && copy.id == line.id);
		HOLDS(copy.job == line.job);
		HOLDS(strcmp(copy.cluster, line.cluster) == 0);
		HOLDS(strcmp(copy.text, line.text) == 0);
	}
	free(buf);
	free(record);
	return 0;
}
