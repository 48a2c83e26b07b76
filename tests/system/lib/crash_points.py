#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Crash points that real jobs seldom pass, played: crash_points.py TIMES POINT...

A submitter built with --enable-crash-points and the stand-in, in $T.  Kills at
each POINT as often, and judges each time what cc-backend has in the end: runs
that `repair` corrects as in Slurm, of a requeued job the last run alone
(requeuedRuns), each run once when the destinations change.  A `drop` whose
commit was not reached has no effect and no answer.  Prints `POINT TIMES` for each, and what is wrong; the last
line is `all played: N failed`.
"""
import itertools
import os
import sys

import repair_checks
from crash import Page
from fake_collector import Fake, Run, Submitter, until
from repair_checks import NOW, T, all_right, by_another, c, committed, is_as, new

PAGE = T + "/page"
# the clusters that the submitter meets one after the other, beside alpha
fresh = ("fresh%d" % i for i in itertools.count())


class Killed:
    """A submitter that is killed at a point, and comes again."""

    def __init__(self, page, s, point):
        self.page, self.s, self.point = page, s, point

    def __enter__(self):
        self.page.arm(self.point, 1)

    def __exit__(self, *_):
        c.true(self.point + ": killed there", self.page.hit(20))
        self.page.arm("none", 0)
        if self.s.gone(5) is None:
            self.s.kill()
        repair_checks.again(None, self.s)


def nothing_left(s):
    c.soon("nothing is left", lambda: not s.queue() and not s.queue(True), 20,
           lambda: (s.queue(), s.queue(True)))


def repair(b, s, page, point):
    """Two runs that another client has stopped; one of them still runs."""
    wrong, live = new(), new()
    committed(b, s, wrong, live)
    by_another(b, wrong)
    by_another(b, live)
    s.tell(wrong.ended(), live.ended())
    c.soon("both are closed wrongly", lambda: s.number("closed_wrongly") == 2, 20, s.status)
    with Killed(page, s, point):
        s.verb("CTL_REPAIR", ids=[wrong.job, live.job], seconds=1)
    # what was not kept is found once more, and the admin's to repeat
    until(lambda: s.verb("CTL_REPAIR", ids=[wrong.job, live.job]) and
          is_as(b, wrong) and is_as(b, live), 40)
    all_right(point + ": both as Slurm says", b, [wrong, live], 1)
    nothing_left(s)


def victim(b, s, page, point):
    """Delivered in full, and open there all the same: another run's stop was meant for it."""
    run = new()
    committed(b, s, run)
    s.tell(run.ended())
    all_right("a run is delivered", b, [run], 30)
    until(lambda: s.number("spool_runs") == 0, 20)
    s.mark(NOW + run.job)   # is answered when all before it is durable
    status, text = b.api("DELETE", "jobs/delete_job/", {
        "jobId": run.job, "cluster": "alpha", "startTime": run.start})
    status, text = (status, text) if status != 200 else b.api("POST", "jobs/start_job/", {
        "jobId": run.job, "cluster": "alpha", "user": "u1", "numNodes": 1,
        "startTime": run.start, "resources": [{"hostname": "n1"}]})
    c.true("(and made open again)", status in (200, 201), (status, text))
    b.commit_now()
    with Killed(page, s, point):
        s.verb("CTL_REPAIR", seconds=5)
    until(lambda: s.verb("CTL_REPAIR", seconds=20)[0][0] == 0, 20)
    c.soon("asked of Slurm", lambda: run.key() in s.asked, 20)
    s.tell(run)
    c.true("and that is no new run", b.effects(run).count("start") == 2, b.effects(run))
    all_right(point + ": ended again", b, [run], 40)
    nothing_left(s)


def requeued(b, s, page, point):
    """Its first run makes way for the second."""
    first = new(start=NOW - 900)
    second = Run(first.job, NOW - 800, submit=NOW - 870)
    committed(b, s, first)
    s.tell(first.ended(20, "END_REQUEUED"))
    with Killed(page, s, point):
        s.tell(second, wait=1)
    # not stored, so the collector says it again
    s.tell(second)
    all_right(point + ": the second run is there", b, [second], 40)
    c.true("the first is not", first.key() not in b.jobs(), b.effects(first))
    c.true("nor did it come twice", b.effects(second) == ["start"], b.effects(second))
    s.tell(second.ended())
    all_right("and ends", b, [second], 40)


def listed(b, s, page, point):
    """The first list of a cluster: its run was started by another daemon."""
    run = new(cluster=next(fresh))
    status, text = b.api("POST", "jobs/start_job/", {
        "jobId": run.job, "cluster": run.cluster, "user": "u1", "numNodes": 1,
        "startTime": run.start, "resources": [{"hostname": "n1"}]})
    c.true("(another starts the run)", status == 201, (status, text))
    b.commit_now()
    with Killed(page, s, point):
        s.tell(run, wait=0)
    said = "first list of %s: 1 jobs" % run.cluster
    c.soon("listed again", lambda: s.logged(said) == 2, 20, lambda: s.logged(said))
    s.tell(run)
    c.true("and not started twice", b.effects(run) == ["start"], b.effects(run))
    s.tell(run.ended())
    all_right(point + ": ended", b, [run], 40)
    c.true("in this order", b.effects(run) == ["start", "stop"], b.effects(run))
    nothing_left(s)


