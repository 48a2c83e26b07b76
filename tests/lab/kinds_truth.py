# SPDX-License-Identifier: MIT
"""What Slurm said of each run, for kinds.py and system/lib/hostile.py.

Which runs there were, and when, is `sacct -D` at the end; where they ran is
what scontrol said while they ran, or in the prolog.  Names and scripts are
what was submitted (T/kinds, written by kinds.sh), so that a record of scontrol
is found by the exact bytes before its UserId=, whatever a user put into them.
"""
import base64
import collections
import os
import re
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "system", "lib"))
import expected  # noqa: E402

FIELDS = ("JobIDRaw", "JobID", "User", "Account", "Partition", "Submit", "Start", "End", "State",
          "ExitCode", "NNodes", "AllocCPUS", "AllocTRES", "TimelimitRaw", "NodeList")
# What a kind may lack: nobody could look while it ran.
LATE_SECONDS = 2
# A job is noted when sbatch or srun has told its id.
SUBMIT_SECONDS = 60

Job = collections.namedtuple("Job", "kind id name script flag when")
Seen = collections.namedtuple("Seen", "state start groups over excl limit")


# --- what was submitted -----------------------------------------------------------

def submitted(path):
    """Jobs by id, in the order they were submitted: an id may come twice."""
    jobs = []
    with open(path, encoding="utf-8") as f:
        for line in f:
            kind, number, name, script, flag, when = line.rstrip("\n").split("\t")
            jobs.append(Job(kind, int(number), base64.b64decode(name)[:-1],
                            base64.b64decode(script)[:-1], flag, int(when)))
    return jobs


# --- scontrol ------------------------------------------------------------------------

def watch(folder):
    """Appends each answer that says something new, with its length before."""
    last = None
    with open(folder + "/truth/raw", "ab", buffering=0) as out:
        while True:
            try:
                r = subprocess.run(["scontrol", "show", "job", "-d", "-o"], check=False,
                                   env=expected.environment(folder), capture_output=True, timeout=30)
                text = re.sub(rb" RunTime=\S+", b"", r.stdout)
                if r.returncode == 0 and text != last:
                    out.write(b"%d\n" % len(text) + text + b"\n")
                    last = text
            except subprocess.TimeoutExpired:
                pass
            time.sleep(0.6)


def answers(folder):
    """What scontrol printed, one text an answer; the prolog's as one."""
    try:
        with open(folder + "/truth/prolog", "rb") as f:
            yield f.read()
    except FileNotFoundError:
        pass
    with open(folder + "/truth/raw", "rb") as f:
        while True:
            size = f.readline()
            if not size.endswith(b"\n"):
                return
            yield f.read(int(size))
            f.read(1)


def token(text, name):
    m = re.search((r" %s=(\S*)" % name).encode(), text)
    return m.group(1).decode("utf-8", "replace") if m else None


def groups_of(text):
    """[(host, threads, GPU indices)], from the part where no user writes"""
    first = text.find(b" NodeList=")
    last = text.find(b" MinCPUsNode=", first)
    out = []
    for nodes, cpus, gres in re.findall(
            rb" Nodes=(\S+) CPU_IDs=(\S+) Mem=\S+ GRES=(\S*)", text[first:last]):
        index = []
        for ranges in re.findall(r"(?:^|,)(?:gpu|dcu)[^,()]*\(IDX:([0-9,-]+)\)", gres.decode()):
            index += expected.numbers(ranges)
        # shares of devices: "shard:30(0/100,30/100)", each device in its place
        for shares in re.findall(r"(?:shard|mps)[^,()]*\(([0-9/,]+)\)", gres.decode()):
            index += [i for i, s in enumerate(shares.split(",")) if not s.startswith("0/")]
        for ranges in re.findall(r"(?:shard|mps)[^,()]*\(IDX:([0-9,-]+)\)", gres.decode()):
            index += expected.numbers(ranges)
        for host in expected.hosts(nodes.decode()):
            out.append((host, tuple(expected.numbers(cpus.decode())), tuple(sorted(set(index)))))
    return tuple(sorted(out))


