"""The manifest for krew: made from ``krew/kres.yaml.tmpl``, and checked against what krew and its index demand.

``python -m release.krew [--url URL]`` makes and checks ``dist/kres.yaml`` for the archives in ``dist``;
``python -m release.krew FILE`` checks a manifest. Sources: krew internal/index/validation, internal/installation,
cmd/validate-krew-manifest.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

import yaml

from release import archive, names
from release.names import DIST, PLATFORMS, ROOT, Platform

TEMPLATE = ROOT / "krew" / "kres.yaml.tmpl"
API_VERSION = "krew.googlecontainertools.github.com/v1alpha2"

#: All that krew-index knows.
KNOWN = {
    *(Platform("linux", arch) for arch in ("386", "amd64", "arm", "arm64", "ppc64le")),
    *(Platform("darwin", arch) for arch in ("386", "amd64", "arm64")),
    *(Platform("windows", arch) for arch in ("386", "amd64", "arm64")),
}
_NAME = re.compile(r"[\w-]+", re.ASCII)
_DEVICES = re.compile(r"(?i:con|prn|aux|nul|com[0-9]|lpt[0-9])")
_NUMBER = r"(?:0|[1-9]\d*)"
_WORD = r"(?:0|[1-9]\d*|\d*[A-Za-z-][0-9A-Za-z-]*)"
_SEMVER = re.compile(
    rf"v{_NUMBER}\.{_NUMBER}\.{_NUMBER}(?:-{_WORD}(?:\.{_WORD})*)?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?", re.ASCII
)
_SHA = re.compile(r"[0-9a-f]{64}")
_HEAD = re.compile(r"(?m)^#.*\n")


def render(tagged: str, sums: Mapping[Platform, str], uris: Mapping[Platform, str], home: str = "") -> str:
    """The manifest of the platforms in ``sums``. ``home``: the project's page; empty: it has none yet."""
    template = _HEAD.sub("", TEMPLATE.read_text(encoding="utf-8"))
    head, _, part = template.partition("  platforms:\n")
    if not home:
        head = re.sub(r"(?m)^  homepage:.*\n", "", head)
    blocks = [
        part.replace("{os}", place.os)
        .replace("{arch}", place.arch)
        .replace("{uri}", uris[place])
        .replace("{sha256}", sums[place])
        .replace("{bin}", place.program)
        for place in PLATFORMS
        if place in sums
    ]
    return head.replace("{version}", tagged).replace("{homepage}", home) + "  platforms:\n" + "".join(blocks)


def faults(text: str, file_name: str = "kres.yaml", archives: Path | None = None) -> Iterator[str]:
    """What is wrong with a manifest. ``archives``: the folder where those of them that are there are checked too."""
    try:
        manifest = yaml.safe_load(text)
    except yaml.YAMLError as error:
        yield f"it is no YAML: {error}"
        return
    if not isinstance(manifest, dict) or not isinstance(manifest.get("spec"), dict):
        yield "it has no spec"
        return
    spec = manifest["spec"]
    yield from _head(manifest, spec, file_name)
    platforms = spec.get("platforms")
    if not isinstance(platforms, list) or not platforms:
        yield "it has no platforms"
        return
    chosen: Counter[Platform] = Counter()
    for index, one in enumerate(platforms):
        at = f"platforms[{index}]"
        if not isinstance(one, dict):
            yield f"{at} is empty"
            continue
        yield from (f"{at}: {fault}" for fault in _platform(one, archives))
        chosen.update(place for place in KNOWN if _selects(one.get("selector"), place))
    for place, count in sorted(chosen.items()):
        if count > 1:
            yield f"{count} platforms fit {place.os}/{place.arch}"


def _head(manifest: Mapping[str, Any], spec: Mapping[str, Any], file_name: str) -> Iterator[str]:
    if manifest.get("apiVersion") != API_VERSION:
        yield f"apiVersion is not {API_VERSION}"
    if manifest.get("kind") != "Plugin":
        yield "kind is not Plugin"
    name = (manifest.get("metadata") or {}).get("name")
    if not isinstance(name, str) or not _NAME.fullmatch(name) or _DEVICES.fullmatch(name):
        yield f"{name!r} cannot be the name of a plugin"
    elif file_name != f"{name}.yaml":
        yield f"the file is called {file_name}, not {name}.yaml"
    version = spec.get("version")
    if not isinstance(version, str) or not _SEMVER.fullmatch(version):
        yield f"{version!r} is no semantic version with a v before it"
    short = spec.get("shortDescription")
    if not isinstance(short, str) or not short.strip() or "\n" in short.strip():
        yield "shortDescription is not one line of text"
    for field in ("description", "caveats", "homepage"):
        if not isinstance(spec.get(field, ""), str):
            yield f"{field} is no text"
    if unknown := set(spec) - {"version", "homepage", "shortDescription", "description", "caveats", "platforms"}:
        yield f"krew ignores {', '.join(sorted(unknown))}"


