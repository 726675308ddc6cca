"""What a bundle is made of: Python, packages and libraries, each with version, licence and the licence's text.

Runs with the Python that the bundle was made from: ``python -m release.inventory FOLDER TOC EPOCH``. With ``--wheel
DIST EPOCH`` it writes what wheel and sdist depend on, in the versions that were tested.
"""

from __future__ import annotations

import ast
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from importlib.metadata import Distribution, distributions
from pathlib import Path
from typing import NamedTuple

from release import archive, names, sbom

#: Libraries that a Python may bring along, by the beginning of their file names: the project and its licence (SPDX).
LIBRARIES = {
    "libbz2": ("bzip2", "bzip2-1.0.6"),
    "libcrypto": ("OpenSSL", "Apache-2.0"),
    "libexpat": ("expat", "MIT"),
    "libffi": ("libffi", "MIT"),
    "libgcc_s": ("libgcc", "GPL-3.0-or-later WITH GCC-exception-3.1"),
    "liblzma": ("XZ Utils", "LicenseRef-Public-Domain"),
    "libmpdec": ("libmpdec", "BSD-2-Clause"),
    "libssl": ("OpenSSL", "Apache-2.0"),
    "libuuid": ("libuuid", "BSD-3-Clause"),
    "libz.": ("zlib", "Zlib"),
    "libzstd": ("Zstandard", "BSD-3-Clause"),
    "vcruntime": ("Visual C++ Runtime", "LicenseRef-Microsoft-Visual-C-Runtime"),
    "ucrtbase": ("Universal C Runtime", "LicenseRef-Microsoft-Windows-SDK"),
    "api-ms-win": ("Universal C Runtime", "LicenseRef-Microsoft-Windows-SDK"),
}
_PYTHON = re.compile(r"(lib)?python3")
_LIBRARY = re.compile(r"[^/]+\.(so(\.\d+)*|dylib|dll)")
_NOTICE = re.compile(r"(licen[cs]e|copying|notice)", re.IGNORECASE)
_CLASSIFIERS = {"MIT License": "MIT", "BSD License": "BSD-3-Clause", "Apache Software License": "Apache-2.0"}

#: The program that loads the bundle is PyInstaller's.
_LOADER = "GPL-2.0-or-later WITH Bootloader-exception"


class Component(NamedTuple):
    """A part. ``files``: those of the bundle that are it, where it is a library; ``text``: its licence."""

    name: str
    version: str
    licence: str
    text: str
    kind: str = "library"
    purl: str = ""
    files: tuple[Path, ...] = ()


def components(folder: Path, toc: Path) -> list[Component]:
    """All parts of the bundle in ``folder``, by name. ``toc``: PyInstaller's list of what came from where.

    Raises SystemExit for a library that nobody has looked at the licence of.
    """
    inside = folder / "_internal"
    found = [_python(), _loader(), *_packages(inside), *_built_in(), *_libraries(inside, _sources(toc))]
    return sorted(found, key=lambda one: one.name.lower())


def _python() -> Component:
    version = platform.python_version()
    places = [Path(sysconfig.get_path("stdlib")), Path(sys.base_prefix)]
    files = [place / name for place in places for name in ("LICENSE.txt", "LICENSE")]
    files.append(Path(f"/usr/share/doc/python{version.rpartition('.')[0]}/copyright"))
    text = next((file.read_text(encoding="utf-8") for file in files if file.is_file()), "")
    if not text:
        raise SystemExit(f"error: the licence of {sys.executable} was not found")
    return Component("Python", version, "PSF-2.0", text, "platform", f"pkg:generic/python@{version}")


def _loader() -> Component:
    found = next(one for one in distributions() if one.name == "pyinstaller")
    return _package(found)._replace(name="PyInstaller bootloader", licence=_LOADER)


def _packages(inside: Path) -> Iterator[Component]:
    """The installed packages that modules of the bundle come from, but for the program itself."""
    held = {path.name.partition(".")[0] for path in inside.iterdir() if not path.name.endswith(".dist-info")}
    for one in distributions():
        own = {file.parts[0].partition(".")[0] for file in one.files or () if ".dist-info" not in file.parts[0]}
        if one.name not in {names.PROGRAM, "pyinstaller"} and own & held - {"", "__pycache__"}:
            yield _package(one)


def _built_in() -> Iterator[Component]:
    """What is a part of others' modules: libyaml of PyYAML, Abseil of google-re2, under the licence that is ours."""
    from re2 import _re2  # noqa: PLC0415, only the Python of the bundle is sure to have it
    from yaml import _yaml  # noqa: PLC0415

    package = next(one for one in distributions() if one.name == "PyYAML")
    version = ".".join(map(str, _yaml.get_version()))
    yield _package(package)._replace(
        name="libyaml", version=version, licence="MIT", purl=f"pkg:generic/libyaml@{version}"
    )
    named = re.search(rb"lts_(20[0-9]{6})", Path(_re2.__file__).read_bytes())
    version = named[1].decode() if named is not None else ""
    text = (names.ROOT / "LICENSE").read_text(encoding="utf-8").strip()
    yield Component("Abseil", version, "Apache-2.0", text, purl=f"pkg:generic/abseil-cpp@{version}")


