# SPDX-License-Identifier: MIT
"""Three NATS brokers and leaf nodes with the files of etc/nats, and a client.

What the test changes in the files: addresses, directories, the hashes of
passwords, and the number of clusters (the blocks of the cluster beta serve as
the pattern of each other cluster).
"""
import json
import os
import re
import signal
import socket
import ssl
import subprocess
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ETC = os.path.join(HERE, "..", "..", "etc", "nats")
PATIENCE = int(os.environ.get("LAB_PATIENCE", "1"))
PASSWORD = "fanin-test"
HASH = "$2y$05$abcdefghijklmnopqrstuu9FoVwFsB1Ib7mznVIzCg2KXTzXTGh8S"
NAMES = ["nats%d" % i for i in (1, 2, 3)]
DOMAIN = ".example.org"


def wait(seconds, ask):
    """Asks until the answer is true, or the time is over."""
    end = time.monotonic() + seconds * PATIENCE
    while True:
        answer = ask()
        if answer or time.monotonic() > end:
            return answer
        time.sleep(0.05)


def write(path, text, mode=0o644):
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode), "w", encoding="utf-8") as f:
        f.write(text)


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def replaced(text, old, new):
    """The text with each occurrence replaced; there must be one."""
    if old not in text:
        raise ValueError("no %r in an example of etc/nats" % old)
    return text.replace(old, new)


def certificates(folder):
    """A CA and a certificate for all brokers: ca.pem, cert.pem, key.pem."""
    def openssl(*args):
        subprocess.run(("openssl",) + args, check=True, capture_output=True, cwd=folder)
    openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
            "-days", "2", "-subj", "/CN=lab CA", "-keyout", "ca.key", "-out", "ca.pem")
    openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
            "-subj", "/CN=nats", "-keyout", "key.pem", "-out", "csr.pem")
    write(folder + "/ext", "subjectAltName=%s\nextendedKeyUsage=serverAuth,clientAuth\n"
          % ",".join("DNS:" + n + DOMAIN for n in NAMES))
    openssl("x509", "-req", "-in", "csr.pem", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial",
            "-days", "2", "-extfile", "ext", "-out", "cert.pem")


def escaped(cluster):
    """The name as it stands in subjects and in names of streams."""
    return re.sub(r"[^A-Za-z0-9_-]", lambda m: "=%02X" % ord(m.group()), cluster)


def accounts(clusters):
    """etc/nats/accounts.conf for these clusters."""
    text = replaced(read(ETC + "/accounts.conf"), "$2y$05$REPLACE-THIS-HASH", HASH)
    block = re.search(r"  BETA \{\n.*?\n  \}\n", text, re.S).group()
    alpha = re.search(r"  ALPHA \{\n.*?\n  \}\n", text, re.S).group()
    text = replaced(text, alpha, "")

    def each(pattern):
        return "".join(pattern.replace("BETA", "C%d" % i).replace("beta", escaped(c))
                       for i, c in enumerate(clusters))
    text = replaced(text, block, each(block))
    line = re.search(r" *\{ service: \{ account: BETA,.*\n", text).group()
    text = replaced(text, re.search(r" *\{ service: \{ account: ALPHA,.*\n", text).group(), "")
    text = replaced(text, line, each(line))
    # asks for what the centre itself may not know
    return replaced(text, "      { user: centre\n", "      { user: lab, password: \"%s\" }\n      { user: centre\n" % HASH)


def broker_conf(name, folder, tls, address):
    text = replaced(read(ETC + "/broker.conf"), "server_name: nats1", "server_name: " + name)
    text = replaced(text, "/etc/nats/tls", tls)
    text = replaced(text, "/var/lib/nats", folder + "/js." + name)
    return replaced(text, "0.0.0.0:", address + ":")


def leaf_conf(cluster, tls):
    text = replaced(read(ETC + "/leaf.conf"), "PASSWORD@", PASSWORD + "@")
    text = replaced(text, "$2y$05$REPLACE-THIS-HASH", HASH)
    text = replaced(text, "/etc/nats/tls", tls)
    return replaced(text, "alpha", escaped(cluster))


