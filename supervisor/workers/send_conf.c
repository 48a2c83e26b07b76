/* SPDX-License-Identifier: MIT */
/*
 * A configuration on its way to one worker: only its own keys, and the
 * secrets' descriptor to the one that may have it.
 */
#include "config.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "supervisor/system/supervisor.h"

static void
values_send(struct child *c, const struct conf *conf)
{
	struct writer w;
	int key;

	wr_init(&w, MSG_PAYLOAD_MAX);
	for (key = 0; key < CONF__COUNT; key++) {
		if (conf->values[key] == NULL ||
		    (conf_rule(key)->roles & (1u << c->role)) == 0)
			continue;
		wr_reset(&w);
		conf_write(&w, key, conf->values[key]);
		channel_send(c->channel, MSG_CONF, 0, &w, -1);
	}
	wr_clear(&w);
}

void
conf_send(struct child *c, const struct conf *conf, int secrets)
{
	struct writer w;
	int copy;

	if (c->channel == NULL)
		return;
	values_send(c, conf);
	if (c->role == ROLE_SUBMITTER && secrets != -1) {
		copy = fcntl(secrets, F_DUPFD_CLOEXEC, 0);
		if (copy == -1) {
			log_error("descriptor of the secrets");
			return;		/* no conf-end: it is asked in vain */
		}
		channel_send(c->channel, MSG_SECRETS, 0, NULL, copy);
	}
	wr_init(&w, sizeof(uint32_t));
	wr_u32(&w, conf->generation);
	channel_send(c->channel, MSG_CONF_END, 0, &w, -1);
	wr_clear(&w);
	c->conf_sent = conf->generation;
	c->conf_agreed = 0;
}
