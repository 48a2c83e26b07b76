#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the submitter makes of cc-backend's answers: delivery.py GROUP

Each group brings up a stand-in and a submitter in $T, hands over runs as the
collector would, plays the faults and says what it saw.  Groups: see the end.
"""
import http.server
import json
import os
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time

from fake_collector import ALL, Checks, Fake, Run, Submitter, until

T = os.environ["T"]
LONG = bool(os.environ.get("CSA_LONG"))
NOW = int(time.time())
c = Checks()
ids = iter(range(1001, 10**9))


def new(start=None, **more):
    """A run of a job of its own."""
    return Run(next(ids), NOW - 1000 if start is None else start, **more)


def world(name="main", conf=None, **fake):
    """A stand-in and a submitter that has met it."""
    f = Fake("%s/%s.fake" % (T, name), **fake).start()
    s = submitter(f, name, **(conf or {}))
    return f, s


def submitter(f, name="main", url=None, **conf):
    s = Submitter("%s/%s.spool" % (T, name), {
        "ccRestUrl": url or f.url(), "ccCommitInterval": max(1, int(f.commit)), **conf},
        f.token, log="%s/log/suite.%s" % (T, name)).start()
    s.mark(NOW)
    c.true("the gate opens", until(lambda: s.status().get("backend") == "up" or url, 10))
    return s


def end(f, s):
    c.true("%s: the submitter lives" % os.path.basename(s.folder), s.alive())
    c.true("it ends when told", s.stop() == 0)
    f.stop()


def through(what, f, s, runs, seconds=15):
    """Ends the runs and sees start and stop of each exactly once, in order."""
    s.tell(*[r if r.end else r.ended() for r in runs])
    whole_soon(what, f, runs, seconds)


def counts(f):
    got = {}
    for e in f.lines():
        if "jobId" in e and e["effect"] != "edit_meta":
            got.setdefault((e["cluster"], e["jobId"], e["startTime"]), []).append(e["effect"])
    return got


def whole_soon(what, f, runs, seconds=15, effects=("start", "stop")):
    def wrong():
        got = counts(f)
        return [(r.job, got.get(r.key())) for r in runs if got.get(r.key()) != list(effects)]
    c.soon(what, lambda: not wrong(), seconds, lambda: wrong()[:5])


def rejected(s, run=None):
    return [q for q in s.queue(rejected=True)
            if run is None or (int(q["job"]), int(q["start"])) == (run.job, run.start)]


def answered(f, what):
    return f.stats()["answers"].get(what, {})


# --- 300: answers to one run ---------------------------------------------------

def answers():
    f, s = world(commit=2)
    plain = new()
    s.tell(plain)
    whole_soon("201: stored once", f, [plain], 5, ["start"])
    body = [e for e in f.lines() if e["effect"] == "start"][0]["body"]
    c.true("a start carries no tags, for with them it would leave the cache", "tags" not in body)

    # the answer is lost, and meanwhile the run is committed: 422, present
    present = new()
    f.fault(match="start_job", action="reset", jobId=present.job, afterEffect=True)
    f.fault(match="start_job", action="delay", delayMs=100, jobId=present.job)
    s.tell(present)
    until(lambda: f.effects(present) == ["start"], 5)
    f.commit_now()
    through("422, present in the listing: done, its stop follows", f, s, [present, plain])
    f.well()

    # found there although another adapter had sent it
    theirs = new()
    f.api("POST", "jobs/start_job/", {
        "jobId": theirs.job, "cluster": "alpha", "user": "u1", "numNodes": 1,
        "startTime": theirs.start, "resources": [{"hostname": "n1"}]})
    f.commit_now()
    through("422, sent by another client: its stop follows", f, s, [theirs])

    # 422, absent: a requeued run within a day of the first, which is committed
    first = new()
    s.tell(first)
    whole_soon("first run of a requeued job", f, [first], 5, ["start"])
    f.commit_now()
    second = Run(first.job, first.start + 600)
    s.tell(first.ended(), second)
    c.soon("422, absent: refused and kept", lambda: rejected(s, second), 10)
    stops = sum(answered(f, "stop_job").values())
    through("the first run is not harmed", f, s, [first])
    s.tell(second.ended())
    time.sleep(1.5)
    mine = rejected(s, second)
    c.true("its end makes no second entry", len(mine) == 1, mine)
    c.true("it is listed with cc-backend's words", mine and "already exists" in mine[0]["reason"], mine)
    c.true("no stop is sent for it", sum(answered(f, "stop_job").values()) == stops + 1 and
           "404" not in answered(f, "stop_job"), answered(f, "stop_job"))

    # 500 UNIQUE: the answer was lost, the row is in the cache
    unique = new()
    f.fault(match="start_job", action="reset", jobId=unique.job, afterEffect=True)
    s.tell(unique)
    through("500 UNIQUE: taken as stored", f, s, [unique])

    # 500 CHECK, 400: refused, kept, not in the way
    check = new()
    f.fault(match="start_job", action="status", status=500, jobId=check.job, count=-1,
            body='{"status":"Internal Server Error","error":"CHECK constraint failed: shared IN"}')
    other = [new() for _ in range(5)]
    s.tell(check, *other)
    c.soon("500 CHECK: refused", lambda: rejected(s, check), 5)
    through("the others go on", f, s, other)
    tag = new()
    f.fault(match="start_job", action="status", status=500, jobId=tag.job, afterEffect=True, body=
            '{"status":"Internal Server Error","error":"adding tag to new job 1 failed: no"}')
    through("500 adding tag: taken as stored", f, s, [tag])
    odd = new()
    f.fault(match="start_job", action="status", status=500, jobId=odd.job, count=3,
            body='{"status":"Internal Server Error","error":"database is locked"}')
    through("500 of another kind: tried again", f, s, [odd])
    lost = new(cluster="alpha", hosts=("n77",))
    nowhere = new(cluster="nosuch")
    s.tell(lost, nowhere)
    c.soon("400, host unknown: refused with cc-backend's words", lambda: any(
        "no subcluster" in q["reason"] for q in rejected(s, lost)), 5, lambda: s.queue(True))
    c.soon("400, cluster unknown: refused with cc-backend's words", lambda: any(
        "no such cluster" in q["reason"] for q in rejected(s, nowhere)), 5, lambda: s.queue(True))

    # retry, drop, reload
    f.well()
    s.verb("CTL_RETRY", ids=[check.job])
    through("retry of one: it arrives", f, s, [check])
    c.true("the others stay refused", len(rejected(s)) == 3, s.queue(True))
    before = f.requests()
    s.verb("CTL_DROP", ids=[lost.job])
    c.true("drop: it is gone", not rejected(s, lost))
    s.configure()
    c.soon("a reload tries refused runs again", lambda: f.requests() >= before + 2, 5)
    c.soon("and they are refused again", lambda: len(rejected(s)) == 2, 5)
    s.verb("CTL_RETRY", flags=ALL)
    c.soon("retry --all too", lambda: len(rejected(s)) == 2, 5)
    end(f, s)


def poison():
    n = 10000 if LONG else 2000
    f, s = world(commit=1)
    runs = [new(start=NOW - 3000 + i % 900, end=NOW - 1500 + i % 900) for i in range(n)]
    bad = runs[n // 3]
    bad.hosts = ("n77",)
    t0 = time.time()
    for i in range(0, n, 500):
        s.tell(*runs[i:i + 500], wait=0)
    c.true("%d runs are stored" % n, s.is_stored(60))
    c.say("after %.1f s" % (time.time() - t0))
    good = [r for r in runs if r is not bad]
    whole_soon("one poisoned run among %d: all others arrive" % n, f, good, 120)
    c.say("after %.1f s" % (time.time() - t0))
    q = rejected(s)
    c.true("it alone is listed, with cc-backend's words", len(q) == 1 and
           int(q[0]["job"]) == bad.job and "no subcluster" in q[0]["reason"], q[:3])
    end(f, s)


# --- 310: the line as a whole ---------------------------------------------------

class Thief(http.server.BaseHTTPRequestHandler):
    """Notes what is sent to where the token must not go."""
    seen = []

    def do_POST(self):
        Thief.seen.append(dict(self.headers))
        self.send_response(201)
        self.end_headers()

    do_GET = do_PUT = do_POST

    def log_message(self, *_):
        pass


def stops_and_resumes(what, f, s, pattern, break_, repair, reload=True):
    """Faults of all requests: all is kept, one loud line, slow probes, it resumes."""
    lines = s.logged(pattern)
    break_()
    runs = [new() for _ in range(20)]
    s.tell(*runs)
    c.soon("%s: said" % what, lambda: s.logged(pattern) > lines, 8)
    time.sleep(0.5)     # what was under way has been answered
    before = f.requests()
    time.sleep(3)
    c.true("%s: said once" % what, s.logged(pattern) == lines + 1, s.logged(pattern) - lines)
    # each look of ours is a request, too
    c.true("%s: slow probes, no storm" % what, f.requests() - before <= 5, f.requests() - before)
    c.true("%s: all is kept, nothing refused" % what,
           s.number("start_due") == 20 and not rejected(s), s.status())
    repair()
    if reload:
        s.configure()
    through("%s repaired: all arrive" % what, f, s, runs, 60)


def line():
    f, s = world(commit=1)
    stops_and_resumes("401", f, s, "refuses the token",
                      lambda: f.fault(match="*", action="401", count=-1), f.well)
    stops_and_resumes("401 again, resumed without a reload", f, s, "refuses the token",
                      lambda: f.fault(match="*", action="401", count=-1), f.well, reload=False)
    token = s.token

    def spoil():
        s.token = "not.a.token"
        s.configure()
    stops_and_resumes("a token that is none", f, s, "refuses the token", spoil,
                      lambda: setattr(s, "token", token))
    stops_and_resumes("404", f, s, "is no cc-backend",
                      lambda: f.fault(match="*", action="status", status=404, count=-1, body=
                                      '{"error":"the requested endpoint does not exist"}'), f.well)
    thief = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Thief)
    threading.Thread(target=thief.serve_forever, daemon=True).start()
    where = "http://127.0.0.1:%d/api/jobs/start_job/" % thief.server_port
    stops_and_resumes("redirect", f, s, "is no cc-backend",
                      lambda: f.fault(match="*", action="redirect", count=-1, location=where), f.well)
    c.true("a redirect is not followed, the token stays here", not Thief.seen, Thief.seen)
    stops_and_resumes("captive portal", f, s, "is unreachable",
                      lambda: f.fault(match="*", action="html", count=-1), f.well)
    end(f, s)
    with open(s.log, encoding="utf-8", errors="replace") as log:
        c.true("the token is in no log line", token not in log.read())


def nats_mode():
    f = Fake(T + "/nats.fake", commit=1, options=["--nats-mode"]).start()
    s = submitter(f, "nats", url=f.url())
    runs = [new() for _ in range(5)]
    s.tell(*runs)
    c.soon("a cc-backend that takes jobs by NATS only: said", lambda: s.logged("is no cc-backend"), 5)
    c.true("all is kept", s.number("start_due") == 5 and not rejected(s), s.status())
    f.stop()
    f.options = []
    f.start()
    s.configure()
    through("REST again: all arrive", f, s, runs)
    s.configure(ccRestUrl=f.url() + "/wrong")
    runs = [new() for _ in range(5)]
    s.tell(*runs)
    c.soon("a wrong path: said", lambda: s.logged("is no cc-backend") >= 2, 8)
    c.true("all is kept still", s.number("start_due") == 5 and not rejected(s), s.status())
    s.configure(ccRestUrl=f.url())
    through("the right one: all arrive", f, s, runs)
    end(f, s)


def openssl(*args):
    subprocess.run(["openssl", *args], check=True, capture_output=True)


def certificate(name, san, days="2"):
    """A key and a certificate signed by itself."""
    key, cert = "%s/%s.key" % (T, name), "%s/%s.pem" % (T, name)
    openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
            "-days", days, "-subj", "/CN=" + name, "-addext", "subjectAltName=" + san,
            "-keyout", key, "-out", cert)
    return key, cert


class OldTls:
    """A server that has TLS 1.1 and nothing newer; counts the handshakes."""
    def __init__(self, cert, key):
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.minimum_version = ssl.TLSVersion.TLSv1
        self.context.maximum_version = ssl.TLSVersion.TLSv1_1
        self.context.set_ciphers("ALL:@SECLEVEL=0")
        self.context.load_cert_chain(cert, key)
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        self.done = self.refused = 0
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            peer = self.socket.accept()[0]
            try:
                with self.context.wrap_socket(peer, server_side=True):
                    self.done += 1
            except OSError:
                self.refused += 1


def old_tls(cert, key):
    policy = T + "/old-tls.cnf"
    with open(policy, "w", encoding="ascii") as f:
        f.write("openssl_conf = all\n[all]\nssl_conf = ssl\n[ssl]\nsystem_default = any\n"
                "[any]\nMinProtocol = TLSv1\nCipherString = ALL:@SECLEVEL=0\n")
    server = OldTls(cert, key)
    context = ssl.create_default_context(cafile=cert)
    context.minimum_version = ssl.TLSVersion.TLSv1
    context.set_ciphers("ALL:@SECLEVEL=0")
    with socket.create_connection(("127.0.0.1", server.port)) as peer, \
            context.wrap_socket(peer, server_hostname="cc.test"):
        c.true("the server has TLS 1.1", until(lambda: server.done == 1, 5))
    s = Submitter(T + "/oldtls.spool", {
        "ccRestUrl": "https://127.0.0.1:%d" % server.port, "ccRestCaFile": cert}, "token",
        log=T + "/log/suite.oldtls", env={"OPENSSL_CONF": policy}).start()
    c.true("TLS 1.1: refused", until(lambda: server.refused >= 2, 10) and server.done == 1)
    s.stop()


def tls():
    key, cert = certificate("good", "IP:127.0.0.1,DNS:cc.test")
    badkey, bad = certificate("other", "DNS:elsewhere.test")
    old_tls(cert, key)
    f = Fake(T + "/tls.fake", commit=1, options=["--tls", cert, key]).start()
    s = submitter(f, "tls", url=f.url())
    runs = [new() for _ in range(5)]
    s.tell(*runs)

    def kept(what, words):
        c.soon("%s: said" % what, lambda: words in s.status()["backend"].lower(), 8,
               lambda: s.status()["backend"])
        c.true("%s: all is kept, nothing sent" % what, s.number("start_due") == 5 and
               not f.effects() and not rejected(s))
    kept("a certificate nobody vouches for", "certificate")
    s.configure(ccRestCaFile=bad)
    kept("another authority", "certificate")
    f.stop()
    f.options = ["--tls", bad, badkey]
    f.start()
    s.configure(ccRestCaFile=bad)
    kept("a certificate of another host", "certificate")
    f.stop()
    f.options, f.scheme = [], "http"
    f.start()
    s.configure(ccRestUrl="https://127.0.0.1:%d" % f.port)
    kept("no TLS at that port", "")
    f.stop()
    f.options, f.scheme = ["--tls", cert, key], "https"
    f.start()
    s.configure(ccRestCaFile=cert, ccRestUrl="http://127.0.0.1:%d" % f.port)
    kept("TLS at a port asked without", "")
    s.configure(ccRestUrl=f.url())
    through("the right certificate: all arrive", f, s, runs)
    end(f, s)


def names():
    f = Fake(T + "/names.fake", commit=1).start()
    with open(T + "/names.spool.resolv.conf", "w", encoding="ascii") as r:
        r.write("nameserver 127.0.0.1\noptions timeout:1 attempts:1\n")
    with open(T + "/names.spool.hosts", "w", encoding="ascii") as h:
        h.write("127.0.0.1 localhost\n")
    s = submitter(f, "names", url="http://cc-backend.test:%d" % f.port)
    runs = [new() for _ in range(5)]
    s.tell(*runs)
    c.soon("a name nobody knows: said", lambda: "cc-backend.test" in s.status()["backend"], 12,
           lambda: s.status()["backend"])
    c.true("all is kept", s.number("start_due") == 5 and not rejected(s))
    with open(T + "/names.spool.hosts", "a", encoding="ascii") as h:
        h.write("127.0.0.1 cc-backend.test\n")
    s.files()
    through("the name in hosts: all arrive without a restart", f, s, runs, 60)
    end(f, s)


# --- 320: transport -----------------------------------------------------------------

def transport():
    f, s = world(commit=1)
    # each on a job of its own; what takes long must not hold up the rest
    slow = {}
    for action, more in (
            ("reset", {}), ("reset", {"afterEffect": True}), ("halfopen", {}), ("truncate", {}),
            ("garbage", {}), ("garbage", {"afterEffect": True}), ("html", {"afterEffect": True}),
            ("wrong-length", {}), ("slow", {"delayMs": 20}), ("delay", {"delayMs": 3000}),
            ("hang", {"delayMs": 4000}), ("hang", {"delayMs": 4000, "afterEffect": True}),
            ("endless", {}), ("big", {"bytes": 1 << 30}), ("status", {"status": 502}),
            ("status", {"status": 503, "afterEffect": True}), ("status", {"status": 504}),
            ("status", {"status": 204}), ("status", {"status": 200, "body": "<html>"}),
            ("status", {"status": 429})):
        what = action + "".join(" %s=%s" % kv for kv in more.items())
        run = new()
        slow[what] = run
        f.fault(match="start_job", action=action, jobId=run.job, **more)
    others = [new() for _ in range(50)]
    t0 = time.time()
    s.tell(*slow.values(), *others)
    whole_soon("50 others arrive meanwhile", f, others, 20, ["start"])
    c.say("after %.1f s" % (time.time() - t0))
    for what, run in slow.items():
        whole_soon("start: " + what, f, [run], 60, ["start"])
    everyone = list(slow.values()) + others
    # and the stops
    f.well()
    kinds = iter(slow)
    for run in slow.values():
        action, *more = next(kinds).split(" ")
        more = dict(m.split("=") for m in more)
        f.fault(match="stop_job", action=action, jobId=run.job,
                afterEffect=more.get("afterEffect") == "True", bytes=1 << 30,
                status=int(more.get("status", 500)), delayMs=int(more.get("delayMs", 0)),
                **({"body": more["body"]} if "body" in more else {}))
    through("all stops in spite of the same", f, s, everyone, 90)
    c.say("after %.1f s" % (time.time() - t0))
    f.well()
    peak = int([l for l in open("/proc/%d/status" % s.pid, encoding="ascii")
                if l.startswith("VmHWM")][0].split()[1])
    c.true("endless and huge answers cost no memory (peak %d MiB)" % (peak >> 10), peak < 64 << 10)
    c.true("nothing is refused", not rejected(s), s.queue(True))
    end(f, s)


def limit():
    """cc-backend's own limit: silence, then a close without a reply, effect or not."""
    f, s = world(commit=1, options=["--limit", "20"])
    run, others = new(), [new() for _ in range(20)]
    f.fault(match="start_job", action="hang", jobId=run.job, afterEffect=True, delayMs=20000)
    t0 = time.time()
    s.tell(run, *others)
    through("others while one request hangs for 20 s", f, s, others, 12)
    time.sleep(max(0, t0 + 20.5 - time.time()))
    through("20 s of silence, then closed: harmless", f, s, [run], 15)
    end(f, s)


