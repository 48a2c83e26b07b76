#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The parts of tests/fanin/run, inside its private machine: part.py PART FOLDER

FANIN_FAULTS, FANIN_REAL, FANIN_SIMULATED: numbers; CSA_INST, CSA_BUILD, CSA_SEED,
CC_BACKEND as for the other tests.
"""
import os
import random
import shutil
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import brokers  # noqa: E402
import world  # noqa: E402
import faults  # noqa: E402
import judge  # noqa: E402
import expected  # noqa: E402
from brokers import Client, stream_config, wait  # noqa: E402

SEED = os.environ.get("CSA_SEED", "0")
rng = random.Random(SEED)
began = time.monotonic()
failures = 0


def say(text):
    print("%5d s  %s" % (time.monotonic() - began, text), flush=True)


def check(what, ok, detail=""):
    global failures
    failures += not ok
    print("   %-7s %s%s" % ("ok" if ok else "FAILED", what, "" if ok else ": %s" % (detail,)), flush=True)
    return ok


# --- network: without the suite ------------------------------------------------------

def ping(client):
    start = time.monotonic()
    return client.flush(3), (time.monotonic() - start) * 1000


def part_network(folder):
    """The links, the brokers and the leaf node, and each fault of them."""
    net = world.Network(["alpha", "beta"])
    servers = brokers.three(folder, ["alpha", "beta"], ["10.98.%d.2" % i for i in (1, 2, 3)],
                            [world.inside(n) for n in brokers.NAMES])
    leaf = brokers.Server(folder, "leaf", brokers.leaf_conf("alpha", folder + "/tls"), world.inside(net.space("alpha")))
    try:
        for s in servers + [leaf]:
            s.start()
        network_checks(folder, net, servers, leaf)
    finally:
        for s in servers + [leaf]:
            s.kill()
        net.relay.stdin.close()
        net.relay.wait()


def login(folder, user, host):
    def attempt():
        try:
            return Client(host + brokers.DOMAIN, folder + "/tls/ca.pem", user)
        except OSError:
            return None
    return wait(20, attempt) or sys.exit("fanin: no login of " + user)


class Inside:
    """A thread in the namespace of a cluster, which runs one function."""
    def __init__(self, space, function):
        import ctypes   # pylint: disable=import-outside-toplevel
        self.result = None

        def body():
            fd = os.open("/run/netns/" + space, os.O_RDONLY)
            if ctypes.CDLL(None, use_errno=True).setns(fd, 0x40000000):
                raise OSError(ctypes.get_errno(), "setns")
            os.close(fd)
            self.result = function()
        thread = threading.Thread(target=body)
        thread.start()
        thread.join()


def network_checks(folder, net, servers, leaf):
    centre = login(folder, "centre", brokers.NAMES[0])
    made = {}

    def create(cluster):
        made.update(centre.ask("$JS.API.STREAM.CREATE.CC_RECORD_" + cluster, stream_config(cluster)))
        return "config" in made
    check("the stream of alpha is made", wait(30, lambda: create("alpha")), made)
    check("the stream of beta is made", wait(30, lambda: create("beta")), made)
    beta = Inside(net.space("beta"), lambda: login(folder, "beta", brokers.NAMES[1])).result
    ok, ms = ping(beta)
    check("a round trip from beta takes 80 ms and more", ok and 80 <= ms < 500, ms)
    a = beta.ask("cc.record.beta", "{}", 10)
    check("beta publishes over the WAN", a.get("seq") == 1, a)
    net.link("beta", "loss", 0.05)
    got = [beta.ask("cc.record.beta", "{}", 20).get("seq") for _ in range(10)]
    check("with a loss of 5 % all are acknowledged", got == list(range(2, 12)), got)
    net.link("beta", "loss", 0)
    for way in "up", "down":
        net.link("beta", "drop", way)
        check("no packet goes %s: no answer" % way, not ping(beta)[0])
        net.link("beta", "drop", "none")
        check("and again one", wait(30, lambda: ping(beta)[0]))
    net.outage("beta", True)
    check("link down: no answer", not ping(beta)[0])
    net.outage("beta", False)
    check("and again one", wait(30, lambda: ping(beta)[0]))
    alpha = Inside(net.space("alpha"), lambda: wait(20, lambda: Client("127.0.0.1", None, "alpha"))).result

    def by_leaf():
        made["leaf"] = alpha.ask("cc.record.alpha", "{}", 3)
        return "seq" in made["leaf"]
    check("alpha publishes through its leaf node", wait(20, by_leaf), made)
    net.outage("alpha", True)
    check("its link is down: no acknowledgement", not by_leaf())
    net.outage("alpha", False)
    check("it is back: the leaf node connects again", wait(60, by_leaf), made)
    servers[1].kill()
    check("a broker is killed: alpha's stream acknowledges", wait(30, by_leaf), made)
    servers[1].start()
    leaf.kill()
    leaf.start()


# --- faults: the whole of it ------------------------------------------------------------

class Load(threading.Thread):
    """Jobs of the real Slurms, about one in four seconds each."""
    def __init__(self, w):
        super().__init__(daemon=True)
        self.w, self.stopped = w, threading.Event()
        self.slurms = [s for s in w.slurm.values() if s.kind == "real"]

    def run(self):
        while not self.stopped.wait(4):
            for s in self.slurms:
                s.submit()

    def end(self):
        self.stopped.set()
        self.join()
        for s in self.w.slurm.values():
            s.end_load()


def make_world(folder, **more):
    real = ["alpha", "beta"][:int(os.environ.get("FANIN_REAL", "2"))]
    simulated = ["sim%02d" % i for i in range(1, 1 + int(os.environ.get("FANIN_SIMULATED", "3")))]
    w = world.World(folder, os.environ["CSA_INST"], os.environ["CSA_BUILD"], real, simulated, **more)
    w.start()
    say("%d real and %d simulated clusters, %d leaf nodes, 3 brokers" % (len(real), len(simulated), len(w.leaf)))
    return w


def one_fault(w, number):
    fault = faults.choose(rng)
    text, repair = fault(w, rng)
    say("%d: %s" % (number, text))
    time.sleep(rng.uniform(0.2, 8) if rng.random() < 0.8 else rng.uniform(8, 25))
    if repair:
        repair()
    for s in [w.centre] + list(w.suites.values()):
        s.started(90)
    # the next one often begins before the last one is over for the product
    time.sleep(rng.uniform(0, 4))


def act_restore(w):
    """Yesterday's centre: the spool and cc-backend as they were; the streams have the rest."""
    say("the centre and cc-backend are copied")
    w.centre.stop()
    w.backend.kill()
    old = w.folder + "/yesterday"
    shutil.copytree(w.centre.folder + "/state", old + "/state")
    if w.backend.ledger:
        shutil.copy(w.backend.ledger, old + "/ledger")
    else:
        shutil.copytree(w.folder + "/backend", old + "/backend")
    w.backend.start()
    w.centre.start().started()
    time.sleep(40)
    say("the centre is lost, and restored with the spool and the cc-backend of then")
    w.centre.kill()
    w.backend.kill()
    copy_back(old + "/state", w.centre.folder + "/state")
    if w.backend.ledger:
        shutil.copy(old + "/ledger", w.backend.ledger)
    else:
        copy_back(old + "/backend", w.folder + "/backend")
    w.backend.start()
    w.centre.start().started()


