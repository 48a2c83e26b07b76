# SPDX-License-Identifier: MIT
# The admin's tool: libc and what it shares with the daemon.
sbin_PROGRAMS += ctl/cc-slurm-adapterctl
ctl_cc_slurm_adapterctl_SOURCES = ctl/main.c ctl/args.c ctl/link.c \
	ctl/print.c ctl/json.c ctl/metrics.c \
	ctl/spool.c ctl/ctl.h
ctl_cc_slurm_adapterctl_LDADD = libcommon.a
