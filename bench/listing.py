"""What the fake API server answers: discovery, lists and watches out of mapped files."""

from __future__ import annotations

import argparse
import base64
import json
import mmap
import os
import sys
import threading
import zlib
from array import array
from collections.abc import Iterable, Iterator
from pathlib import Path

KINDS = {
    "pods": ("Pod", True),
    "nodes": ("Node", False),
    "namespaces": ("Namespace", False),
    "limitranges": ("LimitRange", True),
    "resourcequotas": ("ResourceQuota", True),
}
SHORT = {"pods": ["po"], "nodes": ["no"], "namespaces": ["ns"], "limitranges": ["limits"], "resourcequotas": ["quota"]}
COLUMNS = ["Name", "Ready", "Status", "Restarts", "Age", "IP", "Node", "Nominated Node", "Readiness Gates"]


class Store:
    """Objects of one kind: a mapped file, offsets, and each namespace's range."""

    def __init__(self, base: Path, kind: str, ranges: dict, ext: str = "items", idx: str = "index") -> None:
        f = (base / f"{kind}.{ext}").open("rb")
        size = os.fstat(f.fileno()).st_size
        self.data = memoryview(mmap.mmap(f.fileno(), size, access=mmap.ACCESS_READ)) if size else memoryview(b"")
        self.at = array("Q", (base / f"{kind}.{idx}").read_bytes())
        if sys.byteorder != "little":
            self.at.byteswap()
        self.ranges, self.kind = ranges.get(kind, {}), kind
        self.by_name: dict[tuple[str, str], int] | None = None

    def __len__(self) -> int:
        return len(self.at) - 1

    def one(self, i: int) -> memoryview:
        return self.data[self.at[i] : self.at[i + 1] - 1]

    def run(self, a: int, b: int) -> memoryview:
        """Objects a to b-1 with the commas between them."""
        return self.data[self.at[a] : self.at[b] - 1] if b > a else memoryview(b"")

    def bounds(self, ns: str) -> tuple[int, int]:
        return (0, len(self)) if not ns else tuple(self.ranges.get(ns, (0, 0)))  # type: ignore[return-value]

    def find(self, ns: str, name: str) -> int | None:
        if self.by_name is None:
            names: dict[tuple[str, str], int] = {}
            for i in range(len(self)):
                head = bytes(self.one(i)[:1024])
                own = head.split(b'"name":"', 1)[1].split(b'"', 1)[0].decode()
                space = head.split(b'"namespace":"', 1)[1].split(b'"', 1)[0].decode() if KINDS[self.kind][1] else ""
                names[space, own] = i
            self.by_name = names
        return self.by_name.get((ns, name))


def selector(text: str) -> list[tuple[str, str, str]]:
    out = []
    for part in filter(None, text.split(",")):
        for op in ("!=", "==", "="):
            if op in part:
                k, v = part.split(op, 1)
                out.append((k.strip(), "!=" if op == "!=" else "=", v.strip()))
                break
        else:
            out.append((part.lstrip("!").strip(), "!" if part.startswith("!") else "has", ""))
    return out


def chosen(o: dict, labels: list, fields: list) -> bool:
    have = o["metadata"].get("labels", {})
    for k, op, v in labels:
        if (
            (op == "=" and have.get(k) != v)
            or (op == "!=" and have.get(k) == v)
            or (op == "has" and k not in have)
            or (op == "!" and k in have)
        ):
            return False
    for k, op, v in fields:
        at: object = o
        for step in k.split("."):
            at = at.get(step, "") if isinstance(at, dict) else ""
        if (at == v) != (op == "="):
            return False
    return True


