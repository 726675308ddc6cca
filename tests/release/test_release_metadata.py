"""What the package index shows, and what stops a release without an address."""

from __future__ import annotations

import importlib.util
import sys
import types
from pathlib import Path

import pytest

from release import names

HOME = "https://example.org/owner/kubectl-kres"


@pytest.fixture
def metadata(monkeypatch: pytest.MonkeyPatch) -> types.ModuleType:
    """The hook as hatchling loads it; hatchling itself need not be there."""
    interface = types.ModuleType("hatchling.metadata.plugin.interface")
    interface.MetadataHookInterface = type("MetadataHookInterface", (), {"root": str(names.ROOT)})
    monkeypatch.setitem(sys.modules, interface.__name__, interface)
    for name in ("hatchling", "hatchling.metadata", "hatchling.metadata.plugin"):
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    spec = importlib.util.spec_from_file_location("metadata", names.ROOT / "release" / "metadata.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_links_lead_to_the_files_of_this_version(metadata: types.ModuleType):
    text = '[a](docs/a.md#b) ![p](shots/p.svg) <img alt="x" src="q.svg"> [w](https://w.org) [here](#there)'
    assert metadata.absolute(text, HOME, "1.2.3") == (
        f"[a]({HOME}/blob/v1.2.3/docs/a.md#b) ![p]({HOME}/raw/v1.2.3/shots/p.svg)"
        f' <img alt="x" src="{HOME}/raw/v1.2.3/q.svg"> [w](https://w.org) [here](#there)'
    )
    assert metadata.absolute(text, "", "1.2.3") == text
    assert f"/blob/{names.tag('1.2.3rc1')}/docs" in metadata.absolute(text, HOME, "1.2.3rc1")


def test_no_link_of_the_readme_is_relative(metadata: types.ModuleType):
    readme = (names.ROOT / "README.md").read_text()
    text = metadata.absolute(readme, HOME, "1.2.3")
    assert text.count(f"{HOME}/") > 10
    assert not metadata._LINK.search(text) and not metadata._TAG.search(text)


def test_addresses_come_from_one_constant(metadata: types.ModuleType):
    found: dict[str, object] = {}
    hook = metadata.Metadata()
    hook.root = str(names.ROOT)
    hook.update(found)
    assert found["urls"] == metadata.urls(names.address())
    assert found["readme"]["text"].startswith("# kubectl-kres\n")
    assert metadata.constants(f'REPOSITORY = "{HOME}"\n__version__ = "1"\n') == (HOME, "1")
    assert set(metadata.urls(HOME).values()) == {
        HOME,
        f"{HOME}/issues",
        f"{HOME}/blob/main/CHANGELOG.md",
        f"{HOME}/blob/main/docs/index.md",
    }


@pytest.mark.parametrize(
    ("tag", "home", "repository", "fault"),
    [
        ("v9.9.9", HOME, HOME, "the tag is v9.9.9"),
        ("", HOME, "", "a release needs the address of the project"),
        ("", HOME, "the project's page", "a release needs the address"),
        ("", HOME, "http://example.org/owner/x", "a release needs the address"),
        ("", "https://example.org/fork/kubectl-kres", HOME, f"is {HOME}, this is https://example.org/fork"),
    ],
)
def test_no_release_without_tag_and_address(tag: str, home: str, repository: str, fault: str):
    expected = names.tag(names.version())
    assert list(names.faults(expected, HOME, HOME)) == list(names.faults(expected, "", HOME)) == []
    (found,) = names.faults(tag or expected, home, repository)
    assert fault in found


def test_the_command(capsys: pytest.CaptureFixture[str]):
    expected = names.tag(names.version())
    assert names.main([]) == 0
    assert capsys.readouterr().out == f"{expected}\n"
    assert names.main([expected]) == (0 if names.address() else 1)
    assert names.main(["v0.0.0"]) == 1
    assert "error: the tag is v0.0.0" in capsys.readouterr().out


def test_types_are_in_the_package():
    assert (Path(names.ROOT) / "kubectl_kres" / "py.typed").is_file()
