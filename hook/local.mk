# SPDX-License-Identifier: MIT
# The hook client: libc and the JSON scanner, which needs libc alone.  Its helper
# asks munged for a credential and alone links libmunge.

# Everything except main(), for the tests.
noinst_LIBRARIES += hook/libhook.a
hook_libhook_a_SOURCES = \
	hook/address.c \
	hook/credential.c \
	hook/deliver.c \
	hook/hook.h \
	hook/message.c \
	common/model/config_key.c \
	common/model/config_key.h \
	common/model/hook_credential.c \
	common/model/hook_credential.h \
	common/text/json_scan.c \
	common/text/json_scan.h

sbin_PROGRAMS += hook/cc-slurm-adapter
hook_cc_slurm_adapter_SOURCES = hook/main.c
hook_cc_slurm_adapter_LDADD = hook/libhook.a

if WITH_MUNGE
worker_PROGRAMS += hook/cc-slurm-adapter-munge
hook_cc_slurm_adapter_munge_CFLAGS = $(AM_CFLAGS) $(MUNGE_CFLAGS)
hook_cc_slurm_adapter_munge_SOURCES = \
	hook/munge.c \
	common/model/hook_credential.c \
	common/model/hook_credential.h
hook_cc_slurm_adapter_munge_LDADD = $(MUNGE_LIBS)
endif
