/* SPDX-License-Identifier: MIT */
/* The collector's configuration, checked and ready for use. */
#ifndef COLLECTOR_BASE_SETTINGS_H
#define COLLECTOR_BASE_SETTINGS_H

#include <stddef.h>
#include <stdint.h>

#include "collector/parse/parse.h"
#include "common/model/conf.h"

/* gpu_map.c */

struct pattern;
struct gpu_map;

/*
 * A regular expression that matches anywhere in a text.  Returns NULL and a
 * reason on error.
 */
struct pattern *pattern_new(const char *text, char *reason, size_t size);
void pattern_free(struct pattern *p);
int pattern_matches(const struct pattern *p, const char *text);

/* text: the JSON value of gpuPciAddrs.  Returns NULL and a reason on error. */
struct gpu_map *gpu_map_new(const char *text, char *reason, size_t size);
void gpu_map_free(struct gpu_map *map);
/*
 * Returns 0 and the address, or -1.  A missing address is logged once per
 * host.
 */
int gpu_address(struct gpu_map *map, const char *host, uint32_t index,
    char address[ACCEL_MAX]);
/*
 * The number of slots of the host's rule, 0 without a rule.  *addresses: one text
 * for each slot, NULL where the rule has none; borrowed from map.
 */
size_t gpu_addresses(const struct gpu_map *map, const char *host,
    char *const **addresses);
/* 1 when gpuPciAddrs is not set. */
int gpu_map_is_empty(const struct gpu_map *map);

/* settings.c */

struct settings {
	struct settings *next; /* of the list of retired settings */
	struct gpu_map *gpus;
	struct pattern *ignore; /* NULL = no host is ignored */
	struct gres_names names;
	struct read_options how; /* borrows from this struct */
	char *opt_out;
	char *bin_dir;
	int64_t poll; /* this and the next times: seconds */
	int64_t query_delay;
	int64_t max_span;
	int64_t long_poll; /* until the last day is read again */
	int64_t lag;
	int64_t node_poll;    /* 0 = never */
	int64_t node_refresh; /* 0 = never */
	unsigned retries;
	size_t script_max; /* bytes; 0 = no scripts */
};

/* Returns owned; NULL and a reason on error. */
struct settings *settings_new(const struct conf *conf, char *reason,
    size_t size);
void settings_free(struct settings *set);
/* Are all hosts of the job ignored?  A job without hosts is not ignored. */
int settings_ignores(const struct settings *set, const struct job *job);

#endif
