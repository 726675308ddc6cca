"""The recorded cases: where they lie and how they are read."""

from __future__ import annotations

import functools
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

#: Folders of recordings. One that is missing holds no cases.
SYSTEMS = ("admission", "tekton", "tekton-live", "capsule", "changes", "policies")
#: Folders with a case in each line of their files, which have a test of their own.
LINES = ("scheduling", "kueue")

#: The copy in this repository, whatever KRES_VECTORS says.
OWN = Path(__file__).parents[1] / "vectors"

#: Beside a folder of recordings: what a newer version answers otherwise, by the end of the folder's name.
NEWER = ("1.37",)

#: Floats stay as the text they were written in: 1.0 and 1 are different quantities to a server that echoes them.
_DECODER = msgspec.json.Decoder(float_hook=str)


@dataclass(frozen=True, eq=False)
class Case:
    """One case: ``data`` as recorded, ``file`` what stands around the cases of its topic.

    ``version``: of the server, where it stands in a folder of its own.
    """

    system: str
    topic: str
    data: Mapping[str, Any]
    file: Mapping[str, Any]
    version: str = ""

    @property
    def id(self) -> str:
        newer = f"@{self.version}" if self.version else ""
        return f"{self.system}{newer}/{self.topic}/{self.data['name']}"


def folder() -> Path:
    """Where the recordings are: KRES_VECTORS, or the copy here. A path that is no folder is an error."""
    chosen = Path(os.environ.get("KRES_VECTORS") or OWN)
    if not chosen.is_dir():
        raise NotADirectoryError(f"KRES_VECTORS: {chosen} is no folder")
    return chosen


def beside(root: Path, version: str) -> Path:
    """The folder of a newer version's recordings; without a version the folder itself."""
    return root.with_name(f"{root.name}-{version}") if version else root


@functools.cache
def cases(system: str, root: Path | None = None) -> tuple[Case, ...]:
    """All cases of a system, by file name and then as recorded; of the chosen recordings unless ``root`` says which."""
    chosen = root or folder()
    return tuple(
        Case(system, path.stem, data, file, version)
        for version in ("", *NEWER)
        for path in sorted((beside(chosen, version) / system).glob("*.json"))
        for file in [_DECODER.decode(path.read_bytes())]
        for data in file["cases"]
    )


def topics(system: str) -> dict[str, tuple[Case, ...]]:
    """The cases of a system by topic."""
    found: dict[str, tuple[Case, ...]] = {}
    for case in cases(system):
        found[case.topic] = (*found.get(case.topic, ()), case)
    return found
