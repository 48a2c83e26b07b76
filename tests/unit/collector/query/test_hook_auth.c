/* SPDX-License-Identifier: MIT */
/* Munge credentials of hook messages, with a simulated unmunge. */
#include "config.h"

#include <stdlib.h>

#include <event2/event.h>

#include "collector/query/query_lanes.h"
#include "tests/unit/check.h"
#include "tests/unit/collector/simulation.h"

#define SLURM_UID 64030
#define PAYLOAD	  "cc-slurm-adapter-hook alpha 17 start"

static struct cluster *c;
static struct hook_auth *auth;

static void
on_stored(void *arg)
{
	(void)arg;
}

static void
on_advanced(struct cluster *cluster, int64_t until)
{
	(void)cluster;
	(void)until;
}

static const struct outbox_ops outbox_ops = { on_stored, on_stored,
	on_advanced };

static void
on_accepted(const struct hook_claim *claim, void *arg)
{
	(void)arg;
	sim_note("accepted %llu/%llu", (unsigned long long)claim->event,
	    (unsigned long long)claim->job);
}

static void
on_refused(const struct hook_claim *claim, void *arg)
{
	(void)arg;
	sim_note("refused %llu/%llu", (unsigned long long)claim->event,
	    (unsigned long long)claim->job);
}

static const struct hook_auth_ops auth_ops = { on_accepted, on_refused };

static void
begin(void)
{
	c = sim_begin(&outbox_ops, NULL);
	if (c->site->w->base == NULL)
		c->site->w->base = sim_keep(event_base_new());
	auth = sim_keep(hook_auth_new(c->site, &auth_ops, NULL));
	c->slurm.slurm_uid = SLURM_UID;
	c->slurm.known = 1;
	(void)sim_said();
}

static void
add(uint64_t event, uint64_t job)
{
	struct hook_claim claim = { .c = c,
		.event = event,
		.job = job,
		.kind = EVENT_START,
		.cluster = "alpha",
		.credential = "MUNGE:AAAA:" };

	hook_auth_add(auth, &claim);
}

static const char *
answer(unsigned status, unsigned uid, const char *payload)
{
	static char text[512];

	snprintf(text, sizeof(text),
	    "STATUS: text (%u)\nENCODE_TIME: x (1000)\nDECODE_TIME: x (1412)\n"
	    "TTL: 300\nUID: name (%u)\nLENGTH: %zu\n\n%s",
	    status, uid, strlen(payload), payload);
	return text;
}

static struct hook_auth_counts
counts(void)
{
	struct hook_auth_counts n;

	hook_auth_counts(auth, &n);
	return n;
}

/* The content of a valid credential. */
static const struct {
	unsigned uid;
	const char *payload;
	int good;
} claims[] = {
	{ SLURM_UID, PAYLOAD, 1 },
	{ 0, PAYLOAD, 1 },
	{ SLURM_UID + 1, PAYLOAD, 0 },
	{ 1000, PAYLOAD, 0 },
	{ SLURM_UID, "", 0 },
	{ SLURM_UID, "cc-slurm-adapter-hook alpha 18 start", 0 },
	{ SLURM_UID, "cc-slurm-adapter-hook alpha 17 end", 0 },
	{ SLURM_UID, "cc-slurm-adapter-hook beta 17 start", 0 },
	{ SLURM_UID, PAYLOAD "x", 0 },
	{ SLURM_UID, "a credential of Slurm", 0 },
};

static void
test_claims(void)
{
	size_t i;

	for (i = 0; i < sizeof(claims) / sizeof(claims[0]); i++) {
		begin();
		add(5, 17);
		CHECK_STR(sim_asked(), "unmunge");
		CHECK_STR(sim_said(), "");
		sim_answer("unmunge",
		    answer(0, claims[i].uid, claims[i].payload));
		CHECK_STR(sim_said(),
		    claims[i].good ? "accepted 5/17" : "refused 5/17");
		CHECK_INT(counts().waiting, 0);
		CHECK_INT(counts().accepted, claims[i].good);
	}
}

/* An unknown SlurmUser is not root. */
static void
test_unknown_user(void)
{
	begin();
	c->slurm.slurm_uid = 0;
	add(5, 17);
	sim_answer("unmunge", answer(0, SLURM_UID, PAYLOAD));
	CHECK_STR(sim_said(), "refused 5/17");
}

/* munge's status counts, not what unmunge prints. */
static void
test_status(void)
{
	int status;

	for (status = MUNGE_STATUS_FORMAT; status <= MUNGE_STATUS_LAST;
	     status++) {
		begin();
		add(5, 17);
		sim_answer_exit("unmunge",
		    answer((unsigned)status, SLURM_UID, PAYLOAD), status);
		CHECK_STR(sim_said(), "refused 5/17");
		CHECK_INT(counts().refused, 1);
		CHECK_INT(counts().away, 0);
		begin();
		add(5, 17);
		sim_answer("unmunge",
		    answer((unsigned)status, SLURM_UID, PAYLOAD));
		CHECK_STR(sim_said(), "refused 5/17");
	}
	begin();
	add(5, 17);
	sim_answer("unmunge", "garbage");
	CHECK_STR(sim_said(), "refused 5/17");
}

