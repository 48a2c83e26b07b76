#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds the stand-in cc-backend against what the real one answered.

replay.py PORT TOKENFILE FAKE ANSWERS [-v]

ANSWERS is one of tests/data/answers/*.jsonl: requests in the order in which a
real server got them, with its answers.  Each is sent to the stand-in on PORT
(freshly started, with a long commit interval) and the answers are compared,
but for what cannot be equal: database ids, dates, the age of running jobs, and
whether the archive worker has already been there.  FAKE is the program
itself, which signs tokens with other claims.  Exit status 1 if one differs.

A line has: name; commits (commits since the first line); method, path,
headers, body, notoken, claims, changed (of the token's signature); status and
answer, or jobId and rows (of a listing); or raw and answer (bytes, line ends
without the CR; plain: sent as they stand).
"""
import http.client
import json
import re
import socket
import subprocess
import sys
import time

PORT, TOKENFILE, FAKE, ANSWERS = int(sys.argv[1]), *sys.argv[2:5]
VERBOSE = "-v" in sys.argv
TOKEN = open(TOKENFILE).read().strip()
RAW_WAIT = 8        # s, for an answer that ends with a close
ids = {}            # database ids: recorded -> here


def bytes_of(text):
    """Bytes that were not UTF-8 stand in the file as \\xHH."""
    parts = re.split(r"\\x([0-9a-f]{2})", text)
    return b"".join(bytes([int(p, 16)]) if i % 2 else p.encode()
                    for i, p in enumerate(parts))


def signed(claims):
    now = int(time.time())
    claims = {k: now + v if k in ("exp", "nbf", "iat") and isinstance(v, int)
              else v for k, v in claims.items()}
    return subprocess.run([FAKE, "--sign", json.dumps(claims)], check=True,
                          capture_output=True, text=True).stdout.strip()


def token_for(rec):
    if "claims" in rec:
        return signed(rec["claims"])
    if rec.get("changed"):
        return TOKEN[:-10] + ("A" if TOKEN[-10] != "A" else "B") + TOKEN[-9:]
    return None if rec.get("notoken") else TOKEN


def request(method, path, headers=None, body=b""):
    conn = http.client.HTTPConnection("127.0.0.1", PORT, timeout=30)
    conn.request(method, path, body, headers or {})
    answer = conn.getresponse()
    text = answer.read()
    conn.close()
    return answer, text


def send(rec):
    headers = {}
    token = token_for(rec)
    if token is not None:
        headers["X-Auth-Token"] = token
    for k, v in rec.get("headers", {}).items():
        headers[k] = v.replace("TOKEN", TOKEN)
    if headers.get("Accept-Encoding") == "gzip":
        del headers["Accept-Encoding"]
    path = re.sub(r"^(/api/jobs/(?:tag_job/|edit_meta/)?)(\d+)$",
                  lambda m: m[1] + str(ids.get(int(m[2]), m[2])), rec["path"])
    return request(rec["method"], path, headers, bytes_of(rec.get("body", "")))


SAME = ((r'"monitoringStatus":3', '"monitoringStatus":1'),
        (r'"footprint":\{\}', '"footprint":null'),
        (r'"statistics":\{\}', '"statistics":null'),
        (r'"duration":\d{5,}', '"duration":0'),
        (r'"id":\d+', '"id":0'), (r"dbid: \d+", "dbid: 0"),
        (r"\(id \d+\)", "(id 0)"), (r"new job \d+", "new job 0"),
        (r"cached job \d+", "cached job 0"),
        (r"deleted job \d+", "deleted job 0"),
        (r"Date: [^\n]*", "Date: 0"))


def plain(text):
    for pattern, to in SAME:
        text = re.sub(pattern, to, text)
    return text


def shape(text):
    """Of a listing that shows whatever else was stored: keys in order."""
    m = re.match(r'\{"jobs":\[(?:\{("[a-zA-Z]+":))?.*\],'
                 r'"items":\d+,"page":\d+\}\n', text)
    return m and m[1]


def compare_listing(rec, text):
    """One whole page: the rows depend on all that came before."""
    want, got = rec["answer"], text
    if want.startswith('{"jobs":[{') and "start-time" not in rec["path"]:
        return shape(want) == shape(got)
    return plain(want) == plain(got)


def check_rows(rec, text):
    rows = [r for r in json.loads(text)["jobs"] if r["jobId"] == rec["jobId"]]
    if len(rows) == len(rec["rows"]):
        for there, here in zip(rec["rows"], rows):
            if isinstance(there, dict):
                ids[there["id"]] = here["id"]
    dump = [json.dumps(r, ensure_ascii=False, separators=(",", ":"))
            for r in (rec["rows"], rows)]
    if "(long)" in rec["rows"]:
        return len(rows) == len(rec["rows"]), text
    return plain(dump[0]) == plain(dump[1]), dump[1]


def check_request(rec):
    if "rows" in rec:
        rec = dict(rec, path=rec["path"] + "&items-per-page=5000")
        return check_rows(rec, send(rec)[1].decode())
    answer, body = send(rec)
    text = body.decode("utf-8", "surrogateescape")
    seen = f"{answer.status} {text}"
    if answer.status != rec["status"]:
        return False, seen
    if "answer" not in rec:
        return True, seen
    if re.match(r"/api/jobs/\?", rec["path"]) and answer.status == 200:
        return compare_listing(rec, text), seen
    return plain(rec["answer"]) == plain(text), seen


last = None         # the connection of a raw request that goes on


def check_raw(rec):
    global last
    want = rec["answer"]
    data = rec["raw"].replace("TOKEN", TOKEN)
    if not rec.get("plain"):
        data = data.replace("\n", "\r\n")
    goes_on = not re.match(r"[A-Z]+ /", rec["raw"])
    sock = last if goes_on else socket.create_connection(("127.0.0.1", PORT))
    sock.settimeout(RAW_WAIT)
    sock.sendall(data.encode())
    got = b""
    need = len(re.sub("<closed>$", "", want))
    try:
        while want.endswith("<closed>") or \
                len(got.replace(b"\r\n", b"\n")) < need:
            d = sock.recv(65536)
            if not d:
                got += b"<closed>"
                break
            got += d
    except socket.timeout:
        got += b"<silent>"
    except ConnectionResetError:
        got += b"<reset>"
    last = sock
    text = got.decode().replace("\r\n", "\n")
    # A listing may be longer or shorter here.
    if '{"jobs":[{' in want:
        return text.startswith(want[:15]), text
    return plain(text) == plain(want), text


def main():
    passed = failed = commits = 0
    for line in open(ANSWERS, encoding="utf-8"):
        rec = json.loads(line)
        while commits < rec.get("commits", 0):
            request("POST", "/fake/commit")
            commits += 1
        try:
            good, seen = (check_raw if "raw" in rec else check_request)(rec)
        except (OSError, ValueError, KeyError, http.client.HTTPException) as e:
            good, seen = False, f"{type(e).__name__} {e}"
        passed, failed = passed + good, failed + (not good)
        if not good or VERBOSE:
            print(f"{'ok' if good else 'FAILED'} {rec['name']}: {seen[:600]!r}")
        if not good:
            print(f"    wanted {rec.get('status', '')} "
                  f"{str(rec.get('answer', rec.get('rows')))[:600]!r}")
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


main()