def _package(one: Distribution) -> Component:
    texts = [
        Path(str(one.locate_file(file))).read_text(encoding="utf-8").strip()
        for file in sorted(one.files or ())
        if ".dist-info" in file.parts[0] and _NOTICE.match(file.name)
    ]
    if not texts:
        raise SystemExit(f"error: {one.name} brings no licence")
    purl = f"pkg:pypi/{_normal(one.name)}@{one.version}"
    return Component(one.name, one.version, _licence(one), "\n\n".join(texts), "library", purl)


def _normal(name: str) -> str:
    """A package's name as the index writes it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _licence(one: Distribution) -> str:
    """In SPDX's words where the package has them."""
    said = one.metadata.json
    if said.get("license_expression"):
        return str(said["license_expression"])
    for classifier in said.get("classifier", ()):
        known = _CLASSIFIERS.get(classifier.rpartition(" :: ")[2])
        if known:
            return known
    licence = str(said.get("license", "NOASSERTION"))
    return {"BSD": "BSD-3-Clause"}.get(licence, licence)


def _sources(toc: Path) -> dict[str, Path]:
    """Where the libraries of the bundle were taken from."""
    *_, entries = ast.literal_eval(toc.read_text(encoding="utf-8"))[:1]
    return {Path(name).name: Path(source) for name, source, kind in entries if kind == "BINARY"}


def _libraries(inside: Path, sources: dict[str, Path]) -> Iterator[Component]:
    files: dict[str, list[Path]] = {}
    for path in sorted(inside.iterdir()):
        if not _LIBRARY.fullmatch(path.name) or _PYTHON.match(path.name):
            continue
        start = next((start for start in LIBRARIES if path.name.lower().startswith(start)), None)
        if start is None:
            raise SystemExit(f"error: whose library is {path.name}, and may it be passed on? See release/inventory.py")
        files.setdefault(LIBRARIES[start][0], []).append(path)
    licences = dict(LIBRARIES.values())
    for name, held in files.items():
        package, version = _system(sources.get(held[0].name))
        notice = Path(f"/usr/share/doc/{package}/copyright")
        text = notice.read_text(encoding="utf-8").strip() if package and notice.is_file() else ""
        brought = text or f"Part of the distribution of Python that it came with. Licence: {licences[name]}"
        yield Component(name, version, licences[name], brought, files=tuple(held))


def _system(source: Path | None) -> tuple[str, str]:
    """Debian's package of a file and its version; empty where there is none."""
    if source is None or shutil.which("dpkg-query") is None:
        return "", ""
    for path in dict.fromkeys((source, source.resolve(), Path(str(source.resolve()).removeprefix("/usr")))):
        owner = _said("dpkg-query", "-S", str(path)).partition(": ")[0]
        if owner and "\n" not in owner:
            return owner.partition(":")[0], _said("dpkg-query", "-W", "-f", "${Version}", owner)
    return "", ""


def _said(*words: str) -> str:
    return subprocess.run(words, capture_output=True, text=True, check=False).stdout.strip()


def notices(parts: list[Component]) -> str:
    """All licences in one text."""
    head = f"{names.PROGRAM} itself is under the licence in LICENSE. This archive also holds the following.\n"
    rule = "-" * 80
    blocks = (f"{rule}\n{one.name} {one.version}\n{one.licence}\n{rule}\n\n{one.text.strip()}\n" for one in parts)
    return "\n".join([head, *blocks])


def requirements() -> list[Component]:
    """The packages that installing ours brings along, by name, as they are installed here."""
    installed = {_normal(one.name): one for one in distributions()}
    wanted, seen = [names.PROGRAM], dict[str, None]()
    while wanted:
        for text in installed[wanted.pop()].requires or ():
            name = _normal(re.match(r"[\w.-]+", text)[0])  # type: ignore[index]  # each requirement begins with a name
            if "extra ==" not in text and name in installed and name not in seen:
                seen[name] = None
                wanted.append(name)
    return [_package(installed[name]) for name in sorted(seen)]


def of_distributions(dist: Path, epoch: int) -> None:
    """The bills of the wheel and of the sdist, beside them."""
    text = sbom.document(requirements(), names.version(), epoch, archive.sha256)
    for path in (*dist.glob("*.whl"), *dist.glob("kubectl_kres-*.tar.gz")):
        (dist / names.bill(path.name)).write_text(text, encoding="utf-8", newline="\n")


def main(folder: Path, toc: Path, epoch: int) -> None:
    parts = components(folder, toc)
    (folder / "LICENSE").write_bytes((names.ROOT / "LICENSE").read_bytes())
    (folder / "THIRD_PARTY_LICENSES").write_text(notices(parts), encoding="utf-8", newline="\n")
    document = sbom.document(parts, names.version(), epoch, archive.sha256)
    (folder / "sbom.cdx.json").write_text(document, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    if sys.argv[1] == "--wheel":
        of_distributions(Path(sys.argv[2]), int(sys.argv[3]))
    else:
        main(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]))
