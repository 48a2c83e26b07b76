#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Feeds a submitter until the power goes: feed.py NUMBER FOLDER, in the machine

First says what the spool has from before the last cut (`has JOB WHAT ...`, then
`whole`), then stores new runs and says of each when it is acknowledged
(`acked JOB start|end`).  No cc-backend is there: all has to wait.

FEED_PRELOAD names a library for the submitter: one that swallows fsync makes
the counter-test.
"""
import os
import random
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "system", "lib"))
from fake_collector import Run, Submitter  # noqa: E402

number, folder = int(sys.argv[1]), sys.argv[2]
SECONDS = 120       # the power goes long before
NOW = int(time.time())


def say(*words):
    print(*words, flush=True)


s = Submitter(folder, {"ccRestUrl": "http://127.0.0.1:9", "ccCommitInterval": 2},
              token="none", level=3, log="/tmp/submitter.log",
              env={"LD_PRELOAD": os.environ.get("FEED_PRELOAD", "")}).start()
found = {}
for row in s.queue():
    found.setdefault(row["job"], set()).add(row["what"])
for cluster, job, _ in s.running:
    found.setdefault(str(job), set()).add("open")
for job, what in found.items():
    say("has", job, *sorted(what))
with open("/tmp/submitter.log", encoding="utf-8", errors="replace") as f:
    for line in f:
        if "damaged" in line or "set aside" in line:
            say("log", line.strip())
say("whole", len(found))

job, opened, end = number * 1000000, [], time.monotonic() + SECONDS
while time.monotonic() < end:
    batch = []
    for _ in range(random.choice((1, 1, 2, 10, 50))):
        if opened and random.random() < 0.5:
            batch.append(("end", opened.pop(random.randrange(len(opened))).ended()))
        else:
            job += 1
            run = Run(job, NOW - 1000)
            batch.append(("start", run))
    if not s.tell(*[run for _, run in batch]):
        say("BROKEN not stored")
        break
    for what, run in batch:
        say("acked", run.job, what)
        if what == "start":
            opened.append(run)