def outages():
    f, s = world(commit=1)
    runs = [new() for _ in range(30)]
    s.tell(*runs)
    for status in (502, 503, 504):
        f.fault(match="*", action="status", status=status, count=-1, body="busy")
        more = [new() for _ in range(10)]
        s.tell(*more)
        time.sleep(2)
        f.well()
        runs += more
        whole_soon("%d from all, then well: starts arrive" % status, f, runs, 20, ["start"])
    f.call("POST", "/fake/down", {"seconds": 4})
    more = [new() for _ in range(50)]
    s.tell(*more)
    c.soon("no port: said with how many wait", lambda: s.logged(r"is unreachable: .*runs wait"), 5)
    time.sleep(3)
    runs += more
    through("back: all arrive", f, s, runs, 30)
    c.true("it says that it is back, and after how long", s.logged(r"is reachable again after \d+"))
    lines = s.logged("is unreachable") + s.logged("is reachable again")
    c.true("a line an outage (%d)" % lines, lines <= 12, lines)
    # a process stopped, its port open
    f.proc.send_signal(signal.SIGSTOP)
    more = [new() for _ in range(10)]
    s.tell(*more)
    time.sleep(3)
    c.true("a stopped backend: status answers", s.status().get("start_due") == "10", s.status())
    f.proc.send_signal(signal.SIGCONT)
    through("continued: all arrive", f, s, more, 45)
    # killed in the middle, with what it had in hand
    more = [new() for _ in range(300)]
    s.tell(*more, wait=0)
    time.sleep(0.1)
    f.stop()
    time.sleep(1)
    f.start()
    through("killed and started again in the middle: once each", f, s, more, 40)
    end(f, s)


