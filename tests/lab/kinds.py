#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every run of the matrix: what Slurm said, against what the backend has.

kinds.py watch LABDIR        keep what `scontrol show job -d -o` says, until killed
kinds.py judge T URL TOKENFILE [options]    compare, write a result, print it
kinds.py table FILE...       results of several rounds as one table

What Slurm said is kinds_truth.py's.
"""
import argparse
import collections
import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "system", "lib"))
import expected  # noqa: E402
import kinds_truth as said  # noqa: E402
import lib    # noqa: E402

NODE_THREADS = expected.SOCKETS * expected.CORES * expected.THREADS
# What must have happened to some run of a kind, or it was not that kind.
HAPPENED = {"fails-at-once": "FAILED", "cancelled": "CANCELLED", "timed-out": "TIMEOUT",
            "requeued": "REQUEUED", "preempted": "REQUEUED PREEMPTED", "node-fails": "NODE_FAIL",
            "resized": "RESIZING", "prolog-fails": "REQUEUED"}


# --- what it must be ----------------------------------------------------------------

def clean(data):
    """Bytes as cc-backend may have them: see common/text/text.h"""
    out = []
    i = 0
    while i < len(data):
        for n in (1, 2, 3, 4):
            try:
                c = data[i:i + n].decode("utf-8")
                break
            except UnicodeDecodeError:
                c = None
        if c is None:
            out.append("\ufffd")
            n = 1
        elif (c < " " and c not in "\n\t") or c == "\x7f":
            out.append("\\x%02x" % ord(c))
        else:
            out.append(c)
        i += n
    return "".join(out)


def sharing(seen):
    """Slurm's words for who else may be on the nodes (26.05 has two)"""
    whole = all(len(cpus) == NODE_THREADS for _, cpus, _ in seen.groups)
    if seen.excl is not None:
        word = {"NODE": "none", "TOPO": "none", "USER": "single_user", "MCS": "multi_user"}.get(seen.excl)
        open_to_all = seen.over == "NO"
    else:
        word = {"NO": "none", "USER": "single_user"}.get(seen.over)
        open_to_all = seen.over == "OK"
    return word or ("none" if whole and open_to_all else "multi_user")


def minutes(text):
    return int(text) * 60 if text.isdigit() else 0


def seconds(text):
    """scontrol's TimeLimit: 1-02:03:04"""
    m = re.fullmatch(r"(?:(\d+)-)?(\d+):(\d+):(\d+)", text or "")
    return sum(int(v or 0) * k for v, k in zip(m.groups(), (86400, 3600, 60, 1))) if m else 0


def wanted(run, seen, topology, gpus):
    """Field -> the values it may have; a field that is absent is not compared."""
    first, last = run.first, run.last
    tres = dict(t.partition("=")[::2] for t in first["AllocTRES"].split(","))
    state = expected.STATES[last["State"].split()[0]]
    want = {"user": [first["User"]], "project": [first["Account"]],
            "partition": [first["Partition"]], "jobState": [state],
            "numNodes": [int(first["NNodes"])], "numHwthreads": [int(first["AllocCPUS"])],
            "numAcc": [int(tres.get("gres/gpu", 0))],
            # cc-backend cannot change it later: the limit at any time of the run
            "walltime": sorted({minutes(first["TimelimitRaw"])} | {seconds(s.limit) for s in seen}),
            "hosts": [sorted(expected.hosts(first["NodeList"]))]}
    if last["End"].isdigit() and state != "running":
        want["duration"] = [int(last["End"]) - int(first["Start"])]
    array = re.match(r"(\d+)_(\d+)$", first["JobID"])
    het = re.match(r"(\d+)\+(\d+)$", first["JobID"])
    want["arrayJobId"] = [int(array.group(1)) if array else 0]
    want["meta"] = {"submitTime": first["Submit"]}
    if array:
        want["meta"]["arrayTaskId"] = array.group(2)
    if het:
        want["meta"]["hetJobId"] = het.group(1)
    if seen:
        want["shared"] = [sharing(seen[0])]
        live = next((s for s in seen if s.state in ("RUNNING", "CONFIGURING")), None)
        want["resources"] = {
            h: (sorted(expected.os_id(c, topology) for c in cpus), None)
            for h, cpus, _ in (live or seen[0]).groups}
        if run.first is not run.last:
            # its first record was rewritten when it shrank (20.11, 22.05)
            want["numHwthreads"] = [sum(len(cpus) for _, cpus, _ in seen[0].groups)]
            want["numNodes"] = [len(want["resources"])]
            want["hosts"] = [sorted(want["resources"])]
        if live and "gres/gpu" not in tres:
            # parts of devices: each device counts once
            want["numAcc"] = [sum(len(index) for _, _, index in live.groups)]
        if live:
            want["resources"] = {
                h: (want["resources"][h][0], sorted(expected.gpu_address(h, i, gpus) for i in index))
                for h, _, index in live.groups}
    return want


