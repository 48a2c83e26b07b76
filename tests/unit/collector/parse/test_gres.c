/* SPDX-License-Identifier: MIT */
/* GRES details and lists of trackable resources. */
#include "config.h"

#include "collector/parse/parse.h"
#include "tests/unit/check.h"

#define S(text) ((struct span) { text, strlen(text) })

static char got[1024];

static int
on_index(uint32_t index, void *arg)
{
	size_t len = strlen(got);

	(void)arg;
	snprintf(got + len, sizeof(got) - len, "%s%u", len ? " " : "", index);
	return 0;
}

static const struct {
	const char *gres;
	const char *indices;
	int count; /* -1 = malformed */
} cases[] = {
	{ "", "", 0 },
	{ "(null)", "", 0 },
	{ "gpu:1(IDX:0)", "0", 1 },
	{ "gpu:a100:2(IDX:1,3)", "1 3", 2 },
	{ "gpu:a100:3(IDX:0-2)", "0 1 2", 3 },
	{ "gpu:a40:1(IDX:0),gpu:v100:0(IDX:)", "0", 1 },
	{ "gpu:a40:2(IDX:0-1),gpu:v100:2(IDX:2-3)", "0 1 2 3", 4 },
	{ "gpu:rtx-3090:2(IDX:0,5)", "0 5", 2 },
	{ "gpu:1g.5gb:1(IDX:6)", "6", 1 },
	{ "gpu:2080:1(IDX:2)", "2", 1 },
	{ "gpu:nvidia_a100_80gb_pcie:2(IDX:0-1)", "0 1", 2 },
	{ "gpu(IDX:0-1)", "0 1", 2 },
	{ "gpu:a100:0(IDX:N/A)", "", 0 },
	{ "gpu:2", "", 2 },
	{ "gpu", "", 1 },
	{ "gpu:a100", "", 1 },
	{ "gres:gpu:a100:1", "", 1 },
	{ "fpga:2(IDX:0-1)", "", 0 },
	{ "fpga:1(IDX:0),gpu:1(IDX:3)", "3", 1 },
	{ "shard:2(IDX:1)", "1", 1 },
	{ "shard:30(0/100,0/100,30/100,0/100)", "2", 1 },
	{ "shard:a100:3(2/4,1/4)", "0 1", 2 },
	{ "shard:2(,,/,1/)", "3", 1 },
	{ "gpu:1(S:0)", "", 1 },
	{ "gpu:a:2(IDX:0-1),gpu:b:2(IDX:2-3),shard:400(IDX:0)", "0 1 2 3", 4 },
	{ "shard:2(IDX:1),gpu:1(IDX:1),shard:30(0/9,2/9,1/9)", "1 2", 2 },
	{ "gpu:1(IDX:2000),shard:1(IDX:2000)", "2000 2000", 2 },
	/* Without a device file (File= or AutoDetect) */
	{ "gpu(CNT:4)", "", 4 },
	{ "gpu:a100(CNT:4)", "", 4 },
	{ "gpu:780(CNT:2)", "", 2 },
	{ "gpu:4090(CNT:4)", "", 4 },
	{ "fpga(CNT:3),gpu:a:1(IDX:0),gpu:b(CNT:2)", "0", 3 },
	{ "gpu:a100(CNT:x)", "", -1 },
	{ ":a100(CNT:1)", "", -1 },
	{ "gpu:1(IDX:0", "", -1 },
	{ "gpu:1(IDX:x)", "", -1 },
	{ "gpu:1(IDX:3-1)", "", -1 },
	{ "gpu:1(IDX:0-99999)", "", -1 },
	{ ":1", "", -1 },
	{ ",", "", -1 },
};

static void
test_details(const struct gres_names *names)
{
	uint32_t count;
	size_t i;
	int rc;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		got[0] = '\0';
		rc = gres_each(S(cases[i].gres), names, on_index, NULL, &count);
		CHECK_INT(rc == 0 ? (int)count : -1, cases[i].count);
		if (rc == 0)
			CHECK_STR(got, cases[i].indices);
	}
}

static void
test_tres(const struct gres_names *names)
{
	struct tres t;

	tres_parse(S("billing=2,cpu=4,gres/gpu:a100=2,gres/gpu=2,mem=1400M,"
		     "node=2"),
	    names, &t);
	CHECK(t.cpus == 4 && t.nodes == 2 && t.gpus == 2 && t.memory == 1400);
	tres_parse(S("cpu=1,mem=62.50G,node=1,gres/gpu:a=1,gres/gpu:b=2"),
	    names, &t);
	CHECK(t.gpus == 3 && t.memory == 64000);
	tres_parse(S(""), names, &t);
	CHECK(t.cpus == 0 && t.gpus == 0);
	tres_parse(S("cpu,=,node=x,gres/=1,gres/gpu=,cpu=7"), names, &t);
	CHECK(t.cpus == 7 && t.gpus == 0 && t.nodes == 0);
}

int
main(void)
{
	struct gres_names names;

	CHECK_INT(gres_names_set(&names, "[\"gpu\",\"shard\"]"), 0);
	CHECK_INT(names.n, 2);
	test_details(&names);
	test_tres(&names);
	return check_done();
}
