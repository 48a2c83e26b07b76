#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""outage.py LEDGER BEGIN RATE LIFE COUNT: the jobs of tests/bench/many.c, as
they must be in the stand-in's ledger: each started and stopped once, in this
order, with its times, its two threads (interleaved) and its GPU.
"""
import collections
import json
import sys

FIRST_ID = 100000
# gpuPciAddrs of conf_first in lib.sh
GPUS = {"n3": ("00", "01", "02", "03"), "n4": ("03", "02", "01", "00")}


def expected(k, begin, rate):
    """start, host, threads, accelerators"""
    host, core = "n%d" % (1 + k % 4), k // 4 % 8
    accels = ["00000000:%s:00.0" % GPUS[host][k // 4 % 4]] if host in GPUS else []
    return begin + int(k / rate), host, [core, core + 8], accels


def wrong_with(effects, want, life):
    """What is wrong with a job, or None"""
    if [e["effect"] for e in effects] != ["start", "stop"]:
        return "effects: %s" % [e["effect"] for e in effects]
    start, host, threads, accels = want
    if effects[0]["startTime"] != start:
        return "started %d, should be %d" % (effects[0]["startTime"], start)
    if effects[1]["duration"] != life or effects[1]["jobState"] != "completed":
        return "%s after %d s" % (effects[1]["jobState"], effects[1]["duration"])
    got = [(r["hostname"], sorted(r.get("hwthreads") or []), r.get("accelerators") or [])
           for r in effects[0]["body"]["resources"]]
    if got != [(host, threads, accels)]:
        return "%s, should be %s" % (got, (host, threads, accels))
    return None


def main():
    path, begin, rate, life, count = sys.argv[1], *map(int, sys.argv[2:6])
    jobs = collections.defaultdict(list)
    with open(path, encoding="utf-8") as f:
        for line in f:
            e = json.loads(line)
            if "jobId" in e and e["effect"] != "edit_meta":
                jobs[e["jobId"] - FIRST_ID].append(e)
    bad = {k: wrong_with(jobs[k], expected(k, begin, rate), life) for k in range(count)}
    bad = {k: w for k, w in bad.items() if w}
    bad.update({k: "there is no such job" for k in jobs if not 0 <= k < count})
    for k, w in list(bad.items())[:20]:
        print("   job %d: %s" % (FIRST_ID + k, w))
    print("   %d jobs, %d wrong; %d with threads, %d with GPUs" % (
        count, len(bad), sum(1 for k in range(count) if k not in bad),
        sum(1 for k in range(count) if k not in bad and k % 4 >= 2)))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
