/* SPDX-License-Identifier: MIT */
/*
 * Options of one request and its answer: limits in bytes and time, no redirect,
 * no proxy, nothing from the environment, certificates from memory.
 */
#include "config.h"

#include <sys/socket.h>

#include <stdlib.h>
#include <string.h>

#include "submitter/net/http_private.h"
#include "submitter/payload/payload.h"

#define CONNECT_MS   5000L
#define WRITE_MS     30000L  /* cc-backend's own limit is 20 s */
#define READ_MS	     120000L /* a page of a long job list is slow */
#define SLOW_BYTES   64L     /* per s; fewer for SLOW_S end a reading request */
#define SLOW_S	     25L
#define ANSWER_MAX   (1024u * 1024)	/* bytes of other answers */
#define RUN_MAX	     PAYLOAD_MAX	/* stop_job, edit_meta return the run */
#define RUN_KEPT     (4u * 1024 * 1024) /* of it; 4000 nodes of 256 threads */
#define CLUSTERS_MAX (8u * 1024 * 1024) /* large sites have 100 KB */
#define LIFETIME_S   300L /* of a connection: then a new address is used */

static size_t
answer_max(enum request_kind what)
{
	switch (what) {
	case REQUEST_LIST:
		return READ_MAX;
	case REQUEST_CLUSTERS:
		return CLUSTERS_MAX;
	case REQUEST_STOP:
	case REQUEST_META:
		return RUN_MAX;
	default:
		return ANSWER_MAX;
	}
}

static int
answer_take(struct http_call *c, const char *p, size_t n)
{
	long code = 0;

	c->seen += n;
	if (c->seen > answer_max(c->what)) {
		c->broken = "the answer is too long";
		return -1;
	}
	curl_easy_getinfo(c->easy, CURLINFO_RESPONSE_CODE, &code);
	if (c->data != NULL && code == 200) {
		if (c->data(p, n, c->arg) == 0)
			return 0;
		c->broken = "the answer does not have the expected form";
		return -1;
	}
	if (code != 200 && c->answer.len + n > ANSWER_MAX)
		return 0; /* the rest of an error page is not needed */
	/* Without its end, the answer does not name a wrong run. */
	if (answer_max(c->what) == RUN_MAX && c->seen > RUN_KEPT)
		return 0;
	wr_mem(&c->answer, p, n);
	if (wr_end(&c->answer) == -1) {
		c->broken = "out of memory";
		return -1;
	}
	return 0;
}

static size_t
on_data(char *p, size_t size, size_t n, void *arg)
{
	return answer_take(arg, p, size * n) == 0 ? size * n : 0;
}

#if LIBCURL_VERSION_NUM >= 0x075000
static int
on_send(void *arg, char *to, char *from, int to_port, int from_port)
{
	struct http_call *c = arg;

	c->sends++;
	return CURL_PREREQFUNC_OK;
}
#endif

/*
 * With a lease, the kernel sends no byte after the connection was closed: data
 * of a lost link would arrive when another centre is active.
 */
static int
on_socket(void *arg, curl_socket_t fd, curlsocktype purpose)
{
	const struct linger now = { .l_onoff = 1, .l_linger = 0 };

	(void)arg;
	(void)purpose;
	return setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now)) == 0 ?
	    CURL_SOCKOPT_OK :
	    CURL_SOCKOPT_ERROR;
}

static void
tls_set(struct http_call *c)
{
	size_t len;
	const char *ca = http_ca(c->conf, &len);

	if (!c->conf->tls)
		return;
	/* Whatever the system's policy of OpenSSL permits. */
	curl_easy_setopt(c->easy, CURLOPT_SSLVERSION,
	    (long)CURL_SSLVERSION_TLSv1_2);
	curl_easy_setopt(c->easy, CURLOPT_CAPATH, NULL);
#if LIBCURL_VERSION_NUM >= 0x074d00
	{
		struct curl_blob blob;

		memset(&blob, 0, sizeof(blob));
		memcpy(&blob.data, &ca,
		    sizeof(ca)); /* libcurl does not change it */
		blob.len = ca != NULL ? len : 0;
		blob.flags = CURL_BLOB_NOCOPY;
		if (ca != NULL)
			curl_easy_setopt(c->easy, CURLOPT_CAINFO_BLOB, &blob);
	}
#else
	/* No certificates from memory: main.c has written the file. */
	curl_easy_setopt(c->easy, CURLOPT_CAINFO, HTTP_CA_PATH);
#endif
}

