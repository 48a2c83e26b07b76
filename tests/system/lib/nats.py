#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A NATS subscriber and maker of NATS identities, with nothing but openssl.

nats.py listen HOST:PORT USER PASSWORD SUBJECT FILE   each message's payload
                                      goes to FILE, '%%' and the subject before
nats.py nkey FILE                     a new user seed into FILE; prints the
                                      public key
nats.py accounts DIR                  operator, account, user: DIR/server.conf
                                      (to include), DIR/user.creds and
                                      DIR/watch.creds
nats.py listen-creds HOST:PORT CREDS SUBJECT FILE
"""
import base64
import json
import os
import socket
import subprocess
import sys
import time

OPERATOR, ACCOUNT, USER, SEED = 14 << 3, 0, 20 << 3, 18 << 3


def crc16(data):
    crc = 0
    for byte in data:
        crc ^= byte << 8
        for _ in range(8):
            crc = (crc << 1 ^ 0x1021 if crc & 0x8000 else crc << 1) & 0xffff
    return crc.to_bytes(2, "little")


def b32(raw):
    return base64.b32encode(raw + crc16(raw)).decode().rstrip("=")


def b64(raw):
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


class Key:
    """An Ed25519 key of one kind."""
    def __init__(self, kind, seed=None):
        self.kind = kind
        self.raw = seed or os.urandom(32)
        self.pem = subprocess.run(
            ["openssl", "pkey", "-inform", "DER"], check=True, capture_output=True,
            input=bytes.fromhex("302e020100300506032b657004220420") + self.raw).stdout
        der = subprocess.run(["openssl", "pkey", "-pubout", "-outform", "DER"], input=self.pem,
                             check=True, capture_output=True).stdout
        self.public = b32(bytes([kind]) + der[-32:])

    @classmethod
    def from_seed(cls, text):
        raw = base64.b32decode(text + "=" * (-len(text) % 8))
        return cls((raw[0] & 7) << 5 | raw[1] >> 3, raw[2:34])

    def seed(self):
        return b32(bytes([SEED | self.kind >> 5, (self.kind & 31) << 3]) + self.raw)

    def sign(self, data):
        name = "/tmp/nats-sign.%d" % os.getpid()
        with open(os.open(name, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "wb") as f:
            f.write(data)
        with open(name + ".key", "wb", opener=lambda p, fl: os.open(p, fl, 0o600)) as f:
            f.write(self.pem)
        try:
            return subprocess.run(["openssl", "pkeyutl", "-sign", "-rawin", "-inkey", name + ".key",
                                   "-in", name], check=True, capture_output=True).stdout
        finally:
            os.unlink(name)
            os.unlink(name + ".key")


def jwt(issuer, subject, name, kind, nats):
    claims = {"jti": b32(os.urandom(30)), "iat": int(time.time()), "iss": issuer.public,
              "name": name, "sub": subject.public, "nats": dict(nats, type=kind, version=2)}
    text = "%s.%s" % (b64(json.dumps({"typ": "JWT", "alg": "ed25519-nkey"}).encode()),
                      b64(json.dumps(claims).encode()))
    return text + "." + b64(issuer.sign(text.encode()))


def creds(token, key):
    rule = "------"
    return ("-----BEGIN NATS USER JWT-----\n%s\n%sEND NATS USER JWT%s\n\n"
            "-----BEGIN USER NKEY SEED-----\n%s\n%sEND USER NKEY SEED%s\n"
            % (token, rule, rule, key.seed(), rule, rule))


def write(path, text):
    with open(path, "w", encoding="ascii", opener=lambda p, fl: os.open(p, fl, 0o600)) as f:
        f.write(text)


def accounts(folder):
    operator, account = Key(OPERATOR), Key(ACCOUNT)
    none = {"subs": -1, "data": -1, "payload": -1}
    limits = dict(none, imports=-1, exports=-1, wildcards=True, conn=-1, leaf=-1)
    op = jwt(operator, operator, "lab", "operator", {})
    acc = jwt(operator, account, "lab", "account", {"limits": limits})
    for name in "user", "watch":
        key = Key(USER)
        write("%s/%s.creds" % (folder, name),
              creds(jwt(account, key, name, "user", dict(none, pub={}, sub={})), key))
    write(folder + "/server.conf", "operator: %s\nresolver: MEMORY\nresolver_preload: {\n %s: %s\n}\n"
          % (op, account.public, acc))


def listen(where, subject, out, login):
    host, _, port = where.rpartition(":")
    s = socket.create_connection((host, int(port)), timeout=10)
    f = s.makefile("rb")
    info = json.loads(f.readline().split(b" ", 1)[1])
    hello = dict(login(info), verbose=False, pedantic=False, lang="test", version="1", protocol=1)
    s.sendall(b"CONNECT " + json.dumps(hello).encode() + b"\r\nSUB " + subject.encode()
              + b" 1\r\nPING\r\n")
    s.settimeout(None)
    with open(out, "ab", buffering=0) as o:
        while True:
            line = f.readline()
            if not line:
                return
            if line.startswith(b"PING"):
                s.sendall(b"PONG\r\n")
            elif line.startswith(b"PONG"):
                o.write(b"%% ready\n")
            elif line.startswith(b"-ERR"):
                sys.exit(line.decode())
            elif line.startswith(b"MSG"):
                words = line.split()
                body = f.read(int(words[-1]) + 2)[:-2]
                o.write(b"%% " + words[1] + b"\n" + body + (b"" if body.endswith(b"\n") else b"\n"))


def creds_login(path):
    with open(path, encoding="ascii") as f:
        lines = [l.strip() for l in f if l.strip()]
    token, key = lines[1], Key.from_seed(lines[4])

    def login(info):
        return {"jwt": token, "sig": b64(key.sign(info["nonce"].encode()))}
    return login


def main(argv):
    verb, a = argv[1], argv[2:]
    if verb == "listen":
        listen(a[0], a[3], a[4], lambda info: {"user": a[1], "pass": a[2]})
    elif verb == "listen-creds":
        listen(a[0], a[2], a[3], creds_login(a[1]))
    elif verb == "nkey":
        key = Key(USER)
        write(a[0], key.seed() + "\n")
        print(key.public)
    elif verb == "accounts":
        accounts(a[0])
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(sys.argv)
