#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The submitter alone against every way in which a backend can answer.

answers.py DRIVE SUBMITTER FAKE FOLDER

One run for each fault: start and end are recorded while the fault is on, and
afterwards the stand-in's ledger must hold one start and one stop of it, in
that order.  Prints what it saw, ends with 1 if anything was wrong.
"""
import http.client
import json
import os
import subprocess
import sys
import threading
import time

import lib

DRIVE, SUBMITTER, FAKE, DIR = sys.argv[1:5]
failed = 0


def ok(what, good, seen=""):
    global failed
    failed += not good
    print(f"   {'ok     ' if good else 'FAILED '} {what}" +
          ("" if good else f": {seen}"), flush=True)


class Fake:
    def __init__(self, name, *options):
        self.ledger = f"{DIR}/{name}.ledger"
        self.token = f"{DIR}/{name}.token"
        self.p = subprocess.Popen(
            [FAKE, "--port", "0", "--commit", "1", "--limit", "3",
             "--clusters", "alpha=n[1-4]", "--token-file", self.token,
             "--ledger", self.ledger, *options],
            stdout=subprocess.PIPE, text=True)
        line = self.p.stdout.readline()
        self.port = int("".join(c if c.isdigit() else " " for c in
                                line.rsplit(":", 1)[-1]).split()[0])

    def call(self, method, path, body=None):
        c = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        c.request(method, path, json.dumps(body) if body else "")
        text = c.getresponse().read().decode()
        c.close()
        return text

    def fault(self, **kw):
        self.call("POST", "/fake/faults", kw)

    def clear(self):
        self.call("DELETE", "/fake/faults")

    def effects(self):
        found = {}
        for line in open(self.ledger):
            e = json.loads(line)
            body = e.get("body") or e
            job = e.get("jobId") or body.get("jobId")
            found.setdefault(job, []).append(e.get("effect"))
        return found


class Driver:
    def __init__(self, name, fake, *conf):
        self.spool = f"{DIR}/{name}.spool"
        os.makedirs(self.spool, exist_ok=True)
        env = dict(os.environ, DRIVE_LEVEL="2")
        self.lines = []
        self.p = subprocess.Popen(
            [DRIVE, SUBMITTER, self.spool, fake.token,
             f"ccRestUrl=http://127.0.0.1:{fake.port}", "ccCommitInterval=1",
             *conf], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, env=env)
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.p.stdout:
            self.lines.append(line.rstrip())

    def say(self, *words):
        self.p.stdin.write(" ".join(str(w) for w in words) + "\n")
        self.p.stdin.flush()

    def wait_line(self, text, seconds=10):
        end = time.time() + seconds * lib.PATIENCE
        while time.time() < end:
            if any(text in line for line in self.lines):
                return True
            time.sleep(0.05)
        return False

    def end(self):
        self.say("quit")
        self.p.wait(20)


def wait(test, seconds):
    end = time.time() + seconds * lib.PATIENCE
    while time.time() < end:
        if test():
            return True
        time.sleep(0.1)
    return test()


START, STOP = "start", "stop"


def is_whole(effects):
    kinds = [STOP if "stop" in e else START for e in effects or []
             if "start" in e or "stop" in e]
    return kinds == [START, STOP]


FAULTS = [
    ("502 twice", dict(match="start_job", action="status", status=502, count=2)),
    ("500 database is locked", dict(match="*", action="status", status=500,
        body='{"status":"Internal Server Error","error":"database is locked"}',
        count=5)),
    ("503 for all", dict(match="*", action="status", status=503, count=6)),
    ("reset at the start", dict(match="start_job", action="reset", count=2)),
    ("reset after the start took effect",
     dict(match="start_job", action="reset", count=1, afterEffect=True)),
    ("reset after the stop took effect",
     dict(match="stop_job", action="reset", count=1, afterEffect=True)),
    ("garbage", dict(match="*", action="garbage", count=4)),
    ("a login page", dict(match="*", action="html", count=4)),
    ("a body cut short", dict(match="*", action="truncate", count=3)),
    ("a wrong Content-Length", dict(match="*", action="wrong-length", count=3)),
    ("an endless body", dict(match="start_job", action="endless", count=1)),
    ("a body of a gigabyte", dict(match="start_job", action="big", count=1)),
    ("half-open after the start took effect",
     dict(match="start_job", action="halfopen", count=1, afterEffect=True)),
    ("a delay", dict(match="*", action="delay", delayMs=1500, count=3)),
    ("a broken listing", dict(match="jobs", action="status", status=500,
        body='{"error":"open meta.json: no such file or directory"}', count=2)),
    ("a listing cut in mid-JSON", dict(match="jobs", action="truncate", count=2)),
    ("a redirect", dict(match="stop_job", action="redirect", count=1)),
    ("401 once", dict(match="start_job", action="401", count=1)),
]


def faults():
    fake = Fake("faults")
    d = Driver("faults", fake)
    ok("serves", d.wait_line("ready"))
    now = int(time.time())
    d.say("mark", "alpha", now)
    for i, (name, fault) in enumerate(FAULTS):
        job = 1000 + i
        fake.clear()
        slow = "half-open" in name
        fake.fault(**fault)
        d.say("start", "alpha", job, now - 100)
        d.say("stored")
        wait(lambda: START in str(fake.effects().get(job)), 2)
        d.say("end", "alpha", job, now - 100, now - 10, 1)
        good = wait(lambda: is_whole(fake.effects().get(job)),
                    75 if slow else 30)
        ok(name, good, fake.effects().get(job))
    fake.clear()
    ok("one 401 is no refused token, and is logged",
       not any("refuses the token" in x for x in d.lines) and
       any("not this request: start_job: 401" in x for x in d.lines))
    ok("the token is in no line", open(fake.token).read().strip() not in
       "\n".join(d.lines))
    d.end()
    fake.p.terminate()
    if failed:
        print("\n".join(d.lines[-40:]))


def poison():
    fake = Fake("poison")
    d = Driver("poison", fake)
    d.wait_line("ready")
    now = int(time.time())
    d.say("mark", "alpha", now)
    fake.fault(match="start_job", action="status", status=400, count=-1,
               jobId=2500, body='{"status":"Bad Request","error":"poison"}')
    d.say("many", "alpha", 2000, 1000, now - 1000, 60)
    good = wait(lambda: sum(is_whole(e) for e in fake.effects().values()) ==
                999, 60)
    ok("999 of 1000 arrive past one that is refused", good,
       sum(is_whole(e) for e in fake.effects().values()))
    d.say("ctl", 1, 1)
    ok("it is listed with cc-backend's words", d.wait_line("poison"))
    fake.clear()
    d.say("ctl", 2, 0)
    ok("retry delivers it", wait(lambda: is_whole(fake.effects().get(2500)),
                                 20))
    d.end()
    fake.p.terminate()


def kills():
    fake = Fake("kills")
    now = int(time.time())
    n = 300
    for round_ in range(5):
        d = Driver("kills", fake)
        d.wait_line("ready")
        if round_ == 0:
            d.say("mark", "alpha", now)
        d.say("many", "alpha", 5000 + n * round_, n, now - 1000, 0)
        d.say("many", "alpha", 5000 + n * round_, n, now - 1000, 100)
        time.sleep(0.05 + 0.35 * round_)
        # what was not stored is sent again, as the collector would
        d.say("kill")
        d.p.wait(20)
        d = Driver("kills", fake)
        d.wait_line("ready")
        d.say("many", "alpha", 5000 + n * round_, n, now - 1000, 100)
        d.say("stored")
        d.wait_line("stored")
        d.say("kill")
        d.p.wait(20)
    d = Driver("kills", fake)
    whole = wait(lambda: sum(is_whole(e) for e in fake.effects().values()) ==
                 5 * n, 60)
    ok("1500 runs once each past ten kills", whole,
       sum(is_whole(e) for e in fake.effects().values()))
    d.end()
    fake.p.terminate()


os.makedirs(DIR, exist_ok=True)
for test in (faults, poison, kills):
    if len(sys.argv) < 6 or test.__name__ in sys.argv[5:]:
        print(f"-- {test.__name__}")
        test()
sys.exit(failed != 0)
