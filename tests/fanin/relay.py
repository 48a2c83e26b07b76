#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""WAN links for network namespaces: relay.py NAME=NUMBER:NAMESPACE...

For each link two TUN devices: hub-NAME here with 10.99.NUMBER.1, and wan-NAME in
the namespace with 10.99.NUMBER.2 and the default route.  A packet comes out of
the other device after a delay, or not at all.  Prints `ready`, then reads lines:

    NAME delay MS        of each direction; at the start 40
    NAME loss SHARE      of the packets of each direction, such as 0.01
    NAME drop up|down|both|none    packets from the namespace, to it

Ends with its standard input.  The random numbers are those of CSA_SEED.
"""
import fcntl
import heapq
import os
import random
import select
import struct
import subprocess
import sys
import time

TUNSETIFF = 0x400454ca
IFF_TUN, IFF_NO_PI = 1, 0x1000
PACKET = 2048
WAITING = 20000     # packets of one link; a WAN has no endless queue either


def tun(name):
    fd = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(fd, TUNSETIFF, struct.pack("16sH", name.encode(), IFF_TUN | IFF_NO_PI))
    return fd


def ip(*args):
    subprocess.run(("ip",) + args, check=True)


class Link:
    def __init__(self, name, number, namespace):
        self.name, self.delay, self.loss, self.drop, self.waiting = name, 0.04, 0.0, "none", 0
        here, there = "hub-" + name, "wan-" + name
        self.hub, self.wan = tun(here), tun(there)
        ip("link", "set", there, "netns", namespace)
        ip("address", "add", "10.99.%d.1/24" % number, "dev", here)
        ip("link", "set", here, "up")
        ip("-n", namespace, "address", "add", "10.99.%d.2/24" % number, "dev", there)
        ip("-n", namespace, "link", "set", there, "up")
        ip("-n", namespace, "route", "add", "default", "via", "10.99.%d.1" % number)

    def is_lost(self, from_wan):
        return (self.drop == "both" or self.drop == ("up" if from_wan else "down")
                or random.random() < self.loss or self.waiting >= WAITING)


class Relay:
    def __init__(self, links):
        self.links = {l.name: l for l in links}
        self.heap, self.n = [], 0
        self.poll = select.epoll()
        self.ends = {}      # descriptor -> link, descriptor of the other end, from the namespace?
        for l in links:
            self.ends[l.hub] = (l, l.wan, False)
            self.ends[l.wan] = (l, l.hub, True)
        for fd in list(self.ends) + [0]:
            self.poll.register(fd, select.EPOLLIN)

    def take(self, fd):
        link, out, from_wan = self.ends[fd]
        for _ in range(64):
            try:
                packet = os.read(fd, PACKET)
            except OSError:     # none left, or the device is down
                return
            if not link.is_lost(from_wan):
                self.n += 1
                link.waiting += 1
                heapq.heappush(self.heap, (time.monotonic() + link.delay, self.n, link, out, packet))

    def send_due(self):
        now = time.monotonic()
        while self.heap and self.heap[0][0] <= now:
            _, _, link, out, packet = heapq.heappop(self.heap)
            link.waiting -= 1
            try:
                os.write(out, packet)
            except OSError:     # the device is down: the packet is lost
                pass

    def command(self, line):
        name, what, value = line.split()
        link = self.links[name]
        if what == "delay":
            link.delay = float(value) / 1000
        elif what == "loss":
            link.loss = float(value)
        elif what == "drop" and value in ("up", "down", "both", "none"):
            link.drop = value
        else:
            raise ValueError(line)

    def run(self):
        text = b""
        while True:
            wait = max(0.0, self.heap[0][0] - time.monotonic()) if self.heap else -1
            for fd, _ in self.poll.poll(wait):
                if fd in self.ends:
                    self.take(fd)
                    continue
                more = os.read(0, 4096)
                if not more:
                    return
                text += more
                while b"\n" in text:
                    line, text = text.split(b"\n", 1)
                    self.command(line.decode())
            self.send_due()


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    random.seed(int(os.environ.get("CSA_SEED", "0")))
    links = []
    for arg in sys.argv[1:]:
        name, _, rest = arg.partition("=")
        number, _, namespace = rest.partition(":")
        links.append(Link(name, int(number), namespace))
    print("ready", flush=True)
    Relay(links).run()


if __name__ == "__main__":
    main()
