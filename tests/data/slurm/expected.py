#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Expected records of recorded jobs, for test_scontrol_expected.

expected.py FILE >EXPECTED    FILE is output of `scontrol show job -d -o`.

This script shares no code with the reader, and no test runs it.  It wrote
*.expected once; the lines were compared with the recordings by eye.  A record
is one line.  Threads are CPU_IDs, devices are HOST-INDEX.
"""
import calendar
import re
import sys
import time

ENDED = ("COMPLETED", "CANCELLED", "FAILED", "TIMEOUT", "NODE_FAIL", "PREEMPTED",
         "BOOT_FAIL", "DEADLINE", "OUT_OF_MEMORY")
NEVER_RAN = ("PENDING", "SPECIAL_EXIT", "REVOKED")


def epoch(text):
    if text in ("Unknown", "None", "N/A"):
        return 0
    if text.isdigit():
        return int(text)
    return calendar.timegm(time.strptime(text, "%Y-%m-%dT%H:%M:%S"))


def seconds(text):
    m = re.fullmatch(r"(?:(\d+)-)?(\d+):(\d+):(\d+)", text)
    return sum(int(v or 0) * k for v, k in zip(m.groups(), (86400, 3600, 60, 1))) if m else 0


def numbers(text):
    out = []
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        out += range(int(first), int(last or first) + 1)
    return out


def ranges(ids):
    """[0, 1, 2, 8] -> '0-2,8-8'"""
    out = []
    for i in sorted(ids):
        if out and out[-1][1] == i - 1:
            out[-1][1] = i
        else:
            out.append([i, i])
    return ",".join("%d-%d" % tuple(r) for r in out)


def hosts(text):
    out = []
    for name, inside in re.findall(r"([^,\[\]]+)(?:\[([^\]]*)\])?", text):
        if not inside:
            out.append(name)
            continue
        for part in inside.split(","):
            first, _, last = part.partition("-")
            out += ["%s%0*d" % (name, len(first), i)
                    for i in range(int(first), int(last or first) + 1)]
    return out


def megabytes(text):
    m = re.fullmatch(r"([\d.]+)([KMGT]?)", text)
    return int(float(m.group(1)) * {"K": 1 / 1024, "": 1, "M": 1, "G": 1024, "T": 1048576}[m.group(2)])


def groups(text):
    """host -> (threads, GPU indices)"""
    out = {}
    for nodes, cpus, gres in re.findall(r" Nodes=(\S+) CPU_IDs=(\S+) Mem=\S+ GRES(?:_IDX)?=(\S*)", text):
        index = []
        for idx in re.findall(r"(?:^|,)gpu(?::[^,()]*)?\(IDX:([0-9,-]*)\)", gres):
            index += numbers(idx)
        for host in hosts(nodes):
            out[host] = (numbers(cpus), sorted(set(index)))
    return out


def sharing(v):
    """Slurm's words for who else may be on the nodes"""
    if "Exclusive" in v and v["Exclusive"] != "NO":
        return {"NODE": "none", "USER": "single_user", "MCS": "multi_user"}[v["Exclusive"]]
    if "Exclusive" not in v and v["OverSubscribe"] == "NO":
        return "none"
    if v["OverSubscribe"] in ("OK", "NO"):
        return "multi_user-unless-whole"
    return {"USER": "single_user"}.get(v["OverSubscribe"], "multi_user")


def memory(v, nodes):
    m = re.search(r"(?:^|,)mem=([^,]+)", v.get("AllocTRES", v.get("TRES", "")))
    if "MinMemoryCPU" in v and megabytes(v["MinMemoryCPU"]):
        return megabytes(v["MinMemoryCPU"]) * max(int(v["NumTasks"]) * int(v["CPUs/Task"]), nodes)
    if "MinMemoryNode" in v and megabytes(v["MinMemoryNode"]):
        return megabytes(v["MinMemoryNode"]) * nodes
    return megabytes(m.group(1)) if m else 0


def exit_code(state, code, signal):
    """as wait(2) has it; 0 of a job that did not complete is none"""
    if state not in ENDED or (state != "COMPLETED" and code == signal == 0):
        return -1
    return code << 8 | signal


def record(line):
    """One line, or None for a job that is no run or whose text leaves a doubt."""
    owners = re.findall(r" UserId=([^ ()]*)\(\d+\) GroupId=[^ ()]*\(\d+\) ", line)
    if len(owners) != 1:
        return None
    head, _, rest = line.partition(" UserId=")
    rest = " UserId=" + rest.split(" Licenses=")[0]
    v = {k: w for k, w in reversed(re.findall(r" ([A-Za-z/]+)=(\S*)", rest))}
    state = v["JobState"]
    if state in NEVER_RAN or (state in ENDED and "Nodes" not in v and v["NodeList"] in ("", "(null)")):
        return None
    h = {k: w for k, w in re.findall(r"(\w+)=(\S*)", head.split(" JobName=")[0])}
    at = groups(rest)
    if not at:
        at = {n: ([], []) for n in hosts(v["NodeList"])}
    nodes = len(at)
    tres = v.get("AllocTRES", v.get("TRES", ""))
    gpus = re.search(r"(?:^|,)gres/gpu=(\d+)", tres)
    seen = sum(len(i) for _, i in at.values())
    cpus = re.search(r"(?:^|,)cpu=(\d+)", tres)
    done = state in ENDED
    code = [int(i) for i in v["ExitCode"].split(":")]
    text = ("%s start %d state %s end %d user %s account %s partition %s qos %s array %s_%s het %s+%s"
            " shared %s nodes %d cpus %s accels %d walltime %d memory %d exit %d" % (
                h["JobId"], epoch(v["StartTime"]), state, epoch(v["EndTime"]) if done else 0,
                owners[0], v["Account"], v["Partition"], v["QOS"], h.get("ArrayJobId", 0),
                h.get("ArrayTaskId", 0), h.get("HetJobId", 0), h.get("HetJobOffset", 0), sharing(v),
                nodes, cpus.group(1) if cpus else v["NumCPUs"],
                seen if seen else int(gpus.group(1)) if gpus else 0, seconds(v["TimeLimit"]),
                memory(v, nodes), exit_code(state, *code)))
    for host in sorted(at):
        text += " | " + " ".join([host, ranges(at[host][0]) or "-"] +
                                 ["%s-%d" % (host, i) for i in at[host][1]])
    return text


def main():
    with open(sys.argv[1], encoding="utf-8", errors="surrogateescape") as f:
        # a name may hold a newline
        lines = re.split(r"\n(?=JobId=\d+ )", f.read())
    for line in lines:
        text = record(line)
        if text:
            print(text)


if __name__ == "__main__":
    main()