static void
protocols_set(CURL *easy)
{
#if LIBCURL_VERSION_NUM >= 0x075500
	curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
#else
	curl_easy_setopt(easy, CURLOPT_PROTOCOLS,
	    (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
#if LIBCURL_VERSION_NUM >= 0x075000
	curl_easy_setopt(easy, CURLOPT_MAXLIFETIME_CONN, LIFETIME_S);
#endif
}

int
http_is_read(enum request_kind what)
{
	return what == REQUEST_LIST || what == REQUEST_CLUSTERS;
}

static void
limits_set(struct http_call *c)
{
	int is_read = http_is_read(c->what);

	curl_easy_setopt(c->easy, CURLOPT_CONNECTTIMEOUT_MS, CONNECT_MS);
	curl_easy_setopt(c->easy, CURLOPT_TIMEOUT_MS,
	    is_read				 ? READ_MS :
		c->fenced && c->limit < WRITE_MS ? c->limit :
						   WRITE_MS);
	if (c->fenced)
		curl_easy_setopt(c->easy, CURLOPT_SOCKOPTFUNCTION, on_socket);
	if (is_read) {
		curl_easy_setopt(c->easy, CURLOPT_LOW_SPEED_LIMIT, SLOW_BYTES);
		curl_easy_setopt(c->easy, CURLOPT_LOW_SPEED_TIME, SLOW_S);
	}
	curl_easy_setopt(c->easy, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(c->easy, CURLOPT_FOLLOWLOCATION, 0L);
	curl_easy_setopt(c->easy, CURLOPT_PROXY, "");
	curl_easy_setopt(c->easy, CURLOPT_HTTP_VERSION,
	    (long)CURL_HTTP_VERSION_1_1);
	curl_easy_setopt(c->easy, CURLOPT_TCP_KEEPALIVE, 1L);
	curl_easy_setopt(c->easy, CURLOPT_DNS_CACHE_TIMEOUT, -1L);
	protocols_set(c->easy);
}

static void
body_set(struct http_call *c)
{
	if (strcmp(c->method, "GET") == 0)
		return;
	curl_easy_setopt(c->easy, CURLOPT_CUSTOMREQUEST, c->method);
	curl_easy_setopt(c->easy, CURLOPT_POSTFIELDS,
	    c->body.buf != NULL ? (const char *)c->body.buf : "");
	curl_easy_setopt(c->easy, CURLOPT_POSTFIELDSIZE_LARGE,
	    (curl_off_t)c->body.len);
}

void
http_call_set(struct http_call *c)
{
	curl_easy_setopt(c->easy, CURLOPT_PRIVATE, c);
	curl_easy_setopt(c->easy, CURLOPT_ERRORBUFFER, c->error);
	curl_easy_setopt(c->easy, CURLOPT_URL, c->url);
	curl_easy_setopt(c->easy, CURLOPT_HTTPHEADER,
	    http_conf_headers(c->conf));
	curl_easy_setopt(c->easy, CURLOPT_WRITEFUNCTION, on_data);
	curl_easy_setopt(c->easy, CURLOPT_WRITEDATA, c);
#if LIBCURL_VERSION_NUM >= 0x075000
	curl_easy_setopt(c->easy, CURLOPT_PREREQFUNCTION, on_send);
	curl_easy_setopt(c->easy, CURLOPT_PREREQDATA, c);
#endif
	limits_set(c);
	tls_set(c);
	body_set(c);
}
