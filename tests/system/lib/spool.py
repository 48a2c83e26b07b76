#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The submitter's spool under violence: spool.py GROUP

As delivery.py: the submitter alone, handed runs as by a collector, with $T
for its files; kills, full and read-only disks, damaged files.
"""
import base64
import glob
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time

import delivery
from delivery import NOW, T, c, counts, end, new, rejected, submitter, whole_soon
from fake_collector import ALL, Fake, HAS_START, Run, Submitter, until

LONG = bool(os.environ.get("CSA_LONG"))
random.seed(int(os.environ.get("CSA_SEED", "5")))


def mounted(name, megabytes):
    """A small filesystem of its own for a spool; 'umount' it in the end."""
    where = "%s/%s.spool" % (T, name)
    os.makedirs(where, exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=%dk,mode=700" % (megabytes * 1024),
                    "csa-test", where], check=True)
    return where


def remount(where, options):
    subprocess.run(["mount", "-o", "remount," + options, where], check=True)


def umount(where):
    subprocess.run(["umount", "-l", where], check=False)


def kept(s):
    """How many runs the spool has."""
    return s.number("spool_runs")


def kills():
    """kill -9 at any moment, the backend away or there; the collector repeats what was not stored."""
    f = Fake(T + "/kills.fake", commit=1).start()
    s = submitter(f, "kills", ccPollInterval=5)
    rounds, everyone, lost = (300 if LONG else 30), [], []
    for i in range(rounds):
        if i % 5 == 2:
            f.fault(match="*", action="status", status=503, count=-1, body="away")
        runs = [new(end=NOW - 500 if random.random() < 0.5 else 0, script="x" * random.choice((10, 3000)))
                for _ in range(random.randint(1, 120))]
        everyone += runs
        base = s.seq
        s.tell(*runs, wait=0)
        time.sleep(random.random() ** 3 * 0.3)
        s.kill()
        stored = max(0, s.stored - base)
        known = stored
        s.start()
        # what was acknowledged is there; the rest comes again, as from a collector
        open_now = set(s.running)
        there = counts(f)
        for r in runs[:known]:
            if not r.end and r.key() not in open_now and r.key() not in there:
                lost.append(r.job)
        s.mark(NOW)
        s.tell(*runs[known:], *[r.ended() for r in random.sample(runs, len(runs) // 3) if not r.end])
        if i % 5 == 4:
            f.well()
    f.well()
    c.true("%d kills: what was acknowledged was there each time" % rounds, not lost, lost[:5])
    rest = [r for r in everyone if not r.end]
    for i in range(0, len(rest), 400):
        s.tell(*[r.ended() for r in rest[i:i + 400]])
    whole_soon("%d runs arrive once each, in order" % len(everyone), f, everyone, 120)
    c.soon("the spool is empty again", lambda: kept(s) == 0, 10, s.status)
    c.true("nothing was refused", not rejected(s), s.queue(True)[:3])
    c.true("no file was set aside", not glob.glob(s.folder + "/*damaged*"))
    end(f, s)


def full():
    where = mounted("full", 3)
    try:
        f = Fake(T + "/full.fake", commit=1).start()
        f.fault(match="*", action="status", status=503, count=-1, body="away")
        # a history that is removed on a full disk would make room again
        s = submitter(f, "full", url=f.url(), historyDays=0)
        told = []
        while not s.flow and len(told) < 4000:
            more = [new(script="y" * 2000) for _ in range(20)]
            told += more
            s.tell(*more, wait=0)
            s.is_stored(0.5)
        c.true("a full disk: the collector is told to hold after %d runs" % len(told), s.flow == 1)
        c.soon("it is said", lambda: s.logged("refuses writes"), 5)
        acked = s.stored
        time.sleep(2.5)
        c.true("the lines are bounded", s.logged("refuses writes") == 1, s.logged("refuses writes"))
        c.true("it answers still", "spool_error" in s.status(), s.status())
        c.true("nothing more is acknowledged", s.stored == acked)
        f.well()
        time.sleep(2)
        remount(where, "size=64m")
        c.soon("room again: the rest is stored", lambda: s.flow == 0 and s.is_stored(0.1), 20)
        delivery.through("all arrive", f, s, told, 60)
        # killed while full: what was acknowledged is there afterwards
        f.fault(match="*", action="status", status=503, count=-1, body="away")
        remount(where, "size=%dk" % ((os.statvfs(where).f_blocks - os.statvfs(where).f_bfree) * 4 + 600))
        told, base = [], s.seq
        while not s.flow and len(told) < 4000:
            more = [new(script="z" * 2000) for _ in range(20)]
            told += more
            s.tell(*more, wait=0)
            s.is_stored(0.5)
        acked = s.stored - base
        s.kill()
        s.start()
        missing = {r.key() for r in told[:acked]} - set(s.running)
        c.true("killed while full: all %d acknowledged are there" % acked, not missing, len(missing))
        remount(where, "size=64m")
        s.mark(NOW)
        s.tell(*told[acked:])
        f.well()
        delivery.through("all arrive", f, s, told, 60)
        end(f, s)
    finally:
        umount(where)


def cap():
    f = Fake(T + "/cap.fake", commit=1).start()
    f.fault(match="*", action="status", status=503, count=-1, body="away")
    s = submitter(f, "cap", url=f.url(), spoolMaxBytes=2 << 20)
    told = []
    while not s.flow and len(told) < 6000:
        more = [new(end=NOW - 500, script="y" * 2000) for _ in range(50)]
        told += more
        s.tell(*more, wait=0)
        s.is_stored(0.5)
    c.true("spoolMaxBytes: the collector is told to hold after %d runs" % len(told), s.flow == 1)
    keeps_to(s, 2 << 20)
    c.true("it warned before", s.logged("of 2048 KiB .spoolMaxBytes") == 1)
    c.true("nothing that waits was dropped", kept(s) >= s.stored - 2, (kept(s), s.stored))
    # what is on its way when it is told, however much: in memory, not in the file
    more = [new(end=NOW - 500, script="y" * 2000) for _ in range(1500)]
    s.tell(*more, wait=0)
    keeps_to(s, 2 << 20)
    c.true("nothing more is acknowledged", not s.is_stored(1))
    f.well()
    told += more
    c.soon("delivered: it goes on", lambda: s.flow == 0 and s.is_stored(0.1), 60, s.status)
    whole_soon("all arrive", f, told, 90)
    # done history is what goes first
    more = [new(end=NOW - 400) for _ in range(3000)]
    for i in range(0, len(more), 500):
        s.tell(*more[i:i + 500], wait=60)
    whole_soon("3,000 more through the same 2 MiB", f, more, 90)
    keeps_to(s, 2 << 20)
    end(f, s)


def keeps_to(s, cap):
    c.true("the file keeps to it", 0 < s.number("spool_bytes") <= cap and
           os.path.getsize(s.folder + "/spool.db") <= cap,
           (s.number("spool_bytes"), os.path.getsize(s.folder + "/spool.db")))


GPUS = ("00000000:41:00.0", "00000000:C1:00.0")


def begun(n):
    """Runs that have begun, of all of which Slurm knows the resources now."""
    return [new(script="z" * 3000, gpus=GPUS, threads=((0, 1), (6, 7)), hosts=("n1", "n3"))
            for _ in range(n)]


def from_accounting(run):
    """The same run as accounting tells it weeks later: no threads, no GPUs."""
    return Run(run.job, run.start, run.start + 60, hosts=run.hosts, threads=(), flags=HAS_START,
               submit=run.start - 10)


def with_resources(what, f, runs):
    bodies = {(e["cluster"], e["jobId"], e["startTime"]): e["body"] for e in f.lines()
              if e.get("effect") == "start"}
    want = [(h, 4, list(GPUS)) for h in ("n1", "n3")]
    wrong = [r.job for r in runs if [
        (h["hostname"], len(h.get("hwthreads", ())), h.get("accelerators"))
        for h in bodies.get(r.key(), {}).get("resources", ())] != want]
    c.true(what, not wrong, (len(wrong), [bodies.get(r.key()) for r in runs if r.job in wrong[:1]]))


def stubs():
    """A full spool still takes the resources of what begins."""
    f = Fake(T + "/stubs.fake", commit=1).start()
    f.fault(match="*", action="status", status=503, count=-1, body="away")
    s = submitter(f, "stubs", url=f.url(), spoolMaxBytes=4 << 20)
    told, base = [], s.seq
    while not s.flow and len(told) < 6000:
        more = [new(end=NOW - 500, script="y" * 2000) for _ in range(50)]
        told += more
        s.tell(*more, wait=0)
        s.is_stored(0.5)
    acked = s.stored - base
    runs = begun(1500)
    s.tell(*runs, wait=0)
    c.soon("full: resources of runs that begin are taken, and bounded; the rest is counted",
           lambda: s.number("spool_stubs") + s.number("spool_stubs_refused") >= 1500, 20, s.status)
    n = s.number("spool_stubs")
    c.true("%d stubs are what 256 KiB hold" % n, 900 <= n <= 1024)
    c.true("refusals are said once", s.logged("no space for its threads") == 1)
    keeps_to(s, 4 << 20)
    s.kill()
    # The collector's memory is gone as well; accounting tells what was not acknowledged.
    s.start()
    c.true("killed: the stubs are there", s.number("spool_stubs") == n, s.status())
    f.well()
    kept_runs = [from_accounting(r) for r in runs[:n]]
    s.mark(NOW)
    s.tell(*told[acked:], *kept_runs, wait=0)
    whole_soon("all arrive", f, told + kept_runs, 90)
    with_resources("with threads and GPUs", f, kept_runs)
    c.soon("no stub is left", lambda: s.number("spool_stubs") == 0, 5, s.status)
    end(f, s)


def reserve():
    """A full disk still takes the resources of what begins: the reserve is for that."""
    where = mounted("reserve", 24)
    try:
        f = Fake(T + "/reserve.fake", commit=1).start()
        f.fault(match="*", action="status", status=503, count=-1, body="away")
        s = submitter(f, "reserve", url=f.url(), spoolMaxBytes=16 << 20)
        kept_file = s.folder + "/spool.reserve"
        c.soon("there is a reserve", lambda: os.path.getsize(kept_file) == 2 << 20, 5)
        before = [new(end=NOW - 500) for _ in range(20)]
        s.tell(*before)
        fill(where)
        told, base = [], s.seq
        while not s.flow and len(told) < 6000:
            more = [new(end=NOW - 500, script="y" * 2000) for _ in range(50)]
            told += more
            s.tell(*more, wait=0)
            s.is_stored(0.5)
        c.true("a full disk: the collector is told to hold", s.flow == 1)
        c.soon("the reserve is given up, and that is said", lambda: not os.path.exists(kept_file) and
               s.logged("the disk of the spool is full") == 1, 5)
        acked = s.stored - base
        runs = begun(1200)
        for i in range(0, 1200, 100):
            s.tell(*runs[i:i + 100], wait=0)
            c.soon("%d stubs" % (i + 100), lambda n=i + 100: s.number("spool_stubs") == n, 10,
                   s.status)
        c.true("not stuck", "refuses writes" not in s.status()["spool"], s.status())
        s.kill()
        os.unlink(where + "/filler")
        s.start()
        c.true("killed: the stubs are there", s.number("spool_stubs") == 1200, s.status())
        c.soon("and a reserve again", lambda: os.path.getsize(kept_file) == 2 << 20, 5)
        f.well()
        s.mark(NOW)
        kept_runs = [from_accounting(r) for r in runs]
        s.tell(*told[acked:], *kept_runs, wait=0)
        whole_soon("all arrive", f, before + told + kept_runs, 90)
        with_resources("with threads and GPUs", f, kept_runs)
        # full again, and room again, without a kill
        f.fault(match="*", action="status", status=503, count=-1, body="away")
        fill(where)
        told = []
        while not s.flow and len(told) < 6000:
            more = [new(end=NOW - 500, script="y" * 2000) for _ in range(50)]
            told += more
            s.tell(*more, wait=0)
            s.is_stored(0.5)
        os.unlink(where + "/filler")
        f.well()
        # the log of the deliveries may make some just after the disk was filled
        c.soon("room again, said once a time: all is stored", lambda: s.flow == 0 and
               s.is_stored(0.1) and 1 <= s.logged("has space again") <=
               s.logged("the disk of the spool is full") - 1, 30, s.status)
        whole_soon("and arrives", f, told, 60)
        end(f, s)
    finally:
        umount(where)


def steps(s, what, flags=0):
    """A verb of the spool, step by step as the tool does it: status, words, lines."""
    at, lines, piece, total, n = 0, [], "", [0, 0, 0], 0
    while True:
        (status, words), rows = s.verb("CTL_SPOOL", flags, a=what, b=at, limit=sum(total))
        n += 1
        if status:
            return status, words, lines, total, n
        for _, (_, more, text) in rows[:-1]:
            piece += text
            if more != "1":
                lines.append(piece)
                piece = ""
        at, _, last = rows[-1][1]
        total = [a + int(b) for a, b in zip(total, last.split())]
        if not at:
            return status, words, lines, total, n
        at = int(at)


CHECK, EXPORT, IMPORT = range(3)


def put_in(s, lines):
    with open(s.folder + "/spool.import", "w", encoding="utf-8") as f:
        f.writelines(line + "\n" for line in lines)


def admin():
    """check, export and import."""
    f = Fake(T + "/admin.fake", commit=1).start()
    bad = new(name="bad", end=NOW - 500)
    f.fault(match="start_job", action="status", status=400, jobId=bad.job, count=-1,
            body='{"status":"Bad Request","error":"bad one"}')
    s = submitter(f, "admin")
    s.tell(bad)
    c.soon("one is refused", lambda: rejected(s, bad), 10)
    f.fault(match="*", action="status", status=503, count=-1, body="away")
    runs = [new(end=NOW - 500 if i % 2 else 0, script="secret words %d " % i * 4000,
                name="h\u00e4\"l\nt") for i in range(700)]
    s.tell(*runs)
    status, words, _, total, n = steps(s, CHECK)
    c.true("check: whole, in %d steps" % n, status == 0 and total[0] == 701 and n > 3, (words, total))
    status, words, plain, total, n = steps(s, EXPORT)
    parsed = [json.loads(line) for line in plain]
    c.true("export: a line a run, in %d steps" % n, total == [701, 0, 0] and n > 1 and
           {(p["cluster"], p["job"], p["start"]) for p in parsed} ==
           {r.key() for r in runs + [bad]}, (words, total))
    c.true("no script in it", not any(b"secret words" in base64.b64decode(p["record"]) for p in parsed))
    _, _, full, _, _ = steps(s, EXPORT, flags=ALL)
    c.true("but for --all", sum(b"secret words" in base64.b64decode(json.loads(line)["record"])
                                for line in full) == 700)
    put_in(s, full)
    _, _, _, total, _ = steps(s, IMPORT)
    c.true("import of what is there changes nothing", total == [0, 701, 0] and kept(s) == 701, total)
    end(f, s)

    f = Fake(T + "/admin2.fake", commit=1).start()
    f.fault(match="*", action="status", status=503, count=-1, body="away")
    s = submitter(f, "admin2", url=f.url())
    wrong = ["{", "[]", "{}", full[0].replace('"job":', '"job":9'), full[1][:-40] + '"}',
             json.dumps({**json.loads(full[2]), "record": "AAAA"}), "",
             json.dumps({**json.loads(full[3]), "cluster": "beta"})]
    put_in(s, wrong)
    (status, _), rows = s.verb("CTL_SPOOL", a=IMPORT)
    c.true("lines that are none are refused, one by one, with their numbers", status == 0 and
           [int(r[1][2].split(":")[0][5:]) for r in rows[:-1]] == list(range(1, 9)) and
           rows[-1][1][2] == "0 0 8" and kept(s) == 0, rows)
    # killed in the middle, and again from the beginning
    put_in(s, full)
    at, taken = 0, 0
    for _ in range(2):
        (_, _), rows = s.verb("CTL_SPOOL", a=IMPORT, b=at)
        at, taken = int(rows[-1][1][0]), taken + int(rows[-1][1][2].split()[0])
    s.kill()
    s.start()
    c.true("killed in the middle: %d that were said to be imported are there" % taken,
           0 < taken < 701 and kept(s) == taken, (taken, kept(s)))
    _, _, _, total, _ = steps(s, IMPORT)
    c.true("once more: the rest", total == [701 - taken, taken, 0] and kept(s) == 701, total)
    c.true("the refused one stays refused, with its words", len(rejected(s, bad)) == 1 and
           "bad one" in rejected(s, bad)[0]["reason"], rejected(s))
    c.true("ends are looked for", {r.key() for r in runs if not r.end} <= set(s.running))
    f.well()
    delivery.through("all arrive", f, s, runs, 60)
    os.unlink(s.folder + "/spool.import")
    os.symlink("/etc/passwd", s.folder + "/spool.import")
    (status, words), _ = s.verb("CTL_SPOOL", a=IMPORT)
    c.true("no link is followed", status == 1 and "nothing" in words, words)
    c.true("nor anything else obeyed", s.verb("CTL_SPOOL", a=9)[0][0] == 1 and
           s.verb("CTL_SPOOL", b=-5)[0][0] == 1)
    # damage is found, and said
    s.stop()
    flip(s.folder + "/spool.db", os.path.getsize(s.folder + "/spool.db") - 4000,
         os.path.getsize(s.folder + "/spool.db"), 3)
    begin(s)
    status, words, _, _, _ = steps(s, CHECK)
    c.true("check finds a flipped bit", status == 1 and "checksum of page" in words, words)
    s.kill()
    f.stop()


def fill(where, name="filler"):
    """Takes every block that is left."""
    with open(where + "/" + name, "wb", buffering=0) as f:
        try:
            while f.write(b"\0" * 4096):
                pass
        except OSError:
            pass


def readonly():
    where = mounted("ro", 32)
    try:
        f = Fake(T + "/ro.fake", commit=1).start()
        s = submitter(f, "ro")
        runs = [new() for _ in range(20)]
        s.tell(*runs)
        whole_soon("before", f, runs, 10, ["start"])
        os.rename(s.folder + "/spool.db-shm", s.folder + "/x") if os.path.exists(
            s.folder + "/spool.db-shm") else None
        s.stop()
        remount(where, "ro")
        s.start(wait=False)
        status = s.gone(10)
        c.true("a read-only disk at start: it ends with words", status not in (None, 0) and
               s.logged("(?i)read-?only|cannot be opened"), status)
        remount(where, "rw")
        s.start()
        c.true("writable again: all is there", set(s.running) == {r.key() for r in runs})
        s.mark(NOW)
        delivery.through("all arrive", f, s, runs, 20)
        end(f, s)
    finally:
        umount(where)


def twice():
    f = Fake(T + "/twice.fake", commit=1).start()
    s = submitter(f, "twice")
    runs = [new() for _ in range(5)]
    s.tell(*runs)
    second = Submitter(s.folder, s.conf, f.token, log=T + "/log/suite.second")
    second.start(wait=False)
    c.true("a second process on the same spool ends with words", second.gone(10) not in (None, 0) and
           second.logged("cannot be opened"))
    delivery.through("the first goes on", f, s, runs, 20)
    end(f, s)


# --- damage ------------------------------------------------------------------------------

def filled(name, f):
    """A spool with much in it, at rest; the runs."""
    f.fault(match="*", action="status", status=503, count=-1, body="away")
    s = submitter(f, name, url=f.url())
    runs = [new(end=NOW - 500 if i % 3 else 0, script="s" * 1500) for i in range(600)]
    s.tell(*runs)
    s.stop()
    f.well()
    return s, runs


def begin(s):
    """Starts it as often as a supervisor would; False when it does not serve."""
    for _ in range(6):
        if s.alive():
            s.kill()
        s.start(wait=False)
        if not s.wait(lambda: s.said["MSG_READY"], 5):
            continue
        s.files()
        try:
            s.meet()
            return True
        except RuntimeError:
            time.sleep(0.2)
    return False


def again(what, f, s, runs, aside):
    """Starts on what is left; tells all anew as catch-up would; all must arrive once."""
    begin(s)
    here = []
    for _ in range(40):
        if not s.alive():
            c.say("(it ended itself and is started again)")
            begin(s)
            here = []
        if not here:
            s.mark(NOW)
            s.tell(*[r if r.end else r.ended() for r in runs], wait=0)
            here = runs
        got = counts(f)
        if s.is_stored(0.5) and all(got.get(r.key(), [])[-1:] == ["stop"] for r in runs):
            break
    if aside:
        c.true("%s: renamed, said" % what, glob.glob(s.folder + "/spool.db.damaged-*") and
               s.logged("the file is renamed"), os.listdir(s.folder))
    whole_soon("%s: with what Slurm tells again all arrive once" % what, f, runs, 20)
    # and it still works
    fresh = [new() for _ in range(5)]
    s.tell(*fresh)
    delivery.through("%s: new ones too" % what, f, s, fresh, 20)
    c.true("%s: it lives" % what, s.alive())
    s.kill()
    f.stop()


def damage():
    for what, spoil in (
            ("a file of zeros", lambda p: overwrite(p, 0, b"\0" * 100)),
            ("a file of noise", lambda p: overwrite(p, 0, random.randbytes(os.path.getsize(p)))),
            ("torn in the middle", lambda p: os.truncate(p, os.path.getsize(p) // 2 // 512 * 512 + 100)),
            ("torn to nothing", lambda p: os.truncate(p, 0)),
            ("its first page flipped", lambda p: flip(p, 100, 4096, 64)),
            ("bits flipped all over", lambda p: flip(p, 4096, os.path.getsize(p), 400)),
            ("one page in the middle zeroed", lambda p: overwrite(
                p, os.path.getsize(p) // 8192 * 4096, b"\0" * 4096))):
        f = Fake("%s/%s.fake" % (T, what.replace(" ", "-")), commit=1).start()
        s, runs = filled(what.replace(" ", "-"), f)
        spoil(s.folder + "/spool.db")
        again(what, f, s, runs, what != "torn to nothing")


def overwrite(path, at, data):
    with open(path, "r+b") as f:
        f.seek(at)
        f.write(data)


def flip(path, first, last, n):
    with open(path, "r+b") as f:
        for _ in range(n):
            at = random.randrange(first, last)
            f.seek(at)
            b = f.read(1)[0]
            f.seek(at)
            f.write(bytes([b ^ (1 << random.randrange(8))]))


def rows(path):
    """What stands in a spool at rest."""
    db = sqlite3.connect(path)
    try:
        return db.execute("SELECT run.*, bytes FROM run JOIN record USING (id) ORDER BY id").fetchall()
    finally:
        db.close()


def part():
    """Damage on a disk without space for a second copy: the reserve is freed, else the next start goes on."""
    for reserve in True, False:
        name = "part-reserve" if reserve else "part"
        where = mounted(name, 24)
        wreck = where + "/spool.db.wreck"
        try:
            f = Fake("%s/%s.fake" % (T, name), commit=1).start()
            s, runs = filled(name, f)
            flip(s.folder + "/spool.db", 4096 * 8, 4096 * 12, 4)
            if not reserve and os.path.exists(s.folder + "/spool.reserve"):
                os.unlink(s.folder + "/spool.reserve")
            fill(where)
            # enough for a new file, not for its runs
            os.truncate(where + "/filler", os.path.getsize(where + "/filler") - (600 << 10))
            begin(s)
            c.true("%s: it serves, and says that runs are missing" % name,
                   s.alive() and s.logged("recovered only in part"))
            if reserve:
                c.true("the reserve gave the space", s.logged("recovered from the damaged spool") == 1 and
                       not os.path.exists(wreck), os.listdir(where))
            else:
                c.true("the damaged file stays", os.path.exists(wreck), os.listdir(where))
                c.true("and is not counted as recovered", not s.logged("recovered from the damaged spool"))
            os.unlink(where + "/filler")
            s.kill()
            again(name, f, s, runs, True)
            c.true("%s: the damaged file is read" % name, not os.path.exists(wreck) and
                   s.logged("recovered from the damaged spool"), os.listdir(where))
        finally:
            umount(where)


def recovery_killed():
    """A recovery that is killed again and again: no run is missing in the end."""
    f = Fake(T + "/killed.fake", commit=1).start()
    f.fault(match="*", action="status", status=503, count=-1, body="away")
    s = submitter(f, "killed", url=f.url())
    runs = [new(end=NOW - 500 if i % 3 else 0, script="s" * 1500) for i in range(6000)]
    for i in range(0, len(runs), 1000):
        s.tell(*runs[i:i + 1000])
    s.stop()
    flip(s.folder + "/spool.db", 4096 * 8, 4096 * 12, 4)
    s.start(wait=False)
    c.true("the damage ends it", s.gone(10) is not None)
    wreck = s.folder + "/spool.db.wreck"
    under_way = 0
    for i in range(8):
        s.start(wait=False)
        time.sleep(0.02 + 0.04 * i)  # a time of death, not a wait for an event
        s.kill()
        under_way += os.path.exists(wreck)
    c.true("killed in the recovery (%d times)" % under_way, under_way > 0)
    begin(s)
    c.true("the recovery ends", s.wait(lambda: not os.path.exists(wreck), 20), os.listdir(s.folder))
    s.kill()
    db = sqlite3.connect(s.folder + "/spool.db")
    found = db.execute("SELECT count(*) FROM run").fetchone()[0]
    db.close()
    c.true("all runs are there (%d)" % found, found == len(runs))
    f.stop()


def foreign():
    for what, change in (
            ("a newer version's", "user_version=999"), ("another program's", "application_id=7")):
        f = Fake("%s/%s.fake" % (T, what.split(" ")[1]), commit=1).start()
        s, _ = filled(what.split(" ")[1], f)
        path = s.folder + "/spool.db"
        db = sqlite3.connect(path)
        db.execute("PRAGMA " + change)
        db.close()
        before = rows(path)
        s.start(wait=False)
        status = s.gone(10)
        c.true("%s file: it ends with words" % what, status not in (None, 0) and
               s.logged("cannot be opened: .*(newer|another program)"), status)
        c.true("%s file: not touched" % what, rows(path) == before and len(before) == 600 and
               not glob.glob(s.folder + "/*damaged*"))
        f.stop()


def live():
    """Damage that shows only while it works."""
    f = Fake(T + "/live.fake", commit=1).start()
    f.fault(match="*", action="status", status=503, count=-1, body="away")
    s = submitter(f, "live", url=f.url())
    runs = [new(end=NOW - 500 if i % 3 else 0, script="s" * 1500) for i in range(1500)]
    s.tell(*runs)
    s.stop()
    flip(s.folder + "/spool.db", 8192, os.path.getsize(s.folder + "/spool.db"), 3000)
    f.well()
    again("bits flipped in what is read later", f, s, runs, True)


GROUPS = {g.__name__: g for g in (kills, full, cap, stubs, reserve, admin, readonly, twice, damage, part,
                                  recovery_killed, foreign, live)}

if __name__ == "__main__":
    for group in sys.argv[1:]:
        GROUPS[group]()
    sys.exit(1 if c.failed else 0)
