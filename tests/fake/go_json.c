/* SPDX-License-Identifier: MIT */
/*
 * Decodes JSON into what a Go struct would hold: names in any case, unknown
 * ones refused, numbers in range, null as absent, bytes that are not UTF-8
 * replaced.  Works on text whose syntax go_scan() has accepted, so it need
 * not look at every comma again.  The first error in the text wins.
 */
#include "config.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "fake.h"

struct decoder {
	const char *p; /* what comes next */
	const char *end;
	struct text *err;
	const char *sname; /* innermost struct, NULL outside */
	struct text path;  /* fields down to here, dotted */
};

static json_t *value_decode(struct decoder *, const struct go_type *, bool *);

static void
blank_skip(struct decoder *d)
{
	while (d->p < d->end && strchr(" \t\r\n", *d->p) != NULL)
		d->p++;
}

static int
rune_add(struct text *t, unsigned int c)
{
	char b[4];

	if (c < 0x80) {
		b[0] = (char)c;
		text_add(t, b, 1);
	} else if (c < 0x800) {
		b[0] = (char)(0xc0 | c >> 6);
		b[1] = (char)(0x80 | (c & 0x3f));
		text_add(t, b, 2);
	} else if (c < 0x10000) {
		b[0] = (char)(0xe0 | c >> 12);
		b[1] = (char)(0x80 | (c >> 6 & 0x3f));
		b[2] = (char)(0x80 | (c & 0x3f));
		text_add(t, b, 3);
	} else {
		b[0] = (char)(0xf0 | c >> 18);
		b[1] = (char)(0x80 | (c >> 12 & 0x3f));
		b[2] = (char)(0x80 | (c >> 6 & 0x3f));
		b[3] = (char)(0x80 | (c & 0x3f));
		text_add(t, b, 4);
	}
	return 0;
}

static unsigned int
hex4(const char *p)
{
	char b[5] = { p[0], p[1], p[2], p[3], '\0' };

	return (unsigned int)strtoul(b, NULL, 16);
}

/* The length of the valid UTF-8 sequence at p, 0 if there is none. */
static size_t
utf8_len(const unsigned char *p, size_t n)
{
	unsigned int c;

	if (p[0] < 0x80)
		return 1;
	if (p[0] >= 0xc2 && p[0] <= 0xdf && n >= 2 && (p[1] & 0xc0) == 0x80)
		return 2;
	if (p[0] >= 0xe0 && p[0] <= 0xef && n >= 3 && (p[1] & 0xc0) == 0x80 &&
	    (p[2] & 0xc0) == 0x80) {
		c = (p[0] & 0x0fu) << 12 | (p[1] & 0x3fu) << 6;
		return c < 0x800 || (c >= 0xd800 && c < 0xe000) ? 0 : 3;
	}
	if (p[0] >= 0xf0 && p[0] <= 0xf4 && n >= 4 && (p[1] & 0xc0) == 0x80 &&
	    (p[2] & 0xc0) == 0x80 && (p[3] & 0xc0) == 0x80) {
		c = (p[0] & 0x07u) << 18 | (p[1] & 0x3fu) << 12;
		return c < 0x10000 || c >= 0x110000 ? 0 : 4;
	}
	return 0;
}

/* \uXXXX, the p after the u; two surrogates make one rune. */
static const char *
unicode_decode(const char *p, struct text *t)
{
	unsigned int c = hex4(p), low;

	p += 4;
	if (c >= 0xd800 && c < 0xdc00 && p[0] == '\\' && p[1] == 'u') {
		low = hex4(p + 2);
		if (low >= 0xdc00 && low < 0xe000) {
			rune_add(t,
			    0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00));
			return p + 6;
		}
	}
	rune_add(t, c >= 0xd800 && c < 0xe000 ? 0xfffd : c);
	return p;
}

/* d->p is at the opening quote. */
static void
string_decode(struct decoder *d, struct text *t)
{
	static const char from[] = "bfnrt", to[] = "\b\f\n\r\t";
	const char *p = d->p + 1, *run, *at;
	size_t n;

	text_add(t, "", 0);
	while (*p != '"') {
		for (run = p;
		     *p != '"' && *p != '\\' && (unsigned char)*p < 0x80; p++)
			;
		text_add(t, run, (size_t)(p - run));
		if (*p == '"')
			break;
		if (*p != '\\') {
			n = utf8_len((const unsigned char *)p,
			    (size_t)(d->end - p));
			if (n == 0)
				rune_add(t, 0xfffd);
			else
				text_add(t, p, n);
			p += n != 0 ? n : 1;
		} else if (p[1] == 'u') {
			p = unicode_decode(p + 2, t);
		} else {
			at = strchr(from, p[1]);
			text_add(t, at != NULL ? &to[at - from] : &p[1], 1);
			p += 2;
		}
	}
	d->p = p + 1;
}

static void
value_skip(struct decoder *d)
{
	struct text none = { 0 };
	size_t end = 0;

	go_scan(d->p, (size_t)(d->end - d->p), &end, &none);
	d->p += end;
	text_clear(&none);
}

/* "cannot unmarshal ...": what was found, and where it did not fit. */
static json_t *
type_error(struct decoder *d, const char *found, const char *number, size_t n,
    const struct go_type *type)
{
	text_fmt(d->err, "json: cannot unmarshal %s%s%.*s into Go ", found,
	    n > 0 ? " " : "", (int)n, number);
	if (d->sname != NULL)
		text_fmt(d->err, "struct field %s.%s of type %s", d->sname,
		    d->path.p, type->name);
	else
		text_fmt(d->err, "value of type %s", type->name);
	return NULL;
}

