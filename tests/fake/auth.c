/* SPDX-License-Identifier: MIT */
/*
 * Who may call: the token of X-Auth-Token, else of Authorization, and its
 * roles.  The answers differ by version; so does what the roles must be.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "fake.h"

struct roles {
	size_t n;
	bool api, admin;
};

static struct roles
roles_read(json_t *claims)
{
	struct roles r = { 0 };
	json_t *role;
	size_t i;

	json_array_foreach(json_object_get(claims, "roles"), i, role)
	{
		r.n++;
		if (json_is_string(role) &&
		    strcmp(json_string_value(role), "api") == 0)
			r.api = true;
		if (json_is_string(role) &&
		    strcmp(json_string_value(role), "admin") == 0)
			r.admin = true;
	}
	return r;
}

static int
refuse(struct reply *rp, const char *why)
{
	rp->status = 401;
	if (api_options()->version == V131) {
		rp->ctype = "text/plain; charset=utf-8";
		text_fmt(&rp->body, "%s\n", why);
		return -1;
	}
	rp->ctype = "application/json";
	text_str(&rp->body, "{\"error\":");
	go_cstring(&rp->body, why);
	text_str(&rp->body, ",\"status\":\"Unauthorized\"}\n");
	return -1;
}

static int
refuse_login(struct reply *rp)
{
	switch (api_options()->version) {
	case V131:
		rp->status = 401;
		rp->ctype = "text/html; charset=utf-8";
		text_str(&rp->body,
		    "<!DOCTYPE html>\n<html lang=\"en\">\n"
		    "<head><title>Authentication failed - ClusterCockpit"
		    "</title></head>\n<body>unauthorized (please login first)"
		    "</body>\n</html>\n");
		return -1;
	case V141:
		return refuse(rp, "unauthorized");
	default:
		return refuse(rp, "no user for secured check");
	}
}

static int
roles_check(const struct roles *r, struct reply *rp)
{
	if (api_options()->version == V131) {
		if (r->api)
			return 0;
		reply_error(rp, 403, "missing role: api");
		return -1;
	}
	if ((r->n == 1 && r->api) || (r->n > 1 && r->api && r->admin))
		return 0;
	/* Of the missing return after the first answer clients see both. */
	if (r->n == 0)
		refuse(rp, "unauthorized");
	return refuse(rp, "unauthorized");
}

int
auth_check(struct request *rq, struct reply *rp)
{
	const char *token = rq->token, *sub;
	struct text err = { 0 };
	struct roles roles;
	json_t *claims;
	int rc;

	if ((token == NULL || *token == '\0') && rq->auth != NULL) {
		token = rq->auth;
		if (strncmp(token, "Bearer ", 7) == 0)
			token += 7;
	}
	if (token == NULL || *token == '\0')
		return refuse_login(rp);
	claims = jwt_verify(token, &err);
	if (claims == NULL) {
		rc = refuse(rp, err.p);
		text_clear(&err);
		return rc;
	}
	sub = json_string_value(json_object_get(claims, "sub"));
	if (sub == NULL) {
		rc = refuse(rp, "missing 'sub' claim in JWT");
	} else {
		roles = roles_read(claims);
		rq->admin = roles.admin;
		snprintf(rq->subject, sizeof(rq->subject), "%s", sub);
		rc = roles_check(&roles, rp);
	}
	json_decref(claims);
	return rc;
}
