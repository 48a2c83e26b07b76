#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What Slurm says of every run, held against what the backend has.

expected.py watch DIR       keep `scontrol show job -d -o` of all jobs in
                            DIR/truth/watch until killed
expected.py ends DIR        keep how runs end in DIR/truth/ends until killed
expected.py compare DIR URL TOKENFILE [options]
expected.py runs DIR        print the runs as Slurm knows them
expected.py jobs URL TOKENFILE [--running]    print the backend's jobs, JSON lines

compare options:
  --topology block|interleaved|crossed   how the backend numbers threads
  --since EPOCH         leave out what was submitted before
  --wait SECONDS        ask again until all is right, at most so long
  --expect N            at least so many runs in Slurm's accounting
  --ledger FILE         every start and stop exactly once in this ledger
  --short SECONDS       runs that were shorter may lack threads and GPUs
                        (nobody looked in time), but must say so
  --gpus FILE           the config.json with gpuPciAddrs
  --quiet               only what is wrong, and the sum

Nothing here knows how the suite asks: sacct's records are the runs, the
threads and GPUs are what scontrol said while they ran (or in the prolog).
DIR is the folder of the Slurm lab.
"""
import argparse
import collections
import json
import os
import re
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import lib  # noqa: E402

SOCKETS, CORES, THREADS = 2, 4, 2   # of n1..n4
# what no user can have written; the last column is one that none writes
SEP = "<%s>" % os.urandom(8).hex()
SACCT = ("JobIDRaw", "JobID", "User", "Account", "Partition", "Submit", "Start", "End", "State",
         "NNodes", "AllocCPUS", "AllocTRES", "TimelimitRaw", "NodeList", "JobName", "ElapsedRaw")
STATES = {"COMPLETED": "completed", "FAILED": "failed", "CANCELLED": "cancelled",
          "TIMEOUT": "timeout", "OUT_OF_MEMORY": "out_of_memory", "PREEMPTED": "preempted",
          "NODE_FAIL": "node_fail", "BOOT_FAIL": "boot_fail", "DEADLINE": "deadline",
          "REQUEUED": "preempted", "RUNNING": "running", "SUSPENDED": "running",
          "COMPLETING": "running"}


def environment(folder):
    return {"PATH": os.environ["PATH"], "TZ": "UTC", "LC_ALL": "C.UTF-8",
            "SLURM_TIME_FORMAT": "%s", "SLURM_CONF": folder + "/etc/slurm.conf",
            # of a Slurm that has another time, see clocks.sh
            **{k: os.environ[k] for k in ("LD_PRELOAD", "WALLTIME_SHIFT") if k in os.environ}}


def ask(folder, *command, check=True):
    r = subprocess.run(command, env=environment(folder), capture_output=True, check=False,
                       timeout=120)
    if check and r.returncode != 0:
        raise RuntimeError("%s: %s" % (command[0], r.stderr.decode("utf-8", "replace")))
    return r.stdout.decode("utf-8", "replace")


# --- hostlists and ids --------------------------------------------------------

def numbers(text):
    """'0-3,8' -> [0, 1, 2, 3, 8]"""
    out = []
    for part in text.split(","):
        if part:
            first, _, last = part.partition("-")
            out += range(int(first), int(last or first) + 1)
    return out


def hosts(text):
    """'n[1-2],big01' -> names; one bracket a name, which is all the lab has"""
    out = []
    for name, ranges, tail in re.findall(r"([^,\[\]]+)(?:\[([^\]]*)\]([^,]*))?", text):
        if not ranges:
            out.append(name)
            continue
        for part in ranges.split(","):
            first, _, last = part.partition("-")
            for i in range(int(first), int(last or first) + 1):
                out.append("%s%0*d%s" % (name, len(first), i, tail))
    return out


# The system's number of each of Slurm's, in Slurm's order (socket by socket,
# core by core, thread by thread); written by hand, as lscpu -e would show it.
OS_IDS = {
    # siblings are neighbours
    "block": (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15),
    # siblings are eight apart
    "interleaved": (0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15),
    # and the cores are dealt to the sockets in turn: 0, 2, 4 and 6 to the first
    "crossed": (0, 8, 2, 10, 4, 12, 6, 14, 1, 9, 3, 11, 5, 13, 7, 15),
}


def os_id(abstract, topology):
    return OS_IDS[topology][abstract]


# --- Slurm's side -------------------------------------------------------------

Seen = collections.namedtuple("Seen", "groups shared running")


def scontrol_records(text):
    """One text for each job: a name may hold newlines"""
    return [r.replace("\n", " ").rstrip() for r in re.split(r"\n(?=JobId=\d+ )", text) if r.strip()]


def parse_scontrol(line):
    """(job id, start), Seen; None for what is no running allocation"""
    m = re.match(r"JobId=(\d+) ", line)
    start = re.search(r" StartTime=(\d+) ", line)
    if not m or not start:
        return None
    groups = []
    for nodes, cpus, gres in re.findall(r" Nodes=(\S+) CPU_IDs=(\S+) Mem=\S+ GRES=(\S*)", line):
        index = []
        for ranges in re.findall(r"gpu[^,()]*\(IDX:([0-9,-]+)\)", gres):
            index += numbers(ranges)
        for host in hosts(nodes):
            groups.append((host, tuple(numbers(cpus)), tuple(sorted(index))))
    if not groups:
        return None
    # since 25.11 Exclusive= says what OverSubscribe=NO and USER said
    over = re.search(r" OverSubscribe=(\S+)(?: Exclusive=(\S+))?", line)
    shared = over.group(1) if over else "?"
    if over and over.group(2):
        shared = {"NODE": "NO", "TOPO": "NO", "USER": "USER"}.get(
            over.group(2), "OK" if shared == "NO" else shared)
    state = re.search(r" JobState=(\S+)", line).group(1)
    return (int(m.group(1)), int(start.group(1))), Seen(
        tuple(sorted(groups)), shared, state in ("RUNNING", "CONFIGURING"))


def seen_runs(folder):
    """What scontrol showed of each run: while it ran counts most, and the last
    word of the prolog more than the first, for slurmctld takes an allocation
    back now and then and gives another in the same second.  Least counts
    GRES=gpu:a100:0(IDX:): 20.11 shows it of a run that keeps its GPUs, after their
    node has registered again."""
    seen = {}
    for name in ("prolog", "watch"):
        try:
            f = open(folder + "/truth/" + name, encoding="utf-8", errors="replace")
        except FileNotFoundError:
            continue
        with f:
            for line in scontrol_records(f.read()):
                got = parse_scontrol(line)
                if got is None:
                    continue
                key, what = got
                rank = 2 if " JobState=RUNNING " in line else 1 if what.running else 0
                if "(IDX:)" in line:
                    rank = -1
                if key not in seen or rank >= seen[key][0]:
                    seen[key] = rank, what
    return {key: what for key, (_, what) in seen.items()}


def watch(folder):
    """Appends each line of scontrol that is new."""
    known = set()
    with open(folder + "/truth/watch", "a", encoding="utf-8", buffering=1) as out:
        while True:
            try:
                text = ask(folder, "scontrol", "show", "job", "-d", "-o", check=False)
            except subprocess.TimeoutExpired:
                text = ""
            for line in scontrol_records(text):
                got = parse_scontrol(line)
                if got and got not in known:
                    known.add(got)
                    out.write(line + "\n")
            time.sleep(0.7)


def watch_ends(folder):
    """Appends each run of which squeue shows the end: job, start, end, state."""
    known = set()
    with open(folder + "/truth/ends", "a", encoding="ascii", buffering=1) as out:
        while True:
            try:
                text = ask(folder, "squeue", "-h", "-a", "-r", "-t", "all", "-o", "%A %S %e %T", check=False)
            except subprocess.TimeoutExpired:
                text = ""
            for line in text.splitlines():
                if re.fullmatch(r"\d+ \d+ \d+ \w+", line) and line not in known and \
                        STATES.get(line.split()[3], "running") != "running":
                    known.add(line)
                    out.write(line + "\n")
            time.sleep(0.7)


def lines_of(path):
    try:
        with open(path, encoding="utf-8") as f:
            return f.read().splitlines()
    except FileNotFoundError:
        return []


def add_lost_records(folder, out, since):
    """Adds the runs of which slurmdbd lost the record: as it was when `runs` kept
    it in truth/saved, with the end that squeue showed.  "Gone" is in these."""
    there = set(out)
    for line in lines_of(folder + "/truth/saved"):
        job, start, row = line.split(" ", 2)
        key, row = (int(job), int(start)), json.loads(row)
        if int(row["Submit"]) < since or (key in out and out[key]["End"].isdigit()):
            continue
        if key not in out or row["End"].isdigit():
            out[key] = dict(row, Gone="" if key in there else "yes")
    for line in lines_of(folder + "/truth/ends"):
        job, start, end, state = line.split()
        f = out.get((int(job), int(start)))
        if f and not f["End"].isdigit():
            f.update(End=end, State=state, ElapsedRaw=str(int(end) - int(start)))


def rows(text, fields):
    """sacct's answer as dictionaries: separators are counted, not lines."""
    first, *parts = text.split(SEP)
    width = len(fields) - 1
    for i in range(0, len(parts) - width + 1, width):
        last, _, following = parts[i + width - 1].partition("\n")
        yield dict(zip(fields, (first, *parts[i:i + width - 1], last)))
        first = following