class Server:
    """One nats-server; prefix runs it in a network namespace."""
    def __init__(self, folder, name, text, prefix=()):
        self.name, self.prefix, self.process = name, list(prefix), None
        self.conf, self.log = "%s/%s.conf" % (folder, name), "%s/%s.log" % (folder, name)
        write(self.conf, text)

    def start(self):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(self.prefix + ["nats-server", "-c", self.conf],
                                            stdout=log, stderr=log)
        return self

    def is_alive(self):
        return self.process is not None and self.process.poll() is None

    def signal(self, number):
        if self.is_alive():
            self.process.send_signal(number)

    def kill(self):
        if self.is_alive():
            self.process.send_signal(signal.SIGCONT)
            self.process.kill()
        if self.process is not None:
            self.process.wait()


def three(folder, clusters, addresses, prefixes=((), (), ())):
    """The brokers of etc/nats, not started."""
    tls = folder + "/tls"
    os.makedirs(tls, exist_ok=True)
    if not os.path.exists(tls + "/cert.pem"):
        certificates(tls)
    write(folder + "/accounts.conf", accounts(clusters))
    return [Server(folder, n, broker_conf(n, folder, tls, a), p)
            for n, a, p in zip(NAMES, addresses, prefixes)]


class Tls:
    """TLS on a socket that one thread reads and another writes: OpenSSL's object is for one thread at a time."""
    def __init__(self, raw, ca, host):
        self.raw, self.lock = raw, threading.Lock()
        self.taken, self.given = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.tls = ssl.create_default_context(cafile=ca).wrap_bio(self.taken, self.given, server_hostname=host)
        while True:
            try:
                self.tls.do_handshake()
                break
            except ssl.SSLWantReadError:
                raw.sendall(self.given.read())
                data = raw.recv(65536)
                if not data:
                    raise OSError("closed in the handshake") from None
                self.taken.write(data)
        raw.sendall(self.given.read())

    def sendall(self, data):
        with self.lock:
            self.tls.write(data)
            self.raw.sendall(self.given.read())

    def recv(self, size):
        while True:
            with self.lock:
                try:
                    return self.tls.read(size)
                except ssl.SSLWantReadError:
                    pass
            data = self.raw.recv(65536)
            if not data:
                return b""
            with self.lock:
                self.taken.write(data)


class Lines:
    """Lines and blocks of a stream."""
    def __init__(self, stream):
        self.stream, self.text = stream, b""

    def more(self):
        data = self.stream.recv(65536)
        self.text += data
        return data

    def take(self, n):
        out, self.text = self.text[:n], self.text[n:]
        return out

    def readline(self):
        while b"\n" not in self.text and self.more():
            pass
        return self.take(self.text.find(b"\n") + 1)

    def read(self, n):
        while len(self.text) < n and self.more():
            pass
        return self.take(n)


