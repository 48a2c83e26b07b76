# SPDX-License-Identifier: MIT
"""The hosts of the fan-in: brokers, clusters and the centre, on one machine.

Each broker and each cluster has a network namespace of its own.  Brokers reach
the centre (this namespace) by a pair of veth devices, clusters by relay.py.  The
caller is alone in its namespaces (tests/year/machine).
"""
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
SYS = os.path.join(HERE, "..", "system", "lib")
LAB = os.path.join(HERE, "..", "lab")
sys.path[:0] = [HERE, SYS]
import brokers  # noqa: E402
import lib  # noqa: E402
from brokers import wait, write  # noqa: E402

USERS = ["cc-slurm-adapter", "cc-slurm-collect", "cc-slurm-submit", "cc-slurm-listen",
         "cc-slurm-export", "cc-slurm-receive"]
GPUS = {"^n3$": ["00000000:%02d:00.0" % i for i in range(4)],
        "^n4$": ["00000000:%02d:00.0" % i for i in (3, 2, 1, 0)]}
NODE = ("NodeName=%s Arch=x86_64 CoresPerSocket=4 CPUTot=16 Gres=(null) RealMemory=64000 Sockets=2 "
        "Boards=1 State=MIXED ThreadsPerCore=2\n")
SLURM_PORTS = 26500


def run(*command, **more):
    return subprocess.run(command, check=True, **more)


def inside(namespace):
    return ["nsenter", "--net=/run/netns/" + namespace] if namespace else []


class Network:
    """Namespaces of brokers and clusters; names for all."""
    def __init__(self, clusters):
        self.number = {c: i + 1 for i, c in enumerate(clusters)}
        run("ip", "link", "set", "lo", "up")
        write("/proc/sys/net/ipv4/ip_forward", "1")
        hosts = "127.0.0.1 localhost ctl\n"
        for i, n in enumerate(brokers.NAMES, 1):
            self.veth(n, i)
            hosts += "10.98.%d.2 %s\n" % (i, n + brokers.DOMAIN)
        write("/etc/hosts", hosts)
        for c in clusters:
            run("ip", "netns", "add", self.space(c))
            run("ip", "-n", self.space(c), "link", "set", "lo", "up")
        self.relay = subprocess.Popen(
            [sys.executable, HERE + "/relay.py"] + ["c%d=%d:%s" % (i, i, self.space(c))
                                                   for c, i in self.number.items()],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1) if clusters else None
        if self.relay and self.relay.stdout.readline() != "ready\n":
            sys.exit("fanin: no relay")

    def veth(self, name, i):
        here, there = "hub-" + name, "wan-" + name
        run("ip", "netns", "add", name)
        run("ip", "link", "add", here, "type", "veth", "peer", "name", there, "netns", name)
        run("ip", "address", "add", "10.98.%d.1/24" % i, "dev", here)
        run("ip", "link", "set", here, "up")
        for args in (["address", "add", "10.98.%d.2/24" % i, "dev", there], ["link", "set", there, "up"],
                     ["link", "set", "lo", "up"], ["route", "add", "default", "via", "10.98.%d.1" % i]):
            run("ip", "-n", name, *args)

    def space(self, cluster):
        return "c%d" % self.number[cluster]

    def link(self, cluster, what, value):
        self.relay.stdin.write("%s %s %s\n" % (self.space(cluster), what, value))

    def outage(self, name, down):
        """The cable of a cluster or a broker."""
        run("ip", "link", "set", "hub-" + (self.space(name) if name in self.number else name),
            "down" if down else "up")

    def repair(self):
        for c in self.number:
            self.outage(c, False)
            for what, value in (("delay", 40), ("loss", 0), ("drop", "none")):
                self.link(c, what, value)
        for n in brokers.NAMES:
            self.outage(n, False)