def of_run(seen, run):
    """What was seen of exactly this run, live ones first."""
    mine = [s for s in seen if s.start == run.key[1]]
    return sorted(mine, key=lambda s: s.state not in ("RUNNING", "CONFIGURING"))


# --- the comparison ------------------------------------------------------------------

def lenient(run, job, kind_late):
    """May threads and GPUs be unknown?  Then a message must say so."""
    said = (job.get("metaData") or {}).get("message", "")
    return (is_brief(run) or kind_late) and bool(said)


def is_brief(run):
    return run.last["End"].isdigit() and \
        int(run.last["End"]) - int(run.first["Start"]) <= said.LATE_SECONDS


def exit_differences(run, meta):
    """Where no process of the job said it, slurmctld and slurmdbd differ, and
    change their minds until the job's last process is gone."""
    codes = [run.last["ExitCode"]]
    if run.last["State"].split()[0] not in ("COMPLETED", "FAILED"):
        codes += ["0:0", "0:1", "1:0", "0:9", "0:15"]
    if "exitCode" in meta and meta["exitCode"] not in codes:
        return ["exitCode is %r, should be %s" % (meta["exitCode"], " or ".join(codes))]
    return []


def differences(run, owned, want, job):
    out = []
    meta = job.get("metaData") or {}
    late = lenient(run, job, owned.flag == "late")
    got = dict(job)
    got["hosts"] = sorted(r["hostname"] for r in job.get("resources") or [])
    for field, values in want.items():
        if field in ("meta", "resources"):
            continue
        value = got.get(field)
        if value is None:
            value = "" if isinstance(values[0], str) else 0
        if value not in values and not (field == "shared" and late and value == "multi_user"):
            out.append("%s is %r, should be %s" % (field, value, " or ".join(map(repr, values))))
    for key, value in want["meta"].items():
        if meta.get(key) != value:
            out.append("metaData.%s is %r, should be %r" % (key, meta.get(key), value))
    out += text_differences(run, owned, meta, late)
    have = expected.got_resources(job)
    for host, (threads, accels) in want.get("resources", {}).items():
        t, a = have.get(host, ([], []))
        if t != threads and not (late and t == []):
            out.append("%s: threads %s, should be %s" % (host, t, threads))
        if accels is not None and a != accels and not (late and a == []):
            out.append("%s: GPUs %s, should be %s" % (host, a, accels))
    return out


def text_differences(run, owned, meta, late):
    out = []
    # scontrol's word for a job without a name
    name = clean(owned.name) if owned.name != b"(null)" else ""
    # without slurmctld there is only what slurmdbd made of the name
    plain = re.fullmatch(r"[A-Za-z0-9._-]+", name)
    if meta.get("jobName", "") != name and (plain or not late):
        out.append("jobName is %r, should be %r" % (meta.get("jobName"), name))
    script = clean(owned.script)
    if owned.flag == "noscript":
        if meta.get("jobScript"):
            out.append("jobScript is there: %r" % meta["jobScript"][:40])
    elif meta.get("jobScript", "").rstrip("\n") != script and not (
            (late or owned.flag == "late") and not meta.get("jobScript")):
        out.append("jobScript is %r, should be %r" % (meta.get("jobScript", "")[:60], script[:60]))
    info = meta.get("slurmInfo", "")
    if not late and "JobId=%d" % run.job not in info:
        out.append("slurmInfo is %r" % info[:40])
    return out


