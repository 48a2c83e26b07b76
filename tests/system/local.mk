# SPDX-License-Identifier: MIT
# Tests of the whole on a real Slurm; tests/check runs them, not `make check`.
EXTRA_DIST += tests/check tests/crash tests/soak tests/demo tests/matrix \
	tests/lab/chroot tests/lab/kinds.sh tests/lab/kinds_jobs.sh \
	tests/lab/kinds.py tests/lab/kinds_truth.py tests/lab/slurm_files.sh \
	.ci/run .clang-tidy \
	tests/lab/binaries tests/lab/build tests/lab/ccbackend \
	tests/lab/packages tests/lab/slurm tests/system/.shellcheckrc \
	tests/system/010-fake-answers.sh \
	tests/system/100-life.sh \
	tests/system/110-poll-only.sh \
	tests/system/120-sigkill.sh \
	tests/system/130-backend-away.sh \
	tests/system/135-long-outage.sh \
	tests/system/136-catch-up.sh \
	tests/system/137-many-ids.sh \
	tests/system/140-worker-kill.sh \
	tests/system/150-drop-in.sh \
	tests/system/160-nats.sh \
	tests/system/165-nats-broker.sh \
	tests/system/170-plain-user.sh \
	tests/system/180-secrets.sh \
	tests/system/190-garbage.sh \
	tests/system/195-forged-record.sh \
	tests/system/196-forged-run.sh \
	tests/system/200-hook-client.sh \
	tests/system/210-reload.sh \
	tests/system/220-second-instance.sh \
	tests/system/230-operator-right.sh \
	tests/system/240-deaf-worker.sh \
	tests/system/241-end-in-time.sh \
	tests/system/260-node-states.sh \
	tests/system/300-answers.sh \
	tests/system/301-one-run.sh \
	tests/system/310-line.sh \
	tests/system/320-transport.sh \
	tests/system/330-stop-race.sh \
	tests/system/335-repair.sh \
	tests/system/336-told-later.sh \
	tests/system/337-readings.sh \
	tests/system/340-order.sh \
	tests/system/345-opt-out.sh \
	tests/system/350-prolog-fails.sh \
	tests/system/351-requeue.sh \
	tests/system/352-requeued-last.sh \
	tests/system/353-same-second.sh \
	tests/system/355-time-zones.sh \
	tests/system/356-clock-steps.sh \
	tests/system/357-summer-time.sh \
	tests/system/360-real-backend.sh \
	tests/system/400-spool.sh \
	tests/system/410-spool-damage.sh \
	tests/system/415-spool-admin.sh \
	tests/system/420-reconcile.sh \
	tests/system/421-denied.sh \
	tests/system/422-absence.sh \
	tests/system/425-sync.sh \
	tests/system/427-backfill.sh \
	tests/system/500-slurmctld.sh \
	tests/system/505-two-controllers.sh \
	tests/system/510-slurmdbd.sh \
	tests/system/515-no-slurmdbd.sh \
	tests/system/520-munge.sh \
	tests/system/530-commands.sh \
	tests/system/540-right-taken.sh \
	tests/system/541-slurmdbd-hides.sh \
	tests/system/550-other-slurm.sh \
	tests/system/551-older-slurmdbd.sh \
	tests/system/552-cold-start.sh \
	tests/system/553-runaways.sh \
	tests/system/560-clusters.sh \
	tests/system/570-rate-limit.sh \
	tests/system/596-dialect-1905.sh \
	tests/system/replayed.py \
	tests/fake/slurm1905.py \
	tests/data/slurm/19.05/README \
	tests/data/slurm/19.05/scontrol-job-d-o.txt \
	tests/data/slurm/19.05/scontrol-node-d-o.txt \
	tests/system/580-upgrade.sh \
	tests/system/450-nats-trouble.sh \
	tests/system/answers.py \
	tests/system/backends.py \
	tests/system/broker.py \
	tests/system/clocks.sh \
	tests/system/crash.py \
	tests/system/delivery.py \
	tests/system/denials.py \
	tests/system/groups.sh \
	tests/system/hook_client.py \
	tests/system/hostile.py \
	tests/system/jobs.sh \
	tests/system/lib.py \
	tests/system/later.c tests/system/stepped.c tests/system/lib.sh \
	tests/system/mending.py \
	tests/system/many.sh \
	tests/system/nats.py \
	tests/system/outage.py \
	tests/system/play.py \
	tests/system/points.py \
	tests/system/probe.c \
	tests/system/run \
	tests/system/show.py \
	tests/system/spool.py \
	tests/system/truth.py

# Plays the other processes to a collector; made by `make collector_drive`.
EXTRA_PROGRAMS += collector_drive
collector_drive_SOURCES = tests/system/collector_drive.c
collector_drive_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS) $(JANSSON_CFLAGS)
collector_drive_LDADD = $(WORKER_LIBS) $(JANSSON_LIBS) -lpthread
