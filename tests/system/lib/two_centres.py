#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Shows which of several centres sends to cc-backend, and when.

two_centres.py proxy BACKEND-PORT FILE NAME=PORT...
    forwards the connections of each port and appends a line to FILE for all that
    a centre sends: time, name, first line.
two_centres.py check FILE GAP NAME[=GAP]...
    the status is 1 unless the centres sent in this order, one after the other,
    with at least GAP seconds between two of them; =GAP is the time before this
    one.
"""
import asyncio
import sys
import time


async def copy(reader, writer, note):
    try:
        while data := await reader.read(65536):
            note(data)
            writer.write(data)
            await writer.drain()
    except ConnectionError:
        pass
    finally:
        writer.close()


def server(name, backend, out):
    def note(data):
        line = data.split(b"\r\n", 1)[0].decode("ascii", "replace")
        out.write("%.3f %s %s\n" % (time.monotonic(), name, line[:80]))
        out.flush()

    async def client(reader, writer):
        try:
            to_reader, to_writer = await asyncio.open_connection("127.0.0.1", backend)
        except ConnectionError:
            writer.close()
            return
        await asyncio.gather(copy(reader, to_writer, note), copy(to_reader, writer, lambda data: None))
    return client


async def proxy(backend, path, names):
    with open(path, "a", encoding="ascii") as out:
        for item in names:
            name, port = item.split("=")
            await asyncio.start_server(server(name, backend, out), "127.0.0.1", int(port))
        await asyncio.Event().wait()


def check(path, gap, wanted):
    groups = []
    with open(path, encoding="ascii") as lines:
        for line in lines:
            at, name = line.split()[:2]
            if not groups or groups[-1][0] != name:
                groups.append([name, float(at), 0])
            groups[-1][2] = float(at)
    for name, first, last in groups:
        print("      %s sends from %.1f to %.1f s" % (name, first - groups[0][1], last - groups[0][1]))
    gaps = [b[1] - a[2] for a, b in zip(groups, groups[1:])]
    least = [float(w.partition("=")[2] or gap) for w in wanted[1:]]
    return ([g[0] for g in groups] == [w.partition("=")[0] for w in wanted]
            and all(g >= e for g, e in zip(gaps, least)))


if sys.argv[1] == "proxy":
    asyncio.run(proxy(int(sys.argv[2]), sys.argv[3], sys.argv[4:]))
sys.exit(not check(sys.argv[2], float(sys.argv[3]), sys.argv[4:]))