# Where a record may begin: a name may hold such a line as well.
START = re.compile(rb"(?:^|\n)(?=JobId=(\d+) )")
HEAD = re.compile(rb"JobId=\d+ (?:ArrayJobId=\d+ ArrayTaskId=\S+ (?:ArrayTaskThrottle=\d+ )?)?"
                  rb"(?:HetJobId=\d+ HetJobOffset=\d+ )?JobName=")
# What may stand behind the name: 26.05 has SLUID=.
OWNER = re.compile(rb"(?: (?:SLUID|HetJobIdSet)=\S+)* UserId=")


def record_at(text, at, name):
    """That record from behind its name on, or None if it is no record of this job"""
    head = HEAD.match(text, at)
    if not head or not text.startswith(name, head.end()):
        return None
    behind = head.end() + len(name)
    if not OWNER.match(text, behind):
        return None
    end = text.find(b"\nJobId=", behind)
    return text[behind:end if end != -1 else len(text)]


def seen_in(record):
    start = token(record, "StartTime")
    if not start or not start.isdigit():
        return None
    return Seen(token(record, "JobState"), int(start), groups_of(record),
                token(record, "OverSubscribe"), token(record, "Exclusive"), token(record, "TimeLimit"))


def records(text, names):
    """(id, record) of each job of names, {id: names}, from behind its name on"""
    for m in START.finditer(text):
        job_id = int(m.group(1))
        for name in names.get(job_id, ()):
            record = record_at(text, m.end(), name)
            if record is not None:
                yield job_id, record


def sightings(folder, names):
    """{id: [Seen]} in the order they were seen"""
    out = collections.defaultdict(list)
    known = set()
    for text in answers(folder):
        for job_id, record in records(text, names):
            if (job_id, record) in known:
                continue
            known.add((job_id, record))
            seen = seen_in(record)
            if seen and seen.groups and seen not in out[job_id]:
                out[job_id].append(seen)
    return out


# --- sacct --------------------------------------------------------------------------

Run = collections.namedtuple("Run", "job key first last")


def accounting(folder):
    """Runs, oldest first; the records of a resized one are one run."""
    sep = expected.SEP
    # all clusters ids: a federation moves them beyond 2^26, nothing else differs
    text = expected.ask(folder, "sacct", "-D", "-X", "-a", "-n", "-P", "--delimiter=" + sep, "-S",
                     "now-1day", "-E", "now+1day", "-o", ",".join(FIELDS))
    rows = []
    for f in expected.rows(text, FIELDS):
        if f.get("Start", "").isdigit() and f["NodeList"] not in ("", "None assigned"):
            rows.append(f)
    rows.sort(key=lambda f: (int(f["JobIDRaw"]), int(f["Submit"]), int(f["Start"])))
    chains = []
    for f in rows:
        old = chains[-1] if chains else None
        if old and old[-1]["JobIDRaw"] == f["JobIDRaw"] and old[-1]["State"] == "RESIZING":
            old.append(f)
        else:
            chains.append([f])
    return [Run(int(c[0]["JobIDRaw"]), (int(c[0]["JobIDRaw"]), int(c[0]["Start"])), c[0], c[-1])
            for c in chains]


def owner(run, jobs):
    """The submitted job that this run is of; the last before it, if ids came twice."""
    base = int(re.match(r"\d+", run.first["JobID"]).group())
    mine = [j for j in jobs if j.id in (run.job, base)]
    before = [j for j in mine if int(run.first["Submit"]) >= j.when - SUBMIT_SECONDS]
    return (before or mine or [None])[-1]


def is_false_start(run):
    """Slurm took it back at once (PrologSlurmctld failed): not worth a run,
    for cc-backend would then refuse the real one for a day."""
    return run.last["State"] == "REQUEUED" and \
        int(run.last["End"]) - int(run.first["Start"]) <= LATE_SECONDS