# --- 330: the race of its stops ---------------------------------------------------------

def race():
    f, s = world(commit=2, conf={"ccPollInterval": 3})
    runs = [new(end=NOW - 500) for _ in range(40)]
    f.call("POST", "/fake/race", {"count": 40})
    s.tell(*runs)
    whole_soon("40 short runs while any stop of a cached run would hit another", f, runs, 25)
    c.true("no stop was sent before its start was seen committed",
           f.stats()["races"] == 40 and "race" not in f.effects(), f.stats()["races"])
    f.call("POST", "/fake/race", {"count": 0})

    # stopped by another client before our stop
    other = new()
    s.tell(other)
    c.soon("a run starts and is seen committed", lambda: s.number("compared_runs") == 1, 15)
    f.api("POST", "jobs/stop_job/", {"jobId": other.job, "cluster": "alpha", "startTime": other.start,
                                     "stopTime": other.start + 5, "jobState": "failed"})
    s.tell(other.ended())
    c.soon("422 to the first stop, not as in Slurm: stopped by another client, logged and listed",
           lambda: s.number("closed_wrongly") == 1 and s.logged("differs from Slurm"), 12, s.status)
    c.true("with both ends", any(int(q["job"]) == other.job and q["state"] == "stopped by others, kept" and
           "failed after 5 s, Slurm as completed after 60 s" in q["reason"] for q in s.queue()),
           s.queue())
    s.verb("CTL_DROP", ids=[other.job])
    c.soon("dropped, cc-backend's word stands", lambda: s.number("closed_wrongly") == 0, 3)
    same = new()
    s.tell(same)
    whole_soon("another run", f, [same], 5, ["start"])
    f.commit_now()
    f.api("POST", "jobs/stop_job/", {"jobId": same.job, "cluster": "alpha", "startTime": same.start,
                                     "stopTime": same.start + 60, "jobState": "completed"})
    s.tell(same.ended())
    # no list shows it as running: its start is repeated after three intervals of commits, which
    # the submitter knows only from the lists that it has seen
    c.soon("422 to the first stop, as Slurm says: done", lambda: s.number("closed_by_others") == 2 and
           not s.queue(), 60, lambda: (s.status(), s.queue()))

    # a stop answered 200 that did nothing: the victim of a race
    victim = new()
    s.tell(victim)
    whole_soon("another starts", f, [victim], 5, ["start"])
    f.commit_now()
    f.fault(match="stop_job", action="status", status=200, jobId=victim.job, body=(
        '{"jobId":%d,"cluster":"alpha","startTime":%d,"jobState":"completed"}' % (
            victim.job, victim.start)))
    s.tell(victim.ended())
    c.soon("open there after its stop: reported when compared",
           lambda: s.number("victims") >= 1 and s.logged("although its stop"), 20, s.status)
    c.true("and not repaired without a command", f.effects(victim) == ["start"], f.effects(victim))
    _, rows = s.verb("CTL_REPAIR", flags=2)
    c.true("repair --dry-run names it", any(str(victim.job) in r[1] for r in rows), rows)
    c.true("and does nothing", f.effects(victim) == ["start"])
    s.asked.clear()
    until(lambda: s.verb("CTL_REPAIR")[0][0] == 0, 10)
    # repaired with what Slurm says, where the spool has buried it
    c.soon("repair: Slurm is queried, or the run is repaired at once", lambda: victim.key() in s.asked or
           "stop" in f.effects(victim), 5)
    s.tell(victim)
    c.soon("repair: stopped for good", lambda: f.effects(victim)[-1] == "stop" and
           f.jobs()[victim.key()]["jobState"] == "completed", 15, lambda: f.effects(victim))

    # a stop whose answer names another run
    wrong = new()
    s.tell(wrong)
    whole_soon("a third", f, [wrong], 5, ["start"])
    f.commit_now()
    f.fault(match="stop_job", action="status", status=200, jobId=wrong.job, body=
            '{"jobId":7,"cluster":"alpha","startTime":7,"jobState":"completed"}')
    through("an answer that names another run: said, repeated", f, s, [wrong], 15)
    c.true("(said)", s.logged("stopped another run"))

    # a row without its archive file breaks the listing of its second
    second = NOW + 5    # newest of all: the race takes the newest
    a, b, there = (new(start=second) for _ in range(3))
    for r in (a, b, there):
        f.api("POST", "jobs/start_job/", {"jobId": r.job, "cluster": "alpha", "user": "u1",
                                          "numNodes": 1, "startTime": r.start,
                                          "resources": [{"hostname": "n1"}]})
        if r is b:
            f.call("POST", "/fake/race", {"count": 1, "lost": True})
            f.api("POST", "jobs/stop_job/", {"jobId": a.job, "cluster": "alpha", "startTime": second,
                                             "stopTime": second + 5, "jobState": "completed"})
    f.commit_now()
    f.api("POST", "jobs/stop_job/", {"jobId": there.job, "cluster": "alpha", "startTime": second,
                                     "stopTime": second + 5, "jobState": "completed"})
    status, _ = f.api("GET", "jobs/?start-time=%d-%d" % (second, second))
    c.true("(the listing of that second is broken: %s)" % status, status == 500)
    s.tell(there.ended(5))
    c.soon("422 while the listing is 500: asked run by run, done",
           lambda: "edit_meta" in f.effects(there, late=True) and not s.queue() and not rejected(s, there), 40,
           lambda: (s.queue(), f.effects(there, late=True)))
    end(f, s)


