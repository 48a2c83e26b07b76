#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The log, the arrivals and the verdict of tests/year.

year.py lines DIR                  write what the suite logs, from standard
                                   input, with times to DIR/lines
year.py watch URL TOKENFILE FILE   note when cc-backend first shows each run
year.py stream PORT:USER:PASSWORD [REPLICAS]
                                   make the JetStream stream of the parts nats
                                   and brokers
year.py purge PORT:USER:PASSWORD   remove all messages of that stream
year.py judge T URL TOKENFILE ...  compare, print the table, write a result
year.py table FILE...              results of several parts as one table

What Slurm says is expected.py's; the acts are T/acts: name, expectation, begin,
time at which the service is back, id of the job that was submitted then.
"""
import argparse
import collections
import http.client
import json
import os
import re
import sys
import time

TESTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
sys.path[:0] = [TESTS + "/year", TESTS + "/system/lib", TESTS + "/lab"]
import expected  # noqa: E402
import lib  # noqa: E402
import slurm_log  # noqa: E402

Act = collections.namedtuple("Act", "name outcome begin back probe end")
Slurm = collections.namedtuple("Slurm", "folder seen log ended jobs")
# A start in Slurm is a whole second.
START_GRAIN = 1
# An end that the suite had no time to read before it was stopped: the hook's delay,
# a command, and slurmQueryDelay.
END_UNREAD = 3
DAY = 86400         # cc-backend refuses an id again within it
TEXTS_MAX = 5      # of one act in the output; the result has all


def lines(folder):
    with open(folder + "/reader.pid", "w", encoding="ascii") as f:
        f.write("%d\n" % os.getpid())
    with open(folder + "/lines", "a", encoding="utf-8", errors="replace", buffering=1) as out:
        for line in sys.stdin.buffer:
            text = line.decode("utf-8", "replace")
            out.write("%.3f %s" % (time.time(), text))
            sys.stdout.write(text)
            sys.stdout.flush()


def watch(url, token, path):
    with open(path, encoding="ascii") as f:
        known = {tuple(int(n) for n in line.split()[1:]) for line in f}
    with open(path, "a", encoding="ascii", buffering=1) as out:
        while True:
            try:
                jobs = expected.backend_jobs(url, lib.read_token(token))[0]
            except (RuntimeError, OSError, ValueError, KeyError, http.client.HTTPException):
                jobs = {}
            at = time.time()
            for key in jobs:
                if key not in known:
                    known.add(key)
                    out.write("%.3f %d %d\n" % ((at,) + key))
            time.sleep(0.5)


def read_acts(path):
    rows = []
    with open(path, encoding="utf-8") as f:
        for line in f:
            name, outcome, begin, back, probe = line.rstrip("\n").split("\t")
            rows.append((name, outcome, float(begin), float(back), int(probe.split(";")[0])))
    # the last row is the end of the load
    return [Act(*row, rows[i + 1][2]) for i, row in enumerate(rows[:-1])]


def read_arrivals(t, ledger):
    """{run: when its start arrived first}"""
    out = {}
    if ledger:
        with open(ledger, encoding="utf-8") as f:
            for line in f:
                e = json.loads(line)
                if e["effect"].startswith("start"):
                    out.setdefault((e["jobId"], e["startTime"]), e["time"])
        return out
    with open(t + "/arrivals", encoding="ascii") as f:
        for line in f:
            at, job, start = line.split()
            out.setdefault((int(job), int(start)), float(at))
    return out


def first_line(path, act):
    """The first warning between the act and the next one; else '-'"""
    with open(path, encoding="utf-8", errors="replace") as f:
        for line in f:
            at, _, text = line.partition(" ")
            try:
                if not act.begin <= float(at) < act.end:
                    continue
            except ValueError:
                continue
            if re.search(r"\b(WARN|ERROR|FATAL)\b", text):
                return text.strip()
    return "-"


def before(act):
    """So many seconds before the act a run may have ended that the act touches."""
    return END_UNREAD if act.outcome == "open" else START_GRAIN


def overlaps(act, key, f):
    """The run was there between this act and the next one."""
    end = int(f["End"]) if f and f["End"].isdigit() else key[1]
    return key[1] < act.end and end + before(act) >= act.begin


def met(acts, f, truth):
    """The acts that the run of a finding met"""
    return [a for a in acts if f.key and overlaps(a, f.key, truth.get(f.key))]


def blame(acts, found, truth):
    """[(act, finding)]: a finding belongs to the first act that the run met"""
    return [((met(acts, f, truth) or acts[-1:])[0], f) for f in found]


def rejected(path):
    with open(path, encoding="utf-8") as f:
        return {(int(r["job"]), int(r["start"])) for r in json.load(f)["queue"]}


def is_open(act, f, row):
    """Nothing says how the run ended: the record is gone, and the run ended while
    the suite was away.  It is running in cc-backend, or it also began then, or just
    before, so that its start was not confirmed yet."""
    if row is None or not row.get("Gone") or not row["End"].isdigit():
        return False
    if not act.begin - before(act) <= int(row["End"]) <= act.back:
        return False
    return (f.text == "missing" and f.key[1] >= int(act.begin) - START_GRAIN) or \
        f.text.startswith("jobState is 'running'")


def is_forgotten(f, slurm):
    """slurmctld lost the run: scontrol showed it, slurmdbd lacks it.  Or it lost the
    end that cc-backend has: slurmdbd has another one."""
    if f.text == expected.NO_SUCH_RUN:
        return f.key in slurm.seen and slurm_log.forgot(slurm.log, f.key)
    m = re.fullmatch(r"jobState is '\w+', should be '\w+'; duration is (\d+), should be \d+", f.text)
    return bool(m) and slurm_log.forgot_end(slurm.log, f.key, int(m.group(1)))


def is_unlisted(f, slurm):
    """slurmdbd got the end before the start and sacct does not list the run:
    cc-backend has it as squeue showed it."""
    job = slurm.jobs.get(f.key)
    return f.text == expected.NO_SUCH_RUN and f.key in slurm.seen and job is not None and \
        (job["jobState"], job["duration"]) == slurm.ended.get(f.key)


def is_renamed(act, f):
    """The run began before its user got another name: those of act_slurm-user-renamed."""
    return f.key[1] <= act.back and f.text == "user is 'yearone', should be 'yeartwo'"


def is_unseen(act, f, row, slurm):
    """The run began and ended while slurmctld and the suite were away: nobody knows
    its threads and GPUs, and the message of the job says so."""
    if row is None or not row["End"].isdigit():
        return False
    message = (slurm.jobs.get(f.key, {}).get("metaData") or {}).get("message")
    return act.begin <= f.key[1] and int(row["End"]) <= act.back and bool(message) and \
        all(re.match(r"\S+: (threads|GPUs) \[\], should be ", text) for text in f.text.split("; "))


def is_given_again(acts, f, refused, slurm):
    """slurmctld lost its state and gave the id of a run once more, which cc-backend
    has: it refuses the later one, and the run is listed."""
    return f.kind == "lost" and f.key in refused and \
        any(a.outcome in ("refused", "forgotten") and a.begin <= f.key[1] for a in acts) and \
        any(job == f.key[0] and 0 < f.key[1] - start < DAY and slurm_log.forgot(slurm.log, (job, start))
            for job, start in slurm.jobs)


def never_ran(f, row, slurm):
    return f.kind == "lost" and row is not None and row["State"] == "REQUEUED" and (
        slurm_log.without_steps(slurm.folder, f.key)
        or slurm_log.not_started(slurm.log, f.key, int(row["End"])))


def tolerated(act, f, truth, refused, slurm):
    """The run never ran; or what the act's expectation says."""
    row = truth.get(f.key)
    if never_ran(f, row, slurm):
        return True
    if act.outcome == "open":
        return is_open(act, f, row)
    if act.outcome == "renamed":
        return is_renamed(act, f)
    if act.outcome == "unseen" and is_unseen(act, f, row, slurm):
        return True
    if act.outcome in ("unlisted", "unseen"):
        return is_unlisted(f, slurm)
    if act.outcome in ("refused", "forgotten") and is_forgotten(f, slurm):
        return True
    # refused and reported: the run is listed, and cc-backend lacks it
    return act.outcome == "refused" and f.kind == "lost" and f.key in refused


