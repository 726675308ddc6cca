"""Version, platforms and file names of a release; the version stands in ``kubectl_kres/__init__.py`` alone.

``python -m release.names`` prints the tag of the version; with a tag behind it, it fails unless that is the one, and
while the project has no address. With ``--home URL`` the address has to be that one, too.
"""

from __future__ import annotations

import argparse
import platform
import re
import sys
from collections.abc import Iterator
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


def bill(file_name: str) -> str:
    """The name of the bill of materials of a file in ``dist``."""
    return f"{file_name}.cdx.json"


def address() -> str:
    """Where the project is at home: REPOSITORY in ``kubectl_kres/__init__.py``; empty while it has no address."""
    text = (ROOT / "kubectl_kres" / "__init__.py").read_text(encoding="utf-8")
    found = re.search(r'^REPOSITORY = "(.*)"$', text, re.MULTILINE)
    assert found is not None
    return found[1]


def faults(tagged: str, home: str, repository: str) -> Iterator[str]:
    """Why a release of this tag, from the repository at ``home`` (empty: wherever), may not be made."""
    expected = tag(version())
    if tagged != expected:
        yield f"the tag is {tagged}, the version in kubectl_kres/__init__.py asks for {expected}"
    if not re.fullmatch(r"https://[\w.-]+/\S*[^/\s]", repository):
        yield f"REPOSITORY in kubectl_kres/__init__.py is {repository!r}: a release needs the address of the project"
    elif home and repository != home:
        yield f"REPOSITORY in kubectl_kres/__init__.py is {repository}, this is {home}"


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m release.names", description="The tag of this version.")
    parser.add_argument("tag", nargs="?", help="the tag that a release is made of")
    parser.add_argument("--home", default="", help="the page of the repository that makes the release")
    options = parser.parse_args(arguments)
    found = list(faults(options.tag, options.home, address())) if options.tag else []
    for fault in found:
        print(f"error: {fault}")
    if not found:
        print(tag(version()))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
