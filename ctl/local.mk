# SPDX-License-Identifier: MIT
# The admin tool: libc and the boxes of common.

# Everything except main(), for the tests.
noinst_LIBRARIES += ctl/libctl.a
ctl_libctl_a_SOURCES = \
	ctl/cell.c \
	ctl/client.c \
	ctl/ctl.h \
	ctl/gpus.c \
	ctl/explain.c \
	ctl/options.c \
	ctl/print_json.c \
	ctl/print_metrics.c \
	ctl/print_private.h \
	ctl/print_queue.c \
	ctl/print_status.c \
	ctl/print_streams.c \
	ctl/print_text.c \
	ctl/report.c \
	ctl/report.h \
	ctl/report_config.c \
	ctl/report_plots.c \
	ctl/socket.c \
	ctl/progress.c \
	ctl/quantile.c \
	ctl/spool.c \
	ctl/style.c \
	ctl/watch.c \
	ctl/watch.h \
	ctl/watch_view.c

sbin_PROGRAMS += ctl/cc-slurm-adapterctl
ctl_cc_slurm_adapterctl_SOURCES = ctl/main.c
ctl_cc_slurm_adapterctl_LDADD = ctl/libctl.a $(MODEL_LIBS)

# The form of -j, and completions.  Each shell wants its own name of the file.
dist_pkgdata_DATA = ctl/ctl.schema.json
bashcompletiondir = $(datarootdir)/bash-completion/completions
zshcompletiondir = $(datarootdir)/zsh/site-functions
bashcompletion_DATA = ctl/completion/cc-slurm-adapterctl
zshcompletion_DATA = ctl/completion/_cc-slurm-adapterctl
CLEANFILES += $(bashcompletion_DATA) $(zshcompletion_DATA)
EXTRA_DIST += ctl/cc-slurm-adapterctl.bash ctl/cc-slurm-adapterctl.zsh

ctl/completion/cc-slurm-adapterctl: ctl/cc-slurm-adapterctl.bash
	$(AM_V_GEN)$(MKDIR_P) $(@D) && cp $(srcdir)/ctl/cc-slurm-adapterctl.bash $@

ctl/completion/_cc-slurm-adapterctl: ctl/cc-slurm-adapterctl.zsh
	$(AM_V_GEN)$(MKDIR_P) $(@D) && cp $(srcdir)/ctl/cc-slurm-adapterctl.zsh $@
