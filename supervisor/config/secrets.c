/* SPDX-License-Identifier: MIT */
/*
 * Secrets: read from config.json, from the files that it names and from
 * systemd's credentials, kept in one buffer that is wiped, and passed to the
 * supervisor in a sealed memfd.  jansson's allocator wipes what it frees.
 */
#include "config.h"

#include <sys/mman.h>
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "supervisor/config/config_file.h"

/* The longest file in the memfd: the CA bundle of a distribution. */
#define SECRET_FILE_MAX (512u * 1024)
#define TOKEN_MAX	(64u * 1024)

/* Names of the token in LoadCredential=. */
static const char *const credential_names[] = { "ccRestJwt", "cc-rest-jwt" };

/* A text that each file must have; without it, it is the wrong file. */
static const struct secret_file {
	enum conf_key key;
	const char *sign; /* must be in it */
	const char *what;
	enum {
		WITH_REST, /* only if cc-backend gets requests */
		WITH_NATS, /* only with natsServer */
		AS_LOGIN   /* only if it is the login of NATS */
	} use;
} files[] = {
	{ CONF_CC_REST_CA_FILE, "-----BEGIN ", "a PEM certificate", WITH_REST },
	{ CONF_NATS_CREDS_FILE, "-----BEGIN NATS USER JWT",
	    "a NATS credentials file", AS_LOGIN },
	{ CONF_NATS_NKEY_SEED_FILE, "SU", "the NKey seed of a user", AS_LOGIN },
	{ CONF_NATS_CA_FILE, "-----BEGIN ", "a PEM certificate", WITH_NATS },
	{ CONF_NATS_CERT_FILE, "-----BEGIN ", "a PEM certificate", WITH_NATS },
	{ CONF_NATS_KEY_FILE, "PRIVATE KEY-----", "a PEM private key",
	    WITH_NATS },
};

static char *
read_open(int fd, size_t max, size_t *n, const char **why)
{
	char *text = malloc(max + 1);
	ssize_t got = 0;

	*n = 0;
	if (text == NULL) {
		*why = "out of memory";
		return NULL;
	}
	while (*n <= max && (got = read(fd, text + *n, max + 1 - *n)) != 0) {
		if (got == -1 && errno == EINTR)
			continue;
		if (got == -1)
			break;
		*n += (size_t)got;
	}
	if (got == -1)
		*why = strerror(errno);
	else if (*n > max)
		*why = "is too long";
	else {
		text[*n] = '\0';
		return text;
	}
	explicit_bzero(text, *n);
	free(text);
	return NULL;
}

char *
conf_file_read(const char *path, size_t max, size_t *n, unsigned *mode,
    unsigned *owner, const char **why)
{
	struct stat st;
	char *text = NULL;
	int saved, fd;

	*n = 0;
	/* open() of a FIFO must not block. */
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd == -1 || fstat(fd, &st) == -1) {
		*why = strerror(errno);
		goto done;
	}
	*mode = st.st_mode & 07777;
	*owner = st.st_uid;
	errno = EINVAL;
	if (!S_ISREG(st.st_mode))
		*why = "is not a regular file";
	else if (st.st_size > (off_t)max)
		*why = "is too long";
	else
		text = read_open(fd, max, n, why);
done:
	saved = errno;
	if (fd != -1)
		close(fd);
	errno = saved;
	return text;
}

/* Adds one secret for the memfd of the process that gets the key. */
static void
secret_add(struct conf_parse *p, enum conf_key key, const void *bytes, size_t n)
{
	struct writer *to = conf_is_for(&p->conf, key, ROLE_RECEIVER) ?
	    &p->receiver_secrets :
	    &p->secrets;

	wr_u16(to, (uint16_t)key);
	wr_blob(to, bytes, n);
	if (wr_end(to) == -1)
		conf_error(p, conf_rule(key)->name, NULL,
		    "all secrets and certificates together are too long (at "
		    "most %u bytes)",
		    CONF_SECRETS_MAX);
}

/* The content of a key's file; owned, NULL after an error (reported). */
static char *
key_file_read(struct conf_parse *p, enum conf_key key, size_t max, size_t *n)
{
	const struct conf_rule *rule = conf_rule(key);
	const char *path = conf_str(&p->conf, key), *why = NULL;
	unsigned mode = 0, owner = 0;
	char *text;

	text = conf_file_read(path, max, n, &mode, &owner, &why);
	if (text == NULL) {
		conf_error(p, rule->name, NULL, "%.256s: %s", path, why);
		return NULL;
	}
	if (rule->type != CONF_TYPE_SECRET_FILE ||
	    (mode & (S_IROTH | S_IWOTH)) == 0)
		return text;
	conf_error(p, rule->name, NULL,
	    "%.256s: is %s by other users (mode %04o): chmod 600", path,
	    mode & S_IROTH ? "readable" : "writable", mode);
	explicit_bzero(text, *n);
	free(text);
	return NULL;
}

