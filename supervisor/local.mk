# SPDX-License-Identifier: MIT
# The supervisor and, in the same program, the child that reads config.json:
# jansson is for that one, libcap and libseccomp (names of system calls) for
# the supervisor, libworker for the message that closes a worker in.
worker_PROGRAMS += supervisor/supervisor
supervisor_supervisor_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS) $(JANSSON_CFLAGS) \
	$(CAP_CFLAGS) $(SECCOMP_CFLAGS)
supervisor_supervisor_SOURCES = supervisor/supervisor.h \
	supervisor/main.c supervisor/flags.c supervisor/load.c \
	supervisor/reload.c supervisor/diff.c supervisor/offer.c \
	supervisor/proc.c supervisor/spawn.c supervisor/env.c \
	supervisor/autopsy.c supervisor/poison.c supervisor/link.c \
	supervisor/peers.c supervisor/pulse.c supervisor/serve.c \
	supervisor/stop.c supervisor/trial.c supervisor/sockets.c supervisor/pidfile.c \
	supervisor/notify.c supervisor/control.c supervisor/control.h \
	supervisor/control_clients.c supervisor/uids.c \
	supervisor/report.c \
	supervisor/users.c supervisor/folders.c supervisor/access.c \
	supervisor/slurmconf.c supervisor/privs.c
supervisor_supervisor_LDADD = libconf.a libworker.a libcommon.a $(EVENT_LIBS) $(JANSSON_LIBS) \
	$(CAP_LIBS) $(SECCOMP_LIBS) $(CONF_LIBS)

# The parser of config.json, a library so that tests and fuzzer link it alone.
# It loads libpcre2 itself; before glibc 2.34 dlopen() was in a library, too.
CONF_LIBS = -ldl
noinst_LIBRARIES += libconf.a
libconf_a_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS) $(PCRE2_CFLAGS)
libconf_a_SOURCES = supervisor/conf.h \
	supervisor/conf_child.c supervisor/conf_parse.c supervisor/conf_names.c \
	supervisor/conf_lines.c supervisor/conf_check.c supervisor/conf_cross.c \
	supervisor/conf_forms.c supervisor/conf_shapes.c supervisor/conf_tags.c \
	supervisor/conf_patterns.c supervisor/conf_secrets.c \
	supervisor/conf_users.c
