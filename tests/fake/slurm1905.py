#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A Slurm 19.05 that replays text: squeue, scontrol, sacct, sacctmgr, sdiag.

slurm1905.py COMMAND DATA STATE ARGUMENT...

DATA is tests/data/slurm/19.05 (adapted from a newer version's recordings, see
the README there; this is no live Slurm).  STATE is a folder: `now` has the
time at which the recording is to have been taken, and once `ended` is there
every job has ended, a minute after its start, and slurmctld knows none.
"""
import calendar
import os
import re
import sys
import time

RECORDED = calendar.timegm((2026, 11, 20, 21, 59, 39))
CLUSTER = "lab1905"
CONFIG = """Configuration data as of %(now)s
AccountingStorageType   = accounting_storage/slurmdbd
ClusterName             = lab1905
MinJobAge               = 300 sec
PrivateData             = none
SLURM_CONF              = /etc/slurm/slurm.conf
SLURM_VERSION           = 19.05.5
SlurmUser               = slurm(64030)

Slurmctld(primary) at ctl is UP
"""
LASTS = 60  # seconds of a job that ended after the recording
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d")


class Replay:
    def __init__(self, data, state):
        with open(state + "/now", encoding="ascii") as f:
            self.now = int(f.read())
        self.ended = os.path.exists(state + "/ended")
        self.data = data
        self.lines = self.read("scontrol-job-d-o.txt")

    def shift(self, m):
        """a time of the recording as epoch seconds (SLURM_TIME_FORMAT=%s)"""
        return str(calendar.timegm(time.strptime(m.group(), "%Y-%m-%dT%H:%M:%S"))
                   - RECORDED + self.now)

    def read(self, name):
        with open(os.path.join(self.data, name), encoding="utf-8") as f:
            return [TIME.sub(self.shift, l) for l in f.read().splitlines() if l]

    def jobs(self):
        for line in self.lines:
            job = dict(reversed(re.findall(r"([A-Za-z_/]+)=(\S*)", line.split(" Licenses=")[0])))
            job["user"], job["uid"] = re.match(r"(\w+)\((\d+)\)", job["UserId"]).groups()
            if self.ended and job["JobState"] == "RUNNING":
                job["JobState"] = "COMPLETED"
                job["EndTime"] = str(int(job["StartTime"]) + LASTS)
            yield line, job

    def squeue(self, args):
        if self.ended:
            return
        fmt = args[args.index("-o") + 1]
        for _, job in self.jobs():
            if job["JobState"] == "RUNNING":
                print(fmt.replace("%A", job["JobId"]).replace("%t", "R").replace("%S", job["StartTime"])
                      .replace("%j", job["JobName"]).replace("%k", "(null)").replace("%N", job["NodeList"]))

    def scontrol(self, args):
        words = [a for a in args if not a.startswith("-")]
        if words[:2] == ["show", "config"]:
            print(CONFIG % {"now": self.now}, end="")
        elif words[:2] == ["show", "node"]:
            print("\n".join(self.read("scontrol-node-d-o.txt")))
        elif words[:2] == ["show", "job"]:
            self.show_job(words[2:])
        elif words[:2] == ["write", "batch_script"]:
            print("#!/bin/bash\nsleep 600")

    def show_job(self, ids):
        found = [l for l, j in self.jobs() if not self.ended and (not ids or j["JobId"] == ids[0])]
        if ids and not found:
            print("slurm_load_jobs error: Invalid job id specified", file=sys.stderr)
            sys.exit(1)
        print("\n".join(found) if found else "No jobs in the system")

    def sacct(self, args):
        sep = next(a for a in args if a.startswith("--delimiter="))[12:]
        fields = args[args.index("-o") + 1].split(",")
        ids = args[args.index("-j") + 1].split(",") if "-j" in args else None
        for _, job in self.jobs():
            if ids is not None and job["JobId"] not in ids:
                continue
            if ids is None and job["JobState"] == "RUNNING":
                continue    # the states that are asked for are those of ended jobs
            print(sep.join(self.column(job, f) for f in fields))

    def column(self, job, field):
        base = job["JobId"]
        if "ArrayJobId" in job:
            base = job["ArrayJobId"] + "_" + job["ArrayTaskId"]
        elif "PackJobId" in job:
            base = job["PackJobId"] + "+" + job["PackJobOffset"]
        state = job["JobState"]
        days, clock = ("0-" + job["TimeLimit"]).split("-")[-2:]
        h, m, _ = clock.split(":")
        return {"JobIDRaw": job["JobId"], "JobID": base, "User": job["user"], "UID": job["uid"],
                "State": "CANCELLED by 0" if state == "CANCELLED" else state,
                "Submit": job["SubmitTime"], "Start": job["StartTime"],
                "End": job["EndTime"] if state != "RUNNING" else "Unknown",
                "TimelimitRaw": str(int(days) * 1440 + int(h) * 60 + int(m)),
                "AllocTRES": job["TRES"], "ReqMem": "0n", "ReqCPUS": job["NumCPUs"],
                "Reservation": "", "AdminComment": "", "NodeList": job["NodeList"] or "None assigned",
                "ExitCode": job["ExitCode"]}.get(field) or job.get(field, "")

    def sacctmgr(self, args):
        if "user" in args:
            print("laboper|Operator")
        elif "clusters" in args:
            print(CLUSTER)

    def sdiag(self, _):
        now = int(time.time())
        print("*******************************************************\n"
              "sdiag output at Sat Nov 21 00:00:00 2026 (%d)\n"
              "Data since      Fri Nov 20 00:00:00 2026 (%d)\n"
              "*******************************************************\n"
              "Server thread count:  3\nAgent queue size:     0\nDBD Agent queue size: 0"
              % (now, now - now % 86400 - 86400))


def main():
    replay = Replay(sys.argv[2], sys.argv[3])
    if "-V" in sys.argv[4:]:
        print("slurm 19.05.5")
    elif sys.argv[1] == "sinfo":
        sys.exit(0)
    else:
        getattr(replay, sys.argv[1])(sys.argv[4:])


if __name__ == "__main__":
    main()