def runs(folder, since, begin=None):
    """All runs of accounting that had nodes, by (job id, start); with `begin`
    only those that were there after that time."""
    first = "now-3days" if begin is None else time.strftime(
        "%Y-%m-%dT%H:%M:%S", time.gmtime(begin))
    text = ask(folder, "sacct", "--local", "-D", "-X", "-a", "-n", "-P", "--delimiter=" + SEP,
               "-S", first, "-E", "now+1day", "-o", ",".join(SACCT))
    out = {}
    for f in rows(text, SACCT):
        if not f.get("Start", "").isdigit() or f["NodeList"] in ("", "None assigned"):
            continue
        if int(f["Submit"]) < since:
            continue
        out[int(f["JobIDRaw"]), int(f["Start"])] = f
    add_lost_records(folder, out, since)
    return out


def expected(f, seen, topology, gpus):
    """A backend's job as it must be; values None where nobody could know."""
    tres = dict(t.partition("=")[::2] for t in f["AllocTRES"].split(","))
    state = STATES[f["State"].split()[0]]
    limit = f["TimelimitRaw"]
    want = {"user": f["User"], "project": f["Account"], "partition": f["Partition"],
            "jobState": state, "numNodes": int(f["NNodes"]),
            "numHwthreads": int(f["AllocCPUS"]), "numAcc": int(tres.get("gres/gpu", 0)),
            "walltime": int(limit) * 60 if limit.isdigit() else 0,
            "duration": max(int(f["End"]) - int(f["Start"]), 0) if state != "running" else None,
            "hosts": sorted(hosts(f["NodeList"])), "shared": None, "resources": None,
            "name": f["JobName"]}
    array = re.match(r"(\d+)_\d+$", f["JobID"])
    want["arrayJobId"] = int(array.group(1)) if array else 0
    if seen is None:
        return want
    whole = all(h.startswith("n") and len(cpus) == SOCKETS * CORES * THREADS
                for h, cpus, _ in seen.groups)
    want["shared"] = {"NO": "none", "USER": "single_user"}.get(
        seen.shared, "none" if whole else "multi_user")
    want["resources"] = {
        h: (sorted(os_id(c, topology) if h.startswith("n") else c for c in cpus),
            sorted(gpu_address(h, i, gpus) for i in index) if seen.running else None)
        for h, cpus, index in seen.groups}
    return want


