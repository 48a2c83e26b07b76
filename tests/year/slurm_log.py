# SPDX-License-Identifier: MIT
"""Which runs slurmctld forgot, by its own log (SlurmctldDebug=verbose, UTC)."""
import datetime
import re

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
