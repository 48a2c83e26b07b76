#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""hook_client.py ADAPTER DIR -- every bad door for the hook client.

Each row runs it as slurmctld does and looks at its status, its time and what
it says; and that what it sends is the message a daemon expects.
"""
import json
import os
import re
import resource
import socket
import subprocess
import sys
import threading
import time

import lib

adapter, folder = sys.argv[1:3]
ENV = {"SLURM_JOB_ID": "4711", "SLURM_CLUSTER_NAME": "alpha",
       "SLURM_SCRIPT_CONTEXT": "prolog_slurmctld", "SLURM_JOB_USER": "u1",
       "SLURM_JOB_NAME": 'a "name"\n<&>', "PATH": "/usr/bin"}
LIMIT = 1.0     # seconds; plus what a busy machine takes to start a process
SLACK = 0.25 + lib.PATIENCE - 1
failed = 0


def is_(what, ok, more=""):
    global failed
    failed += not ok
    print("   %s %s%s" % ("ok     " if ok else "FAILED ", what, "" if ok else "  (%s)" % more))


def hook(*args, env=None, **more):
    """status, seconds, stderr of one call"""
    start = time.monotonic()
    r = subprocess.run([adapter, *args], env=ENV if env is None else env, timeout=20, check=False,
                       stdin=subprocess.DEVNULL, capture_output=True, **more)
    return r.returncode, time.monotonic() - start, r.stderr.decode("utf-8", "replace")


def quiet(what, *args, **more):
    status, took, err = hook(*args, **more)
    is_("%s (%d ms)" % (what, took * 1000), status == 0 and took <= LIMIT + SLACK,
        "status %d, %.2f s, %s" % (status, took, err.strip()))


def server(path, backlog=8):
    s = socket.socket(socket.AF_UNIX)
    if os.path.exists(path):
        os.unlink(path)
    s.bind(path)
    s.listen(backlog)
    return s


def message(*args, family=socket.AF_UNIX, path=None, env=None):
    """What arrives at a door that works."""
    if family == socket.AF_UNIX:
        s = server(path)
    else:
        s = socket.socket(family)
        s.bind(path)
        s.listen(8)
        args = [a.replace("PORT", str(s.getsockname()[1])) for a in args]
    got = []

    def take():
        s.settimeout(5)
        try:
            c = s.accept()[0]
            c.settimeout(3)
            data = b""
            while True:
                more = c.recv(65536)
                if not more:
                    break
                data += more
            got.append(data)
        except OSError as e:
            got.append(str(e).encode())
    t = threading.Thread(target=take)
    t.start()
    status, took, err = hook(*args, env=env)
    t.join()
    s.close()
    return status, took, got[0] if got else b"", err


def good(what, *args, **more):
    status, took, data, err = message(*args, **more)
    try:
        m = json.loads(data)
        ok = (status == 0 and took <= LIMIT + SLACK and m.get("SLURM_JOB_ID") == "4711"
              and m.get("SLURM_CLUSTER_NAME") == "alpha"
              and all(isinstance(v, str) for v in m.values()))
    except (ValueError, AttributeError):
        ok = False
    is_("%s (%d ms)" % (what, took * 1000), ok, "status %d, got %r, %s" % (status, data[:200], err))
    return data


os.chdir(folder)
sock = folder + "/hook.sock"
good("the message arrives", "-socket", sock, path=sock)
good("two dashes and = are taken", "--socket=" + sock, path=sock)
good("unix: is taken", "-socket", "unix:" + sock, path=sock)
good("TCP, IPv4", "-socket", "tcp:127.0.0.1:PORT", family=socket.AF_INET, path=("127.0.0.1", 0))
good("TCP, IPv6", "-socket", "tcp:[::1]:PORT", family=socket.AF_INET6, path=("::1", 0))
with open("hook.json", "w", encoding="ascii") as f:
    json.dump({"prepSockConnectPath": sock, "ccRestJwt": "x" * 3000}, f)
good("the socket of -config", "-config", folder + "/hook.json", path=sock)
with open("hook.json", "w", encoding="ascii") as f:
    json.dump({"PREPSOCKCONNECTPATH": sock}, f)
good("a key in another case, as the daemon reads it", "-config", folder + "/hook.json", path=sock)
good("-debug of the Go adapter", "-debug", "5", "-socket", sock, path=sock)

quiet("no socket", "-socket", folder + "/nothing.sock")
quiet("no folder", "-socket", folder + "/no/such/folder/x.sock")
quiet("a path longer than a socket's", "-socket", "/" + "x" * 4000)
quiet("a file that is no socket", "-socket", folder + "/hook.json")
quiet("no such config", "-config", folder + "/nothing.json")
for name, text in (("empty", ""), ("garbage", "\0\1\2{{{"), ("wrong type", '{"prepSockConnectPath": 7}'),
                   ("not an object", "[]"), ("deep", "[" * 100000), ("long", '{"x":"' + "y" * 3000000)):
    with open("bad.json", "w", encoding="latin1") as f:
        f.write(text)
    quiet("a config that is %s" % name, "-config", folder + "/bad.json")
os.mkfifo("fifo.json")
quiet("a config that is a FIFO nobody writes", "-config", folder + "/fifo.json")
quiet("a config that is a folder", "-config", folder)
dead = server(sock)
dead.close()
quiet("a socket nobody listens on", "-socket", sock)
for bad in ("tcp:127.0.0.1:1", "tcp:192.0.2.1:9", "tcp:[2001:db8::1]:9", "tcp:127.0.0.1:99999",
            "tcp:", "tcp:127.0.0.1", "tcp:not.a.number:5", "tcp:[::1:5", "udp:1:2", ""):
    quiet("door %r" % bad, "-socket", bad)
full = server(sock, 0)
held = []
for _ in range(4):
    c = socket.socket(socket.AF_UNIX)
    c.setblocking(False)
    try:
        c.connect(sock)
    except BlockingIOError:
        pass
    held.append(c)
quiet("a full backlog", "-socket", sock)
full.close()
deaf = server(sock)
big = dict(ENV, SLURM_JOB_COMMENT="c" * 120000, **{"SLURM_X%d" % i: "y" * 100000 for i in range(8)})
quiet("a daemon that reads nothing, with a big environment", "-socket", sock, env=big)
quiet("a daemon that is stopped", "-socket", sock)
deaf.close()
quiet("no environment", "-socket", sock, env={})
quiet("a job id that is none", "-socket", sock, env=dict(ENV, SLURM_JOB_ID="12x"))
quiet("no cluster", "-socket", sock, env={"SLURM_JOB_ID": "5"})
quiet("four descriptors", "-socket", sock,
      preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (4, 4)))
quiet("stdout and stderr closed", "-socket", sock, preexec_fn=lambda: [os.close(i) for i in (0, 1, 2)])

status, _, err = hook("-help")
is_("-help says how, status 0", status == 0 and "-config" in err and "-daemon" in err, err)
said = subprocess.run([adapter, "-version"], check=False, capture_output=True)
is_("-version prints name and version, status 0", said.returncode == 0 and
    re.fullmatch(rb"cc-slurm-adapter \d+\.\d+\.\d+\n", said.stdout), said)
status, _, err = hook("-nonsense")
is_("an unknown flag is named, status 2", status == 2 and "nonsense" in err,
    "status %d %s" % (status, err))
for level in ("6", "-1"):
    status, _, err = hook("-debug", level, "-socket", sock)
    is_("-debug %s is accepted, as by the Go adapter" % level, status == 0, "status %d %s" % (status, err))
for level in ("x", "", "99999999999999999999"):
    status, _, err = hook("-debug", level, "-socket", sock)
    is_("-debug %r is refused, status 2" % level, status == 2 and "-debug takes a number" in err,
        "status %d %s" % (status, err))
    status, _, err = hook("-daemon", "-test", "-debug", level, "-config", folder + "/nothing.json")
    is_("and by the daemon", status == 2 and "-debug" in err, "status %d %s" % (status, err))

times = []
for _ in range(20):
    times.append(hook("-socket", folder + "/nothing.sock")[1])
true = []
for _ in range(20):
    start = time.monotonic()
    subprocess.run(["/bin/true"], env=ENV, check=False)
    true.append(time.monotonic() - start)
print("   hook client %.1f ms, true %.1f ms (medians of 20)"
      % (sorted(times)[10] * 1000, sorted(true)[10] * 1000))
sys.exit(1 if failed else 0)
