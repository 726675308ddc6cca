"""Snapshots whose objects hold anything, under a checksum that is right: a run ends with a documented code.

What is cut off or flipped is refused by its checksum: tests/snapshot/test_snapshot_damage.py.
KRES_FUZZ: how many snapshots are tried; without it a fixed number. KRES_FUZZ_SEED: the first one.
"""

from __future__ import annotations

import json
import os
import sys
import zlib
from collections.abc import Iterable
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hostile.random_objects import altered

from kubectl_kres.cli.main import entry
from kubectl_kres.snapshot.format import CRC
from kubectl_kres.snapshot.read import demo_path

COUNT = int(os.environ.get("KRES_FUZZ", "") or 120)
FIRST = int(os.environ.get("KRES_FUZZ_SEED", "") or 0)
COMMANDS = (
    "explain deploy,sts,ds,jobs,pods -A",
    "explain deploy -A -o json",
    "check -A",
    "overview -A",
    "quota -A --denied",
    "quota -A --recount --by workload",
    "qos -A",
    "timeline -A",
    "pools --by value",
    "claims -A",
    "diff pods -A",
    "explain taskruns,pipelineruns -A",
    "simulate --kube-version 1.36 -A",
    "simulate --scale deploy/cart=9 -n shop",
)
DOCUMENTED = frozenset(range(5))
_HEAD, *_PAGES, _END = demo_path().read_bytes().splitlines(keepends=True)


def damaged(seed: int) -> bytes:
    """The demo with one to four objects altered, of kinds that are read whole, and a checksum of all that."""
    random = Random(seed)
    pages = demo_pages()
    whole = [at for at, page in enumerate(pages) if "/" not in page["kind"] and page["items"]]
    for at in random.choices(whole, k=random.randint(1, 4)):
        items = pages[at]["items"]
        place = random.randrange(len(items))
        items[place] = altered(random, items[place])
    return of_pages(pages, whole)


def of_pages(pages: list[Any], changed: Iterable[int]) -> bytes:
    """The demo with other pages, under a checksum that is right."""
    lines = list(_PAGES)
    for at in changed:
        lines[at] = json.dumps(pages[at], separators=(",", ":")).encode() + b"\n"
    text = b"".join([_HEAD, *lines])
    end = _END.rpartition(CRC)[0] + CRC
    return text + end + b"%d}\n" % zlib.crc32(end, zlib.crc32(text))


def demo_pages() -> list[Any]:
    return [json.loads(page) for page in _PAGES]


def test_a_snapshot_that_is_only_written_anew_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """That the others fail for what is in them, not for how they are written."""
    monkeypatch.setattr("hostile.test_random_snapshots.altered", lambda _random, item: item)
    file = tmp_path / "demo.kres"
    file.write_bytes(damaged(1))
    monkeypatch.setattr(sys, "argv", ["/usr/bin/kubectl-kres", "overview", "-A", "--snapshot", str(file)])
    assert entry() == 0


@pytest.mark.one_in(4)
@pytest.mark.parametrize("part", range(4))
def test_wrong_objects_end_with_a_documented_code(
    part: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file, wrong, ended = tmp_path / "demo.kres", [], set()
    for seed in range(FIRST + part, FIRST + COUNT, 4):
        file.write_bytes(damaged(seed))
        command = COMMANDS[seed // 4 % len(COMMANDS)]
        monkeypatch.setattr(sys, "argv", ["/usr/bin/kubectl-kres", *command.split(), "--snapshot", str(file)])
        code = entry()
        out, said = capsys.readouterr()
        ended.add(code)
        if code not in DOCUMENTED or "Traceback" in said or (code == 0 and not out):
            wrong.append((seed, command, code, said.strip().splitlines()[-4:-1]))
    assert wrong == [], "\n".join(map(str, wrong))
    assert len(ended) > 1, ended