/* A user with a long payload does not delay the messages behind. */
static void
test_long_payload(void)
{
	static char text[8192];

	memset(text, 'x', sizeof(text) - 1);
	begin();
	add(5, 17);
	add(6, 17);
	sim_answer("unmunge", text);
	CHECK_STR(sim_said(), "refused 5/17");
	CHECK_INT(counts().refused, 1);
	CHECK_INT(counts().away, 0);
	sim_answer("unmunge", answer(0, SLURM_UID, PAYLOAD));
	CHECK_STR(sim_said(), "accepted 6/17");
}

/* munged is asked again, and the events keep their order. */
static void
test_away(void)
{
	begin();
	add(5, 17);
	add(6, 18);
	CHECK_STR(sim_asked(), "unmunge");
	sim_answer_exit("unmunge", "", 6);
	CHECK(counts().away != 0);
	CHECK_STR(sim_said(), "");
	CHECK_STR(sim_asked(), "");
	sim_pass(2);
	hook_auth_kick(auth);
	CHECK_STR(sim_asked(), "unmunge");
	sim_answer("unmunge", answer(0, 0, PAYLOAD));
	CHECK_STR(sim_said(), "accepted 5/17");
	CHECK_INT(counts().away, 0);
	sim_answer_late("unmunge");
	CHECK_INT(counts().waiting, 1);
	/* The polls find the jobs of events that waited too long. */
	sim_pass(30);
	hook_auth_kick(auth);
	CHECK_STR(sim_said(), "refused 6/18");
	CHECK_INT(counts().dropped, 1);
	CHECK_INT(counts().waiting, 0);
}

/* SlurmUser is in Slurm's configuration, which is read at the start. */
static void
test_unknown_cluster(void)
{
	begin();
	c->slurm.known = 0;
	add(5, 17);
	CHECK_STR(sim_asked(), "");
	c->slurm.known = 1;
	sim_pass(2);
	hook_auth_kick(auth);
	sim_answer("unmunge", answer(0, SLURM_UID, PAYLOAD));
	CHECK_STR(sim_said(), "accepted 5/17");
}

/* Asks until the limit of commands, in no time.  Returns the commands. */
static unsigned
answer_all(void)
{
	unsigned n = 0;

	for (; strcmp(sim_asked(), "unmunge") == 0; n++)
		sim_answer_exit("unmunge", "", 14);
	(void)sim_said();
	return n;
}

/* Messages of a cluster whose SlurmUser is unknown use none of the commands of others. */
static void
test_unknown_flood(void)
{
	static struct cluster unknown;
	struct cluster *known;
	unsigned i;

	begin();
	known = c;
	unknown = *c;
	unknown.slurm.known = 0;
	c = &unknown;
	for (i = 1; i <= 100; i++)
		add(i, i);
	CHECK_STR(sim_asked(), "");
	c = known;
	for (i = 101; i <= 150; i++)
		add(i, i);
	CHECK_INT(answer_all(), 50);
	sim_pass(30);
	hook_auth_kick(auth);
	CHECK_INT(counts().waiting, 0);
}

/* A flood costs a bounded number of commands and a bounded queue. */
static void
test_flood(void)
{
	unsigned i, n;

	begin();
	for (i = 1; i <= 2000; i++)
		add(i, i);
	CHECK_INT(counts().waiting, 1024);
	CHECK_INT(counts().dropped, 2000 - 1024);
	CHECK_STR(sim_asked(), "unmunge");
	n = answer_all();
	CHECK(n >= 99 && n <= 100);
	sim_pass(1);
	hook_auth_kick(auth);
	CHECK_INT(answer_all(), 20);
	sim_pass(29);
	hook_auth_kick(auth);
	CHECK_INT(counts().waiting, 0);
	/* A valid message is accepted at once then. */
	add(1, 17);
	sim_answer("unmunge", answer(0, SLURM_UID, PAYLOAD));
	CHECK_STR(strrchr(sim_said(), 'a'), "accepted 1/17");
}

/* The events of an ended listener are not acknowledged. */
static void
test_listener_ends(void)
{
	begin();
	add(5, 17);
	add(6, 17);
	hook_auth_forget(auth);
	sim_answer("unmunge", answer(0, SLURM_UID, PAYLOAD));
	CHECK_STR(sim_said(), "accepted 0/17");
	sim_answer_exit("unmunge", "", 17);
	CHECK_STR(sim_said(), "refused 0/17");
}

int
main(void)
{
	test_claims();
	test_unknown_user();
	test_status();
	test_long_payload();
	test_away();
	test_unknown_cluster();
	test_unknown_flood();
	test_flood();
	test_listener_ends();
	return check_done();
}
