#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the running processes have: processes.py PAGE TABLE SUPERVISOR CONFIG

Reads the rights, limits, descriptors, namespaces and directories of the
supervisor and of its workers from /proc and compares each with the cell of the
table TABLE ("root" or "user") in the manual page PAGE.  Prints a line for each
difference.
"""
import json
import os
import pwd
import re
import sys

CAPS = ("chown dac_override dac_read_search fowner fsetid kill setgid setuid setpcap "
        "linux_immutable net_bind_service net_broadcast net_admin net_raw ipc_lock ipc_owner "
        "sys_module sys_rawio sys_chroot sys_ptrace sys_pacct sys_admin sys_boot sys_nice "
        "sys_resource sys_time sys_tty_config mknod lease audit_write audit_control setfcap "
        "mac_override mac_admin syslog wake_alarm block_suspend audit_read perfmon bpf "
        "checkpoint_restore").split()
USERS = {"slurmUser": "cc-slurm-adapter", "listenerUser": "cc-slurm-listen",
         "collectorUser": "cc-slurm-collect", "submitterUser": "cc-slurm-submit",
         "receiverUser": "cc-slurm-receive", "exporterUser": "cc-slurm-export"}
KINDS = (("/dev/null", "null"), ("anon_inode:[eventpoll]", "event loop"),
         ("anon_inode:[eventfd]", "event loop"), ("anon_inode:[timerfd]", "event loop"),
         ("anon_inode:inotify", "file watch"), ("socket:", "sockets"), ("pipe:", "pipes"), ("/memfd:secrets", "secrets"))


class Process:
    def __init__(self, pid, conf, role):
        self.pid, self.conf, self.role = pid, conf, role
        self.status = dict(re.findall(r"^(\w+):[ \t]*(.*)$", self.read("status"), re.M))
        self.limits = {m[0]: m[1:] for m in re.findall(
            r"^Max (.*?)\s{2,}(\S+)\s+(\S+)", self.read("limits"), re.M)}

    def read(self, name):
        with open("/proc/%d/%s" % (self.pid, name), encoding="ascii", errors="replace") as f:
            return f.read()

    def link(self, name):
        return os.readlink("/proc/%d/%s" % (self.pid, name))

    def ids(self, key):
        return [int(i) for i in self.status[key].split()]

    def user(self):
        uids = set(self.ids("Uid"))
        if len(uids) != 1:
            return "several: %s" % uids
        uid = uids.pop()
        if uid == 0:
            return "root"
        name = pwd.getpwuid(uid).pw_name
        for key, default in USERS.items():
            if uid != self.starter and name == (self.conf.get(key) or default):
                return key
        return "starter" if uid == self.starter else str(uid)

    def groups(self):
        gids = set(self.ids("Gid"))
        entry = pwd.getpwuid(self.ids("Uid")[0])
        if gids != {entry.pw_gid}:
            return "gid %s" % gids
        of_user = set(os.getgrouplist(entry.pw_name, entry.pw_gid))
        have = set(self.ids("Groups"))
        if have == {entry.pw_gid} and self.role != "runner":
            return "its own"
        return "all of its user" if have == of_user else str(have)

    def caps(self, *keys):
        masks = {int(self.status[k], 16) for k in keys}
        if len(masks) != 1:
            return "several"
        mask = masks.pop()
        if mask == self.everything:
            return "unchanged"
        return ", ".join(c for i, c in enumerate(CAPS) if mask >> i & 1) or "none"

    def capabilities(self):
        rest = {int(self.status[k], 16) for k in ("CapInh", "CapAmb")}
        return self.caps("CapPrm", "CapEff") if rest == {0} else "inheritable"

    def limit(self, name):
        soft, hard = self.limits[name]
        if soft != hard:
            return "soft %s, hard %s" % (soft, hard)
        return soft

    def size(self, name):
        value = self.limit(name)
        return "%d MiB" % (int(value) >> 20) if value.isdigit() and int(value) else value

    def place(self, name):
        path = self.link(name)
        return {"/": "/", self.base + "/empty": "empty", self.base + "/spool": "spool"}.get(
            path, path)

    def namespaces(self):
        mine = {n: os.readlink("/proc/self/ns/" + n) for n in os.listdir("/proc/self/ns")}
        other = [n for n in mine if self.link("ns/" + n) != mine[n]]
        return "other: %s" % other if other else "shared"

    def session(self):
        return "its own" if os.getsid(self.pid) == self.pid else "the starter's"

    def descriptor(self, fd):
        path = self.link("fd/" + fd)
        if fd in "12" and self.role == "supervisor" and path != "/dev/null":
            return "log"
        for start, kind in KINDS:
            if path.startswith(start):
                return kind
        if path.startswith(self.base + "/spool"):
            return "spool"
        return {self.base + "/lastrun": "last-run file", "/dev/kmsg": "kernel log",
                self.pid_file: "pid file"}.get(path, path)

    def descriptors(self):
        found = set()
        for fd in os.listdir("/proc/%d/fd" % self.pid):
            try:
                found.add(self.descriptor(fd))
            except FileNotFoundError:
                pass    # closed meanwhile
        if self.role == "runner":   # open while it starts a command
            found.discard("anon_inode:[landlock-ruleset]")
        return found


ROWS = (
    ("user", Process.user),
    ("groups", Process.groups),
    ("capabilities", Process.capabilities),
    ("bounding set", lambda p: p.caps("CapBnd")),
    ("no_new_privs", lambda p: p.status["NoNewPrivs"]),
    ("seccomp mode", lambda p: p.status["Seccomp"]),
    ("seccomp filters", lambda p: p.status["Seccomp_filters"]),
    ("core files", lambda p: p.limit("core file size")),
    ("descriptors", lambda p: p.limit("open files")),
    ("processes", lambda p: p.limit("processes")),
    ("file size", lambda p: p.size("file size")),
    ("memory", lambda p: p.size("data size")),
    ("oom_score_adj", lambda p: p.read("oom_score_adj").strip()),
    ("root directory", lambda p: p.place("root")),
    ("directory", lambda p: p.place("cwd")),
    ("namespaces", Process.namespaces),
    ("session", Process.session),
)


def table(page, name):
    """{row: {role: cell}} of the lines after `.\\" table NAME`, and the roles."""
    found, roles = {}, []
    for line in page.split('.\\" table %s\n' % name)[1].split("\n.El\n")[0].split("\n"):
        if line.startswith(".It Em property"):
            roles = line.split(" Ta Em ")[1:]
        elif line.startswith(".It "):
            cells = [c.strip() for c in line[4:].split(" Ta ")]
            found[cells[0]] = dict(zip(roles, cells[1:]))
    seven = re.search(r'^\.\\" seven\n(.*)\.$', page, re.M)[1]
    for row in found.values():
        row.update({role: seven for role, cell in row.items() if cell == "seven"})
    return found, roles


def may_open(page):
    """{role: kinds of descriptors} of the list after `.\\" open`."""
    part = page.split('.\\" open\n')[1].split("\n.El\n")[0]
    return {role: set(kinds.replace("\n", " ").strip().split(", "))
            for role, kinds in re.findall(r"^\.It (\w+)\n([^.]*)", part, re.M)}


def processes(supervisor, conf, roles):
    if not conf.get("slurmUser") and "runner" in roles:   # the owner of the last-run file, as supervisor/system/users.c
        conf["slurmUser"] = pwd.getpwuid(os.stat(conf["lastRunPath"]).st_uid).pw_name
    with open("/proc/self/status", encoding="ascii") as f:
        Process.everything = int(re.search(r"^CapBnd:\s*(\w+)", f.read(), re.M)[1], 16)
    Process.base = os.path.dirname(conf["lastRunPath"])
    Process.pid_file = conf["pidFilePath"]
    with open("/proc/%d/status" % supervisor, encoding="ascii") as f:
        Process.starter = int(re.search(r"^Uid:\s*(\d+)", f.read(), re.M)[1])
    pids = {"supervisor": supervisor}
    with open("/proc/%d/task/%d/children" % (supervisor, supervisor), encoding="ascii") as f:
        for pid in f.read().split():
            with open("/proc/%s/comm" % pid, encoding="ascii") as c:
                pids[c.read().strip()] = int(pid)
    if set(pids) != set(roles):
        raise SystemExit("the processes are %s" % sorted(pids))
    return {r: Process(pids[r], conf, r) for r in roles}


def main():
    page, name, supervisor, config = sys.argv[1:]
    with open(page, encoding="utf-8") as f:
        page = f.read()
    want, roles = table(page, name)
    with open(config, encoding="utf-8") as f:
        running = processes(int(supervisor), json.load(f), roles)
    kinds, bad = may_open(page), 0
    if set(want) != {row for row, _ in ROWS}:
        print("the rows of the table %s are not those of the test: %s" % (
            name, sorted(set(want) ^ {row for row, _ in ROWS})))
        return 1
    for role, process in running.items():
        for row, get in ROWS:
            got = get(process)
            if want[row].get(role) not in ("any", got):
                print("%s of the %s: %s in the manual page, %s in fact" % (
                    row, role, want[row].get(role), got))
                bad += 1
        more = process.descriptors() - kinds[role]
        if more:
            print("the %s has open: %s" % (role, sorted(more)))
            bad += 1
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
