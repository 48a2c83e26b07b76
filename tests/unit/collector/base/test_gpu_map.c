/* SPDX-License-Identifier: MIT */
/* Addresses of GPUs by host and index. */
#include "config.h"

#include "collector/base/settings.h"
#include "tests/unit/check.h"

static const struct {
	const char *text;
	const char *host;
	uint32_t index;
	const char *want; /* NULL = none */
} gpus[] = {
	{ "{}", "n1", 0, NULL },
	{ "{\"^n1$\":[\"a\",\"b\"]}", "n1", 1, "b" },
	{ "{\"^n1$\":[\"a\",\"b\"]}", "n11", 1, NULL },
	{ "{\"n\":[\"a\"],\"n1\":[\"b\"]}", "n1", 0, "a" },
	{ "{\"n1\":[\"b\"],\"n\":[\"a\"]}", "n1", 0, "b" },
	{ "{\"n[12]\":[\"a\"]}", "xn2x", 0, "a" },
	{ "{\"n1\":[\"a\"]}", "n1", 1, NULL },
	{ "{\"n\":{\"0\":\"a\",\"3\":\"d\"}}", "n7", 3, "d" },
	{ "{\"n\":{\"0\":\"a\",\"3\":\"d\"}}", "n7", 1, NULL },
	{ "{\"n.\":{\"0\":\"a\"}}", "n7", 0, NULL },
	{ "{\"^(a+)+$\":[\"a\"],\"a\":[\"b\"]}",
	    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab", 0, "b" },
};

static const char *const bad_gpus[] = {
	"",
	"[]",
	"{\"[\":[]}",
	"{\"n\":\"a\"}",
	"{\"n\":[1]}",
	"{\"n\":[\"\"]}",
	"{\"n\":{\"x\":\"a\"}}",
	"{\"n\":{\"9999\":\"a\"}}",
	"{\"n\":[\"012345678901234567890123456789012345678901234567890123456789abcd\"]}",
};

static void
test_gpus(void)
{
	char reason[256], address[ACCEL_MAX];
	struct gpu_map *map;
	size_t i;

	for (i = 0; i < sizeof(gpus) / sizeof(gpus[0]); i++) {
		map = gpu_map_new(gpus[i].text, reason, sizeof(reason));
		CHECK(map != NULL);
		if (map == NULL)
			continue;
		CHECK_STR(gpu_address(map, gpus[i].host, gpus[i].index,
			      address) == 0 ?
			address :
			NULL,
		    gpus[i].want);
		gpu_map_free(map);
	}
	for (i = 0; i < sizeof(bad_gpus) / sizeof(bad_gpus[0]); i++) {
		reason[0] = '\0';
		map = gpu_map_new(bad_gpus[i], reason, sizeof(reason));
		CHECK(map == NULL && reason[0] != '\0');
		gpu_map_free(map);
	}
}

static void
test_slots(void)
{
	char reason[256];
	char *const *addresses;
	struct gpu_map *map = gpu_map_new(
	    "{\"^n1$\":[\"a\",\"b\"],\"m\":{\"0\":\"a\",\"2\":\"c\"}}", reason,
	    sizeof(reason));

	CHECK(!gpu_map_is_empty(map));
	CHECK_INT(gpu_addresses(map, "n1", &addresses), 2);
	CHECK_STR(addresses[1], "b");
	CHECK_INT(gpu_addresses(map, "m7", &addresses), 3);
	CHECK_STR(addresses[0], "a");
	CHECK_STR(addresses[1], NULL);
	CHECK_STR(addresses[2], "c");
	CHECK_INT(gpu_addresses(map, "x", &addresses), 0);
	gpu_map_free(map);
	map = gpu_map_new("{}", reason, sizeof(reason));
	CHECK(gpu_map_is_empty(map));
	gpu_map_free(map);
}

/* The devices of several hosts, in any order. */
static void
test_hosts(void)
{
	static const struct {
		const char *host;
		uint32_t index;
		const char *want;
	} asked[] = { { "n1", 0, "a" }, { "n1", 1, "b" }, { "m1", 0, "c" },
		{ "n2", 1, "b" }, { "x", 0, NULL }, { "x", 1, NULL },
		{ "n1", 2, NULL }, { "m1", 0, "c" } };
	char reason[256], address[ACCEL_MAX], host[HOST_MAX];
	struct gpu_map
	    *map = gpu_map_new("{\"^n\":[\"a\",\"b\"],\"m\":{\"0\":\"c\"}}",
		reason, sizeof(reason));
	size_t i;

	for (i = 0; i < sizeof(asked) / sizeof(asked[0]); i++)
		CHECK_STR(gpu_address(map, asked[i].host, asked[i].index,
			      address) == 0 ?
			address :
			NULL,
		    asked[i].want);
	/* More hosts than errors are logged. */
	for (i = 0; i < 3000; i++) {
		snprintf(host, sizeof(host), "y%zu", i % 1500);
		CHECK_INT(gpu_address(map, host, 0, address), -1);
	}
	gpu_map_free(map);
}

int
main(void)
{
	test_gpus();
	test_hosts();
	test_slots();
	return check_done();
}
