/* SPDX-License-Identifier: MIT */
/*
 * `gpus`: what Slurm, gpuPciAddrs and cc-backend's topology have for the nodes
 * with GPUs, one class of equal nodes after the other, and a gpuPciAddrs that
 * fits.  The collector sends a row for each node, the submitter a row for each
 * node list of cc-backend.
 */
#include "config.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/text/nodelist.h"
#include "common/text/text.h"
#include "ctl/ctl.h"

#define SHOWN_MAX  4096 /* bytes of one field that are printed */
#define DIGITS_MAX 9	/* of the number at the end of a host name */
#define NOT_KNOWN  "-"	/* CTL_T_GPUS' topology without a topology */

/* Columns of CTL_T_GPUS. */
enum {
	CLUSTER,
	HOST, /* or a node list */
	COUNT,
	GRES,
	MAP,
	TOPOLOGY, /* only of the submitter */
	COLUMNS
};

/* A node, or several with consecutive numbers. */
struct node {
	char *const *row;     /* borrowed, COLUMNS fields */
	const char *topology; /* borrowed; "" = cc-backend lists no GPU, or
			       * NOT_KNOWN */
	size_t prefix;	      /* bytes before the number */
	unsigned width;	      /* digits of the number; 0 = none */
	unsigned long number;
};

static void
node_split(struct node *n)
{
	const char *host = n->row[HOST];
	size_t len = strlen(host);

	n->prefix = len;
	while (n->prefix > 0 && len - n->prefix < DIGITS_MAX &&
	    isdigit((unsigned char)host[n->prefix - 1]))
		n->prefix--;
	n->width = (unsigned)(len - n->prefix);
	n->number = strtoul(host + n->prefix, NULL, 10);
}

/* Nodes of one class are equal in everything but their name. */
static int
class_compare(const struct node *a, const struct node *b)
{
	static const int same[] = { CLUSTER, COUNT, GRES, MAP };
	size_t i;
	int d;

	for (i = 0; i < sizeof(same) / sizeof(same[0]); i++)
		if ((d = strcmp(a->row[same[i]], b->row[same[i]])) != 0)
			return d;
	return strcmp(a->topology, b->topology);
}

static int
prefix_compare(const struct node *a, const struct node *b)
{
	size_t least = a->prefix < b->prefix ? a->prefix : b->prefix;
	int d = strncmp(a->row[HOST], b->row[HOST], least);

	if (d != 0)
		return d;
	return (a->prefix > b->prefix) - (a->prefix < b->prefix);
}

static int
node_compare(const void *p, const void *q)
{
	const struct node *a = p, *b = q;
	int d = class_compare(a, b);

	if (d == 0)
		d = prefix_compare(a, b);
	if (d == 0)
		d = (a->width > b->width) - (a->width < b->width);
	if (d == 0)
		d = (a->number > b->number) - (a->number < b->number);
	return d;
}

static const char *
topology_of(const struct ctl_reply *a, const struct ctl_row *node)
{
	const struct ctl_row *row;
	size_t i;

	for (i = 0; i < a->n; i++) {
		row = &a->rows[i];
		if (row->table != CTL_T_GPUS || row->n != COLUMNS ||
		    *row->fields[TOPOLOGY] == '\0')
			continue;
		if (*row->fields[HOST] == '\0')
			return NOT_KNOWN;
		if (strcmp(row->fields[CLUSTER], node->fields[CLUSTER]) == 0 &&
		    nodelist_has(row->fields[HOST], node->fields[HOST]))
			return row->fields[TOPOLOGY];
	}
	return "";
}

static int
is_compared(const struct node *c)
{
	return strcmp(c->topology, NOT_KNOWN) != 0;
}

/* Owned; NULL when out of memory or without nodes. */
static struct node *
nodes_collect(const struct ctl_reply *a, size_t *n)
{
	struct node *nodes = calloc(a->n + 1, sizeof(*nodes));
	size_t i;

	*n = 0;
	for (i = 0; nodes != NULL && i < a->n; i++) {
		if (a->rows[i].table != CTL_T_GPUS || a->rows[i].n != COLUMNS ||
		    *a->rows[i].fields[TOPOLOGY] != '\0')
			continue;
		nodes[*n].row = a->rows[i].fields;
		nodes[*n].topology = topology_of(a, &a->rows[i]);
		node_split(&nodes[(*n)++]);
	}
	if (nodes != NULL)
		qsort(nodes, *n, sizeof(*nodes), node_compare);
	return nodes;
}

/* Number of nodes from the first one on with consecutive numbers. */
static size_t
run_length(const struct node *first, size_t n)
{
	size_t k = 1;

	while (k < n && first->width > 0 &&
	    prefix_compare(first, &first[k]) == 0 &&
	    first[k].width == first->width &&
	    first[k].number == first->number + k)
		k++;
	return k;
}

