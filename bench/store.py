"""Objects of one kind out of mapped files, and the selectors that pick some of them."""

from __future__ import annotations

import json
import mmap
import os
import sys
from array import array
from pathlib import Path

from kinds import KINDS


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
        self.by_label: dict[tuple[str, str], list[int]] | None = None

    def __len__(self) -> int:
        return len(self.at) - 1

    def one(self, i: int) -> memoryview:
        return self.data[self.at[i] : self.at[i + 1] - 1]

    def run(self, a: int, b: int) -> memoryview:
        """Objects a to b-1 with the commas between them."""
        return self.data[self.at[a] : self.at[b] - 1] if b > a else memoryview(b"")

    def bounds(self, ns: str) -> tuple[int, int]:
        return (0, len(self)) if not ns else tuple(self.ranges.get(ns, (0, 0)))

    def find(self, ns: str, name: str) -> int | None:
        if self.by_name is None:
            names: dict[tuple[str, str], int] = {}
            for i in range(len(self)):
                head = bytes(self.one(i)[:1024])
                own = head.split(b'"name":"', 1)[1].split(b'"', 1)[0].decode()
                space = (
                    head.split(b'"namespace":"', 1)[1].split(b'"', 1)[0].decode() if KINDS[self.kind].namespaced else ""
                )
                names[space, own] = i
            self.by_name = names
        return self.by_name.get((ns, name))

    def labelled(self, label: str, value: str) -> list[int]:
        """The objects with this label. All are parsed at the first call, as a real server has them parsed."""
        if self.by_label is None:
            labels: dict[tuple[str, str], list[int]] = {}
            for i in range(len(self)):
                for pair in json.loads(bytes(self.one(i)))["metadata"].get("labels", {}).items():
                    labels.setdefault(pair, []).append(i)
            self.by_label = labels
        return self.by_label.get((label, value), [])


Selector = list[tuple[str, str, str]]


def selector(text: str) -> Selector:
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


def chosen(o: dict, labels: Selector, fields: Selector) -> bool:
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
