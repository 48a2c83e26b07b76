# SPDX-License-Identifier: MIT
"""Every run at cc-backend against what Slurm says, by cluster."""
import argparse
import collections
import contextlib
import json
import time

import world  # first: it sets the path
import expected
import lib


@contextlib.contextmanager
def truth_of(slurm):
    """expected.py asks sacct in the namespace; of a simulated Slurm it gets the rows."""
    old = expected.runs, expected.seen_runs, expected.ask
    if slurm.kind == "real":
        expected.ask = lambda folder, *command, **more: old[2](folder, *slurm.prefix, *command, **more)
    else:
        rows, seen = slurm.truth()
        expected.runs, expected.seen_runs = lambda *_: dict(rows), lambda *_: dict(seen)
    try:
        yield
    finally:
        expected.runs, expected.seen_runs, expected.ask = old


def findings(w, cluster, short):
    slurm = w.slurm[cluster]
    args = argparse.Namespace(dir=getattr(slurm, "folder", None), url=w.backend.url, since=0, short=short,
                              cluster=cluster, topology="interleaved", ledger=w.backend.ledger, rejected=None,
                              never_ran="", no_scripts=True)
    with truth_of(slurm):
        return expected.findings(args, world.GPUS, lib.read_token(w.backend.token))


def judge(w, seconds, short):
    """Asks until all is right, at most so long; prints the table.  The number of findings."""
    end = time.monotonic() + seconds * lib.PATIENCE
    while True:
        try:
            results = {c: findings(w, c, short) for c in w.names}
            if not any(r[0] for r in results.values()):
                break
        except (RuntimeError, OSError, ValueError) as e:
            results = None
            why = e
        if time.monotonic() > end:
            break
        time.sleep(3)
    if results is None:
        print("no comparison: %s" % why)
        return 1
    bad = 0
    print("%-12s %-10s %6s %6s %7s %6s %9s" % ("cluster", "Slurm", "runs", "lost", "doubled", "wrong", "no threads"))
    for c, (found, truth, _, _, without) in results.items():
        # one run may have several findings of a kind
        n = collections.Counter(kind for kind, _ in {(f.kind, f.key) for f in found})
        print("%-12s %-10s %6d %6d %7d %6d %9d" % (c, w.slurm[c].kind, len(truth), n["lost"], n["doubled"],
                                                   n["wrong"], without))
        bad += sum(n.values()) + (not truth)
        for f in found[:10]:
            print("    %s: %s" % (f.kind, expected.finding_text(f)))
    foreign = strangers(w)
    for text in foreign[:10]:
        print("    wrong: " + text)
    return bad + len(foreign)


def strangers(w):
    """Jobs of clusters that do not exist; stops that hit another job (cc-backend 1.5)."""
    if not w.backend.ledger:
        return []
    out = []
    with open(w.backend.ledger, encoding="utf-8") as f:
        for line in f:
            e = json.loads(line)
            if e.get("cluster", w.names[0]) not in w.names:
                out.append("a job of the cluster %r" % e["cluster"])
            if e["effect"] == "race":
                out.append("the stop of another job ended job %s" % e["jobId"])
    return out