class App:
    def __init__(self, o: argparse.Namespace) -> None:
        self.o = o
        index = json.loads((o.dir / "index.json").read_text())
        self.rv = index["resourceVersion"]
        self.stores = {k: Store(o.dir, k, index["ranges"]) for k in KINDS}
        self.rows = (
            Store(o.dir, "pods", index["ranges"], "rows", "rowindex") if (o.dir / "pods.rowindex").exists() else None
        )
        self.zipped: dict[tuple, bytes] = {}
        self.lock = threading.Lock()
        self.log = Path(o.log).open("a", buffering=1) if o.log else None  # noqa: SIM115, for good

    # ------------------------------------------------------------ discovery
    def discovery(self, path: str) -> dict | None:
        if path == "/version":
            return {
                "major": "1",
                "minor": "34",
                "emulationMajor": "1",
                "emulationMinor": "34",
                "gitVersion": "v1.34.1",
                "gitCommit": "0" * 40,
                "gitTreeState": "clean",
                "buildDate": "2026-09-09T00:00:00Z",
                "goVersion": "go1.24.6",
                "compiler": "gc",
                "platform": "linux/amd64",
            }
        if path == "/api":
            return {
                "kind": "APIVersions",
                "versions": ["v1"],
                "serverAddressByClientCIDRs": [{"clientCIDR": "0.0.0.0/0", "serverAddress": "127.0.0.1"}],
            }
        if path == "/apis":
            return {"kind": "APIGroupList", "apiVersion": "v1", "groups": []}
        if path == "/api/v1":
            return {
                "kind": "APIResourceList",
                "groupVersion": "v1",
                "resources": [
                    {
                        "name": k,
                        "singularName": v[0].lower(),
                        "namespaced": v[1],
                        "kind": v[0],
                        "verbs": ["get", "list", "watch"],
                        "shortNames": SHORT[k],
                    }
                    for k, v in KINDS.items()
                ],
            }
        return None

    # ------------------------------------------------------------ lists
    def listing(
        self, store: Store, ns: str, q: dict[str, str], table: bool
    ) -> tuple[tuple, bytes, list[memoryview], bytes]:
        """(cache key, head, pieces that carry their own commas between objects, tail)."""
        a, end = store.bounds(ns)
        if q.get("continue"):
            a = int(json.loads(base64.urlsafe_b64decode(q["continue"] + "=="))["start"])
        limit = int(q.get("limit") or 0)
        labels, fields = selector(q.get("labelSelector", "")), selector(q.get("fieldSelector", ""))
        source = self.rows if table else store
        if labels or fields:
            hits = [i for i in range(a, end) if chosen(json.loads(bytes(store.one(i))), labels, fields)]
            more = limit and len(hits) > limit
            taken = hits[:limit] if more else hits
            pieces = [source.one(i) for i in taken]
            b, left = (hits[limit], len(hits) - limit) if more else (end, 0)
        else:
            b = min(end, a + limit) if limit else end
            pieces, left = (
                (
                    [source.one(i) for i in range(a, b)]
                    if self.o.framing == "items"
                    else [source.run(a, b)]
                    if b > a
                    else []
                ),
                end - b,
            )
        meta: dict = {"resourceVersion": self.rv}
        if b < end:
            token = json.dumps({"v": "meta.k8s.io/v1", "rv": int(self.rv), "start": str(b)}, separators=(",", ":"))
            meta["continue"] = base64.urlsafe_b64encode(token.encode()).decode().rstrip("=")
            if not (labels or fields):
                meta["remainingItemCount"] = left
        if table:
            head = {
                "kind": "Table",
                "apiVersion": "meta.k8s.io/v1",
                "metadata": meta,
                "columnDefinitions": [
                    {
                        "name": n,
                        "type": "string",
                        "format": "name" if n == "Name" else "",
                        "description": "",
                        "priority": int(i > 4),
                    }
                    for i, n in enumerate(COLUMNS)
                ],
            }
            last = "rows"
        else:
            head, last = {"kind": KINDS[store.kind][0] + "List", "apiVersion": "v1", "metadata": meta}, "items"
        h = json.dumps(head, separators=(",", ":"))[:-1] + f',"{last}":['
        return (
            (store.kind, ns, a, b, q.get("labelSelector"), q.get("fieldSelector"), table),
            h.encode(),
            pieces,
            b"]}\n",
        )

    def compressed(self, key: tuple, parts: Iterable[bytes | memoryview]) -> bytes:
        with self.lock:
            if key not in self.zipped:
                c = zlib.compressobj(1, zlib.DEFLATED, 31)
                self.zipped[key] = b"".join([c.compress(p) for p in parts]) + c.flush()
            return self.zipped[key]

    # ------------------------------------------------------------ watch
    def events(self, store: Store, ns: str, q: dict[str, str]) -> Iterator[bytes]:
        kind = KINDS[store.kind][0]
        stamp = b'{"kind":"%s","apiVersion":"v1",' % kind.encode()
        a, b = store.bounds(ns)
        first = q.get("sendInitialEvents") == "true" or q.get("resourceVersion", "") in ("", "0")

        def line(kind_: bytes, i: int) -> bytes:
            return b'{"type":"%s","object":%s%s}\n' % (kind_, stamp, bytes(store.one(i)[1:]))

        def bookmark(end: bool) -> bytes:
            meta: dict = {"resourceVersion": self.rv, "creationTimestamp": None}
            if end:
                meta["annotations"] = {"k8s.io/initial-events-end": "true"}
            return (
                json.dumps(
                    {"type": "BOOKMARK", "object": {"kind": kind, "apiVersion": "v1", "metadata": meta}},
                    separators=(",", ":"),
                ).encode()
                + b"\n"
            )

        if first:
            for i in range(a, b):
                yield line(b"ADDED", i)
            if q.get("sendInitialEvents") == "true":
                yield bookmark(True)
        for n in range(self.o.watch_events if b > a else 0):
            yield line(b"MODIFIED", a + n % (b - a))
        if q.get("allowWatchBookmarks") in ("true", "1"):
            yield bookmark(False)
