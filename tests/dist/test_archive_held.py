"""What the archive, the wheel and the sdist hold."""

from __future__ import annotations

import json
import tarfile
import zipfile
from pathlib import Path

from release import archive, krew, names


def test_as_krew_wants_it(archived: Path):
    assert list(archive.faults(archived, names.here().program)) == []


def test_the_manifest_of_what_was_built(archived: Path):
    manifest = archived.with_name("kres.yaml")
    text = manifest.read_text()
    assert list(krew.faults(text, manifest.name, manifest.parent)) == []
    assert archive.sha256(archived) in text


def test_sums(archived: Path):
    lines = dict(line.split()[::-1] for line in archived.with_name("SHA256SUMS").read_text().splitlines())
    assert lines == {name: archive.sha256(archived.with_name(name)) for name in lines}
    files = {path.name for path in archived.parent.iterdir()} - {"SHA256SUMS", "kres.yaml"}
    assert archived.name in lines and len(lines) == 6 and set(lines) == files
    for name in files:
        assert name.endswith(".cdx.json") or names.bill(name) in files, name


def test_the_bill_of_the_wheel(wheel: Path):
    bill = json.loads(wheel.with_name(names.bill(wheel.name)).read_text())
    parts = {one["name"] for one in bill["components"]}
    assert {"click", "google-re2", "msgspec", "pydantic", "PySocks", "PyYAML", "urllib3", "textual", "rich"} <= parts
    assert not parts & {"pyinstaller", "hatchling", "pytest", "kubectl-kres"}


def test_licences_and_bill_of_materials(archived: Path):
    with tarfile.open(archived) as tar:
        held = {one.name for one in tar}
        notices = tar.extractfile("THIRD_PARTY_LICENSES").read().decode()
        bill = json.load(tar.extractfile("sbom.cdx.json"))
    parts = {one["name"] for one in bill["components"]}
    built = {"Python", "PyInstaller bootloader", "OpenSSL", "Abseil"}
    assert built | {"click", "google-re2", "msgspec", "PyYAML", "textual", "urllib3"} <= parts
    assert [name for name in parts if f"\n{name} " not in notices] == []
    assert [one["name"] for one in bill["components"] if "unknown" in json.dumps(one["licenses"])] == []
    files = {file["name"] for one in bill["components"] for file in one.get("components", ())}
    libraries = {Path(name).name for name in held if name.count("/") == 1 and ".so" in name}
    assert {name for name in libraries if not name.startswith("libpython")} == files
    assert bill["metadata"]["component"]["version"] == names.version()


def test_every_file_of_the_package_is_in_it(archived: Path, wheel: Path):
    with zipfile.ZipFile(wheel) as packed:
        wanted = {name for name in packed.namelist() if name.startswith("kubectl_kres/")}
    assert {"kubectl_kres/demo/shop.kres", "kubectl_kres/admission/fields.json"} <= wanted
    with tarfile.open(archived) as tar:
        held = {one.name for one in tar}
    frozen = {f"_internal/{name}c" if name.endswith(".py") else f"_internal/{name}" for name in wanted}
    assert sorted(frozen - held - {"_internal/kubectl_kres/__main__.pyc"}) == []


def test_scripts_and_sources(wheel: Path):
    with zipfile.ZipFile(wheel) as packed:
        (name,) = (one for one in packed.namelist() if one.endswith("entry_points.txt"))
        scripts = packed.read(name).decode()
        assert any(one.endswith("licenses/LICENSE") for one in packed.namelist())
    assert "kubectl-kres = kubectl_kres.cli.start:entry" in scripts
    assert "kubectl_complete-kres = kubectl_kres.cli.start:entry" in scripts
    with tarfile.open(wheel.with_name(f"kubectl_kres-{names.version()}.tar.gz")) as tar:
        tops = {one.name.split("/")[1] for one in tar}
    assert {"kubectl_kres", "docs", "README.md", "LICENSE", "CHANGELOG.md", "pyproject.toml", "PKG-INFO"} <= tops
    tested = {"Makefile", "bench", "constraints.txt", "integrations", "krew", "release", "screenshots", "scripts", "tests"}
    assert tested <= tops, "those who package it cannot test it"
    assert not tops & {"build", "dist", ".ci", ".github", ".venv"}
