# SPDX-License-Identifier: MIT
dist_man_MANS += man/cc-slurm-adapterctl.8 man/cc-slurm-adapter-protocol.7 \
	man/cc-slurm-adapter-fanin.7 man/cc-slurm-adapter-metrics.7 \
	man/cc-slurm-adapter-messages.7 man/cc-slurm-adapter-runbook.7 \
	man/cc-slurm-adapter-security.7 man/cc-slurm-adapter-performance.7 \
	man/slurm-compat.7

# These texts name installed programs.  In the source tree they have the paths of
# configure's default prefix, so that `man man/PAGE` shows them; the installed ones
# have the paths of this build: slurmctld holds jobs whose PrologSlurmctld does
# not exist.
installed = installed
man_MANS = $(installed)/cc-slurm-adapter.8 $(installed)/cc-slurm-adapter.json.5 \
	$(installed)/cc-slurm-adapter-migration.7
doc_DATA = $(installed)/README.md
man_sources = man/cc-slurm-adapter.8 man/cc-slurm-adapter.json.5 \
	man/cc-slurm-adapter-migration.7
EXTRA_DIST += $(man_sources) README.md
CLEANFILES += $(man_MANS) $(doc_DATA)

installed_edit = $(MKDIR_P) $(@D) && $(SED) \
	-e 's|/usr/local/libexec/cc-slurm-adapter/|$(workerdir)/|g' \
	-e 's|/usr/local/sbin/|$(sbindir)/|g'

$(installed)/cc-slurm-adapter.8: man/cc-slurm-adapter.8 Makefile
	$(AM_V_GEN)$(installed_edit) $(srcdir)/man/cc-slurm-adapter.8 >$@

$(installed)/cc-slurm-adapter.json.5: man/cc-slurm-adapter.json.5 Makefile
	$(AM_V_GEN)$(installed_edit) $(srcdir)/man/cc-slurm-adapter.json.5 >$@

$(installed)/cc-slurm-adapter-migration.7: man/cc-slurm-adapter-migration.7 \
    Makefile
	$(AM_V_GEN)$(installed_edit) \
	    $(srcdir)/man/cc-slurm-adapter-migration.7 >$@

$(installed)/README.md: README.md Makefile
	$(AM_V_GEN)$(installed_edit) $(srcdir)/README.md >$@

# `make html`: the manual with links.  mandoc links a page that is in the current
# directory to its file, any other page to Debian's server.
html_other = https://manpages.debian.org/%N.%S
html-local: $(dist_man_MANS) $(man_sources)
	@test -n "$(MANDOC)" || { echo "make html needs mandoc" >&2; exit 1; }
	@$(MKDIR_P) html
	@out=`cd html && pwd` && cd $(srcdir)/man && { \
	echo '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">'; \
	echo '<title>$(PACKAGE_STRING)</title></head><body>'; \
	echo '<h1>$(PACKAGE_STRING)</h1><dl>'; \
	for page in *.[1-9]; do \
		$(MANDOC) -T html -O 'man=%N.%S.html;$(html_other)' $$page \
			>$$out/$$page.html || exit 1; \
		echo "<dt><a href=\"$$page.html\">$$page</a></dt>"; \
		sed -n 's/^\.Nd \(.*\)/<dd>\1<\/dd>/p' $$page; \
	done; \
	echo '</dl></body></html>'; } >$$out/index.html
clean-local:
	rm -rf html
