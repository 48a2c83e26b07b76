/* SPDX-License-Identifier: MIT */
/*
 * The stand-in cc-backend of the tests: one process, one thread, everything
 * in memory.  It answers as cc-backend 1.5.4 does (or 1.4.4, 1.4.1, 1.3.1),
 * word for word where a client could look, and can be told to misbehave.
 * It is a test program: when memory runs out it aborts.
 */
#ifndef TESTS_FAKE_FAKE_H
#define TESTS_FAKE_FAKE_H

#include <sys/queue.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <event2/bufferevent.h>
#include <event2/event.h>
#include <jansson.h>

/* Two runs of one job id nearer than this are taken for the same run. */
#define RUN_DISTANCE 86400

/* A growing piece of text, always ended by a NUL. */
struct text {
	char *p;
	size_t len;
	size_t cap;
};

/* What was changed between the versions that are played. */
enum version {
	V131,
	V141,
	V144,
	V154
};

struct options {
	const char *clusters;	/* alpha=n[1-4],beta=b[01-16] */
	const char *ledger;	/* NULL: none */
	const char *pidfile;	/* NULL: none */
	const char *tokenfile;	/* NULL: the token is printed */
	const char *cert, *key; /* NULL: no TLS */
	const char *nats;	/* URL of a NATS server or NULL */
	const char *subject;	/* of jobs there */
	double commit;		/* seconds between two commits */
	double limit;		/* seconds for a header, for an answer */
	enum version version;
	int port;
	bool interleaved; /* siblings 0,8 rather than 0,1 */
	bool crossed;	  /* and sockets that take turns: 0,2,4.. */
	bool natsmode;	  /* REST start and stop are 404 */
};

struct request {
	char method[16];
	char path[1024]; /* without the query */
	char *query;	 /* owned, "" when none */
	char *token;	 /* owned: X-Auth-Token or NULL */
	char *auth;	 /* owned: Authorization or NULL */
	char *site;	 /* owned: Sec-Fetch-Site or NULL */
	struct text body;
	uint64_t left; /* bytes of body or chunk to come */
	int minor;     /* HTTP/1.minor */
	bool chunked;
	bool haslength;
	bool expect; /* waits for 100 Continue */
	bool close;  /* one way or the other, not kept alive */
	bool keep10; /* HTTP/1.0 asked for keep-alive */
	bool gzip;
	bool host;
	char subject[128]; /* user of the token, once checked */
	bool admin;	   /* the token has the role admin */
	bool nats;	   /* came by NATS: tags are not added */
};

struct reply {
	int status;
	const char *ctype; /* NULL: none */
	const char *allow; /* methods with spaces, or NULL */
	char *location;	   /* owned or NULL */
	struct text body;
};

struct tag {
	TAILQ_ENTRY(tag) entry;
	int64_t id;
	char *type, *name, *scope;
};
TAILQ_HEAD(tag_list, tag);

struct run {
	TAILQ_ENTRY(run) byjob;	  /* chain of a job id's hash */
	TAILQ_ENTRY(run) byid;	  /* chain of a database id's hash */
	TAILQ_ENTRY(run) waiting; /* in the cache, oldest first */
	json_t *body;		  /* as started, owned */
	json_t *meta;		  /* metaData: object or NULL, owned */
	const char *cluster;	  /* inside body */
	const char *subcluster;	  /* static */
	const char *state;	  /* static */
	struct tag **tags;
	size_t ntags;
	int64_t dbid; /* in the table it is in */
	int64_t jobid;
	int64_t start;	  /* epoch seconds */
	int64_t archived; /* ms on our clock, 0: not */
	int32_t duration; /* once it was stopped */
	int monitoring;
	bool cached; /* in job_cache, not in job */
	bool lost;   /* has no archive file */
};
TAILQ_HEAD(run_list, run);

enum fault_kind {
	FAULT_NONE,
	FAULT_STATUS,
	FAULT_RESET,
	FAULT_HANG,
	FAULT_DELAY,
	FAULT_HALFOPEN,
	FAULT_GARBAGE,
	FAULT_HTML,
	FAULT_REDIRECT,
	FAULT_ENDLESS,
	FAULT_SLOW,
	FAULT_LENGTH,
	FAULT_BIG,
	FAULT_401,
	FAULT_TRUNCATE
};

