#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""From hook to cc-backend: latency.py DIR HOOKCLIENT LEDGER RUNS

Starts RUNS jobs one after the other on the lab of DIR (its controller calls no
hook), calls the hook client as slurmctld would and waits for the start to
appear in the stand-in's ledger.  Prints median and 95th percentile.
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
    folder, client, ledger, runs = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
    took = []
    lost = 0
    for _ in range(runs):
        job = start_job(folder)
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
    print("%-46s p50 %.0f ms, p95 %.0f ms, lost %d of %d"
          % ("hook to cc-backend, slurmQueryDelay 0", took[len(took) // 2],
             took[int(len(took) * 0.95)], lost, runs))


if __name__ == "__main__":
    main()
