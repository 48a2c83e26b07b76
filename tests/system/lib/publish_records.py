#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Publishes records to the streams of clusters, as the submitter of a cluster does.

publish_records.py PORT runs CLUSTER FIRST LAST [BYTES]   start and end of each
                                                  job id, with a script of BYTES
publish_records.py PORT as CLUSTER OTHER JOB      to CLUSTER's subject, of OTHER
publish_records.py PORT schema CLUSTER JOB        with a schema of the future
publish_records.py PORT garbage CLUSTER           what is no record
publish_records.py PORT unacked CLUSTER           prints the messages that the
                                                  centre has not acknowledged
Each message is acknowledged by its stream, or the status is 1.
"""
import json
import socket
import sys

START = 1790000000      # of job 0; each job begins a second later
RUN = 60                # s


class Broker:
    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), 10)
        self.file = self.socket.makefile("rb")
        self.n = 0
        self.file.readline()
        self.send(b'CONNECT {"verbose":false,"headers":true,"no_responders":true}\r\n'
                  b"SUB _R.> 1\r\nPING\r\n")
        while not self.file.readline().startswith(b"PONG"):
            pass

    def send(self, data):
        self.socket.sendall(data)

    def publish(self, subject, body, message_id=None):
        header = b"NATS/1.0\r\nNats-Msg-Id: %s\r\n\r\n" % message_id.encode() if message_id else b"NATS/1.0\r\n\r\n"
        body = body.encode()
        self.n += 1
        self.send(b"HPUB %s _R.%d %d %d\r\n%s%s\r\n" % (
            subject.encode(), self.n, len(header), len(header) + len(body), header, body))

    def reply(self):
        while True:
            line = self.file.readline()
            if line.startswith(b"PING"):
                self.send(b"PONG\r\n")
            elif line.startswith((b"MSG", b"HMSG")):
                text = self.file.read(int(line.split()[-1]) + 2)[:-2]
                return json.loads(text) if line.startswith(b"MSG") else {"error": text.decode()}
            elif not line:
                sys.exit("the broker has closed the connection")

    def acknowledged(self, n):
        for _ in range(n):
            answer = self.reply()
            if "seq" not in answer:
                sys.exit("not stored: %s" % answer)


def record(cluster, job, revision, **more):
    start = START + job
    return json.dumps({
        "schema": 1, "revision": revision, "cluster": cluster, "jobId": job, "startTime": start,
        "submitTime": start, "flags": ["hasStart", "hasThreads", "hasAccels"], "user": "alice",
        "project": "physics", "partition": "main", "numNodes": 1, "numHwthreads": 4, "walltime": 600,
        "hosts": [{"name": "n1", "threads": [[0, 3]], "shape": [2, 4, 2]}], **more})


def identity(cluster, job, revision):
    return "%s:%d:%d:record:%d" % (cluster, job, START + job, revision)


def runs(broker, cluster, first, last, script=0):
    more = {"jobScript": "#" * script} if script else {}
    for job in range(first, last + 1):
        broker.publish("cc.record." + cluster, record(cluster, job, 1, **more), identity(cluster, job, 1))
    for job in range(first, last + 1):
        broker.publish("cc.record." + cluster,
                       record(cluster, job, 2, stopTime=START + job + RUN, jobState="completed", **more),
                       identity(cluster, job, 2))
    broker.acknowledged(2 * (last - first + 1))


def main():
    broker, what, cluster, args = Broker(int(sys.argv[1])), sys.argv[2], sys.argv[3], sys.argv[4:]
    subject = "cc.record." + cluster
    if what == "runs":
        runs(broker, cluster, *(int(a) for a in args))
        return
    if what == "unacked":
        broker.publish("$JS.API.CONSUMER.INFO.CC_RECORD_%s.centre" % cluster, "")
        print(broker.reply().get("num_ack_pending", "no consumer"))
        return
    if what == "as":
        broker.publish(subject, record(args[0], int(args[1]), 1), identity(cluster, int(args[1]), 1))
    elif what == "schema":
        broker.publish(subject, record(cluster, int(args[0]), 1, schema=1000), identity(cluster, int(args[0]), 1))
    else:
        broker.publish(subject, '{"schema":1,"jobId":-1}')
    broker.acknowledged(1)


main()