static void
add_file(struct conf_parse *p, enum conf_key key, const char *sign,
    const char *what)
{
	size_t n;
	char *text = key_file_read(p, key, SECRET_FILE_MAX, &n);

	if (text == NULL)
		return;
	if (memmem(text, n, sign, strlen(sign)) == NULL)
		conf_error(p, conf_rule(key)->name, NULL, "%.256s: is not %s",
		    conf_str(&p->conf, key), what);
	else
		secret_add(p, key, text, n);
	explicit_bzero(text, n);
	free(text);
}

static int
is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/*
 * Adds the token without the white space at both ends; source is for the error
 * message.
 */
static void
add_token(struct conf_parse *p, const char *text, size_t n, const char *source)
{
	size_t i;

	for (; n > 0 && is_blank(*text); n--)
		text++;
	while (n > 0 && is_blank(text[n - 1]))
		n--;
	if (n == 0) {
		conf_error(p, "ccRestJwtFile", NULL, "%.256s: is empty",
		    source);
		return;
	}
	for (i = 0; i < n; i++) {
		if (text[i] > ' ' && text[i] < 0x7f)
			continue;
		conf_error(p, "ccRestJwtFile", NULL,
		    "%.256s: has more than one word or is not a token", source);
		return;
	}
	secret_add(p, CONF_CC_REST_JWT, text, n);
	p->has_token = 1;
}

/*
 * Reads the token from systemd's LoadCredential=, when the configuration names
 * none.
 */
static void
read_credential(struct conf_parse *p)
{
	const char *dir = getenv("CREDENTIALS_DIRECTORY"), *why = NULL;
	unsigned mode, owner;
	char path[4096], *text;
	size_t i, n;

	if (dir == NULL || *dir != '/')
		return;
	for (i = 0; i < sizeof(credential_names) / sizeof(credential_names[0]);
	     i++) {
		if ((size_t)snprintf(path, sizeof(path), "%s/%s", dir,
			credential_names[i]) >= sizeof(path))
			return;
		text = conf_file_read(path, TOKEN_MAX, &n, &mode, &owner, &why);
		if (text != NULL) {
			add_token(p, text, n, path);
			explicit_bzero(text, n);
			free(text);
			return;
		}
		if (errno != ENOENT) {
			conf_error(p, NULL, NULL, "%.256s: %s", path, why);
			return;
		}
	}
}

static void
read_token(struct conf_parse *p)
{
	const char *given = p->secret[CONF_CC_REST_JWT];
	size_t n;
	char *text;

	if (given != NULL && *given == '\0')
		given = NULL;
	if (*conf_str(&p->conf, CONF_CC_REST_JWT_FILE) == '\0') {
		if (given == NULL)
			read_credential(p);
		else {
			secret_add(p, CONF_CC_REST_JWT, given, strlen(given));
			p->has_token = 1;
		}
		return;
	}
	if (given != NULL) {
		conf_error(p, "ccRestJwtFile", NULL,
		    "ccRestJwt is given, too: remove one of them");
		return;
	}
	text = key_file_read(p, CONF_CC_REST_JWT_FILE, TOKEN_MAX, &n);
	if (text == NULL)
		return;
	add_token(p, text, n, conf_str(&p->conf, CONF_CC_REST_JWT_FILE));
	explicit_bzero(text, n);
	free(text);
}

/* Adds a secret that is in config.json itself. */
static void
add_plain(struct conf_parse *p, enum conf_key key)
{
	const char *text = p->secret[key];

	if (text != NULL && *text != '\0')
		secret_add(p, key, text, strlen(text));
}

static int
file_is_used(const struct conf_parse *p, const struct secret_file *file,
    enum conf_key login)
{
	switch (file->use) {
	case WITH_NATS:
		return conf_is_set(p, CONF_NATS_SERVER);
	case AS_LOGIN:
		return file->key == login;
	default:
		return !conf_delivers_to_stream(&p->conf);
	}
}

void
conf_secrets_read(struct conf_parse *p)
{
	enum conf_key login = CONF__COUNT;
	size_t i;

	if (conf_is_set(p, CONF_NATS_SERVER))
		login = conf_nats_login(p);
	/* No process of a host that delivers to a stream needs the token. */
	if (!conf_delivers_to_stream(&p->conf))
		read_token(p);
	if (login == CONF_NATS_USER || login == CONF_NATS_TOKEN)
		add_plain(p, login);
	if (login == CONF_NATS_USER)
		add_plain(p, CONF_NATS_PASSWORD);
	for (i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		if (conf_is_set(p, files[i].key) &&
		    file_is_used(p, &files[i], login))
			add_file(p, files[i].key, files[i].sign, files[i].what);
}

int
conf_secrets_seal(const struct writer *secrets)
{
	size_t done = 0;
	ssize_t n;
	int saved, fd;

	fd = memfd_create("secrets", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd == -1)
		return -1;
	while (done < secrets->len) {
		n = write(fd, secrets->buf + done, secrets->len - done);
		if (n == -1 && errno == EINTR)
			continue;
		if (n <= 0)
			goto fail;
		done += (size_t)n;
	}
	if (fcntl(fd, F_ADD_SEALS,
		F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) == 0)
		return fd;
fail:
	saved = errno;
	close(fd);
	errno = saved;
	return -1;
}
