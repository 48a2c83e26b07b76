# SPDX-License-Identifier: MIT
# The hook client: libc and the JSON scanner, which needs libc alone.

# Everything except main(), for the tests.
noinst_LIBRARIES += hook/libhook.a
hook_libhook_a_SOURCES = \
	hook/address.c \
	hook/deliver.c \
	hook/hook.h \
	hook/message.c \
	common/config_key.c \
	common/config_key.h \
	common/json_scan.c \
	common/json_scan.h

sbin_PROGRAMS += hook/cc-slurm-adapter
hook_cc_slurm_adapter_SOURCES = hook/main.c
hook_cc_slurm_adapter_LDADD = hook/libhook.a