def gpu_address(host, index, gpus):
    for pattern, addresses in gpus.items():
        if re.search(pattern, host):
            return addresses[index if isinstance(addresses, list) else str(index)]
    return "no address for GPU %d of %s" % (index, host)


# --- the backend's side -------------------------------------------------------

def backend_jobs(url, token, running=False, cluster=None, every=False):
    """All committed jobs (of one cluster), by (job id, start); and how many rows there were.
    With every: of every cluster, by (cluster, job id, start)."""
    out, page, rows = {}, 1, 0
    while True:
        state = "&state=running" if running else ""
        status, text = lib.http("GET", "%s/api/jobs/?items-per-page=500&page=%d&with-metadata=true%s"
                                % (url, page, state), token=token)
        if status != 200:
            raise RuntimeError("listing: %d %s" % (status, text[:300]))
        jobs = json.loads(text)["jobs"] or []
        for j in jobs:
            if cluster and j["cluster"] != cluster:
                continue
            rows += 1
            out[((j["cluster"],) if every else ()) + (j["jobId"], j["startTime"])] = j
        if len(jobs) < 500:
            return out, rows
        page += 1


def got_resources(job):
    return {r["hostname"]: (sorted(r.get("hwthreads") or []), sorted(r.get("accelerators") or []))
            for r in job.get("resources") or []}


# --- the comparison -----------------------------------------------------------

# before 1.5 cc-backend had a number for it
EXCLUSIVE = {0: "multi_user", 1: "none", 2: "single_user"}


