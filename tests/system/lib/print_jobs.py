#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""print_jobs.py URL TOKENFILE LABDIR N SECONDS -- a line for each job that
starts or ends at the backend, until N have ended or the time is over."""
import os
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import expected  # noqa: E402
import lib    # noqa: E402


def spans(ids):
    """[0, 1, 2, 8] -> '0-2,8'"""
    out = []
    for i in sorted(ids):
        if out and out[-1][1] == i - 1:
            out[-1][1] = i
        else:
            out.append([i, i])
    return ",".join("%d" % a if a == b else "%d-%d" % (a, b) for a, b in out)


def place(job):
    parts = []
    for r in job.get("resources") or []:
        text = r["hostname"]
        if r.get("hwthreads"):
            text += " threads " + spans(r["hwthreads"])
        if r.get("accelerators"):
            text += " GPUs " + " ".join(a.split(":", 1)[1] for a in r["accelerators"])
        parts.append(text)
    return "; ".join(parts)


def main():
    url, token, lab, n, seconds = sys.argv[1:6]
    token = lib.read_token(token)
    began = time.time()
    running, ended = set(), set()
    while len(ended) < int(n) and time.time() < began + int(seconds):
        try:
            mine = {k[0] for k in expected.runs(lab, 0)}
            jobs, _ = expected.backend_jobs(url, token)
        except (RuntimeError, OSError):
            jobs, mine = {}, set()
        for key, job in sorted(jobs.items(), key=lambda kv: kv[0][::-1]):
            if key[0] not in mine or key[1] < began - 60:
                continue
            name = (job.get("metaData") or {}).get("jobName", "")
            if key not in running:
                running.add(key)
                print("   %3d s  + %-4d %-9s %-18s %s" % (time.time() - began, key[0], job["user"],
                                                        name[:18], place(job)), flush=True)
            if job["jobState"] != "running" and key not in ended:
                ended.add(key)
                print("   %3d s  - %-4d %-9s %-18s %s after %d s"
                      % (time.time() - began, key[0], job["user"], name[:18], job["jobState"],
                         job.get("duration", 0)), flush=True)
        time.sleep(0.7)


if __name__ == "__main__":
    main()