/* The number of the last of n nodes from this one on. */
static unsigned long
number_after(const struct node *c, size_t n)
{
	unsigned long more = n - 1;

	return c->number + more;
}

/* Items of a list with commas; "" has none. */
static unsigned
items_count(const char *list)
{
	unsigned n = *list != '\0';

	for (; *list != '\0'; list++)
		n += *list == ',';
	return n;
}

/* 1 when the item of len bytes is an item of the list others. */
static int
item_is_in(const char *item, size_t len, const char *others)
{
	size_t n;

	for (;; others += n + 1) {
		n = strcspn(others, ",");
		if (n == len && strncmp(item, others, n) == 0)
			return 1;
		if (others[n] == '\0')
			return 0;
	}
}

static int
items_are_in(const char *list, const char *others)
{
	size_t n;

	for (;; list += n + 1) {
		n = strcspn(list, ",");
		if (!item_is_in(list, n, others))
			return 0;
		if (list[n] == '\0')
			return 1;
	}
}

/* The first difference of those that are known; NULL when they agree. */
static const char *
class_trouble(const struct node *c)
{
	unsigned gpus = (unsigned)strtoul(c->row[COUNT], NULL, 10);
	unsigned mapped = items_count(c->row[MAP]);
	unsigned listed = items_count(c->topology);

	if (mapped == 0)
		return "gpuPciAddrs has no addresses for these nodes";
	if (mapped != gpus || item_is_in("-", 1, c->row[MAP]))
		return "gpuPciAddrs has another number of GPUs than Slurm";
	if (!is_compared(c))
		return NULL;
	if (listed == 0)
		return "cc-backend lists no GPU of these nodes";
	if (!items_are_in(c->row[MAP], c->topology))
		return "gpuPciAddrs has addresses that cc-backend does not "
		       "list";
	if (listed != gpus)
		return "cc-backend lists another number of GPUs than Slurm";
	return NULL;
}

/*
 * Addresses that fit: those of gpuPciAddrs if they are in cc-backend's topology
 * or there is none, else those of cc-backend.  NULL when neither fits.
 */
static const char *
class_addresses(const struct node *c)
{
	unsigned gpus = (unsigned)strtoul(c->row[COUNT], NULL, 10);
	int is_mapped = items_count(c->row[MAP]) == gpus &&
	    !item_is_in("-", 1, c->row[MAP]);

	if (is_mapped &&
	    (!is_compared(c) || *c->topology == '\0' ||
		items_are_in(c->row[MAP], c->topology)))
		return c->row[MAP];
	return is_compared(c) && items_count(c->topology) == gpus ?
	    c->topology :
	    NULL;
}

static void
print_field(const char *name, const char *value, const char *none)
{
	char buf[SHOWN_MAX];

	printf("  %-12s  %s\n", name,
	    text_vis(*value != '\0' ? value : none, buf, sizeof(buf)));
}

/* "n[3-4],m07 (3 nodes)" */
static void
print_hosts(const struct node *c, size_t n)
{
	char buf[SHOWN_MAX];
	size_t i, k;

	printf("%s: ", text_vis(c->row[CLUSTER], buf, sizeof(buf)));
	for (i = 0; i < n; i += k) {
		k = run_length(&c[i], n - i);
		text_vis(c[i].row[HOST], buf, sizeof(buf));
		printf("%s", i > 0 ? "," : "");
		if (k == 1)
			printf("%s", buf);
		else
			printf("%.*s[%0*lu-%0*lu]", (int)c[i].prefix, buf,
			    (int)c[i].width, c[i].number, (int)c[i].width,
			    number_after(&c[i], k));
	}
	printf(" (%zu node%s)\n", n, n == 1 ? "" : "s");
}

static void
print_class(const struct node *c, size_t n)
{
	const char *trouble = class_trouble(c);

	print_hosts(c, n);
	print_field("Slurm", c->row[GRES], c->row[COUNT]);
	print_field("gpuPciAddrs", c->row[MAP], "no addresses");
	print_field("cc-backend", is_compared(c) ? c->topology : "not known",
	    "no GPU listed");
	print_field("result", trouble != NULL ? trouble : "",
	    is_compared(c) ? "all agree" : "Slurm and gpuPciAddrs agree");
}

/* --- gpuPciAddrs --- */

/*
 * A regular expression for the numbers from to to, which have width digits.
 * Each call splits at the first digit that differs: "[3-4]", "0[1-9]|1[0-6]".
 */
