#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the Slurm commands of the Go adapter, and nothing else.

go_commands.py SOCKET CLUSTER POLL LOG

The commands and their times are those that its log at -debug 4 shows on Slurm
24.11: at each POLL seconds sinfo, sacct by time and squeue; a second after a
hook message sacct for all jobs of the messages since then, and for those that
are new squeue, the script and the record, one command for each job.  All
print JSON.  SOCKET takes the hook client's messages.  Each command is a line
in LOG; the outputs are thrown away.
"""
import json
import os
import select
import socket
import subprocess
import sys
import time

DELAY = 1   # slurmQueryDelay


class Commands:
    def __init__(self, cluster, log):
        self.cluster = cluster
        self.log = log
        self.known = set()      # jobs whose start was sent
        self.last = time.time()

    def run(self, *words):
        self.log.write(" ".join(words) + "\n")
        self.log.flush()
        subprocess.run(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                       check=False)

    def poll(self):
        clock = "%Y-%m-%dT%H:%M:%S"
        begin, self.last = self.last - 1, time.time()
        self.run("sinfo", "--cluster", self.cluster, "--noheader", "--json")
        self.run("sacct", "--cluster", self.cluster, "--allusers",
                 "--starttime", time.strftime(clock, time.localtime(begin)),
                 "--endtime", time.strftime(clock, time.localtime(self.last)), "--json")
        self.run("squeue", "--noheader", "--cluster", self.cluster, "--all", "--json")

    def jobs(self, ids):
        new = [i for i in ids if i not in self.known]
        self.run("sacct", "--cluster", self.cluster, "-j", ",".join(ids), "--json")
        if not new:
            return
        self.known.update(new)
        self.run("squeue", "--noheader", "--cluster", self.cluster, "-j", ",".join(new), "--json")
        for job in new:
            self.run("scontrol", "--cluster", self.cluster, "write", "batch_script", job, "-")
            self.run("scontrol", "--cluster", self.cluster, "show", "job", job)


def message(listener):
    """The job id of one message of the hook client."""
    client, _ = listener.accept()
    client.settimeout(5)
    text = b""
    with client:
        while part := client.recv(65536):
            text += part
    return json.loads(text)["SLURM_JOB_ID"]


def main():
    path, cluster, poll, log = sys.argv[1:]
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    os.chmod(path, 0o666)
    listener.listen(128)
    commands = Commands(cluster, open(log, "w", encoding="utf-8"))
    next_poll, due, ids = time.monotonic(), None, []
    while True:
        wait = min(next_poll, due or next_poll) - time.monotonic()
        if wait > 0 and select.select([listener], [], [], wait)[0]:
            ids.append(message(listener))
            due = due or time.monotonic() + DELAY
        now = time.monotonic()
        if due and now >= due:
            commands.jobs(list(dict.fromkeys(ids)))
            due, ids = None, []
        if now >= next_poll:
            commands.poll()
            next_poll += float(poll)


if __name__ == "__main__":
    main()