class Client:
    """A NATS client of a user; keeps messages, answers and errors."""
    def __init__(self, host, ca, user, port=4222, password=PASSWORD, inbox=None, timeout=5):
        self.inbox = inbox or "_INBOX_%s.%s" % (user, os.urandom(6).hex())
        self.lock, self.n = threading.Condition(), 0
        self.messages, self.errors, self.pongs, self.closed = [], [], 0, False
        self.raw = socket.create_connection((host, port), timeout * PATIENCE)
        f = self.raw.makefile("rb", buffering=0)
        line = b""
        while not line.endswith(b"\n"):    # nothing may be read that belongs to TLS
            c = f.read(1)
            if not c:
                raise OSError("closed before INFO")
            line += c
        self.info = json.loads(line.split(b" ", 1)[1])
        self.s = self.raw
        if ca:
            self.s = Tls(self.raw, ca, host)
        self.f = Lines(self.s)
        self.send("CONNECT %s\r\n" % json.dumps({
            "verbose": False, "pedantic": False, "lang": "test", "version": "1", "protocol": 1,
            "headers": True, "no_responders": True, "user": user, "pass": password, "name": user}))
        self.raw.settimeout(None)
        threading.Thread(target=self.loop, daemon=True).start()
        self.subscribe(self.inbox + ".*")
        if not self.flush(timeout):
            raise PermissionError("; ".join(self.errors) or "no PONG")

    def send(self, text):
        self.s.sendall(text if isinstance(text, bytes) else text.encode())

    def loop(self):
        try:
            while self.take_one():
                pass
        except (OSError, ValueError):
            pass
        with self.lock:
            self.closed = True
            self.lock.notify_all()

    def take_one(self):
        """One message of the server; False at the end of the stream."""
        line = self.f.readline()
        word = line.split(b" ", 1)[0].strip()
        if word == b"PING":
            self.send("PONG\r\n")
            return True
        with self.lock:
            if word == b"PONG":
                self.pongs += 1
            elif word == b"-ERR":
                self.errors.append(line.decode().strip())
            elif word in (b"MSG", b"HMSG"):
                self.messages.append(self.message(line.split()))
            self.lock.notify_all()
        return bool(line)

    def message(self, words):
        """(subject, reply or "", headers, body)"""
        with_headers = words[0] == b"HMSG"
        total = int(words[-1])
        head = int(words[-2]) if with_headers else 0
        data = self.f.read(total + 2)[:-2]
        n = len(words) - (2 if with_headers else 1)
        return (words[1].decode(), words[3].decode() if n > 3 else "",
                data[:head].decode(), data[head:])

    def until(self, what, seconds=5):
        with self.lock:
            return self.lock.wait_for(lambda: self.closed or what(), seconds * PATIENCE) and what()

    def flush(self, seconds=5):
        """All that was sent has been judged by the server."""
        n = self.pongs + 1
        self.send("PING\r\n")
        return self.until(lambda: self.pongs >= n, seconds)

    def subscribe(self, subject):
        self.n += 1
        self.send("SUB %s %d\r\n" % (subject, self.n))

    def publish(self, subject, body=b"", reply="", headers=None):
        if isinstance(body, str):
            body = body.encode()
        if headers:
            head = ("NATS/1.0\r\n" + "".join("%s: %s\r\n" % h for h in headers.items()) + "\r\n").encode()
            line = "HPUB %s %s %d %d\r\n" % (subject, reply, len(head), len(head) + len(body))
            self.send(line.encode() + head + body + b"\r\n")
        else:
            self.send(("PUB %s %s %d\r\n" % (subject, reply, len(body))).encode() + body + b"\r\n")

    def ask(self, subject, body=b"", seconds=5, headers=None):
        """The answer's body as JSON; {} without one; {"status": N} without responders."""
        self.n += 1
        reply = "%s.%d" % (self.inbox, self.n)
        self.publish(subject, body if isinstance(body, (bytes, str)) else json.dumps(body), reply, headers)

        def answer():
            return [m for m in self.messages if m[0] == reply]
        if not self.until(answer, seconds):
            return {}
        _, _, head, data = answer()[0]
        if data:
            return json.loads(data)
        return {"status": int(head.split()[1])} if head.startswith("NATS/1.0 ") else {}

    def denied(self, operation, *args, **more):
        """Does the server refuse this operation (publish or subscribe)?"""
        before = len(self.errors)
        operation(*args, **more)
        self.flush()
        return any("Permissions Violation" in e or "Reserved" in e for e in self.errors[before:])

    def close(self):
        try:
            self.raw.shutdown(socket.SHUT_RDWR)
            self.raw.close()
        except OSError:
            pass


def stream_config(cluster, replicas=3, **more):
    """What the receiver of the centre asks for."""
    return dict({"name": "CC_RECORD_" + escaped(cluster), "subjects": ["cc.record." + escaped(cluster)],
                 "retention": "limits", "discard": "new", "storage": "file", "num_replicas": replicas,
                 "max_age": 1209600 * 10**9, "max_bytes": 10 << 20, "duplicate_window": 120 * 10**9,
                 "deny_delete": True}, **more)


def nodes_config(cluster, replicas=3):
    """The stream of the states of nodes."""
    name = escaped(cluster)
    return {"name": "CC_NODES_" + name, "subjects": ["cc.nodes." + name + ".*"], "retention": "limits",
            "discard": "old", "storage": "file", "num_replicas": replicas, "max_age": 3600 * 10**9,
            "max_bytes": 16 << 20, "max_msg_size": 512 << 10, "max_msgs_per_subject": 1, "deny_delete": True}


CONSUMER = {"durable_name": "centre", "deliver_policy": "all", "ack_policy": "explicit",
            "ack_wait": 150 * 10**9, "max_ack_pending": 256, "replay_policy": "instant"}
