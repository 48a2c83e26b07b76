#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Users who submit nothing but hostile jobs, and what must become of them.

hostile.py submit T RATE        RATE jobs a second to the lab in T/slurm, until killed
hostile.py watch T              keep what scontrol says of each running job
hostile.py judge T URL TOKENFILE [WAIT]     hold it against what the backend has

Names, comments, scripts, accounts and folders hold delimiters, newlines, whole
records of other jobs, escape sequences, bytes that are no UTF-8 and much too
much.  What was submitted is noted in T/kinds as lab/kinds.sh does, and compared
by lab/kinds.py: a record of scontrol is found by the very bytes of its name.
"""
import argparse
import base64
import collections
import json
import os
import pwd
import random
import re
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "lab"))
import kinds  # noqa: E402
import kinds_truth as said  # noqa: E402
import lib    # noqa: E402
import expected  # noqa: E402

USERS = ("labalice", "labbob", "labcarol")
RECORD = (b"JobId=%d JobName=y UserId=root(0) GroupId=root(0) MCS_label=N/A JobState=FAILED "
          b"StartTime=1 EndTime=2 NodeList=n4 Nodes=n4 CPU_IDs=0-15 Mem=0 GRES=gpu:a100:4(IDX:0-3) "
          b"MinCPUsNode=1")
JSON = b'"}]}, {"job_id": %d, "job_state": ["FAILED"], "nodes": "n4"}'
PIECES = (
    b"\n", b"\t", b" ", b"|", b",", b"=", b"\\", b"\\n", b'"', b"'", b"%s%n", b"$(id)`id`", b";--",
    b"\x1b[31m", b"\x1b]0;x\x07", b"\x01", b"\x7f", b"\r", b"\x1e", b"\x1f", b"\xff\xfe", b"\xe9",
    b"\xc3", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", "ünï→名".encode(), b"\xe2\x80\xae", b"(null)",
    b"None assigned", b"UserId=root(0) GroupId=root(0) ", b" JobState=COMPLETED ",
    b" Nodes=n4 CPU_IDs=0-15 Mem=0 GRES=gpu:4(IDX:0-3)", b"\nJobId=1 ", b"Unknown", b"CANCELLED by 0",
    b"--help", b"<0123456789abcdef>", b"ArrayTaskId=3 ", b"{", b"}", b"[", b"]", b"null")
SCRIPT_MAX = 65536  # jobScriptMaxBytes
LONG = (300, 1000, 4096, 32768, 65536, 120000)


def text(last, most=8):
    """Some hostile bytes; `last` is an id that others have."""
    out = [random.choice(PIECES) for _ in range(random.randint(1, most))]
    if random.random() < 0.25:
        out.append(b"\n" + RECORD % last + b"\n")
    if random.random() < 0.1:
        out.append(JSON % last)
    if random.random() < 0.06:
        out.append(random.choice((b"L", b"\n", b"\xff", b"| ", b"<a>")) * random.choice(LONG))
    random.shuffle(out)
    return b"".join(out)[:120000]


def folder_of(base, last):
    name = re.sub(b"[/\0]", b"_", text(last, 4))[:200].strip(b"./") or b"x"
    path = os.path.join(os.fsencode(base), name)
    os.makedirs(path, exist_ok=True)
    os.chmod(path, 0o777)
    return path


def shape(last):
    """Where it runs and for how long; options of sbatch, seconds."""
    more, seconds = random.choice((
        (["-n1"], 8), (["-n3"], 6), (["-N2", "-n3"], 8), (["-p", "gpu", "-n1", "--gres=gpu:1"], 8),
        (["-p", "gpu", "-n2", "--gres=gpu:a100:2"], 6), (["-p", "share", "-s", "-n2"], 8),
        (["-p", "whole", "-N1"], 5), (["-n1", "-a", "1-2"], 6)))
    if random.random() < 0.5:
        more = more + [b"--comment=" + text(last)]
    if random.random() < 0.2:
        more = more + [b"--wckey=" + text(last, 3)[:200]]
    return more, seconds


def accounts(env):
    """Accounts whose names are no names; those that Slurm takes."""
    taken = []
    for i, name in enumerate((b"p|i|pe", b"sp ace", "ünï→名".encode(), b"q\"uo'te", b"esc\x1b[31m",
                              b"a=b", b"json\": [1,", b"n\xff\xfe", b"new\nline")):
        user = USERS[i % 2]
        ok = subprocess.run(["sacctmgr", "-i", "add", "account", name, "Cluster=alpha"], env=env,
                            capture_output=True, check=False).returncode == 0
        ok = ok and subprocess.run(["sacctmgr", "-i", "add", "user", user, b"account=" + name,
                                    "Cluster=alpha"], env=env, capture_output=True,
                                   check=False).returncode == 0
        if ok:
            taken.append((user, name))
    return taken


def submit_one(env, base, out, taken, last):
    """Its id, or `last` when Slurm would not have it."""
    user = random.choice(USERS)
    name = text(last)
    more, seconds = shape(last)
    if taken and random.random() < 0.2:
        user, account = random.choice(taken)
        more = more + [b"--account=" + account]
    cwd = folder_of(base, last) if random.random() < 0.15 else os.fsencode(base)
    noise = b"\n# ".join(text(last).split(b"\n")).replace(b"\r", b"")
    script = b"# " + noise + b"\nsleep %d" % (seconds + random.randint(0, 4))
    entry = pwd.getpwnam(user)
    try:
        r = subprocess.run(
            ["setpriv", "--reuid", user, "--regid", str(entry.pw_gid), "--init-groups", "sbatch",
             "--parsable", "-o", "/dev/null", b"--job-name=" + name, b"--chdir=" + cwd, *more],
            input=b"#!/bin/bash\n" + script + b"\n", env={**env, "HOME": "/tmp", "USER": user},
            cwd=cwd, capture_output=True, check=False, timeout=30)
    except (subprocess.TimeoutExpired, OSError):
        return last
    number = re.match(rb"(\d+)", r.stdout)
    if r.returncode != 0 or not number:
        return last
    # kinds.py takes off the newline that `base64 <<<` leaves
    out.write("hostile\t%d\t%s\t%s\t\t%d\n" % (
        int(number.group(1)), base64.b64encode(name + b"\n").decode(),
        base64.b64encode(b"#!/bin/bash\n" + script + b"\n").decode(), time.time()))
    return int(number.group(1))


def submit(folder, rate):
    env = {**expected.environment(folder + "/slurm"), "PATH": os.environ["PATH"]}
    random.seed(int(os.environ.get("CSA_SEED", os.getpid())))
    taken = accounts(env)
    print("%d hostile accounts" % len(taken), flush=True)
    stop = []
    signal.signal(signal.SIGTERM, lambda *_: stop.append(1))
    last, begin, n = 1, time.monotonic(), 0
    with open(folder + "/kinds", "a", encoding="utf-8", buffering=1) as out:
        while not stop:
            last = submit_one(env, folder + "/slurm/out", out, taken, last)
            n += 1
            time.sleep(max(0, begin + n / rate - time.monotonic()) if n % 50 else 0)
            if time.monotonic() - begin > n / rate + 30:    # Slurm was away: do not catch up
                begin, n = time.monotonic(), 0


def watch(folder):
    """Each running job's own answer, once, in the prolog or after."""
    lab, known = folder + "/slurm", set()
    with open(folder + "/truth", "ab", buffering=0) as out:
        while True:
            try:
                ids = expected.ask(lab, "squeue", "-h", "-a", "-t", "R", "-o", "%A %S", check=False)
                for line in set(ids.splitlines()) - known:
                    job = line.split()[0]
                    r = subprocess.run(["scontrol", "show", "job", "-d", "-o", job], check=False,
                                       env=expected.environment(lab), capture_output=True, timeout=30)
                    if r.returncode == 0 and job.isdigit():
                        known.add(line)
                        out.write(b"%s %d\n" % (job.encode(), len(r.stdout)) + r.stdout + b"\n")
            except subprocess.TimeoutExpired:
                pass
            time.sleep(0.5)


