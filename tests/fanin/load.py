# SPDX-License-Identifier: MIT
"""The load of many clusters on one centre, without their daemons.

A process publishes the records that the submitters of CLUSTERS clusters would
publish: RATE starts and RATE ends a second of each, each run LIFE seconds long.
Figures: memory and processor time of the centre, time from the publication of a
start to cc-backend.  Then cc-backend is away for a third of the time: processor
time from the stream to the spool alone.
"""
import collections
import json
import os
import re
import select
import ssl
import subprocess
import sys
import time

import world  # first: it sets the path
import brokers
import expected
import lib
from brokers import Client, wait

LIFE = 20
TICK = 0.02


def record(cluster, job, start, end=None):
    node, core = "n%d" % (1 + job % 4), job // 4 % 8
    r = {"schema": 1, "revision": int(time.time() * 1000), "cluster": cluster, "jobId": job, "startTime": start,
         "submitTime": start, "jobState": "completed" if end else "running", "numNodes": 1, "numHwthreads": 2,
         "walltime": 600, "user": "labalice", "project": "proj1", "partition": "main", "qos": "normal",
         "jobName": "load", "flags": ["hasStart", "hasThreads", "hasAccels"] + ([] if end else ["live"]),
         "hosts": [{"name": node, "threads": [[2 * core, 2 * core + 1]], "shape": [2, 4, 2]}]}
    if end:
        r["stopTime"] = end
        r["exitCode"] = 0
    else:
        r["jobState"] = "running"
    return json.dumps(r, separators=(",", ":"))


class Publisher(Client):
    """A client without a thread: threads of 200 clients would take the processor from what is measured."""
    acknowledged = refused = 0
    first = text = b""

    def loop(self):
        while self.pongs == 0 and self.take_one():
            pass

    def readable(self):
        data = self.raw.recv(65536)
        if not data:
            sys.exit("fanin: a broker closed a connection")
        self.s.taken.write(data)
        try:
            while True:
                self.f.text += self.s.tls.read(65536)
        except ssl.SSLWantReadError:
            pass
        while self.is_whole():
            self.take_one()
        for _, _, head, body in self.messages:
            if head or b'"error"' in body or b'"seq"' not in body:
                self.refused += 1
                self.first = self.first or body
            self.acknowledged += 1
        self.messages.clear()

    def is_whole(self):
        """A message is here to its end."""
        line, end, rest = self.f.text.partition(b"\r\n")
        return bool(end) and (b"MSG " not in line[:5] or len(rest) >= int(line.rsplit(b" ", 1)[1]) + 2)


def publish(folder, clusters, rate, seconds, first=1000):
    """In a process of its own: prints a line for each start, then the sum as JSON."""
    names = ["load%03d" % i for i in range(clusters)]
    clients = [Publisher(brokers.NAMES[i % 3] + brokers.DOMAIN, folder + "/tls/ca.pem", c, timeout=30)
               for i, c in enumerate(names)]
    by_socket, answers = {c.raw.fileno(): c for c in clients}, select.epoll()
    for fd in by_socket:
        answers.register(fd, select.EPOLLIN)
    starts, ends = open(folder + "/starts", "w", encoding="utf-8"), collections.deque()
    total, jobs, sent = int(rate * seconds), [0] * clusters, 0
    begin = time.time()

    def put(i, job, start, end=None):
        clients[i].publish("cc.record." + names[i], record(names[i], job, start, end), clients[i].inbox + ".ack",
                           {"Nats-Msg-Id": "%s:%d:%d:record:%d" % (names[i], job, start, end or 0)})

    def take(timeout):
        for fd, _ in answers.poll(timeout):
            by_socket[fd].readable()
    while any(j < total for j in jobs) or ends:
        now = time.time()
        for i in range(clusters):
            # clusters begin one after the other within a second
            while jobs[i] < total and begin + (jobs[i] + i / clusters) / rate <= now:
                job, start = first + jobs[i], int(now)
                starts.write("%s %d %d %.3f\n" % (names[i], job, start, time.time()))
                put(i, job, start)
                ends.append((now + LIFE, i, job, start))
                jobs[i] += 1
                sent += 1
        while ends and ends[0][0] <= now:
            _, i, job, start = ends.popleft()
            put(i, job, start, start + LIFE)
            sent += 1
        take(TICK)
    starts.close()
    until = time.time() + 60
    while sum(c.acknowledged for c in clients) < sent and time.time() < until:
        take(1)
    print(json.dumps({"sent": sent, "acknowledged": sum(c.acknowledged for c in clients),
                      "refused": sum(c.refused for c in clients),
                      "first": next((c.first.decode() for c in clients if c.refused), ""),
                      "seconds": time.time() - begin, "processor": time.process_time()}))


