/* SPDX-License-Identifier: MIT */
/*
 * The parser of config.json.  Values that name files are refused as any site's
 * would be; nothing is read but the bytes.
 */
#include "config.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/log.h"
#include "supervisor/config/config_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct conf_parse p;
	unsigned i;
	char item[4096];

	log_set_level(LOG_LEVEL_FATAL);
	conf_parse_init(&p, "config.json");
	conf_parse_text(&p, (const char *)bytes, n);
	if (p.errors == 0)
		conf_check_all(&p);
	if (p.errors == 0) {
		/* What was taken can be read back by the workers. */
		for (i = 0;
		     conf_list_item(conf_str(&p.conf, CONF_SLURM_EXTRA_PATHS),
			 i, item, sizeof(item)) == 1;
		     i++)
			if (*item != '/')
				abort();
		if (conf_int(&p.conf, CONF_POLL_INTERVAL) < 1)
			abort();
	}
	conf_parse_clear(&p);
	return 0;
}