def differences(want, job, elapsed, short, scripts=True):
    """Texts, one for each field that is wrong."""
    out = []
    got = dict(job)
    if "shared" not in got and "exclusive" in got:
        got["shared"] = EXCLUSIVE.get(got["exclusive"])
    got["hosts"] = sorted(r["hostname"] for r in job.get("resources") or [])
    message = (job.get("metaData") or {}).get("message", "")
    late = elapsed < short
    for field in ("user", "project", "partition", "jobState", "numNodes", "numHwthreads",
                  "numAcc", "walltime", "duration", "hosts", "arrayJobId", "shared"):
        if want[field] is None:
            continue
        value = got.get(field)
        if value is None:
            value = "" if isinstance(want[field], str) else 0
        if value == want[field] or (field == "shared" and late and value == "multi_user"):
            continue
        out.append("%s is %r, should be %r" % (field, value, want[field]))
    meta = job.get("metaData") or {}
    # what slurmdbd changes in a strange name, it changed in our witness
    if re.fullmatch(r"[A-Za-z0-9 ._-]+", want["name"]) and meta.get("jobName") != want["name"]:
        out.append("jobName is %r, should be %r" % (meta.get("jobName"), want["name"]))
    if scripts and not late and not meta.get("jobScript", "").startswith("#!"):
        out.append("jobScript is %r" % meta.get("jobScript", "")[:40])
    if want["resources"] is None:
        return out
    have = got_resources(job)
    for host, (threads, accels) in want["resources"].items():
        t, a = have.get(host, ([], []))
        if t != threads and not (late and t == [] and (message or want["shared"] == "none")):
            out.append("%s: threads %s, should be %s" % (host, t, threads))
        if accels is not None and a != accels and not (late and a == [] and message):
            out.append("%s: GPUs %s, should be %s" % (host, a, accels))
    return out


def ledger_counts(path, cluster=None):
    starts, stops = collections.Counter(), collections.Counter()
    with open(path, encoding="utf-8") as f:
        for line in f:
            e = json.loads(line)
            kind = e.get("effect") or e.get("what") or ""
            body = e.get("body") or {}
            if cluster and e.get("cluster", body.get("cluster")) != cluster:
                continue
            key = (e.get("jobId", body.get("jobId")), e.get("startTime", body.get("startTime")))
            if kind.startswith("start"):
                starts[key] += 1
            elif kind.startswith("stop"):
                stops[key] += 1
    return starts, stops


def refused_sisters(path, truth, jobs):
    """Runs that cc-backend refuses because an earlier one of the same job is
    there, by what `cc-slurm-adapterctl -j queue --rejected` listed."""
    if not path:
        return set()
    with open(path, encoding="utf-8") as f:
        rows = json.load(f)["queue"]
    out = set()
    for row in rows:
        key = int(row["job"]), int(row["start"])
        if "cc-backend has another run of this job" in row["reason"] and any(
                k in jobs and k[0] == key[0] and 0 < key[1] - k[1] < 86400 for k in truth):
            out.add(key)
    return out


def set_back(truth, seen):
    """Where the clock was set back while a run ran, accounting has it begin when
    it ended, before it was submitted; it goes by the start that scontrol showed."""
    for key, f in list(truth.items()):
        if int(f["Start"]) >= int(f["Submit"]):
            continue
        for other in seen:
            if other[0] == key[0] and other[1] >= int(f["Submit"]) and other not in truth:
                truth[other] = dict(f, Start=str(other[1]), ElapsedRaw="0")
                del truth[key]
                break


NO_SUCH_RUN = "Slurm has no such run"
Finding = collections.namedtuple("Finding", "kind key text")


def ledger_findings(path, cluster, truth):
    """What the stand-in's ledger says against one start and one stop a run"""
    starts, stops = ledger_counts(path, cluster)
    for what, counts in (("start", starts), ("stop", stops)):
        for k, n in counts.items():
            if n != 1:
                yield Finding("doubled", k, "%d times %s" % (n, what))
    for key, f in truth.items():
        ended = STATES[f["State"].split()[0]] != "running"
        if not starts[key] or (ended and not stops[key]):
            yield Finding("lost", key, "%d starts, %d stops in the ledger" % (starts[key], stops[key]))


