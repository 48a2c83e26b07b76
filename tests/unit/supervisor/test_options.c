/* SPDX-License-Identifier: MIT */
/* The command line as Go's flag package reads it. */
#include "config.h"

#include "supervisor/supervisor.h"
#include "tests/unit/check.h"

#define PARSE(...) parse((const char *[]) { "x", __VA_ARGS__, NULL })

static struct options options;
static char wrong[256];

static int
parse(const char **args)
{
	char *argv[16];
	int argc = 0;

	for (; args[argc] != NULL; argc++)
		memcpy(&argv[argc], &args[argc], sizeof(char *));
	argv[argc] = NULL;
	wrong[0] = '\0';
	return options_parse(&options, argc, argv, wrong, sizeof(wrong));
}

int
main(void)
{
	CHECK_INT(PARSE("-daemon"), 0);
	CHECK_INT(options.daemon, 1);
	CHECK_INT(options.debug, 2);
	CHECK(options.config == NULL);

	CHECK_INT(PARSE("--daemon", "--config=/a", "-debug=5"), 0);
	CHECK_STR(options.config, "/a");
	CHECK_INT(options.debug, 5);

	CHECK_INT(PARSE("-migrate", "old.json"), 0);
	CHECK_INT(options.migrate, 1);
	CHECK_STR(options.file, "old.json");
	CHECK_INT(PARSE("-migrate", "--", "-old.json"), 0);
	CHECK_STR(options.file, "-old.json");
	CHECK_INT(PARSE("-migrate", "--"), 0);
	CHECK(options.file == NULL);

	CHECK_INT(PARSE("-config", "/b", "-debug", "0", "-test"), 0);
	CHECK_STR(options.config, "/b");
	CHECK_INT(options.debug, 0);
	CHECK_INT(options.test, 1);
	CHECK_INT(options.daemon, 0);

	CHECK_INT(PARSE("-daemon=false", "-help=T"), 0);
	CHECK_INT(options.daemon, 0);
	CHECK_INT(options.help, 1);

	/* The first word that is not a flag ends the flags; so does "--". */
	CHECK_INT(PARSE("word", "-daemon"), 0);
	CHECK_INT(options.daemon, 0);
	CHECK_INT(PARSE("--", "-nonsense"), 0);
	CHECK_INT(PARSE("-", "-nonsense"), 0);

	CHECK_INT(PARSE("-nonsense"), -1);
	CHECK_STR(wrong, "flag provided but not defined: -nonsense");
	CHECK_INT(PARSE("--nonsense=3"), -1);
	CHECK_STR(wrong, "flag provided but not defined: -nonsense");
	CHECK_INT(PARSE("-config"), -1);
	CHECK_STR(wrong, "flag needs an argument: -config");
	CHECK_INT(PARSE("-debug", "x"), -1);
	CHECK_INT(PARSE("-debug="), -1);
	/* the Go adapter accepts each number */
	CHECK_INT(PARSE("-debug", "6"), 0);
	CHECK_INT(options.debug, 5);
	CHECK_INT(PARSE("-debug", "-1"), 0);
	CHECK_INT(options.debug, 0);
	CHECK_INT(PARSE("-daemon=maybe"), -1);
	CHECK_INT(PARSE("---daemon"), -1);
	return check_done();
}