static json_t *
number_decode(struct decoder *d, const struct go_type *type)
{
	const char *p = d->p;
	char digits[64];
	size_t n = 0;
	long long v;

	while (p + n < d->end && strchr("+-.eE0123456789", p[n]) != NULL &&
	    p[n] != '\0')
		n++;
	d->p += n;
	if (type->kind != GO_INT32 && type->kind != GO_INT64 &&
	    type->kind != GO_FLOAT)
		return type_error(d, "number", "", 0, type);
	if (n >= sizeof(digits))
		return type_error(d, "number", p, n, type);
	memcpy(digits, p, n);
	digits[n] = '\0';
	if (type->kind == GO_FLOAT)
		return json_real(strtod(digits, NULL));
	errno = 0;
	v = strtoll(digits, NULL, 10);
	if (strpbrk(digits, ".eE") != NULL || errno == ERANGE ||
	    (type->kind == GO_INT32 && (v > INT32_MAX || v < INT32_MIN)))
		return type_error(d, "number", p, n, type);
	return json_integer(v);
}

static const struct go_field *
field_find(struct decoder *d, const struct go_type *type,
    const struct text *name)
{
	const struct go_field *f;
	bool whole = strlen(name->p) == name->len; /* holds no NUL */

	for (f = type->fields; whole && f->name != NULL; f++)
		if (strcmp(f->name, name->p) == 0)
			return f;
	for (f = type->fields; whole && f->name != NULL; f++)
		if (strcasecmp(f->name, name->p) == 0)
			return f;
	text_str(d->err, "json: unknown field ");
	go_quote(d->err, name->p, name->len);
	return NULL;
}

static int
member_decode(struct decoder *d, const struct go_type *type, json_t *obj,
    const struct text *name)
{
	const struct go_field *f;
	const char *outer = d->sname;
	size_t len = d->path.len;
	bool null = false;
	json_t *v;

	if ((f = field_find(d, type, name)) == NULL)
		return -1;
	text_fmt(&d->path, "%s%s%s", len > 0 ? "." : "",
	    type->prefix != NULL ? type->prefix : "", f->name);
	d->sname = type->sname;
	v = value_decode(d, f->type, &null);
	if (v != NULL)
		json_object_set_new_nocheck(obj, f->name, v);
	else if (null && (f->type->pointer || f->type->kind >= GO_LIST))
		json_object_del(obj, f->name);
	d->path.len = len;
	d->path.p[len] = '\0';
	d->sname = outer;
	return v == NULL && !null ? -1 : 0;
}

static int
entry_decode(struct decoder *d, const struct go_type *type, json_t *obj,
    const char *name)
{
	bool null = false;
	json_t *v = value_decode(d, type->elem, &null);

	if (v == NULL && !null)
		return -1;
	if (v == NULL) /* the zero value */
		v = type->elem->kind == GO_STRING ? json_string("") :
		    type->elem->kind == GO_FLOAT  ? json_real(0) :
						    json_object();
	json_object_set_new_nocheck(obj, name, v);
	return 0;
}

static json_t *
object_decode(struct decoder *d, const struct go_type *type)
{
	struct text name = { 0 };
	json_t *obj = json_object();
	int rc = 0;

	for (d->p++; blank_skip(d), *d->p != '}' && rc == 0;) {
		if (*d->p == ',') {
			d->p++;
			blank_skip(d);
		}
		name.len = 0;
		string_decode(d, &name);
		blank_skip(d);
		d->p++; /* the colon */
		rc = type->kind == GO_MAP ? entry_decode(d, type, obj, name.p) :
					    member_decode(d, type, obj, &name);
	}
	if (rc == 0)
		d->p++;
	else {
		json_decref(obj);
		obj = NULL;
	}
	text_clear(&name);
	return obj;
}

static json_t *
list_decode(struct decoder *d, const struct go_type *type)
{
	json_t *list = json_array(), *v;
	bool null;

	for (d->p++; blank_skip(d), *d->p != ']';) {
		if (*d->p == ',')
			d->p++;
		null = false;
		v = value_decode(d, type->elem, &null);
		if (v == NULL && !null) {
			json_decref(list);
			return NULL;
		}
		if (v == NULL && type->elem->kind == GO_STRING)
			v = json_string("");
		else if (v == NULL && type->elem->kind == GO_INT64)
			v = json_integer(0);
		else if (v == NULL)
			v = json_null();
		json_array_append_new(list, v);
	}
	d->p++;
	return list;
}

static json_t *
value_decode(struct decoder *d, const struct go_type *type, bool *null)
{
	struct text t = { 0 };
	json_t *v;

	blank_skip(d);
	switch (*d->p) {
	case 'n':
		value_skip(d);
		*null = true;
		return NULL;
	case 't':
	case 'f':
		return type_error(d, "bool", "", 0, type);
	case '"':
		if (type->kind != GO_STRING)
			return type_error(d, "string", "", 0, type);
		string_decode(d, &t);
		v = json_stringn_nocheck(t.p, t.len);
		text_clear(&t);
		return v;
	case '{':
		if (type->kind != GO_STRUCT && type->kind != GO_MAP)
			return type_error(d, "object", "", 0, type);
		return object_decode(d, type);
	case '[':
		if (type->kind != GO_LIST)
			return type_error(d, "array", "", 0, type);
		return list_decode(d, type);
	default:
		return number_decode(d, type);
	}
}

json_t *
go_decode(const char *s, size_t n, const struct go_type *type, struct text *err)
{
	struct decoder d = { .p = s, .err = err };
	bool null = false;
	size_t end = 0;
	json_t *v;

	if (go_scan(s, n, &end, err) == -1)
		return NULL;
	d.end = s + end;
	v = value_decode(&d, type, &null);
	text_clear(&d.path);
	return v == NULL && null ? json_null() : v;
}