def copy_back(old, to):
    shutil.rmtree(to)
    shutil.copytree(old, to)
    for top, folders, files in os.walk(old):
        for name in folders + files + [""]:
            path = os.path.join(top, name)
            st = os.stat(path)
            os.chown(os.path.join(to, os.path.relpath(path, old)), st.st_uid, st.st_gid)


def part_faults(folder, restore=False):
    w = make_world(folder)
    try:
        load = Load(w)
        load.start()
        time.sleep(10)
        for n in range(1, 1 + int(os.environ.get("FANIN_FAULTS", "20"))):
            one_fault(w, n)
        if restore:
            act_restore(w)
            time.sleep(10)
        w.network.repair()
        say("no more faults; the jobs end")
        load.end()
        say("all jobs have ended")
        bad = judge.judge(w, 180, 10**6)
        check("lost 0, doubled 0, wrong 0, stop-race victims 0", bad == 0, bad)
        for s in [w.centre] + list(w.suites.values()):
            check("%s: nothing waits" % s.name, wait(60, s.nothing_waits), s.ctl("queue")[-300:])
            logs_checked(s)
    finally:
        w.end()


def part_full(folder):
    """The streams are full for a minute; then their limit is raised."""
    os.environ["FANIN_REAL"] = "0"
    w = make_world(folder, rate=5)
    suites = list(w.suites.values())

    def limit(size):
        w.centre.set(natsStreamMaxBytes=size)
        w.centre.ctl("reload")

    def full(s):
        return "maximum bytes exceeded" in s.ctl("status")
    try:
        limit(1 << 20)
        check("each stream is full", wait(180, lambda: all(full(s) for s in suites)))
        say("the streams are full")
        time.sleep(60)
        check("each stream is still full", all(full(s) for s in suites))
        waiting = [s.name for s in suites if s.nothing_waits()]
        check("records wait at each cluster", waiting == [], waiting)
        limit(1 << 28)
        say("the streams have space")
        for slurm in w.slurm.values():
            slurm.end_load()
        say("all jobs have ended")
        bad = judge.judge(w, 240, 10**6)
        check("lost 0, doubled 0, wrong 0, stop-race victims 0", bad == 0, bad)
        for s in [w.centre] + suites:
            check("%s: nothing waits" % s.name, wait(60, s.nothing_waits), s.ctl("queue")[-300:])
            logs_checked(s)
    finally:
        w.end()


def part_restore(folder):
    """A short run with the centre of yesterday."""
    part_faults(folder, restore=True)


# --- outage: all links down, then the drain ----------------------------------------------