class Row:
    def __init__(self, act):
        self.act, self.runs, self.line, self.next, self.late = act, 0, "-", None, 0.0
        self.counts = collections.Counter()
        self.refused = 0
        self.never_ran = False      # the job that was submitted after the act
        self.texts = []

    def as_dict(self, a):
        return {"part": a.part, "user": a.user, "act": self.act.name, "expected": self.act.outcome,
                "runs": self.runs, "line": self.line, "next": self.next, "late": self.late,
                "limit": a.limit, "refused": self.refused, "texts": self.texts,
                **{k: self.counts[k] for k in ("lost", "doubled", "wrong")}}


def stream_client(where):
    """A client of the broker, and what reads a stream"""
    import broker
    port, user, password = where.split(":")
    return broker, broker.lab.Client(int(port), lambda info: {"user": user, "pass": password}, "nothing")


def make_stream(where, replicas):
    broker, client = stream_client(where)
    return 0 if "config" in broker.lab.make_stream(client, replicas) else 1


def purge_stream(where):
    broker, client = stream_client(where)
    return 0 if broker.purge(client) else 1


def as_read(events):
    """What a reader makes of the events: a start of a run that it has, and a stop
    of a run that does not run, change nothing."""
    running, ended = set(), set()
    for job, start, kind in events:
        if kind == "start_job" and (job, start) not in ended:
            running.add((job, start))
        elif kind == "stop_job" and (job, start) in running:
            running.remove((job, start))
            ended.add((job, start))
    got = collections.Counter((job, "start_job") for job, _ in running | ended)
    got.update((job, "stop_job") for job, _ in ended)
    return got


