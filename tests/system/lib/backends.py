#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The stand-in or a real cc-backend behind one face, for delivery tests.

CC_BACKEND names the binary of a real one; without it the stand-in answers.
CC_BACKEND_OLD names an older binary, for tests of an upgrade.
"""
import json
import os
import signal
import subprocess
import time

import lib
from fake_collector import Fake, TOP

BINARY = os.environ.get("CC_BACKEND", "")
OLD_BINARY = os.environ.get("CC_BACKEND_OLD", "")


def real():
    return bool(BINARY)


def jobs_page(api, page):
    """A page fails with EOF while cc-backend writes the archive file of one of its jobs."""
    for _ in range(50):
        status, text = api("GET", "jobs/?items-per-page=500&with-metadata=1&page=%d" % page)
        if status != 500 or '"EOF"' not in text:
            break
        time.sleep(0.1)
    if status != 200:
        raise RuntimeError("jobs: %s %s" % (status, text))
    return json.loads(text)["jobs"] or []


def jobs_of(api):
    out, page = {}, 1
    while True:
        rows = jobs_page(api, page)
        out.update({(j["cluster"], j["jobId"], j["startTime"]): j for j in rows})
        if len(rows) < 500:
            return out
        page += 1


class Real:
    """A real cc-backend in a folder, which survives an exchange of the binary."""

    def __init__(self, folder, binary=None, port=None, commit=2, clusters="alpha=n[1-4]"):
        self.folder, self.binary = folder, binary or BINARY
        self.port, self.commit, self.clusters = port or lib.free_ports(1), commit, clusters
        os.makedirs(folder, exist_ok=True)

    def url(self):
        return "http://127.0.0.1:%d" % self.port

    def start(self):
        subprocess.run([TOP + "/tests/lab/ccbackend", self.binary, self.folder, str(self.port),
                        "--clusters", self.clusters, "--commit", str(int(self.commit))],
                       check=True, stdout=subprocess.DEVNULL)
        self.token = lib.read_token(self.folder + "/token")
        return self

    def stop(self):
        with open(self.folder + "/pid", encoding="ascii") as f:
            pid = int(f.read())
        try:
            os.kill(pid, signal.SIGTERM)
            for _ in range(200):
                os.kill(pid, 0)
                time.sleep(0.05)
                lib_reap(pid)
            os.kill(pid, signal.SIGKILL)
        except OSError:
            pass

    def api(self, method, path, body=None):
        return lib.http(method, self.url() + "/api/" + path,
                        None if body is None else json.dumps(body), self.token)

    def commit_now(self):
        """Nobody can ask for it: its own time passes."""
        time.sleep(self.commit + 1)

    def jobs(self):
        return jobs_of(self.api)


def lib_reap(pid):
    try:
        os.waitpid(pid, os.WNOHANG)
    except OSError:
        pass


class Stand(Fake):
    """The stand-in; its jobs have tags and metaData as a listing shows them."""

    def jobs(self):
        return jobs_of(self.api)


def backend(folder, commit=2, **more):
    return (Real if real() else Stand)(folder, commit=commit, **more).start()
