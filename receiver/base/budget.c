/* SPDX-License-Identifier: MIT */
/* The budget of budget.h. */
#include "config.h"

#include "receiver/base/budget.h"

static unsigned
spare_messages(const struct budget *b)
{
	return b->streams < BUDGET_MESSAGES ? BUDGET_MESSAGES - b->streams : 0;
}

static size_t
spare_bytes(const struct budget *b)
{
	return BUDGET_BYTES - (size_t)b->streams * BUDGET_OWN_BYTES;
}

static unsigned
beyond_messages(const struct budget_use *use)
{
	return use->messages > 1 ? use->messages - 1 : 0;
}

static size_t
beyond_bytes(const struct budget_use *use)
{
	return use->bytes > BUDGET_OWN_BYTES ? use->bytes - BUDGET_OWN_BYTES :
					       0;
}

static void
change(struct budget *b, struct budget_use *use, unsigned messages,
    size_t bytes)
{
	b->extra_messages -= beyond_messages(use);
	b->extra_bytes -= beyond_bytes(use);
	use->messages = messages;
	use->bytes = bytes;
	b->extra_messages += beyond_messages(use);
	b->extra_bytes += beyond_bytes(use);
}

void
budget_add(struct budget *b, struct budget_use *use, unsigned messages,
    size_t bytes)
{
	change(b, use, use->messages + messages, use->bytes + bytes);
}

void
budget_sub(struct budget *b, struct budget_use *use, unsigned messages,
    size_t bytes)
{
	change(b, use, use->messages > messages ? use->messages - messages : 0,
	    use->bytes > bytes ? use->bytes - bytes : 0);
}

/* Messages that the stream may use beyond its use now. */
static unsigned
free_messages(const struct budget *b, const struct budget_use *use)
{
	unsigned spare = spare_messages(b), own = use->messages == 0;

	return own +
	    (spare > b->extra_messages ? spare - b->extra_messages : 0);
}

static size_t
free_bytes(const struct budget *b, const struct budget_use *use)
{
	size_t spare = spare_bytes(b);
	size_t own = use->bytes < BUDGET_OWN_BYTES ?
	    BUDGET_OWN_BYTES - use->bytes :
	    0;

	return own + (spare > b->extra_bytes ? spare - b->extra_bytes : 0);
}

/*
 * A request asks for half of the messages and a quarter of the bytes of a
 * stream's share, because the submitter makes the others durable meanwhile.  A
 * smaller rest is not requested: each request costs the broker as much as a
 * large one.
 */
struct budget_grant
budget_grant(const struct budget *b, const struct budget_use *use,
    unsigned busy, unsigned long long waiting)
{
	struct budget_grant none = { 0, 0 }, grant = { 1, BUDGET_OWN_BYTES };
	unsigned share = 1 + spare_messages(b) / busy / 2;
	size_t bytes = BUDGET_OWN_BYTES + spare_bytes(b) / busy / 4;

	if (waiting > 1) {
		grant.messages = waiting < share ? (unsigned)waiting : share;
		grant.bytes = bytes;
	}
	if (free_messages(b, use) < grant.messages) {
		if (use->messages != 0)
			return none;
		grant.messages = 1;
	}
	if (free_bytes(b, use) < grant.bytes) {
		if (use->bytes != 0)
			return none;
		grant.bytes = BUDGET_OWN_BYTES;
	}
	return grant;
}

struct budget_grant
budget_grant_long(const struct budget *b, const struct budget_use *use,
    size_t bytes)
{
	struct budget_grant grant = { 1, bytes };

	if (free_messages(b, use) == 0 || free_bytes(b, use) < bytes)
		grant.messages = 0;
	return grant;
}
