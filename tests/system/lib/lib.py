#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Small tools of the system tests, for lib.sh to call.

lib.py freeport [N]                 first of N free ports in a row on 127.0.0.1
lib.py conf FILE KEY=VALUE...       write or change a config.json (VALUE: JSON,
                                    else taken as text; KEY= removes the key)
lib.py notify SOCKET FILE           be systemd: what is notified goes to FILE
lib.py get FILE|- PATH...           print a value of a JSON file, by keys
lib.py send unix:PATH|tcp:H:P FILE  open, send FILE's bytes, close
lib.py pss PID...                   sum of PSS in kB
"""
import fcntl
import json
import os
import socket
import sys
import time


# All limits of time are multiplied by it, as in lib.sh.
PATIENCE = int(os.environ.get("LAB_PATIENCE", "1"))
ROW = 50         # ports between the rows of two labs
RESERVED = 120   # seconds until a lab listens on all of its row
RETAINED = 600   # seconds: a test stops what listens on its port, and starts it again


def reserve(start, seconds):
    """True if no other process has taken this port, or the row that begins with it."""
    path = "/tmp/csa-ports.%d" % start
    try:
        if time.time() - os.stat(path).st_mtime < seconds:
            return False
    except FileNotFoundError:
        pass
    with open(path, "w", encoding="utf-8"):
        os.utime(path)
    return True


def is_free(start, n):
    socks = []
    try:
        for port in range(start, start + n):
            s = socket.socket()
            socks.append(s)
            s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            s.bind(("127.0.0.1", port))
        return True
    except OSError:
        return False
    finally:
        for s in socks:
            s.close()


def free_ports(n):
    """The first of n ports in a row on which nobody listens."""
    # a lab takes its row one by one: single ports and chroots keep away from rows
    low, high, step = (12000, 20000, 7) if n == 1 else (26500, 32000, ROW)
    base = low + os.getpid() * 61 % (high - low) // step * step
    # in a chroot process ids say nothing of those who run beside it
    chroot = "CSA_PORTS" in os.environ
    if chroot:
        low, high, step, base = 20000, 26500, 7, int(os.environ["CSA_PORTS"])
    with open("/tmp/csa-ports.lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for start in list(range(base, high - n, step)) + list(range(low, base, step)):
            if is_free(start, n) and (chroot or reserve(start, RETAINED if n == 1 else RESERVED)):
                return start
    sys.exit("no free ports")


def conf(path, changes):
    """Sets keys of a JSON object in a file that stays 0600 and whole."""
    try:
        with open(path, encoding="utf-8") as f:
            keys = json.load(f)
    except FileNotFoundError:
        keys = {}
    for change in changes:
        key, _, value = change.partition("=")
        if value == "":
            keys.pop(key, None)
            continue
        try:
            keys[key] = json.loads(value)
        except ValueError:
            keys[key] = value
    new = path + ".new"
    with open(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w",
              encoding="utf-8") as f:
        json.dump(keys, f, indent=2)
        f.write("\n")
    if os.path.exists(path):
        old = os.stat(path)
        os.chown(new, old.st_uid, old.st_gid)
    os.rename(new, path)


def notify(path, out):
    """Takes datagrams as systemd does and keeps their lines."""
    s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    s.bind(path)
    os.chmod(path, 0o777)
    with open(out, "a", encoding="utf-8", buffering=1) as f:
        while True:
            for line in s.recv(8192).decode("utf-8", "replace").splitlines():
                if not line.startswith("WATCHDOG"):
                    f.write(line + "\n")


def http(method, url, body=None, token=None, timeout=30):
    """(status, body) of one request; 0 when nobody answered."""
    # imported here: a third of the CPU time of a command that does not need them
    import ssl
    import urllib.error
    import urllib.request
    req = urllib.request.Request(url, method=method,
                                 data=None if body is None else body.encode())
    if token:
        req.add_header("X-Auth-Token", token)
    if body is not None:
        req.add_header("Content-Type", "application/json")
    tls = ssl._create_unverified_context() if url.startswith("https") else None
    try:
        with urllib.request.urlopen(req, timeout=timeout, context=tls) as r:
            return r.status, r.read().decode("utf-8", "replace")
    except urllib.error.HTTPError as e:
        return e.code, e.read().decode("utf-8", "replace")
    except OSError as e:
        return 0, str(e)


def read_token(path):
    """A token file's content, or None."""
    if not path:
        return None
    with open(path, encoding="utf-8") as f:
        return f.read().strip()


def send(where, path):
    """Writes a file's bytes to a socket as one client would."""
    kind, _, rest = where.partition(":")
    if kind == "unix":
        s = socket.socket(socket.AF_UNIX)
        s.settimeout(5)
        s.connect(rest)
    else:
        host, _, port = rest.rpartition(":")
        s = socket.create_connection((host.strip("[]"), int(port)), timeout=5)
    with s, open(path, "rb") as f:
        try:
            while True:
                chunk = f.read(65536)
                if not chunk:
                    break
                s.sendall(chunk)
            s.shutdown(socket.SHUT_WR)
            s.recv(1)
        except OSError as e:
            print(e, file=sys.stderr)   # the door was shut on us: fair


def pss(pids):
    """Proportional set size of processes, kB."""
    total = 0
    for pid in pids:
        with open("/proc/%s/smaps_rollup" % pid, encoding="ascii") as f:
            total += sum(int(l.split()[1]) for l in f if l.startswith("Pss:"))
    return total


def get(where, keys):
    """A value deep in a JSON document."""
    doc = json.load(sys.stdin if where == "-" else open(where, encoding="utf-8"))
    for key in keys:
        doc = doc[int(key)] if isinstance(doc, list) else doc[key]
    print(doc if isinstance(doc, str) else json.dumps(doc))


def main(argv):
    verb, args = argv[1], argv[2:]
    if verb == "freeport":
        print(free_ports(int(args[0]) if args else 1))
    elif verb == "conf":
        conf(args[0], args[1:])
    elif verb == "notify":
        notify(*args)
    elif verb == "get":
        get(args[0], args[1:])
    elif verb == "send":
        send(*args)
    elif verb == "pss":
        print(pss(args))
    else:
        sys.exit(__doc__)
    return 0


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv))
