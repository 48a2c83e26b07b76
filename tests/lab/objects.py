# SPDX-License-Identifier: MIT
"""The objects of a build: which symbols each defines and which it needs.

tests/layers and tests/callgraph read them.  An object stands for the source
file that it was compiled from; a box is the folder of that file.
"""
import collections
import os
import re
import subprocess

PROGRAMS = ("common", "hook", "listener", "exporter", "ctl", "supervisor", "collector", "runner", "submitter", "receiver")

# source: relative to the top of the tree; defines, needs: sets of symbols
Object = collections.namedtuple("Object", "source defines needs")


def build_dir(path):
    """Takes what tests/lab/build made, or a folder in which configure ran."""
    for folder in (os.path.join(path, "build"), path):
        if os.path.exists(os.path.join(folder, "Makefile")):
            return os.path.abspath(folder)
    raise SystemExit("%s: no build here; make one with tests/lab/build" % path)


def make_variable(build, name):
    with open(os.path.join(build, "Makefile"), encoding="utf-8") as f:
        value = re.search(r"^%s = (.*)$" % name, f.read(), re.M)
    return value[1].split() if value else []


def libraries(build):
    """The flags of every library that configure found, for one link of them all."""
    with open(os.path.join(build, "Makefile"), encoding="utf-8") as f:
        flags = re.findall(r"^[A-Z0-9]+_LIBS = ((?:-\S+ *)+)$", f.read(), re.M)
    return " ".join(flags).split() + ["-ldl", "-lpthread"]


def folder_of(source):
    return os.path.dirname(source)


def archive_of(folder):
    return "%s/lib%s.a" % (folder, os.path.basename(folder))


def archives(build):
    """Every convenience library of the product, relative to the build."""
    found = []
    for program in PROGRAMS:
        for where, _, names in os.walk(os.path.join(build, program)):
            found += [os.path.relpath(os.path.join(where, n), build) for n in names if n.endswith(".a")]
    return sorted(found)


def read(build, paths):
    """The symbols of archives and objects, which are relative to the build."""
    if not paths:
        return []
    out = subprocess.run(["nm", "-A", "-P", *paths], cwd=build, capture_output=True, text=True,
                         check=True).stdout
    found = {}
    for line in out.splitlines():
        where, name, kind = re.match(r"(\S+): (\S+) (\w)", line).groups()
        path, member = re.match(r"([^\[]*)(?:\[(.*)\])?$", where).groups()
        file = (member or os.path.basename(path)).rpartition("-")[2]
        source = os.path.dirname(path) + "/" + file[:-2] + ".c"
        entry = found.setdefault(source, Object(source, set(), set()))
        if kind in "Uwv":
            entry.needs.add(name)
        elif kind.isupper():
            entry.defines.add(name)
    return list(found.values())


def mains(build):
    """The objects that are in no library: those of the programs themselves."""
    top = os.path.join(build, *make_variable(build, "srcdir"))
    found = []
    for program in PROGRAMS:
        for name in sorted(os.listdir(os.path.join(build, program))):
            base, _, file = name.rpartition("-")
            if not name.endswith(".o") or base.startswith(("test_", "fuzz_", "lib")):
                continue
            if os.path.exists(os.path.join(top, program, file[:-2] + ".c")):
                found.append("%s/%s" % (program, name))
    return found


def product(build):
    """Every object of the product, one for each source file."""
    found = {o.source: o for o in read(build, mains(build))}
    found.update({o.source: o for o in read(build, archives(build))})
    return list(found.values())


def program_of(folder):
    return folder.partition("/")[0]


def users(objects):
    """Yields (object, symbol, object that defines it) for what the product itself defines.

    A name may be in several programs: that of the own program counts, then that
    of common/, then any.
    """
    defined, any_program = {}, {}
    for o in objects:
        for symbol in o.defines:
            defined[program_of(folder_of(o.source)), symbol] = any_program[symbol] = o
    for o in objects:
        program = program_of(folder_of(o.source))
        for symbol in sorted(o.needs):
            found = defined.get((program, symbol)) or defined.get(("common", symbol)) or \
                any_program.get(symbol)
            if found:
                yield o, symbol, found
