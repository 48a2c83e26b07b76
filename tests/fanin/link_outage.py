# SPDX-License-Identifier: MIT
"""All links of the clusters are down; their runs wait in the spools of the clusters.

Then the links are up again.  The time of the drain is compared with the time that
tests/bench/feed needs for the same runs at another cc-backend of the same kind: all
starts as fast as they are answered, one commit interval, all stops.
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


class LinkOutage:
    def __init__(self, w, say):
        self.w, self.say = w, say
        self.token = lib.read_token(w.backend.token)
        for c in w.names:
            w.network.outage(c, True)
        say("the links of all clusters are down")

    def jobs(self):
        return {(c,) + k: j for c in self.w.names
                for k, j in expected.backend_jobs(self.w.backend.url, self.token, cluster=c)[0].items()}

    def has(self, count, choice=""):
        """True if cc-backend has so many runs of this choice; it reads one row."""
        status, text = lib.http("GET", "%s/api/jobs/?items-per-page=1&page=%d%s"
                                % (self.w.backend.url, count, choice), token=self.token)
        return status == 200 and '"jobId"' in text

    def delivered(self):
        """Starts and stops.  The centre is asked: a list of cc-backend takes the time of some hundred runs."""
        status = json.loads(self.w.centre.ctl("-j", "status", "-v"))["status"]["submitter"]
        return int(status["delivered_starts"]), int(status["delivered_stops"])

    def end(self):
        """Ends the outage.  Returns the rate of the drain beside that of the feeder."""
        w, say = self.w, self.say
        before = self.jobs()
        runs = sum(len(s.truth()[0]) for s in w.slurm.values())
        say("%d of %d runs wait at the clusters" % (runs - len(before), runs))
        for c in w.names:
            w.network.outage(c, False)
        begin, used, had = time.monotonic(), w.processor_seconds(), self.delivered()
        say("the links are up")
        if not wait(600, lambda: self.delivered()[0] > had[0]):
            raise SystemExit("fanin: nothing arrives")
        first = time.monotonic()
        while self.delivered()[1] < runs:
            if time.monotonic() > first + 3600:
                raise SystemExit("fanin: not all have ended: %s" % (self.delivered(),))
            if TRACE:
                say("   %d starts and %d stops delivered" % self.delivered())
            time.sleep(0.5)
        took, until = time.monotonic() - first, w.processor_seconds()
        if not wait(60, lambda: self.has(runs, "&state=completed")):
            raise SystemExit("fanin: cc-backend does not have all")
        after = self.jobs()
        new = {k: j for k, j in after.items() if k not in before}
        say("%d runs in %.1f s, the first one %.1f s after the links" % (len(new), took, first - begin))
        for name, seconds in sorted(until.items(), key=lambda x: used.get(x[0], 0) - x[1]):
            if seconds - used.get(name, 0) >= 0.05:
                say("   processor time %-24s %6.2f s" % (name, seconds - used.get(name, 0)))
        fed = self.fed(list(new.values()))
        say("the drain beside the feeder: %.2f" % (fed / took))
        return fed / took

    def fed(self, jobs):
        """Seconds that another cc-backend needs for these runs; the centre and the clusters are idle."""
        drain = bench_drain()
        folder = self.w.folder + "/fed"
        os.makedirs(folder)
        other = world.Backend(folder, self.w.build, self.w.names, port=8081).start()
        used = self.w.processor_seconds().get("cc-backend", 0)
        other.folder, base = os.path.dirname(other.token), os.path.dirname(self.w.build)
        starts = [{"effect": "start", "body": {k: j[k] for k in START_KEYS if j.get(k) is not None}} for j in jobs]
        stops = [dict(j, effect="stop") for j in jobs]
        a = drain.feed(base, other, drain.start_lines(starts), folder + "/starts")
        time.sleep(2 * COMMIT)
        b = drain.feed(base, other, drain.stop_lines(stops), folder + "/stops")
        used = self.w.processor_seconds().get("cc-backend", 0) - used
        other.folder = folder
        other.kill()
        took = len(jobs) / a + COMMIT + len(jobs) / b
        self.say("fed: %.0f starts a second, %.0f stops a second, %.1f s with a commit" % (a, b, took))
        self.say("   processor time of cc-backend %.2f s" % used)
        return took