def stream_findings(where, truth, acts):
    """The stream has the start and the stop of each run once, too.  Of runs that
    began before a purge it may have more."""
    broker, client = stream_client(where)
    events = list(broker.stream_events(client))
    once = collections.Counter((job, kind) for job, _, kind in events)
    read = as_read(events)
    purged = max((a.back for a in acts if a.name == "stream-purged"), default=0)
    again = {k[0] for k in truth if k[1] <= purged}
    want = collections.Counter(k[0] for k in truth)
    for key, f in sorted(truth.items()):
        got = read if key[0] in again else once
        kinds = ["start_job"]
        if expected.STATES[f["State"].split()[0]] != "running":
            kinds.append("stop_job")
        for kind in kinds:
            n = got[key[0], kind]
            if n != want[key[0]]:
                yield expected.Finding("lost" if n < want[key[0]] else "doubled", key,
                                       "%s %d times in the stream" % (kind, n))


def due(acts, start, arrived, limit):
    """When a start had to arrive at the latest, less the limit, and the act that
    kept it back: an act excuses only what was not late when it began."""
    at, cause = start, None
    for act in acts:
        if at < act.back and act.begin <= min(at + limit, arrived):
            at, cause = act.back, act
        elif cause is None and act.begin <= start < act.end:
            cause = act
    return at, cause


def times(a, table, truth, arrived, refused):
    """How late starts were, and when that of the job submitted after the act came"""
    acts = list(table)
    for key, f in truth.items():
        if key in arrived:
            at, cause = due(acts, key[1], arrived[key], a.limit)
            # what was there before comes with the command of the manual
            if cause and (a.stream or not (cause.outcome == "restored" and key[1] <= cause.back)):
                table[cause].late = round(max(table[cause].late, arrived[key] - at), 1)
        for act, row in table.items():
            row.runs += overlaps(act, key, f)
    for act, row in table.items():
        # slurmdbd may not have it (a cold start), and ids may come again
        after = [(t, key[1]) for key, t in arrived.items() if key[0] == act.probe and t >= act.back]
        if after:
            at, start = min(after)
            row.next = round(at - max(act.back, start), 1)
        elif act.outcome in ("refused", "forgotten") and any(k[0] == act.probe and k[1] >= int(act.begin) for k in refused):
            row.next = "listed"
        elif row.never_ran:
            row.next = "requeued"


def record_text(f):
    return " (slurmdbd: %s, %s to %s)" % (f["State"], f["Start"], f["End"]) if f else ""


def look(a, acts, gpus, token):
    found, truth, jobs, sisters, _ = expected.findings(a, gpus, token)
    if a.stream:
        found += stream_findings(a.stream, truth, acts)
    arrived = read_arrivals(a.t, a.ledger)
    refused = rejected(a.rejected)
    slurm = Slurm(a.dir, expected.seen_runs(a.dir), slurm_log.read(a.dir), slurm_log.ended(a.dir), jobs)
    table = collections.OrderedDict((act, Row(act)) for act in acts)
    counted = set()
    for act, f in blame(acts, found, truth):
        row = table[act]
        # a run counts once, by what was found first
        if f.key in counted:
            continue
        if f.key:
            counted.add(f.key)
        if is_given_again(acts, f, refused, slurm) or \
                any(tolerated(x, f, truth, refused, slurm) for x in met(acts, f, truth) or [act]):
            row.refused += 1
            row.never_ran |= f.key is not None and f.key[0] == act.probe and \
                never_ran(f, truth.get(f.key), slurm)
            continue
        row.counts[f.kind] += 1
        row.texts.append("%s: %s%s" % (f.kind, expected.finding_text(f), record_text(truth.get(f.key))))
    times(a, table, truth, arrived, refused)
    for act, row in table.items():
        row.line = first_line(a.t + "/log/lines", act)
    return list(table.values()), len(truth), len(sisters)


