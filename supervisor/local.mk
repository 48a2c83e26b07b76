# SPDX-License-Identifier: MIT

# The parser of config.json: runs in a child of the supervisor.
noinst_LIBRARIES += libconf.a
libconf_a_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
libconf_a_SOURCES = supervisor/conf.h \
	supervisor/conf_child.c supervisor/conf_parse.c supervisor/conf_names.c \
	supervisor/conf_lines.c supervisor/conf_check.c supervisor/conf_forms.c \
	supervisor/conf_shapes.c supervisor/conf_cross.c supervisor/conf_secrets.c