def part_outage(folder):
    """The rate at which the centre delivers what has waited at all clusters."""
    import link_outage   # pylint: disable=import-outside-toplevel
    seconds, runs = (int(os.environ.get("FANIN_" + n, d)) for n, d in (("OUTAGE", 3600), ("RUNS", 72000)))
    os.environ["FANIN_REAL"] = "0"
    w = make_world(folder, rate=runs / seconds / int(os.environ.get("FANIN_SIMULATED", "3")))
    try:
        time.sleep(30)
        drain = link_outage.LinkOutage(w, say)
        time.sleep(seconds)
        say("the jobs end")
        ends = [threading.Thread(target=s.end_load) for s in w.slurm.values()]
        for end in ends:
            end.start()
        for end in ends:
            end.join()
        ratio = drain.end()
        bad = judge.judge(w, 180, 10**6)
        check("lost 0, doubled 0, wrong 0, stop-race victims 0", bad == 0, bad)
        check("0.9 of what cc-backend accepts, after all have arrived", ratio >= 0.9, "%.2f" % ratio)
        for s in [w.centre] + list(w.suites.values()):
            logs_checked(s)
    finally:
        w.end()


# --- demo ---------------------------------------------------------------------------------

DEMO = (("labalice", "12", ["-n3", "-J", "one node"]), ("labbob", "9", ["-N2", "-n7", "-J", "two nodes"]),
        ("labalice", "8", ["-p", "gpu", "-n2", "--gres=gpu:2", "-J", "two GPUs"]),
        ("labbob", "4; exit 3", ["-n1", "-J", "it fails"]))


def job_line(job):
    resources = job.get("resources") or []
    threads = sum(len(r.get("hwthreads") or []) for r in resources)
    return "%-6s %5d  %-9s %-11s %-6s %2d threads  %d GPUs  %s" % (
        job["cluster"], job["jobId"], job["user"], job["jobState"], ",".join(r["hostname"] for r in resources),
        threads, sum(len(r.get("accelerators") or []) for r in resources),
        (job.get("metaData") or {}).get("jobName", ""))


def show_jobs(w, seconds, wanted):
    """Prints each job of cc-backend when it appears and when it ends."""
    token, printed = world.lib.read_token(w.backend.token), {}

    def ended():
        for c in w.names:
            for key, job in sorted(expected.backend_jobs(w.backend.url, token, cluster=c)[0].items()):
                if printed.get((c,) + key) != job["jobState"]:
                    printed[(c,) + key] = job["jobState"]
                    say("cc-backend: " + job_line(job))
        return len(printed) >= wanted and "running" not in printed.values()
    return wait(seconds, ended)


def part_demo(folder):
    """Two clusters, one centre, jobs of both in one cc-backend."""
    os.environ.update(FANIN_REAL="2", FANIN_SIMULATED="0")
    w = make_world(folder)
    try:
        for name, pids in [(s.name, s.pids()) for s in [w.centre] + list(w.suites.values())]:
            say("processes of %s: %s" % (name, ", ".join(sorted(pids))))
        say("jobs on both clusters; the centre has no Slurm, the clusters have no token")
        for user, seconds, options in DEMO:
            for slurm in w.slurm.values():
                slurm.batch(user, "sleep " + seconds, options)
        check("all arrive", show_jobs(w, 60, 2 * len(DEMO)))
        for s in w.slurm.values():
            s.end_load()
        check("as Slurm says", judge.judge(w, 60, 0) == 0)
        for s in w.centre, w.suites["alpha"]:
            say("cc-slurm-adapterctl status of %s:" % s.name)
            print(s.ctl("status"))
    finally:
        w.end()


# --- load ---------------------------------------------------------------------------------

def part_load(folder):
    """Figures of the centre; the status is 1 only if a run is missing."""
    import load     # pylint: disable=import-outside-toplevel
    numbers = [float(os.environ.get("FANIN_" + n, d)) for n, d in (("CLUSTERS", 200), ("RATE", 5), ("SECONDS", 60))]
    missing = load.measure(folder, os.environ["CSA_INST"], os.environ["CSA_BUILD"], int(numbers[0]), *numbers[1:])
    check("each run arrived and ended", missing == 0, missing)


def logs_checked(suite):
    text = "".join(brokers.read("%s/suite.%d" % (suite.folder, i)) for i in range(1, suite.starts + 1))
    for pattern in ("was killed by its seccomp filter", "was killed by signal 11", "was killed by signal 6",
                    "is not allowed in the state"):
        check("%s: not in the log: %s" % (suite.name, pattern), pattern not in text)


def main():
    part, folder = sys.argv[1], sys.argv[2]
    function = globals().get("part_" + part) or sys.exit(__doc__)
    print("== %s, seed %s" % (part, SEED), flush=True)
    function(folder)
    print("%s: %s" % (part, "ok" if failures == 0 else "%d checks failed" % failures), flush=True)
    sys.exit(failures != 0)


if __name__ == "__main__":
    main()
