/* SPDX-License-Identifier: MIT */
/* The reply to `gpus` as text. */
#include "config.h"

#include <regex.h>
#include <stdlib.h>
#include <unistd.h>

#include "ctl/ctl.h"
#include "tests/unit/check.h"

static struct ctl_reply reply;
static char out[65536];

static void
add(const char *host, const char *count, const char *gres, const char *map,
    const char *topology)
{
	struct writer w;

	wr_init(&w, CTL_REPLY_MAX);
	ctl_row(&w, CTL_T_GPUS, "alpha", host, count, gres, map, topology,
	    NULL);
	CHECK_INT(reply_add(&reply, w.buf, w.len), 0);
	wr_clear(&w);
}

/* Prints the reply into out and frees it. */
static void
show(void)
{
	char path[] = "/tmp/test_gpus.XXXXXX";
	int fd = mkstemp(path), old = dup(STDOUT_FILENO);
	ssize_t n;

	fflush(stdout);
	dup2(fd, STDOUT_FILENO);
	print_gpus(&reply);
	fflush(stdout);
	dup2(old, STDOUT_FILENO);
	n = pread(fd, out, sizeof(out) - 1, 0);
	out[n > 0 ? n : 0] = '\0';
	close(fd);
	close(old);
	unlink(path);
	reply_clear(&reply);
	memset(&reply, 0, sizeof(reply));
}

static int
says(const char *text)
{
	if (strstr(out, text) != NULL)
		return 1;
	fprintf(stderr, "%s", out);
	return 0;
}

static void
test_classes(void)
{
	show();
	CHECK_STR(out, "Slurm has no nodes with GPUs\n");

	add("n3", "2", "gpu:a40:2", "A,B", "");
	add("n4", "2", "gpu:a40:2", "B,A", "");
	add("n[1-4]", "2", "", "", "A,B");
	show();
	CHECK(says("alpha: n3 (1 node)\n  Slurm         gpu:a40:2\n"
		   "  gpuPciAddrs   A,B\n  cc-backend    A,B\n"
		   "  result        all agree\n"));
	CHECK(says("  gpuPciAddrs   B,A\n"));
	CHECK(strstr(out, "that fits") == NULL);

	add("n10", "2", "gpu:2", "", "");
	add("n9", "2", "gpu:2", "", "");
	add("n8", "2", "gpu:2", "", "");
	add("m", "2", "gpu:2", "", "");
	add("n[8-10],m", "2", "", "", "A,B");
	add("k1", "4", "gpu:4", "A", "");
	add("k2", "1", "gpu:1", "C", "");
	add("k2", "1", "", "", "A");
	add("k3", "1", "gpu:1", "C", "");
	add("k4", "2", "gpu:2", "C,-", "");
	show();
	CHECK(says("alpha: m,n[8-9],n10 (4 nodes)\n"));
	CHECK(says("gpuPciAddrs has no addresses for these nodes"));
	CHECK(says("gpuPciAddrs has another number of GPUs than Slurm"));
	CHECK(says("gpuPciAddrs has addresses that cc-backend does not list"));
	CHECK(says("cc-backend lists no GPU of these nodes"));
	CHECK(says("  \"^(m|n([8-9])|n(10))$\": [\"A\", \"B\"]"));
	CHECK(says("  \"^(k(2))$\": [\"A\"]"));
	CHECK(says("  \"^(k(3))$\": [\"C\"]"));
	CHECK(strstr(out, "k(1)") == NULL && strstr(out, "k(4)") == NULL);
}

/* A cluster of a fan-in, and a start before the first answer of cc-backend. */
static void
test_without_topology(void)
{
	add("", "0", "", "", "-");
	show();
	CHECK_STR(out, "Slurm has no nodes with GPUs\n");

	add("", "0", "", "", "-");
	add("n3", "2", "gpu:a40:2", "A,B", "");
	show();
	CHECK_STR(out,
	    "alpha: n3 (1 node)\n  Slurm         gpu:a40:2\n"
	    "  gpuPciAddrs   A,B\n  cc-backend    not known\n"
	    "  result        Slurm and gpuPciAddrs agree\n");

	/* The sign for "not known" is no address. */
	add("", "0", "", "", "-");
	add("n3", "1", "gpu:1", "", "");
	add("n4", "1", "gpu:1", "A", "");
	show();
	CHECK(says("gpuPciAddrs has no addresses for these nodes"));
	CHECK(says("  \"^(n(4))$\": [\"A\"]"));
	CHECK(strstr(out, "n(3)") == NULL);
}

/* Foreign bytes reach neither the terminal nor the JSON text. */
static void
test_hostile(void)
{
	add("n\x1b[2J\"", "1", "gpu\x1b[2J", "", "");
	add("n.1", "1", "gpu:1", "", "");
	add("*", "1", "", "", "A");
	add("m1", "1\x1b[2J", "", "", "");
	show();
	CHECK(strchr(out, '\x1b') == NULL);
	CHECK(says("\"^(n\\\\.(1))$\": [\"A\"]"));
	CHECK(strstr(out, "2J\"") == NULL || strstr(out, "^(n\\x1b") == NULL);
}

/* The pattern of x<from>..x<to> matches exactly these names. */
static void
check_range(unsigned from, unsigned to)
{
	char name[16], *begin, *end;
	unsigned i, wrong = 0;
	regex_t re;

	for (i = from; i <= to; i++) {
		snprintf(name, sizeof(name), "x%03u", i);
		add(name, "1", "gpu:1", "", "");
	}
	add("*", "1", "", "", "A");
	show();
	begin = strstr(out, "\"^(");
	end = begin != NULL ? strstr(begin, ")$\":") : NULL;
	CHECK(end != NULL);
	if (end == NULL)
		return;
	end[2] = '\0';
	CHECK_INT(regcomp(&re, begin + 1, REG_EXTENDED | REG_NOSUB), 0);
	for (i = 0; i < 1000; i++) {
		snprintf(name, sizeof(name), "x%03u", i);
		wrong += (regexec(&re, name, 0, NULL, 0) == 0) !=
		    (i >= from && i <= to);
	}
	CHECK_INT(wrong, 0);
	CHECK(strlen(begin) < 120);
	regfree(&re);
}

int
main(void)
{
	static const unsigned ends[] = { 0, 1, 9, 10, 19, 20, 64, 99, 100, 101,
		109, 110, 199, 200, 555, 899, 900, 990, 998, 999 };
	size_t i, k;

	test_classes();
	test_without_topology();
	test_hostile();
	for (i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		for (k = i; k < sizeof(ends) / sizeof(ends[0]); k++)
			check_range(ends[i], ends[k]);
	return check_done();
}
