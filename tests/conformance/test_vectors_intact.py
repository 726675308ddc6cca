"""The recordings are those that were handed over: no expectation was edited, none is missing, none was added."""

from __future__ import annotations

import hashlib
from pathlib import Path

from conformance.cases import LINES, NEWER, OWN, SYSTEMS, beside


def test_the_recordings_have_their_digests():
    lines = Path(__file__).with_name("vectors.sha256").read_text().splitlines()
    noted = {name: digest for digest, _, name in (line.partition("  ") for line in lines)}
    present = {
        f"{version and f'{version}/'}{path.relative_to(root).as_posix()}": hashlib.sha256(path.read_bytes()).hexdigest()
        for version, root in ((version, beside(OWN, version)) for version in ("", *NEWER))
        for name in (*SYSTEMS, *LINES)
        for path in (root / name).rglob("*")
        if path.is_file()
    }
    assert present == noted
    assert {name.partition("/")[0] for name in noted} == {*SYSTEMS, *NEWER, *LINES}
