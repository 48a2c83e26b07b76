/* SPDX-License-Identifier: MIT */
/* The credential in the message, from helpers that work and that do not. */
#include "config.h"

#include <sys/stat.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/model/hook_credential.h"
#include "hook/hook.h"
#include "tests/unit/check.h"
#include "tests/unit/hook/hook_clock.h"

#define MESSAGE	 "{\"A\":\"x\"}"
#define PATIENCE 100 /* for a helper that answers, on a busy machine */

static char folder[] = "/tmp/test_credential.XXXXXX";
static char program[64];

/* A helper with this shell text.  Returns the message. */
static const char *
message_of(const char *text, size_t room)
{
	static char message[4096];
	FILE *f = fopen(program, "we");
	size_t len = strlen(MESSAGE);

	CHECK(f != NULL);
	fprintf(f, "#!/bin/sh\n%s\n", text);
	CHECK_INT(fclose(f), 0);
	CHECK_INT(chmod(program, 0700), 0);
	memcpy(message, MESSAGE, len);
	len = credential_add(message, len + room, len, program, "/run/m.s");
	CHECK(len < sizeof(message));
	message[len] = '\0';
	return message;
}

static void
test_good(void)
{
	CHECK_STR(message_of("printf MUNGE:AB=:", CREDENTIAL_ROOM),
	    "{\"A\":\"x\",\"" HOOK_CREDENTIAL_KEY "\":\"MUNGE:AB=:\"}");
	/* The helper gets the socket and has no other descriptor of ours. */
	CHECK_STR(message_of("test \"$1\" = /run/m.s && test ! -e "
			     "/proc/$$/fd/9 && printf MUNGE:A:",
		      CREDENTIAL_ROOM),
	    "{\"A\":\"x\",\"" HOOK_CREDENTIAL_KEY "\":\"MUNGE:A:\"}");
}

static void
test_wrong(void)
{
	static const char *const helpers[] = { "exit 1", "printf 'MUNGE:A'",
		"printf 'MUNGE:A:\",\"B\":\"'", "printf 'MUNGE:A:\\n'",
		"printf MUNGE:; head -c 2000 /dev/zero | tr '\\0' A; printf :",
		"kill -9 $$" };
	size_t i;

	for (i = 0; i < sizeof(helpers) / sizeof(helpers[0]); i++)
		CHECK_STR(message_of(helpers[i], CREDENTIAL_ROOM), MESSAGE);
	/* Too little room in the message. */
	CHECK_STR(message_of("printf MUNGE:AB=:", 20), MESSAGE);
	unlink(program);
	CHECK_INT(credential_add((char[64]) { MESSAGE }, 64, strlen(MESSAGE),
		      program, "/run/m.s"),
	    strlen(MESSAGE));
}

/* munged does not answer: the hook does not wait for it. */
static void
test_hangs(void)
{
	waited_ms = 0;
	poll_factor = 1;
	CHECK_STR(message_of("exec sleep 60", CREDENTIAL_ROOM), MESSAGE);
	CHECK_STR(message_of("printf MUNGE:A:; exec sleep 60", CREDENTIAL_ROOM),
	    MESSAGE);
	CHECK_INT(waited_ms, 2 * HOOK_MUNGE_MS);
}

int
main(void)
{
	if (mkdtemp(folder) == NULL)
		return 1;
	snprintf(program, sizeof(program), "%s/helper", folder);
	poll_factor = PATIENCE;
	test_good();
	test_wrong();
	test_hangs();
	unlink(program);
	rmdir(folder);
	return check_done();
}
