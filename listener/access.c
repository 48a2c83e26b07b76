/* SPDX-License-Identifier: MIT */
/*
 * Who may connect, and how often.  The kernel tells the user of a UNIX socket;
 * a TCP client is known by its address.  Every address is handled as IPv6.
 */
#include "config.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "listener/listener.h"

#define ITEM_MAX    128 /* bytes with the NUL of one item of a list */
#define MAPPED_BITS 96	/* length of the prefix ::ffff:0:0/96 */

static const uint8_t mapped[12] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff };

static void
ipv4_map(uint8_t addr[16], const void *v4)
{
	memcpy(addr, mapped, sizeof(mapped));
	memcpy(addr + sizeof(mapped), v4, 4);
}

/* Reads "10.1.0.0/16", "2001:db8::/32", or an address.  0 or -1. */
static int
network_parse(const char *text, struct network *network)
{
	char buf[ITEM_MAX], *slash, *end;
	unsigned long bits = 128;
	struct in_addr v4;
	int is_v4;

	if (strlen(text) >= sizeof(buf))
		return -1;
	snprintf(buf, sizeof(buf), "%s", text);
	if ((slash = strchr(buf, '/')) != NULL)
		*slash++ = '\0';
	if ((is_v4 = inet_pton(AF_INET, buf, &v4)) == 1)
		ipv4_map(network->addr, &v4);
	else if (inet_pton(AF_INET6, buf, network->addr) != 1)
		return -1;
	if (slash != NULL) {
		bits = strtoul(slash, &end, 10);
		if (*slash < '0' || *slash > '9' || *end != '\0' ||
		    bits > (is_v4 == 1 ? 32 : 128))
			return -1;
		if (is_v4 == 1)
			bits += MAPPED_BITS;
	}
	network->bits = (unsigned)bits;
	return 0;
}

static int
network_has(const struct network *network, const uint8_t addr[16])
{
	unsigned whole = network->bits / 8, rest = network->bits % 8;

	if (memcmp(network->addr, addr, whole) != 0)
		return 0;
	return rest == 0 ||
	    ((network->addr[whole] ^ addr[whole]) >> (8 - rest)) == 0;
}

static int
uid_parse(const char *text, uid_t *uid)
{
	unsigned long value;
	char *end;

	errno = 0;
	value = strtoul(text, &end, 10);
	if (*text < '0' || *text > '9' || *end != '\0' || errno != 0 ||
	    value >= (uid_t)-1)
		return -1;
	*uid = (uid_t)value;
	return 0;
}

/* The number of items, or -1 when an item is longer than any valid one. */
static int
list_count(const char *list, char *reason, size_t size)
{
	char item[ITEM_MAX];
	int n, rc;

	for (n = 0;
	     (rc = conf_list_item(list, (unsigned)n, item, sizeof(item))) == 1;
	     n++)
		continue;
	if (rc == 0)
		return n;
	snprintf(reason, size, "item %d of a list is too long", n + 1);
	return -1;
}

/*
 * Allocates *items for the items of a list, at most max, each of size bytes.
 * Returns their number, or -1 with the reason.
 */
static int
list_alloc(const char *list, int max, size_t each, void **items, char *reason,
    size_t size)
{
	int n = list_count(list, reason, size);

	if (n == -1)
		return -1;
	if ((*items = calloc((size_t)n + 1, each)) == NULL) {
		snprintf(reason, size, "out of memory");
		return -1;
	}
	return n < max ? n : max;
}

static int
networks_init(struct access_list *access, const char *hosts, char *reason,
    size_t size)
{
	char item[ITEM_MAX];
	void *items = NULL;
	int i,
	    n = list_alloc(hosts, ACCESS_NETWORKS_MAX,
		sizeof(*access->networks), &items, reason, size);

	access->networks = items;
	for (i = 0; i < n; i++) {
		conf_list_item(hosts, (unsigned)i, item, sizeof(item));
		if (network_parse(item, &access->networks[i]) == -1) {
			snprintf(reason, size,
			    "prepAllowedHosts: \"%s\" is neither an IP address "
			    "nor a network such as 10.1.0.0/16",
			    item);
			return -1;
		}
		access->n_networks++;
	}
	return n == -1 ? -1 : 0;
}

static int
uids_init(struct access_list *access, const char *uids, char *reason,
    size_t size)
{
	char item[ITEM_MAX];
	void *items = NULL;
	int i,
	    n = list_alloc(uids, ACCESS_UIDS_MAX, sizeof(*access->uids), &items,
		reason, size);

	access->uids = items;
	for (i = 0; i < n; i++) {
		conf_list_item(uids, (unsigned)i, item, sizeof(item));
		if (uid_parse(item, &access->uids[i]) == -1) {
			snprintf(reason, size,
			    "prepAllowedUids: \"%s\" is not a uid", item);
			return -1;
		}
		access->n_uids++;
	}
	return n == -1 ? -1 : 0;
}