def refused_runs(path):
    """{(id, start): why} of the runs that cc-backend has refused"""
    try:
        with open(path, encoding="utf-8") as f:
            answer = json.load(f)
    except (OSError, ValueError):
        return {}
    out = {}
    for table in answer.values():
        for row in table if isinstance(table, list) else []:
            words = {str(k).lower(): v for k, v in row.items()}
            job = words.get("job", words.get("jobid", words.get("id")))
            start = words.get("start", words.get("starttime"))
            out[str(job), str(start)] = " ".join(str(v) for v in row.values())
    return out


def is_refused(refused, run):
    """By its key, or, where times are printed for people, by its id."""
    for (job, start), text in refused.items():
        if job == str(run.job) and (start == str(run.key[1]) or not start.isdigit()):
            return text
    return None


class Verdict:
    """Of one kind: how many runs, how many right, what is wrong."""

    def __init__(self):
        self.runs = self.right = self.refused = 0
        self.problems = []

    def as_dict(self):
        return {"runs": self.runs, "right": self.right, "refused": self.refused,
                "problems": self.problems}


def judge_once(a, gpus, token_text):
    release = a.version.split()[-1]
    jobs = said.submitted(a.t + "/kinds")
    lab = a.t + "/slurm"
    runs = said.accounting(lab)
    backend, rows = expected.backend_jobs(a.url, token_text)
    names = collections.defaultdict(set)
    owners = {r.key: said.owner(r, jobs) for r in runs}
    for r in runs:
        for j in jobs:
            if owners[r.key] and j.id in (r.job, owners[r.key].id):
                names[r.job].add(j.name)
    seen = said.sightings(lab, names)
    refused = refused_runs(a.t + "/rejected.json")
    kinds = collections.OrderedDict((j.kind, Verdict()) for j in jobs)
    earlier = set()
    ran = {r.key for r in runs if not said.is_false_start(r)}
    for j in jobs:
        if j.flag == "unsubmitted":
            kinds[j.kind].problems.append("Slurm refused to take it")
    for r in runs:
        o = owners[r.key]
        if o is None:
            continue
        v = kinds[o.kind]
        job = backend.get(r.key)
        if o.flag == "never":
            if job is not None:
                v.problems.append("job %d is at the backend" % r.job)
            continue
        v.runs += 1
        if said.is_false_start(r) and r.key in ran:
            # Slurm began the job again in the same second: one id and one
            # start, and cc-backend has the run that ran
            v.right += 1
            continue
        if job is None:
            why = is_refused(refused, r)
            # cc-backend refuses a second run of an id within a day (422)
            if said.is_false_start(r):
                v.right += 1
                continue
            if why is not None and r.job in earlier:
                v.refused += 1
                v.right += 1
            else:
                v.problems.append("job %d started %d (%s): missing%s" % (
                    r.key + (r.last["State"], ", refused: " + why if why else "")))
            earlier.add(r.job)
            continue
        earlier.add(r.job)
        mine = of_run(seen[r.job], r)
        if not mine and o.flag != "late" and not is_brief(r):
            v.problems.append("job %d started %d: nobody saw where it ran" % r.key)
            continue
        wrong = differences(r, o, wanted(r, mine, a.topology, gpus), job)
        wrong += exit_differences(r, job.get("metaData") or {})
        if wrong:
            v.problems.append("job %d started %d: %s" % (r.key + ("; ".join(wrong),)))
        else:
            v.right += 1
    known = {r.key for r in runs}
    for key in backend:
        # a false start may vanish from accounting; scontrol has shown it
        if key not in known and not any(s.start == key[1] and s.state in ("RUNNING", "CONFIGURING")
                                        for s in seen.get(key[0], [])):
            whose = next((j for j in jobs if j.id == key[0]), None)
            kind = whose.kind if whose else "unknown"
            kinds.setdefault(kind, Verdict()).problems.append(
                "job %d started %d: Slurm has no such run" % key)
    if rows != len(backend):
        kinds.setdefault("unknown", Verdict()).problems.append(
            "%d rows for %d runs at the backend" % (rows, len(backend)))
    ledger_check(a.t + "/ledger", kinds, owners)
    for kind, v in kinds.items():
        never = [j for j in jobs if j.kind == kind and j.flag != "never"]
        # 20.11.4 goes on giving such a job back until it is cancelled
        gave_up = kind == "prolog-fails" and release.startswith("20.")
        if never and v.runs == 0 and not gave_up:
            v.problems.append("no run of it in Slurm's accounting")
        states = {r.first["State"].split()[0] for r in runs if owners[r.key] and owners[r.key].kind == kind}
        states |= {r.last["State"].split()[0] for r in runs if owners[r.key] and owners[r.key].kind == kind}
        if kind in HAPPENED and not gave_up and not states & set(HAPPENED[kind].split()):
            v.problems.append("no run ended %s, which makes it this kind" % HAPPENED[kind])
    return kinds


