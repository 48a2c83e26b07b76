# SPDX-License-Identifier: MIT
"""What became of runs in Slurm that lost a message or its state: by slurmctld's
log (SlurmctldDebug=verbose, UTC), the steps in slurmdbd, and squeue."""
import datetime
import re

import expected

LOGS = ("slurmctld.log", "backup.log")
BEGAN = "Running as primary controller"
# JobId=7, JobId=3_1(4), JobId=5+1(6): the number of the job is the last
STEP = re.compile(r"Recovered JobId=(?:\S*\((\d+)\)|(\d+)) StepId=")


def epoch(text):
    return datetime.datetime.fromisoformat(text).replace(tzinfo=datetime.timezone.utc).timestamp()


def recoveries(folder):
    """[(time, ids)] for each time that a slurmctld began to serve: the jobs of
    which it found a running step in its state."""
    out = []
    for name in LOGS:
        try:
            f = open(folder + "/log/" + name, encoding="utf-8", errors="replace")
        except FileNotFoundError:
            continue
        with f:
            ids = set()
            for line in f:
                m = STEP.search(line)
                if m:
                    ids.add(int(m.group(1) or m.group(2)))
                elif BEGAN in line:
                    out.append((epoch(line[1:line.index("]")]), ids))
                    ids = set()
    return sorted(out, key=lambda r: r[0])


def forgot(found, key):
    """The slurmctld that began to serve next after the run's start did not find
    the run in its state."""
    for at, ids in found:
        if at >= key[1]:
            return key[0] not in ids
    return False


def without_steps(folder, key):
    """slurmdbd has no step of the run: nothing of it was started on its nodes."""
    text = expected.ask(folder, "sacct", "-D", "-a", "-n", "-P", "-S", "now-3days", "-E", "now+1day",
                        "-j", str(key[0]), "-o", "JobIDRaw,Start")
    at = None
    for line in text.splitlines():
        name, _, start = line.partition("|")
        if "." not in name:
            at = name, start
        elif at == (str(key[0]), str(key[1])):
            return False
    return True


def ended(folder):
    """{run: (state, duration)} as squeue showed the end, in cc-backend's terms"""
    out = {}
    for line in expected.lines_of(folder + "/truth/ends"):
        job, start, end, state = line.split()
        out[int(job), int(start)] = expected.STATES[state], int(end) - int(start)
    return out