static void
print_range(const char *from, const char *to, unsigned width, int *first)
{
	char low[DIGITS_MAX + 1], high[DIGITS_MAX + 1];
	unsigned at = 0, i;

	while (at < width && from[at] == to[at])
		at++;
	for (i = at + 1; i < width && from[i] == '0' && to[i] == '9'; i++)
		continue;
	if (at == width || i >= width) {
		printf("%s%.*s", *first ? "" : "|", (int)at, from);
		if (at < width)
			printf("[%c-%c]", from[at], to[at]);
		for (i = at + 1; i < width; i++)
			printf("[0-9]");
		*first = 0;
		return;
	}
	/* from to its first digit with 9s, and from the next digit on. */
	snprintf(low, sizeof(low), "%s", from);
	snprintf(high, sizeof(high), "%s", to);
	if (strspn(from + at + 1, "0") != width - at - 1) {
		memset(low + at + 1, '9', width - at - 1);
		print_range(from, low, width, first);
		low[at]++;
	}
	memset(low + at + 1, '0', width - at - 1);
	if (strspn(to + at + 1, "9") != width - at - 1) {
		memset(high + at + 1, '9', width - at - 1);
		high[at]--;
		if (strcmp(low, high) <= 0)
			print_range(low, high, width, first);
		memset(low + at + 1, '0', width - at - 1);
		low[at] = to[at];
		high[at] = to[at];
		memcpy(high + at + 1, to + at + 1, width - at - 1);
	}
	print_range(low, high, width, first);
}

/* The characters that a pattern gives a meaning are quoted, as for JSON. */
static void
print_literal(const char *s, size_t n)
{
	for (; n > 0; n--, s++) {
		if (strchr(".[]{}()*+?^$|", *s) != NULL)
			printf("\\\\");
		printf("%c", *s);
	}
}

/* "^(n[3-4]|m07)$" */
static void
print_pattern(const struct node *c, size_t n)
{
	char from[DIGITS_MAX + 1], to[DIGITS_MAX + 1];
	size_t i, k;
	int first;

	printf("\"^(");
	for (i = 0; i < n; i += k) {
		k = run_length(&c[i], n - i);
		printf("%s", i > 0 ? "|" : "");
		print_literal(c[i].row[HOST], c[i].prefix);
		if (c[i].width == 0)
			continue;
		snprintf(from, sizeof(from), "%0*lu", (int)c[i].width,
		    c[i].number);
		snprintf(to, sizeof(to), "%0*lu", (int)c[i].width,
		    number_after(&c[i], k));
		printf("(");
		first = 1;
		print_range(from, to, c[i].width, &first);
		printf(")");
	}
	printf(")$\"");
}

static void
print_addresses(const char *list)
{
	size_t n;

	printf("[");
	for (;; list += n + 1) {
		n = strcspn(list, ",");
		printf("\"%.*s\"", (int)n, list);
		if (list[n] == '\0')
			break;
		printf(", ");
	}
	printf("]");
}

/* A host name or an address that is not one would break the JSON text. */
static int
is_plain(const char *s)
{
	return s[strcspn(s, "\"\\")] == '\0' && text_is_clean(s, strlen(s)) &&
	    strpbrk(s, "\n\t") == NULL;
}

static int
class_is_plain(const struct node *c, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (!is_plain(c[i].row[HOST]))
			return 0;
	return is_plain(class_addresses(c));
}

static size_t
class_length(const struct node *c, size_t n)
{
	size_t k = 1;

	while (k < n && class_compare(c, &c[k]) == 0)
		k++;
	return k;
}

static void
print_map(const struct node *nodes, size_t n)
{
	size_t i, k, printed = 0;

	for (i = 0; i < n; i += k) {
		k = class_length(&nodes[i], n - i);
		if (class_addresses(&nodes[i]) == NULL ||
		    !class_is_plain(&nodes[i], k))
			continue;
		printf("%s", printed++ == 0 ? "\"gpuPciAddrs\": {\n" : ",\n");
		printf("  ");
		print_pattern(&nodes[i], k);
		printf(": ");
		print_addresses(class_addresses(&nodes[i]));
	}
	if (printed > 0)
		printf("\n}\n");
}

void
print_gpus(const struct ctl_reply *a)
{
	size_t n, i, k, wrong = 0;
	struct node *nodes = nodes_collect(a, &n);

	if (nodes == NULL) {
		fprintf(stderr, "cc-slurm-adapterctl: out of memory\n");
		return;
	}
	if (n == 0 && a->status == CTL_OK)
		printf("Slurm has no nodes with GPUs\n");
	for (i = 0; i < n; i += k) {
		k = class_length(&nodes[i], n - i);
		print_class(&nodes[i], k);
		wrong += class_trouble(&nodes[i]) != NULL;
	}
	if (wrong > 0) {
		printf("\nA gpuPciAddrs that fits; compare the order of the "
		       "addresses with\nnvidia-smi "
		       "--query-gpu=index,pci.bus_id --format=csv:\n");
		print_map(nodes, n);
	}
	free(nodes);
}