class Sampler:
    """Processor time and memory of the centre's processes."""
    def __init__(self, suite):
        self.suite, self.most = suite, 0

    def ticks(self):
        out = {}
        for role, pid in self.suite.pids().items():
            fields = brokers.read("/proc/%d/stat" % pid).rpartition(")")[2].split()
            out[role] = int(fields[11]) + int(fields[12])
        return out

    def others(self):
        """Seconds of the processes that are not the centre's, by name."""
        out = collections.Counter()
        for pid in [int(p) for p in os.listdir("/proc") if p.isdigit()]:
            try:
                head, _, rest = brokers.read("/proc/%d/stat" % pid).rpartition(")")
            except (FileNotFoundError, ProcessLookupError):
                continue
            name = head.partition("(")[2]
            if name == "nats-server" or "cc-backend" in name:
                out["brokers" if name == "nats-server" else "cc-backend"] += (
                    sum(int(n) for n in rest.split()[11:13]) / os.sysconf("SC_CLK_TCK"))
        return out

    def memory(self):
        """Sum of PSS in kB; the largest is kept."""
        pids = [self.suite.process.pid] + list(self.suite.pids().values())
        out = subprocess.run([sys.executable, world.SYS + "/lib.py", "pss"] + [str(p) for p in pids],
                             capture_output=True, text=True, check=False).stdout
        self.most = max(self.most, int(out or 0))
        return self.most


def lags(folder, ledger):
    """Seconds from the publication of each start to its effect at cc-backend, ascending; how many are missing."""
    arrived = {}
    with open(ledger, encoding="utf-8") as f:
        for line in f:
            e = json.loads(line)
            if e["effect"] == "start":
                arrived[e["cluster"], e["jobId"], e["startTime"]] = e["time"]
    out, missing = [], 0
    with open(folder + "/starts", encoding="utf-8") as f:
        for line in f:
            c, job, start, at = line.split()
            key = c, int(job), int(start)
            if key in arrived:
                out.append(arrived[key] - float(at))
            else:
                missing += 1
    return sorted(out), missing


def figure(text, value):
    print("%-62s %s" % (text, value), flush=True)


def centre_of(folder, install, backend, names):
    s = world.Suite(folder + "/centre", "centre", install)
    s.set(source="stream", clusters=names, natsUser="centre", natsPassword=brokers.PASSWORD,
          natsServer=",".join("tls://%s:4222" % (n + brokers.DOMAIN) for n in brokers.NAMES),
          natsCaFile=folder + "/tls/ca.pem", ccRestUrl=backend.url, ccPollInterval=600, ccCommitInterval=2,
          ccRestJwt=lib.read_token(backend.token), natsStreamMaxBytes=64 << 20,
          natsStreamReplicas=int(os.environ.get("FANIN_REPLICAS", "1")), spoolMaxBytes=4 << 30)
    return s