# --- 340: order, reuse, times --------------------------------------------------------------

def order():
    f, s = world(commit=1)
    # two runs of one id wait at once, in whatever order they are told
    f.fault(match="*", action="status", status=503, count=-1, body="away")
    s.tell(new())
    until(lambda: s.status()["backend"] != "up", 10)
    pairs, reuse = [], []
    for i in range(20):
        a = new(start=NOW - 9000, end=NOW - 8000)
        b = Run(a.job, NOW - 7900, NOW - 7000)
        pairs.append((a, b))
        s.tell(*((a, b) if i % 2 else (b, a)))
        old = new(start=NOW - 200000, end=NOW - 190000)
        young = Run(old.job, NOW - 3000)
        reuse += [old, young]
        s.tell(young, old)
    f.well()
    flat = [r for p in pairs for r in p]
    whole_soon("requeued while cc-backend was away: both runs arrive", f, flat, 40)
    lines = [(e["effect"], e["jobId"], e["startTime"]) for e in f.lines()]
    wrong = [a.job for a, b in pairs if not (
        lines.index(("start", a.job, a.start)) < lines.index(("start", b.job, b.start)) <
        min(lines.index(("stop", a.job, a.start)), lines.index(("stop", b.job, b.start))))]
    c.true("their starts go back to back, the older first, before any stop", not wrong, wrong)
    through("an id used again after a day", f, s, reuse, 20)
    c.true("nothing is refused", not rejected(s), s.queue(True))

    zero = new(start=NOW - 500, end=NOW - 500)
    before = new(start=NOW - 500, end=NOW - 560, state="END_FAILED")
    future = new(start=NOW + 3600)
    s.tell(zero, before, future)
    through("zero length; end before start; a start an hour ahead", f, s, [zero, before, future], 20)
    jobs = f.jobs()
    c.true("an end before the start is clamped to it", jobs[before.key()]["duration"] == 0)

    # told again, in every way: silent, but for what only the end tells
    def sent():
        return [e for e in f.effects() if e in ("start", "stop")]
    n = len(sent())
    requests = f.requests()
    s.tell(*flat, *reuse, zero, future)
    time.sleep(2)
    c.true("what is done and told again is silent", len(sent()) == n and
           answered(f, "start_job").get("422") is None, answered(f, "start_job"))
    c.say("%d requests meanwhile" % (f.requests() - requests))
    states = {}
    for state in ("END_COMPLETED", "END_FAILED", "END_CANCELLED", "END_TIMEOUT", "END_OUT_OF_MEMORY",
                  "END_PREEMPTED", "END_NODE_FAIL", "END_BOOT_FAIL", "END_DEADLINE", "END_REQUEUED"):
        states[state] = new(end=NOW - 100, state=state)
    s.tell(*states.values())
    whole_soon("each state ends its run", f, states.values(), 15)
    jobs = f.jobs()
    wrong = {k: jobs[r.key()]["jobState"] for k, r in states.items() if jobs[r.key()]["jobState"] !=
             (k[4:].lower() if k != "END_REQUEUED" else "preempted")}
    c.true("as cc-backend calls it", not wrong, wrong)
    end(f, s)


