"""The recordings are those that were handed over: no expectation was edited, none is missing, none was added."""

from __future__ import annotations

import hashlib
from pathlib import Path

from conformance.cases import LINES, OWN, SYSTEMS


def test_the_recordings_have_their_digests():
    lines = Path(__file__).with_name("vectors.sha256").read_text().splitlines()
    noted = {name: digest for digest, _, name in (line.partition("  ") for line in lines)}
    present = {
        path.relative_to(OWN).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for name in (*SYSTEMS, *LINES)
        for path in (OWN / name).rglob("*")
        if path.is_file()
    }
    assert present == noted
    assert {name.partition("/")[0] for name in noted} == {*SYSTEMS, *LINES}
