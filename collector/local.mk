# SPDX-License-Identifier: MIT
# What reads Slurm's words, apart from the worker, so that tests link it alone.
noinst_LIBRARIES += libslurmtext.a
libslurmtext_a_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
libslurmtext_a_SOURCES = \
	collector/read.h collector/number.c collector/times.c \
	collector/ranges.c collector/hostlist.c collector/gres.c \
	collector/tres.c collector/states.c collector/lines.c \
	collector/delimiter.c collector/tokens.c collector/squeue.c \
	collector/scontrol.c collector/resources.c collector/sacct.c \
	collector/shape.c \
	collector/json.h collector/json_scan.c \
	collector/json_value.c collector/json_split.c \
	collector/json_read.h collector/json_fields.c \
	collector/json_job.c collector/json_resources.c \
	collector/json_acct.c
