"""Version, platforms and file names of a release; the version stands in ``kubectl_kres/__init__.py`` alone.

``python -m release.names`` prints the tag of the version; with a tag behind it, it fails unless that is the one.
"""

from __future__ import annotations

import platform
import re
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
DIST, BUILD = ROOT / "dist", ROOT / "build"
PROGRAM = "kubectl-kres"

_PEP440 = re.compile(r"(\d+\.\d+\.\d+)(?:(a|b|rc)(\d+))?")
_STAGES = {"a": "alpha", "b": "beta", "rc": "rc"}
_MACHINES = {"x86_64": "amd64", "amd64": "amd64", "aarch64": "arm64", "arm64": "arm64"}


class Platform(NamedTuple):
    """As krew and Go name it."""

    os: str
    arch: str

    @property
    def program(self) -> str:
        return f"{PROGRAM}.exe" if self.os == "windows" else PROGRAM


#: Those that there is an archive for; others take the wheel.
PLATFORMS = (
    Platform("linux", "amd64"),
    Platform("linux", "arm64"),
    Platform("darwin", "amd64"),
    Platform("darwin", "arm64"),
    Platform("windows", "amd64"),
)


def here() -> Platform:
    """The platform that we run on; there need not be an archive for it."""
    system = {"win32": "windows"}.get(sys.platform, sys.platform)
    machine = platform.machine().lower()
    return Platform(system, _MACHINES.get(machine, machine))


def version() -> str:
    """The version as Python writes it: ``1.2.3``, ``1.2.3rc1``."""
    text = (ROOT / "kubectl_kres" / "__init__.py").read_text(encoding="utf-8")
    found = re.search(r'^__version__ = "(.+)"$', text, re.MULTILINE)
    assert found is not None
    return found[1]


def tag(python_version: str) -> str:
    """The version as git and krew have it: ``v1.2.3``, ``v1.2.3-rc.1``. Raises ValueError for other forms."""
    found = _PEP440.fullmatch(python_version)
    if found is None:
        raise ValueError(f"{python_version} is not of the form 1.2.3, 1.2.3a1, 1.2.3b1 or 1.2.3rc1")
    return f"v{found[1]}-{_STAGES[found[2]]}.{found[3]}" if found[2] else f"v{found[1]}"


def archive(tagged: str, place: Platform) -> str:
    """The name of an archive."""
    return f"{PROGRAM}_{tagged}_{place.os}_{place.arch}.{'zip' if place.os == 'windows' else 'tar.gz'}"


def main(arguments: list[str]) -> int:
    expected = tag(version())
    if arguments and arguments[0] != expected:
        print(f"error: the tag is {arguments[0]}, the version in kubectl_kres/__init__.py asks for {expected}")
        return 1
    print(expected)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
