"""The manifest for krew: what is made is as it has to be, and each thing that krew refuses is refused here first."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from release import krew
from release.names import PLATFORMS, Platform

LINUX, WINDOWS = Platform("linux", "amd64"), Platform("windows", "amd64")
SHA = "0123456789abcdef" * 4
MADE = krew.render(
    "v1.2.3",
    dict.fromkeys(PLATFORMS, SHA),
    {place: f"https://example.org/{place.os}-{place.arch}" for place in PLATFORMS},
    "https://example.org",
)


def test_what_is_made():
    assert list(krew.faults(MADE)) == []
    manifest = yaml.safe_load(MADE)
    assert manifest["spec"]["version"] == "v1.2.3"
    assert manifest["spec"]["homepage"] == "https://example.org"
    assert [one["selector"]["matchLabels"] for one in manifest["spec"]["platforms"]] == [
        {"os": place.os, "arch": place.arch} for place in PLATFORMS
    ]
    assert [one["bin"] for one in manifest["spec"]["platforms"]] == ["kubectl-kres"] * 4 + ["kubectl-kres.exe"]
    assert "{" not in MADE.replace("{os}", "")


def test_without_a_page_and_with_one_platform():
    text = krew.render("v1.2.3-rc.1", {LINUX: "1" * 64}, {LINUX: "file:///dist/a.tar.gz"})
    assert list(krew.faults(text)) == []
    spec = yaml.safe_load(text)["spec"]
    assert "homepage" not in spec
    assert spec["platforms"][0]["sha256"] == "1" * 64


def spec(**fields: Any) -> Callable[[dict[str, Any]], None]:
    return lambda manifest: manifest["spec"].update(fields)


def first(**fields: Any) -> Callable[[dict[str, Any]], None]:
    return lambda manifest: manifest["spec"]["platforms"][0].update(fields)


def labels(**of: str) -> dict[str, Any]:
    return {"matchLabels": of}


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda manifest: manifest.update(apiVersion="v1"), "apiVersion"),
        (lambda manifest: manifest.update(kind="Pluggin"), "kind"),
        (lambda manifest: manifest["metadata"].update(name="a b"), "name of a plugin"),
        (lambda manifest: manifest["metadata"].update(name="con"), "name of a plugin"),
        (lambda manifest: manifest["metadata"].update(name="krez"), "kres.yaml, not krez.yaml"),
        (lambda manifest: manifest.pop("spec"), "no spec"),
        (spec(version="1.2.3"), "'1.2.3' is no semantic version"),
        (spec(version="v1.2"), "'v1.2' is no semantic version"),
        (spec(version="v1.2.3rc1"), "no semantic version"),
        (spec(version="v01.2.3"), "no semantic version"),
        (spec(version="v1.2.3-01"), "no semantic version"),
        (spec(version="v1.2.3\n"), "no semantic version"),
        (spec(version=1.2), "no semantic version"),
        (spec(shortDescription=""), "shortDescription"),
        (spec(shortDescription="two\nlines"), "shortDescription"),
        (spec(caveats=["a"]), "caveats is no text"),
        (spec(shortDescripion="a"), "krew ignores shortDescripion"),
        (spec(platforms=[]), "no platforms"),
        (spec(platforms=[None]), "platforms[0] is empty"),
        (first(uri=""), "uri is missing"),
        (first(sha256=SHA.upper()), "64 lower-case"),
        (first(sha256=SHA[:-1]), "64 lower-case"),
        (first(sha256=int("1" * 64)), "64 lower-case"),
        (first(sha="a"), "krew ignores sha"),
        (first(bin=""), "bin is missing"),
        (first(bin="../kubectl-kres"), "leaves the folder"),
        (first(bin="/usr/bin/kubectl-kres"), "leaves the folder"),
        (first(bin="kubectl-kres.exe"), "does not run on linux"),
        (lambda manifest: manifest["spec"]["platforms"][-1].update(bin="kubectl-kres"), "does not run on windows"),
        (first(selector=None), "selector is empty"),
        (first(selector={}), "selector is empty"),
        (first(selector=labels()), "selector is empty"),
        (first(selector=labels(os="linux", arch="amd64", libc="musl")), "key libc is not supported"),
        (first(selector=labels(os="linux", arch="sparc")), "fits no platform"),
        (first(selector=labels(os="linux")), "2 platforms fit linux/arm64"),
        (first(selector=labels(os="linux", arch="arm64")), "2 platforms fit linux/arm64"),
        (first(files=[]), "files is empty"),
        (first(files=[{"from": "a"}]), "to is missing"),
        (first(files=[{"to": "."}]), "from is missing"),
        (first(files=[{"from": "a", "to": "./"}]), "./ is not a clean path"),
        (first(files=[{"from": "a", "to": "../b"}]), "../b is not a clean path"),
    ],
)
def test_what_krew_refuses(change: Callable[[dict[str, Any]], None], fault: str):
    manifest = yaml.safe_load(MADE)
    change(manifest)
    found = list(krew.faults(yaml.safe_dump(manifest)))
    assert len(found) == 1 or fault in {"no spec", "fits no platform", "key libc is not supported"}, found
    assert any(fault in one for one in found), found


@pytest.mark.parametrize("files", [[{"from": "kubectl-kres/*", "to": "."}], [{"from": "a", "to": "b/c"}]])
def test_files_that_krew_takes(files: list[dict[str, str]]):
    manifest = yaml.safe_load(MADE)
    first(files=files)(manifest)
    assert list(krew.faults(yaml.safe_dump(manifest))) == []


@pytest.mark.parametrize("text", ["a: [", "", "- a", "spec: 1"])
def test_what_is_no_manifest(text: str):
    assert len(list(krew.faults(text))) == 1


def test_as_a_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = tmp_path / "kres.yaml"
    path.write_text(MADE)
    assert krew.main([str(path)]) == 0
    assert capsys.readouterr().out == f"{path}: as krew wants it, 5 of 5 platforms\n"
    path.write_text(MADE.replace("v1.2.3", "1.2.3"))
    assert krew.main([str(path)]) == 1
    assert "no semantic version" in capsys.readouterr().err
