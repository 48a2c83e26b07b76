#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The stream of a cluster: stream.py PORT make|limit|unlimit|expire|states|compare CLUSTER [JOB]

make: creates it as the centre does.  limit: no room for another message.
expire: its messages expire after a second; the centre changes it back.
states JOB: the states of its records in their order.  compare: each run of
accounting is in the stream once per state, with its user, nodes and end.
"""
import base64
import collections
import importlib.machinery
import importlib.util
import json
import os
import subprocess
import sys

loader = importlib.machinery.SourceFileLoader(
    "lab_nats", os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "lab", "nats"))
lab = importlib.util.module_from_spec(importlib.util.spec_from_loader("lab_nats", loader))
loader.exec_module(lab)


class Stream:
    def __init__(self, port, cluster):
        self.client = lab.Client(port, subject="nothing")
        self.cluster, self.name = cluster, "CC_RECORD_" + cluster

    def api(self, what, **body):
        return self.client.ask("$JS.API.STREAM.%s.%s" % (what, self.name), json.dumps(body) if body else "")

    def config(self, what, **more):
        said = self.api(what, name=self.name, subjects=["cc.record." + self.cluster], storage="file",
                        num_replicas=1, discard="new", duplicate_window=120 * 10**9, **more)
        return said.get("error")

    def records(self):
        state = self.api("INFO")["state"]
        for seq in range(state["first_seq"], state["last_seq"] + 1):
            message = self.api("MSG.GET", seq=seq).get("message")
            if message:
                yield json.loads(base64.b64decode(message["data"]))

    def limit(self):
        return self.config("UPDATE", max_msgs=self.api("INFO")["state"]["messages"])

    def expire(self):
        config = self.api("INFO")["config"]
        config.update(max_age=10**9, duplicate_window=10**9)
        return self.api("UPDATE", **config).get("error")

    def states(self, job):
        return " ".join(dict.fromkeys(r["jobState"] for r in self.records() if r["jobId"] == int(job)))


def accounting():
    """(job, start) -> (user, nodes, end, state) of all runs, from sacct."""
    out = subprocess.run(
        ["sacct", "-a", "-X", "-n", "-P", "-D", "--starttime=1970-01-01",
         "-o", "JobIDRaw,Start,User,NNodes,End,State"],
        check=True, capture_output=True, text=True, env=dict(os.environ, SLURM_TIME_FORMAT="%s")).stdout
    for line in out.splitlines():
        job, start, user, nodes, end, state = line.split("|")
        if start.isdigit():
            yield (int(job), int(start)), (user, int(nodes), int(end), state.split()[0].lower())


def compare(stream):
    runs, wrong = collections.defaultdict(list), []
    for r in stream.records():
        runs[r["jobId"], r["startTime"]].append(r)
    for key, (user, nodes, end, state) in accounting():
        got = runs.pop(key, [])
        last = got[-1] if got else {}
        ids = [(r["revision"], r["jobState"]) for r in got]
        if (len(ids) != len(set(ids)) or [r["revision"] for r in got] != sorted(r["revision"] for r in got) or
                (last.get("user"), last.get("numNodes"), last.get("stopTime"), last.get("jobState")) !=
                (user, nodes, end, state) or
                [r["jobState"] for r in got].count(state) != 1 or
                not all(h.get("threads") for h in last["hosts"])):
            wrong.append((key, ids, last, (user, nodes, end, state)))
    for w in wrong + list(runs):
        print(w)
    print("%d runs compared" % (len(list(accounting()))))
    return not wrong and not runs and any(True for _ in accounting())


def main():
    port, what, cluster = int(sys.argv[1]), sys.argv[2], sys.argv[3]
    stream = Stream(port, cluster)
    if what == "make":
        error = stream.config("CREATE")
    elif what == "limit":
        error = stream.limit()
    elif what == "unlimit":
        error = stream.config("UPDATE")
    elif what == "expire":
        error = stream.expire()
    elif what == "states":
        print(stream.states(sys.argv[4]))
        return 0
    else:
        return not compare(stream)
    if error:
        print(error)
    return bool(error)


sys.exit(main())
