/* SPDX-License-Identifier: MIT */
/* prepSockConnectPath in config.json. */
#include "config.h"

#include "common/conf.h"
#include "hook/hook.h"
#include "tests/unit/check.h"

static void
test_config(void)
{
	static const struct {
		const char *text, *want;
	} cases[] = {
		{ "{\"prepSockConnectPath\":\"/a\"}", "/a" },
		{ " { \"x\" : [1,{\"prepSockConnectPath\":\"/no\"}], "
		  "\"prepSockConnectPath\" : \"tcp:[::1]:5\" } ",
		    "tcp:[::1]:5" },
		{ "{\"a\":\"}\\\"\",\"prepSockConnectPath\":\"\\/b\\\\\"}",
		    "/b\\" },
		{ "{\"prepSockConnectPath\":\"/a\",\"b\":tru", "/a" },
		{ "{\"prepSockConnectPath\":\"/a\",\"prepSockConnectPath\""
		  ":\"/b\"}",
		    "/b" },
		{ "{\"b\":1,\"prepSockConnectPath\":5}", NULL },
		{ "{\"prepSockConnectPath\":\"\"}", NULL },
		{ "{\"prepSockConnectPath\":\"/a", NULL },
		{ "{\"prepSockConnectPath\":\"\\u0041\"}", "A" },
		{ "[\"prepSockConnectPath\",\"/a\"]", NULL },
		{ "", NULL },
		{ "{", NULL },
		{ "{}", NULL },
		{ "{,}", NULL },
		{ "{\"a\"", NULL },
		{ "{\"a\":", NULL },
		{ "{\"a\":[", NULL },
	};
	char buf[64];
	size_t i;
	int found;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		found = config_find_socket(cases[i].text, strlen(cases[i].text),
		    buf, sizeof(buf));
		CHECK_STR(found ? buf : NULL, cases[i].want);
	}
	CHECK_INT(config_find_socket("{\"prepSockConnectPath\":\"/abc\"}", 30,
		      buf, 4),
	    0);
	CHECK_INT(config_read_socket("/nonexistent", buf, sizeof(buf)), 0);
	CHECK_INT(config_read_socket("/dev", buf, sizeof(buf)), 0);
	CHECK_STR(HOOK_SOCKET, conf_rule(CONF_PREP_CONNECT)->def);
}

int
main(void)
{
	test_config();
	return check_done();
}
