"""Objects on their way to disk: each is written as it is made, and only offsets are kept."""

from __future__ import annotations

import json
import sys
from array import array
from pathlib import Path
from typing import Any

from kinds import KINDS


class Sink:
    """Objects of one kind."""

    def __init__(self, out: Path, kind: str, ext: str = "items", idx: str = "index") -> None:
        self.f = (out / f"{kind}.{ext}").open("wb")
        self.at, self.index, self.idx = 0, array("Q"), out / f"{kind}.{idx}"
        self.ranges: dict[str, list[int]] = {}

    def put(self, ns: str, data: bytes) -> None:
        place = self.ranges.setdefault(ns, [len(self.index), 0])
        self.index.append(self.at)
        self.f.write(data)
        self.f.write(b",")
        self.at += len(data) + 1
        place[1] = len(self.index)

    def close(self) -> int:
        """How many objects there are."""
        self.index.append(self.at)
        self.f.close()
        if sys.byteorder != "little":
            self.index.byteswap()
        self.idx.write_bytes(self.index.tobytes())
        return len(self.index) - 1


class Sinks:
    """One sink for each kind, and one for the rows of pods."""

    def __init__(self, out: Path, *, rows: bool) -> None:
        self.of = {kind: Sink(out, kind) for kind in KINDS}
        self.rows = Sink(out, "pods", "rows", "rowindex") if rows else None

    def put(self, kind: str, thing: dict[str, Any]) -> None:
        self.of[kind].put(thing["metadata"].get("namespace", ""), compact(thing).encode())

    def close(self) -> tuple[dict[str, int], dict[str, dict[str, list[int]]]]:
        """Counts, and for each kind the range of each namespace."""
        if self.rows:
            self.rows.close()
        ranges = {kind: {ns: at for ns, at in sink.ranges.items() if ns} for kind, sink in self.of.items()}
        return {kind: sink.close() for kind, sink in self.of.items()}, ranges


def compact(thing: object) -> str:
    return json.dumps(thing, separators=(",", ":"))