int
access_init(struct access_list *access, const char *uids, const char *hosts,
    char *reason, size_t size)
{
	memset(access, 0, sizeof(*access));
	if (uids_init(access, uids, reason, size) == -1 ||
	    networks_init(access, hosts, reason, size) == -1) {
		access_clear(access);
		return -1;
	}
	return 0;
}

void
access_clear(struct access_list *access)
{
	free(access->uids);
	free(access->networks);
	memset(access, 0, sizeof(*access));
}

static int
is_loopback(const uint8_t addr[16])
{
	if (memcmp(addr, mapped, sizeof(mapped)) == 0)
		return addr[12] == 127;
	return memcmp(addr, &in6addr_loopback, 16) == 0;
}

int
access_allows(const struct access_list *access, const struct peer *peer)
{
	size_t i;

	if (peer->local) {
		for (i = 0; i < access->n_uids; i++)
			if (access->uids[i] == peer->uid)
				return 1;
		return 0;
	}
	if (peer->own_host || is_loopback(peer->addr))
		return 1;
	for (i = 0; i < access->n_networks; i++)
		if (network_has(&access->networks[i], peer->addr))
			return 1;
	return 0;
}

static void
address_copy(const struct sockaddr_storage *ss, uint8_t addr[16])
{
	if (ss->ss_family == AF_INET)
		ipv4_map(addr, &((const struct sockaddr_in *)ss)->sin_addr);
	else
		memcpy(addr, &((const struct sockaddr_in6 *)ss)->sin6_addr, 16);
}

/*
 * A client on this host that connects to an address of this host has the same
 * address; the kernel accepts no other host with an address of its own.
 */
int
peer_get(int fd, struct peer *peer)
{
	struct sockaddr_storage ss;
	socklen_t len = sizeof(ss);
	struct ucred cred;
	uint8_t own[16];

	memset(peer, 0, sizeof(*peer));
	memset(&ss, 0, sizeof(ss));
	if (getsockname(fd, (struct sockaddr *)&ss, &len) == -1)
		return -1;
	if (ss.ss_family == AF_UNIX) {
		len = sizeof(cred);
		if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) == -1)
			return -1;
		peer->local = 1;
		peer->uid = cred.uid;
		return 0;
	}
	address_copy(&ss, own);
	len = sizeof(ss);
	if (getpeername(fd, (struct sockaddr *)&ss, &len) == -1)
		return -1;
	address_copy(&ss, peer->addr);
	peer->own_host = memcmp(peer->addr, own, sizeof(own)) == 0;
	return 0;
}

const char *
peer_text(const struct peer *peer, char buf[PEER_TEXT_MAX])
{
	if (peer->local)
		snprintf(buf, PEER_TEXT_MAX, "uid %u", (unsigned)peer->uid);
	else if (memcmp(peer->addr, mapped, sizeof(mapped)) == 0)
		inet_ntop(AF_INET, peer->addr + sizeof(mapped), buf,
		    PEER_TEXT_MAX);
	else
		inet_ntop(AF_INET6, peer->addr, buf, PEER_TEXT_MAX);
	return buf;
}

/*
 * A local user can connect from each address of this host, 127.0.0.0/8 among
 * them: all have one rate, and one place in the table.
 */
static struct peer
rate_peer(const struct peer *peer)
{
	struct peer own = { .own_host = 1 };

	if (!peer->local && (peer->own_host || is_loopback(peer->addr)))
		return own;
	return *peer;
}

static int
peer_equal(const struct peer *a, const struct peer *b)
{
	return a->local == b->local && a->uid == b->uid &&
	    memcmp(a->addr, b->addr, sizeof(a->addr)) == 0;
}

int
rate_take(struct rate_table *rate, const struct peer *from, int64_t now_ms)
{
	const int64_t limit_dropped = RATE_BURST * 1000ll;
	struct peer peer = rate_peer(from);
	int i, at = 0;

	for (i = 0; i < RATE_PEERS; i++) {
		if (rate->peers[i].when != 0 &&
		    peer_equal(&rate->peers[i].peer, &peer))
			break;
		if (rate->peers[i].when < rate->peers[at].when)
			at = i;
	}
	if (i < RATE_PEERS) {
		at = i;
		rate->peers[at].tokens += (now_ms - rate->peers[at].when) *
		    RATE_PER_SECOND;
		if (rate->peers[at].tokens > limit_dropped)
			rate->peers[at].tokens = limit_dropped;
	} else {
		rate->peers[at].peer = peer;
		rate->peers[at].tokens = limit_dropped;
	}
	rate->peers[at].when = now_ms;
	if (rate->peers[at].tokens < 1000)
		return 0;
	rate->peers[at].tokens -= 1000;
	return 1;
}
