#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Plays supervisor and collector to a submitter, and keeps a stand-in beside it.

With it a test hands over runs as the collector does, without a Slurm, and sees
what becomes of them: in the spool's answers, by the submitter's own verbs and
in the ledger of the stand-in cc-backend.  Numbers of messages and keys are
read from the headers, so that this speaks what the programs speak.

Environment: CSA_INST, CSA_BUILD as in lib.sh; T, the test's folder.
"""
import array
import collections
import fcntl
import json
import os
import re
import signal
import socket
import struct
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
sys.path.insert(0, HERE)
import lib  # noqa: E402

INST, BUILD = os.environ.get("CSA_INST", ""), os.environ.get("CSA_BUILD", "")
SUBMITTER = INST + "/libexec/cc-slurm-adapter/submitter"
FAKE = BUILD + "/tests/fake/fake-cc-backend"
HEADER = struct.Struct("=HHIQ")
HAS_START, HAS_THREADS, HAS_ACCELS, MORE, LIVE, PARTIAL = 1, 2, 4, 8, 16, 64
ALL_SEALS = 0xf     # SEAL, SHRINK, GROW, WRITE
RETRY, REJECTED_FLAG, ALL = 2, 1, 32


def text_of(path):
    with open(os.path.join(TOP, path), encoding="utf-8") as f:
        return re.sub(r"/\*.*?\*/", "", f.read(), flags=re.S)


def enum(path, first, prefix):
    """Names of an enum, numbered, from the member `first` on."""
    body = text_of(path)
    body = body[body.index(first):]
    names = re.findall(r"\b%s\w+" % prefix, body[:body.index("}")])
    return {n: i for i, n in enumerate(names)}


MSG = enum("common/model/msg.h", "MSG_SANDBOX", "MSG_")
ROLE = enum("common/model/msg.h", "ROLE_SUPERVISOR", "ROLE_")
END = enum("common/model/job.h", "END_NOT", "END_")
VERB = enum("common/model/ctl.h", "CTL_STATUS", "CTL_")
TABLE = enum("common/model/ctl.h", "CTL_T_STATUS", "CTL_T_")
KEYS = {name: i for i, name in enumerate(
    re.findall(r'^KEY\(\w+, "(\w+)"', text_of("common/model/conf_keys.h"), flags=re.M))}
# what travels in the sealed memory: values of the first, files' contents of the second
SECRET_KEYS = set(re.findall(r'^KEY\(\w+, "(\w+)", SECRET,', text_of("common/model/conf_keys.h"),
                             flags=re.M))
FILE_KEYS = set(re.findall(r'^KEY\(\w+, "(\w+)", (?:SECRET_)?FILE,', text_of("common/model/conf_keys.h"),
                           flags=re.M))
QUEUE_FIELDS = ("cluster", "job", "start", "what", "to", "tries", "due", "state", "reason")


def blob(b):
    return struct.pack("=I", len(b)) + b


def text(s):
    return blob(s.encode("utf-8", "surrogateescape"))


def key_bytes(cluster, job, start):
    return text(cluster) + struct.pack("=Qq", job, start)


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, fmt):
        s = struct.Struct("=" + fmt)
        v = s.unpack_from(self.data, self.at)
        self.at += s.size
        return v[0] if len(v) == 1 else v

    def text(self):
        n = self.take("I")
        s = self.data[self.at:self.at + n]
        self.at += n
        return s.decode("utf-8", "replace")

    def key(self):
        return self.text(), self.take("Q"), self.take("q")

    def open_key(self):
        key = self.key()
        self.take("q")  # the submission
        return key


class Run:
    """One run as the collector would tell it; what is not said is ordinary."""

    def __init__(self, job, start, end=0, state="END_COMPLETED", cluster="alpha", hosts=("n1",),
                 threads=((0, 3),), name="test", user="u1", script="#!/bin/sh\n", **more):
        self.job, self.start, self.end, self.cluster = job, start, end, cluster
        self.state = state if end else "END_NOT"
        self.hosts, self.threads = hosts, threads
        self.name, self.user, self.script, self.more = name, user, script, more

    def key(self):
        return self.cluster, self.job, self.start

    def ended(self, after=60, state="END_COMPLETED"):
        self.end, self.state = self.start + after, state
        return self

    def bytes(self):
        flags = self.more.get("flags", HAS_START | HAS_THREADS | HAS_ACCELS |
                              (0 if self.end else LIVE))
        cpus = sum(b - a + 1 for a, b in self.threads) * len(self.hosts)
        out = [b"\x01", key_bytes(*self.key()), struct.pack(
            "=IqqBBIQIQIIIIqQi", flags, self.more.get("submit", self.start - 10), self.end,
            END[self.state], self.more.get("shared", 3), self.more.get("restarts", 0), 0, 0, 0, 0,
            self.more.get("nodes", len(self.hosts)), self.more.get("cpus", cpus), 0,
            self.more.get("walltime", 3600), 0, self.more.get("code", 0) if self.end else -1)]
        for t in (self.user, self.more.get("account", "p1"), self.more.get("partition", "main"),
                  self.more.get("qos", ""), self.more.get("reservation", ""), self.name,
                  self.script, self.more.get("info", "JobId=%d" % self.job),
                  self.more.get("reason", ""), "", ""):
            out.append(text(t))
        out.append(struct.pack("=I", len(self.hosts)))
        for h in self.hosts:
            out += [text(h), struct.pack("=HHHI", 2, 4, 2, len(self.threads))]
            out += [struct.pack("=II", a, b) for a, b in self.threads]
            gpus = self.more.get("gpus", ())
            out.append(struct.pack("=I", len(gpus)))
            out += [text(g) for g in gpus]
        return b"".join(out)


class Link:
    """One end of a channel: frames out at once, frames in by a thread."""

    def __init__(self, sock, handler):
        self.sock, self.handler, self.closed = sock, handler, threading.Event()
        self.lock = threading.Lock()
        threading.Thread(target=self.read, daemon=True).start()

    def send(self, name, payload=b"", fd=None, ident=0):
        head = HEADER.pack(MSG[name], 1 if fd is not None else 0, len(payload), ident)
        with self.lock:
            try:
                if fd is None:
                    self.sock.sendall(head + payload)
                    return
                sent = self.sock.sendmsg([head + payload], [(
                    socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [fd]))])
                self.sock.sendall((head + payload)[sent:])
            except OSError:
                pass    # it died: the test notices by other means

    def exactly(self, n):
        data = b""
        while len(data) < n:
            more = self.sock.recv(n - len(data))
            if not more:
                raise EOFError
            data += more
        return data

    def read(self):
        names = {v: k for k, v in MSG.items()}
        try:
            while True:
                kind, _, length, ident = HEADER.unpack(self.exactly(HEADER.size))
                self.handler(names.get(kind, "?"), ident, Reader(self.exactly(length)))
        except (EOFError, OSError):
            self.closed.set()


class Submitter:
    """The process, its folder with the spool, and what it has told so far."""

    def __init__(self, folder, conf, token="", level=4, log=None, env=None):
        self.folder, self.conf, self.token, self.level = folder, dict(conf), token, level
        self.log = log or folder + ".log"
        self.env = env or {}
        self.pid, self.generation = None, 0
        self.cond = threading.Condition()
        os.makedirs(folder, mode=0o700, exist_ok=True)
        self.seq = self.stored = 0

    # --- its life

    def start(self, wait=True):
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        self.said, self.rows, self.ends = collections.Counter(), {}, {}
        self.asked, self.running, self.cursors, self.flow = [], [], {}, 0
        self.seq = self.stored = 0
        out = os.open(self.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        env = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8", **self.env}
        self.pid = os.posix_spawn(SUBMITTER, ["submitter", "-d", str(self.level)], env, file_actions=[
            (os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0),
            (os.POSIX_SPAWN_DUP2, out, 2), (os.POSIX_SPAWN_DUP2, theirs.fileno(), 3)])
        os.close(out)
        theirs.close()
        self.link = Link(ours, self.on_supervisor)
        self.link.send("MSG_SANDBOX", struct.pack("=BBBIIH", ROLE["ROLE_SUBMITTER"], 0, 0, 0, 0, 0) +
                       b"\x01" + text(self.folder) + struct.pack("=QQQH", 256, 2**64 - 1, 2**64 - 1, 1) +
                       bytes([7]) + text(self.folder) + self.ports())
        self.configure()
        if not wait:
            return self
        if not self.wait(lambda: self.said["MSG_READY"], 10):
            raise RuntimeError("the submitter does not start; see " + self.log)
        self.files()
        return self.meet()

    def ports(self):
        """The TCP ports of the sandbox, as the supervisor derives them."""
        urls = [self.conf.get("ccRestUrl") or ""]
        servers = re.split(r"[, ]+", self.conf.get("natsServer") or "")
        found = [53] + [int(p) for u in urls + servers for p in re.findall(r":(\d+)(?:/|$)", u)]
        found.append(int(self.conf.get("natsPort") or 4222))
        return struct.pack("=H%dH" % len(found), len(found), *found)

    def configure(self, **changes):
        """Sends the configuration as a reload does; waits for conf-ok, puts it in force."""
        self.conf.update(changes)
        self.generation += 1
        for name, value in self.conf.items():
            if name in SECRET_KEYS | FILE_KEYS or value is None:
                continue
            value = value if isinstance(value, str) else json.dumps(value)
            self.link.send("MSG_CONF", struct.pack("=H", KEYS[name]) + text(value))
        fd = os.memfd_create("secrets", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        secrets = {"ccRestJwt": self.token}
        for name, value in self.conf.items():
            if value and name in FILE_KEYS:
                with open(value, encoding="utf-8") as f:
                    secrets[name] = f.read()
            elif name in SECRET_KEYS:
                secrets[name] = value
        for name, value in secrets.items():
            os.write(fd, struct.pack("=H", KEYS[name]) + text(value))
        fcntl.fcntl(fd, 1033, ALL_SEALS)    # F_ADD_SEALS
        self.link.send("MSG_SECRETS", fd=fd)
        os.close(fd)
        ok, bad = self.said["MSG_CONF_OK"], self.said["MSG_CONF_BAD"]
        self.link.send("MSG_CONF_END", struct.pack("=I", self.generation))
        self.wait(lambda: self.said["MSG_CONF_OK"] > ok or self.said["MSG_CONF_BAD"] > bad, 10)
        if self.said["MSG_CONF_BAD"] > bad:
            return False
        self.link.send("MSG_CONF_COMMIT", struct.pack("=I", self.generation))
        return True

    def files(self):
        """Hands over resolv.conf and hosts as the supervisor does."""
        for which, path in ((1, self.conf_file("resolv.conf")), (2, self.conf_file("hosts"))):
            with open(path, "rb") as f:
                self.link.send("MSG_FILE", bytes([which]) + blob(f.read()))

    def conf_file(self, name):
        mine = self.folder + "." + name
        return mine if os.path.exists(mine) else "/etc/" + name

    def meet(self):
        """A collector appears: it gets cursors and open runs first."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        self.met = False
        self.peer = Link(ours, self.on_submitter)
        self.link.send("MSG_PEER", bytes([ROLE["ROLE_COLLECTOR"]]), theirs.fileno(), ident=1)
        theirs.close()
        if not self.wait(lambda: self.met, 10):
            raise RuntimeError("the submitter does not tell what is open")
        return self

    def kill(self, sig=signal.SIGKILL):
        if self.pid is None:
            return None
        os.kill(self.pid, sig)
        _, status = os.waitpid(self.pid, 0)
        self.pid = None
        return status

    def gone(self, seconds=5):
        """Its wait status once it has ended by itself, or None."""
        end = time.monotonic() + seconds * lib.PATIENCE
        while time.monotonic() < end:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.pid = None
                return status
            time.sleep(0.02)
        return None

    def stop(self):
        self.link.send("MSG_STOP", struct.pack("=I", 2000))
        status = self.gone(5)
        if status is None:
            self.kill()
        return status

    def alive(self):
        if self.pid is None:
            return False
        pid, _ = os.waitpid(self.pid, os.WNOHANG)
        if pid:
            self.pid = None
        return not pid

    # --- what it says

    def wait(self, true, seconds):
        end = time.monotonic() + seconds * lib.PATIENCE
        with self.cond:
            while not true():
                if time.monotonic() >= end or self.link.closed.is_set():
                    return bool(true())
                self.cond.wait(0.1)
        return True

    def on_supervisor(self, name, ident, r):
        with self.cond:
            self.said[name] += 1
            if name == "MSG_CTL_ROW":
                table, n = r.take("B"), r.take("B")
                self.rows.setdefault(ident, []).append((table, [r.text() for _ in range(n)]))
            elif name == "MSG_CTL_END":
                self.ends[ident] = r.take("B"), r.text()
            elif name == "MSG_CONF_BAD":
                r.take("I")
                self.bad = r.text()
            self.cond.notify_all()

    def on_submitter(self, name, _, r):
        with self.cond:
            if name == "MSG_RECORD_ACK":
                self.stored = r.take("Q")
            elif name == "MSG_RESUME_FROM":
                cluster = r.text()
                self.cursors[cluster] = r.take("q")
            elif name == "MSG_OPEN_RUNS":
                last = bool(r.take("B") & 1)
                self.met = self.met or last
                self.running += [r.open_key() for _ in range(r.take("I"))]
            elif name == "MSG_LOOKUP":
                cluster, _ask = r.text(), r.take("Q")
                self.asked += [r.key() for _ in range(r.take("I"))]
            elif name == "MSG_FLOW":
                self.flow = r.take("B")
            self.cond.notify_all()

    # --- what it is told

    def tell(self, *runs, wait=10):
        """Hands over records; True when they are stored."""
        for run in runs:
            self.seq += 1
            self.peer.send("MSG_RECORD", struct.pack("=Q", self.seq) + run.bytes())
        return not wait or self.is_stored(wait)

    def mark(self, until, cluster="alpha"):
        self.seq += 1
        self.peer.send("MSG_WATERMARK", struct.pack("=Q", self.seq) + text(cluster) +
                       struct.pack("=Bq", 1, until))
        return self.is_stored(5)

    def deny(self, *runs, cluster="alpha"):
        self.seq += 1
        self.peer.send("MSG_NOT_FOUND", struct.pack("=Q", self.seq) + text(cluster) +
                       struct.pack("=QI", 1, len(runs)) +
                       b"".join(key_bytes(*run.key()) for run in runs))
        return self.is_stored(5)

    def is_stored(self, seconds):
        want = self.seq
        return self.wait(lambda: self.stored >= want, seconds)

    def verb(self, verb, flags=0, ids=(), limit=0, seconds=10, a=0, b=0):
        ident = self.generation * 100000 + len(self.ends) + 1
        body = struct.pack("=IHHIIqqII", 0x4343534c, 1, VERB[verb], flags, limit, a, b, len(ids), 0)
        body += struct.pack("=64Q", *(list(ids) + [0] * (64 - len(ids)))) + bytes(512)
        self.link.send("MSG_CTL", body, ident=ident)
        self.wait(lambda: ident in self.ends, seconds)
        return self.ends.get(ident, (1, "no answer")), self.rows.pop(ident, [])

    def status(self):
        _, rows = self.verb("CTL_STATUS")
        return {f[1]: f[2] for _, f in rows}

    def number(self, key):
        return int(self.status().get(key, -1))

    def queue(self, rejected=False):
        _, rows = self.verb("CTL_QUEUE", REJECTED_FLAG if rejected else 0, limit=100000)
        return [dict(zip(QUEUE_FIELDS, f)) for t, f in rows if t == TABLE["CTL_T_QUEUE"]]

    def logged(self, pattern):
        with open(self.log, encoding="utf-8", errors="replace") as f:
            return len(re.findall(pattern, f.read()))


