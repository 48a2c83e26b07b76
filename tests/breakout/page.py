# SPDX-License-Identifier: MIT
"""The other end of page.h, and the table of messages of common/model/msg.c."""
import ctypes
import glob
import mmap
import os
import re
import time

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def roles_read():
    """The names of enum role, in its order: the places of the page."""
    with open(TOP + "/common/model/msg.h", encoding="utf-8") as f:
        text = re.search(r"enum role \{(.*?)ROLE__COUNT", f.read(), re.S)[1]
    return tuple(r.lower() for r in re.findall(r"\bROLE_([A-Z]+)", text))


ROLES = roles_read()
LETTER = {"listener": "L", "collector": "C", "runner": "R", "command": "X", "submitter": "W",
          "exporter": "E", "parser": "P", "receiver": "V"}
PLACE_SIZE, COMMAND_MAX, TARGETS_MAX = 8192, 128, 7000
SERVES_S = 60    # until a process serves again, on a busy machine


class Place(ctypes.Structure):
    _fields_ = [("request", ctypes.c_uint32), ("begun", ctypes.c_uint32),
                ("done", ctypes.c_uint32), ("error", ctypes.c_int32),
                ("value", ctypes.c_int64), ("pid", ctypes.c_int32),
                ("command", ctypes.c_char * COMMAND_MAX),
                ("targets", ctypes.c_char * TARGETS_MAX)]


class Killed(Exception):
    """The process ended during the attempt."""


def is_alive(pid):
    try:
        with open("/proc/%d/stat" % pid, encoding="ascii", errors="replace") as f:
            return f.read().rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


class Page:
    """Requests to the attack code in the workers."""

    def __init__(self, path):
        size = len(ROLES) * PLACE_SIZE
        with open(path, "wb") as f:
            f.truncate(size)
        os.chmod(path, 0o666)
        with open(path, "r+b") as f:
            self.memory = mmap.mmap(f.fileno(), size)
        self.places = {r: Place.from_buffer(self.memory, i * PLACE_SIZE)
                       for i, r in enumerate(ROLES)}

    def pid(self, role):
        return self.places[role].pid

    def serves(self, role):
        return self.pid(role) != 0 and is_alive(self.pid(role))

    def wait_for(self, what, condition, seconds=SERVES_S):
        end = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > end:
                raise RuntimeError("not within %d s: %s" % (seconds, what))
            time.sleep(0.002)

    def request(self, role, command, targets=()):
        """(errno, value) of the command in the process; Killed."""
        place = self.places[role]
        for _ in range(5):
            pid = place.pid
            place.targets = "\n".join(str(t) for t in targets).encode()
            place.command = command.encode()
            place.request = number = place.request + 1
            self.wait_for("%s in the %s" % (command, role),
                          lambda: place.done == number or not is_alive(pid))
            if place.done == number:
                return place.error, place.value
            if place.begun == number:
                raise Killed(command)
            # it ended for another reason before it took the request
            place.request = place.begun
            self.wait_for("the next %s" % role,
                          lambda: place.pid != pid and self.serves(role))
        raise RuntimeError("the %s does not take %s" % (role, command))


    def leave(self, role, command, targets, run):
        """The same for a process that run() starts, and that takes the request and ends."""
        place = self.places[role]
        place.targets = "\n".join(str(t) for t in targets).encode()
        place.command = command.encode()
        place.request = number = place.request + 1
        run()
        if place.done == number:
            return place.error, place.value
        if place.begun == number:
            raise Killed(command)
        raise RuntimeError("the %s has not taken %s" % (role, command))


class Message:
    """A row of the table of common/model/msg.c."""

    def __init__(self, number, name, senders, receivers, least, most, has_fd):
        self.number, self.name = number, name
        self.senders, self.receivers = senders, receivers
        self.least, self.most, self.has_fd = least, most, has_fd

    def is_allowed(self, sender, receiver):
        return sender in self.senders and receiver in self.receivers


def messages(top):
    """The table, in the order of enum msg_type."""
    with open(top + "/common/model/msg.h", encoding="utf-8") as f:
        header = f.read()
    with open(top + "/common/model/msg.c", encoding="utf-8") as f:
        source = f.read()
    others = ""     # lengths of some fields
    for path in sorted(glob.glob(top + "/common/**/*.h", recursive=True)):
        with open(path, encoding="utf-8") as f:
            others += f.read()
    values = {}
    for name, value in re.findall(r"^#define\s+(\w+)\s+(.*?)(?:\s*/\*.*)?$",
                                  others + source.replace("\\\n", " "), re.M):
        values[name] = re.sub(r"(\d)u\b", r"\1", value)

    def number(text):
        text = re.sub(r"(\d)u\b", r"\1", text)
        while re.search(r"[A-Z]", text):
            text = re.sub(r"[A-Z]\w+", lambda m: values[m[0]], text)
        return eval(text, {"__builtins__": {}})    # pylint: disable=eval-used

    def roles(text):
        while not re.fullmatch(r"[\s|()]*(BIT\(\w+\)[\s|()]*)+", text):
            text = re.sub(r"\b(?!BIT\b)([A-Z]+)\b(?!\))", lambda m: values[m[0]], text)
        return {r.lower() for r in re.findall(r"BIT\((\w+)\)", text)}

    order = re.findall(r"\bMSG_\w+(?=,\s)", re.search(
        r"enum msg_type \{(.*?)MSG__COUNT", header, re.S)[1])
    rows = {m[0]: m[1:] for m in re.findall(
        r'\[(MSG_\w+)\] = \{ "([^"]+)",\s+(.*?),\s+(true|false) \}', source, re.S)}
    table = []
    for i, key in enumerate(order):
        name, rest, has_fd = rows[key]
        senders, receivers, least, most = [t.strip() for t in rest.split(",")]
        table.append(Message(i, name, roles(senders), roles(receivers), number(least),
                             number(most), has_fd == "true"))
    if len(rows) != len(table):
        raise RuntimeError("common/model/msg.c and common/model/msg.h differ")
    return table
