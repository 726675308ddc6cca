#!/usr/bin/env python3
"""A fast, read-only, fake Kubernetes API server for benchmarks (standard library only).

    python cluster.py --pods 100000 --out DIR
    python fake_apiserver.py DIR --port 18080 --kubeconfig kube.yaml
    KUBECONFIG=kube.yaml kubectl get pods -A

It answers from files made by cluster.py: a LIST is one slice of a file between a header and a
trailer, so the client, not the server, sets the pace.  It listens on 127.0.0.1 only.

What it serves
  GET /version /api /apis /api/v1 /apis/… /healthz /readyz /livez   discovery, legacy form
  GET /api/v1/KIND /apis/GROUP/VERSION/KIND                  lists of the kinds in kinds.py
  GET …/namespaces/NS/KIND                                   lists of one namespace
  GET …/NAME                                                 one object
  ?limit=N&continue=TOKEN      pages, with remainingItemCount
  ?labelSelector=              k=v, k==v, k!=v, k, !k, comma-separated (k=v is looked up, others parse)
  ?fieldSelector=              any path: status.phase, metadata.name, … (slow path)
  ?watch=true                  see below
  Accept: …as=Table…           server-side tables, for pods only
Everything else is 404; so are the kinds of Tekton and Capsule where there are no objects of them.
Protobuf is never offered: clients that ask for it with JSON as second choice (the usual Accept
header) get JSON.

How answers are framed, like the real server over HTTP/1.1
  * chunked; for each object one chunk of 2048 bytes and one with the rest (so a 1.36 server streams
    a JSON list: 20,001 chunks for 10,000 pods); --framing one sends a list as one chunk (servers
    before 1.33), --framing length sends Content-Length instead
  * gzip (level 1, chunks of 2048 bytes) when the client accepts it and the answer is over 128 KiB;
    --no-gzip turns it off.  A compressed answer is made at its first request and kept (not with
    --pace): do one warm-up run.

Watch: with sendInitialEvents=true every object comes as ADDED, then a BOOKMARK with the
initial-events-end annotation; from then on what happens.  Nothing happens without --pace KIND=N: N
events a second over the objects of that kind, most of them MODIFIED (an annotation; one pod in ten
fails), a few DELETED and ADDED again with another uid.  One object in 50 is not there at first.
Lists change with it, and all pages of one list are of one moment.  A watch from the version of a
list, and every later one, tells all that happened since: what it leads to is what a fresh list says.
--pace-keep events are remembered: watches and continue tokens from before get 410 Gone.
--pace-events N stops after N events.  GET /bench/state says where things stand, and
GET /bench/pace?rate=N sets the rate (0: stop), so that a list can be compared in peace.
Faults: --watch-close S ends every watch after S seconds, --watch-gone N refuses every Nth watch with
an ERROR event, 410 Expired.  Bookmarks come every --bookmark-every seconds to those who allow them.
--watch-events N sends N MODIFIED events at the start of each watch as fast as the client reads; they
change nothing, and measure a client's throughput.
A watch stays open until timeoutSeconds (or --watch-hold seconds) is over.

Other options: --tls CERT KEY (make them with: openssl req -x509 -newkey rsa:2048 -nodes -days 30
-keyout key.pem -out cert.pem -subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1 -addext
basicConstraints=critical,CA:FALSE), --token T
(401 without that bearer token), --latency MS (sleep before each answer), --rate MB (megabytes a
second for each connection), --log FILE (one JSON line a request: path, query, Accept,
Accept-Encoding, User-Agent, bytes, milliseconds), --port 0 with --port-file FILE (a free port).
Stop it with SIGTERM or SIGINT.
"""

from __future__ import annotations

import argparse
import base64
import json
import signal
import socket
import ssl
import sys
import threading
import time
import urllib.parse
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from discovery import discovery
from kinds import KINDS
from listing import App, Asked, Bytes, Listing, failure, stamp
from pace import GoneError
from store import Store
from watching import Watch

