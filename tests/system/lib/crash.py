#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Crash points and their verdict, for tests/crash and tests/soak.

crash.py serve PAGE DIR FROM       answers the lines below, one line each
crash.py check DIR FROM WAIT [REJECTED]     one verdict on all of it; REJECTED:
                                   the listing of refused runs, see expected.py

    arm POINT PASSES     who passes POINT for that time is killed
    hit SECONDS          "yes" as soon as it was, "no" after that time
    due LAG WAIT         what ended LAG seconds ago or earlier is there and right,
                         asked again for WAIT seconds
    all WAIT             everything is

FROM is the stand-in's ledger, or URL,TOKENFILE of a real cc-backend, whose
listing is compared.  A verdict's line is "yes" or "no" and what was counted;
what is wrong stands in DIR/../log/verdict.

The page is that of common/crash_point.c: a name of 56 bytes, how many passes are
left, how many were hit.
"""
import collections
import json
import os
import struct
import subprocess
import sys
import time

import lib
import expected

NAME, COUNTS = 56, struct.Struct("=ii")
MARGIN = 180    # seconds that accounting is asked behind the oldest open run
KINDS = ("lost", "doubled", "wrong order", "wrong")


class Page:
    """The page of the crash points."""

    def __init__(self, path):
        self.f = open(path, "w+b", buffering=0)
        self.arm("none", 0)

    def put(self, at, data):
        self.f.seek(at)
        self.f.write(data)

    def arm(self, point, passes):
        self.put(0, b"\0" * NAME)       # nobody counts while it changes
        self.put(NAME, COUNTS.pack(int(passes), 0))
        self.put(0, point.encode().ljust(NAME, b"\0"))

    def hits(self):
        self.f.seek(NAME)
        return COUNTS.unpack(self.f.read(COUNTS.size))[1]

    def hit(self, seconds):
        end = time.monotonic() + seconds
        while True:
            if self.hits() > 0:
                return True
            if time.monotonic() >= end:
                return False
            time.sleep(0.004)


class Ledger:
    """Effects of each run in the stand-in's ledger, in order."""
    doubles = True      # it shows what was done twice

    def __init__(self, path):
        self.path, self.at, self.runs = path, 0, collections.defaultdict(list)

    def read(self):
        with open(self.path, "rb") as f:
            f.seek(self.at)
            for line in f:
                if not line.endswith(b"\n"):
                    break
                self.at += len(line)
                e = json.loads(line)
                if e["effect"] in ("start", "stop", "delete", "race"):
                    self.runs[e["jobId"], e["startTime"]].append(
                        (self.at, e["effect"], e.get("jobState"), e.get("duration")))
        return self.runs


class Listing:
    """The same of a real cc-backend, as far as its listing tells."""
    doubles = False

    def __init__(self, where):
        self.url, _, token = where.partition(",")
        self.token = lib.read_token(token)

    def read(self):
        jobs, rows = expected.backend_jobs(self.url, self.token)
        if rows != len(jobs):
            raise RuntimeError("%d rows for %d runs" % (rows, len(jobs)))
        runs = {}
        for key, j in jobs.items():
            runs[key] = [(0, "start", None, None)]
            if j["jobState"] != "running":
                runs[key].append((0, "stop", j["jobState"], j["duration"]))
        return runs


