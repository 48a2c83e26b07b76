/* SPDX-License-Identifier: MIT */
/*
 * The receiver: at the centre of a fan-in, it alone speaks NATS.  It has the
 * place of listener, collector and runner: it reads the runs that other hosts
 * have published and sends them to the submitter.  It has no token of
 * cc-backend, executes nothing and opens no file.
 */
#include "config.h"

#include <unistd.h>

#include "common/log.h"
#include "common/nats/nats_conf.h"
#include "common/net/resolver.h"
#include "common/net/secret.h"
#include "receiver/receiver.h"

static void
on_prepare(struct worker *w)
{
	(void)w;
	resolver_prepare();
	nats_prepare();
}

static void
on_init(struct worker *w)
{
	struct receiver *v = w->arg;

	v->w = w;
	v->resolver = resolver_new(w->base);
	if (v->resolver == NULL)
		fatalx("out of memory");
}

static int
on_conf_check(struct worker *w, const struct conf *next, const uint8_t *secrets,
    size_t len, char *reason, size_t size)
{
	struct receiver *v = w->arg;

	nats_conf_free(v->checked);
	v->checked = nats_conf_new(next, secrets, len, reason, size);
	return v->checked != NULL ? 0 : -1;
}

static void
on_conf_commit(struct worker *w)
{
	struct receiver *v = w->arg;

	nats_conf_free(v->nats);
	v->nats = v->checked;
	v->checked = NULL;
}

static void
on_file(struct receiver *v, struct reader *r)
{
	unsigned which = rd_u8(r);
	const uint8_t *p;
	size_t n;

	p = rd_blob(r, &n);
	if (rd_end(r) == -1)
		channel_broken(v->w->supervisor, "file");
	else
		resolver_file(v->resolver, (enum msg_file)which, p, n);
}

static void
on_quarantine(struct receiver *v, struct reader *r)
{
	struct run_key key;

	rd_run_key(r, &key);
	if (rd_end(r) == -1)
		channel_broken(v->w->supervisor, "quarantine");
	else if (v->n_quarantined < QUARANTINE_MAX)
		v->quarantined[v->n_quarantined++] = key;
}

static void
on_supervisor(struct worker *w, const struct msg_header *h, struct reader *r,
    int fd)
{
	struct receiver *v = w->arg;

	if (fd != -1)
		close(fd);
	if (h->type == MSG_FILE)
		on_file(v, r);
	else if (h->type == MSG_QUARANTINE)
		on_quarantine(v, r);
}

static void
on_peer(struct worker *w, enum role peer, struct channel *c)
{
	(void)w;
	(void)c;
	log_debug("channel to the %s", role_name(peer));
}

static void
on_neighbour(struct worker *w, struct channel *c, const struct msg_header *h,
    struct reader *r, int fd)
{
	(void)w;
	(void)c;
	(void)r;
	if (fd != -1)
		close(fd);
	log_debug("message %s", msg_name(h->type));
}

static void
on_ctl(struct worker *w, uint64_t request, const struct ctl_request *req)
{
	const struct receiver *v = w->arg;

	if (req->verb == CTL_STATUS)
		worker_status(w, request, "quarantined", "%u",
		    v->n_quarantined);
	worker_ctl_end(w, request, CTL_OK, "");
}

static void
on_stop(struct worker *w, uint32_t grace_ms)
{
	(void)grace_ms;
	secret_wipe_all();
	worker_exit(w);
}

static const struct worker_ops ops = {
	.role = ROLE_RECEIVER,
	.prepare = on_prepare,
	.init = on_init,
	.conf_check = on_conf_check,
	.conf_commit = on_conf_commit,
	.on_supervisor = on_supervisor,
	.on_peer = on_peer,
	.on_neighbour = on_neighbour,
	.on_ctl = on_ctl,
	.on_stop = on_stop,
};

int
main(int argc, char **argv)
{
	static struct receiver receiver; /* as long as the process */

	worker_main(&ops, &receiver, argc, argv);
}