def measure(folder, install, build, clusters, rate, seconds):
    """One run; the figures are printed.  Returns the number of starts that are missing."""
    names = ["load%03d" % i for i in range(clusters)]
    world.Network([])
    backend = world.Backend(folder, build, names)
    servers = brokers.three(folder, names, ["10.98.%d.2" % i for i in (1, 2, 3)],
                            [world.inside(n) for n in brokers.NAMES])
    world.users()
    centre = None
    try:
        backend.start()
        for s in servers:
            s.start()
        centre = centre_of(folder, install, backend, names).start().started()
        if not wait(120, lambda: streams_read(centre) == clusters):
            sys.exit("fanin: %d of %d streams" % (streams_read(centre), clusters))
        time.sleep(3)
        sampler = Sampler(centre)
        figure("memory of the centre, idle, PSS of all processes", "%.1f MiB" % (sampler.memory() / 1024))
        return phases(folder, centre, backend, sampler, clusters, rate, seconds)
    finally:
        for x in [centre, backend] + servers:
            if x:
                x.kill()


def streams_read(centre):
    return len(set(re.findall(r"stream (CC_RECORD_\S+) is read from message", brokers.read(centre.log()))))


def generate(folder, *args):
    return subprocess.Popen(
        [sys.executable, "-c", "import sys; sys.path.insert(0, %r); import load; load.publish%r"
         % (world.HERE, (folder,) + args)], stdout=subprocess.PIPE, text=True)


def generated(generator, sampler):
    while generator.poll() is None:
        sampler.memory()
        time.sleep(5)   # the memory of all processes is some 0.1 s of a processor
    return json.loads(generator.stdout.read())


def costs(sampler, before, sent, what):
    """Prints microseconds a record of each process."""
    after, tick, total = sampler.ticks(), os.sysconf("SC_CLK_TCK"), 0
    for role in "receiver", "submitter":
        us = (after.get(role, 0) - before.get(role, 0)) / tick * 1e6 / max(1, sent)
        total += us
        figure("processor time of the %s, %s" % (role, what), "%.0f us a record" % us)
    figure("processor time of both, %s" % what, "%.0f us a record" % total)


def stored(centre):
    """Records that the submitter has stored since its start."""
    found = re.search(r"^\s+records\s+(\d+)", centre.ctl("status", "-v"), re.M)
    return int(found[1]) if found else 0


def to_spool(folder, centre, backend, sampler, clusters, rate, seconds):
    """cc-backend is away."""
    backend.kill()
    time.sleep(3)
    known, before = stored(centre), sampler.ticks()
    sent = generated(generate(folder, clusters, rate, seconds, 500000), sampler)["sent"]
    if not wait(60, lambda: stored(centre) >= known + sent):
        print("   %d of %d records were stored" % (stored(centre) - known, sent))
    costs(sampler, before, sent, "stream to spool")
    backend.start()


def phases(folder, centre, backend, sampler, clusters, rate, seconds):
    before, others = sampler.ticks(), sampler.others()
    result = generated(generate(folder, clusters, rate, seconds), sampler)
    sent = result["sent"]
    figure("records published (%d clusters, %.1f starts and ends a second each)" % (clusters, rate),
           "%d in %.0f s, %d acknowledged, %d refused %s" % (sent, result["seconds"], result["acknowledged"],
                                                            result["refused"], result["first"]))
    token = lib.read_token(backend.token)

    def all_ended():
        sampler.memory()
        return not expected.backend_jobs(backend.url, token, running=True)[0] and centre.nothing_waits()
    done = wait(300, all_ended)
    costs(sampler, before, sent, "stream to cc-backend")
    others = sampler.others() - others
    figure("beside it: generator, brokers, cc-backend",
           "%.0f s, %.0f s, %.0f s" % (result["processor"], others["brokers"], others["cc-backend"]))
    figure("memory of the centre, largest PSS of all processes", "%.1f MiB" % (sampler.most / 1024))
    late, missing = lags(folder, backend.ledger)
    if late:
        figure("start published to start at cc-backend, p50, p99, largest",
               "%.2f s, %.2f s, %.2f s" % (late[len(late) // 2], late[int(len(late) * 0.99)], late[-1]))
    to_spool(folder, centre, backend, sampler, clusters, rate, seconds / 3)
    done = wait(300, all_ended) and done
    missing += lags(folder, backend.ledger)[1]
    figure("starts that did not arrive; all ended", "%d; %s" % (missing, "yes" if done else "no"))
    return missing + (not done)