def ledger_check(path, kinds, owners):
    """Every start and every stop had its effect once."""
    if not os.path.exists(path):
        return
    starts, stops = expected.ledger_counts(path)
    for what, counts in (("started", starts), ("stopped", stops)):
        for key, n in counts.items():
            o = owners.get(key)
            if n != 1 and o is not None:
                kinds[o.kind].problems.append("job %d started %d: %s %d times" % (key + (what, n)))


def judge(a):
    with open(a.t + "/etc/config.json", encoding="utf-8") as f:
        gpus = json.load(f).get("gpuPciAddrs", {})
    kinds = judge_once(a, gpus, lib.read_token(a.token))
    result = {"version": re.search(r"(\d+\.\d+)", a.version).group(1), "full": a.version,
              "kinds": {k: v.as_dict() for k, v in kinds.items()}}
    with open(a.out, "w", encoding="utf-8") as f:
        json.dump(result, f, indent=1, ensure_ascii=False)
    bad = False
    for kind, v in kinds.items():
        good = not v.problems
        bad = bad or not good
        if not a.quiet:
            print("   %-7s %-14s %s" % ("ok" if good else "FAILED", kind, count(v.as_dict())))
            for p in v.problems[:8]:
                print("           " + p[:600])
            if len(v.problems) > 8:
                print("           ... and %d more" % (len(v.problems) - 8))
    return 1 if bad else 0


def count(v):
    text = "%d of %d" % (v["right"], v["runs"])
    if v["refused"]:
        text += " (%d refused by cc-backend)" % v["refused"]
    return text


def table(files):
    rounds = []
    for path in files:
        with open(path, encoding="utf-8") as f:
            rounds.append(json.load(f))
    names = []
    for r in rounds:
        names += [k for k in r["kinds"] if k not in names]
    heads = [r["version"] for r in rounds]
    print("%-15s" % "kind" + "".join("%-14s" % h for h in heads))
    bad = []
    for name in names:
        cells = []
        for r, head in zip(rounds, heads):
            v = r["kinds"].get(name)
            if v is None:
                cells.append("-")
                continue
            cells.append("%s %d/%d" % ("FAIL" if v["problems"] else "ok", v["right"], v["runs"]))
            bad += ["%s, %s: %s" % (head, name, p) for p in v["problems"]]
        print("%-15s" % name + "".join("%-14s" % c for c in cells))
    refused = sum(v["refused"] for r in rounds for v in r["kinds"].values())
    if refused:
        print("(%d second runs of a job within a day were refused by cc-backend, and are listed as such)"
              % refused)
    for b in bad:
        print(b[:700])
    verdicts = [bool(v["problems"]) for r in rounds for v in r["kinds"].values()]
    print("%d passed, %d failed" % (verdicts.count(False), verdicts.count(True)))
    return 1 if bad else 0


def main():
    p = argparse.ArgumentParser(usage=__doc__)
    sub = p.add_subparsers(dest="verb", required=True)
    w = sub.add_parser("watch")
    w.add_argument("dir")
    j = sub.add_parser("judge")
    j.add_argument("t")
    j.add_argument("url")
    j.add_argument("token")
    j.add_argument("--topology", default="interleaved")
    j.add_argument("--version", default="0.0")
    j.add_argument("--out", default="/dev/null")
    j.add_argument("--quiet", action="store_true")
    t = sub.add_parser("table")
    t.add_argument("file", nargs="+")
    a = p.parse_args()
    if a.verb == "watch":
        said.watch(a.dir)
    elif a.verb == "judge":
        return judge(a)
    elif a.verb == "table":
        return table(a.file)
    return 0


if __name__ == "__main__":
    sys.exit(main())
