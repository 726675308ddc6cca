"""What the fake API server answers: lists and single objects out of mapped files, with what has changed since."""

from __future__ import annotations

import argparse
import base64
import json
import threading
import zlib
from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from kinds import KINDS
from pace import Pace
from store import Store, chosen, selector

COLUMNS = ["Name", "Ready", "Status", "Restarts", "Age", "IP", "Node", "Nominated Node", "Readiness Gates"]
Bytes = bytes | memoryview


class Listing(NamedTuple):
    """A list: pieces that stand between commas, and under which key its compressed form may be kept."""

    key: tuple | None
    head: bytes
    pieces: list[Bytes]
    tail: bytes = b"]}\n"


class Asked(NamedTuple):
    """What a list request asks for."""

    ns: str
    table: bool
    limit: int
    labels: list
    fields: list
    query: dict[str, str]

    @classmethod
    def of(cls, ns: str, query: dict[str, str], *, table: bool) -> Asked:
        labels, fields = selector(query.get("labelSelector", "")), selector(query.get("fieldSelector", ""))
        return cls(ns, table, int(query.get("limit") or 0), labels, fields, query)

    @property
    def selects(self) -> bool:
        return bool(self.labels or self.fields)

    def takes(self, text: Bytes) -> bool:
        return not self.selects or chosen(json.loads(bytes(text)), self.labels, self.fields)

    def start(self) -> tuple[int | None, int]:
        """Where the page starts, and the version that it is of; -1 for the newest."""
        if not self.query.get("continue"):
            return None, -1
        token = json.loads(base64.urlsafe_b64decode(self.query["continue"] + "=="))
        return int(token["start"]), int(token["rv"])


def token(version: int, start: int) -> str:
    text = json.dumps({"v": "meta.k8s.io/v1", "rv": version, "start": str(start)}, separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


class App:
    """The objects and how they change."""

    def __init__(self, o: argparse.Namespace) -> None:
        self.o = o
        index = json.loads((o.dir / "index.json").read_text())
        counts = index["counts"]
        self.stores = {k: Store(o.dir, k, index["ranges"]) for k in KINDS if KINDS[k].always or counts.get(k)}
        self.rows = (
            Store(o.dir, "pods", index["ranges"], "rows", "rowindex") if (o.dir / "pods.rowindex").exists() else None
        )
        self.pace = Pace(
            self.stores, o.pace, int(index["resourceVersion"]), keep=o.pace_keep, most=o.pace_events, seed=index["seed"]
        )
        if o.pace:
            self.pace.start()
        self.watches = 0
        self.zipped: dict[tuple, bytes] = {}
        self.lock = threading.Lock()
        self.log = Path(o.log).open("a", buffering=1) if o.log else None  # noqa: SIM115, for good

    def watch_is_refused(self) -> bool:
        """Whether it is this watch's turn to be told that its version is too old."""
        with self.lock:
            self.watches += 1
            return bool(self.o.watch_gone) and self.watches % self.o.watch_gone == 0

    def get(self, store: Store, ns: str, name: str) -> Bytes | None:
        i = store.find(ns, name)
        if i is None or store.kind not in self.pace.stores:
            return None if i is None else store.one(i)
        return next((text for _, text in self.pace.listed(store.kind, i, i + 1, self.pace.version)), None)

    def listing(self, store: Store, asked: Asked) -> Listing:
        """The page that is asked for. Raises GoneError if the list that it continues is too old."""
        if store.kind in self.pace.stores:
            return self.paced(store, asked)
        a, end = store.bounds(asked.ns)
        a = asked.start()[0] or a
        version = self.pace.version
        source = self.rows if asked.table and self.rows else store
        if asked.selects:
            equal = next(((key, value) for key, op, value in asked.labels if op == "="), None)
            candidates = [i for i in store.labelled(*equal) if a <= i < end] if equal else range(a, end)
            hits = [i for i in candidates if asked.takes(store.one(i))]
            b = hits[asked.limit] if asked.limit and len(hits) > asked.limit else end
            pieces: list[Bytes] = [source.one(i) for i in hits if i < b]
        else:
            b = min(end, a + asked.limit) if asked.limit else end
            pieces = [source.one(i) for i in range(a, b)] if self.o.framing == "items" else [source.run(a, b)][: b - a]
        meta: dict = {"resourceVersion": str(version)}
        if b < end:
            meta["continue"] = token(version, b)
            if not asked.selects:
                meta["remainingItemCount"] = end - b
        key = store.kind, a, b, asked.query.get("labelSelector"), asked.query.get("fieldSelector"), asked.table
        return Listing(None if self.o.pace else (asked.ns, *key), head(store, meta, table=asked.table), pieces)

    def paced(self, store: Store, asked: Asked) -> Listing:
        """The same of objects that change; every page is of the version that the first one was of."""
        a, end = store.bounds(asked.ns)
        start, version = asked.start()
        version = self.pace.version if version < 0 else version
        found = self.pace.listed(store.kind, a if start is None else start, end, version)
        taken = [(i, text) for i, text in found if asked.takes(text)] if asked.selects else found
        page = list(islice(taken, asked.limit + 1 if asked.limit else None))
        meta: dict = {"resourceVersion": str(version)}
        if asked.limit and len(page) > asked.limit:
            meta["continue"] = token(version, page.pop()[0])
        pieces: list[Bytes] = [self.rows.one(i) if asked.table and self.rows else text for i, text in page]
        return Listing(None, head(store, meta, table=asked.table), pieces)

    def expired(self, asked: Asked) -> dict:
        """The answer to a continue token that is too old, with one to go on from there with newer objects."""
        start, _ = asked.start()
        message = "The provided continue parameter is too old to display a consistent list result."
        meta = {"continue": token(-1, start or 0)}
        return failure(message, "Expired", 410) | {"metadata": meta}

    def compressed(self, key: tuple | None, parts: Iterable[Bytes]) -> bytes:
        """The parts as gzip, made once for each key."""
        if key is None:
            return squeezed(parts)
        with self.lock:
            if key not in self.zipped:
                self.zipped[key] = squeezed(parts)
            return self.zipped[key]


def squeezed(parts: Iterable[Bytes]) -> bytes:
    c = zlib.compressobj(1, zlib.DEFLATED, 31)
    return b"".join([c.compress(p) for p in parts]) + c.flush()


def head(store: Store, meta: dict, *, table: bool) -> bytes:
    kind = KINDS[store.kind]
    start: dict = {"kind": f"{kind.kind}List", "apiVersion": kind.api_version, "metadata": meta}
    if table:
        columns = [
            {
                "name": name,
                "type": "string",
                "format": "name" if name == "Name" else "",
                "description": "",
                "priority": int(i > 4),
            }
            for i, name in enumerate(COLUMNS)
        ]
        start |= {"kind": "Table", "apiVersion": "meta.k8s.io/v1", "columnDefinitions": columns}
    return (json.dumps(start, separators=(",", ":"))[:-1] + f',"{"rows" if table else "items"}":[').encode()


def stamp(kind: str) -> bytes:
    """How a single object begins, which in lists has neither kind nor version."""
    return b'{"kind":"%s","apiVersion":"%s",' % (KINDS[kind].kind.encode(), KINDS[kind].api_version.encode())


def failure(message: str, reason: str, code: int) -> dict:
    return {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": message,
        "reason": reason,
        "code": code,
    }
