/* SPDX-License-Identifier: MIT */
/*
 * The exporter's requests: a scrape is a request for the metrics, as the admin
 * tool sends it, whose rows go to the exporter.  The exporter can ask for
 * nothing else, only once at a time, and not without a pause: the workers would
 * have no time for jobs if an attacker controlled it.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "supervisor/control.h"

/* The exporter itself asks once a second, except after its restart. */
#define PAUSE_MS 500 /* between two beginnings */

static struct client *
scrape_find(const struct control *control)
{
	struct client *c;

	for (c = control->clients; c != NULL; c = c->next)
		if (c->exporter != NULL)
			return c;
	return NULL;
}

static void
end_send(struct child *exporter, uint64_t id)
{
	if (exporter->channel != NULL)
		channel_send(exporter->channel, MSG_METRIC_END, id, NULL, -1);
}

void
control_scrape(struct child *child, uint64_t id)
{
	struct supervisor *sup = child->workers->arg;
	struct control *control = sup->control;
	struct client *c;

	if (control == NULL)
		return;
	if (scrape_find(control) != NULL) {
		channel_broken(child->channel, "scrape");
		return;
	}
	if (control->scrape_ms != 0 &&
	    clock_ms() - control->scrape_ms < PAUSE_MS) {
		end_send(child, id);
		return;
	}
	c = client_internal_new(control, child);
	if (c == NULL) {
		end_send(child, id);
		return;
	}
	control->scrape_ms = clock_ms();
	c->scrape = id;
	c->req.magic = CTL_MAGIC;
	c->req.version = CTL_VERSION;
	c->req.verb = CTL_METRICS;
	c->has_request = 1;
	control->on_request(c);
}

/* Rows of other tables, and longer ones, are not for the exporter. */
void
scrape_row(struct client *c, const void *row, size_t len)
{
	static struct log_limit limit;
	struct channel *channel = c->exporter->channel;
	const uint8_t *bytes = row;
	struct writer w;

	if (channel == NULL || len < 2 || len > MSG_METRIC_MAX ||
	    bytes[0] != CTL_T_METRIC)
		return;
	if (channel_full(channel)) {
		log_limited(&limit, log_warnx,
		    "the exporter does not read fast enough: rows of the "
		    "metrics are missing");
		return;
	}
	wr_init(&w, MSG_METRIC_MAX);
	wr_mem(&w, row, len);
	channel_send(channel, MSG_METRIC, c->scrape, &w, -1);
	wr_clear(&w);
}

void
scrape_end(struct client *c)
{
	end_send(c->exporter, c->scrape);
}

void
scrape_child_gone(struct control *control, const struct child *child)
{
	struct client *c = scrape_find(control);

	if (c != NULL && c->exporter == child)
		client_free(c);
}
