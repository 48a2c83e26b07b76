# SPDX-License-Identifier: MIT
"""What became of runs in a Slurm that lost its state: by slurmctld's log
(SlurmctldDebug=verbose, UTC), and by the steps in slurmdbd."""
import collections
import datetime
import glob
import re

import expected

LOGS = ("slurmctld.log", "backup.log")
BEGAN = "Running as primary controller"
# JobId=7, JobId=3_1(4), JobId=5+1(6): the number of the job is the last
JOB = r"JobId=(?:\S*\((\d+)\)|(\d+))"
STEP = re.compile("Recovered " + JOB + " StepId=")
DONE = re.compile("_job_complete: " + JOB + " done")
PROLOG = re.compile(JOB + " PrologSlurmctld (?:killed|exit)")
# of slurmd, if slurmstepd cannot start, for example because slurm.conf is wrong
LAUNCH = re.compile("Launching batch job (\\d+) ")
NO_STEP = re.compile("error: _forkexec_slurmstepd: slurmstepd failed to send return code")
# of slurmd, if a lost job has the same id and is still there
SECOND = re.compile("error: Job (\\d+) already running, do not launch second copy")

# began: [(time, ids)] for each time that a slurmctld began to serve, the jobs of
# which it found a running step in its state; done, prolog, second: {job: times}
# of ends, of prologs that failed and of starts that failed in a slurmd
Log = collections.namedtuple("Log", "began done prolog second")


def epoch(text):
    return datetime.datetime.fromisoformat(text).replace(tzinfo=datetime.timezone.utc).timestamp()


def job_of(m):
    return int(m.group(1) or m.group(2))


def read(folder):
    log = Log([], *(collections.defaultdict(list) for _ in range(3)))
    for name in LOGS:
        ids = set()
        for line in expected.lines_of(folder + "/log/" + name):
            if STEP.search(line):
                ids.add(job_of(STEP.search(line)))
            elif BEGAN in line:
                log.began.append((epoch(line[1:line.index("]")]), ids))
                ids = set()
            for what, into in ((DONE, log.done), (PROLOG, log.prolog)):
                m = what.search(line)
                if m:
                    into[job_of(m)].append(epoch(line[1:line.index("]")]))
    log.began.sort(key=lambda b: b[0])
    for name in glob.glob(folder + "/log/slurmd.*.log"):
        launched = None
        for line in expected.lines_of(name):
            launched = LAUNCH.search(line) or launched
            m = SECOND.search(line) or (launched if NO_STEP.search(line) else None)
            if m:
                log.second[int(m.group(1))].append(epoch(line[1:line.index("]")]))
    return log


def after(log, at):
    """The jobs of the slurmctld that began to serve next, None if none did"""
    return next((ids for t, ids in log.began if t >= at), None)


def forgot(log, key):
    """The next slurmctld did not find the run in its state."""
    ids = after(log, key[1])
    return ids is not None and key[0] not in ids


def forgot_end(log, key, duration):
    """The run ended after so many seconds, and ran for the next slurmctld."""
    return any(abs(int(t) - key[1] - duration) <= 1 and key[0] in (after(log, t) or ())
               for t in log.done[key[0]] if t >= key[1])


def not_started(log, key, end):
    """A prolog of the run failed, or its slurmd did not start it."""
    return any(key[1] - 1 <= t <= end + 1 for t in log.prolog[key[0]] + log.second[key[0]])


def without_steps(folder, key):
    """slurmdbd has no step that began with the run or after: nothing of the run
    was started on its nodes.  One record may have had an earlier run."""
    text = expected.ask(folder, "sacct", "-D", "-a", "-n", "-P", "-S", "now-3days", "-E", "now+1day",
                        "-j", str(key[0]), "-o", "JobIDRaw,Start")
    at = None
    for line in text.splitlines():
        name, _, start = line.partition("|")
        if "." not in name:
            at = name, start
        elif at == (str(key[0]), str(key[1])) and start.isdigit() and int(start) >= key[1]:
            return False
    return True


def ended(folder):
    """{run: (state, duration)} as squeue showed the end, in cc-backend's terms"""
    out = {}
    for line in expected.lines_of(folder + "/truth/ends"):
        job, start, end, state = line.split()
        out[int(job), int(start)] = expected.STATES[state], int(end) - int(start)
    return out
