/* SPDX-License-Identifier: MIT */
/* cc-slurm-adapterctl: sends a request to the daemon, prints the reply. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "common/text/text.h"
#include "ctl/ctl.h"

#define REASON_MAX 1024

static int
wants_help(int argc, char **argv)
{
	return argc == 2 &&
	    (strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "--help") == 0 ||
		strcmp(argv[1], "-help") == 0 || strcmp(argv[1], "help") == 0);
}

/* Tells an empty queue from a reply without output. */
static void
print_empty(const struct ctl_args *args, const struct ctl_reply *a)
{
	size_t i;

	for (i = 0; i < a->n; i++)
		if (a->rows[i].table != CTL_T_ROWS)
			return;
	if (args->req.verb == CTL_GPUS)
		print_gpus(a);
	else if (args->req.verb == CTL_QUEUE)
		printf(args->req.flags & CTL_FLAG_REJECTED ?
			"no delivery is rejected\n" :
			"no delivery waits\n");
}

static int
print(const struct ctl_args *args, const struct ctl_reply *a)
{
	char buf[REASON_MAX];
	struct style style;

	style_init(&style, args->no_color);
	if (args->json)
		print_json(a, args->req.verb);
	else {
		/* Also the part that arrived. */
		if (args->prometheus)
			print_metrics(a, METRICS_PROMETHEUS);
		else
			print_text(a, &style, args->verbose);
		if (a->status != CTL_OK)
			fprintf(stderr, "cc-slurm-adapterctl: %s%s\n",
			    a->status == CTL_DENIED ? "not allowed: " : "",
			    text_vis(a->text, buf, sizeof(buf)));
		else if (a->text[0] == '\0')
			print_empty(args, a);
	}
	if (output_failed()) {
		fprintf(stderr,
		    "cc-slurm-adapterctl: cannot write to standard output\n");
		return EXIT_REFUSED;
	}
	return a->status == CTL_OK && !reply_is_degraded(a) ? EXIT_DONE :
							      EXIT_REFUSED;
}

int
main(int argc, char **argv)
{
	char reason[REASON_MAX];
	struct ctl_reply reply;
	struct ctl_args args;
	const char *wrong;
	int status, sent;

	if (wants_help(argc, argv)) {
		printf("%s", args_usage);
		return EXIT_DONE;
	}
	if ((wrong = args_parse(&args, argc, argv)) != NULL) {
		fprintf(stderr, "cc-slurm-adapterctl: %s\n%s", wrong,
		    args_usage);
		return EXIT_USAGE;
	}
	if (socket_find(&args, reason, sizeof(reason)) == -1) {
		print_unreached(&args, reason);
		return EXIT_UNREACHABLE;
	}
	if (args.watch)
		return watch_run(&args);
	if (args.req.verb == CTL_SPOOL)
		return spool_run(&args);
	if (args.report)
		return report_run(&args);
	if (args.req.verb == CTL_EXPLAIN)
		return explain_run(&args);
	progress_begin(args.verb);
	sent = request_send(args.socket, &args.req, &reply, reason,
	    sizeof(reason));
	progress_end();
	if (sent == -1) {
		print_unreached(&args, reason);
		status = EXIT_UNREACHABLE;
	} else
		status = print(&args, &reply);
	reply_clear(&reply);
	return status;
}
