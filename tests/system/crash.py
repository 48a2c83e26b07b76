#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Crash points and their verdict, for tests/crash and tests/soak.

crash.py arm PAGE POINT PASSES     who passes POINT for that time is killed
crash.py hit PAGE                  status 0: it was
crash.py check DIR LEDGER WAIT     Slurm's accounting of the lab in DIR against
                                   the stand-in's ledger, asked again for WAIT
                                   seconds until all is right

The page is that of common/crash.c: a name of 56 bytes, how many passes are
left, how many were hit.
"""
import collections
import json
import struct
import sys
import time

import truth

NAME, COUNTS = 56, struct.Struct("=ii")


def arm(page, point, passes):
    with open(page, "a+b"):
        pass
    with open(page, "r+b") as f:
        f.write(b"\0" * NAME)       # nobody counts while it changes
        f.flush()
        f.write(COUNTS.pack(int(passes), 0))
        f.flush()
        f.seek(0)
        f.write(point.encode().ljust(NAME, b"\0"))


def hit(page):
    with open(page, "rb") as f:
        f.seek(NAME)
        return COUNTS.unpack(f.read(COUNTS.size))[1] > 0


def ledger(path):
    out = collections.defaultdict(list)
    with open(path, encoding="utf-8") as f:
        for n, line in enumerate(f):
            if not line.endswith("\n"):
                break
            e = json.loads(line)
            if e["effect"] in ("start", "stop", "delete", "race"):
                out[e["jobId"], e["startTime"]].append((n, e["effect"], e))
    return out


def order_of(keys, got):
    """Starts of one job's runs that came in the wrong order."""
    first = {}
    for key in sorted(keys):
        starts = [n for n, effect, _ in got[key] if effect == "start"]
        if starts:
            first.setdefault(key[0], []).append(starts[0])
    return sum(1 for l in first.values() if l != sorted(l))


def look(folder, path, refused=()):
    """Lists of what is wrong: lost, doubled, order, wrong; and the number of runs."""
    runs = {k: f for k, f in truth.runs(folder, 0).items() if k not in refused}
    got = ledger(path)
    lost, doubled, order, wrong = [], [], [], []
    for key, f in runs.items():
        state = truth.STATES[f["State"].split()[0]]
        effects = [e for _, e, _ in got[key]] if key in got else []
        if "start" not in effects or (state != "running" and "stop" not in effects):
            lost.append((key, state, effects))
        if effects.count("start") > 1 or effects.count("stop") > 1 or "race" in effects:
            doubled.append((key, effects))
        if "stop" in effects and effects.index("stop") < (
                effects.index("start") if "start" in effects else 0):
            order.append((key, effects))
        for _, effect, e in got[key] if key in got else ():
            if effect == "stop" and (e["jobState"] != state or
                                     e["duration"] != int(f["End"]) - int(f["Start"])):
                wrong.append((key, e["jobState"], e["duration"], state,
                              int(f["End"]) - int(f["Start"])))
    doubled += [(k, "Slurm knows no such run") for k in got if k not in runs and k not in refused]
    order += ["starts"] * order_of(runs, got)
    return lost, doubled, order, wrong, len(runs)


def check(folder, path, wait):
    end = time.time() + wait
    while True:
        lost, doubled, order, wrong, n = look(folder, path)
        if not (lost or doubled or order or wrong) or time.time() >= end:
            break
        time.sleep(0.3)
    for what, items in (("lost", lost), ("doubled", doubled), ("order", order), ("wrong", wrong)):
        for item in items[:10]:
            print("  %s: %s" % (what, item))
    print("%d runs: lost %d, doubled %d, wrong order %d, wrong %d" % (
        n, len(lost), len(doubled), len(order), len(wrong)))
    return not (lost or doubled or order or wrong)


if __name__ == "__main__":
    verb, *args = sys.argv[1:]
    if verb == "arm":
        arm(*args)
    elif verb == "hit":
        sys.exit(0 if hit(args[0]) else 1)
    else:
        sys.exit(0 if check(args[0], args[1], int(args[2])) else 1)
