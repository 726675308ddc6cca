"""The archive on a Linux that has nothing but glibc: no Python, no zlib, no OpenSSL, no libgcc, no shell."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from dist.installed import Installed

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="asks the loader of glibc")

#: Where programs are; the PATH of Debian's users lacks the folder that chroot is in.
SYSTEM = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/sbin", "/usr/bin", "/bin"])

#: The C library, which is the system's.
GLIBC = ("ld-linux", "libc.", "libdl.", "libm.", "libpthread.", "libresolv.", "librt.", "libutil.")

COMMANDS = {
    "version --client": 0,
    "explain --demo deploy/checkout -n checkout": 0,
    "explain pods -s https://127.0.0.1:1 --token x": 3,
}


def loaded(installed: Installed, words: str) -> set[Path]:
    """The libraries that a command loads, as glibc's loader tells."""
    *_, err = installed.kres(*words.split(), LD_DEBUG="libs")
    return {Path(path) for path in re.findall(r"calling init: (/.+)", err)}


@pytest.mark.parametrize("words", COMMANDS)
def test_no_library_but_its_own(installed: Installed, words: str):
    found = loaded(installed, words)
    assert any(path.name.startswith("libpython") for path in found)
    strange = {path for path in found if not path.is_relative_to(installed.store)}
    assert {path for path in strange if not path.name.startswith(GLIBC)} == set()


@pytest.fixture
def root(installed: Installed) -> Path:
    """A root with the archive in ``/app`` and glibc, where this system keeps it."""
    root = installed.folder / "root"
    shutil.copytree(installed.store, root / "app")
    (root / "proc").mkdir()
    found = {path for words in COMMANDS for path in loaded(installed, words)}
    libraries = {path for path in found if not path.is_relative_to(installed.store)}
    for path in libraries | set(Path("/lib64").glob("ld-linux-*")) | set(Path("/lib").glob("ld-linux-*")):
        target = root / path.relative_to("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path.resolve(), target)
        target.chmod(0o755)
    return root


@pytest.mark.parametrize(("words", "code"), COMMANDS.items())
def test_with_nothing_but_glibc(root: Path, words: str, code: int):
    """``/proc`` is there, as in every container: by it a program knows where it lies."""
    tools = {name: shutil.which(name, path=SYSTEM) for name in ("chroot", "mount", "unshare")}
    if lacking := sorted(name for name, path in tools.items() if path is None):
        pytest.skip(f"there is no {', '.join(lacking)}")
    enter = f"{tools['mount']} --rbind /proc {root}/proc && exec {tools['chroot']} {root} /app/kubectl-kres {words}"
    possible = subprocess.run(["unshare", "-rm", "true"], capture_output=True, check=False)
    if possible.returncode:
        pytest.skip(f"no other root can be entered here: {possible.stderr.decode().strip()}")
    done = subprocess.run(
        ["unshare", "-rm", "sh", "-c", enter], capture_output=True, text=True, timeout=120, check=False
    )
    assert (done.returncode, bool(done.stdout)) == (code, code == 0), done.stderr
    assert not re.search("libgcc|Traceback|cannot open shared", done.stderr)
