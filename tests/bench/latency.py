#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""From hook to cc-backend: latency.py DIR HOOKCLIENT LEDGER RUNS RATE WHAT

Starts RUNS jobs one after the other on the lab of DIR (its controller calls no
hook), at most RATE jobs a second (0: without a limit), calls the hook client as
slurmctld would and waits for the start to appear in the stand-in's ledger.
Prints WHAT, median, 95th percentile and the rate that was reached.

More than 12 messages in a second are a burst, which the suite gathers: a machine
that starts jobs as fast as that measures the wait of a burst.
"""
import os
import subprocess
import sys
import time

LAB = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lab", "slurm")
PATIENCE = 20  # seconds until a start counts as lost


def start_job(folder):
    """Returns the id of a new running job without a process."""
    out = subprocess.run(
        [LAB, "as", folder + "/slurm", "labalice", "salloc", "--no-shell", "-p",
         "big", "-n1", "--mem=1", "-t", "60"],
        capture_output=True, text=True, check=True).stderr
    return next(int(w) for w in out.split() if w.isdigit())


def call_hook(client, folder, job):
    env = {"SLURM_JOB_ID": str(job), "SLURM_CLUSTER_NAME": "alpha",
           "SLURM_SCRIPT_CONTEXT": "prolog_slurmctld"}
    subprocess.run([client, "-socket", folder + "/run/daemon.sock"], env=env,
                   check=True)


def wait_for(ledger, at, job):
    """Waits until the ledger says something of the job; seconds, or None."""
    begin = time.monotonic()
    needle = ('"jobId":%d,' % job, '"jobId": %d,' % job)
    with open(ledger, encoding="utf-8") as f:
        f.seek(at)
        text = ""
        while time.monotonic() - begin < PATIENCE:
            text += f.read()
            if any(n in text for n in needle):
                return time.monotonic() - begin
            time.sleep(0.001)
    return None


def main():
    folder, client, ledger, runs, rate, what = sys.argv[1:]
    runs, gap = int(runs), 1 / float(rate) if float(rate) > 0 else 0
    took = []
    lost = 0
    first = due = time.monotonic()
    for _ in range(runs):
        job = start_job(folder)
        time.sleep(max(0, due - time.monotonic()))
        due = time.monotonic() + gap
        at = os.path.getsize(ledger)
        begin = time.monotonic()
        call_hook(client, folder, job)
        if wait_for(ledger, at, job) is None:
            lost += 1
            continue
        took.append((time.monotonic() - begin) * 1000)
    took.sort()
    if not took:
        sys.exit("no start arrived")
    print("%-46s p50 %.0f ms, p95 %.0f ms, lost %d of %d, %.1f jobs/s"
          % ("hook to cc-backend, " + what, took[len(took) // 2],
             took[int(len(took) * 0.95)], lost, runs,
             runs / (time.monotonic() - first)))


if __name__ == "__main__":
    main()