def judge(a):
    gpus = {}
    with open(a.gpus, encoding="utf-8") as f:
        gpus = json.load(f).get("gpuPciAddrs", {})
    # cc-backend shows a start after its commit interval
    a.limit += START_GRAIN + (0 if a.ledger else a.commit)
    acts = read_acts(a.t + "/acts")
    token = lib.read_token(a.token)
    end = time.time() + a.wait * lib.PATIENCE
    while True:
        table, n, sisters = look(a, acts, gpus, token)
        if not any(r.counts for r in table) or time.time() >= end:
            break
        time.sleep(3)
    result = [r.as_dict(a) for r in table]
    with open(a.out, "w", encoding="utf-8") as f:
        json.dump(result, f, indent=1)
    bad = show(result)
    print("%d runs in Slurm; %d refused for an earlier run of the same job, and listed" % (n, sisters))
    return 1 if bad else 0


def is_late(r):
    if r["next"] is None or r["late"] > r["limit"]:
        return True
    return r["next"] not in ("listed", "requeued") and r["next"] > r["limit"]


def show(result):
    """Prints the table and what is wrong; how many acts went wrong"""
    form = "%-10s %-8s %-20s %-10s %5s %6s %6s %5s %7s %5s  %s"
    print(form % ("part", "user", "act", "expected", "runs", "next", "late", "lost", "doubled", "wrong", "first log line"))
    bad = 0
    for r in result:
        late = is_late(r)
        print(form % (r["part"], r["user"], r["act"], r["expected"], r["runs"],
                      "none" if r["next"] is None else r["next"], "%s%s" % (r["late"], "!" if late else ""),
                      r["lost"], r["doubled"], r["wrong"], r["line"][:110]))
        bad += bool(late or r["lost"] or r["doubled"] or r["wrong"])
    for r in result:
        for text in r["texts"][:TEXTS_MAX]:
            print("  %s %s: %s" % (r["part"], r["act"], text))
        if len(r["texts"]) > TEXTS_MAX:
            print("  %s %s: and %d more" % (r["part"], r["act"], len(r["texts"]) - TEXTS_MAX))
    return bad


def table(paths):
    result = []
    for path in paths:
        with open(path, encoding="utf-8") as f:
            result += json.load(f)
    bad = show(result)
    print("next: seconds until the start of a job submitted after the act arrived, from the end of the act or,"
          " if Slurm started the job later, from its start; late: the latest start (at most one poll and five seconds)")
    print("%d acts: lost %d, doubled %d, wrong %d, late %d" % (
        (len(result),) + tuple(sum(r[k] for r in result) for k in ("lost", "doubled", "wrong"))
        + (sum(is_late(r) for r in result),)))
    print("%d passed, %d failed" % (len(result) - bad, bad))
    return 1 if bad or not result else 0


def main():
    p = argparse.ArgumentParser(usage=__doc__)
    sub = p.add_subparsers(dest="verb", required=True)
    v = sub.add_parser("lines")
    v.add_argument("dir")
    v = sub.add_parser("watch")
    v.add_argument("url")
    v.add_argument("token")
    v.add_argument("file")
    v = sub.add_parser("stream")
    v.add_argument("where")
    v.add_argument("replicas", type=int, nargs="?", default=1)
    v = sub.add_parser("purge")
    v.add_argument("where")
    v = sub.add_parser("judge")
    v.add_argument("t")
    v.add_argument("url")
    v.add_argument("token")
    v.add_argument("--part", default="")
    v.add_argument("--user", default="")
    v.add_argument("--limit", type=int, default=7)
    v.add_argument("--commit", type=int, default=2)
    v.add_argument("--topology", default="block")
    v.add_argument("--gpus", required=True)
    v.add_argument("--ledger")
    v.add_argument("--rejected", required=True)
    v.add_argument("--stream", metavar="PORT:USER:PASSWORD")
    v.add_argument("--wait", type=int, default=0)
    v.add_argument("--short", type=int, default=20)
    v.add_argument("--out", default="/dev/null")
    v = sub.add_parser("table")
    v.add_argument("file", nargs="+")
    a = p.parse_args()
    if a.verb == "lines":
        lines(a.dir)
    elif a.verb == "watch":
        watch(a.url, a.token, a.file)
    elif a.verb == "stream":
        return make_stream(a.where, a.replicas)
    elif a.verb == "purge":
        return purge_stream(a.where)
    elif a.verb == "table":
        return table(a.file)
    else:
        # what expected.findings() asks for
        a.dir, a.since, a.never_ran, a.cluster, a.no_scripts = a.t + "/slurm", 0, "", None, False
        return judge(a)
    return 0


if __name__ == "__main__":
    sys.exit(main())