# --- 350: versions ---------------------------------------------------------------------------

def versions():
    f = Fake(T + "/v.fake", commit=1, options=["--version", "1.3.1"]).start()
    s = submitter(f, "v")
    for version, words in (("1.3.1", "1.3 or older"), ("1.4.1", "1.4"),
                           ("1.4.4", "1.4"), ("1.5.4", "1.5"), ("1.4.4", "1.4")):
        if ["--version", version] != f.options:
            f.stop()
            f.options = ["--version", version]
            time.sleep(0.5)
            f.start()
        runs = [new(shared=i % 4) for i in range(8)]
        zero = new(start=NOW - 500, end=NOW - 500)
        s.tell(*runs, zero)
        whole_soon(version + ": starts", f, [*runs, zero][:8], 25, ["start"])
        through(version + ": stops, zero length too", f, s, [*runs, zero], 25)
        c.soon("%s is known by its answers (%s)" % (version, words),
               lambda: words in s.status()["backend_version"], 15,
               lambda: s.status()["backend_version"])
        c.true(version + ": nothing is refused", not rejected(s), s.queue(True))
    end(f, s)


# --- 420: reconciling -----------------------------------------------------------------------

def reconcile():
    f, s = world(commit=1, conf={"ccPollInterval": 2}, clusters="alpha=n[1-4],beta=b[1-4]")
    mine = [new() for _ in range(6)]
    s.tell(*mine)
    f.commit_now()
    until(lambda: s.number("open") == 6, 5)
    foreign, denied, stranger = new(), new(), new(cluster="beta", hosts=("b1",))
    far = new(start=(NOW - 1000) * 1000)  # cc-backend accepts milliseconds
    for r in (foreign, denied, stranger, far):
        f.api("POST", "jobs/start_job/", {
            "jobId": r.job, "cluster": r.cluster, "user": "u1", "numNodes": 1,
            "startTime": r.start, "resources": [{"hostname": r.hosts[0]}]})
    f.commit_now()
    (_, text), rows = s.verb("CTL_SYNC", flags=2)
    c.true("sync --dry-run shows what is open there and unknown here", any(
        str(foreign.job) in r[1] for r in rows), (text, rows))
    c.soon("Slurm is asked for it", lambda: foreign.key() in s.asked and denied.key() in s.asked, 12)
    c.true("another's cluster is not touched", stranger.key() not in s.asked)
    c.true("a start in milliseconds is in no lookup", far.key() not in s.asked)
    s.deny(denied, *mine[:3])
    time.sleep(3)
    s.deny(denied, *mine[:3])
    through("what accounting knows the end of is stopped", f, s, [foreign], 15)
    c.true("with its true time", f.jobs()[foreign.key()]["duration"] == 60)
    time.sleep(3)
    c.true("two denials within the hour end nothing", f.effects(denied) == ["start"] and all(
        f.effects(r) == ["start"] for r in mine), [f.effects(r) for r in mine])

    # listings that fail, or are cut in the middle, mean nothing
    for action in ("truncate", "garbage", "html", "wrong-length", "reset"):
        f.fault(match="jobs", action=action, count=-1)
        s.asked.clear()
        time.sleep(3)
        c.true("a listing with %s: nobody is missed" % action, not set(r.key() for r in mine) &
               set(s.asked), s.asked)
        f.well()

    # restored from an older database: what is open is started again
    f.stop()
    with open(f.ledger, encoding="utf-8") as led:
        lines = led.readlines()
    gone = {r.key() for r in mine[:3]}
    with open(f.ledger, "w", encoding="utf-8") as led:
        led.writelines(l for l in lines if (json.loads(l).get("cluster"), json.loads(l)["jobId"],
                                            json.loads(l)["startTime"]) not in gone)
    s.asked.clear()
    f.start()
    c.soon("cc-backend restored from an older database: Slurm is asked for what it lost",
           lambda: gone <= set(s.asked), 25, lambda: s.asked)
    c.true("nothing is ended by that", all(f.effects(r) == ["start"] for r in mine[3:]))
    s.tell(*mine[:2])
    whole_soon("what slurmctld shows is started again", f, mine[:2], 15, ["start"])
    time.sleep(2)
    c.true("what it does not show is not", f.effects(mine[2]) == [])
    through("and all end as they should", f, s, mine[:2] + mine[3:], 25)
    end(f, s)


