/* SPDX-License-Identifier: MIT */
/* One string of config.json: prepSockConnectPath, for the hook client. */
#include "config.h"

#include <errno.h>

#include "common/model/conf.h"
#include "common/model/config_key.h"
#include "hook/hook.h"
#include "tests/unit/check.h"

#define KEY "prepSockConnectPath"

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
		/* Another case is read as the key, as the daemon does. */
		{ "{\"PrepSockConnectPATH\":\"/a\"}", "/a" },
		{ "{\"PREPSOCKCONNECTPATH\":\"/a\",\"prepsockconnectpath\""
		  ":\"/b\"}",
		    "/b" },
		{ "{\"prepsockconnectpath\":\"/no\",\"prepSockConnectPath\""
		  ":\"/a\"}",
		    "/a" },
		{ "{\"prepSockConnectPath\":\"/a\",\"prepsockconnectpath\""
		  ":\"/no\"}",
		    "/a" },
		{ "{\"prepsockconnectpath\":\"/no\",\"prepSockConnectPath\""
		  ":null}",
		    NULL },
		{ "{\"prepSockConnectPaths\":\"/no\"}", NULL },
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
		found = config_key_find(cases[i].text, strlen(cases[i].text),
		    KEY, buf, sizeof(buf));
		CHECK_STR(found ? buf : NULL, cases[i].want);
	}
	CHECK_INT(config_key_find("{\"prepSockConnectPath\":\"/abc\"}", 30, KEY,
		      buf, 4),
	    0);
	errno = 0;
	CHECK_INT(config_key_read("/nonexistent", KEY, buf, sizeof(buf)), -1);
	CHECK_INT(errno, ENOENT);
	CHECK_INT(config_key_read("/dev", KEY, buf, sizeof(buf)), -1);
	CHECK_STR(HOOK_SOCKET, conf_rule(CONF_PREP_CONNECT)->def);
}

int
main(void)
{
	test_config();
	return check_done();
}