class Suite:
    """One daemon with a configuration; prefix runs it in a namespace."""
    def __init__(self, folder, name, install, prefix=()):
        self.folder, self.name, self.prefix = folder, name, list(prefix)
        self.adapter, self.ctl_program = install + "/sbin/cc-slurm-adapter", install + "/sbin/cc-slurm-adapterctl"
        self.conf, self.process, self.starts = folder + "/config.json", None, 0
        self.notified = None
        os.makedirs(folder, mode=0o755, exist_ok=True)
        run_dir, state = folder + "/run", folder + "/state"
        os.makedirs(run_dir, mode=0o750, exist_ok=True)
        shutil.chown(run_dir, "root", "slurm")
        os.makedirs(state, exist_ok=True)
        write(state + "/lastrun", "")
        shutil.chown(state, "laboper", "laboper")
        shutil.chown(state + "/lastrun", "laboper", "laboper")
        self.set(pidFilePath=run_dir + "/daemon.pid", prepSockListenPath=run_dir + "/daemon.sock",
                 prepSockConnectPath=run_dir + "/daemon.sock", ctlSockPath=run_dir + "/ctl.sock",
                 lastRunPath=state + "/lastrun")

    def set(self, **keys):
        lib.conf(self.conf, ["%s=%s" % (k, json.dumps(v)) for k, v in keys.items()])

    def start(self):
        self.starts += 1
        sock, self.notified = self.folder + "/notify.sock", "%s/notify.%d" % (self.folder, self.starts)
        if os.path.exists(sock):
            os.unlink(sock)
        self.listener = subprocess.Popen([sys.executable, SYS + "/lib.py", "notify", sock, self.notified])
        if not wait(30, lambda: os.path.exists(self.notified)):
            sys.exit("fanin: nobody listens to READY=1")
        with open(self.log(), "wb") as log:
            self.process = subprocess.Popen(
                self.prefix + [self.adapter, "-daemon", "-config", self.conf, "-debug", "4"],
                env={"PATH": os.environ["PATH"], "NOTIFY_SOCKET": sock}, stdout=log, stderr=log,
                stdin=subprocess.DEVNULL, start_new_session=True)
        return self

    def log(self):
        return "%s/suite.%d" % (self.folder, self.starts)

    def is_ready(self):
        return "READY=1" in brokers.read(self.notified)

    def started(self, seconds=60):
        """Waits until it is ready; ends the test when it is not."""
        if not wait(seconds, lambda: self.is_ready() or self.process.poll() is not None) or not self.is_ready():
            print(brokers.read(self.log())[-3000:])
            sys.exit("fanin: the suite of %s does not start: %s" % (self.name, self.log()))
        return self

    def pids(self):
        """role -> pid of the workers."""
        if self.process is None or self.process.poll() is not None:
            return {}
        out = subprocess.run(["ps", "-o", "pid=,comm=", "--ppid", str(self.process.pid)],
                             capture_output=True, text=True, check=False).stdout
        return {line.split()[1]: int(line.split()[0]) for line in out.splitlines()}

    def kill(self):
        """SIGKILL for all of it, as a power cut."""
        if self.process is None:
            return
        for pid in [self.process.pid] + list(self.pids().values()):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.process.wait()
        self.listener.kill()
        self.listener.wait()

    def stop(self):
        self.process.terminate()
        self.process.wait(30 * brokers.PATIENCE)
        self.listener.kill()
        self.listener.wait()

    def ctl(self, *args):
        r = subprocess.run([self.ctl_program, "-s", self.folder + "/run/ctl.sock"] + list(args),
                           capture_output=True, text=True, check=False, timeout=60)
        return r.stdout

    def nothing_waits(self):
        return "no delivery waits" in self.ctl("queue")


class RealSlurm:
    """tests/lab/slurm in the namespace, and what it said of its jobs."""
    kind = "real"

    def __init__(self, name, folder, prefix, port, build, rate):
        del build, rate
        self.name, self.folder, self.prefix, self.watcher = name, folder + "/slurm", prefix, None
        run(*prefix, LAB + "/slurm", "up", self.folder, str(port),
            env=dict(os.environ, LAB_QUIET="1", LAB_TRUTH="1", LAB_BIG="1", LAB_CLUSTER=name, LAB_MINJOBAGE="60"))
        self.watcher = subprocess.Popen(prefix + [sys.executable, SYS + "/expected.py", "watch", self.folder])
        self.rng = random.Random(os.environ.get("CSA_SEED", "0") + name)
        self.keys = {"slurmConf": self.folder + "/etc/slurm.conf"}

    def hooks(self, suite):
        run(*self.prefix, LAB + "/slurm", "hook", self.folder,
            "%s -config %s -socket %s/run/daemon.sock" % (suite.adapter, suite.conf, suite.folder))

    def submit(self):
        rng = self.rng
        kind = rng.choice([["-n1"], ["-n3"], ["-N2", "-n5"], ["-p", "gpu", "-n2", "--gres=gpu:2"],
                           ["-n1", "-a", "1-2"], ["-p", "whole", "-N1"]])
        script = "sleep %d\n%s" % (rng.randint(3, 12), rng.choice(["", "", "exit 3"]))
        self.batch(rng.choice(["labalice", "labbob"]), script, kind)

    def batch(self, user, script, options):
        subprocess.run(self.prefix + [LAB + "/slurm", "as", self.folder, user, "sbatch", "--parsable",
                                      "-o", "/dev/null"] + options,
                       input="#!/bin/bash\n%s\n" % script, text=True, check=False, capture_output=True)

    def end_load(self):
        env = dict(os.environ, SLURM_CONF=self.folder + "/etc/slurm.conf")
        for user in "labalice", "labbob":
            run(*self.prefix, "scancel", "-t", "PD", "-u", user, env=env)

        def is_empty():
            return not subprocess.run(self.prefix + ["squeue", "-h", "-a", "-o", "%A"], env=env, check=True,
                                      capture_output=True).stdout.strip()
        if not wait(90, is_empty):
            sys.exit("fanin: the queue of %s does not empty" % self.name)

    def end(self):
        if self.watcher:
            self.watcher.kill()
        subprocess.run(self.prefix + [LAB + "/slurm", "down", self.folder], check=False)


