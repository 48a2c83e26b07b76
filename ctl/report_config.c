/* SPDX-License-Identifier: MIT */
/*
 * The configuration in the report.  Only keys of the table that are no secret
 * are printed: a key that the daemon does not know may be a misspelled secret.
 */
#include "config.h"

#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "common/model/conf.h"
#include "common/text/json_scan.h"
#include "ctl/report.h"

#define FILE_SIZE  (4u * 1024 * 1024)
#define VALUE_SIZE 65536

struct config_print {
	FILE *f;
	int anonymize;
	const struct conf_rule *rule; /* of the value; NULL = not printed */
	unsigned values;	      /* of this key so far */
};

static const struct conf_rule *
rule_of(const char *name)
{
	unsigned i;

	for (i = 0; i < CONF__COUNT; i++)
		if (strcasecmp(conf_rule((enum conf_key)i)->name, name) == 0)
			return conf_rule((enum conf_key)i);
	return NULL;
}

/* tags has names of accounts, and the name of the token's user as a scope. */
static int
has_user_names(const struct conf_rule *rule)
{
	static const enum conf_key keys[] = { CONF_SLURM_USER,
		CONF_SUBMITTER_USER, CONF_LISTENER_USER, CONF_COLLECTOR_USER,
		CONF_RECEIVER_USER, CONF_EXPORTER_USER, CONF_CTL_USERS,
		CONF_PREP_ALLOWED_UIDS, CONF_TAGS };
	size_t i;

	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (rule == conf_rule(keys[i]))
			return 1;
	return 0;
}

/* Begins the row of a key; without a rule, its value is not printed. */
static void
key_put(struct config_print *p, const struct conf_rule *rule)
{
	p->rule = NULL;
	p->values = 0;
	if (rule == NULL || rule->type == CONF_TYPE_SECRET)
		return;
	fprintf(p->f, "</td></tr>\n<tr><th>");
	html_put(p->f, rule->name);
	fprintf(p->f, "</th><td>");
	if (p->anonymize && has_user_names(rule))
		fprintf(p->f, "(removed)");
	else
		p->rule = rule;
}

/*
 * Each login of a list of addresses: "https://user:password@host", and in
 * natsServer also "user:password@host".
 */
static void
logins_remove(char *text, int is_server)
{
	char *begin = is_server ? text : strstr(text, "://"), *at, *end;

	for (; begin != NULL; begin = strstr(begin, "://")) {
		begin += strncmp(begin, "://", 3) == 0 ? 3 : 0;
		end = begin + strcspn(begin, "/?#");
		for (at = end; at > begin && at[-1] != '@'; at--)
			continue;
		if (at > begin)
			memmove(begin, at, strlen(at) + 1);
	}
}

static const char *
on_event(struct json_scan *s, enum json_event event, void *arg)
{
	struct config_print *p = arg;

	if (event == JSON_EV_NAME && s->depth == 1) {
		key_put(p, s->cut ? NULL : rule_of(s->text));
		return NULL;
	}
	if (p->rule == NULL ||
	    (event != JSON_EV_NAME && event != JSON_EV_STRING &&
		event != JSON_EV_SCALAR))
		return NULL;
	if (p->values++ > 0)
		fprintf(p->f, event == JSON_EV_NAME ? "; " : ", ");
	logins_remove(s->text, p->rule == conf_rule(CONF_NATS_SERVER));
	html_put(p->f, s->text);
	return NULL;
}

static ssize_t
file_read(const char *path, char *buf, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	ssize_t n, len = 0;

	if (fd == -1)
		return -1;
	if (fstat(fd, &st) == -1 || !S_ISREG(st.st_mode)) {
		close(fd);
		errno = EINVAL;
		return -1;
	}
	while ((n = read(fd, buf + len, size - (size_t)len)) > 0)
		len += n;
	close(fd);
	return n == -1 ? -1 : len;
}

void
report_config(FILE *f, int anonymize, const char *path)
{
	static char file[FILE_SIZE], text[VALUE_SIZE];
	struct config_print p = { .f = f, .anonymize = anonymize };
	const char *wrong;
	struct json_scan s;
	ssize_t n = file_read(path, file, sizeof(file));

	fprintf(f, "<h2>Configuration</h2>\n<table><tr><th>file</th><td>");
	html_put(f, path);
	if (n == -1) {
		fprintf(f, ": ");
		html_put(f, strerror(errno));
	} else {
		json_scan_init(&s, '{', text, sizeof(text), on_event, &p);
		(void)json_scan_feed(&s, file, (size_t)n);
		if ((wrong = json_scan_end(&s)) != NULL) {
			fprintf(f, "</td></tr>\n<tr><th>error</th><td>");
			html_put(f, wrong);
		}
	}
	fprintf(f, "</td></tr></table>\n");
	explicit_bzero(file, sizeof(file));
	explicit_bzero(text, sizeof(text));
}