def sightings(folder, jobs):
    """{id: [Seen]}; array tasks carry the name of their array"""
    base = {j.id: j for j in jobs}
    out = collections.defaultdict(list)
    with open(folder + "/truth", "rb") as f:
        while True:
            head = f.readline().split()
            if len(head) != 2:
                return out
            number, body = int(head[0]), f.read(int(head[1]))
            f.read(1)
            array = re.match(rb"JobId=\d+ ArrayJobId=(\d+) ", body)
            job = base.get(int(array.group(1)) if array else number)
            names = {number: (job.name,)} if job else {}
            for _, record in said.records(body, names):
                seen = said.seen_in(record)
                if seen:
                    out[number].append(seen)


def as_kept(script, job):
    """A script beyond jobScriptMaxBytes: what was kept of it, if that is its begin."""
    kept = ((job.get("metaData") or {}).get("jobScript") or "").encode()
    clean = kinds.clean(script).encode()
    if len(clean) > SCRIPT_MAX and clean[:SCRIPT_MAX - 256] == kept[:SCRIPT_MAX - 256] \
            and len(kept) <= SCRIPT_MAX + 256:
        return kept
    return script


def judge_once(folder, url, token):
    """What is wrong, and the line that sums it up."""
    jobs = said.submitted(folder + "/kinds")
    base = {j.id: j for j in jobs}
    runs = said.accounting(folder + "/slurm")
    backend, rows = expected.backend_jobs(url, token)
    seen = sightings(folder, jobs)
    wrong, right, unseen = [], 0, 0
    gpus = gpus_of(folder)
    for r in runs:
        job, owner = backend.get(r.key), base.get(int(re.match(r"\d+", r.first["JobID"]).group()))
        if job is None or owner is None:
            wrong.append("job %d started %d (%s): missing" % (r.key + (r.last["State"],)))
            continue
        mine = kinds.of_run(seen[r.job], r)
        unseen += not mine
        late = not mine or not job["resources"][0].get("hwthreads")
        want = kinds.wanted(r, mine, "interleaved", gpus)
        want["project"] = [kinds.clean(os.fsencode(r.first["Account"]))]
        more = kinds.differences(r, owner._replace(flag="late" if late else "",
                                                   script=as_kept(owner.script, job)),
                                 want, job)
        if more:
            wrong.append("job %d started %d: %s" % (r.key + ("; ".join(more),)))
        else:
            right += 1
    known = {r.key for r in runs}
    wrong += ["job %d started %d: Slurm has no such run" % k for k in backend if k not in known]
    if rows != len(backend):
        wrong.append("%d rows for %d runs" % (rows, len(backend)))
    return wrong, "%d hostile runs, %d right, %d wrong; of %d nobody saw the threads" % (
        len(runs), right, len(wrong), unseen)


def gpus_of(folder):
    with open(folder + "/etc/config.json", encoding="utf-8") as f:
        return json.load(f).get("gpuPciAddrs", {})


def judge(folder, url, token, wait):
    end = time.time() + wait
    while True:
        wrong, line = judge_once(folder, url, lib.read_token(token))
        if not wrong or time.time() >= end:
            break
        time.sleep(5)
    for w in wrong[:30]:
        print("   " + w[:700])
    print("   " + line)
    return 1 if wrong else 0


def main():
    p = argparse.ArgumentParser(usage=__doc__)
    p.add_argument("verb", choices=("submit", "watch", "judge"))
    p.add_argument("folder")
    p.add_argument("more", nargs="*")
    a = p.parse_args()
    if a.verb == "submit":
        submit(a.folder, float(a.more[0]))
    elif a.verb == "watch":
        watch(a.folder)
    else:
        return judge(a.folder, a.more[0], a.more[1], int(a.more[2]) if len(a.more) > 2 else 0)
    return 0


if __name__ == "__main__":
    sys.exit(main())
