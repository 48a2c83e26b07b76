# SPDX-License-Identifier: MIT
dist_man_MANS += man/cc-slurm-adapter.8 man/cc-slurm-adapterctl.8 \
	man/cc-slurm-adapter.json.5 man/cc-slurm-adapter-protocol.7 \
	man/cc-slurm-adapter-migration.7 man/cc-slurm-adapter-metrics.7 \
	man/cc-slurm-adapter-messages.7 man/cc-slurm-adapter-runbook.7 \
	man/cc-slurm-adapter-security.7 \
	man/slurm-compat.7
