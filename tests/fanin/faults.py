# SPDX-License-Identifier: MIT
"""Random faults of the fan-in; each repairs itself after some seconds.

fault_NAME(world, rng) performs it and returns (text, repair); repair is a
function, or None when the product has to repair the fault.
"""
import os
import signal

import brokers

WORKERS = {"cluster": ("listener", "collector", "runner", "submitter"), "centre": ("receiver", "submitter")}


def one_of(rng, things):
    return rng.choice(sorted(things)) if not isinstance(things, list) else rng.choice(things)


def running(w, suite):
    return [s for s in suite if s.process and s.process.poll() is None] or [w.centre]


def start_again(thing):
    def repair():
        if not isinstance(thing, brokers.Server) or not thing.is_alive():
            thing.start()
    return repair


def fault_broker_killed(w, rng):
    b = rng.choice(w.brokers)
    b.kill()
    return "broker %s is killed" % b.name, start_again(b)


def fault_brokers_killed(w, rng):
    """Two of three: no stream has a leader."""
    two = rng.sample(w.brokers, 2)
    for b in two:
        b.kill()

    def repair():
        for b in two:
            b.start()
    return "brokers %s are killed" % " and ".join(b.name for b in two), repair


def fault_broker_stopped(w, rng):
    b = rng.choice(w.brokers)
    b.signal(signal.SIGSTOP)
    return "broker %s is stopped" % b.name, lambda: b.signal(signal.SIGCONT)


def fault_broker_away(w, rng):
    b = rng.choice(w.brokers)
    w.network.outage(b.name, True)
    return "the link of broker %s is down" % b.name, lambda: w.network.outage(b.name, False)


def fault_leaf_killed(w, rng):
    c = one_of(rng, w.leaf)
    w.leaf[c].kill()
    return "the leaf node of %s is killed" % c, start_again(w.leaf[c])


def fault_link_down(w, rng):
    c = rng.choice(w.names)
    w.network.outage(c, True)
    return "the link of %s is down" % c, lambda: w.network.outage(c, False)


def fault_all_links_down(w, rng):
    del rng
    for c in w.names:
        w.network.outage(c, True)

    def repair():
        for c in w.names:
            w.network.outage(c, False)
    return "the links of all clusters are down", repair


def fault_loss(w, rng):
    c, share = rng.choice(w.names), rng.choice((0.01, 0.01, 0.05))
    w.network.link(c, "loss", share)
    return "%s loses %g of its packets" % (c, share), lambda: w.network.link(c, "loss", 0)


def fault_one_direction(w, rng):
    c, way = rng.choice(w.names), rng.choice(("up", "down"))
    w.network.link(c, "drop", way)
    return "%s: no packet goes %s" % (c, way), lambda: w.network.link(c, "drop", "none")


def fault_slow_link(w, rng):
    c = rng.choice(w.names)
    w.network.link(c, "delay", 400)
    return "the link of %s takes 800 ms" % c, lambda: w.network.link(c, "delay", 40)


def worker(w, rng, suite, kind, number, word):
    role = rng.choice(WORKERS[kind])
    pid = suite.pids().get(role)
    if pid is None:
        return "%s of %s: does not run" % (role, suite.name), None
    os.kill(pid, number)

    def repair():
        try:
            os.kill(pid, signal.SIGCONT)
        except ProcessLookupError:
            pass
    return "%s of %s is %s" % (role, suite.name, word), repair if number == signal.SIGSTOP else None


def fault_worker_killed(w, rng):
    return worker(w, rng, w.suites[rng.choice(w.names)], "cluster", signal.SIGKILL, "killed")


def fault_centre_worker_killed(w, rng):
    return worker(w, rng, w.centre, "centre", signal.SIGKILL, "killed")


def fault_centre_worker_stopped(w, rng):
    return worker(w, rng, w.centre, "centre", signal.SIGSTOP, "stopped")


def fault_suite_killed(w, rng):
    s = w.suites[rng.choice(w.names)]
    s.kill()
    return "the suite of %s is killed" % s.name, lambda: s.start()  # pylint: disable=unnecessary-lambda


def fault_centre_killed(w, rng):
    del rng
    w.centre.kill()
    return "the centre is killed", lambda: w.centre.start()  # pylint: disable=unnecessary-lambda


def fault_backend_killed(w, rng):
    del rng
    w.backend.kill()
    return "cc-backend is killed", lambda: w.backend.start()  # pylint: disable=unnecessary-lambda


def fault_everything_killed(w, rng):
    """Restart of all at once, in any order."""
    all_of_it = w.everything()
    for x in all_of_it:
        x.kill()
    rng.shuffle(all_of_it)

    def repair():
        for x in all_of_it:
            x.start()
    return "everything is killed", repair


NAMES = sorted(n for n in list(globals()) if n.startswith("fault_"))
RARE = {"fault_everything_killed", "fault_all_links_down", "fault_brokers_killed"}


def choose(rng):
    """Of the rare ones one in four is performed."""
    while True:
        name = rng.choice(NAMES)
        if name not in RARE or rng.random() < 0.25:
            return globals()[name]
