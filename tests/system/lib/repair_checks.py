#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What is put right, told late or told by rule: repair_checks.py GROUP

Each group brings up a submitter and the stand-in, or the cc-backend that
CC_BACKEND names, in $T, and says what it saw.  Groups: see the end.
"""
import json
import os
import random
import sqlite3
import sys
import time

from backends import BINARY, OLD_BINARY, Real, backend, real
from fake_collector import Checks, Fake, Run, Submitter, until

T = os.environ["T"]
LONG = bool(os.environ.get("CSA_LONG"))
NOW = int(time.time())
DRY = 2
c = Checks()
ids = iter(range(1001, 10**9))


def new(start=None, **more):
    return Run(next(ids), NOW - 1000 if start is None else start, **more)


def submitter(b, name="main", **conf):
    s = Submitter("%s/%s.spool" % (T, name), {
        "ccRestUrl": b.url(), "ccCommitInterval": max(1, int(b.commit)), **conf},
        b.token, log="%s/log/suite.%s" % (T, name)).start()
    s.mark(NOW)
    c.true("the gate opens", until(lambda: s.status().get("backend") == "up", 15))
    return s


def again(b, s, name="main"):
    """After a kill: the same spool, a new process."""
    s.start()
    until(lambda: s.status().get("backend") == "up", 15)
    return s


def end(b, s):
    c.true("the submitter lives", s.alive())
    c.true("it ends when told", s.stop() == 0)
    b.stop()


def is_as(b, run, state=None):
    """The run is at the backend as Slurm says."""
    try:
        j = b.jobs().get(run.key())
    except RuntimeError:
        return False
    if j is None:
        return False
    if not run.end:
        return j["jobState"] == "running"
    return (j["jobState"], j["duration"]) == (state or run.state[4:].lower(), run.end - run.start)


def all_right(what, b, runs, seconds=30):
    c.soon(what, lambda: all(is_as(b, r) for r in runs), seconds,
           lambda: [(r.key(), r.end, b.jobs().get(r.key(), {}).get("jobState")) for r in runs
                    if not is_as(b, r)][:5])


def by_another(b, run, state="failed", after=5):
    status, text = b.api("POST", "jobs/stop_job/", {
        "jobId": run.job, "cluster": "alpha", "startTime": run.start,
        "stopTime": run.start + after, "jobState": state})
    if status != 200:
        c.true("another's stop is taken", False, (status, text))


def committed(b, s, *runs):
    s.tell(*runs)
    c.soon("%d run(s) start and are seen committed" % len(runs), lambda: all(
        b.jobs().get(r.key(), {}).get("jobState") == "running" for r in runs) and
        not {r.job for r in runs} & {int(q["job"]) for q in s.queue() if q["state"] != "stopped by others, kept"}, 30)


# --- 335: stopped by another client ---------------------------------------------------

def closed():
    b = backend(T + "/b", commit=1 if not real() else 2)
    s = submitter(b, ccPollInterval=2)
    running, early, wrong, right, other = (new() for _ in range(5))
    committed(b, s, running, early, wrong, right, other)
    c.soon("and found by comparing", lambda: s.number("compared_runs") == 5, 20, s.status)
    time.sleep(2 * b.commit)
    by_another(b, running)
    by_another(b, wrong)
    by_another(b, right, "completed", 60)
    s.tell(wrong.ended(), right.ended())
    c.soon("stopped by another client, not as in Slurm: counted and logged",
           lambda: s.number("closed_wrongly") == 1 and s.logged("differs from Slurm"), 20, s.status)
    # the one that runs is missed by comparing, and Slurm shows it
    c.soon("one that runs is missed in the listing", lambda: running.key() in s.asked, 40)
    s.tell(running)
    c.soon("its start is refused, and the listing tells why", lambda:
           s.number("closed_wrongly") == 2, 20, lambda: (s.status(), s.queue()))
    q = {int(r["job"]): r for r in s.queue()}
    c.true("queue lists both, with both ends", set(q) == {running.job, wrong.job} and
           "failed after 5 s, Slurm runs it" in q[running.job]["reason"] and
           "failed after 5 s, Slurm as completed after 60 s" in q[wrong.job]["reason"], q)
    _, rows = s.verb("CTL_SYNC", flags=DRY, seconds=40)
    c.true("sync --dry-run lists both", {r[1] for _, r in rows} >= {str(running.job), str(wrong.job)},
           rows)
    _, rows = s.verb("CTL_REPAIR", flags=DRY, seconds=40)
    c.true("repair --dry-run too", {r[1] for _, r in rows} >= {str(running.job), str(wrong.job)}, rows)
    time.sleep(3)
    jobs = b.jobs()
    c.true("nothing is repaired without a command", all(jobs[r.key()]["jobState"] == "failed" for r in
                                             (running, wrong)))
    c.true("the one that agrees is done", is_as(b, right) and right.job not in q)
    (_, text), rows = s.verb("CTL_REPAIR", ids=[wrong.job])
    c.true("repair of one: that one", "1 runs are being repaired" in text, (text, rows))
    all_right("deleted, started and stopped as Slurm says", b, [wrong], 40)
    c.true("the other is left", s.number("closed_wrongly") == 1, s.status())
    until(lambda: s.verb("CTL_REPAIR", seconds=40)[0][0] == 0, 20)
    all_right("repair: the running one runs again", b, [running], 40)
    # its end arrives during the repair
    s.tell(running.ended(), early.ended(), other.ended())
    all_right("and all end as Slurm says", b, [running, early, wrong, right, other], 40)
    c.soon("nothing is left", lambda: s.number("closed_wrongly") == 0 and not s.queue(), 20,
           lambda: (s.status(), s.queue()))
    if not real():
        c.true("each step was done once", b.effects(wrong) ==
               ["start", "stop", "delete", "start", "stop"], b.effects(wrong))

    # a later run of the job: after a repair, cc-backend would refuse the earlier one for good
    first = new(start=NOW - 900)
    committed(b, s, first)
    by_another(b, first)
    s.tell(first.ended())
    c.soon("another one", lambda: s.number("closed_wrongly") == 1, 20)
    second = Run(first.job, NOW - 900 + 86400 + 10)
    committed(b, s, second)
    _, rows = s.verb("CTL_REPAIR", ids=[first.job])
    c.true("what cc-backend would refuse then is left, and said",
           any("would refuse this one" in r[4] for _, r in rows), rows)
    c.true("it is there still", b.jobs()[first.key()]["jobState"] == "failed")
    s.verb("CTL_DROP", ids=[first.job])
    c.true("drop: cc-backend's word stands", s.number("closed_wrongly") == 0)
    end(b, s)


def kills():
    """repair, killed wherever it is: the same result."""
    b = backend(T + "/b", commit=1 if not real() else 2)
    s = submitter(b)
    rounds = [("delete_job", True), ("delete_job", False), ("start_job", True), ("start_job", False),
              ("stop_job", True), ("stop_job", False)] if not real() else []
    rounds += [None] * (20 if LONG else 6)
    rng = random.Random(7)
    everyone = []
    for at in rounds:
        ended, live = new(), new()
        everyone += [ended, live]
        committed(b, s, ended, live)
        by_another(b, ended)
        by_another(b, live)
        s.tell(ended.ended(), live)
        # as comparing would find it
        s.tell(live.ended())
        c.soon("both are closed wrongly", lambda: s.number("closed_wrongly") == 2, 20, s.status)
        if at is not None:
            b.fault(match=at[0], action="hang", count=-1, afterEffect=at[1], delayMs=15000)
        s.verb("CTL_REPAIR", ids=[ended.job, live.job])
        if at is not None:
            c.soon("%s is under way%s" % (at[0], ", and has its effect" if at[1] else ""),
                   lambda: b.hits() >= 1, 20)
        else:
            time.sleep(rng.random() * 2 * b.commit)
        s.kill()
        if at is not None:
            b.well()
        again(b, s)
        all_right("killed %s: as Slurm says" % ("in " + at[0] if at else "somewhere"), b,
                  [ended, live], 60)
        c.soon("nothing is left", lambda: not s.queue() and not s.queue(True), 20,
               lambda: (s.queue(), s.queue(True)))
    all_right("all of them, at the end", b, everyone, 10)
    end(b, s)


# --- 336: ask-backs in numbers ------------------------------------------------------

def halves():
    """Hundreds of doubles at once; a damaged row hides its neighbours."""
    b = Fake(T + "/b", commit=1).start()
    s = submitter(b)
    theirs = [new(start=NOW - 5000 + 7 * i) for i in range(400)]
    for r in theirs:
        b.api("POST", "jobs/start_job/", {
            "jobId": r.job, "cluster": "alpha", "user": "u1", "numNodes": 1,
            "startTime": r.start, "resources": [{"hostname": "n1"}]})
    b.commit_now()
    for r in theirs[::2]:
        by_another(b, r, "completed", 60)
    before = b.stats()["answers"].get("jobs", {}).get("200", 0)
    s.tell(*[r.ended() for r in theirs], wait=20)
    c.soon("400 runs that another adapter had sent: each found, ended where it ran", lambda: all(
        j["jobState"] == "completed" for j in b.jobs().values()) and not s.queue(), 40,
        lambda: s.queue()[:3])
    asked = b.stats()["answers"]["jobs"]["200"] - before
    c.true("by a few listings for all of them (%d)" % asked, asked < 60, asked)
    c.true("no second stop, nothing refused", not s.queue(True) and all(
        b.effects(r) == ["start", "stop"] for r in theirs[:20]))

    # a row without its file: 500 for every page with it
    rows = [new(start=NOW - 900 + i) for i in range(64)]
    for r in rows:
        b.api("POST", "jobs/start_job/", {
            "jobId": r.job, "cluster": "alpha", "user": "u1", "numNodes": 1,
            "startTime": r.start, "resources": [{"hostname": "n1"}]})
    bad = rows[37]
    b.call("POST", "/fake/race", {"count": 1, "lost": True})
    late = new(start=NOW - 2000)
    b.api("POST", "jobs/start_job/", {"jobId": late.job, "cluster": "alpha", "user": "u1",
                                      "numNodes": 1, "startTime": late.start,
                                      "resources": [{"hostname": "n1"}]})
    by_another(b, late)     # hits the newest row in its place: rows[63]
    bad = rows[63]
    b.commit_now()
    for r in rows[:63]:
        by_another(b, r, "completed", 60)
    status, _ = b.api("GET", "jobs/?start-time=%d-%d" % (rows[0].start, rows[-1].start))
    c.true("(their listing is broken: %s)" % status, status == 500)
    n = b.stats()["answers"]["jobs"].get("500", 0)
    s.tell(*[r.ended() for r in rows], wait=20)
    c.soon("every other is found in spite of it", lambda: not [
        q for q in s.queue() if int(q["job"]) != bad.job], 60, lambda: s.queue()[:5])
    c.soon("and the damaged one by itself: it is kept, and said", lambda: s.number("closed_wrongly") == 1
           and "damaged" in s.queue()[0]["reason"], 30, lambda: s.queue())
    halved = b.stats()["answers"]["jobs"]["500"] - n
    c.true("its second was found by halves (%d broken listings)" % halved, 4 <= halved <= 14, halved)
    c.true("nothing is refused", not s.queue(True), s.queue(True))
    s.verb("CTL_REPAIR", ids=[bad.job])
    all_right("repair: it is as Slurm says, and all listings are whole again", b, [bad], 30)
    end(b, s)


# 420 has the short ones of listings, 310 those of the line as a whole
READINGS = {
    "jobs": (("halfopen", {}), ("slow", {"delayMs": 20}), ("endless", {}), ("big", {"bytes": 1 << 30}),
             ("redirect", {"location": "http://127.0.0.1:1/api/"}), ("status", {"status": 204})),
    "clusters": (("reset", {}), ("truncate", {}), ("html", {}), ("wrong-length", {}), ("endless", {}),
                 ("big", {"bytes": 1 << 30}), ("status", {"status": 500}))}


def readings():
    """What is read - listings, clusters - fails in every way: a stop waits, nothing is wrong."""
    b = Fake(T + "/b", commit=1).start()
    s = submitter(b)
    for match, actions in READINGS.items():
        for action, more in actions:
            what = "%s: %s%s: " % (match, action, "".join(" %s" % v for v in more.values()))
            run = new()
            b.fault(match=match, action=action, **more)
            if match == "clusters":
                s.configure()       # which has them asked for again
            s.tell(run)
            s.tell(run.ended())
            c.soon(what + "asked for", lambda: b.hits() >= 1, 20)
            all_right(what + "and its stop arrives", b, [run], 60)
            b.well()
            if b.effects(run) != ["start", "stop"]:
                c.true(what + "each once", False, b.effects(run))
    peak = int([l for l in open("/proc/%d/status" % s.pid, encoding="ascii")
                if l.startswith("VmHWM")][0].split()[1])
    c.true("endless and huge ones cost no memory (peak %d MiB)" % (peak >> 10), peak < 64 << 10)
    c.true("nothing is refused", not s.queue(True), s.queue(True))
    end(b, s)


# --- 337: late knowledge, tags ----------------------------------------------------------

def meta(b, run):
    return (b.jobs().get(run.key()) or {}).get("metaData") or {}


def late():
    b = backend(T + "/b")
    s = submitter(b)
    plain, other, both = new(), new(), new(end=NOW - 900, code=2 << 8)
    committed(b, s, plain, other)
    s.tell(both)
    plain.more.update(code=3 << 8, reason="NonZeroExitCode", info="JobState=FAILED ExitCode=3:0")
    s.tell(plain.ended(60, "END_FAILED"), other.ended())
    all_right("three runs end", b, [plain, other, both], 40)
    c.soon("the end's exit code, reason and slurmInfo follow the stop", lambda: (
        meta(b, plain).get("exitCode"), meta(b, plain).get("reason"),
        meta(b, plain).get("slurmInfo")) == ("3:0", "NonZeroExitCode", "JobState=FAILED ExitCode=3:0"),
        20, lambda: meta(b, plain))
    c.true("what had ended before told it with its start", meta(b, both).get("exitCode") == "2:0" and
           (real() or "edit_meta" not in b.effects(both, late=True)), meta(b, both))
    c.soon("nothing is owed any more", lambda: s.number("late_due") == 0, 10, s.status)
    c.true("a good end is told by slurmInfo alone", "exitCode" not in meta(b, other) and
           (real() or b.effects(other, late=True).count("edit_meta") == 1), meta(b, other))

    # a run refused for good is told on the one that is shown
    first = new(start=NOW - 5000)
    committed(b, s, first)
    second = Run(first.job, NOW - 3000, NOW - 2000)
    s.tell(first.ended())
    all_right("the first run of a job ends", b, [first], 30)
    s.tell(second)
    c.soon("its second is refused", lambda: any(int(q["start"]) == second.start for q in s.queue(True)), 20)
    c.soon("and the first has a message about it", lambda: "ran again from" in
           meta(b, first).get("message", ""), 20, lambda: meta(b, first))
    c.say(meta(b, first).get("message"))
    c.soon("once", lambda: s.number("late_due") == 0, 10, s.status)
    if not real():
        for _ in "reload", "and again":
            asks = b.requests()
            s.verb("CTL_RETRY", ids=[second.job])
            c.soon("tried again, its start is refused again", lambda: b.requests() > asks and any(
                int(q["start"]) == second.start for q in s.queue(True)), 20, lambda: s.queue(True))
        s.kill()
        again(b, s)
        s.verb("CTL_RETRY", ids=[second.job])
        c.soon("also after a kill", lambda: any(
            int(q["start"]) == second.start for q in s.queue(True)), 20, lambda: s.queue(True))
        c.soon("nothing is owed", lambda: s.number("late_due") == 0, 10, s.status)
        c.true("slurmInfo and the message were sent once for all of that", b.effects(
            first, late=True).count("edit_meta") == 2, b.effects(first, late=True))

    # in nobody's way, and across a kill
    if not real():
        b.fault(match="edit_meta", action="status", status=500, count=-1,
                body='{"status":"Internal Server Error","error":"database is locked"}')
        many = [new() for _ in range(50)]
        committed(b, s, *many)
        for r in many:
            r.more.update(code=1 << 8)
        s.tell(*[r.ended(60, "END_FAILED") for r in many])
        all_right("50 runs end while edit_meta fails", b, many, 30)
        c.soon("what is owed waits", lambda: s.number("late_due") == 100 and s.number("retries") == 0 and
               b.hits() >= 5, 20, s.status)
        c.true("the gate stays open", s.status()["backend"] == "up", s.status())
        s.kill()
        b.well()
        again(b, s)
        c.soon("a kill forgets none of it", lambda: all(
            meta(b, r).get("exitCode") == "1:0" for r in many), 90, lambda: [
                meta(b, r) for r in many if meta(b, r).get("exitCode") != "1:0"][:3])
    end(b, s)


RULES = [
    {"type": "queue", "name": "night", "when": {"partition": "^night"}},
    {"type": "project", "name": "special \"one\"", "scope": "admin",
     "when": {"account": "^a1$", "qos": "high"}},
    {"type": "reserved", "name": "yes", "when": {"reservation": "."}},
]


def tags_of(b, run):
    if real():      # its listing hides what the token may not see
        with sqlite3.connect("file:%s/var/job.db?mode=ro" % b.folder, uri=True) as db:
            return set(db.execute(
                "SELECT tag_type, tag_name, tag_scope FROM job, jobtag, tag WHERE job.id = jobtag.job_id"
                " AND tag.id = tag_id AND job.job_id = ? AND start_time = ?",
                (run.job, run.start)).fetchall())
    return {(t["type"], t["name"], t.get("scope", "global")) for t in
            (b.jobs().get(run.key()) or {}).get("tags") or []}


def tags():
    b = backend(T + "/b", commit=3)
    s = submitter(b, tags=RULES)
    night = new(partition="night1")
    special = new(account="a1", qos="highest", reservation="r7")
    none = new()
    s.tell(night, special, none)
    c.soon("with tags a start is shown at once", lambda: night.key() in b.jobs() and
           special.key() in b.jobs(), 3)
    c.true("each has the tags of the rules that fit", tags_of(b, night) == {
        ("queue", "night", "global")} and tags_of(b, special) == {
            ("project", "special \"one\"", "admin"), ("reserved", "yes", "global")},
        (tags_of(b, night), tags_of(b, special)))
    c.soon("one that fits no rule has none", lambda: none.key() in b.jobs(), 10)
    c.true("(none)", tags_of(b, none) == set())
    s.tell(night.ended(), special.ended(), none.ended())
    all_right("all end as they should", b, [night, special, none], 30)
    if not real():
        # the answer is lost, the rules change: the repeat is as the first was
        plain = new()
        b.fault(match="start_job", action="reset", jobId=plain.job, afterEffect=True)
        b.fault(match="start_job", action="delay", delayMs=2500, jobId=plain.job)
        s.tell(plain)
        until(lambda: b.effects(plain) == ["start"], 5)
        s.configure(tags=[{"type": "all", "name": "x"}])
        s.tell(plain.ended())
        all_right("a start whose answer was lost while the rules changed", b, [plain], 30)
        c.true("was repeated as it was: one run, no tags", b.effects(plain) == ["start", "stop"] and
               not tags_of(b, plain), (b.effects(plain), tags_of(b, plain)))
        after = new(end=NOW - 900)
        s.tell(after)
        all_right("a new one", b, [after], 30)
        c.true("has the new tag", tags_of(b, after) == {("all", "x", "global")}, tags_of(b, after))
    # the same type and name in another scope: stored, said
    clash = new(partition="night1")
    s.configure(tags=[{"type": "queue", "name": "night", "scope": "admin"}])
    s.tell(clash.ended())
    all_right("a tag that cc-backend refuses: the run is stored and ends", b, [clash], 30)
    c.true("which is said (1.4 takes it)", s.logged("without some of its tags") or
           tags_of(b, clash) == {("queue", "night", "admin")}, tags_of(b, clash))
    c.true("nothing is refused", not s.queue(True), s.queue(True))
    c.true("bad rules are refused as a whole", s.configure(tags=[{"type": "q", "name": "n",
                                                                 "when": {"qos": "a("}}]) is False)
    end(b, s)


# --- 350: exchanged under us ------------------------------------------------------------------

def upgrade():
    """An upgrade while runs run, and while the gate never shuts; then back."""
    if real():
        if not OLD_BINARY:
            c.say("CC_BACKEND_OLD names no older cc-backend: nothing is exchanged")
            return
        b = Real(T + "/b", OLD_BINARY, commit=2).start()
        steps = [(BINARY, "1.5")]
        old = "1.4"
    else:
        b = Fake(T + "/b", commit=1, options=["--version", "1.3.1"]).start()
        steps = [("1.4.4", "1.4"), ("1.5.4", "1.5"), ("1.4.4", "1.4"), ("1.5.4", "1.5")]
        old = "1.3 or older"
    s = submitter(b)
    c.true("known by a probe before any job: " + s.status()["backend_version"],
           s.status()["backend_version"] == old, s.status())
    across, everyone = [new() for _ in range(10)], []
    s.tell(*across)
    c.soon("10 runs start at the old one", lambda: not s.queue(), 20)
    for version, words in steps:
        s.tell(*across[:5])
        b.stop()
        if real():
            b.binary = version
        else:
            b.options = ["--version", version]
        waiting = [new(shared=i % 4) for i in range(10)] + [new(end=NOW - 100) for _ in range(10)]
        waiting[0].more["tags"] = 1
        s.tell(*waiting)
        b.start()
        c.soon("exchanged for %s: what waited arrives" % os.path.basename(version),
               lambda: all(is_as(b, r) for r in waiting), 60,
               lambda: [r.key() for r in waiting if not is_as(b, r)][:5])
        c.soon("it is known as %s" % words, lambda: s.status()["backend_version"] == words, 20,
               lambda: s.status()["backend_version"])
        ended = across[:5]
        across = across[5:] + waiting[:10]
        s.tell(*[r.ended(60, "END_NODE_FAIL") for r in ended])
        state = "node_fail" if words == "1.5" else "failed"
        c.soon("what ran before ends after, in its words", lambda: all(
            is_as(b, r, state) for r in ended), 40,
            lambda: [b.jobs().get(r.key()) for r in ended][:2])
        everyone += waiting[10:]
    # exchanged while nobody asks: no failure ever shows it
    if not real():
        b.stop()
        b.options = ["--version", "1.4.4"]
        b.start()
        s.configure(ccBackendVersion="1.4.4")
        c.soon("pinned, it is what the admin says", lambda: s.status()["backend_version"] == "1.4", 15,
               s.status)
        pinned = new(end=NOW - 50)
        s.tell(pinned)
        all_right("and gets that body", b, [pinned], 30)
    s.tell(*[r.ended() for r in across if not r.end])
    c.soon("all that is left ends", lambda: not s.queue(), 40, lambda: s.queue()[:3])
    c.true("nothing was refused", not s.queue(True), s.queue(True))
    end(b, s)


# --- 360: many, one of them poisoned, at a real one ---------------------------------------------

def poison():
    n = 10000 if LONG else 1000
    b = backend(T + "/b", commit=5)
    s = submitter(b)
    runs = [new(start=NOW - 3000 + i % 900, end=NOW - 1500 + i % 900) for i in range(n)]
    bad = runs[n // 3]
    bad.hosts = ("n77",)
    t0 = time.time()
    for i in range(0, n, 500):
        s.tell(*runs[i:i + 500], wait=0)
    c.true("%d runs are stored" % n, s.is_stored(60))
    good = [r for r in runs if r is not bad]
    c.soon("one poisoned run among %d: all others arrive" % n, lambda: s.number("spool_runs") == 1, 180,
           s.status)
    jobs = b.jobs()
    c.true("as Slurm says, each once", len(jobs) == n - 1 and all(
        jobs[r.key()]["jobState"] == "completed" and jobs[r.key()]["duration"] == r.end - r.start
        for r in good), len(jobs))
    c.say("after %.1f s" % (time.time() - t0))
    q = s.queue(True)
    c.true("it alone is listed, with cc-backend's words", len(q) == 1 and
           int(q[0]["job"]) == bad.job and "no subcluster" in q[0]["reason"], q[:3])
    # its end has come with its start; retried after a reload, dropped by hand
    s.configure()
    c.soon("a reload tries it again, and it is refused again", lambda: s.logged(
        "rejected runs are retried") and len(s.queue(True)) == 1, 10, lambda: s.queue(True))
    s.tell(bad)
    time.sleep(1)
    c.true("told again, its stop makes no second entry", len(s.queue(True)) == 1, s.queue(True))
    s.verb("CTL_DROP", ids=[bad.job])
    c.soon("dropped, nothing is left", lambda: s.number("spool_runs") == 0, 5, s.status)
    end(b, s)


# --- 428: filled by another program -----------------------------------------------------------

def filled():
    """Another program has started jobs in cc-backend that still run: none is started again."""
    n = int(os.environ.get("CSA_FILLED", "300"))
    b = backend(T + "/b", commit=2)
    runs = [new(start=NOW - 6000 + i % 4000, hosts=("n%d" % (1 + i % 4),)) for i in range(n)]
    for i, r in enumerate(runs):
        host = {"hostname": r.hosts[0]}
        if i % 3:
            host["hwthreads"] = [0, 1, 2, 3]
        if i % 5 == 0 and i % 2:
            host["accelerators"] = ["00000000:C1:00.0"]
        status, answer = b.api("POST", "jobs/start_job/", {
            "jobId": r.job, "cluster": "alpha", "user": "u1", "project": "p1", "partition": "main",
            "numNodes": 1, "numHwthreads": 4, "numAcc": 0 if i % 5 else 1, "startTime": r.start,
            "resources": [host]})
        if status != 201:
            c.true("a start by hand", False, (status, answer))
            break
    b.commit_now()
    c.true("another program has started %d jobs" % n, len(b.jobs()) == n, len(b.jobs()))
    gone, fresh = runs[:10], [new() for _ in range(5)]
    for r in gone:
        r.ended(60)
    s = Submitter(T + "/main.spool", {"ccRestUrl": b.url(), "ccCommitInterval": 2}, b.token,
                  log=T + "/log/suite.main").start()
    t0 = time.time()
    for i in range(0, n, 500):      # while cc-backend is being listed
        s.tell(*runs[i:i + 500], wait=0)
    s.tell(*fresh)
    s.mark(NOW)
    c.soon("new jobs are started", lambda: all(r.key() in b.jobs() for r in fresh), 60)
    c.say("after %.1f s" % (time.time() - t0))
    c.soon("the ended ones are stopped", lambda: s.number("open") == n - 10 + 5, 60, s.status)
    threads, gpus = sum(1 for i in range(n) if i % 3 == 0), sum(
        1 for i in range(n) if i % 5 == 0 and not i % 2)
    c.true("it says what cc-backend has and lacks", s.logged(
        "first list of alpha: %d jobs run in cc-backend and are not started again; %d of them have "
        "no hardware threads, %d have GPUs without addresses" % (n, threads, gpus)) == 1)
    c.true("no start was sent that cc-backend has", s.logged("start_job: ") == len(fresh) and
           s.number("delivered_starts") == len(fresh), s.status())
    c.true("nothing is refused", not s.queue(True), s.queue(True)[:3])
    # what another program has reported from start to end costs one request each
    past = [new() for _ in range(3)]
    for r in past:
        b.api("POST", "jobs/start_job/", {
            "jobId": r.job, "cluster": "alpha", "user": "u1", "project": "p1", "partition": "main",
            "numNodes": 1, "numHwthreads": 4, "startTime": r.start, "resources": [{"hostname": r.hosts[0]}]})
    b.commit_now()
    for r in past:
        r.ended(30)
        b.api("POST", "jobs/stop_job/", {"jobId": r.job, "cluster": "alpha", "startTime": r.start,
                                         "stopTime": r.end, "jobState": "completed"})
    c.soon("they are archived", lambda: all(b.jobs()[r.key()]["footprint"] is not None for r in past), 20)
    before = {r.key(): b.jobs()[r.key()] for r in past}
    s.tell(*past)
    c.soon("ended runs that cc-backend has are done", lambda: s.number("open") == n - 10 + 5 and
           s.number("spool_runs") == n - 10 + 5, 60, s.status)
    after = {r.key(): b.jobs()[r.key()] for r in past}
    c.true("and stay as they are there", before == after, (before, after))
    c.true("one start was sent for each, none is rejected",
           s.logged("start_job: ") == len(fresh) + len(past) and not s.queue(True),
           (s.logged("start_job: "), s.queue(True)[:3]))
    s.kill()
    again(b, s)
    s.tell(*[r.ended(90) for r in runs[10:] + fresh])
    c.soon("all end", lambda: s.number("spool_runs") == 0, 60 + n // 50, s.status)
    jobs = b.jobs()
    c.true("as Slurm says, none twice", len(jobs) == n + 5 + len(past) and all(
        jobs[r.key()]["jobState"] == "completed" and jobs[r.key()]["duration"] == r.end - r.start
        for r in runs + fresh), len(jobs))
    c.true("the next process lists no more", s.logged("first list of alpha") == 1)
    end(b, s)


GROUPS = {g.__name__: g for g in (closed, kills, halves, readings, late, tags, upgrade,
                                  poison, filled)}

if __name__ == "__main__":
    for group in sys.argv[1:]:
        GROUPS[group]()
    sys.exit(1 if c.failed else 0)
