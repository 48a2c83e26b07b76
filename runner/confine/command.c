/* SPDX-License-Identifier: MIT */
/*
 * The kind of program that a command is: an ELF program, which needs its
 * loader, or a script, with which a site has replaced the command.
 */
#include "config.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "runner/confine/confine_private.h"

#define SEGMENTS_MAX 64 /* of an ELF program; usual are 13 */

#define OWN_PROGRAM "/proc/self/exe"

static int
read_at(int fd, void *buf, size_t size, off_t at)
{
	return pread(fd, buf, size, at) == (ssize_t)size ? 0 : -1;
}

/* The loader that the program names; unchanged for a static one. */
static void
loader_read(int fd, const ElfW(Ehdr) * head, char *loader)
{
	ElfW(Phdr) segment;
	char name[LOADER_MAX];
	unsigned i;

	if (head->e_phentsize != sizeof(segment))
		return;
	for (i = 0; i < head->e_phnum && i < SEGMENTS_MAX; i++) {
		if (read_at(fd, &segment, sizeof(segment),
			(off_t)(head->e_phoff + i * sizeof(segment))) == -1)
			return;
		if (segment.p_type != PT_INTERP ||
		    segment.p_filesz >= LOADER_MAX)
			continue;
		if (read_at(fd, name, segment.p_filesz,
			(off_t)segment.p_offset) == -1)
			return;
		name[segment.p_filesz] = '\0';
		snprintf(loader, LOADER_MAX, "%s", name);
		return;
	}
}

/*
 * loader is that of the system: for a program that is not readable, and for a
 * static one, which may be a site's wrapper around the real command.
 */
static void
kind_read(struct command_kind *kind, const char *loader)
{
	ElfW(Ehdr) head;
	int fd = open(kind->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	kind->is_script = 0;
	snprintf(kind->loader, sizeof(kind->loader), "%s", loader);
	/* Not readable: the kernel executes programs only. */
	if (fd == -1)
		return;
	memset(&head, 0, sizeof(head));
	if (read_at(fd, &head, SELFMAG, 0) == -1 ||
	    memcmp(head.e_ident, ELFMAG, SELFMAG) != 0)
		kind->is_script = 1;
	else if (read_at(fd, &head, sizeof(head), 0) == 0)
		loader_read(fd, &head, kind->loader);
	close(fd);
}

void
command_kinds_init(struct command_kinds *k)
{
	struct command_kind own;

	memset(k, 0, sizeof(*k));
	snprintf(own.path, sizeof(own.path), "%s", OWN_PROGRAM);
	kind_read(&own, "");
	memcpy(k->loader, own.loader, sizeof(k->loader));
}

/* The place of a command: its own, a free one, or the next one in turn. */
static struct command_kind *
kind_place(struct command_kinds *k, const char *path)
{
	unsigned i;

	for (i = 0; i < k->n; i++)
		if (strcmp(k->kinds[i].path, path) == 0)
			return &k->kinds[i];
	if (k->n < COMMANDS_MAX)
		return &k->kinds[k->n++];
	k->next = (k->next + 1) % COMMANDS_MAX;
	return &k->kinds[k->next];
}

const struct command_kind *
command_kind(struct command_kinds *k, const char *path)
{
	struct file_stamp stamp;
	struct command_kind *kind;

	if (strlen(path) >= sizeof(kind->path)) {
		errno = ENAMETOOLONG;
		return NULL;
	}
	if (file_stamp(path, &stamp) == -1)
		return NULL;
	kind = kind_place(k, path);
	if (strcmp(kind->path, path) == 0 &&
	    file_stamp_equal(&kind->stamp, &stamp))
		return kind;
	snprintf(kind->path, sizeof(kind->path), "%s", path);
	kind->stamp = stamp;
	kind_read(kind, k->loader);
	return kind;
}