class ManySlurm:
    """tests/bench/many: jobs by the clock, `rate` a second, each `life` seconds."""
    kind = "simulated"

    def __init__(self, name, folder, prefix, port, build, rate, life=15):
        del port
        self.name, self.bin, self.prefix, self.life = name, folder + "/bin", prefix, life
        self.rate = float("%f" % rate)      # as the file has it
        os.makedirs(self.bin)
        for c in "many", "squeue", "sacct", "scontrol", "sacctmgr", "sinfo", "sdiag":
            shutil.copy(build + "/tests/bench/many", self.bin + "/" + c)
        write(self.bin + "/config.text", "ClusterName             = %s\nSLURM_VERSION           = 22.05.8\n"
              "SlurmUser               = slurm(64030)\nMinJobAge               = 300 sec\n"
              "AccountingStorageType   = accounting_storage/slurmdbd\n" % name)
        write(self.bin + "/node.text", "".join(NODE % ("n%d" % i) for i in (1, 2, 3, 4)))
        write(self.bin + "/cluster", name + "\n")
        write(self.bin + "/slurm.conf", "")
        self.begin, self.count, self.hook = int(time.time()) + 5, 10**7, None
        self.jobs()
        self.keys = {"slurmConf": self.bin + "/slurm.conf", "slurmBinDir": self.bin}

    def jobs(self):
        write(self.bin + "/jobs.new", "%d %f %d %d 300\n" % (self.begin, self.rate, self.life, self.count))
        os.rename(self.bin + "/jobs.new", self.bin + "/jobs")

    def hooks(self, suite):
        """None: the poll finds these jobs."""

    def submit(self):
        """Jobs begin by the clock."""

    def start_of(self, k):
        return self.begin + int(k / self.rate)

    def end_load(self):
        # those of the next second begin, too
        self.count = max(0, int((time.time() + 1 - self.begin) * self.rate) + 1)
        self.jobs()
        time.sleep(max(0.0, self.start_of(self.count) + self.life + 1 - time.time()))

    def truth(self):
        """(rows of accounting, what scontrol says), as expected.py has them."""
        import expected     # pylint: disable=import-outside-toplevel
        rows, seen = {}, {}
        for k in range(self.count):
            job, start, node, core = 100000 + k, self.start_of(k), "n%d" % (1 + k % 4), k // 4 % 8
            gpu = (k // 4 % 4,) if k % 4 >= 2 else ()
            rows[job, start] = {
                "JobIDRaw": str(job), "JobID": str(job), "User": "labalice", "Account": "proj1",
                "Partition": "main", "Submit": str(start), "Start": str(start), "End": str(start + self.life),
                "State": "COMPLETED", "NNodes": "1", "AllocCPUS": "2", "TimelimitRaw": "10", "NodeList": node,
                "AllocTRES": "billing=2,cpu=2,node=1" + (",gres/gpu=1,gres/gpu:a100=1" if gpu else ""),
                "JobName": "many", "ElapsedRaw": str(self.life)}
            seen[job, start] = expected.Seen(((node, (2 * core, 2 * core + 1), gpu),), "OK", True)
        return rows, seen

    def end(self):
        """Nothing runs."""


class Backend:
    """The stand-in, or the program CC_BACKEND."""
    def __init__(self, folder, build, clusters, port=8080):
        self.folder, self.port, self.process = folder, port, None
        self.real = os.environ.get("CC_BACKEND")
        self.program = build + "/tests/fake/fake-cc-backend"
        self.spec = ",".join("%s=n[1-4]" % c for c in clusters)
        self.url = "http://127.0.0.1:%d" % port
        self.ledger = None if self.real else folder + "/ledger"
        self.token = folder + ("/backend/token" if self.real else "/token")

    def start(self):
        if self.real:
            run(LAB + "/ccbackend", self.real, self.folder + "/backend", str(self.port), "--clusters", self.spec,
                "--commit", "2", "--topology", "interleaved")
        else:
            with open(self.folder + "/backend.log", "ab") as log:
                self.process = subprocess.Popen(
                    [self.program, "--port", str(self.port), "--commit", "2", "--clusters", self.spec,
                     "--topology", "interleaved", "--token-file", self.token, "--ledger", self.ledger],
                    stdout=log, stderr=log)
        if not wait(60, self.answers):
            sys.exit("fanin: cc-backend does not answer")
        return self

    def answers(self):
        try:
            return lib.http("GET", self.url + "/api/clusters/", token=lib.read_token(self.token))[0] == 200
        except OSError:
            return False

    def kill(self):
        if self.real:
            os.kill(int(brokers.read(self.folder + "/backend/pid")), signal.SIGKILL)
        elif self.process:
            self.process.kill()
            self.process.wait()


def users():
    """What the package makes; and the users of Slurm, if no Slurm made them."""
    for u in USERS + ["slurm", "laboper"]:
        if subprocess.run(["getent", "passwd", u], check=False, stdout=subprocess.DEVNULL).returncode:
            run("useradd", "-r", "-M", "-d", "/nonexistent", "-s", "/usr/sbin/nologin", u)


class World:
    def __init__(self, folder, install, build, real, simulated, rate=0.5):
        self.folder, self.install, self.build = folder, install, build
        self.names = real + simulated
        self.network = Network(self.names)
        self.backend = Backend(folder, build, self.names).start()
        self.brokers = brokers.three(folder, self.names, ["10.98.%d.2" % i for i in (1, 2, 3)],
                                     [inside(n) for n in brokers.NAMES])
        self.slurm, self.suites, self.leaf = {}, {}, {}
        for b in self.brokers:
            b.start()
        for i, c in enumerate(self.names):
            kind = RealSlurm if c in real else ManySlurm
            os.makedirs("%s/%s" % (folder, c))
            self.slurm[c] = kind(c, "%s/%s" % (folder, c), inside(self.network.space(c)),
                                 SLURM_PORTS + 50 * i, build, rate)
        users()
        for i, c in enumerate(self.names):
            self.cluster(c, i % 2 == 0)
        self.centre = self.make_centre()

    def cluster(self, c, with_leaf):
        """The suite of a cluster, with a leaf node of its own or without."""
        tls = self.folder + "/tls"
        s = self.suites[c] = Suite("%s/%s" % (self.folder, c), c, self.install, inside(self.network.space(c)))
        if with_leaf:
            self.leaf[c] = brokers.Server(self.folder, c + ".leaf", brokers.leaf_conf(c, tls),
                                          inside(self.network.space(c))).start()
            servers = "nats://127.0.0.1:4222"
        else:
            servers = ",".join("tls://%s:4222" % (n + brokers.DOMAIN) for n in brokers.NAMES)
        s.set(deliver="stream", natsServer=servers, natsUser=brokers.escaped(c), natsPassword=brokers.PASSWORD,
              natsCaFile=tls + "/ca.pem", slurmPollInterval=2, slurmQueryDelay=1, ccPollInterval=15,
              slurmAccountingLag=120, clusters=[c], gpuPciAddrs=GPUS, **self.slurm[c].keys)

    def make_centre(self):
        s = Suite(self.folder + "/centre", "centre", self.install)
        s.set(source="stream", clusters=self.names, natsUser="centre", natsPassword=brokers.PASSWORD,
              natsServer=",".join("tls://%s:4222" % (n + brokers.DOMAIN) for n in brokers.NAMES),
              natsCaFile=self.folder + "/tls/ca.pem", ccRestUrl=self.backend.url,
              ccRestJwt=lib.read_token(self.backend.token), ccPollInterval=15, ccCommitInterval=2)
        return s

    def start(self):
        self.centre.start()
        for s in self.suites.values():
            s.start()
        for s in [self.centre] + list(self.suites.values()):
            s.started()
        for c, slurm in self.slurm.items():
            slurm.hooks(self.suites[c])

    def everything(self):
        """All processes of the fan-in but Slurm's."""
        return [self.centre] + list(self.suites.values()) + self.brokers + list(self.leaf.values()) + [self.backend]

    def processor_seconds(self):
        """Group of processes -> processor time until now, with that of ended children."""
        groups = {self.network.relay.pid: "links (relay.py)", os.getpid(): "the test"}
        for s, name in [(self.centre, "centre")] + [(s, "clusters") for s in self.suites.values()]:
            groups.update({pid: name + ", " + role for role, pid in s.pids().items()})
        out = {}
        for pid in [int(p) for p in os.listdir("/proc") if p.isdigit()]:
            try:
                head, _, rest = brokers.read("/proc/%d/stat" % pid).rpartition(")")
            except (FileNotFoundError, ProcessLookupError):
                continue
            name = groups.get(pid, head.partition("(")[2])
            name = "cc-backend" if "cc-backend" in name else name   # the stand-in, too
            out[name] = out.get(name, 0) + sum(int(n) for n in rest.split()[11:15]) / os.sysconf("SC_CLK_TCK")
        return out

    def end(self):
        for x in self.everything():
            x.kill()
        for s in self.slurm.values():
            s.end()
        self.network.relay.stdin.close()
        self.network.relay.wait()
