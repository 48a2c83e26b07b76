#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The backend's jobs (JSON lines on standard input) against expected records.

replayed.py EXPECTED NOW CONFIG running|ended

EXPECTED is written by tests/data/slurm/expected.py; NOW is when the replay
says the recording was taken.  Status 1 and a line for each difference.
"""
import calendar
import json
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import expected  # noqa: E402

RECORDED = calendar.timegm((2026, 11, 20, 21, 59, 39))
LASTS = 60
LINE = re.compile(r"(?P<job>\d+) start (?P<start>\d+) state (?P<state>\w+) end (?P<end>\d+)"
                  r" user (?P<user>\S+) account (?P<account>\S+) partition (?P<partition>\S+)"
                  r" qos \S+ array (?P<array>\d+)_(?P<task>\d+) het (?P<het>\d+)\+\d+"
                  r" shared (?P<shared>\S+) nodes (?P<nodes>\d+) cpus (?P<cpus>\d+)"
                  r" accels (?P<accels>\d+) walltime (?P<walltime>\d+) .*?(?P<hosts>( \| [^|]+)*)$")


def wanted(line, shift, ended, gpus):
    v = LINE.match(line).groupdict()
    resources = {}
    for part in v["hosts"].split(" | ")[1:]:
        host, threads, *devices = part.split()
        resources[host] = (expected.numbers(threads),
                           sorted(expected.gpu_address(host, int(d.rpartition("-")[2]), gpus) for d in devices))
    whole = all(len(t) == 16 for t, _ in resources.values())
    state, start = v["state"], int(v["start"]) + shift
    over = state != "RUNNING"
    want = {"jobState": expected.STATES[state] if over else "completed" if ended else "running",
            "user": v["user"], "project": v["account"], "partition": v["partition"],
            "arrayJobId": int(v["array"]), "numNodes": int(v["nodes"]),
            "numHwthreads": int(v["cpus"]), "numAcc": int(v["accels"]), "walltime": int(v["walltime"]),
            "shared": v["shared"].replace("multi_user-unless-whole", "none" if whole else "multi_user"),
            "resources": resources}
    if over:
        want["duration"] = int(v["end"]) - int(v["start"])
    elif ended:
        want["duration"] = LASTS
    return (int(v["job"]), start), want


def main():
    path, now, config, phase = sys.argv[1:]
    with open(config, encoding="utf-8") as f:
        gpus = json.load(f)["gpuPciAddrs"]
    jobs = {}
    for line in sys.stdin:
        job = json.loads(line)
        jobs[job["jobId"], job["startTime"]] = job
    wrong = 0
    with open(path, encoding="utf-8") as f:
        lines = f.read().splitlines()
    for line in lines:
        key, want = wanted(line, int(now) - RECORDED, phase == "ended", gpus)
        job = jobs.pop(key, None)
        if job is None:
            print("job %d started %d: missing" % key)
            wrong += 1
            continue
        job["resources"] = expected.got_resources(job)
        for field, value in want.items():
            if (job.get(field) or type(value)()) != value:
                print("job %d: %s is %r, should be %r" % (key[0], field, job.get(field), value))
                wrong += 1
    for key in jobs:
        print("job %d started %d: nobody expects it" % key)
        wrong += 1
    print("%d runs, %d differences" % (len(lines), wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
