#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""NATS beside REST, with the broker in every kind of trouble: broker.py GROUP

As delivery.py: the submitter alone.  Whatever the broker does, REST must not
notice; what JetStream has not acknowledged stays in the spool.
"""
import collections
import importlib.machinery
import importlib.util
import json
import os
import random
import re
import signal
import socket
import sys
import threading
import time

import backends
import delivery
from delivery import NOW, T, c, end, new, rejected, submitter, whole_soon
from fake_collector import (HAS_ACCELS, HAS_START, HAS_THREADS, MORE, PARTIAL, Fake, Run,
                            Submitter, until)

loader = importlib.machinery.SourceFileLoader(
    "lab_nats", os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "lab", "nats"))
lab = importlib.util.module_from_spec(importlib.util.spec_from_loader("lab_nats", loader))
loader.exec_module(lab)
random.seed(int(os.environ.get("CSA_SEED", "6")))


def world(name, broker, **conf):
    f = Fake("%s/%s.fake" % (T, name), commit=1).start()
    return f, submitter(f, name, natsServer="127.0.0.1", natsPort=broker.port, **conf)


def starts(client, runs):
    return [r.job for r in runs if len(client.has(r.job, "start_job")) == 1]


def core():
    b = lab.Broker(T, "")
    client = lab.Client(b.port)
    f, s = world("core", b)
    c.soon("connected", lambda: "up" in s.status()["nats"] or "connected" in s.status()["nats"], 10,
           lambda: s.status().get("nats"))
    runs = [new() for _ in range(10)]
    s.tell(*runs)
    whole_soon("REST has it", f, runs, 10, ["start"])
    c.soon("NATS too, once each", lambda: len(starts(client, runs)) == 10, 10)
    delivery.through("and their stops", f, s, runs, 15)
    c.soon("by NATS too", lambda: all(len(client.has(r.job, "stop_job")) == 1 for r in runs), 10)
    everyone = list(runs)

    b.signal(signal.SIGSTOP)
    runs = [new() for _ in range(10)]
    t0 = time.time()
    s.tell(*runs)
    whole_soon("the broker stopped: REST does not notice", f, runs, 8, ["start"])
    c.say("after %.1f s" % (time.time() - t0))
    delivery.through("nor its stops", f, s, runs, 15)
    c.true("status answers: " + s.status()["nats"], True)
    b.signal(signal.SIGCONT)
    everyone += runs
    runs = [new() for _ in range(3)]
    s.tell(*runs)
    c.soon("continued: new ones come by NATS", lambda: len(starts(client, runs)) == 3, 60,
           lambda: s.status()["nats"])
    everyone += runs

    b.signal(signal.SIGKILL)
    runs = [new() for _ in range(10)]
    s.tell(*runs)
    whole_soon("killed: REST does not notice", f, runs, 8, ["start"])
    c.soon("status says so", lambda: "no connection" in s.status()["nats"], 15, lambda: s.status()["nats"])
    # the submitter pauses until the subscriber is there: core NATS keeps nothing for a later one
    os.kill(s.pid, signal.SIGSTOP)
    b.start()
    client = lab.Client(b.port)
    os.kill(s.pid, signal.SIGCONT)
    more = [new() for _ in range(3)]
    s.tell(*more)
    c.soon("started again: new ones come by NATS", lambda: len(starts(client, more)) == 3, 60,
           lambda: s.status()["nats"])
    missing = 10 - len(starts(client, runs))
    c.true("of those meanwhile %d came later; the rest is counted (%s unsure)" % (
        10 - missing, s.status()["nats_unsure"]), missing <= s.number("nats_unsure") +
        s.number("nats_waiting"), s.status())
    everyone += runs + more
    delivery.through("REST has all, once each", f, s, everyone, 30)
    end(f, s)
    b.end()


def refused():
    b = lab.Broker(T, 'authorization: {users: [{user: csa, password: pw, permissions: '
                      '{publish: {deny: ["jobs"]}}}]}')
    f, s = world("refused", b, natsUser="csa", natsPassword="pw")
    runs = [new() for _ in range(10)]
    s.tell(*runs)
    whole_soon("permission refused: REST does not notice", f, runs, 8, ["start"])
    c.soon("it is said", lambda: s.logged("(?i)permission"), 15, lambda: s.status()["nats"])
    lines = s.logged("(?i)permission")
    delivery.through("nor its stops", f, s, runs, 15)
    c.true("not a line for each (%d)" % lines, s.logged("(?i)permission") <= 12)
    end(f, s)
    b.end()

    b = lab.Broker(T, "max_payload: 8192")
    client = lab.Client(b.port)
    f, s = world("big", b)
    big = new(script="#!/bin/sh\n" + "x" * 60000)
    small = new()
    s.tell(big, small)
    whole_soon("too large for the broker: REST has it", f, [big, small], 8, ["start"])
    body = [e["body"] for e in f.lines() if e["jobId"] == big.job][0]
    c.true("in full", len(body["metaData"]["jobScript"]) > 59000)
    c.soon("NATS has it, with its script shortened", lambda: len(starts(client, [big, small])) == 2, 10,
           lambda: s.status()["nats"])
    c.true("(within the broker's limit)", all(len(m) <= 8192 for m in client.messages))
    delivery.through("both end", f, s, [big, small], 15)
    end(f, s)
    b.end()


class Slow:
    """A way to the broker on which so many bytes go in a second."""

    def __init__(self, port, rate):
        self.to, self.rate, self.s = port, rate, socket.create_server(("127.0.0.1", 0))
        self.port = self.s.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            a = self.s.accept()[0]
            b = socket.create_connection(("127.0.0.1", self.to))
            for pair in ((a, b), (b, a)):
                threading.Thread(target=self.carry, args=pair, daemon=True).start()

    def carry(self, source, sink):
        try:
            while True:
                data = source.recv(self.rate // 10)
                sink.sendall(data)
                if not data:
                    sink.shutdown(socket.SHUT_WR)
                    return
                time.sleep(len(data) / self.rate)
        except OSError:
            pass


def slow():
    b = lab.Broker(T, 'jetstream: {store_dir: "%s/slow-js"}' % T)
    client = lab.Client(b.port, subject="nothing")
    client.ask("$JS.API.STREAM.CREATE.JOBS", json.dumps({
        "name": "JOBS", "subjects": ["jobs"], "storage": "file", "num_replicas": 1,
        "duplicate_window": 7200 * 10**9}))
    f, s = world("slow", Slow(b.port, 20000), natsJetStream=True)
    runs = [new(script="x" * 3000) for _ in range(100)]
    t0 = time.time()
    s.tell(*runs)
    delivery.through("a slow broker: REST does not notice", f, s, runs, 20)
    rest = time.time() - t0
    waits = s.number("nats_waiting")
    c.true("(REST was done after %.1f s, %d messages still wait)" % (rest, waits), waits > 0)
    c.soon("the stream has it all in the end", lambda: s.number("nats_waiting") == 0 and
           s.number("spool_runs") == 0, 150, s.status)
    c.say("after %.1f s" % (time.time() - t0))
    got = in_stream(lab.Client(b.port, subject="nothing"))
    want = {(r.job, k) for r in runs for k in ("start_job", "stop_job")}
    c.true("each event once", set(got) == want and max(got.values()) == 1,
           (len(got), sorted(want - set(got))[:5]))
    end(f, s)
    b.end()


def alone():
    """NATS only: a stop goes no sooner than the commit age behind its start."""
    b = lab.Broker(T, "")
    client = lab.Client(b.port)
    commit = 4
    s = Submitter(T + "/alone.spool", {
        "ccRestSubmitJobs": False, "ccCommitInterval": commit, "natsServer": "127.0.0.1",
        "natsPort": b.port}, log=T + "/log/suite.alone").start()
    s.mark(NOW)
    c.soon("connected", lambda: "up" in s.status()["nats"] or "connected" in s.status()["nats"], 10)
    ended, both = [new(end=NOW - 10) for _ in range(20)], new()
    s.tell(*ended, both)
    c.soon("the starts come", lambda: len(starts(client, ended + [both])) == 21, 10)
    began = time.time()
    s.tell(both.ended())
    def stops():
        return [r for r in ended + [both] if client.has(r.job, "stop_job")]
    time.sleep(commit - 1)
    c.true("no stop before the commit age", not stops(), stops())
    c.soon("then all of them", lambda: len(stops()) == 21, 20, lambda: (
        len(client.messages), [r.job for r in ended + [both] if r not in stops()], s.status()))
    c.true("after %.1f s" % (time.time() - began), time.time() - began >= commit - 0.5)
    c.true("each once", all(len(client.has(r.job, k)) == 1 for r in ended + [both]
                            for k in ("start_job", "stop_job")))
    c.true("it ends when told", s.stop() == 0)
    b.end()


def destinations():
    """ccRestSubmitJobs and natsServer change while runs are open: none is left behind."""
    b = lab.Broker(T, "")
    client = lab.Client(b.port)
    f = Fake(T + "/destinations.fake", commit=1).start()
    nats = {"natsServer": "127.0.0.1", "natsPort": b.port}
    s = submitter(f, "destinations", url=f.url(), ccRestSubmitJobs=False, **nats)
    runs = [new() for _ in range(6)]
    late, last = runs[:2], runs[2:]
    s.tell(*runs)
    c.soon("NATS alone: it has the starts", lambda: len(starts(client, runs)) == 6, 10)
    answer = f.api("POST", "jobs/start_job/", {
        "jobId": late[0].job, "cluster": "alpha", "startTime": late[0].start, "user": "u1",
        "shared": "none", "numNodes": 1, "resources": [{"hostname": "n1"}]})
    c.true("cc-backend has one of them", answer[0] == 201, answer)
    f.commit_now()
    s.configure(ccRestSubmitJobs=True)
    whole_soon("REST is added: cc-backend gets the others, and that one once", f, runs, 20, ["start"])
    s.configure(ccRestSubmitJobs=False)
    s.tell(*[r.ended() for r in late])
    c.soon("REST is removed: the stops go by NATS",
           lambda: all(client.has(r.job, "stop_job") for r in late), 20, s.status)
    c.soon("and nothing waits for REST", lambda: s.number("spool_runs") == len(last), 10, s.status)
    c.true("cc-backend got no stop by REST", all(f.effects(r) == ["start"] for r in late))
    c.true("the submitter ends when told", s.stop() == 0)
    s.conf.update(ccRestSubmitJobs=True, natsServer="")
    s.start()
    delivery.through("a restart with REST alone: the stops of the others", f, s, last, 30)
    c.soon("and nothing waits for NATS", lambda: s.number("spool_runs") == 0, 10, s.status)
    c.true("nothing is rejected", not rejected(s))
    end(f, s)
    b.end()


def replaced():
    """Another program has started runs by REST and NATS: it is replaced while they run."""
    b = lab.Broker(T, "")
    client = lab.Client(b.port)
    f = backends.backend(T + "/replaced", commit=2)
    runs = [new() for _ in range(6)]
    for r in runs:
        answer = f.api("POST", "jobs/start_job/", {
            "jobId": r.job, "cluster": "alpha", "user": r.user, "project": "p1", "startTime": r.start,
            "numNodes": 1, "resources": [{"hostname": "n1", "hwthreads": [0, 1, 2, 3]}]})
        c.true("a start by hand", answer[0] == 201, answer)
    f.commit_now()
    s = Submitter(T + "/replaced.spool", {
        "ccRestUrl": f.url(), "ccCommitInterval": 2, "natsServer": "127.0.0.1", "natsPort": b.port},
        f.token, log=T + "/log/suite.replaced").start()
    s.tell(runs[0])
    s.mark(NOW)
    c.soon("the first list has them, before most records", lambda: s.logged("first list of alpha: 6 jobs"), 20)
    fresh = new()
    s.tell(*runs[1:4], fresh)
    s.tell(*[r.ended() for r in runs[4:]])
    s.tell(*[r.ended() for r in runs[:4] + [fresh]])
    c.soon("NATS has the stop of each", lambda: all(
        len(client.has(r.job, "stop_job")) == 1 for r in runs + [fresh]), 30, s.status)
    c.true("and the start of the new one alone", starts(client, runs + [fresh]) == [fresh.job])
    c.soon("cc-backend has all ends", lambda: all(
        f.jobs().get(r.key(), {}).get("jobState") == "completed" for r in runs + [fresh]), 40, s.status)
    c.soon("nothing is left in the spool", lambda: s.number("spool_runs") == 0, 10, s.status)
    c.true("it ends when told", s.stop() == 0)
    f.stop()
    b.end()


def stream_events(client):
    """Events of the stream in their order: (job, start, kind)."""
    state = client.ask("$JS.API.STREAM.INFO.JOBS").get("state", {})
    for seq in range(state.get("first_seq", 1), state.get("last_seq", 0) + 1):
        m = client.ask("$JS.API.STREAM.MSG.GET.JOBS", json.dumps({"seq": seq})).get("message", {})
        text = lab.ids.base64.b64decode(m.get("data", "")).decode("utf-8", "replace").replace("\\", "")
        kind = re.search(r"function=(\w+)", text)
        job = re.search(r'"jobId":(\d+)', text)
        start = re.search(r'"startTime":(\d+)', text)
        if kind and job and start:
            yield int(job.group(1)), int(start.group(1)), kind.group(1)


def in_stream(client):
    """Events of the stream: (job, kind) -> how often."""
    return collections.Counter((job, kind) for job, _, kind in stream_events(client))


def purge(client):
    """Removes all messages of the stream."""
    return client.ask("$JS.API.STREAM.PURGE.JOBS").get("success", False)


def kills_of_both(s, b, new, rounds):
    """Kills the submitter and stops or kills the broker while runs start and end."""
    everyone = []
    for _ in range(rounds):
        more = [new() for _ in range(random.randint(5, 60))]
        everyone += more
        s.tell(*more, wait=5)
        time.sleep(random.random() * 0.2)
        s.kill()
        s.start()
        s.mark(NOW)
        s.tell(*[r.ended() for r in more], wait=5)
        time.sleep(random.random() * 0.2)
        b.signal(random.choice((signal.SIGSTOP, signal.SIGKILL)))
        time.sleep(0.3)
        if b.process.poll() is None:
            b.signal(signal.SIGCONT)
        else:
            b.start()
    return everyone


def jetstream():
    b = lab.Broker(T, 'jetstream: {store_dir: "%s/js"}' % T)
    client = lab.Client(b.port, subject="nothing")
    made = client.ask("$JS.API.STREAM.CREATE.JOBS", json.dumps({
        "name": "JOBS", "subjects": ["jobs"], "storage": "file", "num_replicas": 1,
        "duplicate_window": 7200 * 10**9}))
    c.true("a stream", made.get("error") is None, made)
    f, s = world("js", b, natsJetStream=True)
    runs = [new() for _ in range(20)]
    s.tell(*runs)
    whole_soon("REST has it", f, runs, 10, ["start"])
    c.soon("the stream too", lambda: s.number("nats_waiting") == 0, 15, s.status)

    b.signal(signal.SIGKILL)
    away = [new() for _ in range(20)]
    s.tell(*away)
    t0 = time.time()
    delivery.through("the broker killed: REST does not notice", f, s, runs + away, 25)
    c.say("after %.1f s" % (time.time() - t0))
    c.true("what the stream has not acknowledged stays in the spool", s.number("spool_runs") >= 20 and
           s.number("nats_waiting") >= 20, s.status())
    s.kill()
    s.start()
    s.mark(NOW)
    c.true("also over a kill -9 of ours", s.number("nats_waiting") >= 20, s.status())
    b.start()
    c.soon("the broker is back: all is acknowledged", lambda: s.number("nats_waiting") == 0 and
           s.number("spool_runs") == 0, 90, s.status)
    everyone = runs + away
    everyone += kills_of_both(s, b, new, 6)
    c.soon("kills of both sides: all is acknowledged", lambda: s.number("nats_waiting") == 0 and
           s.number("spool_runs") == 0, 120, s.status)
    whole_soon("REST has each once", f, everyone, 30)
    client = lab.Client(b.port, subject="nothing")
    got = in_stream(client)
    want = {(r.job, k) for r in everyone for k in ("start_job", "stop_job")}
    c.true("the stream has each event once (%d)" % len(got), set(got) == want and
           max(got.values()) == 1, (sorted(want - set(got))[:5], [k for k in got if got[k] > 1][:5]))
    c.true("nothing is refused", not rejected(s))

    lower = client.ask("$JS.API.STREAM.INFO.JOBS")["config"]
    lower["max_msg_size"] = 8192
    lower = client.ask("$JS.API.STREAM.UPDATE.JOBS", json.dumps(lower))
    c.true("the stream gets a limit", lower.get("error") is None, lower)
    big = [new(script="#!/bin/sh\n" + "x" * 60000) for _ in range(3)]
    s.tell(*big)
    c.soon("a script that is too long is shortened: all is acknowledged",
           lambda: all((r.job, "start_job") in in_stream(client) for r in big) and
           s.number("nats_waiting") == 0, 30, s.status)
    c.true("and nothing is rejected", not rejected(s))
    end(f, s)
    b.end()


def record_stream(client):
    """Makes the stream of cluster alpha as the centre does."""
    return client.ask("$JS.API.STREAM.CREATE.CC_RECORD_alpha", json.dumps({
        "name": "CC_RECORD_alpha", "subjects": ["cc.record.alpha"], "storage": "file",
        "num_replicas": 1, "discard": "new", "duplicate_window": 120 * 10**9}))


def records(client):
    """The records in the stream of cluster alpha, in their order."""
    state = client.ask("$JS.API.STREAM.INFO.CC_RECORD_alpha").get("state", {})
    for seq in range(state.get("first_seq", 1), state.get("last_seq", 0) + 1):
        m = client.ask("$JS.API.STREAM.MSG.GET.CC_RECORD_alpha", json.dumps({"seq": seq})).get("message", {})
        if "data" in m:
            yield json.loads(lab.ids.base64.b64decode(m["data"]))


def record_is(record, run):
    """Is the record what the collector told of the run?"""
    return (record["schema"] == 1 and record["user"] == run.user and record["project"] == "p1" and
            record["hosts"] == [{"name": "n1", "threads": [[0, 3]], "shape": [2, 4, 2]}] and
            record["jobScript"] == run.script and record.get("stopTime", 0) in (0, run.end) and
            record["submitTime"] == run.start - 10)


def stream_holds(client, runs):
    """Wrong runs: a state that is missing, twice, in the wrong order or with other content."""
    found, wrong = collections.defaultdict(list), []
    for r in records(client):
        found[r["jobId"], r["startTime"]].append(r)
    for run in runs:
        got = found.pop((run.job, run.start), [])
        states = [r["jobState"] for r in got]
        revisions = [r["revision"] for r in got]
        if (states not in (["running", "completed"], ["completed"]) or revisions != sorted(set(revisions)) or
                not all(record_is(r, run) for r in got)):
            wrong.append((run.job, states, revisions))
    return wrong + list(found)


def whole():
    """deliver "stream": whole records, once per state, whatever happens to the broker and to us."""
    b = lab.Broker(T, 'jetstream: {store_dir: "%s/whole-js"}' % T)
    client = lab.Client(b.port, subject="nothing")
    s = Submitter(T + "/whole.spool", {
        "deliver": "stream", "clusters": ["alpha"], "natsServer": "127.0.0.1",
        "natsPort": b.port}, log=T + "/log/suite.whole").start()
    s.mark(NOW)
    first = [new() for _ in range(3)]
    s.tell(*first)
    c.soon("without a stream the runs stay in the spool, and status says so",
           lambda: "no stream has the subject" in s.status().get("stream_refuses", ""), 30, s.status)
    c.true("all of them", s.number("nats_waiting") == 3, s.status())
    made = record_stream(client)
    c.true("the stream is made", made.get("error") is None, made)
    c.soon("it has them", lambda: s.number("nats_waiting") == 0, 60, s.status)
    c.true("and accepts", s.status()["deliver"] == "stream, accepted", s.status())
    s.tell(*[r.ended() for r in first])
    c.soon("and their ends", lambda: s.number("spool_runs") == 0, 30, s.status)
    c.true("once per state, with the right content", not stream_holds(client, first),
           stream_holds(client, first))
    late = new(script="")
    s.tell(late)
    c.soon("a run without a script", lambda: s.number("nats_waiting") == 0, 30, s.status)
    late.script = "#!/bin/sh\nlater\n"
    s.tell(late)
    c.soon("its script comes: the record is there again", lambda: [
        r.get("jobScript") for r in records(client) if r["jobId"] == late.job] == [None, late.script], 30,
        lambda: list(records(client))[-2:])
    s.tell(late.ended())
    c.soon("and ends", lambda: s.number("spool_runs") == 0, 30, s.status)

    # its script comes after the end was published: a partial record
    after = new(script="", flags=HAS_START | HAS_THREADS | HAS_ACCELS | MORE, end=NOW - 10)
    s.tell(after)
    c.soon("a run without a script ends", lambda: s.number("spool_runs") == 0, 30, s.status)
    s.tell(Run(after.job, after.start, script="#!/bin/sh\nlast\n", flags=PARTIAL))
    c.soon("its script comes: a record with the script alone", lambda: [
        (r.get("flags"), r.get("jobScript"), r.get("hosts") is None)
        for r in records(client) if r["jobId"] == after.job][1:] ==
        [(["partial"], "#!/bin/sh\nlast\n", True)], 30, lambda: list(records(client))[-3:])

    # a full stream refuses; what it refuses stays
    size = client.ask("$JS.API.STREAM.INFO.CC_RECORD_alpha")["state"]["messages"]
    limited = {"name": "CC_RECORD_alpha", "subjects": ["cc.record.alpha"], "storage": "file",
               "num_replicas": 1, "discard": "new", "duplicate_window": 120 * 10**9, "max_msgs": size + 10}
    client.ask("$JS.API.STREAM.UPDATE.CC_RECORD_alpha", json.dumps(limited))
    runs = [new() for _ in range(50)]
    s.tell(*runs)
    c.soon("a full stream: status says so", lambda: "maximum" in s.status().get("stream_refuses", ""),
           30, s.status)
    c.true("40 runs stay", s.number("nats_waiting") == 40, s.status())
    s.kill()
    s.start()
    s.mark(NOW)
    c.true("also over a kill -9 of ours", s.number("nats_waiting") == 40, s.status())
    s.tell(*[r.ended() for r in runs])
    del limited["max_msgs"]
    client.ask("$JS.API.STREAM.UPDATE.CC_RECORD_alpha", json.dumps(limited))
    c.soon("it has room again: all is there", lambda: s.number("spool_runs") == 0, 90, s.status)
    c.true("(status: %s)" % s.status()["deliver"], s.status()["deliver"] == "stream, accepted")
    everyone = first + runs
    everyone += kills_of_both(s, b, new, 4)
    c.soon("kills of both sides: all is acknowledged", lambda: s.number("spool_runs") == 0, 120, s.status)
    client = lab.Client(b.port, subject="nothing")
    wrong = [w for w in stream_holds(client, everyone) if w[0] not in (late.job, after.job)]
    c.true("the stream has each run once per state, with the right content (%d runs)" % len(everyone),
           not wrong, wrong[:5])
    c.true("nothing is refused", not rejected(s))
    c.true("it ends when told", s.stop() == 0)
    b.end()


GROUPS = {g.__name__: g for g in (core, refused, slow, alone, destinations, replaced, jetstream,
                                        whole)}

if __name__ == "__main__":
    for group in sys.argv[1:]:
        GROUPS[group]()
    sys.exit(1 if c.failed else 0)
