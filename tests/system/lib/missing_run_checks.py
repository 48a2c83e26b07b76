#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs that are unknown to Slurm: when that counts, and how many at once.

missing_run_checks.py GROUP, like delivery.py.  The hour that has to lie between
two answers passes in a jump of the boot clock, by boottime_shift.c: the programs
know no other hour for tests.
"""
import os
import re
import struct
import subprocess
import sys
import time

from delivery import NOW, T, c, end, new, through, whole_soon
from fake_collector import HERE, Fake, Submitter, text_of, until

HOUR = 3600     # seconds


def flag(name):
    """A bit of ctl's requests, read from its header."""
    value = re.search(r"#define %s\s+(\w+)" % name, text_of("common/model/ctl.h")).group(1)
    return int(value.rstrip("u"), 0)


class Clock:
    """How far the submitter's boot clock is ahead."""

    def __init__(self, folder):
        self.file, self.ahead, lib = folder + "/ahead", 0, folder + "/boottime_shift.so"
        subprocess.run([os.environ.get("SHIFT_CC", "cc"), "-shared", "-fPIC", "-o", lib,
                        HERE + "/boottime_shift.c"], check=True)
        self.later(0)
        self.env = {"LD_PRELOAD": lib, "BOOTTIME_SHIFT": self.file}

    def later(self, seconds):
        self.ahead += seconds
        with open(self.file, "r+b" if os.path.exists(self.file) else "wb") as f:
            f.write(struct.pack("=q", self.ahead))


def world():
    """A stand-in, a submitter that has met it, and its clock."""
    f = Fake(T + "/main.fake", commit=1).start()
    clock = Clock(f.folder)
    s = Submitter(T + "/main.spool", {
        "ccRestUrl": f.url(), "ccCommitInterval": 1, "ccPollInterval": 2}, f.token,
        log=T + "/log/suite.main", env=clock.env).start()
    s.mark(NOW)
    c.true("the gate opens", until(lambda: s.status().get("backend") == "up", 20))
    return f, s, clock


def running(f, s, n):
    """So many runs, started and seen committed."""
    runs = [new(start=NOW - 90000 + i % 5000) for i in range(n)]
    for i in range(0, n, 500):
        s.tell(*runs[i:i + 500], wait=0)
    s.is_stored(60)
    f.commit_now()
    c.soon("%d runs are open and seen" % n, lambda: s.number("compared_runs") == n and
           s.number("open") == n, 60, s.status)
    return runs


def stopped(f, runs):
    keys = {r.key() for r in runs}
    return sum(1 for e in f.lines() if e["effect"] == "stop" and
               (e["cluster"], e["jobId"], e["startTime"]) in keys)


def evidence():
    f, s, clock = world()
    runs = running(f, s, 30)
    gone, back = runs[:3], runs[3]
    s.deny(*gone, back)
    clock.later(HOUR - 60)
    s.deny(*gone, back)
    time.sleep(4)       # it judges three seconds after the last one
    c.true("two answers 59 minutes apart end nobody", stopped(f, runs) == 0)
    c.true("status counts them", s.status().get("unknown", "").startswith("4 once, 0 twice"),
           s.status().get("unknown"))
    s.tell(back)
    c.true("it ends when told", s.stop() == 0)
    s.start()
    c.soon("(it is well again)", lambda: s.number("compared_runs") == len(runs), 20)
    clock.later(60)
    began = time.time()
    s.deny(*gone[:2], back)
    whole_soon("two an hour apart do", f, gone[:2], 10)
    c.true("one answer and nothing else ends nobody", stopped(f, gone[2:]) == 0)
    c.true("nor do two with a word of Slurm's between them", stopped(f, [back]) == 0)
    job = f.jobs()[gone[0].key()]
    ended = job["startTime"] + job["duration"]
    c.true("it ended when it was unknown first, as failed", job["jobState"] == "failed" and
           abs(ended - (began - 3600)) < 120, job)
    through("the rest lives and ends as it should", f, s, runs[2:])
    end(f, s)


def few(n, allowed):
    """So many of n open runs may be ended at once, and not one more."""
    f, s, clock = world()
    runs = running(f, s, n)
    some, one = runs[:allowed], runs[allowed]
    s.deny(*some, one)
    clock.later(HOUR)
    s.deny(*some, one)
    c.soon("%d of %d unknown twice: alarm" % (allowed + 1, n),
           lambda: s.logged("%d of %d open runs are unknown to Slurm" % (allowed + 1, n)), 10)
    c.true("and none of them is ended", stopped(f, runs) == 0)
    c.true("status says that they wait for an admin",
           "%d twice: too many" % (allowed + 1) in s.status()["unknown"], s.status()["unknown"])
    s.verb("CTL_SYNC", flags=flag("CTL_FLAG_FORCE") | flag("CTL_FLAG_DRY_RUN"))
    time.sleep(1)
    c.true("sync --force --dry-run ends none", stopped(f, runs) == 0)
    s.tell(one)     # Slurm knows it again
    s.deny(*some)
    whole_soon("%d of %d: they are ended" % (allowed, n), f, some, 20)
    through("nobody else was", f, s, runs[allowed:allowed + 100], 30)
    end(f, s)


def twenty():
    few(60, 20)


def percent():
    few(2000, 40)


def force():
    f, s, clock = world()
    runs = running(f, s, 60)
    s.deny(*runs[:30])
    clock.later(HOUR)
    until(lambda: s.verb("CTL_SYNC", flags=flag("CTL_FLAG_FORCE"))[0][0] == 0, 10)
    s.deny(*runs[:10])
    whole_soon("ten of sixty are ended", f, runs[:10], 10)
    s.deny(*runs[10:21])
    c.soon("eleven more within the hour: alarm", lambda: s.logged("11 of [0-9]+ open runs are unknown to Slurm"), 10)
    c.true("a sync --force of earlier, and parts, let nobody through", stopped(f, runs) == 10)
    until(lambda: s.verb("CTL_SYNC", flags=flag("CTL_FLAG_FORCE"))[0][0] == 0, 10)
    whole_soon("sync --force ends them", f, runs[:21], 15)
    through("and nobody else", f, s, runs[21:])
    end(f, s)


GROUPS = {g.__name__: g for g in (evidence, twenty, percent, force)}

if __name__ == "__main__":
    for group in sys.argv[1:]:
        GROUPS[group]()
    sys.exit(1 if c.failed else 0)