def many():
    """Pages of running jobs, while others start and end."""
    n = 20000 if LONG else 2500
    f, s = world(commit=1, conf={"ccPollInterval": 3})
    runs = [new(start=NOW - 100000 + i % 5000) for i in range(n)]
    for i in range(0, n, 500):
        s.tell(*runs[i:i + 500], wait=0)
    s.is_stored(60)
    c.soon("%d running jobs are seen committed" % n, lambda: s.number("open") == n and
           s.number("compared_runs") == n, 120, s.status)
    short = [new(end=NOW - 100) for _ in range(200)]
    s.tell(*short)
    whole_soon("200 short ones come and go between the pages", f, short, 40)
    # each page late, and meanwhile the newest end: rows slip to pages read before
    f.fault(match="jobs", action="delay", delayMs=500, count=-1)
    for run in runs[-60:]:
        s.tell(run.ended())
        time.sleep(0.1)
    whole_soon("60 of the newest end while pages are read", f, runs[-60:], 30)
    f.well()
    c.true("nobody is missed", not set(s.asked), s.asked[:5])
    through("all are ended", f, s, runs[:500], 60)
    end(f, s)


GROUPS = {g.__name__: g for g in (answers, poison, line, nats_mode, tls, names, transport, limit,
                                  outages, race, order, versions, reconcile, many)}

if __name__ == "__main__":
    for group in sys.argv[1:]:
        GROUPS[group]()
    sys.exit(1 if c.failed else 0)