class Judge:
    """Holds what arrived against Slurm's accounting; what was right once is
    only watched for more effects after that."""

    def __init__(self, folder, where, refused=()):
        self.folder, self.refused = folder, refused
        self.arrived = Listing(where) if "://" in where else Ledger(where)
        self.done = {}      # key -> number of effects
        self.known = set()
        self.begin = int(time.time()) - 86400
        self.rows = 0       # in accounting's last answer from then on
        self.report = os.path.join(os.path.dirname(folder), "log", "verdict")

    def judge_run(self, key, f, got, due, wrong):
        """True when nothing more will become of it."""
        state = expected.STATES[f["State"].split()[0]]
        effects = [e for _, e, _, _ in got]
        ended = state != "running"
        if due and ("start" not in effects or (ended and "stop" not in effects)):
            wrong["lost"].append((key, state, effects))
        if effects.count("start") > 1 or effects.count("stop") > 1 or "race" in effects:
            wrong["doubled"].append((key, effects))
        if "stop" in effects and effects[0] == "stop":
            wrong["wrong order"].append((key, effects))
        for _, effect, jobstate, duration in got:
            # what accounting does not know ended may have ended just now
            if effect == "stop" and (ended or due) and (
                    jobstate != state or duration != int(f["End"]) - int(f["Start"])):
                wrong["wrong"].append((key, jobstate, duration, f["State"], f["Start"], f["End"]))
        return ended and "start" in effects and "stop" in effects

    def look(self, lag, whole):
        """What is wrong, by kind; `whole`: also what Slurm does not know."""
        wrong = {k: [] for k in KINDS}
        now = time.time()
        runs = expected.runs(self.folder, 0, self.begin)
        # a slurmdbd that is just coming back may answer with a part
        if len(runs) < self.rows:
            raise RuntimeError("accounting had %d runs, now %d" % (self.rows, len(runs)))
        self.rows = len(runs)
        got = self.arrived.read()   # after, so that it has what Slurm said
        oldest = now
        for key, f in runs.items():
            self.known.add(key)
            if key in self.refused or key in self.done:
                continue
            end = int(f["End"]) if f["End"].isdigit() else now
            due = whole or (f["End"].isdigit() and end <= now - lag)
            if self.judge_run(key, f, got.get(key, ()), due, wrong):
                self.done[key] = len(got[key])
            else:
                oldest = min(oldest, int(f["Start"]))
        for key, n in self.done.items():
            if len(got.get(key, ())) != n:
                wrong["doubled"].append((key, [e[1] for e in got.get(key, ())], "after its end"))
        if whole:
            wrong["doubled"] += [(k, "Slurm knows no such run") for k in got
                                 if k not in self.known and k not in self.refused]
            wrong["wrong order"] += self.wrong_order(got)
        if not any(wrong.values()):
            begin = max(self.begin, int(oldest) - MARGIN)
            self.begin, self.rows = begin, self.rows if begin == self.begin else 0
        return wrong

    def wrong_order(self, got):
        """Jobs whose runs' starts came in another order than they began."""
        first = collections.defaultdict(list)
        for key in sorted(k for k in got if k not in self.refused):
            at = [e[0] for e in got[key] if e[1] == "start"]
            first[key[0]] += at[:1]
        return [(job, at) for job, at in first.items() if at != sorted(at)] \
            if self.arrived.doubles else []

    def verdict(self, lag, wait, whole):
        """True or False, and the line about it."""
        end = time.time() + wait
        while True:
            try:
                wrong = self.look(lag, whole)
            except (RuntimeError, OSError, ValueError, KeyError,
                    subprocess.TimeoutExpired) as e:
                wrong = {k: [] for k in KINDS}
                wrong["lost"] = ["no comparison: %r" % e]
            if not any(wrong.values()) or time.time() >= end:
                break
            time.sleep(0.3)
        with open(self.report, "a", encoding="utf-8") as f:
            for kind in KINDS:
                for item in wrong[kind][:20]:
                    f.write("%s: %s\n" % (kind, item))
        return not any(wrong.values()), "%d runs: " % len(self.known) + ", ".join(
            "%s %d" % (k, len(wrong[k])) for k in KINDS)


def serve(page, judge):
    for line in sys.stdin:
        verb, *args = line.split()
        said = ""
        if verb == "arm":
            page.arm(args[0], int(args[1]))
            good = True
        elif verb == "hit":
            good = page.hit(float(args[0]))
        elif verb == "hits":
            good, said = page.hits() == int(args[0]), "%d crashes" % page.hits()
        elif verb == "due":
            good, said = judge.verdict(int(args[0]), int(args[1]), False)
        else:
            good, said = judge.verdict(0, int(args[0]), True)
        print("yes" if good else "no", said, flush=True)


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve(Page(sys.argv[2]), Judge(sys.argv[3], sys.argv[4]))
    else:
        judge = Judge(sys.argv[2], sys.argv[3])
        judge.refused = expected.refused_sisters(
            sys.argv[5] if len(sys.argv) > 5 else "",
            expected.runs(sys.argv[2], 0, judge.begin), judge.arrived.read())
        right, text = judge.verdict(0, int(sys.argv[4]), True)
        print("   " + text)
        sys.exit(0 if right else 1)
