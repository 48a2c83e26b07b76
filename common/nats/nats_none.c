/* SPDX-License-Identifier: MIT */
/* The configuration of NATS in a build without libnats: refuses natsServer. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/nats/nats_conf.h"

/* An object without content, because NULL would mean an error. */
struct nats_conf {
	int none;
};

void
nats_prepare(void)
{
}

struct nats_conf *
nats_conf_new(const struct conf *conf, const uint8_t *secrets, size_t len,
    char *reason, size_t size)
{
	struct nats_conf *nc;

	if (*conf_str(conf, CONF_NATS_SERVER) != '\0') {
		snprintf(reason, size,
		    "natsServer is set, but this program "
		    "was built without NATS (configure --with-nats)");
		return NULL;
	}
	nc = calloc(1, sizeof(*nc));
	if (nc == NULL)
		snprintf(reason, size, "out of memory");
	return nc;
}

void
nats_conf_free(struct nats_conf *nc)
{
	free(nc);
}
