"""Versions in both forms, and the bill of materials."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kubectl_kres import __version__
from release import names, sbom
from release.inventory import Component


@pytest.mark.parametrize(
    ("python", "tag"),
    [("0.1.0", "v0.1.0"), ("1.2.3rc1", "v1.2.3-rc.1"), ("1.2.3a12", "v1.2.3-alpha.12"), ("1.2.3b2", "v1.2.3-beta.2")],
)
def test_tags(python: str, tag: str):
    assert names.tag(python) == tag


@pytest.mark.parametrize("python", ["1.2", "1.2.3.dev1", "1.2.3.post1", "v1.2.3", "1.2.3-rc.1", ""])
def test_versions_that_are_not_released(python: str):
    with pytest.raises(ValueError, match="is not of the form"):
        names.tag(python)


def test_the_version_stands_in_one_place():
    assert names.version() == __version__
    assert f"## {names.version()}\n" in (names.ROOT / "CHANGELOG.md").read_text()


def test_names_of_archives():
    assert [names.archive("v1.2.3", place) for place in names.PLATFORMS] == [
        "kubectl-kres_v1.2.3_linux_amd64.tar.gz",
        "kubectl-kres_v1.2.3_linux_arm64.tar.gz",
        "kubectl-kres_v1.2.3_darwin_amd64.tar.gz",
        "kubectl-kres_v1.2.3_darwin_arm64.tar.gz",
        "kubectl-kres_v1.2.3_windows_amd64.zip",
    ]


def test_bill_of_materials(tmp_path: Path):
    library = tmp_path / "libz.so.1"
    library.write_bytes(b"")
    parts = [
        Component("click", "8.5.1", "BSD-3-Clause", "text", purl="pkg:pypi/click@8.5.1"),
        Component("zlib", "1.2.13", "Zlib", "text", files=(library,)),
        Component("runtime", "", "LicenseRef-Somebody", "text"),
    ]
    text = sbom.document(parts, "1.2.3", 0, lambda path: f"sha of {path.name}")
    assert text == sbom.document(parts, "1.2.3", 0, lambda path: f"sha of {path.name}")
    assert text != sbom.document(parts[:1], "1.2.3", 0, lambda path: f"sha of {path.name}")
    bill = json.loads(text)
    assert (bill["bomFormat"], bill["specVersion"], bill["metadata"]["timestamp"]) == (
        "CycloneDX",
        "1.5",
        "1970-01-01T00:00:00Z",
    )
    assert bill["components"][0] == {
        "type": "library",
        "bom-ref": "pkg:pypi/click@8.5.1",
        "name": "click",
        "licenses": [{"expression": "BSD-3-Clause"}],
        "version": "8.5.1",
        "purl": "pkg:pypi/click@8.5.1",
    }
    assert bill["components"][1]["components"][0]["hashes"] == [{"alg": "SHA-256", "content": "sha of libz.so.1"}]
    assert bill["components"][2]["licenses"] == [{"license": {"name": "Somebody"}}]
    refs = {one["bom-ref"] for one in bill["components"]}
    assert len(refs) == 3 and set(bill["dependencies"][0]["dependsOn"]) == refs