class Fake:
    """The stand-in, with its ledger and faults."""

    def __init__(self, folder, port=None, commit=1.0, clusters="alpha=n[1-4]", options=()):
        self.folder, self.commit, self.clusters = folder, commit, clusters
        self.options, self.port = list(options), port or lib.free_ports(1)
        self.ledger, self.token_file = folder + "/ledger", folder + "/token"
        self.scheme = "https" if "--tls" in self.options else "http"
        os.makedirs(folder, exist_ok=True)
        self.proc = None

    def url(self):
        return "%s://127.0.0.1:%d" % (self.scheme, self.port)

    def start(self, *more):
        with open(self.folder + "/log", "ab") as log:
            self.proc = subprocess.Popen(
                [FAKE, "--port", str(self.port), "--commit", str(self.commit), "--clusters",
                 self.clusters, "--token-file", self.token_file, "--ledger", self.ledger,
                 *self.options, *more],
                stdout=log, stderr=log)
        for _ in range(100):
            if lib.http("GET", self.url() + "/fake/stats")[0] == 200:
                break
            time.sleep(0.05)
        else:
            raise RuntimeError("the stand-in does not answer; see %s/log" % self.folder)
        self.token = lib.read_token(self.token_file)
        return self

    def stop(self):
        if self.proc:
            self.proc.kill()
            self.proc.wait()
            self.proc = None

    def call(self, method, what, body=None):
        status, answer = lib.http(method, self.url() + what,
                                  None if body is None else json.dumps(body))
        if status != 200:
            raise RuntimeError("%s: %d %s" % (what, status, answer))
        return answer

    def fault(self, **what):
        self.call("POST", "/fake/faults", what)

    def hits(self):
        return sum(f["hits"] for f in json.loads(self.call("GET", "/fake/faults")))

    def well(self):
        self.call("DELETE", "/fake/faults")

    def commit_now(self):
        self.call("POST", "/fake/commit")

    def stats(self):
        return json.loads(self.call("GET", "/fake/stats"))

    def requests(self):
        return self.stats()["connections"]["requests"]

    def api(self, method, path, body=None):
        return lib.http(method, self.url() + "/api/" + path,
                        None if body is None else json.dumps(body), self.token)

    def jobs(self):
        return {(j["cluster"], j["jobId"], j["startTime"]): j
                for j in json.loads(self.call("GET", "/fake/jobs"))}

    def lines(self):
        try:
            with open(self.ledger, encoding="utf-8") as f:
                # read at once: a line may be completed between two reads
                text = f.read()
        except FileNotFoundError:
            return []
        return [json.loads(line) for line in text.split("\n")[:-1]]

    def effects(self, run=None, late=False):
        """Effects in order, of one run or of all; without late knowledge, unless asked for."""
        return [e["effect"] for e in self.lines() if "jobId" in e and
                (late or e["effect"] != "edit_meta") and
                (run is None or (e["cluster"], e["jobId"], e["startTime"]) == run.key())]


class Checks:
    """Says and counts what was seen, as `is` of lib.sh does."""

    def __init__(self):
        self.failed = 0

    def say(self, *words):
        print("  ", *words, flush=True)

    def true(self, what, good, seen=None):
        self.failed += not good
        print("   %-7s %s%s" % ("ok" if good else "FAILED", what,
                                "" if good or seen is None else ": %r" % (seen,)), flush=True)
        return good

    def soon(self, what, true, seconds, seen=None):
        return self.true(what, until(true, seconds), seen() if seen else None)


def until(true, seconds):
    end = time.monotonic() + seconds * lib.PATIENCE
    while not true():
        if time.monotonic() >= end:
            return bool(true())
        time.sleep(0.05)
    return True