def findings(a, gpus, token):
    """What is lost, doubled and wrong; Slurm's runs that are to be at the
    backend; the backend's jobs; the refused runs; for how many runs nobody
    saw the threads."""
    truth = runs(a.dir, a.since)
    truth = {k: f for k, f in truth.items()
             if str(k[0]) not in a.never_ran.split(",") or f["State"] != "REQUEUED"}
    seen = seen_runs(a.dir)
    set_back(truth, seen)
    jobs, rows = backend_jobs(a.url, token, cluster=a.cluster)
    refused = refused_sisters(a.rejected, truth, jobs)
    truth = {k: f for k, f in truth.items() if k not in refused}
    out, without = [], 0
    for key, f in sorted(truth.items()):
        job = jobs.get(key)
        if job is None:
            out.append(Finding("lost", key, "missing"))
            continue
        want = expected(f, seen.get(key), a.topology, gpus)
        if want["resources"] is None:
            without += 1
        wrong = differences(want, job, int(f["ElapsedRaw"] or 0), a.short,
                            not a.no_scripts)
        if wrong:
            out.append(Finding("wrong", key, "; ".join(wrong)))
    out += [Finding("wrong", k, NO_SUCH_RUN)
            for k in jobs if k not in truth and k[1] >= a.since]
    if rows != len(jobs):
        out.append(Finding("doubled", None, "%d rows for %d runs at the backend" % (rows, len(jobs))))
    if a.ledger:
        out += ledger_findings(a.ledger, a.cluster, truth)
    return out, truth, jobs, refused, without


def finding_text(f):
    return f.text if f.key is None else "job %s started %s: %s" % (f.key + (f.text,))


def compare_once(a, gpus, token):
    found, truth, jobs, refused, without = findings(a, gpus, token)
    right = len(truth) - len({f.key for f in found if f.key in truth})
    report = [finding_text(f) for f in found]
    threads = sum(1 for k in truth if k in jobs and any(r.get("hwthreads")
                                                        for r in jobs[k].get("resources") or []))
    gpu = sum(1 for k in truth if k in jobs and jobs[k].get("numAcc"))
    total = ("%d runs in Slurm, %d right, %d wrong or missing; %d with threads, %d with GPUs"
             % (len(truth), right, len(report), threads, gpu))
    if without:
        total += "; of %d nobody saw the threads" % without
    if refused:
        total += "; %d refused for an earlier run of the same job, and listed" % len(refused)
    return report, total, len(truth)


def compare(a):
    gpus = {}
    if a.gpus:
        with open(a.gpus, encoding="utf-8") as f:
            gpus = json.load(f).get("gpuPciAddrs", {})
    token = lib.read_token(a.token)
    end = time.time() + a.wait * lib.PATIENCE
    while True:
        try:
            report, total, n = compare_once(a, gpus, token)
        except (RuntimeError, OSError, ValueError, subprocess.TimeoutExpired) as e:
            report, total, n = [str(e)], "no comparison", 0
        if n < a.expect:
            report.append("Slurm has %d runs, there should be %d" % (n, a.expect))
        if not report or time.time() >= end:
            break
        time.sleep(2)
    for line in report[:40]:
        print("  " + line)
    if len(report) > 40:
        print("  ... and %d more" % (len(report) - 40))
    if not a.quiet or report:
        print("  " + total)
    return 0 if not report else 1


def main():
    p = argparse.ArgumentParser(usage=__doc__)
    sub = p.add_subparsers(dest="verb", required=True)
    for verb in ("watch", "ends"):
        w = sub.add_parser(verb)
        w.add_argument("dir")
    r = sub.add_parser("runs")
    r.add_argument("dir")
    j = sub.add_parser("jobs")
    j.add_argument("url")
    j.add_argument("token")
    j.add_argument("--running", action="store_true")
    j.add_argument("--cluster")
    c = sub.add_parser("compare")
    c.add_argument("dir")
    c.add_argument("url")
    c.add_argument("token")
    c.add_argument("--topology", default="block")
    c.add_argument("--since", type=int, default=0)
    c.add_argument("--wait", type=int, default=0)
    c.add_argument("--short", type=int, default=0)
    c.add_argument("--expect", type=int, default=1)
    c.add_argument("--ledger")
    c.add_argument("--gpus")
    c.add_argument("--cluster")
    c.add_argument("--no-scripts", action="store_true")
    c.add_argument("--rejected", metavar="FILE",
                   help="what `queue --rejected` lists, as JSON")
    c.add_argument("--never-ran", default="", metavar="ID,...",
                   help="jobs of which what was requeued never ran: the backend must not have that")
    c.add_argument("--quiet", action="store_true")
    a = p.parse_args()
    if a.verb == "watch":
        watch(a.dir)
    elif a.verb == "ends":
        watch_ends(a.dir)
    elif a.verb == "runs":
        for key, f in sorted(runs(a.dir, 0).items()):
            print(key[0], key[1], json.dumps(f))
    elif a.verb == "jobs":
        for job in backend_jobs(a.url, lib.read_token(a.token), a.running, a.cluster)[0].values():
            print(json.dumps(job))
    else:
        return compare(a)
    return 0


if __name__ == "__main__":
    sys.exit(main())
