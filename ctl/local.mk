# SPDX-License-Identifier: MIT
# The admin tool: libc and libcommon.

# Everything except main(), for the tests.
noinst_LIBRARIES += ctl/libctl.a
ctl_libctl_a_SOURCES = \
	ctl/client.c \
	ctl/ctl.h \
	ctl/gpus.c \
	ctl/options.c \
	ctl/print_json.c \
	ctl/print_metrics.c \
	ctl/print_text.c \
	ctl/socket.c \
	ctl/spool.c

sbin_PROGRAMS += ctl/cc-slurm-adapterctl
ctl_cc_slurm_adapterctl_SOURCES = ctl/main.c
ctl_cc_slurm_adapterctl_LDADD = ctl/libctl.a common/libcommon.a