struct fault {
	TAILQ_ENTRY(fault) entry;
	enum fault_kind kind;
	char *match;	/* endpoint or "*" */
	char *body;	/* or NULL */
	char *location; /* of a redirect, or NULL */
	int64_t jobid;	/* 0: any */
	int64_t bytes;	/* of a big answer */
	int status;
	int delay; /* ms */
	int count; /* how often still, -1: for ever */
	int hits;
	bool after; /* the effect takes place */
};

/* go_json.c: JSON as Go's encoding/json takes it */
enum go_kind {
	GO_STRING,
	GO_INT32,
	GO_INT64,
	GO_FLOAT,
	GO_STRUCT,
	GO_LIST,
	GO_MAP
};
struct go_type {
	enum go_kind kind;
	bool pointer;		       /* null means absent */
	const char *name;	       /* as Go's messages call it */
	const char *sname;	       /* of a struct, without package */
	const char *prefix;	       /* of its fields, "BaseJob." */
	const struct go_type *elem;    /* of lists and maps */
	const struct go_field *fields; /* of a struct, NULL name ends */
};
struct go_field {
	const char *name;
	const struct go_type *type;
};
/*
 * Reads the first JSON value of s (n bytes), text after it is ignored.
 * Returns a new reference with canonical names and without what was null
 * (json_null() if the whole was), or NULL with Go's message in err.
 */
json_t *go_decode(const char *s, size_t n, const struct go_type *,
    struct text *err);
/* go_scan.c: finds the value's end; -1 with Go's message in err. */
int go_scan(const char *s, size_t n, size_t *end, struct text *err);

/* go_write.c: JSON as Go's encoding/json writes it */
void go_string(struct text *, const char *s, size_t n);
void go_cstring(struct text *, const char *);
void go_quote(struct text *, const char *s, size_t n); /* %q */
void go_float(struct text *, double);
void go_value(struct text *, json_t *); /* keys sorted, NULL is null */

/* schema.c: the requests' types, for the version that is played */
void schema_init(enum version);
const struct go_type *schema_job(void);
const struct go_type *schema_stop(void);
const struct go_type *schema_delete(void);
const struct go_type *schema_meta_run(void);
const struct go_type *schema_meta_id(void);
const struct go_type *schema_tags(void);
const struct go_type *schema_nodes(void);

/* text.c */
void text_add(struct text *, const void *, size_t);
void text_str(struct text *, const char *);
void text_fmt(struct text *, const char *, ...)
    __attribute__((format(printf, 2, 3)));
void text_clear(struct text *);
void *xcalloc(size_t, size_t);
char *xstrdup(const char *);
char *xstrndup(const char *, size_t);
int64_t now_ms(void); /* monotonic */

/* jwt.c: EdDSA tokens, signed with a key that is public on purpose */
int jwt_init(const char *tokenfile, struct text *token);
/* Signs claims (JSON text) into token; key: 32 bytes or NULL for ours. */
int jwt_sign(const char *claims, struct text *token);
void jwt_key(struct text *base64); /* seed and public key */
/* Returns the claims (new reference), or NULL and Go's words in err. */
json_t *jwt_verify(const char *token, struct text *err);

/* auth.c: 0 if rq may go on, -1 with rp filled in */
int auth_check(struct request *rq, struct reply *rp);

/* clusters.c */
int clusters_init(const struct options *);
bool cluster_exists(const char *name);
/* The subcluster of a host (any host: host NULL) or NULL. */
const char *cluster_sub(const char *cluster, const char *host);
bool cluster_host(const char *cluster, const char *host);
void clusters_write(struct text *, const char *only);

/* store.c */
void store_init(void);
size_t store_count(bool cached);
/* All committed runs, newest start first; valid until the next change. */
struct run **store_sorted(size_t *n);
struct run *store_byid(int64_t dbid);
/* The newest of a job id; cluster NULL and start NULL mean any. */
struct run *store_find(bool cached, int64_t jobid, const char *cluster,
    const int64_t *start);
