# SPDX-License-Identifier: MIT
"""All links of the clusters are down; their runs wait in the spools of the clusters.

Then the links are up again.  The time of the drain is compared with the time that
tests/bench/feed needs for the same starts and stops at another cc-backend of the same
kind: all starts as fast as they are answered, one commit interval, all stops.  While the
records arrive, the brokers and the clusters, which are other machines at a site, use the
processors of cc-backend here.  So the part after that is compared, too.
"""
import importlib.machinery
import importlib.util
import json
import os
import time

import world  # first: it sets the path
import expected
import lib
from brokers import wait

CONNECTIONS = "4"       # those of a submitter
TRACE = os.environ.get("DRAIN_TRACE")   # as for tests/bench/drain
COMMIT = 2              # seconds; world.Backend sets it
START_KEYS = ("jobId", "user", "project", "cluster", "subCluster", "partition", "arrayJobId", "numNodes",
              "numHwthreads", "numAcc", "shared", "exclusive", "walltime", "smt", "startTime", "resources",
              "metaData")


def bench_drain():
    loader = importlib.machinery.SourceFileLoader("drain", world.HERE + "/../bench/drain")
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("drain", loader))
    loader.exec_module(module)
    return module


def start_lines(drain, jobs):
    return drain.start_lines([{"effect": "start", "body": {k: j[k] for k in START_KEYS if j.get(k) is not None}}
                              for j in jobs])


class LinkOutage:
    def __init__(self, w, say):
        self.w, self.say = w, say
        self.token = lib.read_token(w.backend.token)
        for c in w.names:
            w.network.outage(c, True)
        say("the links of all clusters are down")

    def jobs(self):
        return expected.backend_jobs(self.w.backend.url, self.token, every=True)[0]

    def has(self, count, choice=""):
        """True if cc-backend has so many runs of this choice; it reads one row."""
        status, text = lib.http("GET", "%s/api/jobs/?items-per-page=1&page=%d%s"
                                % (self.w.backend.url, count, choice), token=self.token)
        return status == 200 and '"jobId"' in text

    def delivered(self):
        """Starts and stops.  The centre is asked: a list of cc-backend takes the time of some hundred runs."""
        status = json.loads(self.w.centre.ctl("-j", "status", "-v"))["status"]["submitter"]
        return int(status["delivered_starts"]), int(status["delivered_stops"])

    def log(self, c):
        return "%s/%s/suite.1" % (self.w.folder, c)

    def returned(self, sizes):
        """Names the clusters that have a connection or a stream again; forgets them."""
        out = ""
        for c in list(sizes):
            with open(self.log(c), "rb") as f:
                f.seek(sizes[c])
                new = f.read()
            if b"NATS: connected to" in new or b"accepts records again" in new:
                out += ", " + c
                del sizes[c]
        return out

    def end(self):
        """Ends the outage.  Returns the rate of the drain beside that of the feeder, after the last record came."""
        w, say = self.w, self.say
        before = self.jobs()
        runs = sum(len(s.truth()[0]) for s in w.slurm.values())
        say("%d of %d runs wait at the clusters" % (runs - len(before), runs))
        for c in w.names:
            w.network.outage(c, False)
        sizes = {c: os.path.getsize(self.log(c)) for c in w.names}
        begin, used, had = time.monotonic(), w.processor_seconds(), self.delivered()
        say("the links are up")
        if not wait(600, lambda: self.delivered()[0] > had[0]):
            raise SystemExit("fanin: nothing arrives")
        first = time.monotonic()
        arriving, arrived = list(w.suites.values()), None
        while self.delivered()[1] < runs:
            while arriving and arriving[0].nothing_waits():
                arriving.pop(0)
            if not arriving and not arrived:
                arrived = time.monotonic(), self.delivered()
                say("all records are at the centre")
            if time.monotonic() > first + 3600:
                raise SystemExit("fanin: not all have ended: %s" % (self.delivered(),))
            if TRACE:
                say("   %d starts and %d stops delivered%s" % (self.delivered() + (self.returned(sizes),)))
            time.sleep(0.5)
        took, until = time.monotonic() - first, w.processor_seconds()
        if not wait(60, lambda: self.has(runs, "&state=completed")):
            raise SystemExit("fanin: cc-backend does not have all")
        after = self.jobs()
        new = [j for k, j in after.items() if k not in before]
        ended = [after[k] for k, j in before.items() if j["jobState"] == "running"]
        say("%d starts and %d stops in %.1f s, the first one %.1f s after the links"
            % (len(new), len(new) + len(ended), took, first - begin))
        for name, seconds in sorted(until.items(), key=lambda x: used.get(x[0], 0) - x[1]):
            if seconds - used.get(name, 0) >= 0.05:
                say("   processor time %-24s %6.2f s" % (name, seconds - used.get(name, 0)))
        start_s, stop_s = self.fed(new, ended)
        fed = start_s * len(new) + COMMIT + stop_s * (len(new) + len(ended))
        say("the drain beside the feeder: %.2f" % (fed / took))
        if not arrived:
            raise SystemExit("fanin: the last records arrived at the end: FANIN_RUNS is too small")
        at, (starts, stops) = arrived
        fed = start_s * (runs - starts) + COMMIT * (runs > starts) + stop_s * (runs - stops)
        after_that = fed / (first + took - at)
        say("after the last record had arrived: %.2f" % after_that)
        return after_that

    def fed(self, new, ended):
        """Seconds that another cc-backend needs for a start, for a stop; the centre and the clusters are idle.
        Those of ended have started before."""
        drain = bench_drain()
        folder = self.w.folder + "/fed"
        os.makedirs(folder)
        other = world.Backend(folder, self.w.build, self.w.names, port=8081).start()
        other.folder, base = os.path.dirname(other.token), os.path.dirname(self.w.build)
        drain.feed(base, other, start_lines(drain, ended), folder + "/earlier")
        time.sleep(2 * COMMIT)
        used = self.w.processor_seconds().get("cc-backend", 0)
        a = drain.feed(base, other, start_lines(drain, new), folder + "/starts")
        time.sleep(2 * COMMIT)
        stops = [dict(j, effect="stop") for j in new + ended]
        b = drain.feed(base, other, drain.stop_lines(stops), folder + "/stops")
        used = self.w.processor_seconds().get("cc-backend", 0) - used
        other.folder = folder
        other.kill()
        self.say("fed: %.0f starts a second, %.0f stops a second" % (a, b))
        self.say("   processor time of cc-backend %.2f s" % used)
        return 1 / a, 1 / b