GZIP_FROM = 128 * 1024
FLUSH = 2048  # the buffer of the server's HTTP library


class Connection:
    """One keep-alive HTTP/1.1 connection, on a thread of its own."""

    def __init__(self, app: App, s: socket.socket) -> None:
        self.app, self.s, self.buf = app, s, b""

    def send(self, parts: list[Bytes]) -> int:
        data = b"".join(parts)
        rate = self.app.o.rate
        if not rate:
            self.s.sendall(data)
            return len(data)
        step = int(rate * 1e6 / 50)
        for i in range(0, len(data), step):
            t = time.monotonic()
            self.s.sendall(data[i : i + step])
            time.sleep(max(0.0, 0.02 - (time.monotonic() - t)))
        return len(data)

    def request(self) -> tuple[str, str, dict[str, str]] | None:
        while b"\r\n\r\n" not in self.buf:
            more = self.s.recv(65536)
            if not more:
                return None
            self.buf += more
            if len(self.buf) > 1 << 20:
                return None
        head, self.buf = self.buf.split(b"\r\n\r\n", 1)
        lines = head.decode("latin-1").split("\r\n")
        method, target, _ = lines[0].split(" ", 2)
        return method, target, {k.strip().lower(): v.strip() for k, _, v in (x.partition(":") for x in lines[1:])}

    def plain(self, status: str, body: bytes, kind: str = "application/json") -> int:
        return self.send(
            [f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n".encode(), body]
        )

    def missing(self, path: str, code: str = "404 Not Found", reason: str = "NotFound") -> int:
        return self.plain(code, json.dumps(failure(f"{path}: {reason}", reason, int(code[:3]))).encode())

    def framed(self, listing: Listing, zips: bool) -> int:
        key, head, pieces, tail = listing
        size = len(head) + sum(map(len, pieces)) + max(0, len(pieces) - 1) + len(tail)

        def flat() -> Iterator[Bytes]:
            yield head
            for n, p in enumerate(pieces):
                if n:
                    yield b","
                yield p
            yield tail

        if zips and size > GZIP_FROM:
            body = self.app.compressed(key, flat())
            start = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\n"
            self.send([start, b"Vary: Accept-Encoding\r\nTransfer-Encoding: chunked\r\n\r\n"])
            view = memoryview(body)
            batch: list[Bytes] = []
            for i in range(0, len(body), FLUSH):
                part = view[i : i + FLUSH]
                batch += (b"%x\r\n" % len(part), part, b"\r\n")
                if len(batch) > 300:
                    self.send(batch)
                    batch = []
            self.send([*batch, b"0\r\n\r\n"])
            return len(body)
        if self.app.o.framing == "length" or size < 2048:
            self.send(
                [f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {size}\r\n\r\n".encode(), head]
            )
            self.big(pieces)
            self.send([tail])
            return size
        self.send(
            [
                b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n"
                % len(head),
                head,
                b"\r\n",
            ]
        )
        if self.app.o.framing == "one":
            if pieces:
                self.send([b"%x\r\n" % (size - len(head) - len(tail))])
                self.big(pieces)
                self.send([b"\r\n"])
        else:
            batch = []
            for n, p in enumerate(pieces):
                comma = b"," if n else b""
                cut = FLUSH - len(comma)
                if len(p) > cut:
                    batch += (b"%x\r\n%s" % (FLUSH, comma), p[:cut], b"\r\n%x\r\n" % (len(p) - cut), p[cut:], b"\r\n")
                else:
                    batch += (b"%x\r\n%s" % (len(p) + len(comma), comma), p, b"\r\n")
                if len(batch) > 300:
                    self.send(batch)
                    batch = []
            self.send(batch)
        self.send([b"%x\r\n" % len(tail), tail, b"\r\n0\r\n\r\n"])
        return size

    def big(self, pieces: list[Bytes]) -> None:
        for n, p in enumerate(pieces):
            if n:
                self.send([b","])
            for i in range(0, len(p), 1 << 20):
                self.send([p[i : i + (1 << 20)]])

    def watch(self, store: Store, asked: Asked) -> int:
        app, sent = self.app, 0
        self.send([b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"])
        hold = min(float(asked.query.get("timeoutSeconds") or app.o.watch_hold), app.o.watch_hold)
        if app.watch_is_refused():
            asked = asked._replace(query=asked.query | {"resourceVersion": "1", "sendInitialEvents": ""})
        for events in Watch(app, store, asked).batches(time.monotonic() + min(hold, app.o.watch_close or hold)):
            if events:
                sent += self.send([part for e in events for part in (b"%x\r\n" % len(e), e, b"\r\n")])
            elif self.left():
                return sent
        return sent + self.send([b"0\r\n\r\n"])

    def left(self) -> bool:
        """Whether the client is gone."""
        self.s.settimeout(0.0)
        try:
            return not self.s.recv(1024)
        except (BlockingIOError, ssl.SSLWantReadError):
            return False
        finally:
            self.s.settimeout(None)

    def answer(self, method: str, target: str, h: dict[str, str]) -> int:
        app, o = self.app, self.app.o
        path, _, query = target.partition("?")
        q = {k: v[-1] for k, v in urllib.parse.parse_qs(query, keep_blank_values=True).items()}
        if o.latency:
            time.sleep(o.latency / 1000)
        if o.token and h.get("authorization") != f"Bearer {o.token}":
            return self.missing(path, "401 Unauthorized", "Unauthorized")
        if method != "GET":
            return self.missing(path, "405 Method Not Allowed", "MethodNotAllowed")
        if path in ("/healthz", "/readyz", "/livez"):
            return self.plain("200 OK", b"ok", "text/plain")
        if path in ("/bench/state", "/bench/pace"):
            if "rate" in q:
                app.pace.set_rate(float(q["rate"]))
            return self.plain("200 OK", app.pace.state())
        if (d := discovery(path.rstrip("/") or "/", app.stores)) is not None:
            return self.plain("200 OK", json.dumps(d).encode())
        return self.resource(path, q, h)

    def resource(self, path: str, q: dict[str, str], h: dict[str, str]) -> int:
        app, parts, ns = self.app, path.strip("/").split("/"), ""
        root = 2 if parts[0] == "api" else 3
        version, rest = "/".join(parts[1:root]), parts[root:]
        if len(rest) > 2 and rest[0] == "namespaces":
            ns, rest = rest[1], rest[2:]
        store = app.stores.get(rest[0]) if rest else None
        if store is None or len(rest) > 2 or KINDS[store.kind].api_version != version:
            return self.missing(path)
        if len(rest) == 2:
            text = app.get(store, ns, rest[1])
            if text is None:
                return self.absent(rest[0], rest[1])
            return self.plain("200 OK", stamp(rest[0]) + bytes(text[1:]) + b"\n")
        table = rest[0] == "pods" and app.rows is not None and "as=Table" in h.get("accept", "").split(",")[0]
        asked = Asked.of(ns, q, table=table)
        if q.get("watch") in ("true", "1"):
            return self.watch(store, asked)
        try:
            listing = app.listing(store, asked)
        except GoneError:
            return self.plain("410 Gone", json.dumps(app.expired(asked)).encode())
        return self.framed(listing, app.o.gzip and "gzip" in h.get("accept-encoding", ""))

    def absent(self, kind: str, name: str) -> int:
        """The answer for an object that is not there, in the server's words and with its details."""
        group = KINDS[kind].group
        said = failure(f'{kind}{"." if group else ""}{group} "{name}" not found', "NotFound", 404)
        details = {"name": name, "kind": kind} | ({"group": group} if group else {})
        return self.plain("404 Not Found", json.dumps(said | {"details": details}).encode())

    def serve(self) -> None:
        try:
            while (r := self.request()) is not None:
                method, target, h = r
                t = time.monotonic()
                sent = self.answer(method, target, h)
                if self.app.log:
                    self.app.log.write(
                        json.dumps(
                            {
                                "m": method,
                                "t": target,
                                "accept": h.get("accept"),
                                "enc": h.get("accept-encoding"),
                                "ua": h.get("user-agent"),
                                "bytes": sent,
                                "ms": round((time.monotonic() - t) * 1000, 1),
                            }
                        )
                        + "\n"
                    )
                if h.get("connection", "").lower() == "close":
                    break
        except (OSError, ssl.SSLError):
            pass  # the client went away
        except Exception as e:  # noqa: BLE001, a fault of this file: say so, and tell the client
            print(f"fault: {e!r}", file=sys.stderr, flush=True)
            with suppress(OSError):
                self.missing("fault", "500 Internal Server Error", "InternalError")
        finally:
            self.s.close()


def kubeconfig(path: Path, port: int, o: argparse.Namespace) -> None:
    cluster: dict = {"server": f"{'https' if o.tls else 'http'}://127.0.0.1:{port}"}
    if o.tls:
        cluster["certificate-authority-data"] = base64.b64encode(Path(o.tls[0]).read_bytes()).decode()
    user = {"token": o.token} if o.token else {}
    path.write_text(
        json.dumps(
            {
                "apiVersion": "v1",
                "kind": "Config",
                "current-context": "fake",
                "clusters": [{"name": "fake", "cluster": cluster}],
                "users": [{"name": "fake", "user": user}],
                "contexts": [{"name": "fake", "context": {"cluster": "fake", "user": "fake"}}],
            }
        )
    )


def paced(text: str) -> tuple[str, float]:
    kind, _, rate = text.partition("=")
    if kind not in KINDS:
        raise argparse.ArgumentTypeError(f"unknown kind {kind!r}; known are {', '.join(KINDS)}")
    return kind, float(rate)


def main() -> None:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("dir", type=Path, help="what cluster.py wrote")
    p.add_argument("--port", type=int, default=18080)
    p.add_argument("--port-file", type=Path)
    p.add_argument("--kubeconfig", type=Path)
    p.add_argument("--framing", choices=["items", "one", "length"], default="items")
    p.add_argument("--no-gzip", dest="gzip", action="store_false")
    p.add_argument("--tls", nargs=2, metavar=("CERT", "KEY"))
    p.add_argument("--token")
    p.add_argument("--latency", type=float, default=0)
    p.add_argument("--rate", type=float, default=0)
    p.add_argument("--watch-events", type=int, default=0)
    p.add_argument("--watch-hold", type=float, default=3600)
    p.add_argument("--pace", type=paced, action="append", default=[], metavar="KIND=N")
    p.add_argument("--pace-events", type=int, default=0)
    p.add_argument("--pace-keep", type=int, default=200_000)
    p.add_argument("--bookmark-every", type=float, default=1.0)
    p.add_argument("--watch-close", type=float, default=0)
    p.add_argument("--watch-gone", type=int, default=0)
    p.add_argument("--log")
    o = p.parse_args()
    o.pace = dict(o.pace)
    app = App(o)
    wrap = None
    if o.tls:
        wrap = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        wrap.load_cert_chain(*o.tls)
        wrap.set_alpn_protocols(["http/1.1"])
    listener = socket.create_server(("127.0.0.1", o.port), backlog=128)
    port = listener.getsockname()[1]
    if o.kubeconfig:
        kubeconfig(o.kubeconfig, port, o)
    if o.port_file:
        o.port_file.write_text(str(port))

    # The system's own way: a handler of Python's waits for the next connection if the signal comes just before accept.
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    print(f"serving {len(app.stores['pods'])} pods on 127.0.0.1:{port}", flush=True)

    def handle(s: socket.socket) -> None:
        try:
            s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            Connection(app, wrap.wrap_socket(s, server_side=True) if wrap else s).serve()
        except (OSError, ssl.SSLError):
            s.close()

    while True:
        s, _ = listener.accept()
        threading.Thread(target=handle, args=(s,), daemon=True).start()


if __name__ == "__main__":
    main()
