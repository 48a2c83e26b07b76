# SPDX-License-Identifier: MIT
# The hook client: libc alone.
sbin_PROGRAMS += hook/cc-slurm-adapter
hook_cc_slurm_adapter_SOURCES = hook/main.c hook/message.c hook/address.c \
	hook/conf.c hook/deliver.c hook/hook.h
