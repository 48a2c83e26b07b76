# SPDX-License-Identifier: MIT
# Installed data: units, users, directories, hook script, example configuration.
etc_generated = etc/cc-slurm-adapter.service etc/cc-slurm-adapter@.service \
	etc/cc-slurm-adapter-user.service \
	etc/cc-slurm-adapter-metrics.service \
	etc/apparmor/cc-slurm-adapter \
	etc/prep-hook.sh etc/sysusers.d/cc-slurm-adapter.conf \
	etc/tmpfiles.d/cc-slurm-adapter.conf

systemdsystemunit_DATA = etc/cc-slurm-adapter.service \
	etc/cc-slurm-adapter@.service
sysusers_DATA = etc/sysusers.d/cc-slurm-adapter.conf
tmpfiles_DATA = etc/tmpfiles.d/cc-slurm-adapter.conf
worker_SCRIPTS = etc/prep-hook.sh
exampledir = $(docdir)/examples
example_DATA = etc/cc-slurm-adapter-user.service \
	etc/cc-slurm-adapter-metrics.service
dist_example_DATA = etc/config.json.example \
	etc/cc-slurm-adapter-metrics.timer \
	etc/prometheus/cc-slurm-adapter.rules.yml
grafanadir = $(exampledir)/grafana
dist_grafana_DATA = etc/grafana/cc-slurm-adapter.json
natsdir = $(exampledir)/nats
dist_nats_DATA = etc/nats/broker.conf etc/nats/accounts.conf etc/nats/leaf.conf
apparmordir = $(exampledir)/apparmor
apparmor_DATA = etc/apparmor/cc-slurm-adapter
dist_doc_DATA = NEWS

EXTRA_DIST += etc/cc-slurm-adapter.service.in LICENSE CONTRIBUTING.md \
	etc/cc-slurm-adapter-user.service.in etc/prep-hook.sh.in \
	etc/cc-slurm-adapter-metrics.service.in \
	etc/apparmor/cc-slurm-adapter.in \
	etc/sysusers.conf etc/tmpfiles.conf
CLEANFILES += $(etc_generated)

# make expands the directories completely; configure leaves ${prefix} in them.
etc_edit = $(MKDIR_P) $(@D) && $(SED) -e 's|@sbindir[@]|$(sbindir)|g' \
	-e 's|@workerdir[@]|$(workerdir)|g' \
	-e 's|@sysusersdir[@]|$(sysusersdir)|g' \
	-e 's|@tmpfilesdir[@]|$(tmpfilesdir)|g'

etc/cc-slurm-adapter.service: etc/cc-slurm-adapter.service.in Makefile
	$(AM_V_GEN)$(etc_edit) $(srcdir)/etc/cc-slurm-adapter.service.in >$@

# One of several daemons: the same unit with another configuration.
etc/cc-slurm-adapter@.service: etc/cc-slurm-adapter.service.in Makefile
	$(AM_V_GEN)$(etc_edit) \
	    -e '/^# This unit/i # cc-slurm-adapter@NAME reads /etc/cc-slurm-adapter/NAME.json.' \
	    -e 's|^Description=.*|& (%i)|' \
	    -e 's|^ExecStart=.*|& -config /etc/cc-slurm-adapter/%i.json|' \
	    -e 's|/etc/cc-slurm-adapter/jwt|/etc/cc-slurm-adapter/%i.jwt|' \
	    $(srcdir)/etc/cc-slurm-adapter.service.in >$@

etc/cc-slurm-adapter-user.service: etc/cc-slurm-adapter-user.service.in Makefile
	$(AM_V_GEN)$(etc_edit) $(srcdir)/etc/cc-slurm-adapter-user.service.in >$@

etc/cc-slurm-adapter-metrics.service: \
    etc/cc-slurm-adapter-metrics.service.in Makefile
	$(AM_V_GEN)$(etc_edit) \
	    $(srcdir)/etc/cc-slurm-adapter-metrics.service.in >$@

etc/apparmor/cc-slurm-adapter: etc/apparmor/cc-slurm-adapter.in Makefile
	$(AM_V_GEN)$(etc_edit) $(srcdir)/etc/apparmor/cc-slurm-adapter.in >$@

etc/prep-hook.sh: etc/prep-hook.sh.in Makefile
	$(AM_V_GEN)$(etc_edit) $(srcdir)/etc/prep-hook.sh.in >$@ && chmod +x $@

etc/sysusers.d/cc-slurm-adapter.conf: etc/sysusers.conf Makefile
	$(AM_V_GEN)$(etc_edit) $(srcdir)/etc/sysusers.conf >$@

etc/tmpfiles.d/cc-slurm-adapter.conf: etc/tmpfiles.conf Makefile
	$(AM_V_GEN)$(etc_edit) $(srcdir)/etc/tmpfiles.conf >$@
