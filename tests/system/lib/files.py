#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the files of the daemon have: files.py PAGE USER RUN STATE CONFIG

Compares owner, group and mode of each path in FILES of the manual page PAGE with
the file itself.  USER starts the daemon; RUN, STATE and CONFIG are the paths of the
test for /run/cc-slurm-adapter, /var/lib/cc-slurm-adapter and config.json.  Prints a
line for each difference.
"""
import grp
import os
import pwd
import re
import stat
import sys

PATHS = ("/run/cc-slurm-adapter", "/var/lib/cc-slurm-adapter", "/etc/cc-slurm-adapter/config.json")
SENTENCE = re.compile(r"The owner is ([^;.]+?)(?:; the group is ([^;.]+?))?; the mode is ([\d, or]+)\b")
OWNERS = {"slurmUser": "laboper", "submitterUser": "cc-slurm-submit"}
SLURM_GROUP = "the group of slurmctld's user ( SlurmUser )"


def items(page):
    """[(path, text without macros)] of FILES"""
    part = page.split("\n.Sh FILES\n")[1].split("\n.El\n")[0]
    for item in part.split("\n.It Pa ")[1:]:
        path, *lines = item.split("\n")
        words = " ".join(re.sub(r"^\.(?:[A-Z][a-z] )+", "", re.sub(r"^\.Pq Li (\w+)", r"( \1 )", line))
                         for line in lines)
        yield path, re.sub(r" ([;.,])", r"\1", words)


def said(text, user):
    """(owner, group or None, modes) of the text; None if it does not say"""
    m = SENTENCE.search(text)
    if not m:
        return None
    owner, group, modes = m.groups()
    owner = OWNERS.get(owner, owner)
    if group == SLURM_GROUP:
        group = grp.getgrgid(pwd.getpwnam("slurm").pw_gid).gr_name
    if user != "root":      # "Without root, ..."
        owner, group = user, group and grp.getgrgid(pwd.getpwnam(user).pw_gid).gr_name
    return owner, group, {int(mode, 8) for mode in re.findall(r"\d+", modes)}


def differences(path, want):
    st = os.lstat(path)
    owner, group = pwd.getpwuid(st.st_uid).pw_name, grp.getgrgid(st.st_gid).gr_name
    if owner != want[0]:
        yield "the owner is %s, not %s" % (owner, want[0])
    if want[1] is not None and group != want[1]:
        yield "the group is %s, not %s" % (group, want[1])
    if stat.S_IMODE(st.st_mode) not in want[2]:
        yield "the mode is %o, not %s" % (stat.S_IMODE(st.st_mode), " or ".join("%o" % m for m in want[2]))


def main():
    page, user, *places = sys.argv[1:]
    with open(page, encoding="utf-8") as f:
        listed = list(items(f.read()))
    bad = 0 if len(listed) > 10 else 1
    for path, text in listed:
        want = said(text, user)
        if want is None:
            print("%s: FILES does not say owner and mode" % path)
            bad += 1
            continue
        here = path
        for name, place in zip(PATHS, places):
            here = place + path[len(name):] if path.startswith(name) else here
        for difference in differences(here, want):
            print("%s: %s" % (path, difference))
            bad += 1
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