def _platform(one: Mapping[str, Any], archives: Path | None) -> Iterator[str]:
    uri, sha, program = one.get("uri"), one.get("sha256"), one.get("bin")
    if not isinstance(uri, str) or not uri:
        yield "uri is missing"
    if not isinstance(sha, str) or not _SHA.fullmatch(sha):
        yield f"sha256 is {sha!r}, not 64 lower-case hex digits in quotes"
    if not isinstance(program, str) or not program:
        yield "bin is missing"
    elif program.startswith("/") or ".." in PurePosixPath(program).parts:
        yield f"bin {program} leaves the folder of the plugin"
    selector = one.get("selector")
    yield from _selector(selector)
    for place in PLATFORMS:
        if (
            _selects(selector, place)
            and isinstance(program, str)
            and (place.os == "windows") != (program.endswith(".exe"))
        ):
            yield f"bin {program} does not run on {place.os}"
    if "files" in one:
        yield from _files(one["files"])
    if archives is not None and isinstance(uri, str):
        yield from _archive(archives / uri.rpartition("/")[2], sha, program)
    if unknown := set(one) - {"uri", "sha256", "bin", "selector", "files"}:
        yield f"krew ignores {', '.join(sorted(unknown))}"


def _selector(selector: Any) -> Iterator[str]:
    if not isinstance(selector, dict) or not (selector.get("matchLabels") or selector.get("matchExpressions")):
        yield "selector is empty"
        return
    if set(selector) - {"matchLabels"}:
        yield "selector is read by our check only as matchLabels"
    for key in selector.get("matchLabels") or {}:
        if key not in {"os", "arch"}:
            yield f"selector: the key {key} is not supported"
    if not any(_selects(selector, place) for place in KNOWN):
        yield "selector fits no platform that krew knows"


def _selects(selector: Any, place: Platform) -> bool:
    labels = selector.get("matchLabels") if isinstance(selector, dict) else None
    if not isinstance(labels, dict) or not labels:
        return False
    return all({"os": place.os, "arch": place.arch}.get(key) == value for key, value in labels.items())


def _files(files: Any) -> Iterator[str]:
    if not isinstance(files, list) or not files:
        yield "files is empty; leave it out"
        return
    for one in files:
        source, target = (one.get(key) for key in ("from", "to")) if isinstance(one, dict) else (None, None)
        if not isinstance(source, str) or not source:
            yield "files: from is missing"
        if not isinstance(target, str) or not target:
            yield "files: to is missing"
        elif target != "." and (PurePosixPath(target).as_posix() != target or target.startswith(("/", ".."))):
            yield f"files: {target} is not a clean path"


def _archive(path: Path, sha: Any, program: Any) -> Iterator[str]:
    if not path.is_file():
        return
    if archive.sha256(path) != sha:
        yield f"sha256 is not that of {path.name}"
    if isinstance(program, str):
        yield from (f"{path.name}: {fault}" for fault in archive.faults(path, program))


def write(url: str, home: str) -> Path:
    """Makes ``dist/kres.yaml`` for the archives that are there, which are named by their files if there is no URL."""
    tagged = names.tag(names.version())
    found = {place: DIST / names.archive(tagged, place) for place in PLATFORMS}
    found = {place: path for place, path in found.items() if path.is_file()}
    uris = {place: f"{url}/{tagged}/{path.name}" if url else path.as_uri() for place, path in found.items()}
    target = DIST / "kres.yaml"
    target.write_text(render(tagged, {one: archive.sha256(path) for one, path in found.items()}, uris, home))
    return target


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m release.krew", description="Make and check the manifest for krew.")
    parser.add_argument("manifest", nargs="?", type=Path, help="check this one; none is made")
    parser.add_argument("--url", default="", help="where the releases are: their tag and file name follow it")
    parser.add_argument("--home", default="", help="the project's page")
    parser.add_argument("--all", action="store_true", help="an archive for each platform must be there")
    options = parser.parse_args(arguments)
    path = options.manifest or write(options.url.rstrip("/"), options.home)
    text = path.read_text(encoding="utf-8")
    found = list(faults(text, path.name, DIST))
    if options.all and text.count("sha256:") != len(PLATFORMS):
        found.append(f"it has {text.count('sha256:')} platforms, not {len(PLATFORMS)}")
    for fault in found:
        print(f"{path.name}: {fault}", file=sys.stderr)
    if not found:
        print(f"{path}: as krew wants it, {text.count('sha256:')} of {len(PLATFORMS)} platforms")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