def refused(b, s, page, point):
    """A proxy refuses the first list of a cluster: the starts are sent without it."""
    known = new(cluster=next(fresh))
    other = new(cluster=known.cluster)
    status, text = b.api("POST", "jobs/start_job/", {
        "jobId": known.job, "cluster": known.cluster, "user": "u1", "numNodes": 1,
        "startTime": known.start, "resources": [{"hostname": "n1"}]})
    c.true("(another starts the run)", status == 201, (status, text))
    b.commit_now()
    b.fault(match="jobs", action="status", status=403, count=-1)
    with Killed(page, s, point):
        s.tell(known, other, wait=0)
    s.tell(known, other)
    c.soon("started without a list", lambda: other.key() in b.jobs(), 30, s.status)
    said = "the jobs of %s in cc-backend cannot be listed" % known.cluster
    c.true("given up once more", s.logged(said) == 2, s.logged(said))
    b.well()
    s.tell(known.ended(), other.ended())
    all_right(point + ": without a list: ended", b, [known, other], 60)
    c.true("each was started once", all(b.effects(r) == ["start", "stop"] for r in (known, other)),
           (b.effects(known), b.effects(other)))
    nothing_left(s)


def destinations(b, s, page, point):
    """A broker that is never there is removed; then REST is added to it, and it is removed."""
    run, other = new(), new()
    broker = {"natsServer": "127.0.0.1", "natsPort": 9}
    s.configure(**broker)
    s.tell(run)
    all_right(point + ": started", b, [run], 20)
    with Killed(page, s, point):
        s.configure(natsServer="")
    c.true("the change was made once more", s.logged("destinations of jobs were changed") > 0)
    s.tell(run.ended())
    all_right(point + ": NATS removed: ended", b, [run], 40)
    nothing_left(s)
    s.configure(ccRestSubmitJobs=False, **broker)
    s.tell(other)
    with Killed(page, s, point):
        s.configure(ccRestSubmitJobs=True)
    all_right(point + ": REST added: started", b, [other], 40)
    s.configure(natsServer="")
    s.tell(other.ended())
    all_right(point + ": REST alone: ended", b, [other], 40)
    c.true("each step was done once", all(b.effects(r) == ["start", "stop"] for r in (run, other)),
           (b.effects(run), b.effects(other)))
    nothing_left(s)


def dropped(b, s, page, point):
    """An admin drops a rejected run: it is gone when the commit was made, and not before."""
    run = new(hosts=("n77",))
    s.tell(run)
    c.soon("a run is rejected", lambda: len(s.queue(True)) == 1, 20, lambda: s.queue(True))
    s.mark(NOW + run.job)   # is answered when all before it is durable
    with Killed(page, s, point):
        answer = s.verb("CTL_DROP", ids=[run.job], seconds=1)
    c.true(point + ": no answer", answer == ((1, "no answer"), []), answer)
    # at its start the submitter tries a rejected run again
    kept = [q for q in s.queue() + s.queue(True) if int(q["job"]) == run.job]
    c.true(point + ": as the commit says", bool(kept) == (point == "store"), kept)
    c.soon("rejected again", lambda: len(s.queue(True)) == (point == "store"), 20, lambda: s.queue(True))
    s.verb("CTL_DROP", ids=[run.job])
    c.soon("dropped", lambda: not s.queue(True), 5, lambda: s.queue(True))
    nothing_left(s)


PLAYS = {"destinations-changed": (destinations,), "store": (dropped,), "stored": (dropped,),
         "first-listed": (listed, refused), "repair-marked": (repair,), "repair-exhumed": (victim,), "way-given": (requeued,),
         "delete-send": (repair, requeued), "delete-answered": (repair, requeued),
         "delete-settled": (repair, requeued)}


def main(times, points):
    clusters = ["alpha"] + ["fresh%d" % i for i in range(times)]
    b = Fake(T + "/b", commit=1, clusters=",".join(name + "=n[1-4]" for name in clusters)).start()
    page = Page(PAGE)
    s = Submitter(T + "/spool", {"ccRestUrl": b.url(), "ccCommitInterval": 1, "ccPollInterval": 3600,
                                 "requeuedRuns": "last", "clusters": clusters},
                  b.token, log=T + "/log/submitter", env={"CSA_CRASH": PAGE}).start()
    s.mark(NOW)
    c.true("the gate opens", until(lambda: s.status().get("backend") == "up", 15))
    for point in points:
        for i in range(times):
            plays = PLAYS[point]
            plays[i % len(plays)](b, s, page, point)
        print(point, times, flush=True)
    repair_checks.end(b, s)


if __name__ == "__main__":
    os.makedirs(T + "/log", exist_ok=True)
    main(int(sys.argv[1]), sys.argv[2:] or sorted(PLAYS))
    print("all played: %d failed" % c.failed, flush=True)
    sys.exit(1 if c.failed else 0)
