#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tries every fault of the stand-in cc-backend, its races and its ledger.

faults.py PORT TOKENFILE LEDGER     (a stand-in just started, --limit 3)
faults.py PORT TOKENFILE LEDGER --restored      (the next one, same ledger)
"""
import http.client
import json
import socket
import sys
import time

PORT, TOKEN, LEDGER = int(sys.argv[1]), open(sys.argv[2]).read(), sys.argv[3]
T0 = 1790000000
passed = failed = 0
jobid = 0


def say(name, good, seen):
    global passed, failed
    passed, failed = passed + bool(good), failed + (not good)
    if not good:
        print(f"FAILED {name}: {seen!r}")


def call(method, path, obj=None, timeout=10):
    conn = http.client.HTTPConnection("127.0.0.1", PORT, timeout=timeout)
    body = json.dumps(obj).encode() if obj is not None else b""
    try:
        conn.request(method, path, body, {"X-Auth-Token": TOKEN})
        answer = conn.getresponse()
        return answer.status, answer.read().decode()
    except (OSError, http.client.HTTPException) as e:
        return type(e).__name__, ""
    finally:
        conn.close()


def job():
    global jobid
    jobid += 1
    return {"jobId": jobid, "cluster": "alpha", "user": "u1", "numNodes": 1,
            "startTime": T0, "resources": [{"hostname": "n1"}]}


def start(j, **kw):
    return call("POST", "/api/jobs/start_job/", j, **kw)


def stop(j):
    return call("POST", "/api/jobs/stop_job/", {
        "jobId": j["jobId"], "cluster": "alpha", "startTime": T0,
        "stopTime": T0 + 60, "jobState": "completed"})


def fault(**kw):
    call("DELETE", "/fake/faults")
    status, text = call("POST", "/fake/faults",
                        {"match": "start_job", "count": 1, **kw})
    if status != 200:
        say("fault is taken", False, text)


def stored(j):
    rows = json.loads(call("GET", "/fake/jobs")[1])
    return [r for r in rows if r["jobId"] == j["jobId"]]


def raw(wait):
    """What comes back for a start, and how: closed, reset or silent."""
    body = json.dumps(job()).encode()
    s = socket.create_connection(("127.0.0.1", PORT))
    s.settimeout(wait)
    s.sendall(b"POST /api/jobs/start_job/ HTTP/1.1\r\nHost: x\r\n"
              b"X-Auth-Token: %s\r\nContent-Length: %d\r\n\r\n%s"
              % (TOKEN.encode(), len(body), body))
    out = b""
    try:
        while len(out) < 1 << 20:
            d = s.recv(65536)
            if not d:
                return out, "closed"
            out += d
        return out, "endless"
    except socket.timeout:
        return out, "silent"
    except ConnectionResetError:
        return out, "reset"
    finally:
        s.close()


def effects():
    for after in (False, True):
        for action in ("status", "reset", "html", "redirect", "garbage", "401"):
            fault(action=action, status=503, afterEffect=after)
            j = job()
            got = start(j)
            say(f"{action}, afterEffect {after}",
                len(stored(j)) == after and got[0] != 201, got)
            say(f"once after {action}", start(job())[0] == 201, "not 201")
    fault(action="status", status=502, body="busy\n", count=2)
    got = [start(job()) for _ in range(3)]
    say("count 2", [g[0] for g in got] == [502, 502, 201]
        and got[0][1] == "busy\n", got)
    fault(action="status", status=500, jobId=jobid + 2)
    got = [start(job())[0] for _ in range(3)]
    say("one job", got == [201, 500, 201], got)


def transport():
    fault(action="delay", delayMs=400)
    t = time.time()
    got = start(job())
    say("delay", got[0] == 201 and time.time() - t >= 0.4, got)
    j = job()
    fault(action="delay", delayMs=400)
    got = start(j, timeout=0.1)
    time.sleep(0.6)
    say("delayed, client gone, stored", len(stored(j)) == 1, got)
    for action, how, check in (
            ("hang", "silent", lambda b: b == b""),
            ("reset", "reset", lambda b: b == b""),
            ("halfopen", "silent", lambda b: b.startswith(b"HTTP/1.1 201")),
            ("garbage", "closed", lambda b: b"HTTP/1.1" not in b and b),
            ("truncate", "closed", lambda b: b.endswith(b'"succes')
             or b"\r\n\r\n" not in b or not b.endswith(b"}\n")),
            ("wrong-length", "closed", lambda b: b"Length: 1018\r\n" in b),
            ("endless", "endless", lambda b: b"chunked" in b),
            ("big", "endless", lambda b: b"67108" in b)):
        fault(action=action)
        out, end = raw(0.5)
        say(action, end == how and check(out), (end, out[:300]))
    fault(action="slow", delayMs=1)
    out, end = raw(2)
    say("slow", end == "closed" and out.endswith(b'"success"}\n'), (end, out))


def races():
    a, b = job(), job()
    start(a)
    start(b)
    call("POST", "/fake/race", {"count": 1})
    got = stop(a)
    ra, rb = stored(a)[0], stored(b)[0]
    say("race", got[0] == 200 and '"completed"' in got[1]
        and ra["jobState"] == "running" and rb["jobState"] == "completed",
        (got, ra, rb))
    say("victim's own stop", stop(b)[0] == 422, "not 422")
    say("stop again", stop(a)[0] == 200, "not 200")
    a, b = job(), job()
    start(a)
    start(b)
    call("POST", "/fake/race", {"count": 1, "lost": True})
    stop(a)
    got = call("GET", "/api/jobs/?items-per-page=1000")
    say("lost archive breaks the listing", got[0] == 500, got)
    got = call("GET", "/api/jobs/?state=running&items-per-page=1000")
    say("running is immune", got[0] == 200, got)


def ledger():
    lines = [json.loads(x) for x in open(LEDGER)]
    kinds = {x["effect"] for x in lines}
    say("ledger", kinds == {"start", "stop", "race"}, kinds)
    say("ledger has bodies", all("body" in x for x in lines), "no")
    rows = json.loads(call("GET", "/fake/jobs")[1])
    starts = [x["jobId"] for x in lines if x["effect"] == "start"]
    say("one start each", sorted(starts) == sorted(
        r["jobId"] for r in rows), (len(starts), len(rows)))
    stats = json.loads(call("GET", "/fake/stats")[1])
    say("stats", stats["answers"]["start_job"]["201"] > 0
        and stats["connections"]["open"] >= 1, stats)


def down():
    call("POST", "/fake/down", {"seconds": 0.5})
    time.sleep(0.25)
    got = start(job())
    say("down", got[0] == "ConnectionRefusedError", got)
    time.sleep(0.6)
    got = start(job())
    say("up again", got[0] == 201, got)


def jobs():
    rows = json.loads(call("GET", "/fake/jobs")[1])
    for r in rows:
        r.pop("dbid")
    return sorted(rows, key=lambda r: r["jobId"])


def restored():
    with open(LEDGER + ".jobs") as f:
        want = json.load(f)
    got = jobs()
    diff = [(w, g) for w, g in zip(want, got) if w != g]
    say("restored", len(want) == len(got) and not diff, diff[:2])
    got = call("GET", "/api/jobs/?items-per-page=1000")
    say("lost archive still is", got[0] == 500, got)


if "--restored" in sys.argv:
    restored()
else:
    effects()
    transport()
    races()
    ledger()
    down()
    with open(LEDGER + ".jobs", "w") as f:
        json.dump(jobs(), f)
print(f"{passed} passed, {failed} failed")
sys.exit(1 if failed else 0)
