"""What a version changes is data: no entry that nothing asks for, no unknown name, a page that is up to date."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.base.versions import AREAS, CHANGES, GATES, NEWEST, OLDEST, changes_between, version_caveat

ROOT = Path(__file__).parents[2]
SOURCE = "\n".join(
    path.read_text() for path in sorted((ROOT / "kubectl_kres").rglob("*.py")) if "versions" not in path.parts
)


def script(name: str):
    spec = importlib.util.spec_from_file_location(name, ROOT / "scripts" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", CHANGES)
def test_each_change_is_asked_for(name: str):
    change = CHANGES[name]
    assert f'"{name}"' in SOURCE
    assert change.gate in {"", *GATES}
    assert change.area in AREAS


def test_no_unknown_change_is_asked_for():
    assert set(re.findall(r'behaves\("([^"]+)"\)', SOURCE)) <= set(CHANGES)
    assert set(re.findall(r'server\.on\("([^"]+)"\)', SOURCE)) <= set(GATES)


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_begins_with_its_version_and_can_be_left_out(name: str):
    minor = CHANGES[name].minor
    assert not Server((1, minor - 1)).has_change(name)
    assert Server((1, minor)).has_change(name)
    assert not Server((1, minor), disabled_changes=frozenset({name})).has_change(name)


@pytest.mark.parametrize("name", CHANGES)
def test_a_server_that_emulates_the_version_before(name: str):
    change = CHANGES[name]
    emulating = Server((1, change.minor - 1), binary=(1, change.minor))
    assert emulating.has_change(name) is not (bool(change.gate) or change.emulated)


def test_gates_are_in_order():
    for name, gate in GATES.items():
        known = [number for number in (gate.exists, gate.on, gate.locked, gate.removed) if number is not None]
        assert known == sorted(known), name
        assert all(other in GATES for other in gate.requires)
    assert list(GATES) == sorted(GATES)


def test_what_lies_between_two_versions():
    assert not list(changes_between((1, 36), (1, 36)))
    assert [name for name, _ in changes_between((1, 36), (1, 37))] == [
        name for name, change in CHANGES.items() if change.minor == 37
    ]


def test_a_server_beyond_the_rules_is_said():
    newer = f"v{NEWEST[0]}.{NEWEST[1] + 1}.0"
    assert all(area in version_caveat(newer) for area in AREAS)
    assert not version_caveat(f"v{NEWEST[0]}.{NEWEST[1]}.9") and not version_caveat(f"{OLDEST[0]}.{OLDEST[1]}")


def test_the_page_is_what_the_tables_say():
    page = script("versions_doc")
    assert page.PAGE.read_text() == page.page(), "run scripts/versions_doc.py"


GO = """
var defaultVersionedKubernetesFeatureGates = map[featuregate.Feature]featuregate.VersionedSpecs{
	ImageVolume: {
		{Version: version.MustParse("1.31"), Default: false, PreRelease: featuregate.Alpha},
		{Version: version.MustParse("1.35"), Default: true, PreRelease: featuregate.Beta},
		{Version: version.MustParse("1.36"), Default: true, LockToDefault: true, PreRelease: featuregate.GA}, // remove
	},
	Unheard: {
		{Version: version.MustParse("1.37"), Default: false, PreRelease: featuregate.Alpha},
	},
}
"""


def test_the_script_reads_gates_of_a_source_tree(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    tree = tmp_path / "kubernetes@v1.37.2"
    (tree / "pkg/features").mkdir(parents=True)
    (tree / "pkg/features/kube_features.go").write_text(GO)
    gates = script("version_gates")
    assert gates.row_of(gates.gates_of(tree)["ImageVolume"]) == GATES["ImageVolume"]
    assert gates.main([str(tree)]) == 1
    out = capsys.readouterr().out
    assert "EnvFiles: not in the source" in out and "ImageVolume:" not in out
    assert "1 gates that no rule mentions:\nUnheard: Alpha off since 1.37" in out