/* The first committed run nearer than RUN_DISTANCE, or NULL. */
struct run *store_conflict(int64_t jobid, const char *cluster, int64_t start);
/* Takes body; returns NULL if such a run is in that table. */
struct run *store_add(json_t *body, const char *sub, bool cached);
/* Moves a cached run to the job table; -1: it is there already. */
int store_transfer(struct run *);
/* Moves them all; those that exist already are dropped. */
void store_commit(void);
struct run *store_first_cached(void);
void store_delete(struct run *);
/* NULL on success, else SQLite's words. */
const char *store_tag(struct run *, const char *type, const char *name,
    const char *scope, struct tag **);
json_t *store_dump(void);

/* render.c: a run as the API shows it */
enum render {
	RENDER_LIST,
	RENDER_STOP,
	RENDER_META,
	RENDER_TAGGED
};
void run_render(struct text *, struct run *, enum render, bool withmeta);
void run_archive_path(struct text *, const struct run *);
bool run_archived(const struct run *);

/* reply.c */
void reply_error(struct reply *, int status, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void reply_no_endpoint(struct reply *);
void reply_not_found(struct reply *);
void reply_clear(struct reply *);
const char *status_text(int);
/* The reply as it goes over the wire. */
void reply_wire(struct text *, const struct request *, struct reply *,
    bool *close);

/* gzip.c: wraps in place, without compressing */
void gzip_wrap(struct text *);

/* api.c: routes */
void api_init(const struct options *);
const struct options *api_options(void);
/* What can be said before the body: 0 go on, -1 rp filled in. */
int api_check(struct request *, struct reply *);
void api_handle(struct request *, struct reply *);
/* The name that faults and statistics use: start_job, jobs ... */
const char *api_endpoint(const struct request *);

/* start.c, stop.c, list.c, edit.c: what the routes do */
void start_job(struct request *, struct reply *, const char *);
void stop_job(struct request *, struct reply *, const char *);
void stop_race(int count, bool lost);
int stop_race_left(void);
/* Also used when a ledger is read back. */
void run_finish(struct run *, const char *state, int64_t duration);
void run_meta(struct run *, const char *key, const char *value);
void list_jobs(struct request *, struct reply *, const char *);
void list_one(struct request *, struct reply *, const char *);
void list_clusters(struct request *, struct reply *, const char *);
void edit_by_run(struct request *, struct reply *, const char *);
void edit_by_id(struct request *, struct reply *, const char *);
void tag_by_id(struct request *, struct reply *, const char *);
void delete_by_run(struct request *, struct reply *, const char *);
void delete_by_id(struct request *, struct reply *, const char *);
void delete_before(struct request *, struct reply *, const char *);
void nodestate(struct request *, struct reply *, const char *);
json_t *body_decode(struct request *, struct reply *, const struct go_type *);
int64_t json_num(json_t *obj, const char *key, int64_t absent);
const char *json_text(json_t *obj, const char *key, const char *absent);

/* ledger.c: one line of JSON for each effect */
int ledger_open(const char *path);
void ledger_write(const char *effect, const struct run *, json_t *body);

/* The next line tells that a commit came before it. */
void ledger_commit(void);

/* restore.c: commit in seconds */
void restore_ledger(const char *path, double commit);

/* line.c: takes a message's lines of that measurement, "job" ... */
void line_message(const char *, size_t, const char *measurement);

/* nats.c: subscribes; -1 if the URL is bad */
int nats_init(struct event_base *, const char *url, const char *subject);

/* fault.c */
struct fault *fault_find(const struct request *);
void fault_admin(struct request *, struct reply *);
const char *fault_name(enum fault_kind);

/* admin.c: /fake/ */
void admin_handle(struct request *, struct reply *);
void stats_count(const char *endpoint, int status);

/* http.c */
int http_init(struct event_base *, const struct options *);
void http_down(double seconds);
int http_port(void);
struct http_numbers {
	unsigned long open, max, total, requests;
};
void http_numbers(struct http_numbers *);

#endif
